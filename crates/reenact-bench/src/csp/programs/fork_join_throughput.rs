//! ForkJoinThroughput: one process sends to many in turn, and each acknowledges its stop message.
//!
//! It measures throughput over many channels. In which order the workers stop can go any way. The workers are
//! made before the time is taken: with a thread for each, little else would be measured.

use super::{Measured, Receiver, Sender, channel, channel_from_many, spawn};
use crate::csp::work::tiny_computation;

enum Message {
    Process,
    Stop,
}

pub(super) fn run(workers: usize, messages: u64) -> Measured {
    let (to_collector, from_workers) = channel_from_many(workers);
    let mut to_workers = Vec::with_capacity(workers);
    let mut handles = Vec::with_capacity(workers);
    for to_collector in to_collector {
        let (to_worker, from_main) = channel();
        to_workers.push(to_worker);
        handles.push(spawn(move || worker(&from_main, &to_collector)));
    }
    let measured = Measured::around(|| {
        let main = spawn(move || main(&to_workers, messages, &from_workers));
        assert_eq!(main.join().unwrap(), workers as u64 * messages);
        workers as u64 * (messages + 2)
    });
    for handle in handles {
        handle.join().unwrap();
    }
    measured
}

/// Returns how many messages the workers have handled.
fn main(to_workers: &[Sender<Message>], messages: u64, from_workers: &Receiver<u64>) -> u64 {
    for _ in 0..messages {
        for worker in to_workers {
            worker.send(Message::Process).unwrap();
        }
    }
    for worker in to_workers {
        worker.send(Message::Stop).unwrap();
    }
    (0..to_workers.len())
        .map(|_| from_workers.recv().unwrap())
        .sum()
}

fn worker(from_main: &Receiver<Message>, to_collector: &Sender<u64>) {
    let mut handled = 0;
    while let Message::Process = from_main.recv().unwrap() {
        assert!(tiny_computation() > 0.0);
        handled += 1;
    }
    to_collector.send(handled).unwrap();
}
