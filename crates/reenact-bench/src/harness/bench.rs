//! A bench: one row of a table.

use super::{
    effort::THREADS_SHARE,
    variant::{Peer, Variant},
};
use crate::{
    cores::Cores,
    csp::sizes::{Program, Size},
};

/// What a bench is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A program with locks that the papers measure.
    Locks,
    /// A primitive on its own. It counts for no mean.
    Micro,
    /// A program of actors that the papers measure.
    Actors,
    /// The same against other libraries.
    Peers,
    /// A program of channels by light processes.
    Processes,
    /// The same by threads.
    Threads,
    /// A program of transactions.
    Transactions,
    /// A program of everything.
    Mixed,
}

/// How actors are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// The receiver says whose message was next, which is what Reenact does by default.
    Receiver,
    /// The sender says which message of its receiver this was.
    Sender,
}

/// A workload at a size, on a number of cores, and the variants that are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bench {
    pub(super) workload: &'static str,
    pub(super) kind: Kind,
    pub(super) cores: Cores,
    pub(super) strategy: Strategy,
    pub(super) variants: &'static [Variant],
    pub(super) scale: f64,
}

impl Bench {
    /// The name in the results.
    pub(super) fn name(&self) -> String {
        let workload = self.unqualified();
        match self.group() {
            None => workload.to_owned(),
            Some(group) => format!("{workload}@{group}"),
        }
    }

    /// What `peer-round` calls the program: it does not depend on who runs it.
    pub(super) fn program(&self) -> &'static str {
        let name = self.unqualified();
        let runs = self.runs().unwrap_or_default();
        let program = name.strip_suffix(runs).unwrap_or(name);
        program.strip_suffix('-').unwrap_or(program)
    }

    /// The workload without the suite that it is qualified by, where another suite has one of the same name.
    fn unqualified(&self) -> &'static str {
        let name = self.workload.rsplit_once('/');
        name.map_or(self.workload, |(_, name)| name)
    }

    /// Who runs the program, where a suite has it by several.
    pub(super) fn runs(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Processes => Some("processes"),
            Kind::Threads => Some("threads"),
            _ => None,
        }
    }

    /// What follows the name: the benches that share a mean. The micro benches have one core count each, and do not name
    /// it.
    pub(super) fn group(&self) -> Option<&'static str> {
        match (self.kind, self.cores, self.strategy) {
            (Kind::Micro, _, _) => None,
            (_, Cores::All, Strategy::Receiver) => Some("all"),
            (Kind::Locks, Cores::One, _) => Some("1core"),
            (_, Cores::One, Strategy::Receiver) => Some("1"),
            (_, Cores::One, Strategy::Sender) => Some("1/sender"),
            (_, Cores::All, Strategy::Sender) => Some("all/sender"),
        }
    }

    /// The scale at which its trace is measured, if not in the rounds: in a short trace the header would weigh too much.
    /// Programs of actors and of processes have so many more operations that it does not.
    pub(super) fn scale_of_trace(&self) -> Option<f64> {
        match self.kind {
            Kind::Locks | Kind::Transactions => Some(1.0),
            Kind::Micro => Some(self.scale),
            Kind::Threads => Some(THREADS_SHARE),
            Kind::Actors | Kind::Peers | Kind::Processes | Kind::Mixed => None,
        }
    }

    /// The scale at which a variant runs: for threads next to light processes, less than all others.
    pub(super) fn scale_of(&self, variant: Variant) -> f64 {
        match (self.kind, variant) {
            (Kind::Processes, Variant::Peer(Peer::Crossbeam | Peer::Std)) => {
                self.scale * THREADS_SHARE
            }
            _ => self.scale,
        }
    }

    /// By how much the time of a variant is to be multiplied to be that of the whole bench: how many times the work that
    /// it was given there is.
    pub(super) fn shares_of(&self, variant: Variant) -> f64 {
        let scale = self.scale_of(variant);
        match Program::from_name(self.program()) {
            Some(program) if scale != self.scale => {
                let work = |scale| Size::of(program, scale).rendezvous() as f64;
                work(self.scale) / work(scale)
            }
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bench, Peer, Variant};
    use crate::harness::{Effort, Suite, plan::benches};

    fn bench(suite: Suite, name: &str) -> Bench {
        let benches = benches(suite, Effort::Full);
        let bench = benches.into_iter().find(|bench| bench.name() == name);
        bench.unwrap_or_else(|| panic!("there is no {name}"))
    }

    #[test]
    fn a_bench_says_who_runs_the_program_and_a_peer_gets_only_its_name() {
        let bench = bench(Suite::Csp, "PingPong-processes@1");
        assert_eq!(bench.workload, "PingPong-processes");
        assert_eq!(bench.program(), "PingPong");
    }

    #[test]
    fn a_bench_does_not_repeat_its_suite() {
        let bench = bench(Suite::Stm, "counter-own@all");
        assert_eq!(bench.workload, "stm/counter-own");
        assert_eq!(bench.program(), "counter-own");
    }

    #[test]
    fn threads_next_to_processes_have_less_to_do_and_their_time_counts_for_more() {
        let bench = bench(Suite::Csp, "PingPong-processes@all");
        let (threads, coroutines) = (Variant::Peer(Peer::Crossbeam), Variant::Peer(Peer::May));
        assert!(bench.scale_of(threads) < bench.scale_of(Variant::Off) / 50.0);
        assert!((99.0..101.0).contains(&bench.shares_of(threads)));
        assert!((bench.shares_of(coroutines) - 1.0).abs() < f64::EPSILON);
    }
}
