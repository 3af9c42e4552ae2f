//! The search: finds every universe that a program can reach.
//!
//! Every state is stored once and compared exactly: two universes are never confused because of equal hashes. The
//! search reports what it did not see: its [`Coverage`] is part of the result.
//!
//! A breadth-first search without reduction uses all workers it is given. The result does not depend on their number:
//! universes get the numbers that a sequential loop would give them.

mod block;
mod coverage;
mod driver;
mod levels;
mod ticks;
mod worker_pool;
mod worklist;

use std::{ops::ControlFlow, time::Duration};

use reenact_explore::Listener;

pub use self::coverage::{Bound, Coverage};
use self::driver::SearchDriver;
use crate::{Semantics, graph::Graph};

/// The order of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// All universes at depth one before any at depth two: the path to each is a shortest one.
    #[default]
    BreadthFirst,
    /// Each path to its end before the next. Uses one worker.
    DepthFirst,
}

/// What a search omits because it makes no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing.
    #[default]
    None,
    /// Omits steps whose independent counterpart is taken elsewhere: every universe is visited, through fewer steps.
    ///
    /// With [`Search::until`], the search does not continue through universes to stop at, in any order of independent
    /// steps. It then finds a universe to stop at if there is one, but possibly not all of them.
    SleepSets,
    /// In addition, where an activity has only steps that [are alone](Semantics::is_alone), omits all other steps:
    /// every end is reached, through fewer universes. With a bound on the depth, ends within it may be missed. With
    /// [`Search::until`], only sleep sets are used.
    Persistent,
}

/// What a search stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Universes, and the steps between them.
    #[default]
    Graph,
    /// Universes, and how each was first found. The steps are recomputed on demand.
    Tree,
}

/// Limits of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of universes.
    pub states: Option<usize>,
    /// Maximum depth, in steps.
    pub depth: Option<u32>,
    /// Maximum time, checked at intervals.
    pub time: Option<Duration>,
    /// Maximum memory, in bytes: the stored data, the working memory of the search, and what the states report to own.
    pub bytes: Option<usize>,
}

/// The progress of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchProgress {
    /// The number of universes seen so far.
    pub states: usize,
    /// The number of universes that are not expanded yet.
    pub frontier: usize,
    /// The current depth.
    pub depth: u32,
}

/// The worker threads to use.
#[derive(Clone, Copy)]
struct WorkerCount {
    count: usize,
    at_any_price: bool,
}

type Until<'a, S> = dyn Fn(&S, &<S as Semantics>::State) -> bool + Sync + 'a;

/// A search.
///
/// ```text
/// let graph = Search::of(&program)
///     .order(Order::BreadthFirst)
///     .bounds(Bounds { states: Some(1_000_000), ..Bounds::default() })
///     .workers(2)
///     .run();
/// println!("{}", graph.coverage());
/// ```
pub struct Search<'a, S: Semantics> {
    semantics: &'a S,
    order: Order,
    reduction: Reduction,
    keep: Keep,
    bounds: Bounds,
    workers: WorkerCount,
    from: Option<Vec<S::State>>,
    until: Option<Box<Until<'a, S>>>,
    progress: Option<Box<Listener<'a, SearchProgress>>>,
}

impl<'a, S: Semantics> Search<'a, S> {
    /// Searches everything a program can do: breadth first, without reduction or bounds, with one worker.
    pub fn of(semantics: &'a S) -> Self {
        Search {
            semantics,
            order: Order::default(),
            reduction: Reduction::default(),
            keep: Keep::default(),
            bounds: Bounds::default(),
            workers: WorkerCount {
                count: 1,
                at_any_price: false,
            },
            from: None,
            until: None,
            progress: None,
        }
    }

    /// Sets the order.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sets the reduction.
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        self.reduction = reduction;
        self
    }

    /// Sets what is stored.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Sets the bounds.
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Sets the number of workers. A search that is depth first or reduced uses one.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers.count = workers.max(1);
        self
    }

    /// Uses all workers even where one would be faster. For tests, whose programs are small.
    #[doc(hidden)]
    pub fn at_any_price(mut self) -> Self {
        self.workers.at_any_price = true;
        self
    }

    /// Starts from these states, instead of the initial ones.
    pub fn from(mut self, states: Vec<S::State>) -> Self {
        self.from = Some(states);
        self
    }

    /// Does not continue beyond states that satisfy `is_far_enough`. It is called once or more for each state, from any
    /// worker.
    pub fn until(mut self, is_far_enough: impl Fn(&S, &S::State) -> bool + Sync + 'a) -> Self {
        self.until = Some(Box::new(is_far_enough));
        self
    }

    /// Reports progress to `listener`, at the start and then at most once every 20 ms. Returning [`ControlFlow::Break`]
    /// cancels the search.
    pub fn progress(
        mut self,
        listener: impl FnMut(SearchProgress) -> ControlFlow<()> + 'a,
    ) -> Self {
        self.progress = Some(Box::new(listener));
        self
    }

    /// Runs the search.
    pub fn run(self) -> Graph<S> {
        let (order, workers) = (self.order, self.workers);
        let reduction = match self.reduction {
            Reduction::Persistent if self.until.is_some() => Reduction::SleepSets,
            reduction => reduction,
        };
        let roots = match self.from {
            Some(states) => states,
            None => self.semantics.initial(),
        };
        let mut driver = SearchDriver::new(
            self.semantics,
            self.until.as_deref(),
            self.bounds,
            self.progress,
            self.keep,
        );
        let levels = if (order, reduction) == (Order::BreadthFirst, Reduction::None) {
            Some(levels::walk(&mut driver, roots, workers))
        } else {
            worklist::walk(&mut driver, roots, order, reduction);
            None
        };
        driver.finish(reduction, levels)
    }
}
