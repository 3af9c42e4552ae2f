//! A Rust program as a language of the debugger.
//!
//! The program is started so that it explores itself, and is then asked for universes: what is the state after these
//! steps? The stacks of threads cannot be compared, so a universe is identified by the happens-before fingerprint of
//! the steps that led to it; different orders of independent steps therefore lead to the same universe. Reports are
//! cached for a while, and can be requested again.
//!
//! | module | responsible for |
//! |---|---|
//! | `connection` | starting the program, sending requests, detecting that it has ended |
//! | `message` | messages between actors, as text and as values |
//! | `universe` | a universe: its steps, its fingerprint, its mark |
//! | `report_cache` | a cache of answers; the names of objects |
//! | `operations` | operations in the terms of the catalogue, and as text |
//! | `observation` | the observation and the ending of a universe |
//! | `value` | parsing the `Debug` output of a value |

mod connection;
mod message;
mod observation;
mod operations;
mod report_cache;
mod universe;
mod value;

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use reenact::explore::{Line, Schedule};
use reenact_ambient::Source;
use reenact_engine::{
    Access,
    explore::protocol::{
        ActivityStatus, Granularity, OperationReport, SourceLocation, UniverseReport,
    },
};
use reenact_multiverse::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Semantics, Site,
};

use self::{
    connection::Connection,
    report_cache::{NamedReport, ReportCache},
    universe::{Choice, MarkedMessage, Moved, Universe},
};
use crate::{error::Error, recorded_path::RecordedPath};

/// A Rust program under the debugger.
pub(crate) struct RustProgram {
    inside: Mutex<Inside>,
    /// The file that line numbers refer to. `lines` is its number of lines, if it was found.
    file: String,
    lines: Option<u32>,
    /// Which operations are steps from now on although no other activity can observe when they happen.
    granularity: Granularity,
    /// The steps of the recorded run.
    path: Vec<Choice>,
}

struct Inside {
    connection: Connection,
    cache: ReportCache,
}

/// How to start a program.
pub(crate) struct Start<'a> {
    pub(crate) command: &'a [OsString],
    /// Whether releasing a lock is always a step.
    pub(crate) unlocks: bool,
    /// How many waits of each activity may end without a reason.
    pub(crate) spurious_wakeups: u32,
    /// The recorded run that the session begins with.
    pub(crate) recording: Option<&'a RecordedPath<'a>>,
}

impl Start<'_> {
    fn command(&self) -> Result<Command, Error> {
        if let Some(recording) = self.recording {
            return recording.command();
        }
        let (program, arguments) = self.command.split_first().expect("clap asks for it");
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }
}

impl RustProgram {
    /// Starts a program and returns it with its source, which is empty if it was not found.
    pub(crate) fn start(start: &Start<'_>) -> Result<(RustProgram, Source), Error> {
        let (connection, hello) = Connection::open(start)?;
        if let Some(divergence) = hello.divergence {
            return Err(Error::Unfit(divergence));
        }
        let executable = PathBuf::from(start.command()?.get_program());
        let mut program = RustProgram {
            inside: Mutex::new(Inside {
                connection,
                cache: ReportCache::default(),
            }),
            file: String::new(),
            lines: None,
            granularity: Granularity {
                releases: hello.are_releases_steps,
                ..Granularity::default()
            },
            path: hello.path.into_iter().map(Choice::from).collect(),
        };
        let beginning = program.ask(&Universe::start(program.granularity));
        if let Some(error) = &beginning.error {
            return Err(Error::Exploration {
                program: executable.into(),
                error: error.clone(),
            });
        }
        let name = executable.display().to_string();
        // The program may only have operations that no other activity can observe.
        let all = || {
            program.ask(&Universe::start(Granularity {
                own: true,
                ..program.granularity
            }))
        };
        let file = program.first_file(&beginning);
        let Some(file) = file.or_else(|| program.first_file(&all())) else {
            return Ok((program, Source::new(name, "")));
        };
        let text = text_of(&file, &executable);
        program.lines = text.as_ref().map(|text| text.lines().count() as u32);
        program.file = file;
        program.with(|inside| inside.cache.set_file(&program.file));
        program.ask(&Universe::start(program.granularity));
        let name = match text {
            Some(_) => program.file.clone(),
            None => name,
        };
        Ok((program, Source::new(name, text.unwrap_or_default())))
    }

    /// Returns the file of the first operation that is about to happen.
    fn first_file(&self, seen: &NamedReport) -> Option<String> {
        seen.report
            .activities
            .iter()
            .find_map(|acting| match &acting.status {
                ActivityStatus::Pending(doing) => {
                    let location = doing.location.as_ref();
                    location.map(|location| location.file.clone())
                }
                _ => None,
            })
    }

    /// Returns the report of a universe, from the cache if it is there.
    fn seen(&self, universe: &Universe) -> NamedReport {
        let known = self.with(|inside| inside.cache.of(universe));
        known.unwrap_or_else(|| self.ask(universe))
    }

    /// Asks the program for a universe, and caches the reply.
    fn ask(&self, universe: &Universe) -> NamedReport {
        self.with(|inside| {
            let reply = inside.connection.ask(&universe.request());
            inside.cache.learn(universe, reply)
        })
    }

    fn with<R>(&self, action: impl FnOnce(&mut Inside) -> R) -> R {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        action(&mut inside)
    }

    /// Returns the operation that the step would execute.
    fn doing<'a>(report: &'a UniverseReport, step: &Choice) -> Option<&'a OperationReport> {
        let acting = report.activity(Activity(step.activity))?;
        match &acting.status {
            ActivityStatus::Pending(doing) => Some(doing),
            _ => None,
        }
    }
}

/// Returns the text of a source file. The path, as the compiler wrote it, is relative to this directory or to a
/// directory above the program.
fn text_of(file: &str, program: &Path) -> Option<String> {
    let here = PathBuf::from(file);
    let program = fs::canonicalize(program).unwrap_or_default();
    let above = program.ancestors().skip(1).map(|above| above.join(file));
    std::iter::once(here)
        .chain(above)
        .find_map(|path| fs::read_to_string(path).ok())
}

/// Returns the position in the terms of the debugger.
fn site(location: &SourceLocation) -> Site {
    Site {
        line: location.line,
        column: location.column,
    }
}

impl Semantics for RustProgram {
    type State = Universe;
    type Step = Choice;

    fn initial(&self) -> Vec<Universe> {
        let start = Universe::start(self.granularity);
        let seen = self.seen(&start);
        vec![start.with_fingerprint(seen.report.fingerprint)]
    }

    fn steps(&self, state: &Universe) -> Vec<Choice> {
        let seen = self.seen(state);
        let all = seen.report.activities.iter();
        all.filter_map(|acting| match &acting.status {
            ActivityStatus::Pending(doing) if doing.is_enabled => {
                Some((acting.number, doing.choices))
            }
            _ => None,
        })
        .flat_map(|(activity, ways)| (0..ways).map(move |way| Choice { activity, way }))
        .collect()
    }

    fn take(&self, state: &Universe, step: &Choice) -> Universe {
        let seen = self.seen(state);
        let moved = Self::doing(&seen.report, step).and_then(Moved::of);
        if let Some(fingerprint) = self.with(|inside| inside.cache.after(state, step)) {
            return state.after(*step, self.granularity, moved, fingerprint);
        }
        let next = state.after(*step, self.granularity, moved, 0);
        let reply = self.with(|inside| inside.connection.ask(&next.request()));
        let fingerprint = match &reply {
            Ok(report) => report.fingerprint,
            // Any value will do, as long as it is always the same for this step.
            Err(_) => state.fingerprint_of_failure(step),
        };
        let next = next.with_fingerprint(fingerprint);
        self.with(|inside| {
            inside.cache.learn(&next, reply);
            inside.cache.follows(state, step, fingerprint);
        });
        next
    }

    fn path(&self) -> Vec<Choice> {
        self.path.clone()
    }

    fn activity(&self, step: &Choice) -> Activity {
        Activity(step.activity)
    }

    /// Conservatively, all steps are dependent: the name of an object may become known late.
    fn dependent(&self, _: &Choice, _: &Choice) -> bool {
        true
    }

    fn kinds(&self) -> &'static [OperationKind] {
        &operations::KINDS
    }

    fn at_lines(&self) -> &'static [OperationKind] {
        self.kinds()
    }

    fn operation<'a>(&'a self, state: &'a Universe, step: &Choice) -> Operation<'a> {
        let seen = self.seen(state);
        let doing = Self::doing(&seen.report, step);
        let object = doing.and_then(OperationReport::object);
        let received = doing
            .and_then(Moved::of)
            .filter(|moved| !moved.is_sent)
            .map(|moved| moved.object);
        let message = doing.and_then(|doing| doing.message.as_ref());
        Operation {
            kind: doing.map_or(OperationKind::Local, |doing| doing.kind),
            activity: Activity(step.activity),
            subject: match (message, object) {
                (Some(message), _) => message::name(message).to_owned().into(),
                (None, Some(object)) => seen.name(object).into(),
                (None, None) => "".into(),
            },
            with: match message {
                Some(message) => Some(Activity(message.peer)),
                None => {
                    let with = doing.and_then(|doing| doing.with.as_ref());
                    with.map(|(number, _)| Activity(*number))
                }
            },
            site: doing.and_then(|doing| doing.location.as_ref()).map(site),
            sent_at: match message {
                Some(message) => message.sent_at.as_ref().map(site),
                None => received.and_then(|object| state.next_sent(object)),
            },
            depth: 0,
            marked: received.is_some_and(|object| state.is_marked(object))
                || doing.is_some_and(|doing| doing.kind == OperationKind::Resolve)
                    && state.is_turn_marked(step.activity),
        }
    }

    fn activities(&self, state: &Universe) -> Vec<Activity> {
        let seen = self.seen(state);
        let all = seen.report.activities.iter();
        all.map(|acting| Activity(acting.number)).collect()
    }

    fn turn<'a>(&'a self, state: &'a Universe, activity: Activity) -> Option<Operation<'a>> {
        let seen = self.seen(state);
        let turn = seen.report.activity(activity)?.turn.as_ref()?;
        Some(Operation {
            kind: OperationKind::Turn,
            activity,
            subject: message::name(turn).to_owned().into(),
            with: Some(Activity(turn.peer)),
            site: None,
            sent_at: turn.sent_at.as_ref().map(site),
            depth: 0,
            marked: false,
        })
    }

    fn mark(&self, state: &Universe, activity: Activity, what: Marked) -> Universe {
        match what {
            Marked::Next => state.marked(Some(MarkedMessage::Next(activity.0))),
            // Which message began a turn is not known afterwards.
            Marked::Turn => state.marked(None),
        }
    }

    fn unmark(&self, state: &Universe) -> Universe {
        state.marked(None)
    }

    /// Rejects only lines that are not in the file: whether a line has an operation is known only when an activity gets
    /// there.
    fn stop_at(&mut self, lines: &[u32]) -> Vec<u32> {
        let last = self.lines.unwrap_or(u32::MAX);
        let is_beyond = |line: &&u32| **line == 0 || **line > last;
        lines.iter().filter(is_beyond).copied().collect()
    }

    /// A breakpoint at an operation that no other activity can observe, or at releasing a lock, makes it a step.
    fn refine(&mut self, kinds: &[OperationKind]) {
        let finer = Granularity {
            releases: self.granularity.releases || kinds.contains(&OperationKind::Unlock),
            own: self.granularity.own || kinds.iter().any(|kind| operations::OWN.contains(kind)),
            ..self.granularity
        };
        if finer != self.granularity {
            self.granularity = finer;
            self.with(|inside| inside.cache.forget_steps());
        }
    }

    fn has_calls(&self) -> bool {
        false
    }

    fn name(&self, state: &Universe, activity: Activity) -> String {
        let seen = self.seen(state);
        match seen.report.activity(activity) {
            Some(acting) => acting.place.clone(),
            None => format!("activity {}", activity.0),
        }
    }

    fn describe(&self, state: &Universe, step: &Choice, _: &dyn Fn(Activity) -> String) -> String {
        let seen = self.seen(state);
        match Self::doing(&seen.report, step) {
            Some(doing) => operations::does(doing, &seen, Some(step.way), &self.file),
            None => "does something".to_owned(),
        }
    }

    fn observe(&self, state: &Universe) -> Observation {
        observation::observe(&self.seen(state), &self.file)
    }

    fn ending(&self, state: &Universe) -> Ending {
        observation::ending(&self.seen(state), &self.file)
    }

    fn schedule(&self, state: &Universe) -> Option<String> {
        let mut schedule = Schedule::default();
        for (before, step) in state.steps() {
            let reply = self.with(|inside| inside.connection.ask(&before.request()));
            let report = reply.ok()?;
            let doing = Self::doing(&report, &step)?;
            // In a schedule, operations that no other activity can observe are not steps.
            if doing.touches.first().map(|touch| touch.0) != Some(Access::Own) {
                let what = match &doing.message {
                    Some(message) => {
                        let label = message::label(message, &report);
                        Line::labelled(&doing.name, &label)
                    }
                    None => doing.name.clone(),
                };
                // The label of a message that is handled says where it was sent.
                let is_sent = doing
                    .message
                    .as_ref()
                    .is_some_and(|message| message.is_sent);
                let location = doing.location.as_ref().filter(|_| !is_sent);
                let mut line = Line {
                    who: report.activity(Activity(step.activity))?.place.clone(),
                    what,
                    site: location.map(ToString::to_string).unwrap_or_default(),
                    choice: step.way,
                };
                if let Some(object) = report.object(doing) {
                    line.set_object(object);
                }
                schedule.lines.push(line);
            }
        }
        Some(schedule.to_string())
    }

    fn state_bytes(&self, _: &Universe) -> usize {
        universe::BYTES
    }
}
