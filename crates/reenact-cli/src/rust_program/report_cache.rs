//! A cache of what is known about universes, and the names of objects.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use reenact_engine::explore::protocol::{Reply, UniverseReport};

use super::universe::{Choice, Universe};

/// Minimum number of universes to remember.
const REMEMBERED: usize = 20_000;

/// What is known so far.
#[derive(Default)]
pub(super) struct ReportCache {
    reports: RecentMap<u128, NamedReport>,
    /// The fingerprint of the universe that a step leads to.
    after: RecentMap<(u128, Choice), u128>,
    names: Arc<Mutex<Names>>,
}

/// What the program reports about a universe, with the names of its objects.
#[derive(Clone)]
pub(super) struct NamedReport {
    /// Empty if there is an error.
    pub(super) report: Arc<UniverseReport>,
    /// Why there is no report.
    pub(super) error: Option<String>,
    names: Arc<Mutex<Names>>,
}

impl NamedReport {
    /// Returns the name of an object, as the user sees it.
    pub(super) fn name(&self, object: u32) -> String {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        match names.known.get(&object) {
            Some(name) => name.clone(),
            None => format!("object-{object}"),
        }
    }
}

impl ReportCache {
    /// Returns the report of a universe, if it is remembered.
    pub(super) fn of(&mut self, universe: &Universe) -> Option<NamedReport> {
        self.reports.get(&universe.fingerprint())
    }

    /// Returns the fingerprint after a step, if it is remembered.
    pub(super) fn after(&mut self, universe: &Universe, step: &Choice) -> Option<u128> {
        self.after.get(&(universe.fingerprint(), *step))
    }

    /// Remembers the reply to the request for a universe.
    pub(super) fn learn(&mut self, universe: &Universe, reply: Reply) -> NamedReport {
        let (report, error) = match reply {
            Ok(report) => (report, None),
            Err(error) => (UniverseReport::default(), Some(error)),
        };
        self.names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .learn(&report);
        let seen = NamedReport {
            report: Arc::new(report),
            error,
            names: Arc::clone(&self.names),
        };
        self.reports.put(universe.fingerprint(), seen.clone());
        seen
    }

    /// Sets the file that line numbers refer to.
    pub(super) fn set_file(&mut self, file: &str) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.file = file.to_owned();
        names.known.clear();
    }

    /// Forgets where steps lead, because the granularity has changed.
    pub(super) fn forget_steps(&mut self) {
        self.after = RecentMap::default();
    }

    /// Remembers where a step leads.
    pub(super) fn follows(&mut self, before: &Universe, step: &Choice, fingerprint: u128) {
        let from = (before.fingerprint(), *step);
        self.after.put(from, fingerprint);
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
    fn learn(&mut self, report: &UniverseReport) {
        for (object, name) in &report.objects {
            self.known
                .entry(*object)
                .or_insert_with(|| name.within(&self.file));
        }
    }
}
