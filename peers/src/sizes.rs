//! How large each program is.
//!
//! This file depends on nothing, so that another crate can include it by `#[path]` and run the same
//! sizes on its own actors. The shape of a program (its number of actors, how much one round of it
//! sends) is the one that the papers measured; the amount of work is enlarged until bare tokio
//! needs 0.3 to 0.5 s on one worker, because the papers' sizes are over in milliseconds here.
//!
//! Three programs have rounds. Their main actor sends or creates without ever waiting, so that a
//! size several times the papers would hold all its messages or actors in memory at once and would
//! measure page faults. A round of them is the paper's size, and what grows is the number of rounds.

/// A program of the Savina suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Two actors exchange a ping for a pong: the latency of a message.
    PingPong,
    /// One actor sends another many increments: the throughput of one mailbox.
    Counting,
    /// A token goes around a ring: the cost of switching between actors.
    ThreadRing,
    /// Many actors live for one message each: the cost of an actor.
    ForkJoinActorCreation,
    /// One actor sends to many in turn: throughput over many mailboxes.
    ForkJoinThroughput,
    /// Many actors meet in pairs by way of one: contention on a mailbox.
    Chameneos,
    /// Everybody pings random others: many-to-many traffic.
    Big,
    /// Philosophers ask one arbitrator for their forks, again and again while it denies them.
    Philosophers,
}

impl Program {
    /// All programs, in the order in which tables show them.
    pub const ALL: [Self; 8] = [
        Self::PingPong,
        Self::Counting,
        Self::ThreadRing,
        Self::ForkJoinActorCreation,
        Self::ForkJoinThroughput,
        Self::Chameneos,
        Self::Big,
        Self::Philosophers,
    ];

    /// The name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PingPong => "PingPong",
            Self::Counting => "Counting",
            Self::ThreadRing => "ThreadRing",
            Self::ForkJoinActorCreation => "ForkJoinActorCreation",
            Self::ForkJoinThroughput => "ForkJoinThroughput",
            Self::Chameneos => "Chameneos",
            Self::Big => "Big",
            Self::Philosophers => "Philosophers",
        }
    }

    /// The program of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }
}

/// The parameters of one run of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// See [`Program::PingPong`].
    PingPong {
        /// How many pings are sent, and answered.
        pings: u64,
    },
    /// See [`Program::Counting`].
    Counting {
        /// How many increments are sent before the count is retrieved.
        increments: u64,
        /// How often that is done; the count goes on from round to round.
        rounds: u64,
    },
    /// See [`Program::ThreadRing`].
    ThreadRing {
        /// The number of actors in the ring.
        actors: usize,
        /// How often the token is passed on. Actor 0 starts with it.
        hops: u64,
    },
    /// See [`Program::ForkJoinActorCreation`].
    ForkJoinActorCreation {
        /// How many actors are created before waiting until all of them are done.
        actors: u64,
        /// How often that is done.
        rounds: u64,
    },
    /// See [`Program::ForkJoinThroughput`].
    ForkJoinThroughput {
        /// The number of actors.
        actors: usize,
        /// How many messages each is sent before waiting until all of them are done.
        messages: u64,
        /// How often that is done.
        rounds: u64,
    },
    /// See [`Program::Chameneos`].
    Chameneos {
        /// The number of creatures.
        chameneos: usize,
        /// How many pairs the mall makes.
        meetings: u64,
    },
    /// See [`Program::Big`].
    Big {
        /// The number of actors besides the sink.
        actors: usize,
        /// How many pings each sends, one after the other.
        pings: u64,
    },
    /// See [`Program::Philosophers`].
    Philosophers {
        /// The number of philosophers, and of forks.
        philosophers: usize,
        /// How many meals each has.
        meals: u64,
    },
}

impl Size {
    /// The size of `program` at `scale`: 1 is a full benchmark run, a half has half the messages.
    ///
    /// Only the amount of work scales, the number of actors does not, and every program does
    /// something at every scale.
    pub fn of(program: Program, scale: f64) -> Self {
        let times = |base: u64| ((base as f64 * scale).round() as u64).max(1);
        match program {
            Program::PingPong => Self::PingPong {
                pings: times(1_200_000),
            },
            Program::Counting => {
                let (increments, rounds) = in_rounds(times(8_000_000), 200_000);
                Self::Counting { increments, rounds }
            }
            Program::ThreadRing => Self::ThreadRing {
                actors: 100,
                hops: times(2_500_000),
            },
            Program::ForkJoinActorCreation => {
                let (actors, rounds) = in_rounds(times(240_000), 40_000);
                Self::ForkJoinActorCreation { actors, rounds }
            }
            Program::ForkJoinThroughput => {
                let (messages, rounds) = in_rounds(times(1_920), 60);
                Self::ForkJoinThroughput {
                    actors: 3_000,
                    messages,
                    rounds,
                }
            }
            Program::Chameneos => Self::Chameneos {
                chameneos: 100,
                meetings: times(800_000),
            },
            Program::Big => Self::Big {
                actors: 800,
                pings: times(1_800),
            },
            Program::Philosophers => Self::Philosophers {
                philosophers: 20,
                meals: times(50_000),
            },
        }
    }

    /// How many operations a run of this size has: actors for [`Program::ForkJoinActorCreation`],
    /// messages between actors for all others.
    ///
    /// What the main program sends to set up the actors is not counted, nor is what depends on the
    /// schedule: a philosopher who is denied forks sends one more request and gets one more answer.
    pub fn ops(&self) -> u64 {
        match *self {
            // A ping and a pong.
            Self::PingPong { pings } => 2 * pings,
            // The increments, and a request for the count with its answer.
            Self::Counting { increments, rounds } => (increments + 2) * rounds,
            Self::ThreadRing { hops, .. } => hops,
            Self::ForkJoinActorCreation { actors, rounds } => actors * rounds,
            // Each actor says when it is done.
            Self::ForkJoinThroughput {
                actors,
                messages,
                rounds,
            } => actors as u64 * (messages + 1) * rounds,
            // For a meeting two requests, the mall's introduction and the change of the other's
            // colour; at the end of each creature a request, its refusal and a count.
            Self::Chameneos {
                chameneos,
                meetings,
            } => 4 * meetings + 3 * chameneos as u64,
            // A ping and a pong; at the end of each actor its word to the sink, the sink's question
            // and the answer.
            Self::Big { actors, pings } => (2 * pings + 3) * actors as u64,
            // A request, its grant and the return of the forks; one message to leave.
            Self::Philosophers {
                philosophers,
                meals,
            } => (3 * meals + 1) * philosophers as u64,
        }
    }
}

/// Splits `total` into rounds of at most `largest`: how large a round is, and how many there are.
fn in_rounds(total: u64, largest: u64) -> (u64, u64) {
    let round = total.min(largest);
    (round, (total as f64 / round as f64).round() as u64)
}
