//! All the activities of a trace while its chunks are walked through.
//!
//! Those with neighbouring numbers speak in neighbouring places, and there may be millions: so they are kept a page of
//! them at a time, which is found by a small table. A trace that names few numbers far from each other has few pages.

use crate::{hashing::Map, place::Place};

/// An activity, as far as its chunks have been read.
#[derive(Default)]
pub(super) struct Speaker {
    pub(super) place: Place,
    /// The listener's own.
    pub(super) mark: u64,
}

const PAGE: u32 = 16;

#[derive(Default)]
pub(super) struct Speakers {
    pages: Map<u32, Box<[Speaker; PAGE as usize]>>,
}

impl Speakers {
    /// The activity with this number, which has perhaps said nothing yet.
    pub(super) fn get(&mut self, number: u32) -> &mut Speaker {
        let page = self.pages.entry(number / PAGE).or_default();
        &mut page[(number % PAGE) as usize]
    }

    /// Those who have said something, by number.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (u32, &Speaker)> {
        let mut pages: Vec<_> = self.pages.iter().collect();
        pages.sort_unstable_by_key(|(page, _)| **page);
        pages.into_iter().flat_map(|(page, speakers)| {
            (page * PAGE..)
                .zip(speakers.iter())
                .filter(|(_, speaker)| !speaker.place.is_nowhere())
        })
    }
}
