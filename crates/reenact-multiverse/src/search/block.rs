//! A stretch of a level, by all cores, as if by one.
//!
//! 1. The cores take pieces of the stretch, compute what their steps lead to, and look it up. Most of it is known.
//! 2. What is not is a *find*. Each core has shards of the index of its own. It goes through all finds in their order and
//!    puts those that belong to its shards in, under a provisional number, which is the place of the find in the block.
//!    So the first of equal ones wins, whoever found it.
//! 3. One core goes through all in order and gives the final numbers.
//! 4. The cores put the final numbers into their shards, and drop what was found twice.
//!
//! Nothing here can fail half-way: a block that could meet a bound is left to the plain loop.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed},
    thread,
};

use super::{
    Bound, Until,
    course::{Course, Outlook, look},
};
use crate::{
    Semantics,
    graph::{
        index::{Shard, StateHash},
        store::{Mark, NONE, Origin, Store},
    },
};

/// What became of a state: the number of its successors, or one of these.
const STOPPED: u32 = u32::MAX;
const CUT: u32 = u32::MAX - 1;

/// Some of the states of a block, and what they lead to.
struct Piece<T> {
    number: usize,
    /// For each state.
    outcomes: Vec<u32>,
    /// For each step: where it leads, or nowhere if that is a find.
    targets: Vec<u32>,
    /// The finds, in order. Each is taken out as it gets its number.
    finds: Vec<Option<T>>,
    hashes: Vec<StateHash>,
    /// How many finds are in the pieces before this one.
    before: usize,
}

impl<T> Default for Piece<T> {
    fn default() -> Self {
        Piece {
            number: 0,
            outcomes: Vec::new(),
            targets: Vec::new(),
            finds: Vec::new(),
            hashes: Vec::new(),
            before: 0,
        }
    }
}

impl<T> Piece<T> {
    fn clear(&mut self) {
        self.outcomes.clear();
        self.targets.clear();
        self.finds.clear();
        self.hashes.clear();
    }

    fn bytes(&self) -> usize {
        let find = size_of::<Option<T>>() + size_of::<StateHash>();
        let numbers = self.outcomes.capacity() + self.targets.capacity();
        self.finds.capacity() * find + numbers * size_of::<u32>()
    }
}

/// What one core has made, and what it can make more of without asking for memory.
struct Maker<T> {
    pieces: Vec<Piece<T>>,
    spare: Vec<Piece<T>>,
    added: Vec<Added>,
}

/// A state that was put into the index.
struct Added {
    at: u32,
    bucket: usize,
    hash: StateHash,
}

/// Memory that blocks use one after the other.
pub(super) struct Scratch<T> {
    makers: Vec<Maker<T>>,
    /// For each find: its number. It is provisional, unless the find is known after all.
    found: Vec<AtomicU32>,
    /// For each find: its final number.
    finals: Vec<u32>,
}

impl<T> Scratch<T> {
    pub(super) fn new(workers: usize) -> Self {
        let maker = |_| Maker {
            pieces: Vec::new(),
            spare: Vec::new(),
            added: Vec::new(),
        };
        Scratch {
            makers: (0..workers).map(maker).collect(),
            found: Vec::new(),
            finals: Vec::new(),
        }
    }

    /// Fills in how many finds come before each piece, and returns how many there are.
    fn count(&mut self) -> usize {
        let mut before = 0;
        for piece in self.pieces_mut() {
            piece.before = before;
            before += piece.finds.len();
        }
        before
    }

    fn pieces_mut(&mut self) -> Vec<&mut Piece<T>> {
        let makers = self.makers.iter_mut();
        let mut pieces: Vec<_> = makers.flat_map(|maker| &mut maker.pieces).collect();
        pieces.sort_unstable_by_key(|piece| piece.number);
        pieces
    }
}

/// Expands a stretch of states at this depth, or tells that it cannot.
pub(super) fn expand<S: Semantics>(
    course: &mut Course<'_, S>,
    scratch: &mut Scratch<S::State>,
    stretch: Range<usize>,
    depth: u32,
) -> bool {
    let is_cut = course.bounds.depth.is_some_and(|bound| depth >= bound);
    let Some(bytes) = make(course, scratch, &stretch, is_cut) else {
        return false;
    };
    let total = scratch.count();
    if !has_room(course, scratch, total, bytes) {
        return false;
    }
    let base = course.store.len() as u32;
    scratch.found.resize_with(total, || AtomicU32::new(NONE));
    put_in(&mut course.store, scratch, base);
    number(course, scratch, base, stretch.start as u32);
    settle(&mut course.store, scratch, base);
    if is_cut && let Some(bound) = course.bounds.depth {
        let ids = stretch.start as u32..stretch.end as u32;
        let mut marks = ids.map(|id| course.store.mark(id));
        if marks.any(|mark| mark == Mark::Seen) {
            course.met(Bound::Depth(bound));
        }
    }
    true
}

/// Whether no bound can be met even if all finds are new.
fn has_room<S: Semantics>(
    course: &Course<'_, S>,
    scratch: &Scratch<S::State>,
    total: usize,
    bytes: usize,
) -> bool {
    let pieces = || scratch.makers.iter().flat_map(|maker| &maker.pieces);
    let edges: usize = pieces().map(|piece| piece.targets.len()).sum();
    let states = course.bounds.states.unwrap_or(usize::MAX);
    // Their numbers twice, and the lists of what was added, which grow.
    let beside = bytes + total * (2 * size_of::<u32>() + 3 * size_of::<Added>());
    let growth = course.store.worst_growth(total, edges);
    course.store.len() + total <= states.min(NONE as usize - 1)
        && edges < course.store.free_edges()
        && course.make_room(growth + beside).is_ok()
}

/// Runs `work` on all of these at once and returns when all is done.
fn on_all<W: Send>(works: impl Iterator<Item = W>, work: impl Fn(W) + Sync) {
    let work = &work;
    thread::scope(|scope| {
        let mut works = works;
        let mine = works.next();
        for one in works {
            scope.spawn(move || work(one));
        }
        mine.map(work);
    });
}

/// Step 1. Returns the bytes that it took, or nothing if these are too many.
fn make<S: Semantics>(
    course: &Course<'_, S>,
    scratch: &mut Scratch<S::State>,
    stretch: &Range<usize>,
    is_cut: bool,
) -> Option<usize> {
    // A part for all pieces that are done, and one for each that is not.
    let free = course.free_bytes();
    let budget = free / 4;
    let piece_budget = free / (8 * scratch.makers.len());
    let size = (stretch.len() / (scratch.makers.len() * 8)).max(8);
    let next = AtomicUsize::new(0);
    let bytes = AtomicUsize::new(0);
    let is_too_much = AtomicBool::new(false);
    let semantics = course.semantics;
    let until = course.until.as_deref();
    let store = &course.store;
    on_all(scratch.makers.iter_mut(), |maker| {
        loop {
            let number = next.fetch_add(1, Relaxed);
            let start = stretch.start + number * size;
            let is_over = is_too_much.load(Relaxed) || bytes.load(Relaxed) > budget;
            if start >= stretch.end || is_over {
                return;
            }
            let ids = start..stretch.end.min(start + size);
            let mut piece = maker.spare.pop().unwrap_or_default();
            piece.number = number;
            let mut owned = 0;
            for id in ids {
                owned += add(
                    semantics,
                    until,
                    store.state(id as u32),
                    store,
                    is_cut,
                    &mut piece,
                );
                // While a list grows, the old one is still there.
                if owned + 2 * piece.bytes() > piece_budget {
                    is_too_much.store(true, Relaxed);
                    return;
                }
            }
            bytes.fetch_add(owned + 2 * piece.bytes(), Relaxed);
            maker.pieces.push(piece);
        }
    });
    let bytes = bytes.into_inner();
    (bytes <= budget && !is_too_much.into_inner()).then_some(bytes)
}

/// Adds a state to a piece, and returns how many bytes its finds own.
fn add<S: Semantics>(
    semantics: &S,
    until: Option<&Until<'_, S>>,
    state: &S::State,
    store: &Store<S::State>,
    is_cut: bool,
    piece: &mut Piece<S::State>,
) -> usize {
    let mut owned = 0;
    let outcome = match look(semantics, until, state) {
        Outlook::Stop => STOPPED,
        Outlook::End => 0,
        Outlook::Steps(_) if is_cut => CUT,
        Outlook::Steps(steps) => {
            for step in &steps {
                let next = semantics.take(state, step);
                let hash = StateHash::of(&next);
                let known = store.find(hash, &next);
                piece.targets.push(known.unwrap_or(NONE));
                if known.is_none() {
                    owned += semantics.state_bytes(&next);
                    piece.hashes.push(hash);
                    piece.finds.push(Some(next));
                }
            }
            steps.len() as u32
        }
    };
    piece.outcomes.push(outcome);
    owned
}

/// Step 2.
fn put_in<T: Eq + Send + Sync>(store: &mut Store<T>, scratch: &mut Scratch<T>, base: u32) {
    let mut lists: Vec<Vec<Added>> = Vec::new();
    for maker in &mut scratch.makers {
        lists.push(std::mem::take(&mut maker.added));
    }
    let makers = scratch.makers.iter();
    let mut pieces: Vec<_> = makers.flat_map(|maker| &maker.pieces).collect();
    pieces.sort_unstable_by_key(|piece| piece.number);

    let found = &scratch.found;
    let shards = store.index_mut().shards_mut();
    let count = shards.len();
    let each = count.div_ceil(lists.len());
    let groups = shards.chunks_mut(each).zip(&mut lists).enumerate();
    on_all(groups, |(number, (shards, added))| {
        let first = number * each;
        put_some_in(shards, count, first, &pieces, found, base, added);
    });
    for (maker, list) in scratch.makers.iter_mut().zip(lists) {
        maker.added = list;
    }
}

/// Puts in what belongs to these shards, of so many, beginning with this one.
fn put_some_in<T: Eq>(
    shards: &mut [Shard],
    count: usize,
    first: usize,
    pieces: &[&Piece<T>],
    found: &[AtomicU32],
    base: u32,
    added: &mut Vec<Added>,
) {
    let find = |at: usize| {
        let piece = pieces[pieces.partition_point(|piece| piece.before <= at) - 1];
        &piece.finds[at - piece.before]
    };
    for piece in pieces {
        for (number, &hash) in piece.hashes.iter().enumerate() {
            let shard = hash.shard(count).wrapping_sub(first);
            let Some(shard) = shards.get_mut(shard) else {
                continue;
            };
            let at = piece.before + number;
            let state = &piece.finds[number];
            // What was known before the block is not this one: that was looked up already.
            let is_it = |id: u32| id >= base && find((id - base) as usize) == state;
            let id = shard.find(hash, is_it).unwrap_or_else(|| {
                let id = base + at as u32;
                added.push(Added {
                    at: at as u32,
                    bucket: shard.add(hash, id),
                    hash,
                });
                id
            });
            found[at].store(id, Relaxed);
        }
    }
}

/// Step 3.
fn number<S: Semantics>(
    course: &mut Course<'_, S>,
    scratch: &mut Scratch<S::State>,
    base: u32,
    first: u32,
) {
    let mut finals = std::mem::take(&mut scratch.finals);
    let found = std::mem::take(&mut scratch.found);
    finals.clear();
    let mut parent = first;
    for piece in scratch.pieces_mut() {
        let mut finds = piece.finds.iter_mut();
        let mut targets = piece.targets.iter();
        for &outcome in &piece.outcomes {
            let mark = match outcome {
                STOPPED => Mark::Stopped,
                CUT => Mark::Seen,
                0 => Mark::End,
                _ => Mark::Expanded,
            };
            course.store.set_mark(parent, mark);
            let steps = if mark == Mark::Expanded { outcome } else { 0 };
            course.note_steps(steps as usize);
            for (step, &known) in (0..steps).zip(&mut targets) {
                let to = if known == NONE {
                    let at = finals.len();
                    let earlier = (found[at].load(Relaxed) - base) as usize;
                    let to = match finds.next().and_then(Option::take) {
                        Some(state) if earlier == at => {
                            let owned = course.semantics.state_bytes(&state);
                            course.note_state(owned);
                            let origin = Origin { parent, step };
                            course.store.add_unindexed(state, origin, owned)
                        }
                        _ => finals[earlier],
                    };
                    finals.push(to);
                    to
                } else {
                    known
                };
                course.store.add_edge(step, to);
            }
            course.store.end_run(parent);
            parent += 1;
        }
    }
    scratch.finals = finals;
    scratch.found = found;
}

/// Step 4.
fn settle<T: Send + Sync>(store: &mut Store<T>, scratch: &mut Scratch<T>, base: u32) {
    let finals = &scratch.finals;
    let shards = store.index_mut().shards_mut();
    let count = shards.len();
    let each = count.div_ceil(scratch.makers.len());
    // There may be fewer groups of shards than cores.
    let groups = shards.chunks_mut(each).map(Some);
    let groups = groups.chain(std::iter::repeat_with(|| None));
    let works = scratch.makers.iter_mut().zip(groups).enumerate();
    on_all(works, |(number, (maker, mut shards))| {
        for one in maker.added.drain(..) {
            if let Some(shards) = &mut shards {
                let shard = &mut shards[one.hash.shard(count) - number * each];
                let id = finals[one.at as usize];
                shard.renumber(one.bucket, one.hash, base + one.at, id);
            }
        }
        for mut piece in maker.pieces.drain(..) {
            piece.clear();
            maker.spare.push(piece);
        }
    });
    store.index_mut().settle();
}
