//! The search: from where a program starts to every universe it can reach.
//!
//! Every state is kept once and compared exactly: two universes are never taken for the same because of a hash. What a
//! search did not see it says: its [`Coverage`] is part of what it returns.
//!
//! A breadth-first search that is not reduced uses all cores it is given. What it returns does not depend on how many
//! those are: universes get the numbers that a plain loop would give them.

mod block;
mod course;
mod coverage;
mod crew;
mod levels;
mod pulse;
mod worklist;

use std::{ops::ControlFlow, time::Duration};

use self::course::Course;
pub use self::coverage::{Bound, Coverage};
use crate::{Semantics, graph::Graph};

/// The order of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// All universes of one step before any of two: the way to each is a shortest one.
    #[default]
    BreadthFirst,
    /// Each way to its end before the next. Uses one core.
    DepthFirst,
}

/// What a search leaves out because it makes no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing.
    #[default]
    None,
    /// Steps whose independent twin is taken elsewhere: every universe is visited, by fewer steps.
    ///
    /// A search that is told where to stop does not go through such universes, in any order of what is independent. It
    /// then finds a universe to stop at if there is one, and maybe not all of them.
    SleepSets,
    /// In addition, where an activity has only steps that [are alone](Semantics::is_alone), everything but these: every
    /// end is reached, by fewer universes. With a bound on the depth, ends within it may be missed; and a search that is
    /// told where to stop uses sleep sets only.
    Persistent,
}

/// What is kept of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Universes, and the steps between them.
    #[default]
    Graph,
    /// Universes, and how each was first found. The steps are computed again when somebody asks.
    Tree,
}

/// Where a search is to give up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// No more universes than this.
    pub states: Option<usize>,
    /// No more steps in a row than this.
    pub depth: Option<u32>,
    /// No longer than this. It is looked at now and then.
    pub time: Option<Duration>,
    /// No more memory than this: what is kept, what the search needs beside it, and what the states say they have.
    pub bytes: Option<usize>,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The universes seen so far.
    pub states: usize,
    /// Those of them that are still to be looked at.
    pub frontier: usize,
    /// How many steps away from the start it is now.
    pub depth: u32,
}

/// The cores to use.
#[derive(Clone, Copy)]
struct Workers {
    count: usize,
    at_any_price: bool,
}

type Until<'a, S> = dyn Fn(&S, &<S as Semantics>::State) -> bool + Sync + 'a;
type Listener<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// A search that is about to start.
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
    workers: Workers,
    from: Option<Vec<S::State>>,
    until: Option<Box<Until<'a, S>>>,
    progress: Option<Box<Listener<'a>>>,
}

impl<'a, S: Semantics> Search<'a, S> {
    /// A search of everything a program can do: breadth first, not reduced, not bounded, on one core.
    pub fn of(semantics: &'a S) -> Self {
        Search {
            semantics,
            order: Order::default(),
            reduction: Reduction::default(),
            keep: Keep::default(),
            bounds: Bounds::default(),
            workers: Workers {
                count: 1,
                at_any_price: false,
            },
            from: None,
            until: None,
            progress: None,
        }
    }

    /// In this order.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Leaving this out.
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        self.reduction = reduction;
        self
    }

    /// Keeping this.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Within these bounds.
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// With this many cores. A search that is depth first or reduced uses one.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers.count = workers.max(1);
        self
    }

    /// Even where one core would be faster. This is for tests, whose programs are small.
    #[doc(hidden)]
    pub fn at_any_price(mut self) -> Self {
        self.workers.at_any_price = true;
        self
    }

    /// From these states, instead of the initial ones.
    pub fn from(mut self, states: Vec<S::State>) -> Self {
        self.from = Some(states);
        self
    }

    /// Not beyond states like this. It is asked once or more for each state, from any core.
    pub fn until(mut self, is_far_enough: impl Fn(&S, &S::State) -> bool + Sync + 'a) -> Self {
        self.until = Some(Box::new(is_far_enough));
        self
    }

    /// Telling how far it is: at the start and some times in a second. To break is to give up.
    pub fn progress(mut self, listener: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(listener));
        self
    }

    /// Searches.
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
        let mut course = Course::new(
            self.semantics,
            self.until.as_deref(),
            self.bounds,
            self.progress,
            self.keep,
        );
        let levels = if (order, reduction) == (Order::BreadthFirst, Reduction::None) {
            Some(levels::walk(&mut course, roots, workers))
        } else {
            worklist::walk(&mut course, roots, order, reduction);
            None
        };
        course.finish(reduction, levels)
    }
}
