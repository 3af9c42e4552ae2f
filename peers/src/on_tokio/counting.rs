//! Counting: many messages from one task to one other.
//!
//! The counter takes its messages in batches, which tokio offers for such a case: it saves a tenth
//! of the time on one worker and a quarter on two.

use tokio::sync::mpsc::unbounded_channel;

use super::{next, send};

const BATCH: usize = 256;

enum ToCounter {
    Increment,
    Retrieve,
}

pub(super) async fn run(increments: u64, rounds: u64) {
    let (to_counter, mut mailbox) = unbounded_channel();
    let (to_producer, mut counts) = unbounded_channel();
    tokio::spawn(async move {
        let mut count = 0_u64;
        let mut batch = Vec::with_capacity(BATCH);
        while mailbox.recv_many(&mut batch, BATCH).await > 0 {
            for message in batch.drain(..) {
                match message {
                    ToCounter::Increment => count += 1,
                    ToCounter::Retrieve => send(&to_producer, count),
                }
            }
        }
    });
    let producer = tokio::spawn(async move {
        for round in 1..=rounds {
            for _ in 0..increments {
                send(&to_counter, ToCounter::Increment);
            }
            send(&to_counter, ToCounter::Retrieve);
            assert_eq!(next(&mut counts).await, increments * round);
        }
    });
    producer.await.unwrap();
}
