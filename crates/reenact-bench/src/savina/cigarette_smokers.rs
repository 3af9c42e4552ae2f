//! CigaretteSmokers: an arbiter hands what is missing to one smoker at a time.
//!
//! It measures one-to-many traffic with one message in flight. A cigarette has two messages, its start and the
//! word that it is lit; at the end each smoker receives a stop message and answers how many it had.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use super::busy_wait;
use crate::{Measured, Setting, random::Random};

const CIGARETTES: u64 = 10_000;
const ENLARGED: u64 = 45;
const SMOKERS: u64 = 200;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    let cigarettes = setting.times(CIGARETTES * ENLARGED);
    let expected = expected(cigarettes);
    Measured::around(|| {
        let (smoked, report) = Promise::pair();
        let arbiter = system.spawn(Arbiter {
            random: Random::new(cigarettes),
            left: cigarettes,
            smokers: Vec::new(),
            smoked: vec![0; SMOKERS as usize],
            present: SMOKERS,
            report,
        });
        arbiter.start();
        assert_eq!(smoked.wait().unwrap(), expected);
        2 * cigarettes + 2 * SMOKERS
    })
}

/// How many cigarettes each has: the arbiter's choices are its generator's.
fn expected(cigarettes: u64) -> Vec<u64> {
    let mut random = Random::new(cigarettes);
    let mut smoked = vec![0; SMOKERS as usize];
    for _ in 0..cigarettes {
        smoked[random.below(SMOKERS) as usize] += 1;
    }
    smoked
}

struct Arbiter {
    random: Random,
    left: u64,
    smokers: Vec<FarRef<Smoker>>,
    smoked: Vec<u64>,
    present: u64,
    report: Resolver<Vec<u64>>,
}

#[reenact::actor]
impl Arbiter {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>) {
        self.smokers = (0..SMOKERS)
            .map(|number| {
                ctx.spawn(Smoker {
                    number,
                    random: Random::new(number),
                    smoked: 0,
                    arbiter: ctx.me(),
                })
            })
            .collect();
        self.pick();
    }

    pub(super) fn started_smoking(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            for smoker in self.smokers.drain(..) {
                smoker.exit();
            }
        } else {
            self.pick();
        }
    }

    pub(super) fn smoked(&mut self, number: u64, cigarettes: u64) {
        self.smoked[number as usize] = cigarettes;
        self.present -= 1;
        if self.present == 0 {
            self.report.resolve(std::mem::take(&mut self.smoked));
        }
    }

    fn pick(&mut self) {
        let number = self.random.below(SMOKERS);
        self.smokers[number as usize].start_smoking();
    }
}

/// The most steps of smoking.
const SMOKING: u64 = 1_000;

struct Smoker {
    number: u64,
    random: Random,
    smoked: u64,
    arbiter: FarRef<Arbiter>,
}

#[reenact::actor]
impl Smoker {
    pub(super) fn start_smoking(&mut self) {
        self.smoked += 1;
        self.arbiter.started_smoking();
        busy_wait(self.random.below(SMOKING) + 10);
    }

    pub(super) fn exit(&mut self) {
        self.arbiter.smoked(self.number, self.smoked);
    }
}
