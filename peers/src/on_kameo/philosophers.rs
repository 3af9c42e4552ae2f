//! Philosophers: everybody asks one arbitrator, until it agrees.

use kameo::{
    Actor,
    actor::ActorRef,
    message::{Context, Message},
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{next, prepare, prepare_all, send};
use crate::work::Forks;

struct Start;
struct Hungry(usize);
struct Eat;
struct Denied;
struct Done(usize);
struct Leave;

#[derive(Actor)]
struct Arbitrator {
    forks: Forks,
    philosophers: Vec<ActorRef<Philosopher>>,
    present: usize,
    meals: u64,
    report: UnboundedSender<u64>,
}

#[derive(Actor)]
struct Philosopher {
    seat: usize,
    left: u64,
    arbitrator: ActorRef<Arbitrator>,
}

impl Message<Hungry> for Arbitrator {
    type Reply = ();

    async fn handle(&mut self, Hungry(seat): Hungry, _: &mut Context<Self, ()>) {
        let philosopher = &self.philosophers[seat];
        if self.forks.take(seat) {
            send(philosopher, Eat);
        } else {
            send(philosopher, Denied);
        }
    }
}

impl Message<Done> for Arbitrator {
    type Reply = ();

    async fn handle(&mut self, Done(seat): Done, _: &mut Context<Self, ()>) {
        self.meals += 1;
        self.forks.put_back(seat);
    }
}

impl Message<Leave> for Arbitrator {
    type Reply = ();

    async fn handle(&mut self, _: Leave, _: &mut Context<Self, ()>) {
        self.present -= 1;
        if self.present == 0 {
            assert!(self.forks.all_free());
            let _ = self.report.send(self.meals);
        }
    }
}

impl Message<Start> for Philosopher {
    type Reply = ();

    async fn handle(&mut self, _: Start, _: &mut Context<Self, ()>) {
        send(&self.arbitrator, Hungry(self.seat));
    }
}

impl Message<Denied> for Philosopher {
    type Reply = ();

    async fn handle(&mut self, _: Denied, _: &mut Context<Self, ()>) {
        send(&self.arbitrator, Hungry(self.seat));
    }
}

impl Message<Eat> for Philosopher {
    type Reply = ();

    async fn handle(&mut self, _: Eat, context: &mut Context<Self, ()>) {
        self.left -= 1;
        send(&self.arbitrator, Done(self.seat));
        if self.left == 0 {
            send(&self.arbitrator, Leave);
            context.stop();
        } else {
            send(&self.arbitrator, Hungry(self.seat));
        }
    }
}

pub(super) async fn run(philosophers: usize, meals: u64) {
    let (report, mut reports) = unbounded_channel();
    let arbitrator = prepare::<Arbitrator>();
    let to_arbitrator = arbitrator.actor_ref().clone();
    let (prepared, addresses) = prepare_all::<Philosopher>(philosophers);
    arbitrator.spawn(Arbitrator {
        forks: Forks::new(philosophers),
        philosophers: addresses.clone(),
        present: philosophers,
        meals: 0,
        report,
    });
    for (seat, philosopher) in prepared.into_iter().enumerate() {
        philosopher.spawn(Philosopher {
            seat,
            left: meals,
            arbitrator: to_arbitrator.clone(),
        });
    }
    for philosopher in &addresses {
        send(philosopher, Start);
    }
    assert_eq!(next(&mut reports).await, philosophers as u64 * meals);
}
