//! Tables that all states share: actors and texts.
//!
//! A table only grows, and a number in it keeps its meaning as long as the program is explored. Which number an entry
//! gets depends on the order of insertion, so no visible result may depend on the numbers.

use std::{
    cmp::Ordering,
    hash::{BuildHasher, Hash},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

/// An actor, identified by its creation, see [`Actors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct ActorId(pub(crate) u32);

/// The actor that runs the program's top level.
pub(crate) const MAIN: ActorId = ActorId(0);

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct TextId(pub(crate) u32);

/// A table in which each value occurs once.
pub(crate) struct Interned<T> {
    all: boxcar::Vec<T>,
    index: Mutex<HashTable<u32>>,
    /// The memory of the values beyond their own size.
    owned_bytes: AtomicUsize,
    hasher: foldhash::fast::FixedState,
}

impl<T: Hash + Eq> Interned<T> {
    pub(crate) fn new() -> Interned<T> {
        Interned {
            all: boxcar::Vec::new(),
            index: Mutex::new(HashTable::new()),
            owned_bytes: AtomicUsize::new(0),
            hasher: foldhash::fast::FixedState::default(),
        }
    }

    /// Returns the number of `one`, after inserting it if necessary. `owned_bytes` is its memory beyond its own size.
    pub(crate) fn number(&self, one: T, owned_bytes: usize) -> u32 {
        let hash = self.hasher.hash_one(&one);
        let mut index = self
            .index
            .lock()
            .expect("nothing panics while it holds this");
        if let Some(&found) = index.find(hash, |&at| self.all[at as usize] == one) {
            return found;
        }
        self.owned_bytes.fetch_add(owned_bytes, Relaxed);
        let number = self.all.push(one) as u32;
        index.insert_unique(hash, number, |&at| {
            self.hasher.hash_one(&self.all[at as usize])
        });
        number
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        &self.all[number as usize]
    }

    pub(crate) fn for_each_mut(&mut self, mut change: impl FnMut(&mut T)) {
        for at in 0..self.all.count() {
            change(self.all.get_mut(at).expect("it is there"));
        }
    }

    /// Returns the memory of the table, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let index = self
            .index
            .lock()
            .expect("nothing panics while it holds this")
            .allocation_size();
        index + self.all.count() * size_of::<(T, bool)>() + self.owned_bytes.load(Relaxed)
    }
}

/// The table of texts.
pub(crate) struct Texts(Interned<Box<str>>);

impl Texts {
    pub(crate) fn new() -> Texts {
        Texts(Interned::new())
    }

    pub(crate) fn id(&self, text: &str) -> TextId {
        TextId(self.0.number(text.into(), text.len()))
    }

    pub(crate) fn get(&self, id: TextId) -> &str {
        self.0.get(id.0)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

/// The table of actors: each is the n-th child of its creator. That does not depend on concurrent steps of other
/// actors, so different orders of independent steps lead to equal states.
pub(crate) struct Actors(Interned<(u32, u32)>);

impl Actors {
    pub(crate) fn new() -> Actors {
        let actors = Actors(Interned::new());
        // Main is its own creator, as a child with a number that no other actor has.
        let main = (MAIN.0, u32::MAX);
        actors.0.number(main, 0);
        actors
    }

    /// Returns the n-th child of an actor.
    pub(crate) fn child(&self, of: ActorId, n: u32) -> ActorId {
        let origin = (of.0, n);
        ActorId(self.0.number(origin, 0))
    }

    /// Returns the creator of an actor, and the actor's number among its children.
    pub(crate) fn origin(&self, actor: ActorId) -> Option<(ActorId, u32)> {
        let &(creator, n) = self.0.get(actor.0);
        (actor != MAIN).then_some((ActorId(creator), n))
    }

    /// The order of actors in a state: creators before the actors that they created, older children first.
    pub(crate) fn order(&self, a: ActorId, b: ActorId) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        self.path(a).cmp(&self.path(b))
    }

    fn path(&self, mut actor: ActorId) -> Vec<u32> {
        let mut path = Vec::new();
        while let Some((creator, n)) = self.origin(actor) {
            path.push(n);
            actor = creator;
        }
        path.reverse();
        path
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}
