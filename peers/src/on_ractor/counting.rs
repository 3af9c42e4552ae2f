//! Counting: many messages from one actor to one other.

use ractor::{Actor, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Handled, Started, next, send, spawn, starts_with};

enum ToProducer {
    Produce,
    Count(u64),
}

enum ToCounter {
    Increment,
    Retrieve,
}

/// Its state: the number of rounds left, and the counter, which it starts.
struct Producer {
    increments: u64,
    report: UnboundedSender<u64>,
}

/// Its state: the count.
struct Counter {
    producer: ActorRef<ToProducer>,
}

impl Actor for Producer {
    type Msg = ToProducer;
    type State = (u64, ActorRef<ToCounter>);
    type Arguments = u64;

    async fn pre_start(&self, producer: ActorRef<ToProducer>, rounds: u64) -> Started<Self::State> {
        Ok((rounds, spawn(Counter { producer }, 0).await))
    }

    async fn handle(
        &self,
        _: ActorRef<ToProducer>,
        message: ToProducer,
        (rounds_left, counter): &mut Self::State,
    ) -> Handled {
        if let ToProducer::Count(count) = message {
            *rounds_left -= 1;
            if *rounds_left == 0 {
                let _ = self.report.send(count);
                return Ok(());
            }
        }
        for _ in 0..self.increments {
            send(counter, ToCounter::Increment);
        }
        send(counter, ToCounter::Retrieve);
        Ok(())
    }
}

impl Actor for Counter {
    starts_with!(u64, handles ToCounter);

    async fn handle(&self, _: ActorRef<ToCounter>, message: ToCounter, count: &mut u64) -> Handled {
        match message {
            ToCounter::Increment => *count += 1,
            ToCounter::Retrieve => send(&self.producer, ToProducer::Count(*count)),
        }
        Ok(())
    }
}

pub(super) async fn run(increments: u64, rounds: u64) {
    let (report, mut reports) = unbounded_channel();
    let producer = spawn(Producer { increments, report }, rounds).await;
    send(&producer, ToProducer::Produce);
    assert_eq!(next(&mut reports).await, increments * rounds);
}
