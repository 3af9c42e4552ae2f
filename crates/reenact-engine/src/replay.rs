//! Replay: the controller that follows a trace.
//!
//! Every activity runs on its own thread, on all cores. Before an operation, it takes its next event or counts down a
//! silent operation, and waits until the object has reached the recorded version; releasing an object wakes exactly
//! those activities whose turn it is. At every operation, replay computes the same prediction as recording, and it must
//! agree with the trace. So a replay that completes has produced the same trace again; the first divergence ends it
//! with a report.

mod control;
mod cursor;
mod ending;
pub(crate) mod external;
mod log;
pub(crate) use self::log::not_as_itself;
pub(crate) mod fast_path;
mod library;
mod not_started;
mod printed;
mod reception;
mod report;
mod sent;
mod stall;
mod transaction;
mod turns;
mod waiting;

use std::{
    collections::BTreeSet,
    io,
    panic::Location,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{
            AtomicBool, AtomicU32,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

use reenact_trace::{ActivityInfo, Crowd, Event, Kind, Origin, Trace, TraceError};

use self::{
    cursor::{Cursor, LibraryCalls, Next, ObservedAs},
    log::{LogFile, Unwritten},
    not_started::NotStarted,
    printed::Printed,
    turns::{Turns, Want},
    waiting::WaitReason,
};
use crate::{
    Access, Announcement, ControlledActivity, Decision, Map, Object, ObjectName, Op,
    activity::HOT,
    captured, clock, controller,
    mode::{self, Mode},
    object::tag,
    probes,
    raw::Parker,
    record::{BIRTH, key_of, token_of},
    refusal, seeds,
    site::{Site, at},
    withheld,
};

/// The highest number, which no activity has: there would be no token for it.
const LAST_NUMBER: u32 = u32::MAX;

/// The replay of one trace.
pub(crate) struct Replay {
    trace: Arc<Trace>,
    /// Numbers of activities by origin, index and name.
    places: Map<(Origin, u64, String), u32>,
    /// The next candidate number for an activity that is not in the trace; see [`Replay::unknown`].
    next_unknown: AtomicU32,
    /// How many foreign threads of each name have started.
    foreign: Mutex<Map<String, u64>>,
    runners: Mutex<Map<u32, Arc<Runner>>>,
    /// Activities of the trace that have not yet started.
    not_started: Mutex<NotStarted>,
    /// Foreign threads of the trace that have not yet started and that interact with no other activity: the trace only
    /// contains their calls to the C library. Replay does not wait for them.
    strangers: Mutex<BTreeSet<u32>>,
    /// Threads that start at a time of their own: foreign threads that run or that the trace still announces, and the
    /// main thread until it has started. While this is not 0, the process is not deadlocked even if all other
    /// activities wait.
    guests: AtomicU32,
    turns: Turns,
    /// Whether the trace has a wait that is not an operation; see [`library`].
    waits_are_recorded: OnceLock<bool>,
    /// Whether an activity has waited like that in this replay.
    has_waited: AtomicBool,
    printed: Printed,
    /// The number of activities with unconsumed items in the trace, including those that have not yet started.
    unconsumed: AtomicU32,
    log: Option<LogFile>,
    report: Option<PathBuf>,
}

/// The replay state of one activity.
struct Runner {
    number: u32,
    /// Its name in the trace, computed on first use.
    family: OnceLock<String>,
    /// Locked by the activity itself; by others only while the activity cannot move.
    cursor: Mutex<Cursor>,
    parker: OnceLock<Arc<Parker>>,
    ended: AtomicBool,
    /// Whether it has consumed all its items of the trace.
    consumed: AtomicBool,
    is_foreign: bool,
    /// Whether it is a foreign thread that has not interacted with another activity and, according to the trace, will
    /// not.
    is_stranger: AtomicBool,
    /// Whether workers run it.
    is_light: bool,
    /// Whether it handles messages and has asked for one.
    receives: AtomicBool,
    /// Whether it is in the trace.
    is_known: bool,
    /// The position in the trace at which its last operation ends, computed on first use.
    last_operation: OnceLock<u64>,
    /// What it waits for, for reports; `None` while it runs.
    waiting: Mutex<Option<WaitReason>>,
    /// A log line that is written when its operation has completed.
    unwritten: Mutex<Option<Unwritten>>,
}

impl Runner {
    fn parker(&self) -> &Arc<Parker> {
        self.parker.get_or_init(Arc::default)
    }

    fn cursor(&self) -> MutexGuard<'_, Cursor> {
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unwritten(&self) -> MutexGuard<'_, Option<Unwritten>> {
        let unwritten = self.unwritten.lock();
        unwritten.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the replay that the environment asks for.
pub(crate) fn start_from_environment(path: &Path) -> Mode {
    let report = std::env::var_os("REENACT_REPORT").map(PathBuf::from);
    if let Some(report) = &report
        && !claim(&report.with_extension("claim"))
    {
        return Mode::Off;
    }
    match Replay::open(path, report.clone()) {
        Ok(replay) => {
            let replay = Arc::new(replay);
            // A log has to contain every operation.
            let mode = match replay.log {
                None => Mode::Replay,
                Some(_) => {
                    mode::be_logged();
                    Mode::Controlled
                }
            };
            ending::watch(&replay);
            controller::install(Some(replay));
            if let Err(why) = probes::place_from_environment() {
                refusal::refuse(
                    report.as_deref(),
                    &format!("no probes can be placed: {why}"),
                );
            }
            mode
        }
        Err(error) => report::finish(
            report.as_deref(),
            report::DIVERGED,
            &format!("cannot replay: {error}\n"),
        ),
    }
}

/// Claims the replay for this process; returns false if another process has it. Child processes and programs started by
/// `exec` inherit the environment, but the trace is not theirs. The first process writes its identity to the file; the
/// identity of a process that no longer runs is left over from an earlier replay.
fn claim(path: &Path) -> bool {
    let owner = std::fs::read_to_string(path).unwrap_or_default();
    let number = owner.split(' ').next().unwrap_or_default();
    let owner_lives = number.parse::<u32>().is_ok() && process(number) == Some(owner.clone());
    !owner_lives && std::fs::write(path, process("self").unwrap_or_default()).is_ok()
}

/// Returns the identity of a process: its number and its start time, since numbers are reused.
fn process(number: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name, in parentheses, may contain anything; the start time is the 20th field after it.
    let (number, _) = stat.split_once(' ')?;
    let (_, fields) = stat.rsplit_once(')')?;
    Some(format!("{number} {}", fields.split_whitespace().nth(19)?))
}

/// Returns a variable of the recorded environment.
fn recorded_variable<'a>(trace: &'a Trace, name: &str) -> Option<&'a str> {
    let environment = &trace.program().environment;
    let found = environment.iter().find(|(variable, _)| variable == name);
    found.and_then(|(_, value)| value.to_str())
}

/// Gives this process the process id and the hash seeds of the recorded one.
pub(crate) fn play_process(trace: &Trace) {
    let variable = |name| recorded_variable(trace, name);
    if let Some(keys) = variable(seeds::VARIABLE).and_then(seeds::from_text) {
        seeds::set(keys);
    }
    let process = variable(captured::identity::VARIABLE).and_then(|text| text.parse().ok());
    captured::identity::play(process.unwrap_or(0));
}

impl Replay {
    fn open(path: &Path, report: Option<PathBuf>) -> Result<Replay, TraceError> {
        let trace = Arc::new(Trace::open(path)?);
        if trace.activity(LAST_NUMBER).is_some() {
            return Err(TraceError::Io {
                action: "cannot replay",
                path: path.to_owned(),
                source: io::Error::other("it has an activity with a number that no activity has"),
            });
        }
        withheld::set_missing(&trace.program().withheld);
        play_process(&trace);
        captured::play_clocks(recorded_variable(&trace, captured::CLOCKS_VARIABLE));
        if recorded_variable(&trace, crate::printed::VARIABLE).is_some() {
            crate::printed::compare();
        }
        captured::link();
        let log = std::env::var_os("REENACT_LOG")
            .map(PathBuf::from)
            .map(|path| LogFile::create(&path))
            .transpose()?;
        // Light activities are found by number.
        let places = trace
            .crowds()
            .map(|crowd| crowd.first)
            .filter(|info| !info.in_block && info.origin != Origin::Unknown)
            .map(|info| {
                let name = match info.origin {
                    Origin::Foreign => info.name.clone(),
                    _ => String::new(),
                };
                ((info.origin, info.index, name), info.number)
            })
            .collect();
        let is_stranger = |info: &ActivityInfo| {
            info.origin == Origin::Foreign && external::is_stranger(&trace, info.number)
        };
        // What was not in a block has written its start, and is a crowd of one.
        let strangers: BTreeSet<u32> = trace
            .crowds()
            .map(|crowd| crowd.first)
            .filter(is_stranger)
            .map(|info| info.number)
            .collect();
        let others = || {
            let all = trace.crowds();
            all.filter(|crowd| !strangers.contains(&crowd.first.number))
        };
        let guests = others()
            .filter(|crowd| crowd.first.origin == Origin::Foreign)
            .count() as u32;
        let numbers = |crowd: Crowd| {
            let first = u64::from(crowd.first.number);
            first..first + u64::from(crowd.count)
        };
        let not_started = NotStarted::new(others().map(numbers).collect());
        Ok(Replay {
            places,
            guests: AtomicU32::new(guests + 1),
            unconsumed: AtomicU32::new(u32::try_from(not_started.len()).unwrap_or(u32::MAX)),
            not_started: not_started.into(),
            strangers: strangers.into(),
            next_unknown: AtomicU32::new(0),
            printed: Printed::of(&trace),
            trace,
            foreign: Mutex::default(),
            runners: Mutex::default(),
            turns: Turns::new(),
            waits_are_recorded: OnceLock::new(),
            has_waited: AtomicBool::new(false),
            log,
            report,
        })
    }

    /// Returns a number for an activity that is not in the trace because it had not started when the recording ended.
    /// It is the lowest free number, since it was assigned before those of its younger siblings.
    fn unknown(&self) -> u32 {
        loop {
            let number = self.next_unknown.fetch_add(1, Relaxed);
            match self.trace.free_number(number) {
                Some(free) if free > number => {
                    self.next_unknown.fetch_max(free, Relaxed);
                }
                Some(free) if free < LAST_NUMBER => return free,
                _ => report::finish(
                    self.report.as_deref(),
                    report::DIVERGED,
                    "the trace claims to have all activities that there can be\n",
                ),
            }
        }
    }

    fn family_of<'a>(&self, runner: &'a Runner) -> &'a str {
        runner
            .family
            .get_or_init(|| self.trace.family_name(runner.number))
    }

    fn find(&self, number: u32) -> Arc<Runner> {
        let runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
        let runner = runners.get(&number);
        Arc::clone(runner.expect("every activity is born before it acts"))
    }

    /// Returns the runner of an activity, and caches it in the activity.
    fn runner<'a>(&self, activity: &'a ControlledActivity) -> &'a Runner {
        let kept = activity
            .kept
            .get_or_init(|| Box::new(self.find(activity.number)));
        kept.downcast_ref::<Arc<Runner>>()
            .expect("one controller at a time")
    }

    /// Called before the activity interacts with others: a stranger counts as a guest and as awake from now on.
    fn meets(&self, runner: &Runner) {
        if runner.is_foreign && runner.is_stranger.swap(false, SeqCst) {
            self.guests.fetch_add(1, SeqCst);
            self.turns.one_more_awake();
        }
    }

    /// Returns the next event of an activity after checking hashes and loading items, or `None` for a silent operation.
    /// Parks the activity permanently at the end of the recording.
    fn expect(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        doing: &dyn Fn() -> String,
    ) -> Option<Event> {
        self.resolve_doubt(runner, cursor);
        self.skip_library(runner, cursor, doing);
        cursor.library = LibraryCalls::default();
        self.expect_as_recorded(runner, cursor, doing)
    }

    /// Like [`Replay::expect`], for an operation before which the activity may not leave out a recorded call of the C
    /// library.
    fn expect_as_recorded(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        doing: &dyn Fn() -> String,
    ) -> Option<Event> {
        self.resolve_doubt(runner, cursor);
        loop {
            if cursor.silent_left() > 0 {
                return None;
            }
            self.check(runner, cursor, doing);
            match cursor.next {
                Next::Event(event) => return Some(event),
                Next::Tick { .. } => self.load(runner, cursor),
                Next::End { .. } => self.diverge(
                    runner,
                    cursor,
                    "the trace says that this activity had ended here",
                    &doing(),
                ),
                Next::Cut { .. } => self.at_end(
                    runner,
                    &format!("the end of the recording, before: {}", doing()),
                ),
            }
        }
    }

    /// Compares the hash of the next item, if it has one, after all silent operations before it: only the hash shows
    /// whether they were the recorded ones.
    fn check(&self, runner: &Runner, cursor: &Cursor, doing: &dyn Fn() -> String) {
        if !cursor.agrees() {
            self.diverge(
                runner,
                cursor,
                "the operations since the last check were others, or on other objects",
                &doing(),
            );
        }
    }

    /// Called when the activity ends: the trace must have its end next, or the end of the recording.
    fn settle(&self, runner: &Runner, cursor: &mut Cursor, doing: &str) {
        self.resolve_doubt(runner, cursor);
        self.skip_library(runner, cursor, &|| doing.to_owned());
        loop {
            if cursor.silent_left() > 0 || matches!(cursor.next, Next::Event(_)) {
                self.diverge(runner, cursor, &cursor.describe(), doing);
            }
            self.check(runner, cursor, &|| doing.to_owned());
            match cursor.next {
                Next::Tick { .. } => self.load(runner, cursor),
                _ => return,
            }
        }
    }

    fn load(&self, runner: &Runner, cursor: &mut Cursor) {
        match cursor.load() {
            Ok(()) => {
                if cursor.is_consumed() {
                    self.consumed(runner);
                }
            }
            Err(error) => self.cannot_read(&error),
        }
    }

    fn cannot_read(&self, error: &TraceError) -> ! {
        report::finish(
            self.report.as_deref(),
            report::DIVERGED,
            &format!("the trace cannot be read any further: {error}\n"),
        )
    }

    fn consumed(&self, runner: &Runner) {
        if !runner.consumed.swap(true, SeqCst) {
            self.unconsumed.fetch_sub(1, SeqCst);
        }
    }

    /// Performs an operation that went as predicted according to the trace, and checks that it does so again.
    fn silent(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        operation: &Announcement<'_>,
    ) -> Decision {
        cursor.count_down();
        let token = token_of(runner.number);
        let diverge = |cursor: &Cursor, expected: &str| -> ! {
            self.diverge(runner, cursor, expected, &describe(operation))
        };
        let Some(object) = operation.object else {
            cursor.count(tag(0, operation.op));
            return match operation.access {
                Access::Ask => Decision::Answer(operation.predicted),
                _ => diverge(cursor, "an operation that goes as predicted"),
            };
        };
        let decision = if object.last.load(Relaxed) == 0 {
            cursor.objects += 1;
            object
                .key
                .store(key_of(runner.number, cursor.objects), Relaxed);
            object.last.store(token, Relaxed);
            // The first operation on an object counts as a take. For a look, the take ends before the look does, since
            // others wait for the look as well; for an observation, it ends when the observation has been made.
            match operation.access {
                Access::Read => cursor.observation = ObservedAs::First,
                Access::Look | Access::TryLook => self.turns.bump(object),
                _ => {}
            }
            Decision::Go
        } else {
            let key = object.key.load(Relaxed);
            let mine = object.last.load(Relaxed) == token;
            match operation.access {
                Access::Read => match cursor.seen.get(&key) {
                    Some(&value) => Decision::Answer(value),
                    None => diverge(cursor, "a value that this activity has seen before"),
                },
                Access::Look | Access::TryLook
                    if mine || cursor.deltas.get(key) == Some(object.version.load(Relaxed)) =>
                {
                    Decision::Go
                }
                _ if mine => Decision::Go,
                _ => diverge(
                    cursor,
                    "an object that nobody else has used since this activity did",
                ),
            }
        };
        cursor.count(object.tag(operation.op));
        decision
    }

    /// Performs an operation with a recorded outcome when its turn comes.
    fn surprising(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        operation: &Announcement<'_>,
        event: Event,
    ) -> Decision {
        let decision = match (operation.access, event.kind) {
            (Access::Ask, Kind::CHOICE) | (Access::Outside, Kind::OUTSIDE) => {
                Decision::Answer(event.number)
            }
            (Access::TryTake | Access::TryLook, Kind::DECLINED) => Decision::Decline,
            (Access::Wake { timed: true }, Kind::TIMED_OUT) => Decision::Decline,
            (
                Access::Take | Access::TryTake | Access::Wake { .. } | Access::Write,
                Kind::TAKE | Kind::TAKE_AFTER_LOOKS,
            )
            | (Access::Look | Access::TryLook | Access::Read, Kind::LOOK) => Decision::Go,
            _ => self.diverge(runner, cursor, &cursor.describe(), &describe(operation)),
        };
        match operation.object {
            Some(object) if event.kind != Kind::DECLINED => {
                self.wait_for_turn(runner, cursor, operation, object, event);
                cursor.count(object.tag(operation.op));
            }
            _ => cursor.count(tag(0, operation.op)),
        }
        self.load(runner, cursor);
        decision
    }

    /// Counts the birth of a child thread.
    fn birth(&self, parent: u32) {
        let runner = self.find(parent);
        self.meets(&runner);
        let mut cursor = runner.cursor();
        HOT.with(|hot| hot.fast_path.set(cursor.fast_path()));
        let doing = || "a thread is started".to_owned();
        if self.expect(&runner, &mut cursor, &doing).is_some() {
            self.diverge(&runner, &cursor, &cursor.describe(), &doing());
        }
        cursor.count_down();
        cursor.count(tag(0, BIRTH));
    }

    fn wait_for_turn(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        operation: &Announcement<'_>,
        object: &Object,
        event: Event,
    ) {
        // An object without a key has not been used yet, so this activity has not seen it either.
        let key = object.key.load(Relaxed);
        let seen = if key == 0 {
            None
        } else {
            cursor.deltas.get(key)
        };
        let position = seen.unwrap_or(0).wrapping_add(event.number);
        let looks = match event.kind {
            Kind::LOOK => None,
            _ => Some(event.second as u32),
        };
        let want = Want {
            version: position,
            looks,
        };
        let (op, site, made_at) = (operation.op, operation.site, made_at(operation, object));
        let what = || {
            let object = name_of(object, op, made_at);
            format!(
                "its turn ({position} of {object}) to {}{}",
                op.name(),
                at(site)
            )
        };
        let mut asleep = None;
        self.turns.wait_for(object, want, runner.parker(), || {
            asleep = Some(self.sleeps(runner, &what));
        });
        drop(asleep);
        let key = object.key.load(Relaxed);
        if event.kind == Kind::LOOK {
            cursor.deltas.set(key, position);
            cursor.observation = ObservedAs::Look;
        } else {
            cursor.deltas.set(key, position.wrapping_add(1));
            object.last.store(token_of(runner.number), Relaxed);
        }
    }
}

fn describe(operation: &Announcement<'_>) -> String {
    match Site::shown(operation.site) {
        Some(site) => format!("{} at {site}", operation.op.name()),
        None => operation.op.name().to_owned(),
    }
}

/// Describes the object of an operation by its type and by where it was made. If a line makes several objects, which of
/// them this is is not known before the end.
fn object_of(operation: &Announcement<'_>) -> Option<String> {
    let object = operation.object?;
    Some(name_of(object, operation.op, made_at(operation, object)))
}

/// Returns where the object of an operation was made.
fn made_at(operation: &Announcement<'_>, object: &Object) -> &'static Location<'static> {
    let touched = operation.touches.first();
    touched.map_or(object.made_at, |touch| touch.made_at)
}

fn name_of(object: &Object, op: Op, made_at: &'static Location<'static>) -> String {
    let name = || ObjectName::only(op.object(), made_at).to_string();
    clock::name_of(object.key.load(Relaxed)).unwrap_or_else(name)
}
