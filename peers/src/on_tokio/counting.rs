//! Counting: many messages from one task to one other.

use tokio::sync::mpsc::unbounded_channel;

use super::{next, tell};

enum ToCounter {
    Increment,
    Retrieve,
}

pub(super) async fn run(increments: u64, rounds: u64) {
    let (to_counter, mut mailbox) = unbounded_channel();
    let (to_producer, mut counts) = unbounded_channel();
    tokio::spawn(async move {
        let mut count = 0_u64;
        while let Some(message) = mailbox.recv().await {
            match message {
                ToCounter::Increment => count += 1,
                ToCounter::Retrieve => tell(&to_producer, count),
            }
        }
    });
    let producer = tokio::spawn(async move {
        for round in 1..=rounds {
            for _ in 0..increments {
                tell(&to_counter, ToCounter::Increment);
            }
            tell(&to_counter, ToCounter::Retrieve);
            assert_eq!(next(&mut counts).await, increments * round);
        }
    });
    producer.await.unwrap();
}
