//! Sockets, with the other end gone.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    thread::{self, JoinHandle},
};

use crate::{
    oracle::{check, check_alone, program},
    support::stage::Stage,
};

/// Somebody at an address, for one conversation.
fn peer(talk: impl FnOnce(TcpStream) + Send + 'static) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let peer = thread::spawn(move || talk(listener.accept().unwrap().0));
    (address, peer)
}

#[test]
fn a_server_and_its_clients_in_one_program() {
    for _ in 0..4 {
        let recorded = check_alone("both");
        assert_eq!(recorded.stdout.matches("says").count(), 3);
    }
}

#[test]
fn a_client_whose_server_is_gone() {
    let (address, server) = peer(|mut stream| {
        let mut answers = BufReader::new(stream.try_clone().unwrap()).lines();
        for word in ["one", "two", "three"] {
            writeln!(stream, "{word}").unwrap();
            assert_eq!(answers.next().unwrap().unwrap(), format!("heard {word}"));
        }
    });
    let stage = Stage::new();
    let program = program(&stage, &format!("client {address}"));
    let recorded = program.record_completely();
    server.join().unwrap();
    assert_eq!(recorded.stdout, "one\ntwo\nthree\n");
    program.replay().is_same_as(&recorded);
}

#[test]
fn a_server_whose_client_is_gone() {
    let (address, client) = peer(|mut stream| {
        let mut server = String::new();
        stream.read_to_string(&mut server).unwrap();
        let mut stream = TcpStream::connect(server).unwrap();
        stream.write_all(b"a request").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "bye");
    });
    let stage = Stage::new();
    let program = program(&stage, &format!("server {address}"));
    let recorded = program.record_completely();
    client.join().unwrap();
    assert!(recorded.stdout.contains("a request"), "{recorded:#?}");
    program.replay().is_same_as(&recorded);
}

#[test]
fn datagrams() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let peer = thread::spawn(move || {
        let mut buffer = [0; 64];
        for _ in 0..4 {
            let (count, from) = socket.recv_from(&mut buffer).unwrap();
            buffer[..count].reverse();
            socket.send_to(&buffer[..count], from).unwrap();
        }
        socket
    });
    let stage = Stage::new();
    let program = program(&stage, &format!("udp {address}"));
    let recorded = program.record_completely();
    let socket = peer.join().unwrap();
    assert!(recorded.stdout.contains("WouldBlock"), "{recorded:#?}");
    program.replay().is_same_as(&recorded);
    socket.set_nonblocking(true).unwrap();
    let mut buffer = [0; 64];
    let nothing = socket.recv_from(&mut buffer).map_err(|error| error.kind());
    assert_eq!(nothing, Err(std::io::ErrorKind::WouldBlock));
    // On this host they are there when they have been sent.
    let program = program.env("REENACT_REALLY_WRITE", "1");
    program.replay().is_same_as(&recorded);
    for word in ["one", "", "three", "four"] {
        let (count, _) = socket.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..count], word.as_bytes());
    }
}

#[test]
fn who_does_not_answer_does_not_in_a_replay_either() {
    // Nobody listens where somebody did.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let stage = Stage::new();
    let recorded = check(&stage, &format!("refused {address}"), || {});
    assert!(recorded.stdout.contains("ConnectionRefused"));
    assert!(recorded.stdout.contains("lookup"), "{recorded:#?}");
}

#[test]
fn options_and_timeouts() {
    check_alone("options");
}

/// ```text
/// process A: accept, in the system ───────────────────── ── read
/// process B:                        connect ── write
/// worker:    A ........ and who runs B? another one, meanwhile
/// ```
#[test]
fn who_waits_in_the_system_does_not_stop_others() {
    for name in ["one-worker", "one-worker-for-actors"] {
        let stage = Stage::new();
        let program = program(&stage, name).env("REENACT_WORKERS", "1");
        program.run().is_fine();
        let recorded = program.record_completely();
        program.replay().is_same_as(&recorded);
    }
}

#[test]
fn something_else_that_is_sent_is_a_difference() {
    let (address, listener) = peer(|mut stream| {
        stream.read_to_end(&mut Vec::new()).unwrap();
    });
    let stage = Stage::new();
    let program = |text: &str| program(&stage, &format!("greet {address}")).env("TEXT", text);
    program("morning").record_completely();
    listener.join().unwrap();
    let outcome = program("evening!").replay();
    let report = outcome.diverged();
    assert!(
        report.contains("an answer to 7 bytes with hash"),
        "{report}"
    );
    assert!(report.contains("send to 127.0.0.1"), "{report}");
    assert!(report.contains(": 8 bytes with hash"), "{report}");
}

#[test]
fn what_is_sent_is_really_sent_if_asked_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let hear = move || {
        let mut text = String::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_string(&mut text).unwrap();
        (text, listener)
    };
    let heard = thread::spawn(hear);
    let stage = Stage::new();
    let program = program(&stage, &format!("greet {address}"));
    let recorded = program.record_completely();
    let (text, listener) = heard.join().unwrap();
    assert_eq!(text, "good morning");
    let heard = thread::spawn(move || {
        let mut text = String::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_string(&mut text).unwrap();
        text
    });
    let really = program.env("REENACT_REALLY_WRITE", "1");
    really.replay().is_same_as(&recorded);
    assert_eq!(heard.join().unwrap(), "good morning");
}
