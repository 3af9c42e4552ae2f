//! Chameneos: creatures meet in pairs by way of a mall.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{mailboxes, next, send};
use crate::work::Colour;

enum ToMall {
    Meet { creature: usize, colour: Colour },
    Count(u64),
}

#[derive(Clone, Copy)]
enum ToCreature {
    Meet { partner: usize, colour: Colour },
    Change(Colour),
    Exit,
}

type Creatures = Arc<[UnboundedSender<ToCreature>]>;

/// Makes so many pairs, then sends everybody home; returns the sum of their counts.
async fn mall(
    mut mailbox: UnboundedReceiver<ToMall>,
    creatures: Creatures,
    mut meetings: u64,
) -> u64 {
    let mut waiting = None;
    let mut present = creatures.len();
    let mut sum = 0;
    while present > 0 {
        match next(&mut mailbox).await {
            ToMall::Meet { creature, .. } if meetings == 0 => {
                send(&creatures[creature], ToCreature::Exit);
            }
            ToMall::Meet { creature, colour } => match waiting.take() {
                None => waiting = Some(creature),
                Some(first) => {
                    meetings -= 1;
                    let partner = creature;
                    let introduction = ToCreature::Meet { partner, colour };
                    send(&creatures[first], introduction);
                }
            },
            ToMall::Count(count) => {
                sum += count;
                present -= 1;
            }
        }
    }
    sum
}

struct Creature {
    index: usize,
    colour: Colour,
    mall: UnboundedSender<ToMall>,
    creatures: Creatures,
}

impl Creature {
    fn ask(&self) {
        let (creature, colour) = (self.index, self.colour);
        send(&self.mall, ToMall::Meet { creature, colour });
    }

    async fn live(mut self, mut mailbox: UnboundedReceiver<ToCreature>) {
        let mut meetings = 0;
        self.ask();
        loop {
            match next(&mut mailbox).await {
                ToCreature::Meet { partner, colour } => {
                    self.colour = self.colour.after_meeting(colour);
                    send(&self.creatures[partner], ToCreature::Change(self.colour));
                }
                ToCreature::Change(colour) => self.colour = colour,
                ToCreature::Exit => break,
            }
            meetings += 1;
            self.ask();
        }
        send(&self.mall, ToMall::Count(meetings));
    }
}

pub(super) async fn run(chameneos: usize, meetings: u64) {
    let (to_mall, mall_mailbox) = unbounded_channel();
    let (addresses, mailboxes) = mailboxes(chameneos);
    let creatures: Creatures = addresses.into();
    let mall = tokio::spawn(mall(mall_mailbox, Arc::clone(&creatures), meetings));
    for (index, mailbox) in mailboxes.into_iter().enumerate() {
        let creature = Creature {
            index,
            colour: Colour::of_creature(index),
            mall: to_mall.clone(),
            creatures: Arc::clone(&creatures),
        };
        tokio::spawn(creature.live(mailbox));
    }
    assert_eq!(mall.await.unwrap(), 2 * meetings);
}
