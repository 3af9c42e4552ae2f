//! Big: everybody pings random others, one ping at a time.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{mailboxes, next, send};
use crate::work::XorShift;

enum ToWorker {
    Ping {
        from: usize,
    },
    Pong {
        from: usize,
    },
    /// Everybody is done: how many pings has this worker answered?
    Exit,
}

enum ToSink {
    Done,
    Answered(u64),
}

type Workers = Arc<[UnboundedSender<ToWorker>]>;

struct Worker {
    index: usize,
    workers: Workers,
    sink: UnboundedSender<ToSink>,
    random: XorShift,
}

impl Worker {
    /// Returns who was pinged, and must answer next.
    fn ping(&mut self) -> usize {
        let from = self.index;
        let to = self.random.other_than(from, self.workers.len());
        send(&self.workers[to], ToWorker::Ping { from });
        to
    }

    async fn live(mut self, mut mailbox: UnboundedReceiver<ToWorker>, pings: u64) {
        let mut left = pings;
        let mut answered = 0;
        let mut pinged = self.ping();
        loop {
            match next(&mut mailbox).await {
                ToWorker::Ping { from } => {
                    answered += 1;
                    let pong = ToWorker::Pong { from: self.index };
                    send(&self.workers[from], pong);
                }
                ToWorker::Pong { from } => {
                    assert_eq!(from, pinged);
                    left -= 1;
                    if left == 0 {
                        send(&self.sink, ToSink::Done);
                    } else {
                        pinged = self.ping();
                    }
                }
                ToWorker::Exit => break,
            }
        }
        send(&self.sink, ToSink::Answered(answered));
    }
}

/// Waits until all are done, then asks for and returns how many pings were answered in total.
async fn sink(mut mailbox: UnboundedReceiver<ToSink>, workers: Workers) -> u64 {
    let mut busy = workers.len();
    let mut present = workers.len();
    let mut sum = 0;
    while present > 0 {
        match next(&mut mailbox).await {
            ToSink::Done => {
                busy -= 1;
                if busy == 0 {
                    for worker in workers.iter() {
                        send(worker, ToWorker::Exit);
                    }
                }
            }
            ToSink::Answered(answered) => {
                sum += answered;
                present -= 1;
            }
        }
    }
    sum
}

pub(super) async fn run(actors: usize, pings: u64) {
    let (to_sink, sink_mailbox) = unbounded_channel();
    let (addresses, mailboxes) = mailboxes(actors);
    let workers: Workers = addresses.into();
    let sink = tokio::spawn(sink(sink_mailbox, Arc::clone(&workers)));
    for (index, mailbox) in mailboxes.into_iter().enumerate() {
        let worker = Worker {
            index,
            workers: Arc::clone(&workers),
            sink: to_sink.clone(),
            random: XorShift::of_actor(index),
        };
        tokio::spawn(worker.live(mailbox, pings));
    }
    assert_eq!(sink.await.unwrap(), actors as u64 * pings);
}
