//! What objects are called: by what they are and where they were made.
//!
//! A name does not depend on who uses an object first. Where a line makes several of a kind, they are numbered in the order of
//! their least users: the smallest activity, in the order of the family tree, that meets it, and in which of its operations. Once given,
//! a name stays, whatever else becomes known.

use std::collections::HashMap;

use super::Event;
use crate::{
    Access, OperationKind,
    explore::{
        event::NOTHING,
        names::{Families, Things},
    },
};

/// The names that were given.
#[derive(Default)]
pub(super) struct Objects {
    /// Which of those of its kind it is that its line makes, from 1.
    ordinals: HashMap<u32, u32>,
    /// What kind of object each is.
    nouns: HashMap<u32, &'static str>,
}

/// The name of an object.
pub(super) struct Called<'a> {
    pub(super) noun: &'a str,
    pub(super) file: &'a str,
    pub(super) line: u32,
    pub(super) ordinal: u32,
}

impl Objects {
    /// An operation that happens, or is about to, says what it is about.
    pub(super) fn learn(&mut self, event: &Event) {
        for (index, touch) in event.touches().enumerate() {
            let noun = match touch.access {
                _ if touch.thing == NOTHING || self.ordinals.contains_key(&touch.thing) => continue,
                _ if index == 0 || event.kind() == OperationKind::Select => event.op.object(),
                Access::Take | Access::TryTake | Access::Look | Access::TryLook => "lock",
                _ => continue,
            };
            self.nouns.entry(touch.thing).or_insert(noun);
        }
    }

    /// Gives names to all things that have none.
    pub(super) fn name_all(&mut self, things: &Things, families: &Families) {
        let least = things.least_users(|activity| families.rank(activity));
        let is_new = |number: &u32| !self.ordinals.contains_key(number);
        let mut all: Vec<u32> = (0..things.count()).filter(is_new).collect();
        all.sort_by_key(|&number| (things.made_at(number).column(), &least[number as usize]));
        for number in all {
            let ordinal = self.ordinal(number, things);
            self.ordinals.insert(number, ordinal);
        }
    }

    fn ordinal(&self, number: u32, things: &Things) -> u32 {
        let line = |number: u32| {
            let at = things.made_at(number);
            (at.file(), at.line(), self.noun(number))
        };
        let others = || {
            let all = self.ordinals.iter();
            all.filter(|&(&other, _)| line(other) == line(number))
        };
        let same = others().find(|&(&other, _)| things.are_called_alike(number, other));
        let last = || others().map(|(_, ordinal)| *ordinal).max();
        same.map_or_else(|| last().unwrap_or(0) + 1, |(_, ordinal)| *ordinal)
    }

    fn noun(&self, number: u32) -> &'static str {
        self.nouns.get(&number).copied().unwrap_or("object")
    }

    /// The name of a thing.
    pub(super) fn called<'a>(&'a self, number: u32, things: &'a Things) -> Option<Called<'a>> {
        let at = things.made_at(number);
        Some(Called {
            noun: self.noun(number),
            file: at.file(),
            line: at.line(),
            ordinal: *self.ordinals.get(&number)?,
        })
    }
}
