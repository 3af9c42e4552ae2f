//! ForkJoinThroughput: many messages to many tasks in turn.
//!
//! Workers take their messages in batches, for a twelfth of the time.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{mailboxes, send};
use crate::{runtime::fork_and_join, work::tiny_computation};

const BATCH: usize = 64;

struct Work;

/// A worker has handled all the messages of a round; so many so far.
struct Done(u64);

async fn worker(
    mut mailbox: UnboundedReceiver<Work>,
    messages: u64,
    collector: UnboundedSender<Done>,
) {
    let mut handled = 0_u64;
    let mut batch = Vec::with_capacity(BATCH);
    while mailbox.recv_many(&mut batch, BATCH).await > 0 {
        for Work in batch.drain(..) {
            assert!(tiny_computation() > 0.0);
            handled += 1;
            if handled.is_multiple_of(messages) {
                send(&collector, Done(handled));
            }
        }
    }
}

pub(super) async fn run(actors: usize, messages: u64, rounds: u64) {
    let (to_collector, mut dones) = unbounded_channel();
    let (round_over, mut rounds_over) = unbounded_channel();
    tokio::spawn(async move {
        loop {
            let mut handled = 0;
            for _ in 0..actors {
                match dones.recv().await {
                    Some(Done(by_one)) => handled += by_one,
                    None => return,
                }
            }
            send(&round_over, handled);
        }
    });
    let (workers, mailboxes) = mailboxes(actors);
    for mailbox in mailboxes {
        tokio::spawn(worker(mailbox, messages, to_collector.clone()));
    }
    let send = |worker: &_| send(worker, Work);
    fork_and_join(&workers, messages, rounds, send, &mut rounds_over).await;
}
