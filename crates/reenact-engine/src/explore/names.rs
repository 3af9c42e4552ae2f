//! Names of objects and activities that are the same in all executions of an exploration.
//!
//! Neither an address nor the order of arrival can be a name: both depend on the schedule. An activity is the n-th
//! child of its parent. An object is what some activity accessed in its n-th operation at a source location; once two
//! activities have accessed the same object in one execution, both know it by the same number from then on. If a number
//! turns out to belong to two objects, or an object to have two numbers, because what an activity accesses depends on
//! what others did, the numbers are treated as the same from then on: treating two objects as one explores more than
//! necessary, never less. For the same reason, two objects that were never in the same execution are not assumed to be
//! different.

use std::{
    collections::BTreeMap,
    panic::Location,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use serde::{Deserialize, Serialize};

use super::process::address;
use crate::loom::AtomicU64;

/// Distinguishes executions, so that the number of an object that outlives an execution is not used in another one.
static EXECUTIONS: AtomicU32 = AtomicU32::new(AT_ONCE);
/// Number of executions that are reserved at once.
const AT_ONCE: u32 = 1 << 10;

/// A source location, the index of the object among those accessed there in one operation, and where the object was
/// created. Objects created at different locations are never the same.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct ObjectSite {
    at: usize,
    #[serde(with = "address")]
    made_at: &'static Location<'static>,
}

impl PartialEq for ObjectSite {
    fn eq(&self, other: &ObjectSite) -> bool {
        self.at == other.at && std::ptr::eq(self.made_at, other.made_at)
    }
}

impl ObjectSite {
    pub(super) fn new(
        site: &'static Location<'static>,
        index: usize,
        made_at: &'static Location<'static>,
    ) -> ObjectSite {
        ObjectSite {
            at: std::ptr::from_ref(site).addr() ^ index << 48,
            made_at,
        }
    }
}

/// The names of objects.
#[derive(Default)]
pub(crate) struct ObjectTable {
    execution: u32,
    /// For each activity and n: the objects that it accessed in the n-th operation at a location, with the location.
    learned: Vec<Vec<Vec<(ObjectSite, u32)>>>,
    /// Where each object was created.
    made_at: Vec<&'static Location<'static>>,
    /// For each number, another number of the same object: itself, for most.
    same_as: Vec<u32>,
    /// For each object, the others that were in the same execution, as a bit set.
    met: Vec<Vec<u64>>,
    /// The objects of this execution.
    here: Vec<u32>,
    is_here: Vec<u64>,
    has_aliases: bool,
    /// The accesses since the last call of `take_log`, if a log is kept.
    log: Option<Vec<Met>>,
}

/// An access of an object: the activity, the number of its operation at that location, the location, and the object's
/// number, if it was known.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Met {
    pub(super) activity: u32,
    pub(super) operation: u32,
    pub(super) place: ObjectSite,
    pub(super) known: Option<u32>,
}

impl ObjectTable {
    /// Returns the objects that were accessed in this execution.
    pub(super) fn here(&self) -> &[u32] {
        &self.here
    }

    /// Begins another execution.
    pub(super) fn begin(&mut self) {
        // The first number of each reserved range, which may be 0, is not used.
        if self.execution == 0 || self.execution % AT_ONCE == AT_ONCE - 1 {
            self.execution = EXECUTIONS.fetch_add(AT_ONCE, Relaxed);
        }
        self.execution += 1;
        self.here.clear();
        self.is_here.fill(0);
    }

    /// Returns the number of an object that is accessed in this way and whose name is kept in `cell`.
    pub(super) fn number(&mut self, cell: &AtomicU64, met: Met) -> u32 {
        if let Some(log) = &mut self.log {
            log.push(met);
        }
        let number = self.meet_again(&met);
        if met.known.is_none() {
            cell.store(u64::from(self.execution) << 32 | u64::from(number), Relaxed);
        }
        number
    }

    /// Returns the number of an object that is accessed in this execution, or in a child process that reports the
    /// access.
    #[inline]
    pub(super) fn meet_again(&mut self, met: &Met) -> u32 {
        match met.known {
            Some(number) => {
                self.learn(met.activity, met.operation, met.place, number);
                number
            }
            None => self.name(met.activity, met.operation, met.place),
        }
    }

    /// Keeps a log from now on.
    pub(super) fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Returns the accesses since the last call.
    pub(super) fn take_log(&mut self) -> Vec<Met> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the number of an object that is already known in this execution.
    #[inline]
    pub(super) fn known(&self, cell: &AtomicU64) -> Option<u32> {
        let kept = cell.load(Relaxed);
        ((kept >> 32) as u32 == self.execution).then_some(kept as u32)
    }

    fn place(&mut self, activity: u32, operation: u32) -> &mut Vec<(ObjectSite, u32)> {
        let (activity, operation) = (activity as usize, operation as usize);
        if self.learned.len() <= activity {
            self.learned.resize_with(activity + 1, Vec::new);
        }
        let operations = &mut self.learned[activity];
        if operations.len() <= operation {
            operations.resize_with(operation + 1, Vec::new);
        }
        &mut operations[operation]
    }

    #[inline]
    fn learn(&mut self, activity: u32, operation: u32, site: ObjectSite, number: u32) {
        let place = self.place(activity, operation);
        if place.first() == Some(&(site, number)) {
            return;
        }
        let mut known = place.iter().filter(|(at, _)| *at == site);
        let Some(&(_, first)) = known.next() else {
            place.push((site, number));
            return;
        };
        if first != number && known.all(|(_, known)| *known != number) {
            place.push((site, number));
            self.unite(first, number);
        }
    }

    #[cold]
    fn name(&mut self, activity: u32, operation: u32, at: ObjectSite) -> u32 {
        self.place(activity, operation);
        let place = &self.learned[activity as usize][operation as usize];
        let known = || place.iter().filter(|(site, _)| *site == at);
        let known = || known().map(|&(_, number)| number);
        // The first number that is not used in this execution: the same whenever the same has happened before.
        let free = known().find(|&number| !self.is_here(number));
        let first = known().next();
        let number = free.unwrap_or_else(|| {
            let number = self.same_as.len() as u32;
            self.same_as.push(number);
            self.met.push(Vec::new());
            self.made_at.push(at.made_at);
            self.place(activity, operation).push((at, number));
            if let Some(first) = first {
                self.unite(first, number);
            }
            number
        });
        self.comes(number);
        number
    }

    fn is_here(&self, number: u32) -> bool {
        has(&self.is_here, number)
    }

    /// Adds the object to this execution.
    fn comes(&mut self, number: u32) {
        if !has_all(&self.met[number as usize], &self.is_here) {
            for &other in &self.here {
                set(&mut self.met[number as usize], other);
                set(&mut self.met[other as usize], number);
            }
        }
        set(&mut self.is_here, number);
        self.here.push(number);
    }

    /// Returns the representative of a number.
    fn root(&self, number: u32) -> u32 {
        let mut number = number;
        while self.same_as[number as usize] != number {
            number = self.same_as[number as usize];
        }
        number
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.same_as[a.max(b) as usize] = a.min(b);
            self.has_aliases = true;
        }
    }

    /// Returns whether two numbers may belong to one object.
    #[inline]
    pub(super) fn may_be_same(&self, a: u32, b: u32) -> bool {
        a == b
            || a != super::event::NOTHING
                && b != super::event::NOTHING
                && std::ptr::eq(self.made_at[a as usize], self.made_at[b as usize])
                && (!has(&self.met[a as usize], b)
                    || self.has_aliases && self.root(a) == self.root(b))
    }
}

impl ObjectTable {
    /// Returns the number of objects.
    pub(super) fn count(&self) -> u32 {
        self.made_at.len() as u32
    }

    /// Returns where an object was created.
    pub(super) fn made_at(&self, number: u32) -> &'static Location<'static> {
        self.made_at[number as usize]
    }

    /// Returns an object of `among`, which were created at the same location as this one, that has the same name for
    /// display: the two were never in the same execution, or are known to be the same.
    pub(super) fn called_alike(&self, number: u32, among: &[u64]) -> Option<u32> {
        let met = &self.met[number as usize];
        let never_met = among.iter().enumerate().find_map(|(index, word)| {
            let left = word & !met.get(index).copied().unwrap_or(0);
            (left != 0).then(|| index as u32 * 64 + left.trailing_zeros())
        });
        let alias = || {
            let mut all = (0..self.count()).filter(|&other| has(among, other));
            all.find(|&other| self.root(other) == self.root(number))
        };
        never_met.or_else(|| self.has_aliases.then(alias).flatten())
    }

    /// Returns the least user of each object, in the order of `rank`, and the number of its operation.
    pub(super) fn least_users<K: Ord>(&self, rank: impl Fn(u32) -> K) -> Vec<Option<(K, usize)>> {
        let mut least: Vec<Option<(K, usize)>> = Vec::new();
        least.resize_with(self.made_at.len(), || None);
        for (activity, operations) in (0..).zip(&self.learned) {
            for (operation, met) in operations.iter().enumerate() {
                for &(_, number) in met {
                    let user = (rank(activity), operation);
                    let least = &mut least[number as usize];
                    if least.as_ref().is_none_or(|least| user < *least) {
                        *least = Some(user);
                    }
                }
            }
        }
        least
    }
}

fn has(bits: &[u64], number: u32) -> bool {
    let word = bits.get(number as usize / 64).copied().unwrap_or(0);
    word >> (number % 64) & 1 != 0
}

fn has_all(bits: &[u64], wanted: &[u64]) -> bool {
    let mut words = wanted.iter().enumerate();
    words.all(|(index, wanted)| wanted & !bits.get(index).copied().unwrap_or(0) == 0)
}

pub(super) fn set(bits: &mut Vec<u64>, number: u32) {
    let index = number as usize / 64;
    if bits.len() <= index {
        bits.resize(index + 1, 0);
    }
    bits[index] |= 1 << (number % 64);
}

/// The numbers of activities.
#[derive(Default)]
pub(crate) struct Families {
    /// For each activity, the numbers of its children: threads, light activities, and threads that the program created
    /// without Reenact.
    numbers: Vec<[Vec<Option<u32>>; 3]>,
    /// The parent and index of each activity; of the main one, itself.
    members: Vec<(u32, u32)>,
    /// The children that were requested since the last call of `take_log`, if a log is kept.
    log: Option<Vec<(u32, u32)>>,
    /// The names of foreign threads, which the program created without Reenact, by number, once they are known.
    foreign: BTreeMap<u32, String>,
}

impl Families {
    /// The main activity, the ancestor of all others.
    pub(super) const MAIN: u32 = 0;

    /// Flag in an index: it counts light activities, which are counted separately.
    pub(super) const LIGHT: u32 = 1 << 31;

    /// Flag in an index: it counts threads that the program created without Reenact.
    pub(super) const FOREIGN: u32 = 1 << 30;

    /// Returns the kind of children that an index counts.
    pub(super) fn kind_of(index: u32) -> usize {
        match index & (Self::LIGHT | Self::FOREIGN) {
            0 => 0,
            Self::FOREIGN => 2,
            _ => 1,
        }
    }

    fn place_of(index: u32) -> usize {
        (index & !(Self::LIGHT | Self::FOREIGN)) as usize
    }

    /// Names a foreign thread after its OS thread name. The name is made unique if another thread already has it.
    fn call_foreign(&mut self, number: u32, name: &str) {
        if self.foreign.contains_key(&number) {
            return;
        }
        let mut names = (0..).map(|index| reenact_trace::foreign_name(index, name));
        let is_free = |called: &String| self.foreign.values().all(|other| other != called);
        if let Some(called) = names.find(is_free) {
            self.foreign.insert(number, called);
        }
    }

    /// Names an activity after the calling thread, which runs it, if it is a foreign thread.
    #[inline]
    pub(super) fn meet_foreign(&mut self, number: u32) {
        if self.is_foreign(number) {
            let thread = std::thread::current();
            self.call_foreign(number, thread.name().unwrap_or_default());
        }
    }

    /// Returns whether it is a foreign thread.
    #[inline]
    pub(super) fn is_foreign(&self, number: u32) -> bool {
        let member = self.members.get(number as usize);
        member.is_some_and(|(_, index)| Self::kind_of(*index) == 2)
    }

    /// Sets the name that another process has given a foreign thread.
    pub(super) fn know_foreign(&mut self, number: u32, name: &str) {
        self.foreign.insert(number, name.to_owned());
    }

    /// Returns the names of the foreign threads that are known.
    pub(super) fn foreign(&self) -> impl ExactSizeIterator<Item = (u32, &str)> {
        self.foreign.iter().map(|(number, name)| (*number, &**name))
    }

    /// Returns the number of the n-th child of `parent`.
    pub(super) fn child(&mut self, parent: u32, index: u32) -> u32 {
        if self.members.is_empty() {
            self.members.push((Self::MAIN, 0));
        }
        if let Some(log) = &mut self.log {
            log.push((parent, index));
        }
        let known = self.known(parent, index);
        known.unwrap_or_else(|| self.newborn(parent, index))
    }

    fn known(&self, parent: u32, index: u32) -> Option<u32> {
        let children = &self.numbers.get(parent as usize)?[Self::kind_of(index)];
        *children.get(Self::place_of(index))?
    }

    #[cold]
    fn newborn(&mut self, parent: u32, index: u32) -> u32 {
        let number = self.members.len() as u32;
        self.members.push((parent, index));
        if self.numbers.len() <= parent as usize {
            self.numbers
                .resize_with(parent as usize + 1, Default::default);
        }
        let children = &mut self.numbers[parent as usize][Self::kind_of(index)];
        let index = Self::place_of(index);
        if children.len() <= index {
            children.resize(index + 1, None);
        }
        children[index] = Some(number);
        number
    }

    /// Keeps a log from now on.
    pub(super) fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Returns the children that were requested since the last call.
    pub(super) fn take_log(&mut self) -> Vec<(u32, u32)> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns its position in the order of the family tree.
    pub(super) fn rank(&self, number: u32) -> Vec<u32> {
        match self.members.get(number as usize) {
            Some(&(parent, index)) if number != Self::MAIN => {
                let mut rank = self.rank(parent);
                rank.push(index);
                rank
            }
            _ => Vec::new(),
        }
    }

    /// Returns its place in the family tree, such as `main.2.0`.
    pub(super) fn name(&self, number: u32) -> String {
        match self.members.get(number as usize) {
            Some(&(parent, index)) if number != Self::MAIN => match Self::kind_of(index) {
                0 => format!("{}.{index}", self.name(parent)),
                1 => format!("{}.a{}", self.name(parent), Self::place_of(index)),
                _ => match self.foreign.get(&number) {
                    Some(name) => name.clone(),
                    None => "foreign".to_owned(),
                },
            },
            _ => "main".to_owned(),
        }
    }

    /// Returns the activity with this place, if it is known.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let foreign = self.foreign.iter().find_map(|(number, called)| {
            let rest = name.strip_prefix(&**called)?;
            (rest.is_empty() || rest.starts_with('.')).then_some((*number, rest))
        });
        let main = || Some((Self::MAIN, name.strip_prefix("main")?));
        let (first, rest) = foreign.or_else(main)?;
        let mut parts = rest.split('.');
        if parts.next() != Some("") {
            return None;
        }
        parts.try_fold(first, |parent, index| {
            let index = match index.strip_prefix('a') {
                Some(light) => light.parse::<u32>().ok()? | Self::LIGHT,
                None => index.parse().ok()?,
            };
            self.known(parent, index)
        })
    }
}
