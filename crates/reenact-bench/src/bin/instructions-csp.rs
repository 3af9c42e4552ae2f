//! Processes and channels, for the suite `instructions`: does one operation many times.

#[path = "instructions/operation.rs"]
mod operation;

use std::process::ExitCode;

use reenact::csp;

fn main() -> ExitCode {
    operation::run(&[
        ("csp-rendezvous", |times| messages(times, 0)),
        ("csp-bounded-16", |times| messages(times, 16)),
        ("csp-select-2", select_of_two),
    ])
}

/// A process sends, another one receives, through a channel with this much room.
fn messages(times: u64, room: usize) {
    let (sender, receiver) = csp::bounded(room);
    let sending = csp::spawn(move || {
        for message in 0..times {
            sender.send(message).unwrap();
        }
    });
    let receiving = csp::spawn(move || {
        for message in 0..times {
            assert_eq!(receiver.recv(), Ok(message));
        }
    });
    sending.join().unwrap();
    receiving.join().unwrap();
}

/// A process receives from two others, from whichever is there first.
fn select_of_two(times: u64) {
    let (left, from_left) = csp::channel();
    let (right, from_right) = csp::channel();
    // Until the end, so that no channel is ever without a sender: receiving from that is possible, too.
    let ends = (left.clone(), right.clone());
    let senders = [(left, times / 2), (right, times - times / 2)].map(|(sender, times)| {
        csp::spawn(move || {
            for _ in 0..times {
                sender.send(1).unwrap();
            }
        })
    });
    let receiving = csp::spawn(move || {
        let mut sum = 0;
        for _ in 0..times {
            csp::select! {
                recv(from_left) -> message => sum += message.unwrap(),
                recv(from_right) -> message => sum += message.unwrap(),
            }
        }
        sum
    });
    for sender in senders {
        sender.join().unwrap();
    }
    assert_eq!(receiving.join().unwrap(), times);
    drop(ends);
}
