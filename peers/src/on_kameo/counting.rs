//! Counting: many messages from one actor to one other.

use kameo::{
    Actor,
    actor::ActorRef,
    message::{Context, Message},
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{next, prepare, send};

struct Produce;
struct Increment;
struct Retrieve;
struct Count(u64);

#[derive(Actor)]
struct Producer {
    increments: u64,
    rounds_left: u64,
    counter: ActorRef<Counter>,
    report: UnboundedSender<u64>,
}

#[derive(Actor)]
struct Counter {
    count: u64,
    producer: ActorRef<Producer>,
}

impl Producer {
    fn produce(&self) {
        for _ in 0..self.increments {
            send(&self.counter, Increment);
        }
        send(&self.counter, Retrieve);
    }
}

impl Message<Produce> for Producer {
    type Reply = ();

    async fn handle(&mut self, _: Produce, _: &mut Context<Self, ()>) {
        self.produce();
    }
}

impl Message<Count> for Producer {
    type Reply = ();

    async fn handle(&mut self, Count(count): Count, _: &mut Context<Self, ()>) {
        self.rounds_left -= 1;
        if self.rounds_left == 0 {
            let _ = self.report.send(count);
        } else {
            self.produce();
        }
    }
}

impl Message<Increment> for Counter {
    type Reply = ();

    async fn handle(&mut self, _: Increment, _: &mut Context<Self, ()>) {
        self.count += 1;
    }
}

impl Message<Retrieve> for Counter {
    type Reply = ();

    async fn handle(&mut self, _: Retrieve, _: &mut Context<Self, ()>) {
        send(&self.producer, Count(self.count));
    }
}

pub(super) async fn run(increments: u64, rounds: u64) {
    let (report, mut reports) = unbounded_channel();
    let (producer, counter) = (prepare::<Producer>(), prepare::<Counter>());
    let to_producer = producer.actor_ref().clone();
    producer.spawn(Producer {
        increments,
        rounds_left: rounds,
        counter: counter.actor_ref().clone(),
        report,
    });
    counter.spawn(Counter {
        count: 0,
        producer: to_producer.clone(),
    });
    send(&to_producer, Produce);
    assert_eq!(next(&mut reports).await, increments * rounds);
}
