//! Sending and receiving.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use reenact::{
    csp::{
        self, Receiver, RecvError, RecvTimeoutError, SendTimeoutError, Sender, TryRecvError,
        TrySendError, spawn,
    },
    thread,
};

use super::{Behaviours, behaviours, wait_until};

pub(super) const ALL: Behaviours = behaviours![
    a_send_returns_only_when_somebody_receives,
    a_send_into_room_returns_at_once,
    a_channel_without_bound_takes_everything,
    messages_of_one_sender_come_in_order_and_once,
    a_receiver_that_waits_is_somebody_to_try_to_send_to,
    a_sender_that_waits_is_somebody_to_try_to_receive_from,
    what_cannot_be_sent_is_given_back,
    time_runs_out_where_nobody_comes,
    patience_pays_where_somebody_comes,
    messages_are_iterated_over,
    any_number_of_messages_moves_through_little_room,
    messages_of_any_size_arrive_whole,
    channels_go_through_channels,
    handles_know_their_channel,
    errors_say_what_happened,
    handles_may_be_shared,
];

/// Both ends in turn, by threads and by processes.
fn pairs(check: impl Fn(bool)) {
    for by_thread in [false, true] {
        check(by_thread);
    }
}

/// Runs this beside the caller, as a process or as a thread.
fn beside(by_thread: bool, body: impl FnOnce() + Send + 'static) {
    if by_thread {
        thread::spawn(body);
    } else {
        spawn(body);
    }
}

#[cfg_attr(test, test)]
fn a_send_returns_only_when_somebody_receives() {
    pairs(|by_thread| {
        let (sender, receiver) = csp::channel();
        let asked = Arc::new(AtomicUsize::new(0));
        let asks = Arc::clone(&asked);
        beside(by_thread, move || {
            for number in 0..200 {
                asks.fetch_add(1, SeqCst);
                assert_eq!(receiver.recv(), Ok(number));
            }
        });
        for number in 0..200 {
            sender.send(number).unwrap();
            assert!(asked.load(SeqCst) > number, "nobody can have received it");
        }
    });
}

#[cfg_attr(test, test)]
fn a_send_into_room_returns_at_once() {
    for room in [1, 2, 10] {
        let (sender, receiver) = csp::bounded(room);
        for round in 0..3 {
            for number in 0..room {
                sender.send((round, number)).unwrap();
            }
            let more = sender.try_send((round, room));
            assert_eq!(more, Err(TrySendError::Full((round, room))));
            for number in 0..room {
                assert_eq!(receiver.recv(), Ok((round, number)));
            }
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        }
    }
}

#[cfg_attr(test, test)]
fn a_channel_without_bound_takes_everything() {
    let (sender, receiver) = csp::unbounded();
    for number in 0..5_000 {
        sender.send(number).unwrap();
    }
    drop(sender);
    assert!(receiver.into_iter().eq(0..5_000));
}

#[cfg_attr(test, test)]
fn messages_of_one_sender_come_in_order_and_once() {
    const SENDERS: usize = 4;
    const EACH: usize = 100;
    for room in [0, 1, 7, usize::MAX] {
        let (sender, receiver) = csp::bounded(room);
        for me in 0..SENDERS {
            let sender = sender.clone();
            beside(me % 2 == 0, move || {
                (0..EACH).for_each(|number| sender.send((me, number)).unwrap());
            });
        }
        drop(sender);
        let receive = |receiver: Receiver<(usize, usize)>| move || receiver.iter().collect();
        let processes: Vec<_> = (0..2).map(|_| spawn(receive(receiver.clone()))).collect();
        let thread = thread::spawn(receive(receiver));
        let mut all: Vec<Vec<(usize, usize)>> = vec![thread.join().unwrap()];
        all.extend(processes.into_iter().map(|process| process.join().unwrap()));
        for received in &all {
            for me in 0..SENDERS {
                let of_one = received.iter().filter(|message| message.0 == me);
                assert!(of_one.is_sorted(), "with room for {room}");
            }
        }
        let mut all = all.concat();
        all.sort_unstable();
        let sent = (0..SENDERS).flat_map(|me| (0..EACH).map(move |number| (me, number)));
        assert!(all.into_iter().eq(sent), "with room for {room}");
    }
}

#[cfg_attr(test, test)]
fn a_receiver_that_waits_is_somebody_to_try_to_send_to() {
    pairs(|by_thread| {
        let (sender, receiver) = csp::channel();
        assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        let (done, is_done) = csp::channel();
        beside(by_thread, move || {
            let received = receiver.recv();
            drop(receiver);
            done.send(received).unwrap();
        });
        wait_until(|| sender.try_send(1).is_ok());
        assert_eq!(is_done.recv(), Ok(Ok(1)));
        assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
    });
}

#[cfg_attr(test, test)]
fn a_sender_that_waits_is_somebody_to_try_to_receive_from() {
    pairs(|by_thread| {
        let (sender, receiver) = csp::channel();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        beside(by_thread, move || sender.send(1).unwrap());
        wait_until(|| match receiver.try_recv() {
            Ok(message) => {
                assert_eq!(message, 1);
                true
            }
            Err(error) => {
                assert_eq!(error, TryRecvError::Empty);
                false
            }
        });
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    });
}

#[cfg_attr(test, test)]
fn what_cannot_be_sent_is_given_back() {
    let message = || "message".to_owned();
    for room in [0, 1, usize::MAX] {
        let (sender, receiver) = csp::bounded(room);
        drop(receiver);
        assert_eq!(sender.send(message()).unwrap_err().0, message());
        let error = sender.try_send(message()).unwrap_err();
        assert_eq!(error, TrySendError::Disconnected(message()));
        let error = sender.send_timeout(message(), Duration::MAX).unwrap_err();
        assert_eq!(error, SendTimeoutError::Disconnected(message()));
    }
    let (sender, _receiver) = csp::channel();
    let error = sender.send_timeout(message(), Duration::ZERO).unwrap_err();
    assert_eq!(error, SendTimeoutError::Timeout(message()));
}

#[cfg_attr(test, test)]
fn time_runs_out_where_nobody_comes() {
    let check = || {
        for time in [Duration::ZERO, Duration::from_micros(300)] {
            let (sender, receiver) = csp::channel();
            assert_eq!(receiver.recv_timeout(time), Err(RecvTimeoutError::Timeout));
            let sent = sender.send_timeout(1, time);
            assert_eq!(sent, Err(SendTimeoutError::Timeout(1)));
            assert_eq!(receiver.recv_timeout(time), Err(RecvTimeoutError::Timeout));
            drop(sender);
            let received = receiver.recv_timeout(time);
            assert_eq!(received, Err(RecvTimeoutError::Disconnected));
        }
    };
    check();
    spawn(check).join().unwrap();
}

#[cfg_attr(test, test)]
fn patience_pays_where_somebody_comes() {
    pairs(|by_thread| {
        for room in [0, 1] {
            for patience in [Duration::from_secs(3600), Duration::MAX] {
                let (sender, receiver) = csp::bounded(room);
                let (answer, answers) = csp::bounded(room);
                beside(by_thread, move || {
                    let received = receiver.recv_timeout(patience);
                    answer.send_timeout(received, patience).unwrap();
                });
                sender.send_timeout(1, patience).unwrap();
                assert_eq!(answers.recv_timeout(patience), Ok(Ok(1)));
            }
        }
    });
}

#[cfg_attr(test, test)]
fn messages_are_iterated_over() {
    let (sender, receiver) = csp::bounded(10);
    let fill = || (0..10).for_each(|number| sender.send(number).unwrap());
    fill();
    assert!(receiver.iter().take(10).eq(0..10));
    fill();
    assert!(receiver.try_iter().eq(0..10));
    assert_eq!(receiver.try_iter().next(), None);
    fill();
    for (number, message) in (0..10).zip(&receiver) {
        assert_eq!(message, number);
    }
    fill();
    drop(sender);
    let mut rest = receiver.into_iter();
    assert!(rest.by_ref().eq(0..10));
    assert_eq!(rest.next(), None);
}

#[cfg_attr(test, test)]
fn any_number_of_messages_moves_through_little_room() {
    let (first, mut last) = csp::bounded(1);
    for room in [0, 1, 0, 2, 0] {
        let (sender, receiver) = csp::bounded(room);
        let before = std::mem::replace(&mut last, receiver);
        spawn(move || before.iter().try_for_each(|number| sender.send(number + 1)));
    }
    spawn(move || (0..300).try_for_each(|number| first.send(number)));
    assert!(last.iter().eq(5..305));
}

#[cfg_attr(test, test)]
fn messages_of_any_size_arrive_whole() {
    let (nothings, nothing) = csp::bounded(2);
    let (larges, large) = csp::channel::<[u64; 2000]>();
    spawn(move || {
        nothings.send(()).unwrap();
        nothings.send(()).unwrap();
        for number in 0..5 {
            larges.send([number; 2000]).unwrap();
        }
    });
    for number in 0..5 {
        assert_eq!(large.recv(), Ok([number; 2000]));
    }
    assert_eq!(nothing.iter().count(), 2);
}

#[cfg_attr(test, test)]
fn channels_go_through_channels() {
    let (requests, inbox) = csp::channel::<(u32, Sender<u32>)>();
    spawn(move || {
        for (number, answers) in inbox {
            answers.send(number * 2).unwrap();
        }
    });
    for number in 0..50 {
        let (answers, answer) = csp::channel();
        requests.send((number, answers)).unwrap();
        assert_eq!(answer.recv(), Ok(number * 2));
        assert_eq!(answer.recv(), Err(RecvError), "its sender is gone");
    }
}

#[cfg_attr(test, test)]
fn handles_know_their_channel() {
    let (sender, receiver) = csp::channel::<u8>();
    let (other_sender, other_receiver) = csp::channel::<u8>();
    assert!(sender.same_channel(&sender.clone()) && receiver.same_channel(&receiver.clone()));
    assert!(!sender.same_channel(&other_sender) && !receiver.same_channel(&other_receiver));
    assert_eq!(
        format!("{sender:?} {receiver:?}"),
        "Sender { .. } Receiver { .. }"
    );
}

#[cfg_attr(test, test)]
fn errors_say_what_happened() {
    let timeout: SendTimeoutError<u8> = SendTimeoutError::Timeout(1);
    let disconnected: SendTimeoutError<u8> = SendTimeoutError::Disconnected(1);
    assert_eq!(timeout.to_string(), "nobody received the message in time");
    assert_eq!(
        disconnected.to_string(),
        "the channel has no receiver any more"
    );
    let error: Box<dyn std::error::Error> = Box::new(timeout);
    assert!(error.source().is_none());
}

#[cfg_attr(test, test)]
fn handles_may_be_shared() {
    fn is_shared<T: Send + Sync + Clone + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    is_shared::<Sender<std::cell::Cell<u8>>>();
    is_shared::<Receiver<std::cell::Cell<u8>>>();
    let (sender, receiver) = csp::channel();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| sender.send(1).unwrap());
        }
        scope.spawn(|| receiver.recv().unwrap());
        assert_eq!(receiver.recv(), Ok(1));
    });
}
