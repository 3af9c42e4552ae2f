//! All activities of a trace while its chunks are read.
//!
//! Activities with neighbouring numbers have entries in neighbouring places, and there may be millions: so they are
//! stored in pages, which a small table finds. A trace with few numbers that are far apart has few pages.

use crate::{hashing::SeededMap, position::TracePosition};

/// An activity, as far as its chunks have been read.
#[derive(Default)]
pub(super) struct Activity {
    pub(super) place: TracePosition,
    /// For the visitor's use.
    pub(super) mark: u64,
}

const PAGE: u32 = 16;

#[derive(Default)]
pub(super) struct Activities {
    pages: SeededMap<u32, Box<[Activity; PAGE as usize]>>,
}

impl Activities {
    /// Returns the activity with this number, which may have no entries yet.
    pub(super) fn get(&mut self, number: u32) -> &mut Activity {
        let page = self.pages.entry(number / PAGE).or_default();
        &mut page[(number % PAGE) as usize]
    }

    /// Returns the activities that have entries, ordered by number.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (u32, &Activity)> {
        let mut pages: Vec<_> = self.pages.iter().collect();
        pages.sort_unstable_by_key(|(page, _)| **page);
        pages.into_iter().flat_map(|(page, activities)| {
            (page * PAGE..)
                .zip(activities.iter())
                .filter(|(_, activity)| !activity.place.is_nowhere())
        })
    }
}
