//! Chameneos: creatures meet in pairs by way of a mall.

use std::sync::Arc;

use actix::{Actor, ActorContext, Addr, Context, Handler, Message};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Arbiters, actors, next};
use crate::work::Colour;

actors!(Mall, Creature);

type Creatures = Arc<[Addr<Creature>]>;

#[derive(Message)]
#[rtype(result = "()")]
struct Start(Creatures);

/// A creature wants to meet another; from the mall, the other one that wants to.
#[derive(Message)]
#[rtype(result = "()")]
struct Meet {
    creature: usize,
    colour: Colour,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Change(Colour);

#[derive(Message)]
#[rtype(result = "()")]
struct Exit;

#[derive(Message)]
#[rtype(result = "()")]
struct Count(u64);

struct Mall {
    meetings: u64,
    waiting: Option<usize>,
    creatures: Creatures,
    present: usize,
    sum: u64,
    report: UnboundedSender<u64>,
}

struct Creature {
    index: usize,
    colour: Colour,
    meetings: u64,
    mall: Addr<Mall>,
    creatures: Creatures,
}

impl Handler<Start> for Mall {
    type Result = ();

    fn handle(&mut self, Start(creatures): Start, _: &mut Context<Self>) {
        self.present = creatures.len();
        self.creatures = creatures;
    }
}

impl Handler<Meet> for Mall {
    type Result = ();

    fn handle(&mut self, meet: Meet, _: &mut Context<Self>) {
        if self.meetings == 0 {
            self.creatures[meet.creature].do_send(Exit);
            return;
        }
        match self.waiting.take() {
            None => self.waiting = Some(meet.creature),
            Some(first) => {
                self.meetings -= 1;
                self.creatures[first].do_send(meet);
            }
        }
    }
}

impl Handler<Count> for Mall {
    type Result = ();

    fn handle(&mut self, Count(count): Count, _: &mut Context<Self>) {
        self.sum += count;
        self.present -= 1;
        if self.present == 0 {
            let _ = self.report.send(self.sum);
        }
    }
}

impl Creature {
    fn ask(&self) {
        let (creature, colour) = (self.index, self.colour);
        self.mall.do_send(Meet { creature, colour });
    }
}

impl Handler<Start> for Creature {
    type Result = ();

    fn handle(&mut self, Start(creatures): Start, _: &mut Context<Self>) {
        self.creatures = creatures;
        self.ask();
    }
}

impl Handler<Meet> for Creature {
    type Result = ();

    fn handle(&mut self, meet: Meet, _: &mut Context<Self>) {
        self.colour = self.colour.after_meeting(meet.colour);
        self.creatures[meet.creature].do_send(Change(self.colour));
        self.meetings += 1;
        self.ask();
    }
}

impl Handler<Change> for Creature {
    type Result = ();

    fn handle(&mut self, Change(colour): Change, _: &mut Context<Self>) {
        self.colour = colour;
        self.meetings += 1;
        self.ask();
    }
}

impl Handler<Exit> for Creature {
    type Result = ();

    fn handle(&mut self, _: Exit, context: &mut Context<Self>) {
        self.mall.do_send(Count(self.meetings));
        context.stop();
    }
}

pub(super) async fn run(arbiters: &Arbiters, chameneos: usize, meetings: u64) {
    let (report, mut reports) = unbounded_channel();
    let mall = Mall {
        meetings,
        waiting: None,
        creatures: Creatures::default(),
        present: 0,
        sum: 0,
        report,
    }
    .start();
    let creature = |index| Creature {
        index,
        colour: Colour::of_creature(index),
        meetings: 0,
        mall: mall.clone(),
        creatures: Creatures::default(),
    };
    let creatures: Creatures = arbiters.start_all(chameneos, creature).collect();
    mall.do_send(Start(Arc::clone(&creatures)));
    for creature in creatures.iter() {
        creature.do_send(Start(Arc::clone(&creatures)));
    }
    assert_eq!(next(&mut reports).await, 2 * meetings);
}
