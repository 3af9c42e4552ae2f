//! Processes and their channels: several at both ends, selections.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex as Plain},
    time::Duration,
};

use reenact::{
    csp::{
        self, Receiver, RecvTimeoutError, SendTimeoutError, Sender, TryRecvError, TrySendError,
        select::{Timeout, select},
    },
    explore::Explorer,
};

use reenact_explore::Verdict;

use crate::oracle::{Chance, Log, Program, brute_force, compare, explore, seeds};

/// So that a time limit expires now and then if the program is not explored.
const SOON: Duration = Duration::from_micros(20);

#[derive(Clone, Debug)]
enum Op {
    Send(usize),
    TrySend(usize),
    SendInTime(usize),
    Receive(usize),
    TryReceive(usize),
    ReceiveInTime(usize),
    DropSender(usize),
    DropReceiver(usize),
    /// Each sends or receives.
    Select(Vec<(bool, usize)>, How),
}

#[derive(Clone, Copy, Debug)]
enum How {
    Waits,
    WaitsInTime,
    Tries,
}

/// Channels by how much fits in, and what each process does.
#[derive(Clone, Debug)]
struct Processes {
    rooms: Vec<usize>,
    processes: Vec<Vec<Op>>,
}

/// Whether one that does this needs an end.
fn uses(ops: &[Op], channel: usize, sends: bool) -> bool {
    ops.iter().any(|op| match op {
        Op::Send(of) | Op::TrySend(of) | Op::SendInTime(of) | Op::DropSender(of) => {
            *of == channel && sends
        }
        Op::Receive(of) | Op::TryReceive(of) | Op::ReceiveInTime(of) | Op::DropReceiver(of) => {
            *of == channel && !sends
        }
        Op::Select(cases, _) => cases.contains(&(sends, channel)),
    })
}

/// Hands out the ends of a kind, the first one to who needs one last.
fn hand_out<E: Clone>(
    ends: &mut [Option<E>],
    sends: bool,
    me: usize,
    all: &[Vec<Op>],
) -> Vec<Option<E>> {
    (0..ends.len())
        .map(|of| match uses(&all[me], of, sends) {
            false => None,
            true if all[me + 1..].iter().any(|ops| uses(ops, of, sends)) => ends[of].clone(),
            true => ends[of].take(),
        })
        .collect()
}

struct Ends {
    senders: Vec<Option<Sender<i32>>>,
    receivers: Vec<Option<Receiver<i32>>>,
}

impl Ends {
    fn run(&mut self, op: &Op, value: i32) -> Option<i32> {
        Some(match op {
            Op::Send(of) => match self.senders[*of].as_ref()?.send(value) {
                Ok(()) => 1,
                Err(_) => -1,
            },
            Op::TrySend(of) => match self.senders[*of].as_ref()?.try_send(value) {
                Ok(()) => 1,
                Err(TrySendError::Full(_)) => 0,
                Err(TrySendError::Disconnected(_)) => -1,
            },
            Op::SendInTime(of) => {
                let time = SOON;
                match self.senders[*of].as_ref()?.send_timeout(value, time) {
                    Ok(()) => 1,
                    Err(SendTimeoutError::Timeout(_)) => 0,
                    Err(SendTimeoutError::Disconnected(_)) => -1,
                }
            }
            Op::Receive(of) => self.receivers[*of].as_ref()?.recv().unwrap_or(-1),
            Op::TryReceive(of) => match self.receivers[*of].as_ref()?.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Empty) => -2,
                Err(TryRecvError::Disconnected) => -1,
            },
            Op::ReceiveInTime(of) => {
                let time = SOON;
                match self.receivers[*of].as_ref()?.recv_timeout(time) {
                    Ok(message) => message,
                    Err(RecvTimeoutError::Timeout) => -2,
                    Err(RecvTimeoutError::Disconnected) => -1,
                }
            }
            Op::DropSender(of) => self.senders[*of].take().map(|_| 2)?,
            Op::DropReceiver(of) => self.receivers[*of].take().map(|_| 3)?,
            Op::Select(cases, how) => self.select(cases, *how, value)?,
        })
    }

    fn select(&self, cases: &[(bool, usize)], how: How, value: i32) -> Option<i32> {
        let patience = match how {
            How::Waits => Timeout::Never,
            How::WaitsInTime => Timeout::After(SOON),
            How::Tries => Timeout::Now,
        };
        let mut operations = Vec::new();
        for &(sends, of) in cases {
            operations.push(match sends {
                true => self.senders[of].as_ref()?.sending(value),
                false => self.receivers[of].as_ref()?.receiving(),
            });
        }
        let mut dynamic: Vec<&mut dyn csp::select::Case> = Vec::new();
        for operation in &mut operations {
            dynamic.push(operation);
        }
        let Some(case) = select(&mut dynamic, patience) else {
            return Some(-3);
        };
        let operation = operations.swap_remove(case);
        let result = match cases[case].0 {
            true => operation.sent().map_or(-1, |()| 1),
            false => operation.received().unwrap_or(-1),
        };
        Some(100 * case as i32 + result)
    }
}

impl Program for Processes {
    /// Where somebody tries or selects at a channel in which there may be no room, executions are begun in vain now and then.
    fn is_exact(&self) -> bool {
        let waits = |op: &Op| matches!(op, Op::Send(_) | Op::Receive(_));
        self.processes.iter().flatten().all(waits)
    }

    fn run(&self, log: &Log) {
        let channels = self.rooms.iter().map(|&room| csp::bounded(room));
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = channels
            .map(|(sender, receiver)| (Some(sender), Some(receiver)))
            .unzip();
        let processes: Vec<_> = (0..self.processes.len())
            .map(|me| {
                let mut ends = Ends {
                    senders: hand_out(&mut senders, true, me, &self.processes),
                    receivers: hand_out(&mut receivers, false, me, &self.processes),
                };
                let (log, ops) = (log.clone(), self.processes[me].clone());
                csp::spawn(move || {
                    for (value, op) in (10 * me as i32 + 1..).zip(&ops) {
                        if let Some(seen) = ends.run(op, value) {
                            log.note(me, seen);
                        }
                    }
                })
            })
            .collect();
        drop((senders, receivers));
        for process in processes {
            process.join().unwrap();
        }
    }
}

fn processes(chance: &mut Chance, with_selections: bool) -> Processes {
    let rooms = chance.some(1..=2, |chance| [0, 0, 1, 2][chance.below(4)]);
    // At a channel without room, those at one end only may do anything but wait.
    let patient: Vec<bool> = rooms.iter().map(|_| chance.below(2) == 0).collect();
    let processes = chance.some(2..=3, |chance| {
        chance.some(1..=2, |chance| {
            let of = chance.below(rooms.len());
            let may_try = |sends: bool, of: usize| rooms[of] > 0 || patient[of] == sends;
            match chance.below(if with_selections { 12 } else { 8 }) {
                0 | 1 => Op::Send(of),
                2 | 3 => Op::Receive(of),
                4 if may_try(true, of) => Op::TrySend(of),
                5 if may_try(false, of) => Op::TryReceive(of),
                6 if may_try(false, of) => Op::ReceiveInTime(of),
                4 | 5 => Op::DropSender(of),
                6 | 7 => Op::DropReceiver(of),
                _ => {
                    let mut cases = chance.some(1..=2, |chance| {
                        (chance.below(2) == 0, chance.below(rooms.len()))
                    });
                    cases.retain(|&(sends, of)| may_try(sends, of));
                    cases.dedup();
                    match cases.is_empty() {
                        true => Op::Send(of),
                        false => Op::Select(
                            cases,
                            [How::Waits, How::WaitsInTime, How::Tries][chance.below(3)],
                        ),
                    }
                }
            }
        })
    });
    Processes { rooms, processes }
}

/// Processes that do anything at both ends of channels without room, or with little.
fn meetings(chance: &mut Chance) -> Processes {
    let rooms = chance.some(1..=2, |chance| [0, 0, 0, 1][chance.below(4)]);
    let processes = chance.some(2..=3, |chance| {
        chance.some(1..=2, |chance| {
            let of = chance.below(rooms.len());
            match chance.below(16) {
                0 => Op::Send(of),
                1 => Op::Receive(of),
                2 => Op::TrySend(of),
                3 => Op::TryReceive(of),
                4 => Op::SendInTime(of),
                5 => Op::ReceiveInTime(of),
                6 => Op::DropSender(of),
                7 => Op::DropReceiver(of),
                _ => {
                    let mut cases = chance.some(1..=3, |chance| {
                        (chance.below(2) == 0, chance.below(rooms.len()))
                    });
                    cases.dedup();
                    let hows = [How::Waits, How::Waits, How::WaitsInTime, How::Tries];
                    Op::Select(cases, hows[chance.below(4)])
                }
            }
        })
    });
    Processes { rooms, processes }
}

#[test]
fn selections_that_meet_agree_with_brute_force() {
    let compared = compare(seeds(200), meetings);
    eprintln!("{compared:?}");
    assert!(compared.programs > compared.left_out, "{compared:?}");
}

/// ```text
/// main ── receive in no time ──┐
///                              ├── rendezvous
/// child ── send in no time ────┘
/// ```
#[test]
fn a_time_limit_of_nothing_is_explored_like_any_other() {
    let seen = Arc::new(Plain::new(BTreeSet::new()));
    let noted = Arc::clone(&seen);
    let finding = Explorer::new().run(move || {
        let (sender, receiver) = csp::bounded(0);
        let child = csp::spawn(move || sender.send_timeout(1, Duration::ZERO).is_ok());
        let received = receiver.recv_timeout(Duration::ZERO).is_ok();
        let sent = child.join().unwrap();
        noted.lock().unwrap().insert((sent, received));
    });
    assert!(finding.is_complete, "{finding}");
    let seen: Vec<_> = seen.lock().unwrap().iter().copied().collect();
    assert_eq!(seen, [(false, false), (true, true)]);
}

/// Brute force takes the same steps as the explorer, so it alone would not detect an outcome that no step leads to.
#[test]
fn whatever_happens_without_an_exploration_is_found_by_brute_force() {
    let mut compared = 0;
    for seed in seeds(60) {
        let program = meetings(&mut Chance(seed));
        let Some(all) = brute_force(&program, true) else {
            continue;
        };
        if all
            .outcomes
            .iter()
            .any(|(verdict, _)| *verdict == Verdict::Deadlock)
        {
            continue;
        }
        let known: BTreeSet<_> = all.outcomes.into_iter().map(|(_, logs)| logs).collect();
        for _ in 0..30 {
            let log = Log::default();
            program.run(&log);
            let seen = log.take();
            assert!(known.contains(&seen), "{seen:?} of {known:?}: {program:#?}");
        }
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn processes_agree_with_brute_force() {
    let compared = compare(seeds(100), |chance| processes(chance, false));
    eprintln!("{compared:?}");
    assert!(compared.programs > compared.left_out, "{compared:?}");
}

#[test]
fn selections_agree_with_brute_force() {
    let compared = compare(seeds(100), |chance| processes(chance, true));
    eprintln!("{compared:?}");
    assert!(compared.programs > compared.left_out, "{compared:?}");
}

/// ```text
/// sender 1 ── a ──┐
///                 ├── select
/// sender 2 ── b ──┘
/// ```
#[test]
fn each_case_of_a_selection_has_its_turn() {
    let program = Processes {
        rooms: vec![0, 0],
        processes: vec![
            vec![Op::Send(0)],
            vec![Op::Send(1)],
            vec![
                Op::Select(vec![(false, 0), (false, 1)], How::Waits),
                Op::Select(vec![(false, 0), (false, 1)], How::Waits),
            ],
        ],
    };
    let all = brute_force(&program, true).expect("it is small");
    let seen: Vec<_> = all
        .outcomes
        .iter()
        .map(|(_, logs)| logs[2].clone())
        .collect();
    // Or what was received first has no sender any more when the second is selected.
    assert_eq!(seen, [[111, 99], [1, -1], [1, 111], [111, 1]]);
    let found = explore(&program);
    assert!(found.outcomes.is_subset(&all.outcomes));
}

#[test]
fn processes_meet_in_every_order() {
    for (each, executions) in [(1, 6), (2, 90)] {
        let mut processes = vec![vec![Op::Receive(0); 3 * each]];
        processes.extend((0..3).map(|_| vec![Op::Send(0); each]));
        for room in [0, 1, usize::MAX] {
            let (rooms, processes) = (vec![room], processes.clone());
            let found = explore(&Processes { rooms, processes });
            assert_eq!(found.executions, executions);
        }
    }
}
