//! What a thread saw, in one number.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A digest of everything noted so far, in its order. The same in every run that notes the same.
#[derive(Clone, Default)]
pub(crate) struct Seen(DefaultHasher);

impl Seen {
    pub(crate) fn note(&mut self, what: impl Hash) {
        what.hash(&mut self.0);
    }

    pub(crate) fn digest(&self) -> u64 {
        self.0.finish()
    }
}
