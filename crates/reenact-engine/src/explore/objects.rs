//! Names of objects: their kind and where they were created.
//!
//! A name does not depend on which activity uses an object first. If one line creates several objects of a kind, they
//! are numbered in the order of their least users: the smallest activity, in the order of the family tree, that
//! accesses the object, and which of its operations does so. Once given, a name does not change, whatever becomes known
//! later.

use std::{collections::HashMap, panic::Location};

use super::{
    event::{Event, NOTHING},
    names::{Families, ObjectTable, set},
};
use crate::{Access, ObjectName, OperationKind};

/// The kind of an object, and which part of an object it is, if it is one.
type ObjectKind = (&'static str, Option<isize>);

/// The names that were given.
#[derive(Default)]
pub(super) struct Objects {
    /// Which of the objects of its kind that its line creates it is, from 1.
    ordinals: HashMap<u32, u32>,
    /// The kind of each object.
    nouns: HashMap<u32, ObjectKind>,
    /// The number of objects of a kind that a line creates.
    counts: HashMap<(&'static str, u32, ObjectKind), u32>,
    /// The objects of a kind that are created at a location, as bit sets.
    alike: HashMap<(&'static Location<'static>, ObjectKind), Vec<u64>>,
}

impl Objects {
    /// Learns the kinds of the objects that an event, pending or performed, operates on.
    pub(super) fn learn(&mut self, event: &Event) {
        for (index, touch) in event.touches().enumerate() {
            let part = event.op.info().part;
            let noun = match touch.access {
                _ if touch.object == NOTHING || self.ordinals.contains_key(&touch.object) => {
                    continue;
                }
                _ if index == 0 || event.kind() == OperationKind::Select => {
                    (event.op.object(), part)
                }
                Access::Take | Access::TryTake | Access::Look | Access::TryLook => ("lock", None),
                _ => continue,
            };
            self.nouns.entry(touch.object).or_insert(noun);
        }
    }

    /// Names all objects that have no name.
    pub(super) fn name_all(&mut self, objects: &ObjectTable, families: &Families) {
        if self.ordinals.len() == objects.count() as usize {
            return;
        }
        let least = objects.least_users(|activity| families.rank(activity));
        let is_new = |number: &u32| !self.ordinals.contains_key(number);
        let mut all: Vec<u32> = (0..objects.count()).filter(is_new).collect();
        all.sort_by_key(|&number| (objects.made_at(number).column(), &least[number as usize]));
        for number in all {
            let (made_at, kind) = (objects.made_at(number), self.kind(number));
            let alike = self.alike.entry((made_at, kind)).or_default();
            let same = objects.called_alike(number, alike);
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

    fn kind(&self, number: u32) -> ObjectKind {
        let known = self.nouns.get(&number).copied();
        known.unwrap_or(("object", None))
    }

    /// Returns the name of an object.
    pub(super) fn name(&self, number: u32, objects: &ObjectTable) -> Option<ObjectName> {
        let ordinal = *self.ordinals.get(&number)?;
        let only = ObjectName::only(self.kind(number).0, objects.made_at(number));
        Some(ObjectName { ordinal, ..only })
    }
}

/// Returns the names of the objects that these events operate on. There is none for a message, whose text says more
/// than the mailbox, nor for a selection of several objects.
pub(super) fn names_of(
    events: &[Event],
    table: &ObjectTable,
    families: &Families,
) -> Vec<Option<ObjectName>> {
    let mut objects = Objects::default();
    events.iter().for_each(|event| objects.learn(event));
    objects.name_all(table, families);
    let name = |event: &Event| match event.touch.object {
        NOTHING => None,
        _ if event.about.is_some() => None,
        _ if event.kind() == OperationKind::Select && event.more.is_some() => None,
        object => objects.name(object, table),
    };
    events.iter().map(name).collect()
}
