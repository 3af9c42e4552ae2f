//! What objects are called: by what they are and where they were made.
//!
//! A name does not depend on who uses an object first. Where a line makes several of a kind, they are numbered in the order of
//! their least users: the smallest activity, in the order of the family tree, that meets it, and in which of its operations. Once given,
//! a name stays, whatever else becomes known.

use std::{collections::HashMap, panic::Location};

use super::{
    event::{Event, NOTHING},
    names::{Families, Things, set},
};
use crate::{Access, ObjectName, OperationKind};

/// What an object is, and what part of one it is.
type Kind = (&'static str, Option<isize>);

/// The names that were given.
#[derive(Default)]
pub(super) struct Objects {
    /// Which of those of its kind it is that its line makes, from 1.
    ordinals: HashMap<u32, u32>,
    /// What kind of object each is, or what part of one.
    nouns: HashMap<u32, Kind>,
    /// How many of a kind a line makes.
    counts: HashMap<(&'static str, u32, Kind), u32>,
    /// Those of a kind that are made at a place, a bit for each.
    alike: HashMap<(&'static Location<'static>, Kind), Vec<u64>>,
}

impl Objects {
    /// An operation that happens, or is about to, says what it is about.
    pub(super) fn learn(&mut self, event: &Event) {
        for (index, touch) in event.touches().enumerate() {
            let part = event.op.info().part;
            let noun = match touch.access {
                _ if touch.thing == NOTHING || self.ordinals.contains_key(&touch.thing) => continue,
                _ if index == 0 || event.kind() == OperationKind::Select => {
                    (event.op.object(), part)
                }
                Access::Take | Access::TryTake | Access::Look | Access::TryLook => ("lock", None),
                _ => continue,
            };
            self.nouns.entry(touch.thing).or_insert(noun);
        }
    }

    /// Gives names to all things that have none.
    pub(super) fn name_all(&mut self, things: &Things, families: &Families) {
        if self.ordinals.len() == things.count() as usize {
            return;
        }
        let least = things.least_users(|activity| families.rank(activity));
        let is_new = |number: &u32| !self.ordinals.contains_key(number);
        let mut all: Vec<u32> = (0..things.count()).filter(is_new).collect();
        all.sort_by_key(|&number| (things.made_at(number).column(), &least[number as usize]));
        for number in all {
            let (made_at, kind) = (things.made_at(number), self.kind(number));
            let alike = self.alike.entry((made_at, kind)).or_default();
            let same = things.called_alike(number, alike);
            set(alike, number);
            let ordinal = same.map_or_else(
                || {
                    let line = (made_at.file(), made_at.line(), kind);
                    let count = self.counts.entry(line).or_default();
                    *count += 1;
                    *count
                },
                |same| self.ordinals[&same],
            );
            self.ordinals.insert(number, ordinal);
        }
    }

    fn kind(&self, number: u32) -> Kind {
        let known = self.nouns.get(&number).copied();
        known.unwrap_or(("object", None))
    }

    /// The name of an object.
    pub(super) fn name(&self, number: u32, things: &Things) -> Option<ObjectName> {
        let ordinal = *self.ordinals.get(&number)?;
        let only = ObjectName::only(self.kind(number).0, things.made_at(number));
        Some(ObjectName { ordinal, ..only })
    }
}

/// What the objects are called that these operations are about. Messages say more than the mailbox that they are sent to, and a
/// selection is about several.
pub(super) fn names_of(
    events: &[Event],
    things: &Things,
    families: &Families,
) -> Vec<Option<ObjectName>> {
    let mut objects = Objects::default();
    events.iter().for_each(|event| objects.learn(event));
    objects.name_all(things, families);
    let name = |event: &Event| match event.touch.thing {
        NOTHING => None,
        _ if event.about.is_some() => None,
        _ if event.kind() == OperationKind::Select && event.more.is_some() => None,
        thing => objects.name(thing, things),
    };
    events.iter().map(name).collect()
}
