//! Philosophers: everybody asks one arbitrator, until it agrees.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{mailboxes, next, send};
use crate::work::Forks;

enum ToArbitrator {
    Hungry(usize),
    Done(usize),
    Leave,
}

enum ToPhilosopher {
    Eat,
    Denied,
}

/// Serves until everybody has left; returns how many meals there were.
async fn arbitrator(
    mut mailbox: UnboundedReceiver<ToArbitrator>,
    philosophers: Vec<UnboundedSender<ToPhilosopher>>,
) -> u64 {
    let mut forks = Forks::new(philosophers.len());
    let mut present = philosophers.len();
    let mut meals = 0;
    while present > 0 {
        match next(&mut mailbox).await {
            ToArbitrator::Hungry(seat) => {
                let answer = if forks.take(seat) {
                    ToPhilosopher::Eat
                } else {
                    ToPhilosopher::Denied
                };
                send(&philosophers[seat], answer);
            }
            ToArbitrator::Done(seat) => {
                meals += 1;
                forks.put_back(seat);
            }
            ToArbitrator::Leave => present -= 1,
        }
    }
    assert!(forks.all_free());
    meals
}

async fn philosopher(
    mut mailbox: UnboundedReceiver<ToPhilosopher>,
    seat: usize,
    meals: u64,
    arbitrator: UnboundedSender<ToArbitrator>,
) {
    let mut left = meals;
    while left > 0 {
        send(&arbitrator, ToArbitrator::Hungry(seat));
        match next(&mut mailbox).await {
            ToPhilosopher::Denied => {}
            ToPhilosopher::Eat => {
                left -= 1;
                send(&arbitrator, ToArbitrator::Done(seat));
            }
        }
    }
    send(&arbitrator, ToArbitrator::Leave);
}

pub(super) async fn run(philosophers: usize, meals: u64) {
    let (to_arbitrator, arbitrator_mailbox) = unbounded_channel();
    let (addresses, mailboxes) = mailboxes(philosophers);
    let arbitrator = tokio::spawn(arbitrator(arbitrator_mailbox, addresses));
    for (seat, mailbox) in mailboxes.into_iter().enumerate() {
        tokio::spawn(philosopher(mailbox, seat, meals, to_arbitrator.clone()));
    }
    assert_eq!(arbitrator.await.unwrap(), philosophers as u64 * meals);
}
