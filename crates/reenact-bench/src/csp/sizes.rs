//! How large each program of processes is.
//!
//! The package `peers` includes this file, which names nothing but std. The papers do not say how large their programs of
//! processes are. Here they are those of the actors that they were adapted from, except that ForkJoinThroughput has a
//! thousand workers rather than three thousand, because there must be a thread for each of them too. The amount of work
//! is enlarged until light processes need about half a second for it.

/// A program of processes and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Two processes exchange a ping for a pong: the latency of a rendezvous.
    PingPong,
    /// One process sends to many in turn: throughput over many channels.
    ForkJoinThroughput,
    /// Philosophers ask one arbitrator for their forks, again and again while it denies them: many senders on one
    /// channel.
    Philosophers,
}

impl Program {
    /// All programs, in the order in which tables show them.
    pub const ALL: [Self; 3] = [Self::PingPong, Self::ForkJoinThroughput, Self::Philosophers];

    /// The name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PingPong => "PingPong",
            Self::ForkJoinThroughput => "ForkJoinThroughput",
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
    /// See [`Program::ForkJoinThroughput`].
    ForkJoinThroughput {
        /// The number of workers.
        workers: usize,
        /// How many messages each is sent.
        messages: u64,
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
    /// The size of `program` at `scale`: 1 is a full benchmark run, a half has half the rendezvous.
    ///
    /// Only the amount of work scales, the number of processes does not, and every program does something at every
    /// scale.
    pub fn of(program: Program, scale: f64) -> Self {
        let times = |base: u64| ((base as f64 * scale).round() as u64).max(1);
        match program {
            Program::PingPong => Self::PingPong {
                pings: times(4_000_000),
            },
            Program::ForkJoinThroughput => Self::ForkJoinThroughput {
                workers: 1_000,
                messages: times(3_000),
            },
            Program::Philosophers => Self::Philosophers {
                philosophers: 20,
                meals: times(40_000),
            },
        }
    }

    /// How many rendezvous a run of this size has at least.
    ///
    /// What depends on the schedule is not counted: a philosopher who is denied forks asks once more and gets one more
    /// answer.
    pub fn rendezvous(&self) -> u64 {
        match *self {
            // A ping and a pong; one message to stop.
            Self::PingPong { pings } => 2 * pings + 1,
            // Each worker receives a stop message and acknowledges it.
            Self::ForkJoinThroughput { workers, messages } => workers as u64 * (messages + 2),
            // A request, its grant and the return of the forks; one message to leave.
            Self::Philosophers {
                philosophers,
                meals,
            } => (3 * meals + 1) * philosophers as u64,
        }
    }
}
