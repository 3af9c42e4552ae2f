//! The data that a search stores: every state once, how it was first found, and the edges.
//!
//! A state is identified by its number. Beside the state itself that costs 9 bytes, 9 to 20 in the index, and, if edges
//! are stored, 4 more and 8 for each edge. The outgoing edges of a state are a run in one list for all states. An edge
//! stores its target and the index of its step: the steps themselves are recomputed on demand.

use super::{
    chunks::Chunks,
    index::{Index, StateHash},
};

/// No state.
pub(crate) const NONE: u32 = u32::MAX;

/// Maximum number of states: a search uses the higher numbers for other purposes.
pub(crate) const MOST_STATES: usize = (1 << 31) - 1;

/// What is known of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateStatus {
    /// It was seen, and its steps were not all taken.
    Seen,
    /// It is on the current path of a depth-first search.
    OnPath,
    /// Its steps were taken.
    Expanded,
    /// It has no steps.
    End,
    /// The search stopped here because of [`Search::until`](crate::Search::until).
    Stopped,
}

/// How a state was first found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) parent: u32,
    pub(crate) step: u32,
}

/// An edge in a run. A run ends with an edge that is flagged `LAST`, or with a link to an earlier run of the same
/// state.
#[derive(Clone, Copy, Debug)]
struct EdgeEntry {
    step: u32,
    to: u32,
}

const LAST: u32 = 1 << 31;
const LINK: u32 = 1 << 30;

#[derive(Clone, Debug, Default)]
struct Edges {
    slots: Chunks<EdgeEntry>,
    /// The first slot of each state.
    first: Chunks<u32>,
    /// Where the current run begins.
    run: usize,
}

/// States by number, with the data about them.
#[derive(Clone, Debug)]
pub(crate) struct StateStore<T> {
    states: Chunks<T>,
    origins: Chunks<Origin>,
    marks: Chunks<StateStatus>,
    index: Index,
    edges: Option<Edges>,
    edge_count: u64,
    owned_bytes: usize,
}

impl<T> Default for StateStore<T> {
    fn default() -> Self {
        StateStore::new(false)
    }
}

impl<T> StateStore<T> {
    pub(crate) fn new(with_edges: bool) -> Self {
        StateStore {
            states: Chunks::default(),
            origins: Chunks::default(),
            marks: Chunks::default(),
            index: Index::default(),
            edges: with_edges.then(Edges::default),
            edge_count: 0,
            owned_bytes: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.marks.len()
    }

    #[inline]
    pub(crate) fn state(&self, id: u32) -> &T {
        &self.states[id as usize]
    }

    pub(crate) fn origin(&self, id: u32) -> Origin {
        self.origins[id as usize]
    }

    #[inline]
    pub(crate) fn mark(&self, id: u32) -> StateStatus {
        self.marks[id as usize]
    }

    pub(crate) fn set_mark(&mut self, id: u32, mark: StateStatus) {
        *self.marks.get_mut(id as usize) = mark;
    }

    pub(crate) fn marks(&self) -> impl Iterator<Item = StateStatus> {
        self.marks.iter().copied()
    }

    pub(crate) fn index_mut(&mut self) -> &mut Index {
        &mut self.index
    }

    /// Adds a state that does not exist yet.
    #[inline]
    pub(crate) fn add(&mut self, state: T, hash: StateHash, origin: Origin, owned: usize) -> u32 {
        let id = self.add_unindexed(state, origin, owned);
        self.index.add(hash, id);
        id
    }

    /// Adds a state without adding it to the index. The caller does that.
    #[inline]
    pub(crate) fn add_unindexed(&mut self, state: T, origin: Origin, owned: usize) -> u32 {
        let id = self.len() as u32;
        self.states.push(state);
        self.origins.push(origin);
        self.marks.push(StateStatus::Seen);
        if let Some(edges) = &mut self.edges {
            edges.first.push(NONE);
        }
        self.owned_bytes += owned;
        id
    }

    pub(crate) fn has_edges(&self) -> bool {
        self.edges.is_some()
    }

    /// The number of edges that were found, stored or not.
    pub(crate) fn edge_count(&self) -> u64 {
        self.edge_count
    }

    /// How many more edges can be numbered.
    pub(crate) fn free_edges(&self) -> usize {
        let used = self.edges.as_ref().map_or(0, |edges| edges.slots.len());
        (NONE as usize - 1).saturating_sub(used)
    }

    /// Adds an edge to the current run.
    #[inline]
    pub(crate) fn add_edge(&mut self, step: u32, to: u32) {
        self.edge_count += 1;
        if let Some(edges) = &mut self.edges {
            edges.slots.push(EdgeEntry { step, to });
        }
    }

    /// Ends the current run and makes it edges of `id`, in addition to any earlier runs.
    #[inline]
    pub(crate) fn end_run(&mut self, id: u32) {
        let Some(edges) = &mut self.edges else { return };
        let run = edges.run;
        if edges.slots.len() == run {
            return;
        }
        let first = edges.first.get_mut(id as usize);
        if *first == NONE {
            if let Some(last) = edges.slots.last_mut() {
                last.step |= LAST;
            }
        } else {
            edges.slots.push(EdgeEntry {
                step: LINK,
                to: *first,
            });
        }
        *first = run as u32;
        edges.run = edges.slots.len();
    }

    /// The stored edges of a state: the index of the step, and the target.
    pub(crate) fn edges(&self, id: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut at = match &self.edges {
            Some(edges) => edges.first[id as usize],
            None => NONE,
        };
        std::iter::from_fn(move || {
            let edges = self.edges.as_ref()?;
            if at == NONE {
                return None;
            }
            let mut slot = edges.slots[at as usize];
            if slot.step & LINK != 0 {
                at = slot.to;
                slot = edges.slots[at as usize];
            }
            at = if slot.step & LAST != 0 { NONE } else { at + 1 };
            Some((slot.step & !LAST, slot.to))
        })
    }

    /// The allocated bytes, including those that the states own.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        let edges = match &self.edges {
            Some(edges) => edges.slots.bytes() + edges.first.bytes(),
            None => 0,
        };
        self.states.bytes()
            + self.origins.bytes()
            + self.marks.bytes()
            + self.index.bytes()
            + self.owned_bytes
            + edges
    }

    /// The bytes that have to be allocated to add a state with this hash.
    #[inline]
    pub(crate) fn growth(&self, hash: StateHash) -> usize {
        self.growth_without_index(1) + self.index.growth(hash)
    }

    #[inline]
    fn growth_without_index(&self, more: usize) -> usize {
        let first = match &self.edges {
            Some(edges) => edges.first.growth(more),
            None => 0,
        };
        self.states.growth(more) + self.origins.growth(more) + self.marks.growth(more) + first
    }

    /// The bytes that have to be allocated to add this many edges and a link.
    pub(crate) fn edge_growth(&self, more: usize) -> usize {
        match &self.edges {
            Some(edges) => edges.slots.growth(more + 1),
            None => 0,
        }
    }

    /// An upper bound on the bytes that have to be allocated to add this many states and edges.
    pub(crate) fn worst_growth(&self, states: usize, edges: usize) -> usize {
        let index = 3 * self.index.bytes() + 64 * states;
        self.growth_without_index(states) + self.edge_growth(edges) + index
    }
}

impl<T: Eq> StateStore<T> {
    #[inline]
    pub(crate) fn find(&self, hash: StateHash, state: &T) -> Option<u32> {
        self.index
            .find(hash, |id| self.states[id as usize] == *state)
    }
}
