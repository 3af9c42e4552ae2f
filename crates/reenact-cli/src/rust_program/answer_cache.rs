//! A cache of what is known about universes, and the names of objects.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    answer::Answer,
    universe::{Choice, Universe},
};

/// Minimum number of universes to remember.
const REMEMBERED: usize = 20_000;

/// What is known so far.
#[derive(Default)]
pub(super) struct AnswerCache {
    answer: RecentMap<u128, Arc<Answer>>,
    /// The fingerprint of the universe that a step leads to.
    after: RecentMap<(u128, Choice), u128>,
    names: Arc<Mutex<Names>>,
}

/// An answer, with the names of its objects.
#[derive(Clone)]
pub(super) struct NamedAnswer {
    pub(super) answer: Arc<Answer>,
    names: Arc<Mutex<Names>>,
}

impl NamedAnswer {
    /// Returns the name of an object, as the user sees it.
    pub(super) fn name(&self, object: u32) -> String {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        match names.known.get(&object) {
            Some(name) => name.clone(),
            None => format!("object-{object}"),
        }
    }
}

impl AnswerCache {
    /// Returns the answer for a universe, if it is remembered.
    pub(super) fn of(&mut self, universe: &Universe) -> Option<NamedAnswer> {
        let answer = self.answer.get(&universe.fingerprint())?;
        Some(self.seen(answer))
    }

    /// Returns the fingerprint after a step, if it is remembered.
    pub(super) fn after(&mut self, universe: &Universe, step: &Choice) -> Option<u128> {
        self.after.get(&(universe.fingerprint(), *step))
    }

    /// Remembers the answer for a universe.
    pub(super) fn learn(&mut self, universe: &Universe, answer: Answer) -> NamedAnswer {
        self.names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .learn(&answer);
        let answer = Arc::new(answer);
        self.answer.put(universe.fingerprint(), Arc::clone(&answer));
        self.seen(answer)
    }

    /// Sets the file that line numbers refer to.
    pub(super) fn set_file(&mut self, file: &str) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.file = file.to_owned();
        names.known.clear();
    }

    /// Forgets where steps lead, because what is a step has changed.
    pub(super) fn forget_steps(&mut self) {
        self.after = RecentMap::default();
    }

    /// Remembers where a step leads.
    pub(super) fn follows(&mut self, before: &Universe, step: &Choice, fingerprint: u128) {
        let from = (before.fingerprint(), *step);
        self.after.put(from, fingerprint);
    }

    fn seen(&self, answer: Arc<Answer>) -> NamedAnswer {
        NamedAnswer {
            answer,
            names: Arc::clone(&self.names),
        }
    }
}

/// A map of two generations. When the young one is full it becomes the old one, and the entries of the previous old one
/// that have not been used since are dropped.
struct RecentMap<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K, V> Default for RecentMap<K, V> {
    fn default() -> Self {
        RecentMap {
            young: HashMap::new(),
            old: HashMap::new(),
        }
    }
}

impl<K: Hash + Eq + Copy, V: Clone> RecentMap<K, V> {
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

/// The names of objects, by number.
#[derive(Default)]
struct Names {
    known: HashMap<u32, String>,
    /// The file that line numbers refer to.
    file: String,
}

impl Names {
    fn learn(&mut self, answer: &Answer) {
        for (object, name) in &answer.objects {
            self.known
                .entry(*object)
                .or_insert_with(|| name.within(&self.file));
        }
    }
}
