//! The libraries by name.

use std::collections::BTreeMap;

use clap::ValueEnum;

use crate::{Measured, Setting, csp, on_actix, on_kameo, on_ractor, on_tokio, sizes, stm};

/// A library to run programs on.
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
    /// Threads and a channel without capacity.
    Crossbeam,
    /// The same of the standard library.
    Std,
    /// Coroutines, with a rendezvous made of two channels.
    May,
    /// Coroutines and a channel that does not wait.
    MayMpsc,
    /// Transactions.
    Stm,
    /// Transactions, made from that.
    FastStm,
}

impl Framework {
    /// Those for actors, in the order in which tables show them.
    pub const ACTORS: [Self; 5] = [
        Self::Kameo,
        Self::Ractor,
        Self::Actix,
        Self::ActixSpread,
        Self::Tokio,
    ];

    /// Those for processes and channels, in the order in which tables show them.
    pub const CSP: [Self; 4] = [Self::Crossbeam, Self::Std, Self::May, Self::MayMpsc];

    /// Those for transactions, in the order in which tables show them.
    pub const STM: [Self; 2] = [Self::Stm, Self::FastStm];

    /// The name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kameo => "kameo",
            Self::Ractor => "ractor",
            Self::Actix => "actix",
            Self::ActixSpread => "actix-spread",
            Self::Tokio => "tokio",
            Self::Crossbeam => "crossbeam",
            Self::Std => "std",
            Self::May => "may",
            Self::MayMpsc => "may-mpsc",
            Self::Stm => "stm",
            Self::FastStm => "fast-stm",
        }
    }

    /// The names of the programs that run on it.
    pub fn programs(self) -> Vec<&'static str> {
        if Self::ACTORS.contains(&self) {
            sizes::Program::ALL.map(|program| program.name()).to_vec()
        } else if Self::STM.contains(&self) {
            stm::Program::ALL.map(|program| program.name()).to_vec()
        } else {
            csp::sizes::Program::ALL
                .map(|program| program.name())
                .to_vec()
        }
    }

    /// Runs the program of this name at this scale on so many worker threads, at least one, and checks its result. `None`
    /// if it has no such program.
    ///
    /// # Panics
    /// If the result is wrong. A panic within an actor or a process may leave the program waiting instead, so
    /// that a process should end at the first panic of any thread, as `peer-round` does.
    pub fn run(self, program: &str, scale: f64, workers: usize) -> Option<Measured> {
        let workers = workers.max(1);
        let actors = || Some(sizes::Size::of(sizes::Program::from_name(program)?, scale));
        let csp = || {
            let program = csp::sizes::Program::from_name(program)?;
            Some(csp::sizes::Size::of(program, scale))
        };
        let stm = || stm::Program::from_name(program);
        let setting = Setting {
            scale,
            threads: None,
        };
        Some(match self {
            Self::Kameo => on_kameo::run(actors()?, workers),
            Self::Ractor => on_ractor::run(actors()?, workers),
            Self::Actix => on_actix::run(actors()?, 1),
            Self::ActixSpread => on_actix::run(actors()?, workers),
            Self::Tokio => on_tokio::run(actors()?, workers),
            Self::Crossbeam => csp::on_crossbeam::run(csp()?),
            Self::Std => csp::on_std::run(csp()?),
            Self::May => csp::on_may::run(csp()?, workers),
            Self::MayMpsc => csp::on_may_mpsc::run(csp()?, workers),
            Self::Stm => stm::on_stm::run(stm()?, &setting),
            Self::FastStm => stm::on_fast_stm::run(stm()?, &setting),
        })
    }
}

/// The version of each library that this build is locked to.
pub fn versions() -> BTreeMap<&'static str, &'static str> {
    // The lock file is part of the package, and the only place that knows the exact versions.
    let lock = include_str!("../Cargo.lock");
    [
        ("kameo", "kameo"),
        ("ractor", "ractor"),
        ("actix", "actix"),
        ("tokio", "tokio"),
        ("crossbeam", "crossbeam-channel"),
        ("may", "may"),
        ("stm", "stm"),
        ("fast-stm", "fast-stm"),
    ]
    .into_iter()
    .map(|(name, package)| (name, locked(lock, package).expect("it is a dependency")))
    .collect()
}

/// The version of the package `name`.
fn locked<'lock>(lock: &'lock str, name: &str) -> Option<&'lock str> {
    let start = format!("name = \"{name}\"\nversion = \"");
    let (_, rest) = lock.split_once(&start)?;
    let (version, _) = rest.split_once('"')?;
    Some(version)
}
