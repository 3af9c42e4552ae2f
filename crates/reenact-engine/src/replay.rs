//! Replay: the controller that walks a trace.
//!
//! Every activity runs on its own thread, on all cores. Before an operation it takes its next event, or counts down
//! a silent one, and waits until the entity is where the trace says it was; giving an entity back wakes exactly those
//! whose turn it is. At every operation the prediction is computed as in recording and must agree with the trace, so
//! a replay that gets through has made the same trace again; the first difference ends it, with a report.

mod control;
mod cursor;
mod ending;
mod external;
mod log;
pub(crate) use self::{external::is_stranger, log::not_as_itself};
pub(crate) mod quiet;
mod reception;
mod report;
mod sent;
mod stillness;
mod transaction;
mod turns;
mod unborn;
mod waiting;

use std::{
    collections::BTreeSet,
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

use reenact_trace::{ActivityInfo, Event, Kind, Origin, Trace, TraceError};

use self::{
    cursor::{Cursor, Next, Observation},
    log::{Log, Unwritten},
    turns::{Turns, Want},
    unborn::Unborn,
    waiting::Waiting,
};
use crate::{
    Access, Activity, Announcement, Decision, Entity, Map, ObjectName, Op, captured, clock,
    controller,
    entity::tag,
    mode::{self, Mode},
    raw::Parker,
    record::{BIRTH, key_of, token_of},
    seeds,
    site::{Site, at},
    withheld,
};

/// The walk through one trace.
pub(crate) struct Replay {
    trace: Arc<Trace>,
    /// Numbers of activities by where they come from.
    places: Map<(Origin, u64, String), u32>,
    /// Where to look for a number for an activity that the trace does not know: see [`Replay::unknown`].
    next_unknown: AtomicU32,
    /// How many foreign threads of each name have come.
    foreign: Mutex<Map<String, u64>>,
    runners: Mutex<Map<u32, Arc<Runner>>>,
    /// Activities of the trace that have not come.
    unborn: Mutex<Unborn>,
    /// Foreign threads of the trace that meet nobody, and have not come: all that is known of them is what they asked the C
    /// library for. They need not come, and nobody waits for them.
    strangers: Mutex<BTreeSet<u32>>,
    /// Threads that come when they like: foreign ones that are there or, says the trace, will be, and main until it has
    /// come. As long as there are any, that all the others wait does not mean that everybody does.
    guests: AtomicU32,
    turns: Turns,
    /// Activities that still have something of the trace before them, those included that have not come.
    unconsumed: AtomicU32,
    log: Option<Log>,
    report: Option<PathBuf>,
}

/// An activity on its way through the trace.
struct Runner {
    number: u32,
    /// As the trace names it, once somebody wants to know.
    family: OnceLock<String>,
    /// Locked by the activity itself; by others only where it does not move.
    cursor: Mutex<Cursor>,
    parker: OnceLock<Arc<Parker>>,
    ended: AtomicBool,
    /// Whether nothing of the trace is left for it.
    consumed: AtomicBool,
    is_foreign: bool,
    /// Whether it is a foreign thread that has met nobody, nor will as far as the trace knows.
    is_stranger: AtomicBool,
    /// Whether workers run it.
    is_light: bool,
    /// Whether it is one that handles messages, and has asked for one.
    receives: AtomicBool,
    /// Whether the trace has it.
    is_known: bool,
    /// What it waits for, for reports; none while it runs.
    waiting: Mutex<Option<Waiting>>,
    /// What is to be written into the log when more is known.
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

/// Begins to replay because the environment says so.
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
            // Whoever keeps a log wants to see everything.
            let mode = match replay.log {
                None => Mode::Replay,
                Some(_) => {
                    mode::be_logged();
                    Mode::Controlled
                }
            };
            ending::watch(&replay);
            controller::install(Some(replay));
            mode
        }
        Err(error) => report::finish(
            report.as_deref(),
            report::DIVERGED,
            &format!("cannot replay: {error}\n"),
        ),
    }
}

/// Whether this process is the one to be replayed: a child of it inherits its environment, but is not what the trace is
/// of; nor is a program that it becomes. The first to come writes down which process it is; one that does not run is left
/// over from another time.
fn claim(path: &Path) -> bool {
    let owner = std::fs::read_to_string(path).unwrap_or_default();
    let number = owner.split(' ').next().unwrap_or_default();
    let owner_lives = number.parse::<u32>().is_ok() && process(number) == Some(owner.clone());
    !owner_lives && std::fs::write(path, process("self").unwrap_or_default()).is_ok()
}

/// Which process it is: its number, and when it began, since numbers are used again.
fn process(number: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name, in parentheses, may contain anything; the beginning is the 20th field after it.
    let (number, _) = stat.split_once(' ')?;
    let (_, fields) = stat.rsplit_once(')')?;
    Some(format!("{number} {}", fields.split_whitespace().nth(19)?))
}

/// This process plays the recorded one: it has its number, and its maps are like those.
pub(crate) fn play_process(trace: &Trace) {
    let environment = &trace.program().environment;
    let variable = |name: &str| {
        let found = environment.iter().find(|(variable, _)| variable == name);
        found.and_then(|(_, value)| value.to_str())
    };
    if let Some(keys) = variable(seeds::VARIABLE).and_then(seeds::from_text) {
        seeds::set(keys);
    }
    let process = variable(captured::identity::VARIABLE).and_then(|text| text.parse().ok());
    captured::identity::play(process.unwrap_or(0));
}

impl Replay {
    fn open(path: &Path, report: Option<PathBuf>) -> Result<Replay, TraceError> {
        let trace = Arc::new(Trace::open(path)?);
        withheld::set_missing(&trace.program().withheld);
        play_process(&trace);
        captured::link();
        let log = std::env::var_os("REENACT_LOG")
            .map(PathBuf::from)
            .map(|path| Log::create(&path))
            .transpose()?;
        // Light ones are found by their numbers.
        let places = trace
            .activities()
            .filter(|info| !info.in_block)
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
        let strangers: BTreeSet<u32> = trace
            .activities()
            .filter(is_stranger)
            .map(|info| info.number)
            .collect();
        let others = || {
            let all = trace.activities();
            all.filter(|info| !strangers.contains(&info.number))
        };
        let guests = others()
            .filter(|info| info.origin == Origin::Foreign)
            .count() as u32;
        let unborn = Unborn::new(others().map(|info| info.number).collect());
        Ok(Replay {
            places,
            guests: AtomicU32::new(guests + 1),
            unconsumed: AtomicU32::new(unborn.all() as u32),
            unborn: unborn.into(),
            strangers: strangers.into(),
            next_unknown: AtomicU32::new(0),
            trace,
            foreign: Mutex::default(),
            runners: Mutex::default(),
            turns: Turns::new(),
            log,
            report,
        })
    }

    /// A number for an activity that the trace does not know: it had not begun when the trace ended. The lowest that is
    /// free, since its number was handed out before those of its younger siblings.
    fn unknown(&self) -> u32 {
        loop {
            let number = self.next_unknown.fetch_add(1, Relaxed);
            if self.trace.activity(number).is_none() {
                return number;
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

    /// The runner of an activity, which keeps it.
    fn runner<'a>(&self, activity: &'a Activity) -> &'a Runner {
        let kept = activity
            .kept
            .get_or_init(|| Box::new(self.find(activity.number)));
        kept.downcast_ref::<Arc<Runner>>()
            .expect("one controller at a time")
    }

    /// The activity is about to meet somebody: from now on it counts.
    fn meets(&self, runner: &Runner) {
        if runner.is_foreign && runner.is_stranger.swap(false, SeqCst) {
            self.guests.fetch_add(1, SeqCst);
            self.turns.one_more_awake();
        }
    }

    /// What comes next in the trace of an activity, after checks and loading; parks for good at the trace's end.
    fn expect(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        doing: &dyn Fn() -> String,
    ) -> Option<Event> {
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

    /// With all silent operations done, compares the hash that stands next, if any: only it can tell whether they were
    /// the right ones.
    fn check(&self, runner: &Runner, cursor: &Cursor, doing: &dyn Fn() -> String) {
        if !cursor.agrees() {
            self.diverge(
                runner,
                cursor,
                "the operations since the last check were others, or on other entities",
                &doing(),
            );
        }
    }

    /// The activity is at its end: only that may come next in the trace, or the end of that.
    fn settle(&self, runner: &Runner, cursor: &mut Cursor, doing: &str) {
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

    /// The operation goes as predicted, says the trace: so it must.
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
        let Some(entity) = operation.entity else {
            cursor.count(tag(0, operation.op));
            return match operation.access {
                Access::Ask => Decision::Answer(operation.predicted),
                _ => diverge(cursor, "an operation that goes as predicted"),
            };
        };
        let decision = if entity.last.load(Relaxed) == 0 {
            cursor.entities += 1;
            entity
                .key
                .store(key_of(runner.number, cursor.entities), Relaxed);
            entity.last.store(token, Relaxed);
            // Being first counts as a take: of a look it is over before the look is, which others wait for too; of an
            // observation, when it has been made.
            match operation.access {
                Access::Read => cursor.observation = Observation::First,
                Access::Look | Access::TryLook => self.turns.bump(entity),
                _ => {}
            }
            Decision::Go
        } else {
            let key = entity.key.load(Relaxed);
            let mine = entity.last.load(Relaxed) == token;
            match operation.access {
                Access::Read => match cursor.seen.get(&key) {
                    Some(&value) => Decision::Answer(value),
                    None => diverge(cursor, "a value that this activity has seen before"),
                },
                Access::Look | Access::TryLook
                    if mine || cursor.views.get(key) == Some(entity.version.load(Relaxed)) =>
                {
                    Decision::Go
                }
                _ if mine => Decision::Go,
                _ => diverge(
                    cursor,
                    "an entity that nobody else has used since this activity did",
                ),
            }
        };
        cursor.count(entity.tag(operation.op));
        decision
    }

    /// The operation went in some way of its own: it does so again, when its turn comes.
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
        match operation.entity {
            Some(entity) if event.kind != Kind::DECLINED => {
                self.wait_for_turn(runner, cursor, operation, entity, event);
                cursor.count(entity.tag(operation.op));
            }
            _ => cursor.count(tag(0, operation.op)),
        }
        self.load(runner, cursor);
        decision
    }

    /// An activity has a child.
    fn birth(&self, parent: u32) {
        let runner = self.find(parent);
        self.meets(&runner);
        let mut cursor = runner.cursor();
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
        entity: &Entity,
        event: Event,
    ) {
        // An entity without a name has not been used yet, so this activity has not seen it either.
        let key = entity.key.load(Relaxed);
        let seen = if key == 0 {
            None
        } else {
            cursor.views.get(key)
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
        let (op, site, made_at) = (operation.op, operation.site, made_at(operation, entity));
        let what = || {
            let object = name_of(entity, op, made_at);
            format!(
                "its turn ({position} of {object}) to {}{}",
                op.name(),
                at(site)
            )
        };
        let mut asleep = None;
        self.turns.wait_for(entity, want, runner.parker(), || {
            asleep = Some(self.sleeps(runner, &what));
        });
        drop(asleep);
        let key = entity.key.load(Relaxed);
        if event.kind == Kind::LOOK {
            cursor.views.set(key, position);
            cursor.observation = Observation::Look;
        } else {
            cursor.views.set(key, position.wrapping_add(1));
            entity.last.store(token_of(runner.number), Relaxed);
        }
    }
}

fn describe(operation: &Announcement<'_>) -> String {
    match Site::shown(operation.site) {
        Some(site) => format!("{} at {site}", operation.op.name()),
        None => operation.op.name().to_owned(),
    }
}

/// What an operation is done to, as far as that has a name: by what it is and where it was made. Which of several that a line
/// makes is not known before the end.
fn object_of(operation: &Announcement<'_>) -> Option<String> {
    let entity = operation.entity?;
    Some(name_of(entity, operation.op, made_at(operation, entity)))
}

/// Where the object of an operation was made.
fn made_at(operation: &Announcement<'_>, entity: &Entity) -> &'static Location<'static> {
    let touched = operation.touches.first();
    touched.map_or(entity.made_at, |touch| touch.made_at)
}

fn name_of(entity: &Entity, op: Op, made_at: &'static Location<'static>) -> String {
    let name = || ObjectName::only(op.object(), made_at).to_string();
    clock::name_of(entity.key.load(Relaxed)).unwrap_or_else(name)
}
