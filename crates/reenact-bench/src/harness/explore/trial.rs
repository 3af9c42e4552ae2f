//! Who explores, and how that is started.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde::de::DeserializeOwned;

use crate::{
    cores::Cores,
    explored::{Explored, Hunt, Way, programs::Program},
    harness::child::{output, present},
};

/// Who explores a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Reenact on one core.
    Ours(Way),
    /// The same again, for the control.
    Again(Way),
    /// Reenact on all cores.
    OnAll(Way),
    /// Another library, by its name on the command line of `peer-round`.
    Peer(&'static str),
}

impl Who {
    /// The name in the results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ours(way) | Self::Again(way) | Self::OnAll(way) => way.name(),
            Self::Peer(name) => name,
        }
    }

    fn cores(self) -> Cores {
        match self {
            Self::OnAll(_) => Cores::All,
            _ => Cores::One,
        }
    }
}

/// A program that somebody explores once in every round, or in the first only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) program: Program,
    pub(super) who: Who,
    pub(super) scale: f64,
    pub(super) is_once: bool,
}

/// Those who explore.
pub(in crate::harness) struct Explorers {
    ours: PathBuf,
    peers: PathBuf,
}

/// When a child is given up: later than the most patient of them gives up itself.
const LIMIT: Duration = Duration::from_secs(90);

impl Explorers {
    /// The error says what to do if ours is not there.
    pub(in crate::harness) fn new(ours: &Path, peers: &Path) -> io::Result<Self> {
        present(
            ours,
            "build all binaries, `cargo build --release -p reenact-bench`",
        )?;
        Ok(Self {
            ours: ours.to_owned(),
            peers: peers.to_owned(),
        })
    }

    /// What exploring gave.
    pub(super) fn explore(&self, trial: &Trial) -> Result<Explored, String> {
        let mut command = self.command(trial.who, trial.program);
        command.args(["--scale", &trial.scale.to_string()]);
        if let Who::OnAll(_) = trial.who {
            command.args(["--cores", &Cores::All.count().to_string()]);
        }
        read(&mut command, trial.who)
    }

    /// How long it took to find a bug.
    pub(super) fn hunt(&self, who: Who, program: Program, seeds: u64) -> Result<Hunt, String> {
        let mut command = self.command(who, program);
        command.args(["--until-bug", &seeds.to_string()]);
        read(&mut command, who)
    }

    fn command(&self, who: Who, program: Program) -> Command {
        let mut command = match who {
            Who::Peer(_) => Command::new(&self.peers),
            _ => Command::new(&self.ours),
        };
        command
            .args([who.name(), program.name()])
            .env_remove("REENACT")
            .env_remove("REENACT_TRACE")
            // What it would cost to say more of a panic is nobody's business here.
            .env("RUST_BACKTRACE", "0");
        command
    }
}

fn read<T: DeserializeOwned>(command: &mut Command, who: Who) -> Result<T, String> {
    let (line, _) = output(command, who.cores(), LIMIT)?;
    serde_json::from_str(&line)
        .map_err(|error| format!("printed {line:?}, which is not a measurement: {error}"))
}
