//! The programs of transactions by name.
//!
//! The package `peers` includes this file, which names nothing but std.

/// A program of threads and transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Lee's circuit routing: long transactions that read thousands of variables.
    Lee,
    /// STAMP's Vacation: transactions of a travel agency that read and write some ten variables.
    Vacation,
    /// Transfers between random accounts, and audits that read all of them.
    Bank,
    /// All threads increment the same variable.
    CounterShared,
    /// Every thread increments a variable of its own.
    CounterOwn,
}

impl Program {
    /// All programs, in the order in which tables show them.
    pub const ALL: [Self; 5] = [
        Self::Lee,
        Self::Vacation,
        Self::Bank,
        Self::CounterShared,
        Self::CounterOwn,
    ];

    /// The name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lee => "lee",
            Self::Vacation => "vacation",
            Self::Bank => "bank",
            Self::CounterShared => "counter-shared",
            Self::CounterOwn => "counter-own",
        }
    }

    /// The program of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }
}
