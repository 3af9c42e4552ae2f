//! Chameneos: creatures meet in pairs by way of a mall, and change their colours.
//!
//! It measures contention on one mailbox.

use std::sync::Arc;

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use super::work::Colour;

type Creatures = Arc<[FarRef<Creature>]>;

pub(super) fn run(system: System, chameneos: usize, meetings: u64) {
    let (sum, report) = Promise::pair();
    let mall = system.spawn(Mall {
        meetings,
        waiting: None,
        creatures: Arc::new([]),
        present: chameneos,
        sum: 0,
        report,
    });
    let creature = |index| Creature {
        index,
        colour: Colour::of_creature(index),
        meetings: 0,
        mall: mall.clone(),
        creatures: Arc::new([]),
    };
    let creatures: Creatures = (0..chameneos)
        .map(|index| system.spawn(creature(index)))
        .collect();
    mall.open(Arc::clone(&creatures));
    for creature in creatures.iter() {
        creature.start(Arc::clone(&creatures));
    }
    assert_eq!(sum.wait().unwrap(), 2 * meetings);
}

struct Mall {
    meetings: u64,
    waiting: Option<usize>,
    creatures: Creatures,
    present: usize,
    sum: u64,
    report: Resolver<u64>,
}

#[reenact::actor]
impl Mall {
    pub(super) fn open(&mut self, creatures: Creatures) {
        self.creatures = creatures;
    }

    pub(super) fn meet(&mut self, creature: usize, colour: Colour) {
        if self.meetings == 0 {
            self.creatures[creature].exit();
            return;
        }
        match self.waiting.take() {
            None => self.waiting = Some(creature),
            Some(first) => {
                self.meetings -= 1;
                self.creatures[first].meet(creature, colour);
            }
        }
    }

    pub(super) fn meetings_count(&mut self, count: u64) {
        self.sum += count;
        self.present -= 1;
        if self.present == 0 {
            self.creatures = Arc::new([]);
            self.report.resolve(self.sum);
        }
    }
}

struct Creature {
    index: usize,
    colour: Colour,
    meetings: u64,
    mall: FarRef<Mall>,
    creatures: Creatures,
}

#[reenact::actor]
impl Creature {
    pub(super) fn start(&mut self, creatures: Creatures) {
        self.creatures = creatures;
        self.mall.meet(self.index, self.colour);
    }

    pub(super) fn meet(&mut self, partner: usize, colour: Colour) {
        self.colour = self.colour.after_meeting(colour);
        self.creatures[partner].change(self.colour);
        self.meetings += 1;
        self.mall.meet(self.index, self.colour);
    }

    pub(super) fn change(&mut self, colour: Colour) {
        self.colour = colour;
        self.meetings += 1;
        self.mall.meet(self.index, self.colour);
    }

    pub(super) fn exit(&mut self, ctx: &mut Context<Self>) {
        self.mall.meetings_count(self.meetings);
        ctx.stop();
    }
}
