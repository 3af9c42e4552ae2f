//! What an activity last saw of the entities it uses: the base for the numbers of its events.
//!
//! An event names a position in an entity's order. Positions grow without end, but the distance from the last
//! position that this activity wrote down for the same entity is small, so that is what the event holds. Recording
//! and replay keep the same table in the same way, so they agree on the base; a table with few places that forgets
//! is as good as a complete one, as long as both forget alike.

/// Positions by entity key, direct-mapped.
#[derive(Default)]
pub(crate) struct Views {
    places: Option<Box<[View; Self::PLACES]>>,
}

#[derive(Clone, Copy, Default)]
struct View {
    key: u64,
    position: u64,
}

impl Views {
    const PLACES: usize = 512;

    fn place(key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize
    }

    /// The position last noted for the entity, if it is still known.
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        let view = self.places.as_ref()?[Self::place(key)];
        (view.key == key).then_some(view.position)
    }

    /// Notes a position, and forgets what was in the same place.
    pub(crate) fn set(&mut self, key: u64, position: u64) {
        let places = self
            .places
            .get_or_insert_with(|| Box::new([View::default(); Self::PLACES]));
        places[Self::place(key)] = View { key, position };
    }
}
