//! Chameneos: creatures meet in pairs by way of a mall.

use std::sync::Arc;

use ractor::{Actor, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Handled, next, send, spawn, spawn_all, starts_with};
use crate::work::Colour;

type Creatures = Arc<[ActorRef<ToCreature>]>;

enum ToMall {
    Open(Creatures),
    Meet { creature: usize, colour: Colour },
    Count(u64),
}

enum ToCreature {
    Start(Creatures),
    Meet { partner: usize, colour: Colour },
    Change(Colour),
    Exit,
}

struct Mall {
    report: UnboundedSender<u64>,
}

struct MallState {
    meetings: u64,
    waiting: Option<usize>,
    creatures: Creatures,
    present: usize,
    sum: u64,
}

struct Creature {
    index: usize,
    mall: ActorRef<ToMall>,
}

struct CreatureState {
    colour: Colour,
    meetings: u64,
    creatures: Creatures,
}

impl MallState {
    fn meet(&mut self, creature: usize, colour: Colour) {
        if self.meetings == 0 {
            send(&self.creatures[creature], ToCreature::Exit);
            return;
        }
        match self.waiting.take() {
            None => self.waiting = Some(creature),
            Some(first) => {
                self.meetings -= 1;
                let partner = creature;
                send(&self.creatures[first], ToCreature::Meet { partner, colour });
            }
        }
    }
}

impl Actor for Mall {
    starts_with!(MallState, handles ToMall);

    async fn handle(&self, _: ActorRef<ToMall>, message: ToMall, state: &mut MallState) -> Handled {
        match message {
            ToMall::Open(creatures) => {
                state.present = creatures.len();
                state.creatures = creatures;
            }
            ToMall::Meet { creature, colour } => state.meet(creature, colour),
            ToMall::Count(count) => {
                state.sum += count;
                state.present -= 1;
                if state.present == 0 {
                    let _ = self.report.send(state.sum);
                }
            }
        }
        Ok(())
    }
}

impl Actor for Creature {
    starts_with!(CreatureState, handles ToCreature);

    async fn handle(
        &self,
        myself: ActorRef<ToCreature>,
        message: ToCreature,
        state: &mut CreatureState,
    ) -> Handled {
        match message {
            ToCreature::Start(creatures) => state.creatures = creatures,
            ToCreature::Meet { partner, colour } => {
                state.colour = state.colour.after_meeting(colour);
                state.meetings += 1;
                send(&state.creatures[partner], ToCreature::Change(state.colour));
            }
            ToCreature::Change(colour) => {
                state.colour = colour;
                state.meetings += 1;
            }
            ToCreature::Exit => {
                send(&self.mall, ToMall::Count(state.meetings));
                myself.stop(None);
                return Ok(());
            }
        }
        let (creature, colour) = (self.index, state.colour);
        send(&self.mall, ToMall::Meet { creature, colour });
        Ok(())
    }
}

pub(super) async fn run(chameneos: usize, meetings: u64) {
    let (report, mut reports) = unbounded_channel();
    let state = MallState {
        meetings,
        waiting: None,
        creatures: Creatures::default(),
        present: 0,
        sum: 0,
    };
    let mall = spawn(Mall { report }, state).await;
    let creature = |index| {
        let mall = mall.clone();
        let state = CreatureState {
            colour: Colour::of_creature(index),
            meetings: 0,
            creatures: Creatures::default(),
        };
        (Creature { index, mall }, state)
    };
    let addresses = spawn_all(chameneos, creature).await;
    let creatures: Creatures = addresses.into();
    send(&mall, ToMall::Open(Arc::clone(&creatures)));
    for creature in creatures.iter() {
        send(creature, ToCreature::Start(Arc::clone(&creatures)));
    }
    assert_eq!(next(&mut reports).await, 2 * meetings);
}
