//! Selections.

use std::time::Duration;

use reenact::{
    csp::{self, Receiver, RecvError, SendError, Sender, spawn},
    thread,
};

use super::{Behaviours, behaviours};

pub(super) const ALL: Behaviours = behaviours![
    what_is_possible_happens,
    nothing_possible_is_the_default,
    what_becomes_possible_ends_the_wait,
    an_operation_whose_other_side_is_gone_is_possible,
    a_side_that_goes_ends_the_wait,
    twelve_cases,
    both_sides_of_one_channel_do_not_meet_themselves,
    both_sides_of_one_channel_with_room,
    two_that_could_meet_in_two_ways_meet_once,
    one_receiver_in_two_cases,
    selections_meet_selections,
    bodies_may_leave,
    a_selection_has_a_value,
    selections_within_selections,
    handles_may_be_expressions,
    with_no_case_there_is_the_default,
    of_several_that_wait_one_is_met,
];

const NEVER: Duration = Duration::from_secs(3600);

#[cfg_attr(test, test)]
fn what_is_possible_happens() {
    let (full, nobody) = csp::channel::<u8>();
    let (sender, receiver) = csp::bounded(1);
    for number in 0..10 {
        let sent = csp::select! {
            recv(nobody) -> _ => false,
            send(full, 1) -> _ => false,
            send(sender, number) -> sent => sent.is_ok(),
        };
        assert!(sent);
        let received = csp::select! {
            recv(receiver) -> message => message,
            recv(nobody) -> _ => unreachable!("nobody sends"),
            default => unreachable!("there is a message"),
        };
        assert_eq!(received, Ok(number));
    }
}

#[cfg_attr(test, test)]
fn nothing_possible_is_the_default() {
    let check = || {
        let (full, nobody) = csp::channel::<u8>();
        for time in [Duration::ZERO, Duration::from_micros(200)] {
            let what = csp::select! {
                recv(nobody) -> _ => 1,
                send(full, 1) -> _ => 2,
                default(time) => 3,
            };
            assert_eq!(what, 3);
        }
        let what = csp::select! {
            recv(nobody) -> _ => 1,
            send(full, 1) -> _ => 2,
            default => 3,
        };
        assert_eq!(what, 3);
    };
    check();
    spawn(check).join().unwrap();
}

#[cfg_attr(test, test)]
fn what_becomes_possible_ends_the_wait() {
    fn wait(numbers: Receiver<u32>, answers: Sender<u32>) -> (Vec<u32>, u32) {
        let (mut received, mut sent) = (Vec::new(), 0);
        while received.len() < 20 || sent < 20 {
            csp::select! {
                recv(numbers) -> number => received.push(number.unwrap()),
                send(answers, sent) -> ok => {
                    ok.unwrap();
                    sent += 1;
                }
                default(NEVER) => unreachable!("somebody comes"),
            }
        }
        (received, sent)
    }
    for by_thread in [false, true] {
        let (number, numbers) = csp::channel();
        let (answer, answers) = csp::channel();
        spawn(move || (0..).try_for_each(|at| number.send(at)));
        let receiver = spawn(move || answers.iter().count());
        let (received, sent) = match by_thread {
            true => thread::spawn(move || wait(numbers, answer)).join().unwrap(),
            false => spawn(move || wait(numbers, answer)).join().unwrap(),
        };
        assert!(
            received
                .into_iter()
                .enumerate()
                .all(|(at, number)| at == number as usize)
        );
        assert_eq!(receiver.join().unwrap(), sent as usize);
    }
}

#[cfg_attr(test, test)]
fn an_operation_whose_other_side_is_gone_is_possible() {
    let (sender, receiver) = csp::channel::<u8>();
    let (closed_sender, gone) = csp::channel();
    drop(gone);
    let what = csp::select! {
        recv(receiver) -> _ => unreachable!("nobody sends"),
        send(closed_sender, 7) -> sent => sent,
    };
    assert_eq!(what, Err(SendError(7)));
    drop(sender);
    for _ in 0..3 {
        let what = csp::select! {
            recv(receiver) -> message => message,
            default => unreachable!("this is known at once"),
        };
        assert_eq!(what, Err(RecvError));
    }
}

#[cfg_attr(test, test)]
fn a_side_that_goes_ends_the_wait() {
    for _ in 0..10 {
        let (sender, receiver) = csp::channel::<u8>();
        let (other_sender, other_receiver) = csp::channel::<u8>();
        let select = |inbox: Receiver<u8>, outbox: Sender<u8>| {
            move || {
                csp::select! {
                    recv(inbox) -> message => {
                        assert_eq!(message, Err(RecvError));
                        "no sender"
                    }
                    send(outbox, 7) -> sent => {
                        assert_eq!(sent, Err(SendError(7)));
                        "no receiver"
                    }
                }
            }
        };
        let process = spawn(select(receiver.clone(), other_sender.clone()));
        let thread = thread::spawn(select(receiver, other_sender));
        (0..5).for_each(|_| csp::yield_now());
        drop(sender);
        assert_eq!(process.join().unwrap(), "no sender");
        assert_eq!(thread.join().unwrap(), "no sender");
        drop(other_receiver);

        let (sender, receiver) = csp::channel::<u8>();
        let (other_sender, other_receiver) = csp::channel::<u8>();
        let process = spawn(select(receiver, other_sender));
        (0..5).for_each(|_| csp::yield_now());
        drop(other_receiver);
        assert_eq!(process.join().unwrap(), "no receiver");
        drop(sender);
    }
}

#[cfg_attr(test, test)]
fn twelve_cases() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..12).map(|_| csp::bounded::<usize>(1)).unzip();
    let select = || {
        let (case, message) = csp::select! {
            recv(receivers[0]) -> message => (0, message),
            recv(receivers[1]) -> message => (1, message),
            recv(receivers[2]) -> message => (2, message),
            recv(receivers[3]) -> message => (3, message),
            recv(receivers[4]) -> message => (4, message),
            recv(receivers[5]) -> message => (5, message),
            recv(receivers[6]) -> message => (6, message),
            recv(receivers[7]) -> message => (7, message),
            recv(receivers[8]) -> message => (8, message),
            recv(receivers[9]) -> message => (9, message),
            recv(receivers[10]) -> message => (10, message),
            recv(receivers[11]) -> message => (11, message),
            default => return None,
        };
        assert_eq!(message, Ok(case));
        Some(case)
    };
    for (case, sender) in senders.iter().enumerate() {
        sender.send(case).unwrap();
        assert_eq!(select(), Some(case));
        assert_eq!(select(), None);
    }
    for (case, sender) in senders.iter().enumerate() {
        sender.send(case).unwrap();
    }
    let mut all: Vec<_> = std::iter::from_fn(select).collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..12));
}

#[cfg_attr(test, test)]
fn both_sides_of_one_channel_do_not_meet_themselves() {
    let (sender, receiver) = csp::channel();
    for time in [Duration::ZERO, Duration::from_micros(100)] {
        csp::select! {
            send(sender, 1) -> _ => unreachable!("nobody else is there"),
            recv(receiver) -> _ => unreachable!("nobody else is there"),
            default(time) => {}
        }
    }
    // Somebody else is.
    for number in 0..20 {
        let (theirs, other) = (sender.clone(), receiver.clone());
        let process = spawn(move || {
            csp::select! {
                send(theirs, number) -> sent => sent.is_ok(),
                recv(other) -> message => message == Ok(number),
            }
        });
        csp::select! {
            recv(receiver) -> message => assert_eq!(message, Ok(number)),
            send(sender, number) -> sent => sent.unwrap(),
        }
        assert!(process.join().unwrap());
    }
}

#[cfg_attr(test, test)]
fn both_sides_of_one_channel_with_room() {
    let (sender, receiver) = csp::bounded(1);
    for number in 0..50 {
        csp::select! {
            recv(receiver) -> message => assert_eq!(message, Ok(number - 1)),
            send(sender, number) -> sent => {
                sent.unwrap();
                continue;
            }
        }
        sender.send(number).unwrap();
    }
    assert_eq!(receiver.recv(), Ok(49));
}

/// Both could meet at either channel:
///
/// ```text
/// one      send a │ receive b
/// other    receive a │ send b
/// ```
#[cfg_attr(test, test)]
fn two_that_could_meet_in_two_ways_meet_once() {
    let (a, at_a) = csp::channel();
    let (b, at_b) = csp::channel();
    let process = spawn(move || {
        let mut balance = 0;
        for number in 0..200 {
            csp::select! {
                send(a, number) -> sent => {
                    sent.unwrap();
                    balance += 1;
                }
                recv(at_b) -> message => {
                    assert_eq!(message, Ok(number));
                    balance -= 1;
                }
            }
        }
        balance
    });
    let mut balance = 0;
    for number in 0..200 {
        csp::select! {
            recv(at_a) -> message => {
                assert_eq!(message, Ok(number));
                balance += 1;
            }
            send(b, number) -> sent => {
                sent.unwrap();
                balance -= 1;
            }
        }
    }
    assert_eq!(process.join().unwrap(), balance);
}

#[cfg_attr(test, test)]
fn one_receiver_in_two_cases() {
    let (sender, receiver) = csp::channel();
    let process = spawn(move || (0..100).try_for_each(|number| sender.send(number)));
    let mut next = 0;
    loop {
        let message = csp::select! {
            recv(receiver) -> message => message,
            recv(receiver) -> message => message,
        };
        match message {
            Ok(number) => assert_eq!(number, next),
            Err(RecvError) => break,
        }
        next += 1;
    }
    assert_eq!(next, 100);
    process.join().unwrap().unwrap();
}

/// Any of the one kind may meet any of the other, in three ways:
///
/// ```text
/// two      send a │ send b │ receive c
/// two      receive a │ receive b │ send c
/// ```
#[cfg_attr(test, test)]
fn selections_meet_selections() {
    const EACH: i64 = 100;
    let (a, at_a) = csp::channel::<i64>();
    let (b, at_b) = csp::channel();
    let (c, at_c) = csp::channel::<i64>();
    let one = {
        let (a, b, at_c) = (a, b, at_c);
        move || {
            let mut balance = 0;
            for number in 0..EACH {
                balance += csp::select! {
                    send(a, number) -> sent => sent.map(|()| number).unwrap(),
                    send(b, number) -> sent => sent.map(|()| number).unwrap(),
                    recv(at_c) -> message => -message.unwrap(),
                };
            }
            balance
        }
    };
    let other = move || {
        let mut balance = 0;
        for number in 0..EACH {
            balance += csp::select! {
                recv(at_a) -> message => message.unwrap(),
                recv(at_b) -> message => message.unwrap(),
                send(c, number) -> sent => -sent.map(|()| number).unwrap(),
            };
        }
        balance
    };
    let ones = (spawn(one.clone()), thread::spawn(one));
    let others = (spawn(other.clone()), thread::spawn(other));
    let sum = |(process, thread): (csp::JoinHandle<i64>, thread::JoinHandle<i64>)| {
        process.join().unwrap() + thread.join().unwrap()
    };
    assert_eq!(sum(ones), sum(others));
}

#[cfg_attr(test, test)]
fn bodies_may_leave() {
    fn first_even(receiver: &Receiver<u32>) -> Result<u32, RecvError> {
        loop {
            csp::select! {
                recv(receiver) -> number => {
                    let number = number?;
                    if number % 2 == 1 {
                        continue;
                    }
                    return Ok(number);
                }
            }
        }
    }
    let (sender, receiver) = csp::bounded(10);
    for number in [1, 3, 4, 5] {
        sender.send(number).unwrap();
    }
    drop(sender);
    assert_eq!(first_even(&receiver), Ok(4));
    assert_eq!(first_even(&receiver), Err(RecvError));
    let found = 'search: loop {
        csp::select! {
            recv(receiver) -> number => if number.is_err() { break 'search 1 },
            default => break 'search 2,
        }
    };
    assert_eq!(found, 1);
}

#[cfg_attr(test, test)]
fn a_selection_has_a_value() {
    let (sender, receiver) = csp::bounded::<(u8, &str)>(1);
    let sent: Result<_, _> = csp::select!(send(sender, (1, "one")) -> sent => sent);
    sent.unwrap();
    // A block without a comma after it, and an expression without one at the end.
    let word = csp::select! {
        recv(receiver) -> message => { message.map_or("nobody", |(_, word)| word) }
        default => "nothing"
    };
    assert_eq!(word, "one");
}

#[cfg_attr(test, test)]
fn selections_within_selections() {
    let (outer, outside) = csp::bounded(1);
    let (inner, inside) = csp::bounded(1);
    outer.send(1).unwrap();
    inner.send(2).unwrap();
    let sum = csp::select! {
        recv(outside) -> one => one.unwrap() + csp::select! {
            recv(inside) -> two => two.unwrap(),
            recv(outside) -> _ => unreachable!("nothing more was sent"),
        },
    };
    assert_eq!(sum, 3);
}

#[cfg_attr(test, test)]
fn handles_may_be_expressions() {
    struct Ends {
        sender: Sender<String>,
        receiver: Receiver<String>,
    }
    let (sender, receiver) = csp::bounded(1);
    let ends = Box::new(Ends { sender, receiver });
    let by_reference = &&ends.sender;
    let word = "word".to_owned();
    csp::select! {
        send(by_reference, format!("{word}s")) -> sent => sent.unwrap(),
    }
    let word = csp::select! {
        recv(if word.is_empty() { unreachable!() } else { &ends.receiver }) -> word => word,
    };
    assert_eq!(word.as_deref(), Ok("words"));
    // Of which there is no other.
    let what = csp::select! {
        send(ends.sender.clone(), word.clone().unwrap()) -> sent => sent.map(|()| "sent"),
        recv(csp::channel::<u8>().1) -> nothing => {
            assert_eq!(nothing, Err(RecvError), "its sender is gone");
            Ok("closed")
        }
    };
    assert!(what == Ok("sent") || what == Ok("closed"));
    if what == Ok("closed") {
        ends.sender.send(word.unwrap()).unwrap();
    }
    let waits = csp::select! {
        recv({ &ends.receiver.clone() }) -> word => word,
        default(NEVER) => unreachable!("it is there"),
    };
    assert_eq!(waits.as_deref(), Ok("words"));
}

#[cfg_attr(test, test)]
fn with_no_case_there_is_the_default() {
    assert_eq!(csp::select! { default => 1 }, 1);
    assert_eq!(csp::select! { default(Duration::from_micros(10)) => 2 }, 2);
}

#[cfg_attr(test, test)]
fn of_several_that_wait_one_is_met() {
    let (sender, receiver) = csp::channel::<usize>();
    let processes: Vec<_> = (0..4)
        .map(|me| {
            let receiver = receiver.clone();
            spawn(move || {
                let mut count = 0;
                loop {
                    let message = match me % 2 {
                        0 => receiver.recv(),
                        _ => csp::select! {
                            recv(receiver) -> message => message,
                            default(NEVER) => unreachable!("somebody comes"),
                        },
                    };
                    match message {
                        Ok(_) => count += 1,
                        Err(RecvError) => return count,
                    }
                }
            })
        })
        .collect();
    (0..400).for_each(|number| sender.send(number).unwrap());
    drop(sender);
    let counts: Vec<usize> = processes
        .into_iter()
        .map(|process| process.join().unwrap())
        .collect();
    assert_eq!(counts.iter().sum::<usize>(), 400);
}
