//! Expands a stretch of a level with all workers, with the same result as a sequential loop.
//!
//! 1. The workers take batches of the stretch, compute the successors of their states, and look them up. Most of them
//!    are known, or were found before in the same batch; the others are *new states*.
//! 2. One worker goes through all results in order. The first of equal new states gets a number, whichever worker found it.
//! 3. Each worker owns some shards of the index, inserts the new numbers that belong there, and drops duplicates.
//!
//! The second phase is short, since everything it touches is new and close in memory. No phase can fail half-way: a
//! block that could reach a bound is left to the sequential loop.

use std::{
    mem,
    ops::Range,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use super::{
    Bound, Until,
    driver::{NextSteps, SearchDriver, next_steps},
    worker_pool::{RunningPool, Work},
};
use crate::{
    Semantics,
    graph::{
        index::{Shard, StateHash},
        store::{MOST_STATES, NONE, Origin, StateStatus, StateStore},
    },
};

/// The outcome of a state: the number of its successors, or one of these.
const STOPPED: u32 = u32::MAX;
const CUT: u32 = u32::MAX - 1;

/// Some of the states of a block, and their successors.
struct Batch<T> {
    number: usize,
    /// For each state.
    outcomes: Vec<u32>,
    /// For each step: where it leads. This is a known state or, with [`NEW`], one of the new states.
    targets: Vec<u32>,
    new_states: Vec<NewState<T>>,
    /// The new states, by hash.
    index: Shard,
}

/// Distinguishes positions of new states from numbers of states.
const NEW: u32 = 1 << 31;

/// A state that was not known before the block.
struct NewState<T> {
    /// Taken out if this one gets a number.
    state: Option<T>,
    hash: StateHash,
    /// Its number, once assigned.
    id: u32,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Batch {
            number: 0,
            outcomes: Vec::new(),
            targets: Vec::new(),
            new_states: Vec::new(),
            index: Shard::default(),
        }
    }
}

impl<T> Batch<T> {
    fn clear(&mut self) {
        self.outcomes.clear();
        self.targets.clear();
        self.new_states.clear();
        self.index.clear();
    }

    fn bytes(&self) -> usize {
        let numbers = self.outcomes.capacity() + self.targets.capacity();
        self.new_states.capacity() * size_of::<NewState<T>>()
            + numbers * size_of::<u32>()
            + self.index.bytes()
    }
}

/// The data of one worker.
pub(super) struct WorkerData<T> {
    batches: Vec<Batch<T>>,
    /// Batches of earlier blocks, kept to reuse their memory.
    spare: Vec<Batch<T>>,
    shards: Vec<Shard>,
}

impl<T> Default for WorkerData<T> {
    fn default() -> Self {
        WorkerData {
            batches: Vec::new(),
            spare: Vec::new(),
            shards: Vec::new(),
        }
    }
}

/// A task that the workers perform together.
pub(super) enum Phase<'a, S: Semantics> {
    /// The first phase.
    Expand(Box<Expand<'a, S>>),
    /// The third phase: the new states, the number of shards, and the number of shards per worker.
    AddToIndex {
        new: Vec<(StateHash, u32)>,
        count: usize,
        each: usize,
    },
}

impl<S: Semantics> Work for Phase<'_, S> {
    type WorkerData = WorkerData<S::State>;

    fn work(&self, number: usize, slot: &mut Self::WorkerData) {
        match self {
            Phase::Expand(make) => make.work(slot),
            Phase::AddToIndex { new, count, each } => {
                for &(hash, id) in new {
                    let shard = hash.shard(*count).wrapping_sub(number * each);
                    if let Some(shard) = slot.shards.get_mut(shard) {
                        shard.add(hash, id);
                    }
                }
                for mut batch in slot.batches.drain(..) {
                    batch.clear();
                    slot.spare.push(batch);
                }
            }
        }
    }
}

/// The first phase.
pub(super) struct Expand<'a, S: Semantics> {
    semantics: &'a S,
    until: Option<&'a Until<'a, S>>,
    store: StateStore<S::State>,
    stretch: Range<usize>,
    batch_len: usize,
    is_cut: bool,
    /// The limits on bytes: for all finished batches, and for one unfinished batch.
    budgets: (usize, usize),
    next: AtomicUsize,
    bytes: AtomicUsize,
    is_too_much: AtomicBool,
}

impl<S: Semantics> Expand<'_, S> {
    fn work(&self, slot: &mut WorkerData<S::State>) {
        while !self.is_too_much.load(Relaxed) {
            let number = self.next.fetch_add(1, Relaxed);
            let start = self.stretch.start + number * self.batch_len;
            if start >= self.stretch.end {
                return;
            }
            let mut batch = slot.spare.pop().unwrap_or_default();
            batch.number = number;
            let mut owned = 0;
            for id in start..self.stretch.end.min(start + self.batch_len) {
                owned += self.add(id as u32, &mut batch);
                // While a vector grows, the old allocation still exists.
                if owned + 2 * batch.bytes() > self.budgets.1 {
                    return self.is_too_much.store(true, Relaxed);
                }
            }
            let bytes = owned + 2 * batch.bytes();
            if self.bytes.fetch_add(bytes, Relaxed) + bytes > self.budgets.0 {
                self.is_too_much.store(true, Relaxed);
            }
            slot.batches.push(batch);
        }
    }

    /// Adds a state to a batch. Returns the bytes that its new states own.
    fn add(&self, id: u32, batch: &mut Batch<S::State>) -> usize {
        let state = self.store.state(id);
        let mut owned = 0;
        let outcome = match next_steps(self.semantics, self.until, state) {
            NextSteps::Stop => STOPPED,
            NextSteps::End => 0,
            NextSteps::Steps(_) if self.is_cut => CUT,
            NextSteps::Steps(steps) => {
                for step in &steps {
                    let next = self.semantics.take(state, step);
                    let hash = StateHash::of(&next);
                    let target = self.store.find(hash, &next).unwrap_or_else(|| {
                        let new_states = &batch.new_states;
                        let is_equal =
                            |at: u32| new_states[at as usize].state.as_ref() == Some(&next);
                        let found = batch.index.find(hash, is_equal);
                        NEW | found.unwrap_or_else(|| {
                            owned += self.semantics.state_bytes(&next);
                            let at = batch.new_states.len() as u32;
                            batch.index.add(hash, at);
                            batch.new_states.push(NewState {
                                state: Some(next),
                                hash,
                                id: NONE,
                            });
                            at
                        })
                    });
                    batch.targets.push(target);
                }
                steps.len() as u32
            }
        };
        batch.outcomes.push(outcome);
        owned
    }
}

/// The working memory of the second phase, reused by the next block.
#[derive(Default)]
pub(super) struct Numbering {
    /// The new states of this block.
    new: Vec<(StateHash, u32)>,
    /// The same, by hash.
    index: Shard,
}

impl Numbering {
    /// The number of a new state. Assigns one if no equal state has a number yet.
    fn number<S: Semantics>(
        &mut self,
        driver: &mut SearchDriver<'_, S>,
        new: &mut NewState<S::State>,
        origin: Origin,
    ) -> u32 {
        let state = &new.state;
        let is_equal = |id| state.as_ref() == Some(driver.store.state(id));
        if let Some(id) = self.index.find(new.hash, is_equal) {
            return id;
        }
        let Some(state) = new.state.take() else {
            unreachable!("a state is there until it gets a number");
        };
        let owned = driver.semantics.state_bytes(&state);
        driver.note_state(owned);
        let id = driver.store.add_unindexed(state, origin, owned);
        self.index.add(new.hash, id);
        self.new.push((new.hash, id));
        id
    }
}

/// Expands a stretch of states at this depth. Returns whether that was possible.
pub(super) fn expand<'a, S: Semantics>(
    driver: &mut SearchDriver<'a, S>,
    pool: &RunningPool<'_, Phase<'a, S>>,
    recent: &mut Numbering,
    stretch: Range<usize>,
    depth: u32,
) -> bool {
    let is_cut = driver.bounds.depth.is_some_and(|bound| depth >= bound);
    let Some((mut batches, bytes)) = make(driver, pool, stretch.clone(), is_cut) else {
        return false;
    };
    if !has_room(driver, &batches, bytes) {
        return false;
    }
    number(driver, &mut batches, recent, stretch.start as u32);
    put_in(driver, pool, batches, recent);
    if is_cut && let Some(bound) = driver.bounds.depth {
        let ids = stretch.start as u32..stretch.end as u32;
        let mut marks = ids.map(|id| driver.store.mark(id));
        if marks.any(|mark| mark == StateStatus::Seen) {
            driver.met(Bound::Depth(bound));
        }
    }
    true
}

/// Frees the memory kept for the next block.
pub(super) fn forget<S: Semantics>(pool: &RunningPool<'_, Phase<'_, S>>) {
    for number in 0..pool.len() {
        *pool.slot(number) = WorkerData::default();
    }
}

/// The batches of a block in order, each with the number of the worker that made it.
type Batches<T> = Vec<(usize, Batch<T>)>;

/// The first phase. Returns the batches and their size in bytes, or `None` if they are too large.
fn make<'a, S: Semantics>(
    driver: &mut SearchDriver<'a, S>,
    pool: &RunningPool<'_, Phase<'a, S>>,
    stretch: Range<usize>,
    is_cut: bool,
) -> Option<(Batches<S::State>, usize)> {
    let free = driver.free_bytes();
    let make = Phase::Expand(Box::new(Expand {
        semantics: driver.semantics,
        until: driver.until,
        store: mem::take(&mut driver.store),
        batch_len: (stretch.len() / (pool.len() * 4)).max(8),
        stretch,
        is_cut,
        budgets: (free / 4, free / (8 * pool.len())),
        next: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        is_too_much: AtomicBool::new(false),
    }));
    let Phase::Expand(made) = pool.carry_out(make) else {
        unreachable!("a task remains what it is");
    };
    let made = *made;
    driver.store = made.store;
    let mut batches = Vec::new();
    for number in 0..pool.len() {
        let mut slot = pool.slot(number);
        batches.extend(slot.batches.drain(..).map(|batch| (number, batch)));
    }
    batches.sort_unstable_by_key(|(_, batch)| batch.number);
    (!made.is_too_much.into_inner()).then_some((batches, made.bytes.into_inner()))
}

/// Returns whether no bound can be reached even if all of them are new.
fn has_room<S: Semantics>(
    driver: &SearchDriver<'_, S>,
    batches: &Batches<S::State>,
    bytes: usize,
) -> bool {
    let edges = batches.iter().map(|(_, batch)| batch.targets.len()).sum();
    let new_states: usize = batches
        .iter()
        .map(|(_, batch)| batch.new_states.len())
        .sum();
    let states = driver.bounds.states.unwrap_or(usize::MAX);
    // The list of new states, which grows, and its index.
    let beside = new_states * (4 * size_of::<(StateHash, u32)>() + 48);
    let growth = driver.store.worst_growth(new_states, edges);
    driver.store.len() + new_states <= states.min(MOST_STATES)
        && edges < driver.store.free_edges()
        && driver.make_room(growth + beside + bytes).is_ok()
}

/// The second phase.
fn number<S: Semantics>(
    driver: &mut SearchDriver<'_, S>,
    batches: &mut Batches<S::State>,
    recent: &mut Numbering,
    first: u32,
) {
    recent.index.clear();
    let mut parent = first;
    for (_, batch) in batches {
        let mut targets = batch.targets.iter();
        for &outcome in &batch.outcomes {
            let mark = match outcome {
                STOPPED => StateStatus::Stopped,
                CUT => StateStatus::Seen,
                0 => StateStatus::End,
                _ => StateStatus::Expanded,
            };
            driver.store.set_mark(parent, mark);
            let steps = if mark == StateStatus::Expanded {
                outcome
            } else {
                0
            };
            driver.note_steps(steps as usize);
            for (step, &target) in (0..steps).zip(&mut targets) {
                let to = if target & NEW == 0 {
                    target
                } else {
                    let new = &mut batch.new_states[(target & !NEW) as usize];
                    if new.id == NONE {
                        new.id = recent.number(driver, new, Origin { parent, step });
                    }
                    new.id
                };
                driver.store.add_edge(step, to);
            }
            driver.store.end_run(parent);
            parent += 1;
        }
    }
}

/// The third phase.
fn put_in<'a, S: Semantics>(
    driver: &mut SearchDriver<'a, S>,
    pool: &RunningPool<'_, Phase<'a, S>>,
    batches: Batches<S::State>,
    recent: &mut Numbering,
) {
    for (number, batch) in batches {
        pool.slot(number).batches.push(batch);
    }
    let shards = driver.store.index_mut().shards_mut();
    let count = shards.len();
    let each = count.div_ceil(pool.len());
    for (number, group) in shards.chunks_mut(each).enumerate() {
        pool.slot(number)
            .shards
            .extend(group.iter_mut().map(mem::take));
    }
    let new = mem::take(&mut recent.new);
    if let Phase::AddToIndex { mut new, .. } =
        pool.carry_out(Phase::AddToIndex { new, count, each })
    {
        new.clear();
        recent.new = new;
    }
    for (number, group) in shards.chunks_mut(each).enumerate() {
        let mut slot = pool.slot(number);
        for (shard, lent) in group.iter_mut().zip(slot.shards.drain(..)) {
            *shard = lent;
        }
    }
    driver.store.index_mut().settle();
}
