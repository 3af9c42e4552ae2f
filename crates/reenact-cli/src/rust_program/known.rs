//! What was told of universes, kept for a while; and what things are called.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    told::Told,
    universe::{Choice, Universe},
};

/// So many universes are remembered at least.
const REMEMBERED: usize = 20_000;

/// What was told so far.
#[derive(Default)]
pub(super) struct Knowledge {
    told: Recent<u128, Arc<Told>>,
    /// Where steps lead: the fingerprint that was told.
    after: Recent<(u128, Choice), u128>,
    names: Arc<Mutex<Names>>,
}

/// A universe, with what its things are called.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) told: Arc<Told>,
    names: Arc<Mutex<Names>>,
}

impl Seen {
    /// What people call a thing.
    pub(super) fn name(&self, thing: u32) -> String {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        match names.known.get(&thing) {
            Some(name) => name.clone(),
            None => format!("object-{thing}"),
        }
    }
}

impl Knowledge {
    /// What was told of a universe, if it is remembered.
    pub(super) fn of(&mut self, universe: &Universe) -> Option<Seen> {
        let told = self.told.get(&universe.fingerprint())?;
        Some(self.seen(told))
    }

    /// Where a step leads, if that is remembered.
    pub(super) fn after(&mut self, universe: &Universe, step: &Choice) -> Option<u128> {
        self.after.get(&(universe.fingerprint(), *step))
    }

    /// This was told of a universe.
    pub(super) fn learn(&mut self, universe: &Universe, told: Told) -> Seen {
        self.names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .learn(&told);
        let told = Arc::new(told);
        self.told.put(universe.fingerprint(), Arc::clone(&told));
        self.seen(told)
    }

    /// Lines are those of this file from now on.
    pub(super) fn set_file(&mut self, file: &str) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.file = file.to_owned();
        names.known.clear();
    }

    /// Steps may lead elsewhere from now on.
    pub(super) fn forget_steps(&mut self) {
        self.after = Recent::default();
    }

    /// A step leads from one to the other.
    pub(super) fn follows(&mut self, before: &Universe, step: &Choice, fingerprint: u128) {
        let from = (before.fingerprint(), *step);
        self.after.put(from, fingerprint);
    }

    fn seen(&self, told: Arc<Told>) -> Seen {
        Seen {
            told,
            names: Arc::clone(&self.names),
        }
    }
}

/// A map that forgets what was not asked for since it was half full.
struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent {
            young: HashMap::new(),
            old: HashMap::new(),
        }
    }
}

impl<K: Hash + Eq + Copy, V: Clone> Recent<K, V> {
    fn get(&mut self, key: &K) -> Option<V> {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let value = self.old.remove(key)?;
        self.put(*key, value.clone());
        Some(value)
    }

    fn put(&mut self, key: K, value: V) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

/// What things are called, by number.
#[derive(Default)]
struct Names {
    known: HashMap<u32, String>,
    /// The file of which people say the lines.
    file: String,
}

impl Names {
    fn learn(&mut self, told: &Told) {
        for (thing, object) in &told.objects {
            self.known
                .entry(*thing)
                .or_insert_with(|| object.within(&self.file));
        }
    }
}
