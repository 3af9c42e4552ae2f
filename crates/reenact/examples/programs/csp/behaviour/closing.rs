//! The last handle of a side goes, while others wait or not.

use reenact::{
    csp::{self, Receiver, RecvError, Sender, TryRecvError, spawn},
    thread,
};

use super::{Behaviours, behaviours};

pub(super) const ALL: Behaviours = behaviours![
    receivers_that_wait_get_an_error_when_the_senders_are_gone,
    senders_that_wait_get_an_error_when_the_receivers_are_gone,
    what_was_sent_before_is_received_after,
    a_channel_is_open_as_long_as_there_is_a_handle,
    a_handle_that_goes_with_its_process_counts,
    closed_while_others_send_and_receive,
    both_sides_may_go_at_the_same_time,
];

/// Lets others run for a while.
fn let_others_run() {
    (0..20).for_each(|_| csp::yield_now());
}

#[cfg_attr(test, test)]
fn receivers_that_wait_get_an_error_when_the_senders_are_gone() {
    for room in [0, 3] {
        for _ in 0..10 {
            let (sender, receiver) = csp::bounded::<u8>(room);
            let processes: Vec<_> = (0..3)
                .map(|_| {
                    let receiver = receiver.clone();
                    spawn(move || receiver.recv())
                })
                .collect();
            let thread = thread::spawn(move || receiver.recv());
            let_others_run();
            drop(sender);
            for process in processes {
                assert_eq!(process.join().unwrap(), Err(RecvError));
            }
            assert_eq!(thread.join().unwrap(), Err(RecvError));
        }
    }
}

#[cfg_attr(test, test)]
fn senders_that_wait_get_an_error_when_the_receivers_are_gone() {
    for room in [0, 1] {
        for _ in 0..10 {
            let (sender, receiver) = csp::bounded(room);
            (0..room).for_each(|_| sender.send(100).unwrap());
            let send = |number: u32| {
                let sender = sender.clone();
                move || sender.send(number)
            };
            let processes: Vec<_> = (0..3).map(|number| spawn(send(number))).collect();
            let thread = thread::spawn(send(3));
            let_others_run();
            drop(receiver);
            for (number, process) in (0..).zip(processes) {
                let error = process.join().unwrap().unwrap_err();
                assert_eq!(error.0, number, "each has its own message back");
            }
            assert_eq!(thread.join().unwrap().unwrap_err().0, 3);
        }
    }
}

#[cfg_attr(test, test)]
fn what_was_sent_before_is_received_after() {
    for room in [5, usize::MAX] {
        let (sender, receiver) = csp::bounded(room);
        (0..5).for_each(|number| sender.send(number).unwrap());
        drop(sender);
        assert!(receiver.iter().eq(0..5));
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }
}

#[cfg_attr(test, test)]
fn a_channel_is_open_as_long_as_there_is_a_handle() {
    let (sender, receiver) = csp::bounded(1);
    let clones = [sender.clone(), sender.clone()];
    drop(sender);
    for clone in clones {
        clone.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        drop(clone);
    }
    assert_eq!(receiver.recv(), Err(RecvError));

    let (sender, receiver) = csp::bounded(1);
    let clones = [receiver.clone(), receiver.clone()];
    drop(receiver);
    for clone in clones {
        sender.send(1).unwrap();
        assert_eq!(clone.recv(), Ok(1));
        drop(clone);
    }
    assert!(sender.send(1).is_err());
}

#[cfg_attr(test, test)]
fn a_handle_that_goes_with_its_process_counts() {
    let (sender, receiver) = csp::channel::<u8>();
    spawn(move || {
        let _sender = sender;
    });
    assert_eq!(receiver.recv(), Err(RecvError));

    let (sender, receiver) = csp::channel::<u8>();
    let process = spawn(move || -> u8 {
        let _sender = sender;
        std::panic::resume_unwind(Box::new("without a word"))
    });
    assert_eq!(receiver.recv(), Err(RecvError));
    assert!(process.join().is_err());

    // What a process returns is there until somebody has it.
    let (sender, receiver) = csp::channel::<u8>();
    let process = spawn(move || sender);
    csp::select! {
        recv(receiver) -> _ => unreachable!("there is a sender"),
        default(std::time::Duration::from_micros(100)) => {}
    }
    drop(process.join());
    assert_eq!(receiver.recv(), Err(RecvError));
}

#[cfg_attr(test, test)]
fn closed_while_others_send_and_receive() {
    for room in [0, 1, 4] {
        for _ in 0..10 {
            let (sender, receiver) = csp::bounded(room);
            let send = |sender: Sender<u32>| {
                move || {
                    (0..)
                        .take_while(|&number| sender.send(number).is_ok())
                        .count()
                }
            };
            let receive =
                |receiver: Receiver<u32>, count| move || receiver.iter().take(count).count();
            let senders = [spawn(send(sender.clone())), spawn(send(sender.clone()))];
            let sending = thread::spawn(send(sender));
            let receivers = [
                spawn(receive(receiver.clone(), 20)),
                spawn(receive(receiver.clone(), 30)),
            ];
            let receiving = thread::spawn(receive(receiver, 40));
            let received = receivers.into_iter().map(|process| process.join().unwrap());
            let received = received.sum::<usize>() + receiving.join().unwrap();
            assert_eq!(received, 90);
            let sent = senders.into_iter().map(|process| process.join().unwrap());
            let sent = sent.sum::<usize>() + sending.join().unwrap();
            assert!(sent >= 90 && sent <= 90 + room, "{sent} were sent");
        }
    }
}

#[cfg_attr(test, test)]
fn both_sides_may_go_at_the_same_time() {
    for _ in 0..50 {
        let (sender, receiver) = csp::bounded::<u8>(1);
        let process = spawn(move || drop(sender));
        drop(receiver);
        process.join().unwrap();
    }
}
