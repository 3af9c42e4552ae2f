//! The family tree of activities.
//!
//! A thread writes its origin when it starts. Activities that come by the million do not: their parents have written
//! which numbers are their children's ([`Kind::CHILDREN`](crate::Kind::CHILDREN)), a block at a time, and the n-th
//! child has the n-th of these numbers.

use std::{collections::BTreeMap, fmt::Write};

use crate::entry::{MAX_NAME, Malformed};

/// Where an activity comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The program's main thread.
    Main,
    /// A thread that was not created by an instrumented spawn.
    Foreign,
    /// A child of this activity.
    Child(u32),
    /// Unknown, because that part of the trace is missing.
    Unknown,
}

/// Returns the display name of the foreign thread with this index, from 0, among the foreign threads of this name.
pub fn foreign_name(index: u64, name: &str) -> String {
    match name {
        "" => format!("foreign{index}"),
        name => format!("foreign{index}({})", kept_name(name)),
    }
}

/// Returns the part of a thread's name that a trace stores.
pub fn kept_name(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME)]
}

impl Origin {
    fn from_code(code: u64) -> Option<Origin> {
        Some(match code {
            0 => Origin::Main,
            1 => Origin::Foreign,
            _ => Origin::Child(u32::try_from(code - 2).ok()?),
        })
    }

    /// Returns the code for [`Appender::start`](crate::Appender::start), which cannot encode [`Origin::Unknown`].
    pub fn code(self) -> u64 {
        match self {
            Origin::Main => 0,
            Origin::Foreign => 1,
            Origin::Child(parent) => 2 + u64::from(parent),
            Origin::Unknown => u64::MAX,
        }
    }
}

/// What a trace contains about an activity besides its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityInfo {
    /// Its number in this trace.
    pub number: u32,
    /// Where it comes from.
    pub origin: Origin,
    /// Its index among the activities of the same origin, counted separately for those in a block and those that are
    /// not.
    pub index: u64,
    /// Whether its number is from a block of its parent, so that it did not write its origin itself.
    pub in_block: bool,
    /// The name of its thread, if it had one.
    pub name: String,
}

/// The origin that an activity wrote itself.
struct StartEntry {
    origin: Origin,
    index: u64,
    name: String,
}

/// Numbers for children, from an event of their parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Children {
    pub(crate) parent: u32,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Children {
    /// Returns `None` if these cannot be numbers of activities: the event is then a model's own.
    pub(crate) fn new(parent: u32, first: u64, count: u64) -> Option<Children> {
        let end = first.checked_add(count)?;
        (count > 0 && end <= 1 << 32).then_some(())?;
        Some(Children {
            parent,
            first: u32::try_from(first).ok()?,
            count: u32::try_from(count).ok()?,
        })
    }
}

/// A block, and how many children of the same parent are in earlier blocks.
struct ChildBlock {
    children: Children,
    before: u64,
}

#[derive(Default)]
pub(crate) struct Family {
    starts: BTreeMap<u32, StartEntry>,
    /// Ordered by their first number.
    blocks: Vec<ChildBlock>,
}

impl Family {
    pub(crate) fn add_start(
        &mut self,
        number: u32,
        origin: u64,
        index: u64,
        name: &[u8],
    ) -> Result<(), Malformed> {
        let start = StartEntry {
            origin: Origin::from_code(origin).ok_or("an activity of unknown origin")?,
            index,
            name: String::from_utf8_lossy(name).into_owned(),
        };
        self.starts.insert(number, start);
        Ok(())
    }

    /// Sets all blocks: those of a parent are consecutive, in the parent's own order.
    pub(crate) fn set_blocks(&mut self, children: &[Children]) {
        let mut before = 0;
        let mut parent = None;
        self.blocks = children
            .iter()
            .map(|&children| {
                if parent != Some(children.parent) {
                    parent = Some(children.parent);
                    before = 0;
                }
                let block = ChildBlock { children, before };
                before += u64::from(children.count);
                block
            })
            .collect();
        self.blocks.sort_by_key(|block| block.children.first);
    }

    /// Whether the activity wrote its start.
    pub(crate) fn has_start(&self, number: u32) -> bool {
        self.starts.contains_key(&number)
    }

    /// Returns origin, index and name of an activity that wrote its start.
    pub(crate) fn start(&self, number: u32) -> Option<(u64, u64, &str)> {
        let start = self.starts.get(&number)?;
        Some((start.origin.code(), start.index, &start.name))
    }

    /// Returns what is known of an activity. Its own start takes precedence over a block.
    pub(crate) fn info(&self, number: u32) -> ActivityInfo {
        let mut info = ActivityInfo {
            number,
            origin: Origin::Unknown,
            index: 0,
            in_block: false,
            name: String::new(),
        };
        if let Some(start) = self.starts.get(&number) {
            info.origin = start.origin;
            info.index = start.index;
            info.name.clone_from(&start.name);
        } else if let Some((parent, index)) = self.parent_by_block(number) {
            info.origin = Origin::Child(parent);
            info.index = index;
            info.in_block = true;
        }
        info
    }

    /// Returns the end of the activities from this number on that have the same origin and consecutive indices, as far as
    /// the family says.
    pub(crate) fn alike_until(&self, number: u32) -> u64 {
        let next = u64::from(number) + 1;
        if self.has_start(number) {
            return next;
        }
        let end = self.block_end(number).unwrap_or(1 << 32);
        let after = self.blocks_up_to(number);
        let next_block = self.blocks.get(after);
        let next_block = next_block.map_or(1 << 32, |block| u64::from(block.children.first));
        let next_start = self.starts.range(number..).next();
        let next_start = next_start.map_or(1 << 32, |(&number, _)| u64::from(number));
        end.min(next_block).min(next_start).max(next)
    }

    /// Returns the number of the n-th child in the blocks of an activity.
    pub(crate) fn child_in_block(&self, parent: u32, index: u64) -> Option<u32> {
        let mut blocks = self.blocks.iter();
        blocks.find_map(|ChildBlock { children, before }| {
            let nth = index.checked_sub(*before)?;
            let is_in = children.parent == parent && nth < children.count.into();
            is_in.then(|| children.first + nth as u32)
        })
    }

    /// Returns how many blocks begin at this number or before it.
    fn blocks_up_to(&self, number: u32) -> usize {
        self.blocks
            .partition_point(|block| block.children.first <= number)
    }

    /// Returns the block that this number is in.
    fn block_of(&self, number: u32) -> Option<&ChildBlock> {
        let block = &self.blocks[self.blocks_up_to(number).checked_sub(1)?];
        (number - block.children.first < block.children.count).then_some(block)
    }

    /// Returns the end of the block that this number is in.
    pub(crate) fn block_end(&self, number: u32) -> Option<u64> {
        let ChildBlock { children, .. } = self.block_of(number)?;
        Some(u64::from(children.first) + u64::from(children.count))
    }

    fn parent_by_block(&self, number: u32) -> Option<(u32, u64)> {
        let ChildBlock { children, before } = self.block_of(number)?;
        let nth = number - children.first;
        Some((children.parent, before + u64::from(nth)))
    }

    /// Returns the activity's place in the family tree.
    pub(crate) fn name(&self, number: u32) -> String {
        let mut path = Vec::new();
        let mut current = number;
        // No activity has more ancestors than there are parents, but a damaged trace may contain a cycle.
        let enough = self.starts.len() + self.blocks.len();
        let root = loop {
            let info = self.info(current);
            match info.origin {
                Origin::Main => break "main".to_owned(),
                Origin::Foreign => break foreign_name(info.index, &info.name),
                Origin::Unknown => break format!("?{current}"),
                Origin::Child(_) if path.len() > enough => break "?".to_owned(),
                Origin::Child(parent) => {
                    path.push((info.in_block, info.index));
                    current = parent;
                }
            }
        };
        path.iter().rev().fold(root, |mut name, (in_block, index)| {
            let letter = if *in_block { "a" } else { "" };
            let _ = write!(name, ".{letter}{index}");
            name
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activities_that_are_alike_are_counted_at_once() {
        let family = family(&[(0, 100, 10), (1, 110, 5)]);
        for (number, until) in [
            (0, 1),
            (1, 2),
            (2, 100),
            (100, 110),
            (104, 110),
            (110, 115),
            (115, 1 << 32),
        ] {
            assert_eq!(family.alike_until(number), until, "{number}");
        }
    }

    fn family(blocks: &[(u32, u64, u64)]) -> Family {
        let mut family = Family::default();
        family.add_start(0, 0, 0, b"").unwrap();
        family.add_start(1, 2, 0, b"worker").unwrap();
        let blocks: Vec<_> = blocks
            .iter()
            .filter_map(|&(parent, first, count)| Children::new(parent, first, count))
            .collect();
        family.set_blocks(&blocks);
        family
    }

    #[test]
    fn children_are_counted_over_the_blocks_of_their_parent() {
        let family = family(&[(0, 100, 10), (0, 20, 10), (1, 40, 5), (103, 200, 1)]);
        for (number, name) in [
            (0, "main"),
            (1, "main.0"),
            (100, "main.a0"),
            (109, "main.a9"),
            (20, "main.a10"),
            (44, "main.0.a4"),
            (200, "main.a3.a0"),
            (45, "?45"),
            (99, "?99"),
        ] {
            assert_eq!(family.name(number), name);
        }
        assert_eq!(family.child_in_block(0, 11), Some(21));
        assert_eq!(family.child_in_block(103, 0), Some(200));
        assert_eq!(family.child_in_block(0, 20), None);
        let info = family.info(21);
        assert_eq!((info.origin, info.index), (Origin::Child(0), 11));
    }

    #[test]
    fn blocks_that_cannot_be_are_not() {
        for (first, count) in [(5, 0), (1 << 32, 1), (u64::MAX, u64::MAX), (9, 1 << 32)] {
            assert_eq!(Children::new(0, first, count), None);
        }
        assert!(Children::new(0, 0, 1 << 31).is_some());
        assert!(Children::new(0, (1 << 32) - 1, 1).is_some());
    }

    #[test]
    fn a_foreign_thread_is_called_by_what_a_trace_keeps_of_its_name() {
        assert_eq!(foreign_name(0, ""), "foreign0");
        assert_eq!(foreign_name(1, "left"), "foreign1(left)");
        let long = "é".repeat(MAX_NAME);
        let kept = kept_name(&long);
        assert!(kept.len() <= MAX_NAME && long.starts_with(kept));
        assert_eq!(foreign_name(2, &long), format!("foreign2({kept})"));
        assert_eq!(foreign_name(2, kept), foreign_name(2, &long));
    }

    #[test]
    fn a_family_without_a_beginning_has_a_name() {
        let family = family(&[(6, 5, 1), (5, 6, 1)]);
        assert!(family.name(5).starts_with('?'));
    }
}
