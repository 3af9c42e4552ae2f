//! What things and activities are called, the same in all executions of an exploration.
//!
//! Neither an address nor who came first is a name: both depend on the schedule. An activity is the n-th child of its
//! parent. A thing is what some activity met in its n-th operation at that line of the program; once two activities have
//! met the same thing in one execution, both know it by the same number for good. Should a number turn out to be that of two
//! things, or a thing to have two numbers, because what an activity meets depends on what others did, then the numbers are
//! taken for the same from then on: whoever takes two things for one explores more than necessary, never less. For
//! the same reason two things that never were in the same execution are not taken to be different.

use std::{
    collections::BTreeMap,
    panic::Location,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

/// Executions are told apart by this, so that a thing that outlives one is not taken for what it was called there.
static EXECUTIONS: AtomicU32 = AtomicU32::new(AT_ONCE);
/// So many are counted together.
const AT_ONCE: u32 = 1 << 10;

/// A line of the program, which of the things it is that are met there in one operation, and where that thing was made: those
/// made at different lines are never the same.
#[derive(Clone, Copy)]
pub(super) struct Place {
    at: usize,
    made_at: &'static Location<'static>,
}

impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        self.at == other.at && std::ptr::eq(self.made_at, other.made_at)
    }
}

impl Place {
    pub(super) fn new(
        site: &'static Location<'static>,
        index: usize,
        made_at: &'static Location<'static>,
    ) -> Place {
        Place {
            at: std::ptr::from_ref(site).addr() ^ index << 48,
            made_at,
        }
    }

    /// As numbers, which mean the same in the children of this process.
    pub(super) fn code(self) -> [u64; 2] {
        [
            self.at as u64,
            std::ptr::from_ref(self.made_at).addr() as u64,
        ]
    }

    /// The one of such numbers.
    ///
    /// # Safety
    ///
    /// They are those of a place in this process, or in a child of it, made by `fork`.
    pub(super) unsafe fn from_code([at, made_at]: [u64; 2]) -> Place {
        Place {
            at: at as usize,
            // SAFETY: The caller's: whatever is static in a child is at the same address here.
            made_at: unsafe { &*(made_at as *const Location<'static>) },
        }
    }
}

/// The names of things.
#[derive(Default)]
pub(crate) struct Things {
    execution: u32,
    /// What each activity met in the n-th operation at a line, and which line that was.
    learned: Vec<Vec<Vec<(Place, u32)>>>,
    /// Where each was made.
    made_at: Vec<&'static Location<'static>>,
    /// Of which thing each is another name: itself, for most.
    same_as: Vec<u32>,
    /// With which others each was in one execution, a bit for each.
    met: Vec<Vec<u64>>,
    /// Those of this execution.
    here: Vec<u32>,
    is_here: Vec<u64>,
    has_aliases: bool,
    /// What was met since this was asked for, if somebody does.
    log: Option<Vec<Met>>,
}

/// A thing that was met: by whom, in which of its operations at that line, where; and its number, if it was known.
#[derive(Clone, Copy)]
pub(super) struct Met {
    pub(super) activity: u32,
    pub(super) operation: u32,
    pub(super) place: Place,
    pub(super) known: Option<u32>,
}

impl Things {
    /// Those that were met in this execution.
    pub(super) fn here(&self) -> &[u32] {
        &self.here
    }

    /// Another execution begins.
    pub(super) fn begin(&mut self) {
        // Of the first of them, which may be 0, nothing is called.
        if self.execution == 0 || self.execution % AT_ONCE == AT_ONCE - 1 {
            self.execution = EXECUTIONS.fetch_add(AT_ONCE, Relaxed);
        }
        self.execution += 1;
        self.here.clear();
        self.is_here.fill(0);
    }

    /// The number of a thing, whose name is kept in `cell`, that is met like this.
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

    /// The number of a thing that is met, in this execution or in the process of which this one knows.
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

    /// What was met since the last time.
    pub(super) fn take_log(&mut self) -> Vec<Met> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The one of a thing that is known already.
    #[inline]
    pub(super) fn known(&self, cell: &AtomicU64) -> Option<u32> {
        let kept = cell.load(Relaxed);
        ((kept >> 32) as u32 == self.execution).then_some(kept as u32)
    }

    fn place(&mut self, activity: u32, operation: u32) -> &mut Vec<(Place, u32)> {
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
    fn learn(&mut self, activity: u32, operation: u32, site: Place, number: u32) {
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
    fn name(&mut self, activity: u32, operation: u32, at: Place) -> u32 {
        self.place(activity, operation);
        let place = &self.learned[activity as usize][operation as usize];
        let known = || place.iter().filter(|(site, _)| *site == at);
        let known = || known().map(|&(_, number)| number);
        // The first that nobody has: the same whenever the same has happened before.
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

    /// It is in this execution.
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

    /// The number by which a thing goes.
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

    /// Whether two numbers may be those of one thing.
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

impl Things {
    /// How many there are in all.
    pub(super) fn count(&self) -> u32 {
        self.made_at.len() as u32
    }

    /// Where a thing was made.
    pub(super) fn made_at(&self, number: u32) -> &'static Location<'static> {
        self.made_at[number as usize]
    }

    /// One of these, which were made at the same place as this one, that is the same as far as people are concerned: they never met
    /// in one execution.
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

    /// Who meets each thing, and in which of its operations: the least of them, activities being in the order of `rank`.
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
    /// Of each one, its children's: threads, light ones, and threads that the program has made without us.
    numbers: Vec<[Vec<Option<u32>>; 3]>,
    /// Parent and index of each; of the first, itself.
    members: Vec<(u32, u32)>,
    /// Who was asked for since this was, if somebody does.
    log: Option<Vec<(u32, u32)>>,
    /// What those are called that the program has made without us, by number, once they are known.
    foreign: BTreeMap<u32, String>,
}

impl Families {
    /// The first one, from which all others come.
    pub(super) const MAIN: u32 = 0;

    /// In an index: that it counts light ones, which are counted by themselves.
    pub(super) const LIGHT: u32 = 1 << 31;

    /// The same for threads that the program has made without us.
    pub(super) const FOREIGN: u32 = 1 << 30;

    /// As which an index counts.
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

    /// A thread that the program has made without us has this name, as far as the system knows. Others of it may have had it
    /// before.
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

    /// If the calling thread, which runs this one, was made by the program without us, it is called what it is called there.
    #[inline]
    pub(super) fn meet_foreign(&mut self, number: u32) {
        if self.is_foreign(number) {
            let thread = std::thread::current();
            self.call_foreign(number, thread.name().unwrap_or_default());
        }
    }

    /// Whether it is such a thread.
    #[inline]
    fn is_foreign(&self, number: u32) -> bool {
        let member = self.members.get(number as usize);
        member.is_some_and(|(_, index)| Self::kind_of(*index) == 2)
    }

    /// Another process has called it that.
    pub(super) fn know_foreign(&mut self, number: u32, name: &str) {
        self.foreign.insert(number, name.to_owned());
    }

    /// What those are called that are known.
    pub(super) fn foreign(&self) -> impl ExactSizeIterator<Item = (u32, &str)> {
        self.foreign.iter().map(|(number, name)| (*number, &**name))
    }

    /// The n-th child of this one.
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

    /// Who was asked for since the last time.
    pub(super) fn take_log(&mut self) -> Vec<(u32, u32)> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Where it comes in the order of the family tree.
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

    /// Its place in the family tree, as in `main.2.0`.
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

    /// Whose place this is, if anybody's so far.
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
