//! The ways in which a program is explored.

use clap::ValueEnum;
use reenact_explore::RandomStrategy;

use super::programs::Program;

/// A way to explore a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Way {
    /// At random, in turns by `urw` and by `pct`.
    Mixed,
    /// At random, whoever can go on.
    Walk,
    /// At random, each interleaving about as likely as the others.
    Urw,
    /// At random, by priorities.
    Pct,
    /// At random, by priorities of operations.
    Pos,
    /// One of each class.
    Exhaustive,
}

/// How many events a failure may need in a certain order. The peers' PCT has the same.
const DEPTH: u32 = 5;

impl Way {
    /// The name on the command line and in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Walk => "walk",
            Self::Urw => "urw",
            Self::Pct => "pct",
            Self::Pos => "pos",
            Self::Exhaustive => "exhaustive",
        }
    }

    /// How it draws, if it does.
    pub fn strategy(self) -> Option<RandomStrategy> {
        match self {
            Self::Mixed => Some(RandomStrategy::Mixed),
            Self::Walk => Some(RandomStrategy::Walk),
            Self::Urw => Some(RandomStrategy::Urw),
            Self::Pct => Some(RandomStrategy::Pct { depth: DEPTH }),
            Self::Pos => Some(RandomStrategy::Pos),
            Self::Exhaustive => None,
        }
    }

    /// Whether it is worth while to divide it among cores: a few classes are over before a thread has begun.
    pub fn is_divided(self, program: Program) -> bool {
        self.strategy().is_some() || classes(program).is_none_or(|classes| classes > 500)
    }
}

/// How many executions there are if only one of each class is run. None if nobody has waited for all of them.
pub(super) fn classes(program: Program) -> Option<u64> {
    match program {
        // Two loads do not depend on each other: of the six interleavings, two pairs differ in the order of the loads.
        Program::LostUpdate => Some(4),
        other => other.inequivalent_executions(),
    }
}

/// Whether nobody has waited for all of them.
pub(crate) fn is_endless(program: Program) -> bool {
    classes(program).is_none()
}
