//! The libraries by name.

use std::collections::BTreeMap;

use clap::ValueEnum;

use crate::{measured::Measured, on_actix, on_kameo, on_ractor, on_tokio, sizes::Size};

/// A library to run the programs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Framework {
    /// Actors that are tokio tasks, with a type per message.
    Kameo,
    /// Actors that are tokio tasks, after Erlang's.
    Ractor,
    /// Actors that are pinned to a thread, here all to one: the best for these programs.
    Actix,
    /// The same library with actors on as many threads as there are workers.
    ActixSpread,
    /// No actors, only tasks and channels.
    Tokio,
}

impl Framework {
    /// All of them, in the order in which tables show them.
    pub const ALL: [Self; 5] = [
        Self::Kameo,
        Self::Ractor,
        Self::Actix,
        Self::ActixSpread,
        Self::Tokio,
    ];

    /// The name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kameo => "kameo",
            Self::Ractor => "ractor",
            Self::Actix => "actix",
            Self::ActixSpread => "actix-spread",
            Self::Tokio => "tokio",
        }
    }

    /// Runs a program of this size on so many worker threads, at least one, and checks its result.
    ///
    /// # Panics
    /// If the result is wrong. A panic within an actor may leave the program waiting instead, so
    /// that a process should end at the first panic of any thread, as `peer-round` does.
    pub fn run(self, size: Size, workers: usize) -> Measured {
        let workers = workers.max(1);
        match self {
            Self::Kameo => on_kameo::run(size, workers),
            Self::Ractor => on_ractor::run(size, workers),
            Self::Actix => on_actix::run(size, 1),
            Self::ActixSpread => on_actix::run(size, workers),
            Self::Tokio => on_tokio::run(size, workers),
        }
    }
}

/// The version of each library that this build is locked to.
pub fn versions() -> BTreeMap<&'static str, &'static str> {
    // The lock file is part of the package, and the only place that knows the exact versions.
    let lock = include_str!("../Cargo.lock");
    ["kameo", "ractor", "actix", "tokio"]
        .into_iter()
        .map(|name| (name, locked(lock, name).expect("it is a dependency")))
        .collect()
}

/// The version of the package `name`.
fn locked<'lock>(lock: &'lock str, name: &str) -> Option<&'lock str> {
    let start = format!("name = \"{name}\"\nversion = \"");
    let (_, rest) = lock.split_once(&start)?;
    let (version, _) = rest.split_once('"')?;
    Some(version)
}
