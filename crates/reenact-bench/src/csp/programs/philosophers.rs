//! Philosophers: everybody asks one arbitrator for their forks, again and again while it denies them.
//!
//! All requests meet on one channel, and whose is next can go any way; so can how often somebody is denied.

use super::{Measured, Receiver, Sender, channel, channel_from_many, spawn};
use crate::csp::work::Forks;

enum Request {
    Hungry(usize),
    Done(usize),
    Leave,
}

enum Answer {
    Eat,
    Denied,
}

/// What the arbitrator has seen.
struct Served {
    meals: u64,
    rendezvous: u64,
}

pub(super) fn run(philosophers: usize, meals: u64) -> Measured {
    Measured::around(|| {
        let (to_arbitrator, requests) = channel_from_many(philosophers);
        let mut to_philosophers = Vec::with_capacity(philosophers);
        let mut table = Vec::with_capacity(philosophers);
        for (seat, to_arbitrator) in to_arbitrator.into_iter().enumerate() {
            let (to_philosopher, answers) = channel();
            to_philosophers.push(to_philosopher);
            table.push(spawn(move || {
                philosopher(seat, meals, &to_arbitrator, &answers);
            }));
        }
        let arbitrator = spawn(move || arbitrator(&requests, &to_philosophers));
        for philosopher in table {
            philosopher.join().unwrap();
        }
        let served = arbitrator.join().unwrap();
        assert_eq!(served.meals, philosophers as u64 * meals);
        served.rendezvous
    })
}

/// Serves until everybody has left.
fn arbitrator(requests: &Receiver<Request>, philosophers: &[Sender<Answer>]) -> Served {
    let mut forks = Forks::new(philosophers.len());
    let mut present = philosophers.len();
    let mut served = Served {
        meals: 0,
        rendezvous: 0,
    };
    while present > 0 {
        served.rendezvous += 1;
        match requests.recv().unwrap() {
            Request::Hungry(seat) => {
                let answer = if forks.take(seat) {
                    Answer::Eat
                } else {
                    Answer::Denied
                };
                philosophers[seat].send(answer).unwrap();
                served.rendezvous += 1;
            }
            Request::Done(seat) => {
                forks.put_back(seat);
                served.meals += 1;
            }
            Request::Leave => present -= 1,
        }
    }
    assert!(forks.all_free());
    served
}

fn philosopher(seat: usize, meals: u64, arbitrator: &Sender<Request>, answers: &Receiver<Answer>) {
    let mut left = meals;
    while left > 0 {
        arbitrator.send(Request::Hungry(seat)).unwrap();
        match answers.recv().unwrap() {
            Answer::Eat => {
                left -= 1;
                arbitrator.send(Request::Done(seat)).unwrap();
            }
            Answer::Denied => {}
        }
    }
    arbitrator.send(Request::Leave).unwrap();
}
