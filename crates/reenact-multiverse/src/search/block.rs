//! A stretch of a level, by all cores, as if by one.
//!
//! 1. The cores take pieces of the stretch and compute what their steps lead to.
//! 2. Each core has shards of the index of its own. It goes through all of these states in their order and looks up
//!    those that belong to its shards; a state that is not there is put in under a provisional number, which is its
//!    place in the block. So the first of equal ones wins, whoever computed it.
//! 3. One core goes through all in order once more and gives the final numbers.
//! 4. The cores put the final numbers into their shards, and drop what was known already.
//!
//! Nothing here can fail half-way: a block that could meet a bound is left to the plain loop.

use std::{
    ops::Range,
    sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
    thread,
};

use super::{
    Bound, Until,
    course::{Course, Outlook, look},
};
use crate::{
    Semantics,
    graph::{
        chunks::Chunks,
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
    /// The states they lead to, in order. Each is taken out as it gets its number.
    states: Vec<Option<T>>,
    hashes: Vec<StateHash>,
    /// How many come before, in the pieces before this one.
    before: usize,
}

/// A state that was put into the index.
struct Added {
    at: u32,
    bucket: usize,
    hash: StateHash,
}

/// Expands a stretch of states at this depth, or tells that it cannot.
pub(super) fn expand<S: Semantics>(
    course: &mut Course<'_, S>,
    stretch: Range<usize>,
    depth: u32,
    workers: usize,
) -> bool {
    let is_cut = course.bounds.depth.is_some_and(|bound| depth >= bound);
    let budget = match course.bounds.bytes {
        Some(bound) => bound.saturating_sub(course.bytes()) / 8,
        None => usize::MAX,
    };
    let makers = make(course, &stretch, is_cut, budget, workers);
    let Some((mut pieces, scratch)) = makers else {
        return false;
    };
    let total = number_pieces(&mut pieces);
    if !has_room(course, total, scratch) {
        return false;
    }
    let found: Vec<AtomicU32> = (0..total).map(|_| AtomicU32::new(NONE)).collect();
    let base = course.store.len() as u32;
    let added = look_up(&mut course.store, &pieces, &found, base, workers);
    let finals = number(course, &mut pieces, &found, base, stretch.start as u32);
    settle(&mut course.store, pieces, added, &finals, base, workers);
    if is_cut && let Some(bound) = course.bounds.depth {
        let ids = stretch.start as u32..stretch.end as u32;
        let mut marks = ids.map(|id| course.store.mark(id));
        if marks.any(|mark| mark == Mark::Seen) {
            course.met(Bound::Depth(bound));
        }
    }
    true
}

/// Whether no bound can be met even if all that was found is new.
fn has_room<S: Semantics>(course: &Course<'_, S>, total: usize, scratch: usize) -> bool {
    let states = course.bounds.states.unwrap_or(usize::MAX);
    let numbers = states.min(NONE as usize - 1);
    // Where the states were, their numbers twice, and the lists of what was added.
    let beside = scratch + total * (2 * size_of::<u32>() + 2 * size_of::<Added>());
    course.store.len() + total <= numbers
        && total < course.store.free_edges()
        && course
            .make_room(course.store.worst_growth(total) + beside)
            .is_ok()
}

/// Runs `work` for every worker and returns what each returned, in their order.
fn on_all<T: Send, W: Send>(works: Vec<W>, work: impl Fn(W) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let mut works = works.into_iter();
        let mine = works.next();
        let theirs: Vec<_> = works.map(|one| scope.spawn(move || work(one))).collect();
        let mut done: Vec<T> = mine.map(work).into_iter().collect();
        for their in theirs {
            match their.join() {
                Ok(one) => done.push(one),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

/// Step 1. Nothing, if it takes more than `budget` bytes. Otherwise the pieces by maker, and the bytes.
type Made<T> = (Vec<Vec<Piece<T>>>, usize);

fn make<S: Semantics>(
    course: &Course<'_, S>,
    stretch: &Range<usize>,
    is_cut: bool,
    budget: usize,
    workers: usize,
) -> Option<Made<S::State>> {
    let size = (stretch.len() / (workers * 8)).max(8);
    let next = AtomicUsize::new(0);
    let scratch = AtomicUsize::new(0);
    let semantics = course.semantics;
    let until = course.until.as_deref();
    let store = &course.store;
    let made = on_all(vec![(); workers], |()| {
        let mut pieces = Vec::new();
        loop {
            let number = next.fetch_add(1, Relaxed);
            let start = stretch.start + number * size;
            if start >= stretch.end || scratch.load(Relaxed) > budget {
                return pieces;
            }
            let ids = start..stretch.end.min(start + size);
            let (piece, bytes) = make_piece(semantics, until, store, ids, is_cut, number);
            scratch.fetch_add(bytes, Relaxed);
            pieces.push(piece);
        }
    });
    let scratch = scratch.into_inner();
    (scratch <= budget).then_some((made, scratch))
}

fn make_piece<S: Semantics>(
    semantics: &S,
    until: Option<&Until<'_, S>>,
    store: &Store<S::State>,
    ids: Range<usize>,
    is_cut: bool,
    number: usize,
) -> (Piece<S::State>, usize) {
    let mut piece = Piece {
        number,
        outcomes: Vec::with_capacity(ids.len()),
        states: Vec::with_capacity(ids.len() * 2),
        hashes: Vec::with_capacity(ids.len() * 2),
        before: 0,
    };
    let mut owned = 0;
    for id in ids {
        let state = store.state(id as u32);
        let outcome = match look(semantics, until, state) {
            Outlook::Stop => STOPPED,
            Outlook::End => 0,
            Outlook::Steps(_) if is_cut => CUT,
            Outlook::Steps(steps) => {
                for step in &steps {
                    let next = semantics.take(state, step);
                    owned += semantics.state_bytes(&next);
                    piece.hashes.push(StateHash::of(&next));
                    piece.states.push(Some(next));
                }
                steps.len() as u32
            }
        };
        piece.outcomes.push(outcome);
    }
    let each = size_of::<Option<S::State>>() + size_of::<StateHash>();
    // While a list grows, the old one is still there.
    let lists = piece.states.capacity() * each * 3 / 2 + piece.outcomes.capacity() * 4;
    (piece, lists + owned)
}

/// Fills in how many states come before each piece, and returns how many there are.
fn number_pieces<T>(made: &mut [Vec<Piece<T>>]) -> usize {
    let mut pieces: Vec<_> = made.iter_mut().flatten().collect();
    pieces.sort_unstable_by_key(|piece| piece.number);
    let mut before = 0;
    for piece in pieces {
        piece.before = before;
        before += piece.states.len();
    }
    before
}

/// The pieces of all makers, in order.
fn in_order<T>(made: &[Vec<Piece<T>>]) -> Vec<&Piece<T>> {
    let mut pieces: Vec<_> = made.iter().flatten().collect();
    pieces.sort_unstable_by_key(|piece| piece.number);
    pieces
}

/// Step 2. What is found is the number of a known state, or the provisional one of the first that is equal.
fn look_up<T: Eq + Send + Sync>(
    store: &mut Store<T>,
    made: &[Vec<Piece<T>>],
    found: &[AtomicU32],
    base: u32,
    workers: usize,
) -> Vec<Vec<Added>> {
    let pieces = in_order(made);
    let (states, index) = store.parts_mut();
    let shards = index.shards_mut();
    let each = shards.len().div_ceil(workers);
    let count = shards.len();
    let groups = shards.chunks_mut(each).enumerate();
    on_all(groups.collect(), |(number, shards)| {
        let place = |hash: StateHash| hash.shard(count).checked_sub(number * each);
        look_up_some(states, shards, place, &pieces, found, base)
    })
}

fn look_up_some<T: Eq>(
    states: &Chunks<T>,
    shards: &mut [Shard],
    place: impl Fn(StateHash) -> Option<usize>,
    pieces: &[&Piece<T>],
    found: &[AtomicU32],
    base: u32,
) -> Vec<Added> {
    let of_block = |at: usize| {
        let piece = pieces[pieces.partition_point(|piece| piece.before <= at) - 1];
        &piece.states[at - piece.before]
    };
    let mut added = Vec::new();
    for piece in pieces {
        for (number, &hash) in piece.hashes.iter().enumerate() {
            let Some(shard) = place(hash).and_then(|place| shards.get_mut(place)) else {
                continue;
            };
            let at = piece.before + number;
            let state = &piece.states[number];
            let is_it = |id: u32| match id.checked_sub(base) {
                Some(at) => of_block(at as usize) == state,
                None => state.as_ref() == Some(&states[id as usize]),
            };
            let id = match shard.find(hash, is_it) {
                Some(id) => id,
                None => {
                    let id = base + at as u32;
                    let bucket = shard.add(hash, id);
                    let at = at as u32;
                    added.push(Added { at, bucket, hash });
                    id
                }
            };
            found[at].store(id, Relaxed);
        }
    }
    added
}

/// Step 3. Returns the final number for each place in the block.
fn number<S: Semantics>(
    course: &mut Course<'_, S>,
    made: &mut [Vec<Piece<S::State>>],
    found: &[AtomicU32],
    base: u32,
    first: u32,
) -> Vec<u32> {
    let mut pieces: Vec<_> = made.iter_mut().flatten().collect();
    pieces.sort_unstable_by_key(|piece| piece.number);
    let mut finals: Vec<u32> = Vec::with_capacity(found.len());
    let mut parent = first;
    for piece in pieces {
        let mut states = piece.states.iter_mut();
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
            for (step, state) in (0..steps).zip(&mut states) {
                let at = finals.len();
                let known = found[at].load(Relaxed);
                let to = match known.checked_sub(base) {
                    None => known,
                    Some(earlier) if (earlier as usize) < at => finals[earlier as usize],
                    Some(_) => match state.take() {
                        Some(state) => {
                            let owned = course.semantics.state_bytes(&state);
                            course.note_state(owned);
                            let origin = Origin { parent, step };
                            course.store.add_unindexed(state, origin, owned)
                        }
                        None => unreachable!("a state gets its number once"),
                    },
                };
                finals.push(to);
                course.store.add_edge(step, to);
            }
            course.store.end_run(parent);
            parent += 1;
        }
    }
    finals
}

/// Step 4.
fn settle<T: Send>(
    store: &mut Store<T>,
    made: Vec<Vec<Piece<T>>>,
    added: Vec<Vec<Added>>,
    finals: &[u32],
    base: u32,
    workers: usize,
) {
    let shards = store.index_mut().shards_mut();
    let count = shards.len();
    let each = count.div_ceil(workers);
    let mut made = made.into_iter();
    let works = shards.chunks_mut(each).zip(added).enumerate();
    let works: Vec<_> = works
        .map(|(number, (shards, added))| (number * each, shards, added, made.next()))
        .collect();
    on_all(works, |(first, shards, added, made)| {
        for one in &added {
            let shard = &mut shards[one.hash.shard(count) - first];
            let id = finals[one.at as usize];
            shard.renumber(one.bucket, one.hash, base + one.at, id);
        }
        drop(made);
    });
    store.index_mut().settle();
}
