//! Expands a stretch of a level with all workers, with the same result as a sequential loop.
//!
//! 1. The workers take pieces of the stretch, compute the successors of their states, and look them up. Most of them
//!    are known, or were found before in the same piece; the others are *finds*.
//! 2. One worker goes through all results in order. The first of equal finds gets a number, whichever worker found it.
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
    driver::{Outlook, SearchDriver, look},
    worker_pool::{Hired, Work},
};
use crate::{
    Semantics,
    graph::{
        index::{Shard, StateHash},
        store::{MOST_STATES, Mark, NONE, Origin, Store},
    },
};

/// The outcome of a state: the number of its successors, or one of these.
const STOPPED: u32 = u32::MAX;
const CUT: u32 = u32::MAX - 1;

/// Some of the states of a block, and their successors.
struct Piece<T> {
    number: usize,
    /// For each state.
    outcomes: Vec<u32>,
    /// For each step: where it leads. This is a known state or, with [`FIND`], one of the finds.
    targets: Vec<u32>,
    finds: Vec<Find<T>>,
    /// The finds, by hash.
    index: Shard,
}

/// Distinguishes positions of finds from numbers of states.
const FIND: u32 = 1 << 31;

/// A state that was not known before the block.
struct Find<T> {
    /// Taken out if this find gets a number.
    state: Option<T>,
    hash: StateHash,
    /// Its number, once assigned.
    id: u32,
}

impl<T> Default for Piece<T> {
    fn default() -> Self {
        Piece {
            number: 0,
            outcomes: Vec::new(),
            targets: Vec::new(),
            finds: Vec::new(),
            index: Shard::default(),
        }
    }
}

impl<T> Piece<T> {
    fn clear(&mut self) {
        self.outcomes.clear();
        self.targets.clear();
        self.finds.clear();
        self.index.clear();
    }

    fn bytes(&self) -> usize {
        let numbers = self.outcomes.capacity() + self.targets.capacity();
        self.finds.capacity() * size_of::<Find<T>>()
            + numbers * size_of::<u32>()
            + self.index.bytes()
    }
}

/// The data of one worker.
pub(super) struct Slot<T> {
    pieces: Vec<Piece<T>>,
    /// Pieces of earlier blocks, kept to reuse their memory.
    spare: Vec<Piece<T>>,
    shards: Vec<Shard>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot {
            pieces: Vec::new(),
            spare: Vec::new(),
            shards: Vec::new(),
        }
    }
}

/// A task that the workers perform together.
pub(super) enum Task<'a, S: Semantics> {
    /// The first phase.
    Make(Box<Make<'a, S>>),
    /// The third phase: the new states, the number of shards, and the number of shards per worker.
    PutIn {
        new: Vec<(StateHash, u32)>,
        count: usize,
        each: usize,
    },
}

impl<S: Semantics> Work for Task<'_, S> {
    type Slot = Slot<S::State>;

    fn work(&self, number: usize, slot: &mut Self::Slot) {
        match self {
            Task::Make(make) => make.work(slot),
            Task::PutIn { new, count, each } => {
                for &(hash, id) in new {
                    let shard = hash.shard(*count).wrapping_sub(number * each);
                    if let Some(shard) = slot.shards.get_mut(shard) {
                        shard.add(hash, id);
                    }
                }
                for mut piece in slot.pieces.drain(..) {
                    piece.clear();
                    slot.spare.push(piece);
                }
            }
        }
    }
}

/// The first phase.
pub(super) struct Make<'a, S: Semantics> {
    semantics: &'a S,
    until: Option<&'a Until<'a, S>>,
    store: Store<S::State>,
    stretch: Range<usize>,
    piece_len: usize,
    is_cut: bool,
    /// The limits on bytes: for all finished pieces, and for one unfinished piece.
    budgets: (usize, usize),
    next: AtomicUsize,
    bytes: AtomicUsize,
    is_too_much: AtomicBool,
}

impl<S: Semantics> Make<'_, S> {
    fn work(&self, slot: &mut Slot<S::State>) {
        while !self.is_too_much.load(Relaxed) {
            let number = self.next.fetch_add(1, Relaxed);
            let start = self.stretch.start + number * self.piece_len;
            if start >= self.stretch.end {
                return;
            }
            let mut piece = slot.spare.pop().unwrap_or_default();
            piece.number = number;
            let mut owned = 0;
            for id in start..self.stretch.end.min(start + self.piece_len) {
                owned += self.add(id as u32, &mut piece);
                // While a vector grows, the old allocation still exists.
                if owned + 2 * piece.bytes() > self.budgets.1 {
                    return self.is_too_much.store(true, Relaxed);
                }
            }
            let bytes = owned + 2 * piece.bytes();
            if self.bytes.fetch_add(bytes, Relaxed) + bytes > self.budgets.0 {
                self.is_too_much.store(true, Relaxed);
            }
            slot.pieces.push(piece);
        }
    }

    /// Adds a state to a piece. Returns the bytes that its finds own.
    fn add(&self, id: u32, piece: &mut Piece<S::State>) -> usize {
        let state = self.store.state(id);
        let mut owned = 0;
        let outcome = match look(self.semantics, self.until, state) {
            Outlook::Stop => STOPPED,
            Outlook::End => 0,
            Outlook::Steps(_) if self.is_cut => CUT,
            Outlook::Steps(steps) => {
                for step in &steps {
                    let next = self.semantics.take(state, step);
                    let hash = StateHash::of(&next);
                    let target = self.store.find(hash, &next).unwrap_or_else(|| {
                        let finds = &piece.finds;
                        let is_it = |at: u32| finds[at as usize].state.as_ref() == Some(&next);
                        let found = piece.index.find(hash, is_it);
                        FIND | found.unwrap_or_else(|| {
                            owned += self.semantics.state_bytes(&next);
                            let at = piece.finds.len() as u32;
                            piece.index.add(hash, at);
                            piece.finds.push(Find {
                                state: Some(next),
                                hash,
                                id: NONE,
                            });
                            at
                        })
                    });
                    piece.targets.push(target);
                }
                steps.len() as u32
            }
        };
        piece.outcomes.push(outcome);
        owned
    }
}

/// The working memory of the second phase, reused by the next block.
#[derive(Default)]
pub(super) struct Recent {
    /// The new states of this block.
    new: Vec<(StateHash, u32)>,
    /// The same, by hash.
    index: Shard,
}

impl Recent {
    /// The number of a find. Assigns one if no equal find has a number yet.
    fn number<S: Semantics>(
        &mut self,
        driver: &mut SearchDriver<'_, S>,
        find: &mut Find<S::State>,
        origin: Origin,
    ) -> u32 {
        let state = &find.state;
        let is_it = |id| state.as_ref() == Some(driver.store.state(id));
        if let Some(id) = self.index.find(find.hash, is_it) {
            return id;
        }
        let Some(state) = find.state.take() else {
            unreachable!("a find is there until it gets a number");
        };
        let owned = driver.semantics.state_bytes(&state);
        driver.note_state(owned);
        let id = driver.store.add_unindexed(state, origin, owned);
        self.index.add(find.hash, id);
        self.new.push((find.hash, id));
        id
    }
}

/// Expands a stretch of states at this depth. Returns whether that was possible.
pub(super) fn expand<'a, S: Semantics>(
    driver: &mut SearchDriver<'a, S>,
    pool: &Hired<'_, Task<'a, S>>,
    recent: &mut Recent,
    stretch: Range<usize>,
    depth: u32,
) -> bool {
    let is_cut = driver.bounds.depth.is_some_and(|bound| depth >= bound);
    let Some((mut pieces, bytes)) = make(driver, pool, stretch.clone(), is_cut) else {
        return false;
    };
    if !has_room(driver, &pieces, bytes) {
        return false;
    }
    number(driver, &mut pieces, recent, stretch.start as u32);
    put_in(driver, pool, pieces, recent);
    if is_cut && let Some(bound) = driver.bounds.depth {
        let ids = stretch.start as u32..stretch.end as u32;
        let mut marks = ids.map(|id| driver.store.mark(id));
        if marks.any(|mark| mark == Mark::Seen) {
            driver.met(Bound::Depth(bound));
        }
    }
    true
}

/// Frees the memory kept for the next block.
pub(super) fn forget<S: Semantics>(pool: &Hired<'_, Task<'_, S>>) {
    for number in 0..pool.len() {
        *pool.slot(number) = Slot::default();
    }
}

/// The pieces of a block in order, each with the number of the worker that made it.
type Pieces<T> = Vec<(usize, Piece<T>)>;

/// The first phase. Returns the pieces and their size in bytes, or `None` if they are too large.
fn make<'a, S: Semantics>(
    driver: &mut SearchDriver<'a, S>,
    pool: &Hired<'_, Task<'a, S>>,
    stretch: Range<usize>,
    is_cut: bool,
) -> Option<(Pieces<S::State>, usize)> {
    let free = driver.free_bytes();
    let make = Task::Make(Box::new(Make {
        semantics: driver.semantics,
        until: driver.until,
        store: mem::take(&mut driver.store),
        piece_len: (stretch.len() / (pool.len() * 4)).max(8),
        stretch,
        is_cut,
        budgets: (free / 4, free / (8 * pool.len())),
        next: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        is_too_much: AtomicBool::new(false),
    }));
    let Task::Make(made) = pool.carry_out(make) else {
        unreachable!("a task remains what it is");
    };
    let made = *made;
    driver.store = made.store;
    let mut pieces = Vec::new();
    for number in 0..pool.len() {
        let mut slot = pool.slot(number);
        pieces.extend(slot.pieces.drain(..).map(|piece| (number, piece)));
    }
    pieces.sort_unstable_by_key(|(_, piece)| piece.number);
    (!made.is_too_much.into_inner()).then_some((pieces, made.bytes.into_inner()))
}

/// Returns whether no bound can be reached even if all finds are new.
fn has_room<S: Semantics>(
    driver: &SearchDriver<'_, S>,
    pieces: &Pieces<S::State>,
    bytes: usize,
) -> bool {
    let edges = pieces.iter().map(|(_, piece)| piece.targets.len()).sum();
    let finds: usize = pieces.iter().map(|(_, piece)| piece.finds.len()).sum();
    let states = driver.bounds.states.unwrap_or(usize::MAX);
    // The list of new states, which grows, and its index.
    let beside = finds * (4 * size_of::<(StateHash, u32)>() + 48);
    let growth = driver.store.worst_growth(finds, edges);
    driver.store.len() + finds <= states.min(MOST_STATES)
        && edges < driver.store.free_edges()
        && driver.make_room(growth + beside + bytes).is_ok()
}

/// The second phase.
fn number<S: Semantics>(
    driver: &mut SearchDriver<'_, S>,
    pieces: &mut Pieces<S::State>,
    recent: &mut Recent,
    first: u32,
) {
    recent.index.clear();
    let mut parent = first;
    for (_, piece) in pieces {
        let mut targets = piece.targets.iter();
        for &outcome in &piece.outcomes {
            let mark = match outcome {
                STOPPED => Mark::Stopped,
                CUT => Mark::Seen,
                0 => Mark::End,
                _ => Mark::Expanded,
            };
            driver.store.set_mark(parent, mark);
            let steps = if mark == Mark::Expanded { outcome } else { 0 };
            driver.note_steps(steps as usize);
            for (step, &target) in (0..steps).zip(&mut targets) {
                let to = if target & FIND == 0 {
                    target
                } else {
                    let find = &mut piece.finds[(target & !FIND) as usize];
                    if find.id == NONE {
                        find.id = recent.number(driver, find, Origin { parent, step });
                    }
                    find.id
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
    pool: &Hired<'_, Task<'a, S>>,
    pieces: Pieces<S::State>,
    recent: &mut Recent,
) {
    for (number, piece) in pieces {
        pool.slot(number).pieces.push(piece);
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
    if let Task::PutIn { mut new, .. } = pool.carry_out(Task::PutIn { new, count, each }) {
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
