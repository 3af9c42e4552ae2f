//! Every message is dropped once, whatever becomes of it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use reenact::{
    csp::{self, spawn},
    thread,
};

use super::{Behaviours, Census, Counted, behaviours};

pub(super) const ALL: Behaviours = behaviours![
    messages_that_are_received,
    messages_that_nobody_receives,
    messages_that_are_given_back,
    messages_whose_senders_wait_when_the_receivers_go,
    messages_of_cases_that_do_not_happen,
    messages_whose_time_is_up,
    messages_received_by_one_who_panics,
    a_message_that_panics_when_it_is_dropped_keeps_nobody_waiting,
];

#[cfg_attr(test, test)]
fn messages_that_are_received() {
    for room in [0, 1, 100] {
        let census = Census::default();
        let (sender, receiver) = csp::bounded(room);
        let born = census.clone();
        spawn(move || {
            for number in 0..100 {
                sender.send(born.born(number)).unwrap();
            }
        });
        for number in 0..100 {
            let message = receiver.recv().unwrap();
            assert_eq!(message.number, number);
            drop(message);
        }
        assert!(receiver.recv().is_err());
        assert_eq!(census.alive(), 0);
    }
}

#[cfg_attr(test, test)]
fn messages_that_nobody_receives() {
    let census = Census::default();
    let (sender, receiver) = csp::unbounded();
    (0..10).for_each(|number| sender.send(census.born(number)).unwrap());
    assert_eq!(census.alive(), 10);
    drop(receiver);
    assert_eq!(census.alive(), 0, "nobody can receive them");
    drop(sender);

    let (sender, receiver) = csp::bounded(3);
    (0..3).for_each(|number| sender.send(census.born(number)).unwrap());
    drop(sender);
    assert_eq!(census.alive(), 3, "they can be received");
    drop(receiver.recv());
    drop(receiver);
    assert_eq!(census.alive(), 0);
}

#[cfg_attr(test, test)]
fn messages_that_are_given_back() {
    let census = Census::default();
    let (sender, receiver) = csp::channel();
    drop(sender.try_send(census.born(0)));
    drop(sender.send_timeout(census.born(1), Duration::ZERO));
    assert_eq!(census.alive(), 0);
    drop(receiver);
    let back = [
        sender.send(census.born(2)).unwrap_err().0,
        match sender.try_send(census.born(3)).unwrap_err() {
            csp::TrySendError::Full(back) | csp::TrySendError::Disconnected(back) => back,
        },
        match sender.send_timeout(census.born(4), Duration::ZERO) {
            Err(csp::SendTimeoutError::Disconnected(back)) => back,
            _ => unreachable!("there is no receiver"),
        },
        csp::select! {
            send(sender, census.born(5)) -> sent => sent.unwrap_err().0,
        },
    ];
    assert_eq!(back.each_ref().map(|message| message.number), [2, 3, 4, 5]);
    assert_eq!(census.alive(), 4);
    drop(back);
    assert_eq!(census.alive(), 0);
}

#[cfg_attr(test, test)]
fn messages_whose_senders_wait_when_the_receivers_go() {
    for room in [0, 2] {
        let census = Census::default();
        let (sender, receiver) = csp::bounded(room);
        let send = |number| {
            let (sender, census) = (sender.clone(), census.clone());
            move || {
                sender
                    .send(census.born(number))
                    .map_err(|error| error.0.number)
            }
        };
        let processes: Vec<_> = (0..4).map(|number| spawn(send(number))).collect();
        let thread = thread::spawn(send(4));
        drop(receiver.recv().unwrap());
        drop(receiver);
        let mut back: Vec<_> = processes
            .into_iter()
            .filter_map(|process| process.join().unwrap().err())
            .collect();
        back.extend(thread.join().unwrap().err());
        assert!(back.len() >= 4 - room && back.len() <= 4, "{back:?}");
        assert_eq!(census.alive(), 0);
    }
}

#[cfg_attr(test, test)]
fn messages_of_cases_that_do_not_happen() {
    let census = Census::default();
    let (sender, receiver) = csp::bounded(1);
    let (full, _nobody) = csp::channel();
    for number in 0..100 {
        csp::select! {
            send(full, census.born(1000)) -> _ => unreachable!("nobody receives"),
            send(sender, census.born(number)) -> sent => sent.unwrap(),
        }
        csp::select! {
            send(full, census.born(1000)) -> _ => unreachable!("nobody receives"),
            recv(receiver) -> message => assert_eq!(message.unwrap().number, number),
        }
        csp::select! {
            send(full, census.born(1000)) -> _ => unreachable!("nobody receives"),
            recv(receiver) -> _ => unreachable!("nothing was sent"),
            default => {}
        }
        assert_eq!(census.alive(), 0);
    }
}

/// ```text
/// sender     send (a while) … given back, or not
/// receiver   receive (a while) … received, or not
/// ```
#[cfg_attr(test, test)]
fn messages_whose_time_is_up() {
    const ROUNDS: usize = 100;
    let census = Census::default();
    let (sender, receiver) = csp::channel::<Counted>();
    let born = census.clone();
    let process = spawn(move || {
        let sent = (0..ROUNDS).map(|number| {
            let time = Duration::from_micros(number as u64 % 40);
            sender.send_timeout(born.born(number), time).is_ok()
        });
        sent.filter(|&sent| sent).count()
    });
    let mut received = 0;
    loop {
        match receiver.recv_timeout(Duration::from_micros(received as u64 % 30)) {
            Ok(_) => received += 1,
            Err(csp::RecvTimeoutError::Timeout) => {}
            Err(csp::RecvTimeoutError::Disconnected) => break,
        }
    }
    assert_eq!(process.join().unwrap(), received);
    assert_eq!(census.alive(), 0);
}

#[cfg_attr(test, test)]
fn messages_received_by_one_who_panics() {
    let census = Census::default();
    let (sender, receiver) = csp::bounded(2);
    let process = spawn(move || {
        let _held = receiver.recv().unwrap();
        let _also_held = receiver.recv().unwrap();
        std::panic::resume_unwind(Box::new("with both"));
    });
    let mut sent = 0;
    while sender.send(census.born(sent)).is_ok() {
        sent += 1;
    }
    assert!((2..=4).contains(&sent), "{sent} were sent");
    assert!(process.join().is_err());
    assert_eq!(census.alive(), 0);
}

/// ```text
/// receiver   go (a message in the buffer panics)
/// sender     send (waits) … given back
/// ```
#[cfg_attr(test, test)]
fn a_message_that_panics_when_it_is_dropped_keeps_nobody_waiting() {
    struct Panics(bool);
    impl Drop for Panics {
        fn drop(&mut self) {
            if self.0 {
                std::panic::resume_unwind(Box::new("dropped"));
            }
        }
    }
    for _ in 0..10 {
        let (sender, receiver) = csp::bounded(1);
        sender.send(Panics(true)).map_err(drop).unwrap();
        let process = spawn(move || sender.send(Panics(false)).is_err());
        (0..10).for_each(|_| csp::yield_now());
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(receiver)));
        assert!(dropped.is_err());
        assert!(process.join().unwrap());
    }
}
