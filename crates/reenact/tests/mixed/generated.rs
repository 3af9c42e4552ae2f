//! The oracle: a replay prints what the recording printed, ends as it ended and leaves no report. While it runs it makes the
//! same trace again, or says that it does not.
//!
//! ```text
//! thread 0  ── ask a ── lock ── transaction ── process ──────── join ── …
//!                │                               └── send c ── tick
//! actor a   ── turn: recv d ── when … ── thread ── …
//! process 1 ── select c, d ── favour ── retry until 0 ticks ── …
//! drain c, feed d
//! ```
//!
//! Recorded with all cores at work, by senders and by receivers, with some number of workers; replayed with the same and
//! with others. `cargo xtask hunt` tries other programs; `REENACT_CASES=5000` for more of them. One that fails is made
//! smaller and printed.

#[path = "../../examples/programs/mixed/language.rs"]
mod language;

use std::time::{Duration, Instant};

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select, subsequence},
};
use reenact_testing::generated;

use self::language::{Actor, Channel, Operation, Program, Root, Verb};
use crate::support::stage::{Outcome, Stage};

const CASES: u32 = 40;

fn operation(verbs: Vec<Verb>) -> impl Strategy<Value = Operation> {
    (select(verbs), 0..6usize, 0..6usize).prop_map(|(verb, first, second)| Operation {
        verb,
        first,
        second,
    })
}

fn channel() -> impl Strategy<Value = Channel> {
    let room = prop_oneof![3 => Just(Some(0)), 2 => (1..4usize).prop_map(Some), 1 => Just(None)];
    (any::<bool>(), room).prop_map(|(is_fed, room)| Channel { is_fed, room })
}

fn actor() -> impl Strategy<Value = Actor> {
    let mailbox = proptest::option::weighted(0.2, 1..6u32);
    (any::<bool>(), mailbox).prop_map(|(keeps, mailbox)| Actor { keeps, mailbox })
}

fn program_of(verbs: Vec<Verb>) -> impl Strategy<Value = Program> {
    let counts = (1..4usize, 1..3usize, 1..4usize, 1..4usize, 1..9usize);
    let (channels, actors) = (vec(channel(), 1..4), vec(actor(), 1..4));
    let scripts = vec(vec(operation(verbs.clone()), 1..5), 1..5);
    let script = vec(operation(verbs), 2..15);
    let root = (any::<bool>(), script);
    let root = root.prop_map(|(is_process, script)| Root { is_process, script });
    (counts, channels, actors, scripts, vec(root, 1..6)).prop_map(
        |(counts, channels, actors, scripts, roots)| Program {
            mutexes: counts.0,
            atomics: counts.1,
            variables: counts.2,
            fuel: counts.3,
            rounds: counts.4,
            channels,
            actors,
            scripts,
            roots,
        },
    )
}

/// Of all verbs, or of a few only: what rarely meets among many does so all the time among few.
fn program() -> impl Strategy<Value = Program> {
    let verbs = Verb::ALL.iter().copied();
    let all: Vec<_> = verbs.filter(|&verb| verb != Verb::Exit).collect();
    let verbs = prop_oneof![
        1 => Just(all.clone()),
        3 => subsequence(all, 3..10),
    ];
    verbs.prop_flat_map(program_of)
}

/// One that somebody ends while the others are somewhere. Only one can: of two that try at the same time, which the system
/// lets end it is not recorded.
fn program_that_ends() -> impl Strategy<Value = Program> {
    (program(), any::<Index>(), any::<Index>()).prop_map(|(mut program, root, place)| {
        let script = &mut root.get_mut(&mut program.roots).script;
        let end = Operation {
            verb: Verb::Exit,
            first: 0,
            second: 0,
        };
        script.insert(place.index(script.len() + 1), end);
        program
    })
}

/// How a program is recorded.
#[derive(Debug, Clone, Copy)]
struct Way {
    by_senders: bool,
    workers: usize,
    /// How many microseconds after its beginning, where it is killed.
    instant: u64,
}

fn way() -> impl Strategy<Value = Way> {
    (any::<bool>(), 1..5usize, 0..30_000u64).prop_map(|(by_senders, workers, instant)| Way {
        by_senders,
        workers,
        instant,
    })
}

struct Recording<'a> {
    stage: Stage,
    program: &'a Program,
    way: Way,
}

impl Recording<'_> {
    fn with(&self, workers: usize) -> crate::support::stage::Program<'_> {
        let text = self.program.to_string();
        let strategy = match self.way.by_senders {
            true => "sender",
            false => "receiver",
        };
        self.stage
            .program("mixed")
            .with(move |command| {
                command.arg(&text);
            })
            .env("REENACT_STRATEGY", strategy)
            .env("REENACT_WORKERS", workers.to_string())
    }

    #[track_caller]
    fn record(&self) -> Outcome {
        let outcome = self.with(self.way.workers).record();
        let status = outcome.status.code();
        assert!(matches!(status, Some(0 | 3)), "{outcome:#?}");
        assert_eq!(outcome.remarks(), 0, "{outcome:#?}");
        let trace = self.stage.recovered();
        assert!(
            trace.is_complete() && trace.stop().is_none(),
            "{outcome:#?}"
        );
        outcome
    }
}

impl Way {
    fn workers_of_replays(self) -> impl Iterator<Item = usize> {
        [self.workers, self.workers, 1, 3].into_iter().cycle()
    }
}

/// Records a program to its end, and replays it.
fn record_and_replay(program: &Program, way: Way) {
    let recording = Recording {
        stage: Stage::new(),
        program,
        way,
    };
    let recorded = recording.record();
    for workers in way.workers_of_replays().take(generated::REPLAYS) {
        recording.with(workers).replay().is_same_as(&recorded);
    }
}

/// Kills a program some time after its beginning, and replays it to there: as far as it came, it is the same.
fn kill_and_replay(program: &Program, way: Way) {
    let endless = Program {
        rounds: 1000,
        ..program.clone()
    };
    let recording = Recording {
        stage: Stage::new(),
        program: &endless,
        way,
    };
    let mut running = recording.with(way.workers).start_recording();
    running.wait_for_output("begins\n");
    let instant = Instant::now() + Duration::from_micros(way.instant);
    while Instant::now() < instant {
        std::hint::spin_loop();
    }
    running.kill();
    for workers in way.workers_of_replays().take(3) {
        let replayed = recording.with(workers).replay();
        // If it had come to its end by then, so does the replay.
        if replayed.report.is_some() {
            replayed.ended();
        } else {
            replayed.is_fine();
        }
    }
}

fn check_on_all_cores<S: Strategy<Value = Program>>(programs: fn() -> S, holds: fn(&Program, Way)) {
    generated::on_threads(CASES, |config| {
        generated::check(
            config,
            200,
            &(programs(), way()),
            |(program, way)| holds(program, *way),
            |(program, way)| format!("the program, recorded {way:?}:\n{program}"),
        )
    });
}

#[test]
fn a_mixture_replays_as_it_was_recorded() {
    check_on_all_cores(program, record_and_replay);
}

#[test]
fn a_mixture_that_is_ended_in_the_midst_replays_as_it_was_recorded() {
    check_on_all_cores(program_that_ends, record_and_replay);
}

#[test]
fn a_killed_mixture_replays_to_where_it_was() {
    check_on_all_cores(program, kill_and_replay);
}

/// ```text
/// thread  ── post a
/// actor a ── turn: introduce a to c ──── turn ──
/// drain c ─────────── recv a ── post a
/// ```
///
/// What is caused by way of a channel has less fuel than what causes it, too.
#[test]
fn a_mixture_whose_actor_introduces_itself_ends() {
    let text = "mutexes 1 atomics 1 variables 1 fuel 1 rounds 1 channels d-\n\
        actor keep -\n\
        script: introduce:0,0\n\
        thread: post:0,0";
    let program: Program = text.parse().unwrap();
    for by_senders in [false, true] {
        let way = Way {
            by_senders,
            workers: 2,
            instant: 0,
        };
        record_and_replay(&program, way);
    }
}

#[test]
fn a_mixture_is_the_same_after_being_written_down() {
    generated::survives_printing(&program());
}
