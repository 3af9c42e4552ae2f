//! What a program prints: in a replay it is the same, in the same order, or the first difference is reported.

use std::fs;

use expect_test::expect;
use reenact_trace::{Item, Kind, Storage, Writer};

use crate::{
    oracle::{command, program},
    support::stage::{Outcome, Program, Stage, without_places},
};

/// Replays a program some times and compares all that it prints, to both streams.
#[track_caller]
fn check(program: &Program<'_>, recorded: &Outcome, times: usize) {
    for _ in 0..times {
        let replayed = program.replay();
        replayed.is_same_as(recorded);
        assert_eq!(replayed.stderr, recorded.stderr);
    }
}

#[test]
fn threads_that_print_in_a_race_do_so_in_the_recorded_order() {
    let stage = Stage::new();
    let program = program(&stage, "print-race");
    let recorded = program.record_completely();
    assert_eq!(recorded.stdout.lines().count(), 4 * 35 + 1);
    check(&program, &recorded, 50);
}

#[test]
fn actors_print_in_the_recorded_order() {
    let stage = Stage::new();
    let program = program(&stage, "print-actors");
    let recorded = program.record_completely();
    check(&program, &recorded, 10);
}

#[test]
fn threads_of_the_standard_library_that_have_names_print_in_the_recorded_order() {
    let stage = Stage::new();
    let program = program(&stage, "print-unported");
    let recorded = program.record_completely();
    check(&program, &recorded, 10);
}

#[test]
fn another_order_is_no_difference_beside_threads_without_reenact() {
    let stage = Stage::new();
    let program = program(&stage, &command(&stage, "print-lines"));
    let world = stage.path("world");
    fs::write(&world, "one\ntwo\nthree\n").unwrap();
    let recorded = program.record_completely();
    check(&program, &recorded, 3);

    fs::write(&world, "two\nthree\none\n").unwrap();
    let replayed = program.replay();
    assert_eq!(replayed.report, None, "{replayed:#?}");
    assert!(
        replayed.stderr.contains("the same lines in another order"),
        "{replayed:#?}"
    );
    assert_eq!(replayed.stdout, "two\nthree\none\nthe last line\n");
    assert!(replayed.status.success(), "{replayed:#?}");

    // Other lines are a difference, whatever their order.
    for lines in ["two\nfour\none\n", "two\none\n", "two\nthree\none\none\n"] {
        fs::write(&world, lines).unwrap();
        let replayed = program.replay();
        assert!(
            replayed.printed().contains("something else"),
            "{replayed:#?}"
        );
    }
}

#[test]
fn another_text_is_reported_with_both() {
    let stage = Stage::new();
    let program = program(&stage, &command(&stage, "print-file"));
    let world = stage.path("world");
    fs::write(&world, "one\ntwo\n").unwrap();
    let recorded = program.record_completely();
    check(&program, &recorded, 3);

    fs::write(&world, "one\ntwö\u{1b}[1m\n").unwrap();
    let replayed = program.replay();
    expect![[r#"
        the replay prints something else than the recorded program
          stream:    standard output, line 3, byte 22
          activity:  main
          operation: number 3 of this activity
          recorded:  "one\ntwo\n"
          replayed:  "one\ntwö\u{1b}[1m\n"
        What it prints depends on something that is not recorded, or the program is not the recorded one.
        The replay goes on, and compares nothing more that is printed.
    "#]]
    .assert_eq(&without_places(replayed.printed()));
    assert_eq!(
        replayed.stdout,
        "the first line\none\ntwö\u{1b}[1m\nthe last line\n"
    );
    assert!(replayed.status.success(), "{replayed:#?}");

    // With another number of writes, too.
    for (text, shown) in [
        ("", r#"replayed:  nothing before: lock"#),
        ("one\n", r#"recorded:  "two\n""#),
    ] {
        fs::write(&world, text).unwrap();
        let replayed = program.replay();
        assert!(replayed.printed().contains(shown), "{replayed:#?}");
        let expected = format!("the first line\n{text}the last line\n");
        assert_eq!(replayed.stdout, expected);
    }
}

#[test]
fn more_than_was_recorded_is_reported() {
    let stage = Stage::new();
    let program = program(&stage, &command(&stage, "print-file"));
    let world = stage.path("world");
    fs::write(&world, "").unwrap();
    program.record_completely();
    fs::write(&world, "more\n").unwrap();
    let replayed = program.replay();
    let report = replayed.printed();
    for words in ["recorded:  nothing here\n", "replayed:  \"more\\n\"\n"] {
        assert!(report.contains(words), "{report}");
    }
}

#[test]
fn an_address_is_a_difference_that_the_report_explains() {
    let stage = Stage::new();
    let program = program(&stage, "print-address");
    program.record_completely();
    // It may be the same by chance.
    let mut reports = (0..20).filter_map(|_| program.replay().report);
    let report = reports.next().expect("addresses differ from run to run");
    assert!(
        report.contains("The texts differ only in addresses"),
        "{report}"
    );
}

#[test]
fn what_was_printed_before_a_kill_is_compared_and_nothing_after() {
    let stage = Stage::new();
    let program = program(&stage, "print-until-killed");
    let mut running = program.start_recording();
    running.wait_for_output("ready\n");
    let recorded = running.kill();
    let replayed = program.env("MORE", "yes").replay();
    replayed.ended();
    assert_eq!(replayed.stdout, "so far\nready\n");
    assert!(recorded.stderr.starts_with("so much\n"));
    assert!(replayed.stderr.starts_with("so much\n"), "{replayed:#?}");
}

#[test]
fn a_trace_has_the_beginning_of_what_is_printed_and_hashes_of_the_rest() {
    let stage = Stage::new();
    let program = program(&stage, "print-much");
    let recorded = program.record_completely();
    assert!(recorded.stdout.len() > 4_000_000);
    let trace = stage.open();
    assert!(trace.size() < 2_500_000, "{}", trace.size());
    let text = trace.data_summary();
    assert!((900_000..=1 << 20).contains(&text.bytes), "{text:?}");
    check(&program, &recorded, 2);
}

#[test]
fn another_text_is_found_where_the_trace_has_only_hashes() {
    let stage = Stage::new();
    let program = |text| program(&stage, "print-much-else").env("TEXT", text);
    let recorded = program("first").record_completely();
    check(&program("first"), &recorded, 1);
    let replayed = program("other").replay();
    let report = replayed.printed();
    for words in [
        "stream:    standard output\n",
        "recorded:  6 bytes, which are not in the trace\n",
        "replayed:  \"other\\n\"\n",
    ] {
        assert!(report.contains(words), "{report}");
    }
}

#[test]
fn the_messages_of_panics_are_the_same_whatever_backtraces_there_are() {
    for backtrace in ["0", "1", "full"] {
        let stage = Stage::new();
        let program = program(&stage, "print-panic").env("RUST_BACKTRACE", backtrace);
        let recorded = program.record();
        assert!(recorded.status.success(), "{recorded:#?}");
        assert_eq!(recorded.stderr.matches("panicked at").count(), 2);
        for _ in 0..3 {
            program.replay().is_same_as(&recorded);
        }
    }
}

#[test]
fn text_that_is_kept_out_of_the_trace_is_compared_by_its_hash() {
    let stage = Stage::new();
    let program = |token| {
        program(&stage, "print-secret")
            .env("TOKEN", token)
            .env("REENACT_REDACT", "output:stdout")
    };
    let recorded = program("hunter2").record_completely();
    let trace = fs::read(stage.trace()).unwrap();
    // The environment has not been redacted.
    let text = b"token is hunter2";
    assert!(!trace.windows(text.len()).any(|bytes| bytes == text));
    check(&program("hunter2"), &recorded, 1);
    let replayed = program("hunter3").replay();
    assert!(
        replayed
            .printed()
            .contains("21 bytes, which are not in the trace"),
        "{replayed:#?}"
    );
}

/// Before output was recorded, a program that only prints left an empty trace.
#[test]
fn a_trace_from_before_output_was_recorded_compares_nothing() {
    let stage = Stage::new();
    let recorded = reenact_trace::Program {
        environment: Vec::new(),
        ..reenact_trace::Program::current()
    };
    let writer = Writer::create(&stage.trace(), &recorded, Storage::File, |_| ()).unwrap();
    writer.finish().unwrap();
    let replayed = program(&stage, "print-secret").replay();
    replayed.is_fine();
    assert_eq!(replayed.stdout, "the token is \n");
}

#[test]
fn a_write_that_fails_does_so_in_a_replay() {
    let stage = Stage::new();
    let program = |broken| program(&stage, "print-broken").env("BROKEN", broken);
    let recorded = program("yes").record_completely();
    assert!(recorded.stderr.contains("BrokenPipe"), "{recorded:#?}");
    let trace = stage.open();
    let mut items = trace.events(0);
    let is_failure = |item| matches!(item, Ok(Item::Event(event)) if event.kind == Kind::WRITTEN);
    assert!(items.any(is_failure));
    check(&program("no"), &recorded, 2);
}
