//! A Rust program as a language of its own: all its universes, for the debugger.
//!
//! The program is started to explore itself, and asked for one universe after the other: what is there after these steps? A
//! universe is known by the happens-before fingerprint of what led there, since a thread's stack cannot be compared; so
//! independent steps meet in the same one. What was told of a universe is kept for a while, and can be asked for again.
//!
//! | module | responsible for |
//! |---|---|
//! | `connection` | starting the program, asking it, noticing that it is gone |
//! | `told` | what it tells of a universe |
//! | `message` | what it tells of a message between actors |
//! | `universe` | a universe: the way there, its fingerprint, and what of it is marked |
//! | `known` | what was told, kept for a while; names of things |
//! | `words` | operations as the catalogue knows them, and in words |
//! | `looks` | what can be seen, and what came of it |
//! | `value` | from the `Debug` of a value to a tree |

mod connection;
mod known;
mod looks;
mod message;
mod told;
mod universe;
mod value;
mod words;

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
    connection::Connection,
    known::{Knowledge, Seen},
    told::{Doing, Stands, Told},
    universe::{Choice, Granularity, Mark, Moved, Universe},
};
use crate::{error::Failure, recording::Recording};

/// A Rust program that is debugged.
pub(crate) struct RustProgram {
    inside: Mutex<Inside>,
    /// The file that people mean when they say a line, and how many lines it has, if it was found.
    file: String,
    lines: Option<u32>,
    /// What is a step from now on although nobody else can tell when it happens.
    granularity: Granularity,
    /// The steps of a recorded run.
    path: Vec<Choice>,
}

struct Inside {
    connection: Connection,
    knowledge: Knowledge,
}

/// How a program is started.
pub(crate) struct Start<'a> {
    pub(crate) command: &'a [OsString],
    /// Whether giving a lock back is a step in any case.
    pub(crate) unlocks: bool,
    /// The recorded run that it is to begin with.
    pub(crate) recording: Option<&'a Recording<'a>>,
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
    /// Starts a program. Its text comes with it, if that is to be found.
    pub(crate) fn start(start: &Start<'_>) -> Result<(RustProgram, Source), Failure> {
        let (connection, hello) = Connection::open(start)?;
        let said = |what: &str| {
            let mut lines = hello.iter().filter_map(|line| line.split_once('\t'));
            lines.find_map(|(name, value)| (name == what).then_some(value))
        };
        if let Some(divergence) = said("divergence") {
            return Err(Failure::Unfit(divergence.to_owned()));
        }
        let path = said("path").unwrap_or_default();
        let path = path.split_whitespace().filter_map(Choice::parse).collect();
        let has_unlocks = said("releases") == Some("1");
        let executable = PathBuf::from(start.command().get_program());
        let mut program = RustProgram {
            inside: Mutex::new(Inside {
                connection,
                knowledge: Knowledge::default(),
            }),
            file: String::new(),
            lines: None,
            granularity: Granularity {
                releases: has_unlocks,
                own: false,
            },
            path,
        };
        let beginning = program.ask(&Universe::start(program.granularity));
        if let Some(error) = &beginning.told.error {
            return Err(Failure::Exploration {
                program: executable.into(),
                error: error.clone(),
            });
        }
        let name = executable.display().to_string();
        // What concerns nobody else may be all that is done.
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
        program.with(|inside| inside.knowledge.set_file(&program.file));
        program.ask(&Universe::start(program.granularity));
        let name = match text {
            Some(_) => program.file.clone(),
            None => name,
        };
        Ok((program, Source::new(name, text.unwrap_or_default())))
    }

    /// The file in which the first operation is of those who can act first.
    fn first_file(&self, seen: &Seen) -> Option<String> {
        seen.told
            .activities
            .iter()
            .find_map(|acting| match &acting.stands {
                Stands::Does(doing) => doing.site().map(|_| doing.file.clone()),
                _ => None,
            })
    }

    /// What is known of a universe.
    fn seen(&self, universe: &Universe) -> Seen {
        let known = self.with(|inside| inside.knowledge.of(universe));
        known.unwrap_or_else(|| self.ask(universe))
    }

    /// Asks the program for a universe, and keeps what it says.
    fn ask(&self, universe: &Universe) -> Seen {
        self.with(|inside| {
            let told = inside.connection.ask(&universe.question());
            inside.knowledge.learn(universe, told)
        })
    }

    fn with<R>(&self, action: impl FnOnce(&mut Inside) -> R) -> R {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        action(&mut inside)
    }

    /// What is about to be done, by whoever takes the step.
    fn doing<'a>(told: &'a Told, step: &Choice) -> Option<&'a Doing> {
        let acting = told.activity(step.activity)?;
        match &acting.stands {
            Stands::Does(doing) => Some(doing),
            _ => None,
        }
    }
}

/// The text of a source file, which the compiler has called so: seen from here, or from somewhere above the program.
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
        let start = Universe::start(self.granularity);
        let seen = self.seen(&start);
        vec![start.with_fingerprint(seen.told.fingerprint)]
    }

    fn steps(&self, state: &Universe) -> Vec<Choice> {
        let seen = self.seen(state);
        let all = seen.told.activities.iter();
        all.filter_map(|acting| match &acting.stands {
            Stands::Does(doing) if doing.is_enabled => Some((acting.number, doing.ways)),
            _ => None,
        })
        .flat_map(|(activity, ways)| (0..ways).map(move |way| Choice { activity, way }))
        .collect()
    }

    fn take(&self, state: &Universe, step: &Choice) -> Universe {
        let seen = self.seen(state);
        let moved = Self::doing(&seen.told, step).and_then(Moved::of);
        if let Some(fingerprint) = self.with(|inside| inside.knowledge.after(state, step)) {
            return state.after(*step, self.granularity, moved, fingerprint);
        }
        let next = state.after(*step, self.granularity, moved, 0);
        let told = self.with(|inside| inside.connection.ask(&next.question()));
        let fingerprint = match &told.error {
            // As good as any, and the same every time.
            Some(_) => state.fingerprint_of_failure(step),
            None => told.fingerprint,
        };
        let next = next.with_fingerprint(fingerprint);
        self.with(|inside| {
            inside.knowledge.learn(&next, told);
            inside.knowledge.follows(state, step, fingerprint);
        });
        next
    }

    fn path(&self) -> Vec<Choice> {
        self.path.clone()
    }

    fn activity(&self, step: &Choice) -> Activity {
        Activity(step.activity)
    }

    /// In doubt, they are: what a thing is called may be learned late.
    fn dependent(&self, _: &Choice, _: &Choice) -> bool {
        true
    }

    fn kinds(&self) -> &'static [OperationKind] {
        &words::KINDS
    }

    fn at_lines(&self) -> &'static [OperationKind] {
        self.kinds()
    }

    fn operation<'a>(&'a self, state: &'a Universe, step: &Choice) -> Operation<'a> {
        let seen = self.seen(state);
        let doing = Self::doing(&seen.told, step);
        let thing = doing.and_then(Doing::thing);
        let received = doing
            .and_then(Moved::of)
            .filter(|moved| !moved.is_sent)
            .map(|moved| moved.thing);
        let message = doing.and_then(|doing| doing.message.as_ref());
        Operation {
            kind: doing.map_or(OperationKind::Local, |doing| doing.kind),
            activity: Activity(step.activity),
            subject: match (message, thing) {
                (Some(message), _) => message.name().to_owned().into(),
                (None, Some(thing)) => seen.name(thing).into(),
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
                None => received.and_then(|thing| state.next_sent(thing)),
            },
            depth: 0,
            marked: received.is_some_and(|thing| state.is_marked(thing))
                || doing.is_some_and(|doing| doing.kind == OperationKind::Resolve)
                    && state.is_turn_marked(step.activity),
        }
    }

    fn activities(&self, state: &Universe) -> Vec<Activity> {
        let seen = self.seen(state);
        let all = seen.told.activities.iter();
        all.map(|acting| Activity(acting.number)).collect()
    }

    fn turn<'a>(&'a self, state: &'a Universe, activity: Activity) -> Option<Operation<'a>> {
        let seen = self.seen(state);
        let turn = seen.told.activity(activity.0)?.turn.as_ref()?;
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
            Marked::Next => state.marked(Some(Mark::Next(activity.0))),
            // What began a turn is not known afterwards.
            Marked::Turn => state.marked(None),
        }
    }

    fn unmark(&self, state: &Universe) -> Universe {
        state.marked(None)
    }

    /// Whether there is an operation at a line is known only when somebody comes there.
    fn stop_at(&mut self, lines: &[u32]) -> Vec<u32> {
        let last = self.lines.unwrap_or(u32::MAX);
        let is_beyond = |line: &&u32| **line == 0 || **line > last;
        lines.iter().filter(is_beyond).copied().collect()
    }

    /// Who stops at what concerns nobody else, or at giving a lock back, makes it a step.
    fn refine(&mut self, kinds: &[OperationKind]) {
        let finer = Granularity {
            releases: self.granularity.releases || kinds.contains(&OperationKind::Unlock),
            own: self.granularity.own || kinds.iter().any(|kind| words::OWN.contains(kind)),
        };
        if finer != self.granularity {
            self.granularity = finer;
            self.with(|inside| inside.knowledge.forget_steps());
        }
    }

    fn has_calls(&self) -> bool {
        false
    }

    fn name(&self, state: &Universe, activity: Activity) -> String {
        let seen = self.seen(state);
        match seen.told.activity(activity.0) {
            Some(acting) => acting.place.clone(),
            None => format!("activity {}", activity.0),
        }
    }

    fn tell(&self, state: &Universe, step: &Choice, _: &dyn Fn(Activity) -> String) -> String {
        let seen = self.seen(state);
        match Self::doing(&seen.told, step) {
            Some(doing) => words::does(doing, &seen, Some(step.way), &self.file),
            None => "does something".to_owned(),
        }
    }

    fn observe(&self, state: &Universe) -> Observation {
        looks::observe(&self.seen(state), &self.file)
    }

    fn ending(&self, state: &Universe) -> Ending {
        looks::ending(&self.seen(state), &self.file)
    }

    fn schedule(&self, state: &Universe) -> Option<String> {
        let mut schedule = Schedule::default();
        for (before, step) in state.steps() {
            let told = self.with(|inside| inside.connection.ask(&before.question()));
            let doing = Self::doing(&told, &step)?;
            // What concerns nobody else is no step elsewhere.
            if doing.touches.first().map(|touch| touch.0) != Some(Access::Own) {
                let (what, site) = doing.describe(&told);
                let mut line = Line {
                    who: told.activity(step.activity)?.place.clone(),
                    what,
                    site,
                    choice: step.way,
                };
                if let Some(object) = told.object(doing) {
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
