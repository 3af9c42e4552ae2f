//! What all states share: names of actors, texts.
//!
//! Each table only grows, and a number in it means the same for as long as the program is looked at. Which number
//! something gets depends on who comes first, so nothing that can be seen may depend on the numbers themselves.

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

/// An actor, by how it came to be: see [`Actors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct ActorId(pub(crate) u32);

/// The actor that runs the program's top level.
pub(crate) const MAIN: ActorId = ActorId(0);

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct TextId(pub(crate) u32);

/// A table of things that are equal only to themselves.
pub(crate) struct Interned<T> {
    all: boxcar::Vec<T>,
    index: Mutex<HashTable<u32>>,
    /// What the things have beside their own size.
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

    /// The number of `one`, which is there already or gets the next one. It has so many bytes beside its own size.
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

    /// The memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let index = self
            .index
            .lock()
            .expect("nothing panics while it holds this")
            .allocation_size();
        index + self.all.count() * size_of::<(T, bool)>() + self.owned_bytes.load(Relaxed)
    }
}

/// The texts.
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

/// The actors: each is the n-th child of its creator. That does not depend on what others do meanwhile, so independent
/// steps lead to equal states.
pub(crate) struct Actors(Interned<(u32, u32)>);

impl Actors {
    pub(crate) fn new() -> Actors {
        let actors = Actors(Interned::new());
        // Main is its own creator; no actor has so many children.
        let main = (MAIN.0, u32::MAX);
        actors.0.number(main, 0);
        actors
    }

    /// The actor's n-th child.
    pub(crate) fn child(&self, of: ActorId, n: u32) -> ActorId {
        let origin = (of.0, n);
        ActorId(self.0.number(origin, 0))
    }

    /// The creator, and the actor's number among its children.
    pub(crate) fn origin(&self, actor: ActorId) -> Option<(ActorId, u32)> {
        let &(creator, n) = self.0.get(actor.0);
        (actor != MAIN).then_some((ActorId(creator), n))
    }

    /// The order of states: creators before what they created, elder children first.
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
