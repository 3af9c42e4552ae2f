//! `mpsc`.

use std::{sync::atomic::AtomicUsize, time::Duration};

use super::{
    Behaviours, Counted, behaviours,
    subject::{
        sync::{
            Arc,
            mpsc::{
                IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender,
                SyncSender, TryIter, TryRecvError, TrySendError, channel, sync_channel,
            },
        },
        thread,
    },
};

pub(super) const ALL: Behaviours = behaviours![
    messages_of_one_sender_come_in_order,
    what_was_sent_is_received_after_the_sender_is_gone,
    a_send_without_a_receiver_gives_the_message_back,
    an_empty_channel_differs_from_a_closed_one,
    a_receive_gives_up_after_its_time,
    a_receive_without_a_time_limit_waits,
    a_full_channel_refuses_or_waits,
    without_a_buffer_nothing_is_accepted_that_nobody_waits_for,
    without_a_buffer_a_send_ends_with_its_receive,
    without_a_buffer_who_waits_is_handed_the_message,
    a_sender_that_waits_gets_its_message_back_when_the_receiver_goes,
    senders_that_wait_for_room_learn_that_the_receiver_went,
    messages_that_nobody_received_are_dropped_with_the_receiver,
    a_receiver_can_be_iterated,
    a_sender_can_be_shared,
    a_channel_may_carry_its_own_sender,
    ends_can_be_shown,
    signatures_are_as_they_should_be,
];

#[cfg_attr(test, test)]
fn messages_of_one_sender_come_in_order() {
    let (sender, receiver) = channel();
    let threads: Vec<_> = (0..3)
        .map(|me| {
            let sender = sender.clone();
            thread::spawn(move || (0..50).for_each(|number| sender.send((me, number)).unwrap()))
        })
        .collect();
    drop(sender);
    let mut next = [0; 3];
    for (sender, number) in receiver {
        assert_eq!(number, next[sender]);
        next[sender] += 1;
    }
    assert_eq!(next, [50; 3]);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[cfg_attr(test, test)]
fn what_was_sent_is_received_after_the_sender_is_gone() {
    let (sender, receiver) = channel();
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    drop(sender);
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Ok(2));
    assert_eq!(receiver.recv(), Err(RecvError));
    let (sender, receiver) = sync_channel(2);
    sender.send(1).unwrap();
    drop(sender);
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(1));
    assert_eq!(
        receiver.recv_timeout(Duration::ZERO),
        Err(RecvTimeoutError::Disconnected)
    );
}

#[cfg_attr(test, test)]
fn a_send_without_a_receiver_gives_the_message_back() {
    let (sender, receiver) = channel();
    drop(receiver);
    assert_eq!(sender.send(3), Err(SendError(3)));
    for room in [0, 1] {
        let (sender, receiver) = sync_channel(room);
        drop(receiver);
        assert_eq!(sender.send(3), Err(SendError(3)));
        assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    }
}

#[cfg_attr(test, test)]
fn an_empty_channel_differs_from_a_closed_one() {
    let (sender, receiver) = channel::<u8>();
    let other = sender.clone();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(sender);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(other);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    let (sender, receiver) = sync_channel::<u8>(0);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(sender);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

#[cfg_attr(test, test)]
fn a_receive_gives_up_after_its_time() {
    let (sender, receiver) = channel();
    assert_eq!(
        receiver.recv_timeout(Duration::from_millis(1)),
        Err(RecvTimeoutError::Timeout)
    );
    assert_eq!(
        receiver.recv_timeout(Duration::ZERO),
        Err(RecvTimeoutError::Timeout)
    );
    sender.send(1).unwrap();
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(1));
    let (sender, receiver) = sync_channel::<u8>(0);
    assert_eq!(
        receiver.recv_timeout(Duration::from_millis(1)),
        Err(RecvTimeoutError::Timeout)
    );
    drop(sender);
}

#[cfg_attr(test, test)]
fn a_receive_without_a_time_limit_waits() {
    for limit in [Duration::from_secs(1000), Duration::MAX] {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv_timeout(limit), Ok(1));
        assert_eq!(
            receiver.recv_timeout(limit),
            Err(RecvTimeoutError::Disconnected)
        );
        thread.join().unwrap();
    }
}

#[cfg_attr(test, test)]
fn a_full_channel_refuses_or_waits() {
    let (sender, receiver) = sync_channel(2);
    assert_eq!(sender.try_send(1), Ok(()));
    assert_eq!(sender.try_send(2), Ok(()));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    let thread = thread::spawn(move || sender.send(4).unwrap());
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 4]);
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn without_a_buffer_nothing_is_accepted_that_nobody_waits_for() {
    let (sender, receiver) = sync_channel(0);
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(
        receiver.recv_timeout(Duration::from_millis(1)),
        Err(RecvTimeoutError::Timeout)
    );
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}

#[cfg_attr(test, test)]
fn without_a_buffer_a_send_ends_with_its_receive() {
    let (sender, receiver) = sync_channel(0);
    let received = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&received);
    let thread = thread::spawn(move || {
        for number in 1..=30 {
            // One receive of 30 has not begun before its send has.
            counted.store(number, std::sync::atomic::Ordering::SeqCst);
            assert_eq!(receiver.recv(), Ok(number));
        }
    });
    for number in 1..=30 {
        sender.send(number).unwrap();
        assert!(received.load(std::sync::atomic::Ordering::SeqCst) >= number);
    }
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn without_a_buffer_who_waits_is_handed_the_message() {
    let (sender, receiver) = sync_channel(0);
    let thread = thread::spawn(move || {
        (
            receiver.recv(),
            receiver.recv_timeout(Duration::from_secs(1000)),
        )
    });
    for number in 1..=2 {
        let mut message = number;
        while let Err(TrySendError::Full(again)) = sender.try_send(message) {
            message = again;
            thread::yield_now();
        }
    }
    assert_eq!(thread.join().unwrap(), (Ok(1), Ok(2)));
    let (sender, receiver) = sync_channel(0);
    let thread = thread::spawn(move || sender.send(1));
    while receiver.try_recv() != Ok(1) {
        thread::yield_now();
    }
    assert_eq!(thread.join().unwrap(), Ok(()));
}

#[cfg_attr(test, test)]
fn a_sender_that_waits_gets_its_message_back_when_the_receiver_goes() {
    for room in [0, 1] {
        let (sender, receiver) = sync_channel(room);
        (0..room).for_each(|_| sender.send(0).unwrap());
        let threads: Vec<_> = (1..=3)
            .map(|number| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(number))
            })
            .collect();
        thread::yield_now();
        drop(receiver);
        for (thread, number) in threads.into_iter().zip(1..) {
            assert_eq!(thread.join().unwrap(), Err(SendError(number)));
        }
    }
}

#[cfg_attr(test, test)]
fn senders_that_wait_for_room_learn_that_the_receiver_went() {
    let (sender, receiver) = sync_channel(1);
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let sender = sender.clone();
            thread::spawn(move || while sender.send(()).is_ok() {})
        })
        .collect();
    for _ in 0..10 {
        receiver.recv().unwrap();
    }
    drop(receiver);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[cfg_attr(test, test)]
fn messages_that_nobody_received_are_dropped_with_the_receiver() {
    let dropped = AtomicUsize::new(0);
    let count = || dropped.load(std::sync::atomic::Ordering::SeqCst);
    let (sender, receiver) = channel();
    for _ in 0..3 {
        assert!(sender.send(Counted(&dropped)).is_ok());
    }
    drop(receiver.recv());
    assert_eq!(count(), 1);
    drop(receiver);
    assert_eq!(count(), 3);
    drop(sender.send(Counted(&dropped)));
    assert_eq!(count(), 4);
}

#[cfg_attr(test, test)]
fn a_receiver_can_be_iterated() {
    let (sender, receiver) = channel();
    (0..6).for_each(|number| sender.send(number).unwrap());
    let iter: Iter<'_, _> = receiver.iter();
    assert_eq!(iter.take(2).collect::<Vec<_>>(), [0, 1]);
    let iter: TryIter<'_, _> = receiver.try_iter();
    assert_eq!(iter.take(2).collect::<Vec<_>>(), [2, 3]);
    let mut messages = IntoIterator::into_iter(&receiver);
    assert_eq!(messages.next(), Some(4));
    drop(sender);
    let iter: IntoIter<_> = receiver.into_iter();
    assert_eq!(iter.collect::<Vec<_>>(), [5]);
}

#[cfg_attr(test, test)]
fn a_sender_can_be_shared() {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| sender.send(1).unwrap());
        }
    });
    drop(sender);
    assert_eq!(receiver.iter().sum::<i32>(), 3);
}

#[cfg_attr(test, test)]
fn a_channel_may_carry_its_own_sender() {
    struct Carried(#[allow(dead_code)] Sender<Carried>);
    let (sender, receiver) = channel();
    sender.send(Carried(sender.clone())).unwrap();
    let last = sender.clone();
    last.send(Carried(sender)).unwrap();
    drop(receiver);
    assert!(last.send(Carried(last.clone())).is_err());
}

#[cfg_attr(test, test)]
fn ends_can_be_shown() {
    let (sender, receiver) = channel::<u8>();
    assert_eq!(
        format!("{sender:?} {receiver:?}"),
        "Sender { .. } Receiver { .. }"
    );
    let (sender, _receiver) = sync_channel::<u8>(1);
    assert_eq!(format!("{sender:?}"), "SyncSender { .. }");
}

#[cfg_attr(test, test)]
fn signatures_are_as_they_should_be() {
    let _: fn() -> (Sender<u8>, Receiver<u8>) = channel;
    let _: fn(usize) -> (SyncSender<u8>, Receiver<u8>) = sync_channel;
    let _: fn(&Sender<u8>, u8) -> Result<(), SendError<u8>> = Sender::send;
    let _: fn(&SyncSender<u8>, u8) -> Result<(), SendError<u8>> = SyncSender::send;
    let _: fn(&SyncSender<u8>, u8) -> Result<(), TrySendError<u8>> = SyncSender::try_send;
    let _: fn(&Receiver<u8>) -> Result<u8, RecvError> = Receiver::recv;
    let _: fn(&Receiver<u8>) -> Result<u8, TryRecvError> = Receiver::try_recv;
    let _: fn(&Receiver<u8>, Duration) -> Result<u8, RecvTimeoutError> = Receiver::recv_timeout;
}
