//! ForkJoinActorCreation: a task and a channel for every message.

use tokio::sync::mpsc::unbounded_channel;

use super::{next, send};
use crate::work::tiny_computation;

struct Work;
struct Done(f64);

pub(super) async fn run(actors: u64, rounds: u64) {
    let (to_collector, mut dones) = unbounded_channel();
    let (round_over, mut rounds_over) = unbounded_channel();
    tokio::spawn(async move {
        let mut done = 0_u64;
        while let Some(Done(result)) = dones.recv().await {
            assert!(result > 0.0);
            done += 1;
            if done.is_multiple_of(actors) {
                send(&round_over, done);
            }
        }
    });
    for round in 1..=rounds {
        for _ in 0..actors {
            let (worker, mut mailbox) = unbounded_channel();
            let collector = to_collector.clone();
            tokio::spawn(async move {
                let Work = next(&mut mailbox).await;
                send(&collector, Done(tiny_computation()));
            });
            send(&worker, Work);
        }
        assert_eq!(next(&mut rounds_over).await, actors * round);
    }
}
