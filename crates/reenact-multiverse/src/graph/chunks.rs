//! A list that grows without moving its items.
//!
//! A `Vec` that doubles temporarily needs three times its size, which a search with a memory bound cannot afford. Here
//! only the first chunk doubles; from then on the list grows by chunks of a fixed size.

use std::ops::Index;

const BITS: usize = 12;
/// The number of items in a chunk.
pub(crate) const CHUNK: usize = 1 << BITS;
const FIRST: usize = 8;

/// A list in chunks. All chunks but the last are full.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T> {
    chunks: Vec<Vec<T>>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks { chunks: Vec::new() }
    }
}

impl<T> Chunks<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self.chunks.last() {
            Some(last) => ((self.chunks.len() - 1) << BITS) + last.len(),
            None => 0,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < last.capacity() && last.len() < CHUNK => last.push(item),
            _ => self.push_into_more(item),
        }
    }

    #[cold]
    fn push_into_more(&mut self, item: T) {
        match self.chunks.last_mut() {
            Some(only) if only.len() < CHUNK => {
                only.reserve_exact(only.len());
                only.push(item);
            }
            last => {
                let capacity = if last.is_some() { CHUNK } else { FIRST };
                if self.chunks.len() == self.chunks.capacity() {
                    self.chunks.reserve_exact(self.chunks.len().max(1));
                }
                let mut chunk = Vec::with_capacity(capacity);
                chunk.push(item);
                self.chunks.push(chunk);
            }
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = self.chunks.last_mut()?;
        let item = last.pop();
        if last.is_empty() && self.chunks.len() > 1 {
            self.chunks.pop();
        }
        item
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> &mut T {
        &mut self.chunks[at >> BITS][at & (CHUNK - 1)]
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.chunks.last_mut()?.last_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }

    /// The number of items before the first one for which `is_before` returns `false`.
    pub(crate) fn partition_point(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(&self[middle]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The allocated bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        let items = match self.chunks.first() {
            Some(first) => first.capacity().min(CHUNK) + ((self.chunks.len() - 1) << BITS),
            None => 0,
        };
        items * size_of::<T>() + self.chunks.capacity() * size_of::<Vec<T>>()
    }

    /// The bytes that have to be allocated to add `more` items, while the old allocation still exists.
    #[inline]
    pub(crate) fn growth(&self, more: usize) -> usize {
        let (len, allocated) = match self.chunks.first() {
            Some(first) => (
                self.len(),
                first.capacity().min(CHUNK) + ((self.chunks.len() - 1) << BITS),
            ),
            None => (0, 0),
        };
        if len + more <= allocated {
            0
        } else {
            self.growth_beyond(len + more)
        }
    }

    #[cold]
    fn growth_beyond(&self, wanted: usize) -> usize {
        if wanted <= CHUNK {
            let capacity = wanted.next_power_of_two().max(FIRST);
            return capacity * size_of::<T>() + 2 * size_of::<Vec<T>>();
        }
        // A first chunk that has to grow as well counts as a new one.
        let first = self.chunks.first().map_or(0, Vec::capacity) >= CHUNK;
        let chunks = wanted.div_ceil(CHUNK);
        let new = chunks - if first { self.chunks.len() } else { 0 };
        let list = if chunks > self.chunks.capacity() {
            2 * chunks * size_of::<Vec<T>>()
        } else {
            0
        };
        new * CHUNK * size_of::<T>() + list
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.chunks[at >> BITS][at & (CHUNK - 1)]
    }
}
