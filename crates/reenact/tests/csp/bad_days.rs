//! Bad days of processes: they are killed, wait for what never comes, end the program, or run out of disk.

use std::{
    fs,
    os::unix::process::CommandExt,
    thread,
    time::{Duration, Instant},
};

use expect_test::{Expect, expect};
use reenact_trace::{Stop, Trace};

use crate::{
    acknowledged::goes_on_from,
    oracle::program,
    stage::{Outcome, Stage, without_places},
};

// Killed.

/// Kills a program at some instant, and replays it to there.
fn kill_at_some_instant(command: &str, seed: u64) {
    let stage = Stage::new();
    let [recorded, replayed] = ["recorded", "replayed"].map(|name| stage.path(name));
    let workers = 1 + seed as usize % 3;
    let mut running = program(&stage, &[command], workers)
        .env("ACKNOWLEDGED", &recorded)
        .start_recording();
    running.wait_for_output("ready\n");
    let instant = Instant::now() + Duration::from_micros(seed * 7919 % 6000);
    while Instant::now() < instant {
        std::hint::spin_loop();
    }
    let outcome = running.kill();
    assert_eq!(outcome.signal(), Some(libc::SIGKILL), "{outcome:#?}");
    // Every other one is replayed from its two files, as the kill has left them.
    if seed.is_multiple_of(2) {
        stage.recovered();
    }
    let outcome = program(&stage, &[command], 1 + seed as usize / 3 % 3)
        .env("ACKNOWLEDGED", &replayed)
        .replay();
    outcome.ended();
    goes_on_from(&recorded, &replayed);
}

fn often(times: u64, kill: impl Fn(u64) + Sync) {
    thread::scope(|scope| {
        for half in 0..2 {
            let kill = &kill;
            scope.spawn(move || (half..times).step_by(2).for_each(kill));
        }
    });
}

#[test]
fn killed_processes_replay_to_where_they_were() {
    often(60, |seed| kill_at_some_instant("steady", seed));
}

#[test]
fn killed_processes_that_have_children_replay_to_where_they_were() {
    often(30, |seed| kill_at_some_instant("families", seed));
}

#[test]
fn a_trace_that_is_cut_anywhere_replays_up_to_there() {
    for command in [&["contests", "5", "7"], &["closing-contests", "3", "7"]] {
        let stage = Stage::new();
        let program = program(&stage, command, 2);
        let recorded = program.record();
        stage.recovered();
        let bytes = fs::read(stage.trace()).unwrap();
        let path = stage.path("cut.reenact");
        let cut = |length: usize| fs::write(&path, &bytes[..length]).unwrap();
        // Before this is the description of the program, without which there is nothing to replay.
        let first = (0..bytes.len())
            .find(|&length| {
                cut(length);
                Trace::open(&path).is_ok()
            })
            .unwrap();
        const PARTS: usize = 16;
        for part in 0..PARTS {
            cut(first + (bytes.len() - first) * part / PARTS);
            let outcome = program.start_replay(&path).finish();
            let report = outcome.report.as_deref().unwrap_or_default();
            let is_as_expected = report.starts_with("ended\n")
                || report.starts_with("diverged\nthe trace cannot be read any further: ");
            // Or all that is missing is what no one needs.
            let is_whole = outcome.report.is_none() && outcome.stdout == recorded.stdout;
            assert!(is_as_expected || is_whole, "{outcome:#?}");
        }
    }
}

// Somebody waits for what never comes.

#[track_caller]
fn check(report: &str, expected: Expect) {
    expected.assert_eq(&without_places(report));
}

/// Records a program until both of its processes have said that they are stuck, and replays it.
fn stuck(how: &str) -> Outcome {
    let mut outcomes = (1..=3).map(|workers| {
        let stage = Stage::new();
        let program = program(&stage, &["stuck", how], workers);
        let mut running = program.start_recording();
        running.wait_for_output("stuck\nstuck\n");
        running.kill();
        stage.recovered();
        let outcome = program.replay();
        outcome.ended();
        outcome
    });
    let first = outcomes.next().expect("with one worker");
    outcomes.for_each(|outcome| {
        outcome.ended();
    });
    first
}

#[test]
fn processes_that_wait_to_receive_from_each_other() {
    check(
        stuck("receiving").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of a process
          main.a0 waits for the end of the recording, before: receive from a channel at bad_days.rs:_ (channel@bad_days.rs:_)
          main.a1 waits for the end of the recording, before: receive from a channel at bad_days.rs:_ (channel@bad_days.rs:_)
    "#]],
    );
}

#[test]
fn processes_that_wait_to_send_to_each_other() {
    check(
        stuck("sending").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of a process
          main.a0 waits for the end of the recording, before: send to a channel at bad_days.rs:_ (channel@bad_days.rs:_)
          main.a1 waits for the end of the recording, before: send to a channel at bad_days.rs:_ (channel@bad_days.rs:_)
    "#]],
    );
}

#[test]
fn processes_whose_selections_do_not_meet() {
    check(
        stuck("selecting").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of a process
          main.a0 waits for the end of the recording, before: select at bad_days.rs:_
          main.a1 waits for the end of the recording, before: select at bad_days.rs:_
    "#]],
    );
}

#[test]
fn a_process_that_waits_for_a_lock_which_one_has_who_waits_for_it() {
    check(
        stuck("locking").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of a process
          main.a0 waits for the end of the recording, before: receive from a channel at bad_days.rs:_ (channel@bad_days.rs:_)
          main.a1 waits for the end of the recording, before: lock at bad_days.rs:_ (mutex@bad_days.rs:_)
    "#]],
    );
}

#[test]
fn processes_that_yield_without_end() {
    check(
        stuck("spinning").ended(),
        expect![[r#"
            the replay is where the recording ends
              main waits for the end of a process
              main.a1 is not at an operation
              main.a3 is not at an operation
        "#]],
    );
}

// The program ends while they do something.

/// Records a program that ends in this way, with so many workers, and replays it with others.
#[track_caller]
fn ends(how: &str, is_as_expected: impl Fn(&Outcome) -> bool) {
    for workers in [1, 2] {
        let stage = Stage::new();
        let recorded = program(&stage, &["ends", how], workers).record();
        assert!(is_as_expected(&recorded), "{recorded:#?}");
        for workers in [1, 3] {
            let replayed = program(&stage, &["ends", how], workers).replay();
            replayed.is_same_as(&recorded);
        }
    }
}

#[test]
fn main_returns_while_processes_run_and_wait() {
    ends("return", |outcome| outcome.status.success());
}

#[test]
fn a_process_ends_the_program() {
    ends("exit", |outcome| outcome.status.code() == Some(3));
}

#[test]
fn a_process_aborts_the_program() {
    ends("abort", |outcome| outcome.signal() == Some(libc::SIGABRT));
}

/// Its worker is lost then, and those who were on it cannot go on in the replay.
#[test]
fn a_process_that_panics_twice_aborts_the_program() {
    let stage = Stage::new();
    let program = program(&stage, &["ends", "panic-twice"], 1);
    let recorded = program.record();
    assert_eq!(recorded.signal(), Some(libc::SIGABRT), "{recorded:#?}");
    program.replay().is_same_as(&recorded);
}

#[test]
fn main_panics_while_processes_run_and_wait() {
    ends("panic", |outcome| outcome.status.code() == Some(101));
}

#[test]
fn a_process_that_uses_up_its_stack() {
    ends("overflow", |outcome| {
        outcome.signal() == Some(libc::SIGSEGV)
    });
}

#[test]
fn with_no_more_room_processes_go_on_and_replay_to_where_recording_ended() {
    const CHATTER: &[&str] = &["chatter", "400000"];
    let stage = Stage::new();
    let limit = libc::rlimit {
        rlim_cur: 3 << 20,
        rlim_max: 3 << 20,
    };
    let limited = program(&stage, CHATTER, 2).with(move |command| {
        // SAFETY: A single system call, which is allowed between fork and exec.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
    });
    let outcome = limited.record();
    assert!(outcome.status.success(), "{outcome:#?}");
    assert_eq!(outcome.stdout, "1200000 times in vain\n");
    assert_eq!(outcome.remarks(), 1, "{outcome:#?}");
    let replayed = program(&stage, CHATTER, 3).replay();
    let report = replayed.ended();
    assert!(report.contains("Recording had ended early"), "{report}");
    assert_eq!(stage.recovered().stop(), Some(Stop::Storage(libc::EFBIG)));
}
