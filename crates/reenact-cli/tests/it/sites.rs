//! What is shown of a program is at lines of that program: not at those of Reenact, nor of the standard library.

use std::{fs, path::Path};

use expect_test::{Expect, expect};

use crate::{program::example, run::Directory};

/// Whether a text names a line that is inside.
pub(crate) fn check_lines(name: &str, text: &str) {
    for line in text.lines() {
        for inside in [
            "/rustc/",
            "/rustlib/",
            "library/core/",
            "crates/reenact/src/",
            "crates/reenact-engine/src/",
        ] {
            assert!(!line.contains(inside), "{name}: {line}\n{text}");
        }
    }
}

/// The log of one of the programs of `examples/primitives.rs`, by columns: who, what, to what, where, and what else is said.
fn log(program: &str) -> Vec<[String; 5]> {
    let directory = Directory::new();
    let primitives = example("primitives");
    directory.reenact(&["record", "-o", "run.reenact", "--", primitives, program]);
    let log = directory
        .reenact(&["replay", "run.reenact", "--log"])
        .stdout;
    check_lines(program, &log);
    let lines = log.lines().filter(|line| line.starts_with("main"));
    let columns = |line: &str| {
        let mut columns = line
            .split("  ")
            .map(str::trim)
            .filter(|part| !part.is_empty());
        std::array::from_fn(|_| columns.next().unwrap_or_default().to_owned())
    };
    lines.map(columns).collect()
}

/// Operations of a log: what is done, the text of the line of the program that does it, and what else is said.
fn operations(program: &str, of: &str) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/primitives.rs");
    let source = fs::read_to_string(source).unwrap();
    let source: Vec<_> = source.lines().map(str::trim).collect();
    let mut shown: Vec<String> = Vec::new();
    for [_, what, object, site, note] in log(program) {
        if what == of {
            let place = site.strip_prefix("crates/reenact-cli/examples/primitives.rs:");
            let line = place.and_then(|place| place.split(':').next()?.parse::<usize>().ok());
            let line = line.map_or("no line", |line| source[line - 1]);
            let (noun, _) = object.split_once('@').unwrap_or((&object, ""));
            shown.push(format!("{what}, {noun}: {line}  {note}"));
        }
    }
    // Who comes first, and how often, is of no interest.
    shown.sort();
    shown.dedup();
    let lines = shown.iter().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

fn check(program: &str, of: &str, expected: Expect) {
    expected.assert_eq(&operations(program, of));
}

#[test]
fn a_guard_is_dropped_at_the_statement_or_the_brace_that_drops_it() {
    check(
        "mutex",
        "unlock",
        expect![[r#"
            unlock, mutex: (0..2).for_each(|_| shared.lock().unwrap().push(number))
            unlock, mutex: println!("{:?}", list.lock().unwrap());
        "#]],
    );
    // While it panics, too.
    check(
        "poison",
        "unlock",
        expect![[r#"
            unlock, mutex: let seen = lock.lock().is_err();
            unlock, mutex: });
        "#]],
    );
    check(
        "condvar-timeout",
        "unlock",
        expect![[r#"
            unlock, mutex: *shared.0.lock().unwrap() = true;
            unlock, mutex: drop(set);
        "#]],
    );
    check(
        "rwlock-downgrade",
        "unlock after reading",
        expect![[r#"
            unlock after reading, rwlock: });
        "#]],
    );
}

#[test]
fn an_end_of_a_channel_is_dropped_with_its_channel_where_it_goes() {
    check(
        "mpsc",
        "drop a sender",
        expect![[r#"
            drop a sender, channel: drop(sender);
            drop a sender, channel: thread::spawn(move || (0..2).for_each(|n| sender.send(10 * number + n).unwrap()))
        "#]],
    );
    check(
        "mpsc",
        "drop a receiver",
        expect![[r#"
            drop a receiver, channel: }
        "#]],
    );
    check(
        "csp-close",
        "drop a receiver",
        expect![[r#"
            drop a receiver, channel: drop(receiver);
        "#]],
    );
}

#[test]
fn what_an_iterator_receives_is_received_where_it_is_asked_for() {
    check(
        "mpsc",
        "receive from a channel",
        expect![[r#"
            receive from a channel, channel: println!("{:?}", receiver.iter().collect::<Vec<_>>());
            receive from a channel, channel: println!("{:?}", receiver.iter().collect::<Vec<_>>());  disconnected
        "#]],
    );
}

#[test]
fn a_once_is_one_object_with_operations_of_its_own() {
    for noun in ["once", "once-lock", "lazy-lock"] {
        let log = log(noun);
        let mut objects = Vec::new();
        for what in [
            "check",
            "run",
            "complete",
            "wake those who wait for",
            "leave",
        ] {
            let what = format!("{what} a {noun}");
            let line = log.iter().find(|line| line[1] == what);
            let line = line.unwrap_or_else(|| panic!("{what}: {log:?}"));
            objects.push(&line[2]);
        }
        objects.dedup();
        assert_eq!(objects.len(), 1, "{log:?}");
        assert!(
            objects[0].starts_with(&format!("{noun}@crates/")),
            "{log:?}"
        );
        assert!(!objects[0].contains('#'), "{log:?}");
    }
}

#[test]
fn values_of_atomics_are_in_the_log() {
    let log = log("atomics");
    let of = |what: &str| -> Vec<&str> {
        let lines = log.iter().filter(|line| line[1] == what);
        lines.map(|line| &*line[4]).collect()
    };
    // What was there before the first operation, and after the last.
    let all: Vec<_> = log.iter().filter(|line| !line[4].is_empty()).collect();
    assert_eq!((&*all[0][1], &*all[0][4]), ("load", "0"), "{log:?}");
    assert_eq!(of("store").len(), 2);
    for value in of("load").into_iter().chain(of("store")) {
        assert!(value.parse::<u32>().is_ok(), "{value}: {log:?}");
    }
    for change in of("fetch_add") {
        let (was, now) = change.split_once(" -> ").unwrap();
        let [was, now] = [was, now].map(|value| value.parse::<u32>().unwrap());
        assert_eq!(was + 1, now, "{log:?}");
    }
    for exchanged in of("compare_exchange") {
        let is_done = exchanged.starts_with("1 -> 1");
        assert!(
            is_done || exchanged.starts_with("failed: it is "),
            "{log:?}"
        );
    }
    assert_eq!(of("fetch_add").len(), 2);
    assert_eq!(of("compare_exchange").len(), 2);
}

/// Each operation sees what the one before it has left, in the order of the log.
#[test]
fn the_lines_of_an_object_are_in_its_order() {
    let log = log("atomics");
    let mut value = "0".to_owned();
    for [_, what, _, _, note] in log.iter().filter(|line| line[2].starts_with("atomic@")) {
        match &**what {
            // A read that goes as predicted is not waited for.
            "load" => {}
            "store" => value.clone_from(note),
            _ => match note.split_once(" -> ") {
                Some((was, now)) => {
                    assert_eq!(was, value, "{log:?}");
                    value = now.to_owned();
                }
                None => assert_eq!(*note, format!("failed: it is {value}"), "{log:?}"),
            },
        }
    }
}

#[test]
fn a_refused_send_comes_after_the_receiver_is_gone_and_has_its_channel() {
    let log = log("csp-close");
    let gone = log.iter().position(|line| line[1] == "drop a receiver");
    let mut refused = log.iter().enumerate();
    for (index, line) in refused
        .by_ref()
        .filter(|(_, line)| line[4] == "disconnected")
    {
        assert!(gone.is_some_and(|gone| gone < index), "{log:?}");
        assert!(line[2].starts_with("channel@"), "{log:?}");
    }
    let channels = log.iter().map(|line| &line[2]);
    let mut channels: Vec<_> = channels
        .filter(|object| object.contains("channel"))
        .collect();
    channels.dedup();
    assert_eq!(channels.len(), 1, "both ends are one: {log:?}");
}

#[test]
fn a_selection_is_one_line_at_the_case_that_happened() {
    let log = log("csp-select");
    let selected: Vec<_> = log.iter().filter(|line| line[1] == "select").collect();
    assert_eq!(selected.len(), 2, "{log:?}");
    for line in selected {
        let (happened, all) = line[4].split_once(", of: ").unwrap();
        let happened = happened.trim_end_matches(" (disconnected)");
        assert_eq!(happened, format!("receive from {}", line[2]), "{log:?}");
        let all: Vec<_> = all.split(", ").collect();
        assert_eq!(all.len(), 2, "{log:?}");
        // The second of the two is one line below the first.
        let case = all.iter().position(|case| *case == happened).unwrap();
        let expected = ["recv(from_left)", "recv(from_right)"][case];
        let source = include_str!("../../examples/primitives.rs");
        let number: usize = line[3].split(':').nth(1).unwrap().parse().unwrap();
        let text = source.lines().nth(number - 1).unwrap();
        assert!(text.contains(expected), "{text}: {log:?}");
    }
    assert!(
        !log.iter().any(|line| line[1] == "receive from a channel"),
        "{log:?}"
    );
}
