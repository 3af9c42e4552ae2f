//! `kill -9` in the middle: the replay goes to the end of the recording, and no further.

use std::{fs, io::Write, net::TcpListener};

use crate::{oracle::program, stage::Stage};

#[test]
fn while_a_file_is_read() {
    let stage = Stage::new();
    let world = stage.path("world");
    let text: String = (0..50).map(|n| format!("line {n}\n")).collect();
    fs::write(&world, &text).unwrap();
    for last in ["line 3\n", "line 30\n", "ready\n"] {
        let program = program(&stage, &format!("slowly {}", world.display()));
        let mut running = program.start_recording();
        running.wait_for_output(last);
        running.kill();
        stage.recovered();
        let replayed = program.replay();
        replayed.ended();
        let (seen, _) = text.split_at(text.find(last).map_or(text.len(), |at| at + last.len()));
        assert!(replayed.stdout.starts_with(seen), "{replayed:#?}");
        fs::remove_file(stage.trace()).unwrap();
    }
}

#[test]
fn while_something_is_received() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stage = Stage::new();
    let program = program(&stage, &format!("listen-until-killed {address}"));
    let mut running = program.start_recording();
    let (mut stream, _) = listener.accept().unwrap();
    for word in ["one", "two"] {
        writeln!(stream, "{word}").unwrap();
    }
    running.wait_for_output("two\n");
    running.kill();
    drop((stream, listener));
    stage.recovered();
    let replayed = program.replay();
    replayed.ended();
    assert_eq!(replayed.stdout, "one\ntwo\n");
}

#[test]
fn while_a_source_brings_something() {
    for _ in 0..4 {
        let stage = Stage::new();
        let program = program(&stage, "until-killed 20");
        let mut running = program.start_recording();
        running.wait_for_output("ready\n");
        running.kill();
        stage.recovered();
        let replayed = program.replay();
        replayed.ended();
        let again = program.replay();
        again.ended();
        assert_eq!(replayed.stdout.lines().count(), 21, "{replayed:#?}");
        assert_eq!(replayed.stdout, again.stdout);
    }
}
