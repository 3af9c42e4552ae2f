//! Programs that talk to others.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::SocketAddr,
    time::Duration,
};

use reenact::{
    actor::{self, System, Target},
    csp,
    net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs, UdpSocket},
    thread,
};

use crate::{say, setting, wait_to_be_killed};

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    let address = arguments.first().map_or("", String::as_str);
    match name {
        "both" => both(),
        "client" => client(address),
        "server" => server(address),
        "greet" => greet(address),
        "udp" => udp(address),
        "refused" => refused(address),
        "options" => options(),
        "one-worker" => one_worker(),
        "one-worker-for-actors" => one_worker_for_actors(),
        "listen-until-killed" => listen_until_killed(address),
        _ => return false,
    }
    true
}

/// A server and its clients.
fn both() {
    let listener = TcpListener::bind(("localhost", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let clients: Vec<_> = (0..3)
        .map(|n| {
            thread::spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                writeln!(stream, "client {n} at {:?}", stream.local_addr()).unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                answer
            })
        })
        .collect();
    for stream in listener.incoming().take(3) {
        let mut stream = stream.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        println!("{:?} says {text:?}", stream.peer_addr());
        stream.write_all(text.to_uppercase().as_bytes()).unwrap();
    }
    for client in clients {
        println!("{:?}", client.join().unwrap());
    }
}

fn client(address: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    for line in lines {
        let line = line.unwrap();
        println!("{line}");
        writeln!(stream, "heard {line}").unwrap();
    }
}

/// Sends its own address to this address, and serves one connection.
fn server(address: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut announcement = TcpStream::connect(address).unwrap();
    write!(announcement, "{}", listener.local_addr().unwrap()).unwrap();
    drop(announcement);
    let (mut stream, peer) = listener.accept().unwrap();
    let mut first = [0];
    println!("{:?}", stream.peek(&mut first));
    let mut request = String::new();
    stream.read_to_string(&mut request).unwrap();
    println!("{peer} {first:?} {request:?}");
    stream.write_all(b"bye").unwrap();
}

/// Sends a greeting, which may differ in a replay.
fn greet(address: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"good ").unwrap();
    stream
        .write_all(setting("TEXT", "morning").as_bytes())
        .unwrap();
    println!("sent");
}

fn udp(address: &str) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    println!("{:?}", socket.local_addr());
    let mut buffer = [0; 32];
    for word in ["one", "", "three"] {
        println!("{:?}", socket.send_to(word.as_bytes(), address));
        let (count, from) = socket.recv_from(&mut buffer).unwrap();
        println!("{from} {:?}", &buffer[..count]);
    }
    socket.connect(address).unwrap();
    println!("{:?}", socket.send(b"four"));
    let count = socket.recv(&mut buffer).unwrap();
    println!("{:?}", &buffer[..count]);
    let timeout = Some(Duration::from_millis(1));
    socket.set_read_timeout(timeout).unwrap();
    println!(
        "{:?}",
        socket.recv(&mut buffer).map_err(|error| error.kind())
    );
}

fn refused(address: &str) {
    let show = |error: io::Error| println!("{error}, {:?}", error.kind());
    show(TcpStream::connect(address).unwrap_err());
    show(TcpStream::connect("no such name.invalid:80").unwrap_err());
    let address: SocketAddr = address.parse().unwrap();
    show(TcpStream::connect_timeout(&address, Duration::ZERO).unwrap_err());
    println!(
        "{:?}",
        "localhost:80"
            .to_socket_addrs()
            .map(|addresses| addresses.collect::<Vec<_>>())
            .map_err(|error| error.to_string())
    );
}

fn options() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    listener.set_nonblocking(true).unwrap();
    let (accepted, _) = loop {
        match listener.accept() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::yield_now(),
            accepted => break accepted.unwrap(),
        }
    };
    let error = listener.try_clone().unwrap().accept().unwrap_err();
    println!("{:?}", error.kind());
    stream.set_ttl(9).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    stream
        .set_write_timeout(Some(Duration::from_secs(1)))
        .unwrap();
    println!(
        "{:?} {:?} {:?} {:?} {:?}",
        stream.ttl(),
        stream.nodelay(),
        stream.read_timeout(),
        stream.write_timeout(),
        stream.take_error().map(|error| error.is_none()),
    );
    let mut buffer = [0; 4];
    println!(
        "{:?}",
        (&stream).read(&mut buffer).map_err(|error| error.kind())
    );
    accepted.set_nonblocking(true).unwrap();
    println!(
        "{:?}",
        (&accepted).read(&mut buffer).map_err(|error| error.kind())
    );
}

/// Two processes that need each other, on one worker: one waits for the other in the system.
fn one_worker() {
    let (addresses, address) = csp::bounded(1);
    let (done, is_done) = csp::bounded(2);
    let over = done.clone();
    csp::spawn(move || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        addresses.send(listener.local_addr().unwrap()).unwrap();
        let mut text = String::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_string(&mut text).unwrap();
        over.send(text).unwrap();
    });
    csp::spawn(move || {
        let mut stream = TcpStream::connect(address.recv().unwrap()).unwrap();
        stream.write_all(b"hello from the same worker").unwrap();
        done.send("sent".to_owned()).unwrap();
    });
    let mut all: Vec<String> = is_done.iter().collect();
    all.sort();
    println!("{all:?}");
}

/// The same with actors.
fn one_worker_for_actors() {
    let [server, client] = [(); 2].map(actor::spawn);
    let (addresses, address) = csp::bounded(1);
    let request = server.ask(move |(), _| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        addresses.send(listener.local_addr().unwrap()).unwrap();
        let mut text = String::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_string(&mut text).unwrap();
        text
    });
    let sent = client.ask(move |(), _| {
        let mut stream = TcpStream::connect(address.recv().unwrap()).unwrap();
        stream.write_all(b"hello from the same worker").is_ok()
    });
    println!("{:?} {:?}", request.wait(), sent.wait());
    System::current().wait_until_idle();
}

/// Takes words, and is killed while it waits for the next.
fn listen_until_killed(address: &str) {
    let stream = TcpStream::connect(address).unwrap();
    for line in BufReader::new(stream).lines() {
        say(&line.unwrap());
    }
    wait_to_be_killed();
}
