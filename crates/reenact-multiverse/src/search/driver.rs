//! Common parts of all searches: expanding a state, storing new states, and the bounds.

use super::{Bound, Bounds, Coverage, Keep, Reduction, SearchProgress, Until, ticks::Ticks};
use reenact_explore::Listener;

use crate::{
    Semantics,
    graph::{
        Graph,
        chunks::Chunks,
        index::StateHash,
        store::{MOST_STATES, NONE, Origin, StateStatus, StateStore},
    },
};

/// What can be done in a state.
pub(super) enum NextSteps<P> {
    /// Nothing: the search has to stop here.
    Stop,
    /// Nothing: the program has ended or is stuck.
    End,
    /// These steps can be taken.
    Steps(Vec<P>),
}

/// Determines what can be done in a state.
#[inline]
pub(super) fn next_steps<S: Semantics>(
    semantics: &S,
    until: Option<&Until<'_, S>>,
    state: &S::State,
) -> NextSteps<S::Step> {
    if until.is_some_and(|until| until(semantics, state)) {
        return NextSteps::Stop;
    }
    let steps = semantics.steps(state);
    if steps.is_empty() {
        NextSteps::End
    } else {
        NextSteps::Steps(steps)
    }
}

/// Memory that has to stay free beside the stored data.
///
/// A state is allocated before it is known whether there is room for it, and so are the steps; the memory that states
/// share grows unnoticed. So the reserve covers a few of the largest seen so far, and the last observed growth.
struct Reserve {
    shared: usize,
    shared_growth: usize,
    largest_state: usize,
    largest_steps: usize,
    /// For the edges of the state that is being expanded.
    edges: usize,
    ticks: u32,
}

const SLACK: usize = 2048;
const SHARED_EVERY: u32 = 64;

impl Reserve {
    fn bytes(&self) -> usize {
        self.shared
            + self.shared_growth
            + 2 * self.largest_state
            + 2 * self.largest_steps
            + self.edges
            + SLACK
    }
}

/// A search in progress.
pub(super) struct SearchDriver<'a, S: Semantics> {
    pub(super) semantics: &'a S,
    pub(super) until: Option<&'a Until<'a, S>>,
    pub(super) bounds: Bounds,
    pub(super) store: StateStore<S::State>,
    ticks: Ticks<'a>,
    reserve: Reserve,
    /// The bytes that the search itself uses.
    pub(super) beside: usize,
    stopped_by: Vec<Bound>,
}

impl<'a, S: Semantics> SearchDriver<'a, S> {
    pub(super) fn new(
        semantics: &'a S,
        until: Option<&'a Until<'a, S>>,
        bounds: Bounds,
        listener: Option<Box<Listener<'a, SearchProgress>>>,
        keep: Keep,
    ) -> Self {
        SearchDriver {
            semantics,
            until,
            bounds,
            store: StateStore::new(keep == Keep::Graph),
            ticks: Ticks::new(bounds.time, listener),
            reserve: Reserve {
                shared: semantics.shared_bytes(),
                shared_growth: 0,
                largest_state: 0,
                largest_steps: 0,
                edges: 0,
                ticks: 0,
            },
            beside: 0,
            stopped_by: Vec::new(),
        }
    }

    /// Notes that a bound was reached.
    pub(super) fn met(&mut self, bound: Bound) {
        if !self.stopped_by.contains(&bound) {
            self.stopped_by.push(bound);
        }
    }

    /// Checks time, cancellation and shared memory at intervals. Called for every universe.
    #[inline]
    pub(super) fn beat(&mut self, frontier: usize, depth: u32) -> Result<(), Bound> {
        let states = self.store.len();
        self.ticks.tick(|| SearchProgress {
            states,
            frontier,
            depth,
        })?;
        if self.bounds.bytes.is_some() {
            if self.reserve.ticks.is_multiple_of(SHARED_EVERY) {
                self.measure_shared();
            }
            self.reserve.ticks = self.reserve.ticks.wrapping_add(1);
        }
        Ok(())
    }

    /// Checks time, cancellation and shared memory now. Called after longer work.
    pub(super) fn look_up(&mut self, frontier: usize, depth: u32) -> Result<(), Bound> {
        if self.bounds.bytes.is_some() {
            self.measure_shared();
        }
        let states = self.store.len();
        self.ticks.check(|| SearchProgress {
            states,
            frontier,
            depth,
        })
    }

    fn measure_shared(&mut self) {
        let shared = self.semantics.shared_bytes();
        self.reserve.shared_growth = shared.saturating_sub(self.reserve.shared);
        self.reserve.shared = shared;
    }

    /// The bytes in use or reserved, which the bound on bytes limits.
    fn bytes(&self) -> usize {
        self.store.bytes() + self.beside + self.reserve.bytes()
    }

    /// The bytes that are left.
    pub(super) fn free_bytes(&self) -> usize {
        match self.bounds.bytes {
            Some(bound) => bound.saturating_sub(self.bytes()),
            None => usize::MAX,
        }
    }

    /// Returns an error if there is no room for this many more bytes.
    pub(super) fn make_room(&self, more: usize) -> Result<(), Bound> {
        match self.bounds.bytes {
            Some(bound) if self.bytes() + more > bound => Err(Bound::Bytes(bound)),
            _ => Ok(()),
        }
    }

    /// Returns an error if there is no room for the edges of a state with this many steps.
    #[inline]
    pub(super) fn make_room_for_edges(&mut self, steps: usize) -> Result<(), Bound> {
        if steps >= self.store.free_edges() {
            return Err(Bound::Edges);
        }
        if self.bounds.bytes.is_some() {
            self.note_steps(steps);
            self.reserve.edges = self.store.edge_growth(steps);
            self.make_room(0)?;
        }
        Ok(())
    }

    /// Notes the size of a state that owns this many bytes.
    pub(super) fn note_state(&mut self, owned: usize) {
        self.reserve.largest_state = self.reserve.largest_state.max(owned);
    }

    /// Notes the size of a state with this many steps.
    pub(super) fn note_steps(&mut self, steps: usize) {
        let bytes = steps * size_of::<S::Step>();
        self.reserve.largest_steps = self.reserve.largest_steps.max(bytes);
    }

    /// Returns the number of a state, and whether it is new.
    #[inline]
    pub(super) fn intern(
        &mut self,
        state: S::State,
        parent: u32,
        step: usize,
    ) -> Result<(u32, bool), Bound> {
        let hash = StateHash::of(&state);
        if let Some(id) = self.store.find(hash, &state) {
            return Ok((id, false));
        }
        let states = self.bounds.states.unwrap_or(usize::MAX);
        if self.store.len() >= states.min(MOST_STATES) {
            return Err(Bound::States(self.store.len()));
        }
        let owned = self.semantics.state_bytes(&state);
        if self.bounds.bytes.is_some() {
            self.note_state(owned);
            self.make_room(self.store.growth(hash) + owned)?;
        }
        let step = step as u32;
        let id = self.store.add(state, hash, Origin { parent, step }, owned);
        Ok((id, true))
    }

    /// Stores the states to start from, each once.
    pub(super) fn start(&mut self, roots: Vec<S::State>) -> Result<(), Bound> {
        roots
            .into_iter()
            .try_for_each(|root| self.intern(root, NONE, 0).map(drop))
    }

    /// Completes the search.
    pub(super) fn finish(mut self, reduction: Reduction, levels: Option<Chunks<u32>>) -> Graph<S> {
        let left = self.store.marks().filter(|&mark| mark == StateStatus::Seen);
        let left = left.count();
        if left == 0 {
            // Every state that was too deep when first found was found again at a lower depth.
            self.stopped_by
                .retain(|bound| !matches!(bound, Bound::Depth(_)));
        }
        let coverage = Coverage {
            left,
            stopped_by: self.stopped_by,
            reduction,
            is_until: self.until.is_some(),
        };
        Graph::new(self.store, coverage, levels)
    }
}
