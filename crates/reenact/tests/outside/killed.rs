//! `kill -9` in the middle: the replay goes to the end of the recording, and no further.

use std::{
    fs,
    io::Write,
    net::TcpListener,
    time::{Duration, Instant},
};

use crate::{oracle::program, support::stage::Stage};

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

/// What each party has said, in its order.
fn said_by<'a>(stdout: &'a str, party: &str) -> Vec<&'a str> {
    let said = stdout.split_inclusive('\n');
    said.filter(|line| line.starts_with(party) && line.ends_with('\n'))
        .collect()
}

/// What was said before the kill is said in the replay; beyond that, at most what was about to be.
#[test]
fn at_some_instant_while_everybody_reads() {
    for instant_us in [300, 1_000, 3_000, 10_000, 30_000] {
        let stage = Stage::new();
        let world = stage.path("world");
        fs::create_dir(&world).unwrap();
        let text: String = (0..5000).map(|n| format!("{n}\n")).collect();
        fs::write(world.join("input"), text).unwrap();
        let program = program(&stage, &format!("without-end {}", world.display()));
        let mut running = program.start_recording();
        running.wait_for_output("go\n");
        // The instant of a kill, so there is nothing to wait for.
        let instant = Instant::now() + Duration::from_micros(instant_us);
        while Instant::now() < instant {
            std::hint::spin_loop();
        }
        let killed = running.kill();
        stage.recovered();
        fs::remove_dir_all(&world).unwrap();
        let replayed = program.replay();
        replayed.ended();
        for party in ["one", "two", "process"] {
            let [before, after] =
                [&killed, &replayed].map(|outcome| said_by(&outcome.stdout, party));
            assert!(
                after.starts_with(&before) && after.len() <= before.len() + 1,
                "{party} said {before:?} and then {after:?}"
            );
        }
    }
}
