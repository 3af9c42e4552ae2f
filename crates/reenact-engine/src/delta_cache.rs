//! The positions at which an activity last saw its objects: the base for the numbers of its events.
//!
//! An event names a position in an object's order. Positions grow without bound, but the distance from the last
//! position that this activity wrote for the same object is small, so the event contains that. Recording and replay
//! maintain the same table in the same way, so they agree on the base; a small table that forgets is as good as a
//! complete one, as long as both forget alike.

/// Positions by object key, direct-mapped. As small as possible: there may be a million activities.
#[derive(Default)]
pub(crate) struct DeltaCache {
    places: Box<[Entry]>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    key: u64,
    position: u64,
}

impl DeltaCache {
    const FEWEST: usize = 4;
    const MOST: usize = 512;

    /// Returns the index of a key in a table of this size, a power of two.
    fn place(key: u64, places: usize) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize & (places - 1)
    }

    /// Returns the position last noted for the object, if it is still known.
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        if self.places.is_empty() {
            return None;
        }
        let entry = self.places[Self::place(key, self.places.len())];
        (entry.key == key).then_some(entry.position)
    }

    /// Notes a position. If another key has its place, the table grows, or at its maximum size forgets that key.
    pub(crate) fn set(&mut self, key: u64, position: u64) {
        let entry = Entry { key, position };
        while !self.put(entry) {
            let before = std::mem::take(&mut self.places);
            let places = (before.len() * 2).max(Self::FEWEST);
            self.places = vec![Entry::default(); places].into();
            // Keys that did not collide before do not collide now.
            for entry in before.into_iter().filter(|entry| entry.key != 0) {
                self.put(entry);
            }
        }
    }

    fn put(&mut self, entry: Entry) -> bool {
        let places = self.places.len();
        if places == 0 {
            return false;
        }
        let place = &mut self.places[Self::place(entry.key, places)];
        let fits = place.key == entry.key || place.key == 0 || places == Self::MOST;
        if fits {
            *place = entry;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_entities_are_all_remembered_in_little_room() {
        let mut deltas = DeltaCache::default();
        for key in 1..=3 {
            deltas.set(key, key * 10);
        }
        assert!((1..=3).all(|key| deltas.get(key) == Some(key * 10)));
        assert!(deltas.places.len() <= 32, "{}", deltas.places.len());
    }

    #[test]
    fn the_last_of_many_is_remembered() {
        let mut deltas = DeltaCache::default();
        for key in 1..=10_000 {
            deltas.set(key << 32 | 1, key);
            assert_eq!(deltas.get(key << 32 | 1), Some(key));
        }
        assert_eq!(deltas.places.len(), DeltaCache::MOST);
    }
}
