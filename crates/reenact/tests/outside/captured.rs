//! What programs ask the C library for: clocks, random bytes, who they are.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    sync::Arc,
    time::{Duration, Instant},
};

use expect_test::expect;
use reenact_trace::{Event, Item, Kind, Trace};

use crate::{
    oracle::{check, check_alone, check_is_new_each_time, program},
    support::{
        machine::OtherMachine,
        stage::{PROGRAMS, Stage, without_places},
    },
};

fn events(trace: &Arc<Trace>) -> Vec<Event> {
    let of = |number| trace.events(number).map(|item| item.unwrap());
    trace
        .activities()
        .flat_map(|info| of(info.number))
        .filter_map(|item| match item {
            Item::Event(event) => Some(event),
            _ => None,
        })
        .collect()
}

fn count(stage: &Stage, kind: Kind) -> usize {
    let events = events(&stage.open());
    events.iter().filter(|event| event.kind == kind).count()
}

reenact_testing::tests! {
    check_is_new_each_time {
        "maps" => maps_have_their_keys_in_the_same_order_again,
    }
    check_alone {
        /// ```text
        /// a library's thread ── looks at the clock, again and again ── is asked to stop
        /// the program        ───── takes locks, in some order ─────── asks it
        /// ```
        "strangers" => a_thread_that_meets_nobody_may_look_at_the_clock_as_often_as_it_likes,
        "guests" => a_foreign_thread_is_held_to_its_meetings_and_not_to_how_often_it_looks_at_the_clock,
    }
}

#[test]
fn a_program_handles_its_own_bus_errors() {
    let recorded = check_alone("bus-errors");
    assert_eq!(recorded.stdout, "3 handled, 100\n");
}

#[test]
fn everybody_sees_the_same_times_again() {
    let stage = Stage::new();
    check(&stage, "clocks", || {});
    assert!(count(&stage, Kind::CLOCK) > 30_000 && count(&stage, Kind::TIME) > 100);
}

#[test]
fn the_c_library_s_own_functions_say_the_same_again() {
    let recorded = check_alone("c-clocks");
    assert!(
        recorded.stdout.contains("Invalid argument"),
        "{recorded:#?}"
    );
}

#[test]
fn a_reading_of_a_clock_takes_a_few_bytes() {
    let stage = Stage::new();
    program(&stage, "clocks").record_completely();
    let size = fs::metadata(stage.trace()).unwrap().len() as usize;
    let readings = count(&stage, Kind::CLOCK) + count(&stage, Kind::TIME);
    assert!(size < 6 * readings + 20_000, "{size} bytes for {readings}");
}

#[test]
fn random_numbers_are_the_same_again() {
    let stage = Stage::new();
    let first = check(&stage, "random", || {});
    let second = check_alone("random");
    assert_ne!(first.stdout, second.stdout);
}

#[test]
fn a_program_is_who_it_was() {
    let stage = Stage::new();
    let recorded = check(&stage, "identity", || {});
    assert!(recorded.stdout.contains("\"identity\""));
    let environment = stage.open().program().environment.clone();
    let process = environment.iter().find(|(name, _)| name == "REENACT_PID");
    let process = process.unwrap().1.to_str().unwrap();
    assert!(recorded.stdout.starts_with(process), "{recorded:#?}");
}

#[test]
fn transactions_see_what_they_saw() {
    let stage = Stage::new();
    let recorded = check(&stage, "in-transactions", || {});
    assert_eq!(recorded.stdout.lines().count(), 120);
}

#[test]
fn operations_of_ours_look_at_no_clock_of_the_program_s() {
    let stage = Stage::new();
    check(&stage, "own-time", || {});
    assert_eq!(
        (count(&stage, Kind::CLOCK), count(&stage, Kind::TIME)),
        (0, 0)
    );
}

/// ```text
/// a thread ── allocates ── takes the allocator's lock ── looks at a clock ── must not allocate
/// ```
#[test]
fn an_allocator_that_looks_at_a_clock_is_no_part_of_the_program() {
    check_binary("allocator");
}

/// ```text
/// a thread ── operates ── is recorded ── the engine allocates ── the allocator operates ── must not be recorded
/// ```
#[test]
fn an_allocator_s_atomics_are_no_part_of_the_program() {
    check_binary("counting_allocator");
}

/// Records and replays an example of this name.
#[track_caller]
fn check_binary(name: &str) {
    let stage = Stage::new();
    let program = stage.program("").in_binary(PROGRAMS.with_file_name(name));
    let recorded = program.record_completely();
    for _ in 0..3 {
        program.replay().is_same_as(&recorded);
    }
}

#[test]
fn what_is_asked_for_instead_is_a_difference_at_once() {
    let stage = Stage::new();
    let asking = |which: &str| program(&stage, "clock-or-time").env("WHICH", which);
    asking("clock").record_completely();
    let outcome = asking("time").replay();
    let report = without_places(outcome.diverged());
    assert!(report.contains("operation: number 1 of"), "{report}");
    assert!(
        report.contains("program:   read the time of day"),
        "{report}"
    );
    let outcome = asking("random").replay();
    assert!(outcome.diverged().contains("program:   random bytes"));
}

/// Returns when more time has passed on the clock than the waits of these programs take at most. The passage of time is
/// what is tested: it makes the recorded time limits of these waits lie in the past.
fn until_the_limits_have_passed() {
    let recorded = Instant::now();
    while recorded.elapsed() < Duration::from_millis(1100) {
        std::thread::yield_now();
    }
}

#[test]
fn a_library_s_waits_are_as_long_whenever_they_are_replayed() {
    let stage = Stage::new();
    let recorded = check(&stage, "library-waits", until_the_limits_have_passed);
    assert!(count(&stage, Kind::WAITED) > 0, "{recorded:#?}");
    for machine in OtherMachine::ALL {
        let program = program(&stage, "library-waits").on(machine);
        for _ in 0..5 {
            program.replay().is_same_as(&recorded);
        }
    }
}

/// The recorded thread had been woken after a moment. In the replay, the thread that wakes it needs longer than any
/// limit that is computed in advance.
#[test]
fn a_library_s_wait_lasts_while_the_thread_that_is_to_end_it_runs() {
    let stage = Stage::new();
    let computing = |milliseconds| {
        let program = program(&stage, "library-waits-for-a-busy-thread");
        program.env("COMPUTES", milliseconds)
    };
    // On a busy machine, the recorded thread may have waited in vain.
    let mut recordings = (0..100).map(|_| computing("0").record_completely());
    let recorded = recordings.find(|recorded| recorded.stdout.contains("in time"));
    computing("600").replay().is_same_as(&recorded.unwrap());
}

/// The test that the next one records.
#[test]
fn a_test_that_takes_locks() {
    let total = reenact::sync::Arc::new(reenact::sync::Mutex::new(0));
    let threads = [(); 2].map(|()| {
        let total = reenact::sync::Arc::clone(&total);
        reenact::thread::spawn(move || (0..50).for_each(|_| *total.lock().unwrap() += 1))
    });
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert_eq!(*total.lock().unwrap(), 100);
}

/// With more than one thread, libtest's main thread waits for its tests with a time limit.
#[test]
fn a_test_binary_with_threads_replays_on_a_machine_with_another_clock() {
    let this = std::env::current_exe().unwrap();
    let command = "--exact captured::a_test_that_takes_locks --test-threads=2";
    let stage = Stage::new();
    let program = |machine| {
        let program = stage.program(command).in_binary(this.clone());
        // The variables of whoever runs these tests are not for the recorded one.
        program.env("NEXTEST", "").on(machine)
    };
    assert!(program(OtherMachine::Same).record().status.success());
    for machine in OtherMachine::ALL {
        for _ in 0..5 {
            let replayed = program(machine).replay();
            assert_eq!(
                (replayed.status.code(), &replayed.report),
                (Some(0), &None),
                "{replayed:#?}"
            );
        }
    }
}

#[test]
fn a_program_that_is_killed_has_seen_what_it_had_seen() {
    let stage = Stage::new();
    let program = program(&stage, "clock-until-killed");
    let mut running = program.start_recording();
    running.wait_for_output("looked");
    running.kill();
    let trace = stage.open();
    let readings = events(&trace);
    let readings = readings.iter().filter(|event| event.kind == Kind::CLOCK);
    assert_eq!(readings.count(), 10_000);
    let outcome = program.replay();
    assert!(outcome.stdout.contains("looked"), "{outcome:#?}");
    outcome.ended();
}

#[test]
fn a_variable_that_is_withheld_is_missed_only_by_who_asks_for_it() {
    let secret = "hunter2-and-more";
    for how in ["ask", "leave"] {
        let stage = Stage::new();
        let program = program(&stage, &format!("token {how}"))
            .env("TOKEN", secret)
            .env("REENACT_REDACT", "env:TOKEN,header:authorization");
        let recorded = program.record_completely();
        let trace = fs::read(stage.trace()).unwrap();
        assert!(
            !trace
                .windows(secret.len())
                .any(|bytes| bytes == secret.as_bytes())
        );
        let replayed = program.env("TOKEN", "").replay();
        if how == "leave" {
            replayed.is_same_as(&recorded);
            continue;
        }
        expect![[r#"
            the replay cannot go on: what the program asks for was kept out of the trace
              activity:  main
              program:   env:TOKEN
            Withheld when this was recorded: env:TOKEN, header:authorization.
        "#]]
        .assert_eq(&without_places(replayed.diverged()));
    }
}

#[test]
fn traces_are_for_their_owner_only() {
    let stage = Stage::new();
    let program = program(&stage, "clock-until-killed");
    let mut running = program.start_recording();
    running.wait_for_output("looked");
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let live = reenact_trace::live_path(&stage.trace());
    assert_eq!((mode(stage.trace()), mode(live)), (0o600, 0o600));
    running.kill();
    stage.recovered();
    assert_eq!(mode(stage.trace()), 0o600);
}
