//! Chameneos: creatures meet in pairs by way of a mall.

use std::sync::Arc;

use kameo::{
    Actor,
    actor::ActorRef,
    message::{Context, Message},
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{next, prepare, prepare_all, send};
use crate::work::Colour;

struct Start;

/// A creature wants to meet another; from the mall, the other one that wants to.
struct Meet {
    creature: usize,
    colour: Colour,
}

struct Change(Colour);
struct Exit;
struct Count(u64);

#[derive(Actor)]
struct Mall {
    meetings: u64,
    waiting: Option<usize>,
    creatures: Arc<[ActorRef<Creature>]>,
    present: usize,
    sum: u64,
    report: UnboundedSender<u64>,
}

#[derive(Actor)]
struct Creature {
    index: usize,
    colour: Colour,
    meetings: u64,
    mall: ActorRef<Mall>,
    creatures: Arc<[ActorRef<Creature>]>,
}

impl Message<Meet> for Mall {
    type Reply = ();

    async fn handle(&mut self, meet: Meet, _: &mut Context<Self, ()>) {
        if self.meetings == 0 {
            send(&self.creatures[meet.creature], Exit);
            return;
        }
        match self.waiting.take() {
            None => self.waiting = Some(meet.creature),
            Some(first) => {
                self.meetings -= 1;
                send(&self.creatures[first], meet);
            }
        }
    }
}

impl Message<Count> for Mall {
    type Reply = ();

    async fn handle(&mut self, Count(count): Count, _: &mut Context<Self, ()>) {
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
        send(&self.mall, Meet { creature, colour });
    }
}

impl Message<Start> for Creature {
    type Reply = ();

    async fn handle(&mut self, _: Start, _: &mut Context<Self, ()>) {
        self.ask();
    }
}

impl Message<Meet> for Creature {
    type Reply = ();

    async fn handle(&mut self, meet: Meet, _: &mut Context<Self, ()>) {
        self.colour = self.colour.after_meeting(meet.colour);
        send(&self.creatures[meet.creature], Change(self.colour));
        self.meetings += 1;
        self.ask();
    }
}

impl Message<Change> for Creature {
    type Reply = ();

    async fn handle(&mut self, Change(colour): Change, _: &mut Context<Self, ()>) {
        self.colour = colour;
        self.meetings += 1;
        self.ask();
    }
}

impl Message<Exit> for Creature {
    type Reply = ();

    async fn handle(&mut self, _: Exit, context: &mut Context<Self, ()>) {
        send(&self.mall, Count(self.meetings));
        context.stop();
    }
}

pub(super) async fn run(chameneos: usize, meetings: u64) {
    let (report, mut reports) = unbounded_channel();
    let mall = prepare::<Mall>();
    let to_mall = mall.actor_ref().clone();
    let (prepared, addresses) = prepare_all::<Creature>(chameneos);
    let creatures: Arc<[_]> = addresses.into();
    mall.spawn(Mall {
        meetings,
        waiting: None,
        creatures: Arc::clone(&creatures),
        present: chameneos,
        sum: 0,
        report,
    });
    for (index, creature) in prepared.into_iter().enumerate() {
        creature.spawn(Creature {
            index,
            colour: Colour::of_creature(index),
            meetings: 0,
            mall: to_mall.clone(),
            creatures: Arc::clone(&creatures),
        });
    }
    for creature in creatures.iter() {
        send(creature, Start);
    }
    assert_eq!(next(&mut reports).await, 2 * meetings);
}
