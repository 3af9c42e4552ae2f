//! The log of a replay: one line per operation, in the order in which each lock saw them.

use std::{collections::HashMap, fs};

use crate::support::stage::Stage;

/// A line of the log.
#[derive(Debug)]
struct Line<'a> {
    family: &'a str,
    name: &'a str,
    what: &'a str,
    object: &'a str,
    site: &'a str,
    note: &'a str,
}

fn lines(log: &str) -> impl Iterator<Item = Line<'_>> {
    assert!(log.ends_with('\n'), "no line is cut short");
    // What begins with a tab says what an object is.
    let operations = log.lines().filter(|line| !line.starts_with('\t'));
    operations.map(|line| {
        let fields: Vec<_> = line.split('\t').collect();
        // What follows is for those who explore from it.
        let [family, name, what, object, site, note, ..] = fields[..] else {
            panic!("not six fields: {line:?}");
        };
        Line {
            family,
            name,
            what,
            object,
            site,
            note,
        }
    })
}

/// Records the program, replays it with a log, and returns what it printed and the log.
fn replay_with_log(program: &str) -> (String, String) {
    let stage = Stage::new();
    let program = stage.program(program);
    let recorded = program.record();
    let log = stage.path("log");
    let replayed = program.replay_with_log(&log);
    replayed.is_same_as(&recorded);
    (recorded.stdout, fs::read_to_string(log).unwrap())
}

/// Checks that each lock was held by one at a time, and each table read only while nobody wrote.
#[track_caller]
fn is_in_order(log: &str) {
    let mut holders: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
    for line in lines(log) {
        assert!(
            line.family.starts_with("main") || line.family.starts_with("foreign"),
            "{line:?}"
        );
        assert!(
            !line.name.is_empty() && line.site.contains(".rs:"),
            "{line:?}"
        );
        let is_of_lock = line.what.contains("lock") || ["read", "write"].contains(&line.what);
        assert!(
            !is_of_lock || ["", "timed out", "not to be had"].contains(&line.note),
            "{line:?}"
        );
        if line.note == "not to be had" {
            continue;
        }
        let holders = holders.entry(line.object).or_default();
        let mut end = |what| {
            let place = holders
                .iter()
                .position(|holder| *holder == (line.family, what));
            holders.remove(place.unwrap_or_else(|| panic!("{line:?} but {holders:?}")));
        };
        match line.what {
            "lock" | "try to lock a mutex" | "write" | "try to write an rwlock" => {
                assert!(holders.is_empty(), "{line:?} but {holders:?}");
                holders.push((
                    line.family,
                    match line.what.contains("write") {
                        true => "write",
                        false => "lock",
                    },
                ));
            }
            "read" | "try to read an rwlock" => {
                let readers = holders.iter().all(|(_, what)| *what == "read");
                assert!(readers, "{line:?} but {holders:?}");
                holders.push((line.family, "read"));
            }
            "unlock" => end("lock"),
            "unlock after writing" => end("write"),
            "unlock after reading" => end("read"),
            _ => {}
        }
    }
    assert!(
        holders.values().all(Vec::is_empty),
        "everybody has given back: {holders:?}"
    );
}

#[test]
fn the_log_has_the_order_in_which_a_lock_was_taken() {
    let (stdout, log) = replay_with_log("waves 200 10");
    is_in_order(&log);
    // The program prints a hash of who came when. In the log it is the same.
    let order: Vec<u64> = lines(&log)
        .filter(|line| line.what == "lock" && line.family != "main")
        .map(|line| line.family.strip_prefix("main.").unwrap().parse().unwrap())
        .collect();
    let hash = order
        .iter()
        .fold(7u64, |hash, me| hash.wrapping_mul(31).wrapping_add(*me));
    assert_eq!(stdout, format!("({}, {hash}) 19900\n", order.len()));
}

#[test]
fn logs_of_failures_are_well_formed() {
    for program in [
        "poison",
        "statics",
        "locals",
        "foreign-mixed",
        "waves 100 10",
        "chatter 100",
    ] {
        is_in_order(&replay_with_log(program).1);
    }
}
