//! What an activity last saw of the entities it uses: the base for the numbers of its events.
//!
//! An event names a position in an entity's order. Positions grow without end, but the distance from the last
//! position that this activity wrote down for the same entity is small, so that is what the event holds. Recording
//! and replay keep the same table in the same way, so they agree on the base; a table with few places that forgets
//! is as good as a complete one, as long as both forget alike.

/// Positions by entity key, direct-mapped. Small as long as it can be: there may be a million activities.
#[derive(Default)]
pub(crate) struct Views {
    places: Box<[View]>,
}

#[derive(Clone, Copy, Default)]
struct View {
    key: u64,
    position: u64,
}

impl Views {
    const FEWEST: usize = 4;
    const MOST: usize = 512;

    /// The place of a key among so many, a power of two.
    fn place(key: u64, places: usize) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize & (places - 1)
    }

    /// The position last noted for the entity, if it is still known.
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        if self.places.is_empty() {
            return None;
        }
        let view = self.places[Self::place(key, self.places.len())];
        (view.key == key).then_some(view.position)
    }

    /// Notes a position. If another one is in its place, there will be more places, or that one is forgotten.
    pub(crate) fn set(&mut self, key: u64, position: u64) {
        let view = View { key, position };
        while !self.put(view) {
            let before = std::mem::take(&mut self.places);
            let places = (before.len() * 2).max(Self::FEWEST);
            self.places = vec![View::default(); places].into();
            // Those that were apart are apart.
            for view in before.into_iter().filter(|view| view.key != 0) {
                self.put(view);
            }
        }
    }

    fn put(&mut self, view: View) -> bool {
        let places = self.places.len();
        if places == 0 {
            return false;
        }
        let place = &mut self.places[Self::place(view.key, places)];
        let fits = place.key == view.key || place.key == 0 || places == Self::MOST;
        if fits {
            *place = view;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_entities_are_all_remembered_in_little_room() {
        let mut views = Views::default();
        for key in 1..=3 {
            views.set(key, key * 10);
        }
        assert!((1..=3).all(|key| views.get(key) == Some(key * 10)));
        assert!(views.places.len() <= 32, "{}", views.places.len());
    }

    #[test]
    fn the_last_of_many_is_remembered() {
        let mut views = Views::default();
        for key in 1..=10_000 {
            views.set(key << 32 | 1, key);
            assert_eq!(views.get(key << 32 | 1), Some(key));
        }
        assert_eq!(views.places.len(), Views::MOST);
    }
}
