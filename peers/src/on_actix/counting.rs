//! Counting: many messages from one actor to one other.

use actix::{Actor, Addr, Context, Handler, Message};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Arbiters, actors, next};

actors!(Producer, Counter);

#[derive(Message)]
#[rtype(result = "()")]
struct Produce(Addr<Counter>);

#[derive(Message)]
#[rtype(result = "()")]
struct Increment;

#[derive(Message)]
#[rtype(result = "()")]
struct Retrieve;

#[derive(Message)]
#[rtype(result = "()")]
struct Count(u64);

struct Producer {
    increments: u64,
    rounds_left: u64,
    counter: Option<Addr<Counter>>,
    report: UnboundedSender<u64>,
}

struct Counter {
    count: u64,
    producer: Addr<Producer>,
}

impl Producer {
    fn produce(&self) {
        let counter = self.counter.as_ref().expect("it came with the start");
        for _ in 0..self.increments {
            counter.do_send(Increment);
        }
        counter.do_send(Retrieve);
    }
}

impl Handler<Produce> for Producer {
    type Result = ();

    fn handle(&mut self, Produce(counter): Produce, _: &mut Context<Self>) {
        self.counter = Some(counter);
        self.produce();
    }
}

impl Handler<Count> for Producer {
    type Result = ();

    fn handle(&mut self, Count(count): Count, _: &mut Context<Self>) {
        self.rounds_left -= 1;
        if self.rounds_left == 0 {
            let _ = self.report.send(count);
        } else {
            self.produce();
        }
    }
}

impl Handler<Increment> for Counter {
    type Result = ();

    fn handle(&mut self, _: Increment, _: &mut Context<Self>) {
        self.count += 1;
    }
}

impl Handler<Retrieve> for Counter {
    type Result = ();

    fn handle(&mut self, _: Retrieve, _: &mut Context<Self>) {
        self.producer.do_send(Count(self.count));
    }
}

pub(super) async fn run(arbiters: &Arbiters, increments: u64, rounds: u64) {
    let (report, mut reports) = unbounded_channel();
    let producer = Producer {
        increments,
        rounds_left: rounds,
        counter: None,
        report,
    };
    let producer = producer.start();
    let counter = Counter {
        count: 0,
        producer: producer.clone(),
    };
    let counter = arbiters.start_actor(1, 2, counter);
    producer.do_send(Produce(counter));
    assert_eq!(next(&mut reports).await, increments * rounds);
}
