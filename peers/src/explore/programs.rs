//! The small programs that are explored: how large each is, what may come of it, and what would be a bug.
//!
//! This file names nothing but std, so that another package can include it by `#[path]`: there is one idea of what a
//! program is, and of when its bug has been found.

/// A program that is small enough for every execution of it to be looked at, or has a bug that few executions show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Two threads take turns at a mutex, three times each.
    Mutex2x3,
    /// The same with six times each.
    Mutex2x6,
    /// Three philosophers each take the fork on the one side and then that on the other. They may starve.
    Philosophers3,
    /// The same, but the last one takes the forks in the other order, so that they do not.
    Philosophers3Ordered,
    /// Three threads send three messages each to the main one.
    Mpsc3x3,
    /// Two threads increment a counter once each, by a load and a store. The bug: one increment is lost.
    LostUpdate,
    /// Three threads do so three times each. The bug: at most three of the nine increments are left.
    LostUpdateDeep,
    /// Three threads send two messages each. The bug: those of the third all come before any of the first, and the last
    /// message is the second's.
    QueueOrder,
}

/// What a program consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// So many threads increment one counter in a mutex.
    Mutex {
        /// The number of threads, besides the main one.
        threads: usize,
        /// How often each increments.
        increments: u64,
    },
    /// Each of so many philosophers eats once.
    Philosophers {
        /// The number of philosophers, and of forks.
        philosophers: usize,
        /// Whether all take the fork of the lower number first.
        ordered: bool,
    },
    /// So many threads send to the main one.
    Channel {
        /// The number of senders.
        senders: usize,
        /// How many messages each sends.
        messages: usize,
    },
    /// So many threads load one atomic and store what they have loaded plus one.
    Atomic {
        /// The number of threads, besides the main one.
        threads: usize,
        /// How often each increments.
        increments: u64,
    },
}

/// What has come of one execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The value of the counter in the end, or how many philosophers have eaten.
    Count(u64),
    /// The sender of each message, from zero on, and the message's number among those of its sender, in the order in
    /// which they arrived.
    Arrivals(Vec<(usize, usize)>),
    /// All threads wait for each other.
    Deadlock,
}

impl Shape {
    const fn mutex(threads: usize, increments: u64) -> Self {
        Self::Mutex {
            threads,
            increments,
        }
    }

    const fn philosophers(philosophers: usize, ordered: bool) -> Self {
        Self::Philosophers {
            philosophers,
            ordered,
        }
    }

    const fn channel(senders: usize, messages: usize) -> Self {
        Self::Channel { senders, messages }
    }

    const fn atomic(threads: usize, increments: u64) -> Self {
        Self::Atomic {
            threads,
            increments,
        }
    }
}

impl Program {
    /// All programs, in the order in which tables show them.
    pub const ALL: [Self; 8] = [
        Self::Mutex2x3,
        Self::Mutex2x6,
        Self::Philosophers3,
        Self::Philosophers3Ordered,
        Self::Mpsc3x3,
        Self::LostUpdate,
        Self::LostUpdateDeep,
        Self::QueueOrder,
    ];

    /// The name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mutex2x3 => "mutex-2x3",
            Self::Mutex2x6 => "mutex-2x6",
            Self::Philosophers3 => "philosophers-3",
            Self::Philosophers3Ordered => "philosophers-3-ordered",
            Self::Mpsc3x3 => "mpsc-3x3",
            Self::LostUpdate => "lost-update",
            Self::LostUpdateDeep => "lost-update-deep",
            Self::QueueOrder => "queue-order",
        }
    }

    /// The program of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }

    /// What it consists of.
    pub const fn shape(self) -> Shape {
        match self {
            Self::Mutex2x3 => Shape::mutex(2, 3),
            Self::Mutex2x6 => Shape::mutex(2, 6),
            Self::Philosophers3 => Shape::philosophers(3, false),
            Self::Philosophers3Ordered => Shape::philosophers(3, true),
            Self::Mpsc3x3 => Shape::channel(3, 3),
            Self::LostUpdate => Shape::atomic(2, 1),
            Self::LostUpdateDeep => Shape::atomic(3, 3),
            Self::QueueOrder => Shape::channel(3, 2),
        }
    }

    /// How many executions differ in more than the order of operations that do not depend on each other, where every
    /// operation on an object depends on every other on it. A search that is optimal in this sense has as many.
    ///
    /// None for the atomics, where it depends on whether two loads are thought to depend on each other.
    pub const fn inequivalent_executions(self) -> Option<u64> {
        match self {
            // Six lockings, of which three are the one thread's.
            Self::Mutex2x3 => Some(20),
            Self::Mutex2x6 => Some(924),
            // Each fork is first taken by one of two. Of these eight ways one is a deadlock, and one, in which everyone
            // is before their neighbour, cannot be.
            Self::Philosophers3 => Some(7),
            Self::Philosophers3Ordered => Some(6),
            // 9! / 3!³ and 6! / 2!³ orders of arrival.
            Self::Mpsc3x3 => Some(1680),
            Self::QueueOrder => Some(90),
            Self::LostUpdate | Self::LostUpdateDeep => None,
        }
    }

    /// Whether an execution may end in this way, with its bug or without.
    pub fn allows(self, outcome: &Outcome) -> bool {
        match (self.shape(), outcome) {
            (
                Shape::Mutex {
                    threads,
                    increments,
                },
                Outcome::Count(count),
            ) => *count == threads as u64 * increments,
            (Shape::Philosophers { philosophers, .. }, Outcome::Count(count)) => {
                *count == philosophers as u64
            }
            (Shape::Philosophers { ordered, .. }, Outcome::Deadlock) => !ordered,
            (Shape::Channel { senders, messages }, Outcome::Arrivals(arrivals)) => {
                let from = |sender| arrivals.iter().filter(move |(by, _)| *by == sender);
                arrivals.len() == senders * messages
                    && (0..senders).all(|sender| from(sender).map(|&(_, at)| at).eq(0..messages))
            }
            (
                Shape::Atomic {
                    threads,
                    increments,
                },
                Outcome::Count(count),
            ) => {
                // With more than one increment each, all but two can be lost.
                let least = increments.min(2);
                (least..=threads as u64 * increments).contains(count)
            }
            _ => false,
        }
    }

    /// Whether this is the bug of the program; false for programs that have none.
    pub fn is_bug(self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::Philosophers3, Outcome::Deadlock) => true,
            (Self::LostUpdate, Outcome::Count(count)) => *count < 2,
            (Self::LostUpdateDeep, Outcome::Count(count)) => *count <= 3,
            (Self::QueueOrder, Outcome::Arrivals(arrivals)) => {
                let last_of_third = arrivals.iter().rposition(|(by, _)| *by == 2);
                let first_of_first = arrivals.iter().position(|(by, _)| *by == 0);
                last_of_third < first_of_first && arrivals.last().is_some_and(|(by, _)| *by == 1)
            }
            _ => false,
        }
    }

    /// Whether it has a bug to be found.
    pub const fn has_bug(self) -> bool {
        matches!(
            self,
            Self::Philosophers3 | Self::LostUpdate | Self::LostUpdateDeep | Self::QueueOrder
        )
    }
}
