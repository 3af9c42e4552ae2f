//! Philosophers: everybody asks one arbitrator, until it agrees.

use ractor::{Actor, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Handled, next, send, spawn, spawn_all, starts_with};
use crate::work::Forks;

type Philosophers = Vec<ActorRef<ToPhilosopher>>;

enum ToArbitrator {
    Start(Philosophers),
    Hungry(usize),
    Done(usize),
    Leave,
}

enum ToPhilosopher {
    Start,
    Eat,
    Denied,
}

struct Arbitrator {
    report: UnboundedSender<u64>,
}

struct Table {
    forks: Forks,
    philosophers: Philosophers,
    present: usize,
    meals: u64,
}

/// Its state: the number of meals left.
struct Philosopher {
    seat: usize,
    arbitrator: ActorRef<ToArbitrator>,
}

impl Actor for Arbitrator {
    starts_with!(Table, handles ToArbitrator);

    async fn handle(
        &self,
        _: ActorRef<ToArbitrator>,
        message: ToArbitrator,
        table: &mut Table,
    ) -> Handled {
        match message {
            ToArbitrator::Start(philosophers) => table.philosophers = philosophers,
            ToArbitrator::Hungry(seat) => {
                let answer = if table.forks.take(seat) {
                    ToPhilosopher::Eat
                } else {
                    ToPhilosopher::Denied
                };
                send(&table.philosophers[seat], answer);
            }
            ToArbitrator::Done(seat) => {
                table.meals += 1;
                table.forks.put_back(seat);
            }
            ToArbitrator::Leave => {
                table.present -= 1;
                if table.present == 0 {
                    assert!(table.forks.all_free());
                    let _ = self.report.send(table.meals);
                }
            }
        }
        Ok(())
    }
}

impl Actor for Philosopher {
    starts_with!(u64, handles ToPhilosopher);

    async fn handle(
        &self,
        myself: ActorRef<ToPhilosopher>,
        message: ToPhilosopher,
        left: &mut u64,
    ) -> Handled {
        if let ToPhilosopher::Eat = message {
            *left -= 1;
            send(&self.arbitrator, ToArbitrator::Done(self.seat));
            if *left == 0 {
                send(&self.arbitrator, ToArbitrator::Leave);
                myself.stop(None);
                return Ok(());
            }
        }
        send(&self.arbitrator, ToArbitrator::Hungry(self.seat));
        Ok(())
    }
}

pub(super) async fn run(philosophers: usize, meals: u64) {
    let (report, mut reports) = unbounded_channel();
    let table = Table {
        forks: Forks::new(philosophers),
        philosophers: Vec::new(),
        present: philosophers,
        meals: 0,
    };
    let arbitrator = spawn(Arbitrator { report }, table).await;
    let philosopher = |seat| {
        let arbitrator = arbitrator.clone();
        (Philosopher { seat, arbitrator }, meals)
    };
    let addresses = spawn_all(philosophers, philosopher).await;
    send(&arbitrator, ToArbitrator::Start(addresses.clone()));
    for philosopher in &addresses {
        send(philosopher, ToPhilosopher::Start);
    }
    assert_eq!(next(&mut reports).await, philosophers as u64 * meals);
}
