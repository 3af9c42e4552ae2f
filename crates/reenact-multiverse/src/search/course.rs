//! What all ways to search have in common: looking at a state, taking what is new into the store, and the bounds.

use super::{Bound, Bounds, Coverage, Keep, Listener, Progress, Reduction, Until, pulse::Pulse};
use crate::{
    Semantics,
    graph::{
        Graph,
        chunks::Chunks,
        index::StateHash,
        store::{MOST_STATES, Mark, NONE, Origin, Store},
    },
};

/// What there is to do in a state.
pub(super) enum Outlook<P> {
    /// Nothing: it is where the search was told to stop.
    Stop,
    /// Nothing: the program is over, or stuck.
    End,
    /// These steps.
    Steps(Vec<P>),
}

/// Looks at a state.
#[inline]
pub(super) fn look<S: Semantics>(
    semantics: &S,
    until: Option<&Until<'_, S>>,
    state: &S::State,
) -> Outlook<S::Step> {
    if until.is_some_and(|until| until(semantics, state)) {
        return Outlook::Stop;
    }
    let steps = semantics.steps(state);
    if steps.is_empty() {
        Outlook::End
    } else {
        Outlook::Steps(steps)
    }
}

/// Memory that has to be left free beside what is stored.
///
/// A state is there before it is known whether there is room for it, and so are the steps; what states share grows
/// unseen. So there is room left for a few of the largest seen so far, and for the growth seen last.
struct Reserve {
    shared: usize,
    shared_growth: usize,
    largest_state: usize,
    largest_steps: usize,
    /// For the edges of the state whose steps are being taken.
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

/// A search on its way.
pub(super) struct Course<'a, S: Semantics> {
    pub(super) semantics: &'a S,
    pub(super) until: Option<&'a Until<'a, S>>,
    pub(super) bounds: Bounds,
    pub(super) store: Store<S::State>,
    pulse: Pulse<'a>,
    reserve: Reserve,
    /// Bytes that the search itself uses.
    pub(super) beside: usize,
    stopped_by: Vec<Bound>,
}

impl<'a, S: Semantics> Course<'a, S> {
    pub(super) fn new(
        semantics: &'a S,
        until: Option<&'a Until<'a, S>>,
        bounds: Bounds,
        listener: Option<Box<Listener<'a>>>,
        keep: Keep,
    ) -> Self {
        Course {
            semantics,
            until,
            bounds,
            store: Store::new(keep == Keep::Graph),
            pulse: Pulse::new(bounds.time, listener),
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

    /// Remembers that a bound was met.
    pub(super) fn met(&mut self, bound: Bound) {
        if !self.stopped_by.contains(&bound) {
            self.stopped_by.push(bound);
        }
    }

    /// Looks up now and then.
    #[inline]
    pub(super) fn beat(&mut self, frontier: usize, depth: u32) -> Result<(), Bound> {
        let states = self.store.len();
        self.pulse.beat(|| Progress {
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

    /// Looks up, after more than a moment's work.
    pub(super) fn look_up(&mut self, frontier: usize, depth: u32) -> Result<(), Bound> {
        if self.bounds.bytes.is_some() {
            self.measure_shared();
        }
        self.pulse.look_up(Progress {
            states: self.store.len(),
            frontier,
            depth,
        })
    }

    fn measure_shared(&mut self) {
        let shared = self.semantics.shared_bytes();
        self.reserve.shared_growth = shared.saturating_sub(self.reserve.shared);
        self.reserve.shared = shared;
    }

    /// The bytes in use, and to be left free; what a bound on bytes is about.
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

    /// Whether there is room for this many bytes more.
    pub(super) fn make_room(&self, more: usize) -> Result<(), Bound> {
        match self.bounds.bytes {
            Some(bound) if self.bytes() + more > bound => Err(Bound::Bytes(bound)),
            _ => Ok(()),
        }
    }

    /// Whether there is room for the edges of a state with these steps.
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

    /// Notes that there is a state that owns so many bytes.
    pub(super) fn note_state(&mut self, owned: usize) {
        self.reserve.largest_state = self.reserve.largest_state.max(owned);
    }

    /// Notes that there is a state with so many steps.
    pub(super) fn note_steps(&mut self, steps: usize) {
        let bytes = steps * size_of::<S::Step>();
        self.reserve.largest_steps = self.reserve.largest_steps.max(bytes);
    }

    /// The number of a state, and whether it is a new one.
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

    /// Takes in the states to start from, each once.
    pub(super) fn start(&mut self, roots: Vec<S::State>) -> Result<(), Bound> {
        roots
            .into_iter()
            .try_for_each(|root| self.intern(root, NONE, 0).map(drop))
    }

    /// What a search came to.
    pub(super) fn finish(mut self, reduction: Reduction, levels: Option<Chunks<u32>>) -> Graph<S> {
        let left = self.store.marks().filter(|&mark| mark == Mark::Seen);
        let left = left.count();
        if left == 0 {
            // Whatever was too deep when it was found first was found again, less deep.
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
