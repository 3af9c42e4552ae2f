//! Recorded histories, checked: in the order of commits that the trace has, every transaction read what the ones before it
//! had written; and whatever an attempt read, committed or not, was there together at one place in that order.
//!
//! ```text
//! trace:      main.1  main.0  main.0  main.2  …        from a replay with a log
//! program:    main.0: r2=0 w1=11,  r1=11, …            what each transaction read and wrote
//! ```

use std::{collections::HashMap, fs, ops::Range};

use crate::support::stage::Stage;

#[derive(Debug, Default, Clone)]
struct Done {
    reads: Vec<(usize, u64)>,
    writes: Vec<(usize, u64)>,
}

/// `0 r2=0 w1=11`: who, and what it did.
fn parse(line: &str) -> (usize, Done) {
    let mut words = line.split(' ');
    let me = words.next().and_then(|me| me.parse().ok()).expect("who");
    let mut done = Done::default();
    for word in words {
        let (variable, value) = word[1..].split_once('=').expect("r2=0");
        let entry = (variable.parse().unwrap(), value.parse().unwrap());
        if word.starts_with('r') {
            done.reads.push(entry);
        } else {
            done.writes.push(entry);
        }
    }
    (me, done)
}

/// For how many commits each value was there: from when until when.
type Times = HashMap<(usize, u64), Range<usize>>;

/// Goes through the transactions in their order; everyone must read what is there.
fn in_order(order: &[usize], mut histories: Vec<std::vec::IntoIter<Done>>) -> Times {
    let mut values = [0u64; 4];
    let mut times: Times = (0..4)
        .map(|variable| ((variable, 0), 0..usize::MAX))
        .collect();
    for (place, &thread) in order.iter().enumerate() {
        let done = histories[thread].next().expect("one for each in the log");
        for &(variable, value) in &done.reads {
            assert_eq!(values[variable], value, "{place}: {done:?} by {thread}");
        }
        for &(variable, value) in &done.writes {
            // Of two writes of one transaction to the same, nobody sees the first.
            let last = times.get_mut(&(variable, values[variable]));
            last.expect("it was written").end = place + 1;
            times.insert((variable, value), place + 1..usize::MAX);
            values[variable] = value;
        }
    }
    assert!(histories.iter_mut().all(|history| history.next().is_none()));
    times
}

#[test]
fn histories_are_serial_in_the_order_of_commits_and_all_attempts_opaque() {
    for _ in 0..8 {
        let stage = Stage::new();
        let (log, attempts) = (stage.path("log"), stage.path("attempts"));
        let program = || stage.program("stm-history");
        let recorded = program().env("ATTEMPTS", &attempts).record();
        recorded.is_fine();
        stage.recovered();
        program().replay_with_log(&log).is_same_as(&recorded);

        let mut histories = vec![Vec::new(); 3];
        for line in recorded.stdout.lines() {
            let (me, done) = parse(line);
            histories[me].push(done);
        }
        let log = fs::read_to_string(log).unwrap();
        let order: Vec<usize> = log
            .lines()
            .filter_map(|line| {
                let fields: Vec<_> = line.split('\t').collect();
                let is_transaction = fields[2] == "run a transaction";
                assert!(!is_transaction || fields[3] == "the commit order", "{line}");
                let thread = fields[0].strip_prefix("main.")?.parse().ok()?;
                is_transaction.then_some(thread)
            })
            .collect();
        let histories = histories.into_iter().map(Vec::into_iter).collect();
        let times = in_order(&order, histories);

        for line in fs::read_to_string(attempts).unwrap().lines() {
            let (_, attempt) = parse(line);
            let together = attempt.reads.iter().fold(0..usize::MAX, |together, read| {
                let there = times.get(read).expect("only what was committed is read");
                together.start.max(there.start)..together.end.min(there.end)
            });
            assert!(!together.is_empty(), "never there together: {line}");
        }
    }
}
