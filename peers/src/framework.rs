//! The libraries by name.

use std::collections::BTreeMap;

use clap::ValueEnum;
use serde::Serialize;

use crate::{
    Measured, Setting, csp,
    explore::{self, Explored, Hunt, on_shuttle::Strategy},
    on_actix, on_kameo, on_ractor, on_tokio, sizes, stm,
};

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
    /// Executions at random.
    ShuttleRandom,
    /// The same by random priorities.
    ShuttlePct,
    /// The same by a random walk that is about uniform.
    ShuttleUrw,
    /// All executions.
    Loom,
    /// All executions, up to the order of what is independent.
    Traceforge,
}

/// What one run gives.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Round {
    /// A program was run once.
    Measured(Measured),
    /// A program was executed in many ways.
    Explored(Explored),
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

    /// Those that explore, in the order in which tables show them.
    pub const EXPLORE: [Self; 5] = [
        Self::ShuttleRandom,
        Self::ShuttlePct,
        Self::ShuttleUrw,
        Self::Loom,
        Self::Traceforge,
    ];

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
            Self::ShuttleRandom => "shuttle-random",
            Self::ShuttlePct => "shuttle-pct",
            Self::ShuttleUrw => "shuttle-urw",
            Self::Loom => "loom",
            Self::Traceforge => "traceforge",
        }
    }

    /// The names of the programs that run on it.
    pub fn programs(self) -> Vec<&'static str> {
        if Self::ACTORS.contains(&self) {
            sizes::Program::ALL.map(|program| program.name()).to_vec()
        } else if Self::STM.contains(&self) {
            stm::Program::ALL.map(|program| program.name()).to_vec()
        } else if self.explores() {
            let programs = self.explored().iter();
            programs.map(|program| program.name()).collect()
        } else {
            csp::sizes::Program::ALL
                .map(|program| program.name())
                .to_vec()
        }
    }

    /// Whether it executes a program many times. A panic of such a program may be what it looks for.
    pub fn explores(self) -> bool {
        Self::EXPLORE.contains(&self)
    }

    /// Runs the program of this name at this scale on so many worker threads, at least one, and checks its result. `None`
    /// if it has no such program.
    ///
    /// # Panics
    /// If the result is wrong. A panic within an actor or a process may leave the program waiting instead, so
    /// that a process should end at the first panic of any thread, as `peer-round` does.
    pub fn run(self, program: &str, scale: f64, workers: usize) -> Option<Round> {
        if self.explores() {
            self.explore(program, scale).map(Round::Explored)
        } else {
            self.measure(program, scale, workers).map(Round::Measured)
        }
    }

    /// Executes the program of this name with each of so many seeds until its bug is found. `None` if it has no such
    /// program, the program has no bug, or it does not search at random.
    pub fn hunt(self, program: &str, seeds: u64) -> Option<Hunt> {
        let program = self.program_to_explore(program)?;
        let strategy = self.strategy()?;
        let hunt = || explore::on_shuttle::hunt(strategy, program, seeds);
        program.has_bug().then(hunt)
    }

    fn measure(self, program: &str, scale: f64, workers: usize) -> Option<Measured> {
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
            Self::ShuttleRandom
            | Self::ShuttlePct
            | Self::ShuttleUrw
            | Self::Loom
            | Self::Traceforge => return None,
        })
    }

    fn explore(self, program: &str, scale: f64) -> Option<Explored> {
        let program = self.program_to_explore(program)?;
        match self {
            Self::Loom => Some(explore::on_loom::run(program, scale)),
            Self::Traceforge => Some(explore::on_traceforge::run(program, scale)),
            _ => Some(explore::on_shuttle::run(self.strategy()?, program, scale)),
        }
    }

    fn program_to_explore(self, name: &str) -> Option<explore::programs::Program> {
        let mut programs = self.explored().iter();
        programs.find(|program| program.name() == name).copied()
    }

    fn explored(self) -> &'static [explore::programs::Program] {
        match self {
            Self::ShuttleRandom | Self::ShuttlePct | Self::ShuttleUrw => {
                &explore::programs::Program::ALL
            }
            Self::Loom => &explore::on_loom::PROGRAMS,
            Self::Traceforge => &explore::on_traceforge::PROGRAMS,
            _ => &[],
        }
    }

    fn strategy(self) -> Option<Strategy> {
        match self {
            Self::ShuttleRandom => Some(Strategy::Random),
            Self::ShuttlePct => Some(Strategy::Pct),
            Self::ShuttleUrw => Some(Strategy::Urw),
            _ => None,
        }
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
        ("shuttle", "shuttle"),
        ("loom", "loom"),
        ("traceforge", "traceforge"),
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
