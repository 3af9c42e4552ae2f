//! Philosophers: everybody asks one arbitrator, until it agrees.

use actix::{Actor, ActorContext, Addr, Context, Handler, Message};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Arbiters, actors, next};
use crate::work::Forks;

actors!(Arbitrator, Philosopher);

#[derive(Message)]
#[rtype(result = "()")]
struct Serve(Vec<Addr<Philosopher>>);

#[derive(Message)]
#[rtype(result = "()")]
struct Start;

#[derive(Message)]
#[rtype(result = "()")]
struct Hungry(usize);

#[derive(Message)]
#[rtype(result = "()")]
struct Eat;

#[derive(Message)]
#[rtype(result = "()")]
struct Denied;

#[derive(Message)]
#[rtype(result = "()")]
struct Done(usize);

#[derive(Message)]
#[rtype(result = "()")]
struct Leave;

struct Arbitrator {
    forks: Forks,
    philosophers: Vec<Addr<Philosopher>>,
    present: usize,
    meals: u64,
    report: UnboundedSender<u64>,
}

struct Philosopher {
    seat: usize,
    left: u64,
    arbitrator: Addr<Arbitrator>,
}

impl Handler<Serve> for Arbitrator {
    type Result = ();

    fn handle(&mut self, Serve(philosophers): Serve, _: &mut Context<Self>) {
        self.philosophers = philosophers;
    }
}

impl Handler<Hungry> for Arbitrator {
    type Result = ();

    fn handle(&mut self, Hungry(seat): Hungry, _: &mut Context<Self>) {
        let philosopher = &self.philosophers[seat];
        if self.forks.take(seat) {
            philosopher.do_send(Eat);
        } else {
            philosopher.do_send(Denied);
        }
    }
}

impl Handler<Done> for Arbitrator {
    type Result = ();

    fn handle(&mut self, Done(seat): Done, _: &mut Context<Self>) {
        self.meals += 1;
        self.forks.put_back(seat);
    }
}

impl Handler<Leave> for Arbitrator {
    type Result = ();

    fn handle(&mut self, _: Leave, _: &mut Context<Self>) {
        self.present -= 1;
        if self.present == 0 {
            assert!(self.forks.all_free());
            let _ = self.report.send(self.meals);
        }
    }
}

impl Handler<Start> for Philosopher {
    type Result = ();

    fn handle(&mut self, _: Start, _: &mut Context<Self>) {
        self.arbitrator.do_send(Hungry(self.seat));
    }
}

impl Handler<Denied> for Philosopher {
    type Result = ();

    fn handle(&mut self, _: Denied, _: &mut Context<Self>) {
        self.arbitrator.do_send(Hungry(self.seat));
    }
}

impl Handler<Eat> for Philosopher {
    type Result = ();

    fn handle(&mut self, _: Eat, context: &mut Context<Self>) {
        self.left -= 1;
        self.arbitrator.do_send(Done(self.seat));
        if self.left == 0 {
            self.arbitrator.do_send(Leave);
            context.stop();
        } else {
            self.arbitrator.do_send(Hungry(self.seat));
        }
    }
}

pub(super) async fn run(arbiters: &Arbiters, philosophers: usize, meals: u64) {
    let (report, mut reports) = unbounded_channel();
    let arbitrator = Arbitrator {
        forks: Forks::new(philosophers),
        philosophers: Vec::new(),
        present: philosophers,
        meals: 0,
        report,
    }
    .start();
    let philosopher = |seat| Philosopher {
        seat,
        left: meals,
        arbitrator: arbitrator.clone(),
    };
    let addresses: Vec<_> = arbiters.start_all(philosophers, philosopher).collect();
    arbitrator.do_send(Serve(addresses.clone()));
    for philosopher in &addresses {
        philosopher.do_send(Start);
    }
    assert_eq!(next(&mut reports).await, philosophers as u64 * meals);
}
