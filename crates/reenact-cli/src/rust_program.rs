//! A Rust program as a language of the debugger.
//!
//! The program is started so that it explores itself, and is then asked for universes: what is the state after these
//! steps? The stacks of threads cannot be compared, so a universe is identified by the happens-before fingerprint of
//! the steps that led to it; different orders of independent steps therefore lead to the same universe. Answers are
//! cached for a while, and can be requested again.
//!
//! | module | responsible for |
//! |---|---|
//! | `connection` | starting the program, sending requests, detecting that it has ended |
//! | `answer` | what the program reports about a universe |
//! | `message` | what the program reports about a message between actors |
//! | `universe` | a universe: its steps, its fingerprint, its mark |
//! | `answer_cache` | a cache of answers; the names of objects |
//! | `operations` | operations in the terms of the catalogue, and as text |
//! | `observation` | the observation and the ending of a universe |
//! | `value` | parsing the `Debug` output of a value |

mod answer;
mod answer_cache;
mod connection;
mod message;
mod observation;
mod operations;
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
use reenact_engine::Access;
use reenact_multiverse::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Semantics,
};

use self::{
    answer::{ActivityStatus, Answer, Doing},
    answer_cache::{AnswerCache, NamedAnswer},
    connection::Connection,
    universe::{Choice, ExtraSteps, MarkedMessage, Moved, Universe},
};
use crate::{error::Error, recorded_path::RecordedPath};

/// A Rust program under the debugger.
pub(crate) struct RustProgram {
    inside: Mutex<Inside>,
    /// The file that line numbers refer to. `lines` is its number of lines, if it was found.
    file: String,
    lines: Option<u32>,
    /// Which operations are steps from now on although no other activity can observe when they happen.
    extra_steps: ExtraSteps,
    /// The steps of the recorded run.
    path: Vec<Choice>,
}

struct Inside {
    connection: Connection,
    cache: AnswerCache,
}

/// How to start a program.
pub(crate) struct Start<'a> {
    pub(crate) command: &'a [OsString],
    /// Whether releasing a lock is always a step.
    pub(crate) unlocks: bool,
    /// The recorded run that the session begins with.
    pub(crate) recording: Option<&'a RecordedPath<'a>>,
}

impl Start<'_> {
    fn command(&self) -> Command {
        if let Some(recording) = self.recording {
            return recording.command();
        }
        let (program, arguments) = self.command.split_first().expect("clap asks for it");
        let mut command = Command::new(program);
        command.args(arguments);
        command
    }
}

impl RustProgram {
    /// Starts a program and returns it with its source, which is empty if it was not found.
    pub(crate) fn start(start: &Start<'_>) -> Result<(RustProgram, Source), Error> {
        let (connection, hello) = Connection::open(start)?;
        let field = |what: &str| {
            let mut lines = hello.iter().filter_map(|line| line.split_once('\t'));
            lines.find_map(|(name, value)| (name == what).then_some(value))
        };
        if let Some(divergence) = field("divergence") {
            return Err(Error::Unfit(divergence.to_owned()));
        }
        let path = field("path").unwrap_or_default();
        let path = path.split_whitespace().filter_map(Choice::parse).collect();
        let has_unlocks = field("releases") == Some("1");
        let executable = PathBuf::from(start.command().get_program());
        let mut program = RustProgram {
            inside: Mutex::new(Inside {
                connection,
                cache: AnswerCache::default(),
            }),
            file: String::new(),
            lines: None,
            extra_steps: ExtraSteps {
                releases: has_unlocks,
                own: false,
            },
            path,
        };
        let beginning = program.ask(&Universe::start(program.extra_steps));
        if let Some(error) = &beginning.answer.error {
            return Err(Error::Exploration {
                program: executable.into(),
                error: error.clone(),
            });
        }
        let name = executable.display().to_string();
        // The program may only have operations that no other activity can observe.
        let all = || {
            program.ask(&Universe::start(ExtraSteps {
                own: true,
                ..program.extra_steps
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
        program.ask(&Universe::start(program.extra_steps));
        let name = match text {
            Some(_) => program.file.clone(),
            None => name,
        };
        Ok((program, Source::new(name, text.unwrap_or_default())))
    }

    /// Returns the file of the first operation that is about to happen.
    fn first_file(&self, seen: &NamedAnswer) -> Option<String> {
        seen.answer
            .activities
            .iter()
            .find_map(|acting| match &acting.status {
                ActivityStatus::Does(doing) => doing.site().map(|_| doing.file.clone()),
                _ => None,
            })
    }

    /// Returns the answer for a universe, from the cache if it is there.
    fn seen(&self, universe: &Universe) -> NamedAnswer {
        let known = self.with(|inside| inside.cache.of(universe));
        known.unwrap_or_else(|| self.ask(universe))
    }

    /// Asks the program for a universe, and caches the answer.
    fn ask(&self, universe: &Universe) -> NamedAnswer {
        self.with(|inside| {
            let answer = inside.connection.ask(&universe.question());
            inside.cache.learn(universe, answer)
        })
    }

    fn with<R>(&self, action: impl FnOnce(&mut Inside) -> R) -> R {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        action(&mut inside)
    }

    /// Returns the operation that the step would execute.
    fn doing<'a>(answer: &'a Answer, step: &Choice) -> Option<&'a Doing> {
        let acting = answer.activity(step.activity)?;
        match &acting.status {
            ActivityStatus::Does(doing) => Some(doing),
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

impl Semantics for RustProgram {
    type State = Universe;
    type Step = Choice;

    fn initial(&self) -> Vec<Universe> {
        let start = Universe::start(self.extra_steps);
        let seen = self.seen(&start);
        vec![start.with_fingerprint(seen.answer.fingerprint)]
    }

    fn steps(&self, state: &Universe) -> Vec<Choice> {
        let seen = self.seen(state);
        let all = seen.answer.activities.iter();
        all.filter_map(|acting| match &acting.status {
            ActivityStatus::Does(doing) if doing.is_enabled => Some((acting.number, doing.ways)),
            _ => None,
        })
        .flat_map(|(activity, ways)| (0..ways).map(move |way| Choice { activity, way }))
        .collect()
    }

    fn take(&self, state: &Universe, step: &Choice) -> Universe {
        let seen = self.seen(state);
        let moved = Self::doing(&seen.answer, step).and_then(Moved::of);
        if let Some(fingerprint) = self.with(|inside| inside.cache.after(state, step)) {
            return state.after(*step, self.extra_steps, moved, fingerprint);
        }
        let next = state.after(*step, self.extra_steps, moved, 0);
        let answer = self.with(|inside| inside.connection.ask(&next.question()));
        let fingerprint = match &answer.error {
            // Any value will do, as long as it is always the same for this step.
            Some(_) => state.fingerprint_of_failure(step),
            None => answer.fingerprint,
        };
        let next = next.with_fingerprint(fingerprint);
        self.with(|inside| {
            inside.cache.learn(&next, answer);
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
        let doing = Self::doing(&seen.answer, step);
        let object = doing.and_then(Doing::object);
        let received = doing
            .and_then(Moved::of)
            .filter(|moved| !moved.is_sent)
            .map(|moved| moved.object);
        let message = doing.and_then(|doing| doing.message.as_ref());
        Operation {
            kind: doing.map_or(OperationKind::Local, |doing| doing.kind),
            activity: Activity(step.activity),
            subject: match (message, object) {
                (Some(message), _) => message.name().to_owned().into(),
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
            site: doing.and_then(Doing::site),
            sent_at: match message {
                Some(message) => message.site(),
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
        let all = seen.answer.activities.iter();
        all.map(|acting| Activity(acting.number)).collect()
    }

    fn turn<'a>(&'a self, state: &'a Universe, activity: Activity) -> Option<Operation<'a>> {
        let seen = self.seen(state);
        let turn = seen.answer.activity(activity.0)?.turn.as_ref()?;
        Some(Operation {
            kind: OperationKind::Turn,
            activity,
            subject: turn.name().to_owned().into(),
            with: Some(Activity(turn.peer)),
            site: None,
            sent_at: turn.site(),
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
        let finer = ExtraSteps {
            releases: self.extra_steps.releases || kinds.contains(&OperationKind::Unlock),
            own: self.extra_steps.own || kinds.iter().any(|kind| operations::OWN.contains(kind)),
        };
        if finer != self.extra_steps {
            self.extra_steps = finer;
            self.with(|inside| inside.cache.forget_steps());
        }
    }

    fn has_calls(&self) -> bool {
        false
    }

    fn name(&self, state: &Universe, activity: Activity) -> String {
        let seen = self.seen(state);
        match seen.answer.activity(activity.0) {
            Some(acting) => acting.place.clone(),
            None => format!("activity {}", activity.0),
        }
    }

    fn describe(&self, state: &Universe, step: &Choice, _: &dyn Fn(Activity) -> String) -> String {
        let seen = self.seen(state);
        match Self::doing(&seen.answer, step) {
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
            let answer = self.with(|inside| inside.connection.ask(&before.question()));
            let doing = Self::doing(&answer, &step)?;
            // In a schedule, operations that no other activity can observe are not steps.
            if doing.touches.first().map(|touch| touch.0) != Some(Access::Own) {
                let (what, site) = doing.describe(&answer);
                let mut line = Line {
                    who: answer.activity(step.activity)?.place.clone(),
                    what,
                    site,
                    choice: step.way,
                };
                if let Some(object) = answer.object(doing) {
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
