//! Answers questions about single universes, for a debugger that moves freely between them.
//!
//! The messages are those of [`protocol`](super::protocol). The execution of the last request is kept: a request that
//! continues from there costs a step, any other one an execution from the start.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, ErrorKind},
    os::unix::net::UnixStream,
    path::Path,
};

use reenact_explore::{Activity, Fingerprint, Fingerprinter, Links, Moment, Run, Runs, Step};

use super::{
    event::{About, Event, NOTHING},
    failure::Failure,
    message::{receive, send},
    objects::Objects,
    process::{Forked, ForkedRun},
    protocol::{
        ActivityReport, ActivityStatus, Hello, MessageReport, OperationReport, PathElement, Reply,
        Request, SourceLocation, UniverseReport,
    },
    retrace::{Limits, RecordedPath, retrace},
    subject::{Granularity, Subject},
    view::{ActivityPhase, ActivityView, View},
};
use crate::{ObjectName, site::Site};

/// Maximum number of steps of the first execution, which finds out what kind of program it is.
const TRIED: usize = 10_000;
/// Maximum number of consecutive steps of one activity in it, if others could continue.
const PATIENCE: usize = 100;
/// Maximum number of universes that are remembered.
const REMEMBERED: usize = 1 << 20;

/// Answers requests until the client disconnects.
///
/// If there is a recorded run, first sends the path to its end, or the reason why there is none.
pub(super) fn serve(
    forked: Forked,
    path: &Path,
    recording: Option<(&RecordedPath, Option<i32>)>,
) -> io::Result<()> {
    // SAFETY: `prctl` only requests a signal for when the parent process ends.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // What waits when the program ends is to be seen there as it is.
    forked.allow_blocked(true);
    let mut server = Server {
        forked,
        known: HashMap::new(),
        objects: Objects::default(),
        granularity: Granularity::default(),
        current: None,
    };
    // Before the program runs for the first time, so that the client notices if that does not end.
    let mut stream = UnixStream::connect(path)?;
    server.try_out();
    let mut hello = Hello::default();
    if let Some((recorded, exit)) = recording {
        let limits = Limits {
            steps: TRIED,
            until: None,
        };
        let retraced = retrace(&server.forked, recorded, limits, exit).map_err(io::Error::other)?;
        match retraced.divergence {
            Some(divergence) => hello.divergence = Some(divergence.to_string()),
            None => hello.path = retraced.steps,
        }
    }
    server.granularity = server.forked.granularity();
    hello.are_releases_steps = server.granularity.releases;
    send(&mut stream, &hello)?;
    loop {
        let reply = match receive::<Request>(&mut stream) {
            Ok(path) => server.reply(&path),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                Err(format!("the request is malformed: {error}"))
            }
            Err(error) => return Err(error),
        };
        send(&mut stream, &reply)?;
    }
}

struct Server {
    forked: Forked,
    /// A hash of all pending operations in each universe: it has to be the same each time.
    known: HashMap<(Fingerprint, Granularity), u64>,
    objects: Objects,
    /// How fine steps are at least. The client knows universes by such steps, so they cannot become finer.
    granularity: Granularity,
    /// The execution of the last request.
    current: Option<Current>,
}

/// An execution, and the path to its current universe.
struct Current {
    path: Vec<PathElement>,
    granularity: Granularity,
    run: ForkedRun,
    fingerprinter: Fingerprinter,
}

impl Server {
    /// Runs the program once, and again if its steps have to be finer: what any activity does may make more actions
    /// observable in all executions.
    fn try_out(&mut self) {
        // A debugger may stop there, and shows messages.
        self.forked.let_drops_be_steps();
        self.forked.want_labels(true);
        loop {
            let before = self.forked.granularity();
            self.try_out_once();
            if self.forked.granularity() == before {
                break;
            }
        }
        // The objects of a whole execution are known now.
        self.forked
            .with_names(|objects, families| self.objects.name_all(objects, families));
    }

    fn try_out_once(&mut self) {
        let mut run = self.forked.start();
        let mut fingerprinter = Fingerprinter::default();
        // The last activity, and the number of its consecutive steps: it may be waiting for another one by spinning.
        let mut last = (Activity(0), 0);
        for _ in 0..TRIED {
            let enabled = |activity: &Activity| run.is_enabled(*activity);
            let mut all = (0..run.activities()).map(Activity).filter(enabled);
            let Some(first) = all.next() else {
                break;
            };
            let next = match last {
                (same, PATIENCE..) if same == first => all.next().unwrap_or(first),
                _ => first,
            };
            last = match last {
                (same, count) if same == next => (same, count + 1),
                _ => (next, 1),
            };
            let mut links = Links::default();
            let event = run.step_at(next.into(), fingerprinter.next(), &mut links);
            fingerprinter.push(next.into(), &identity(&event), &links);
            self.objects.learn(&event);
        }
    }

    fn reply(&mut self, path: &[PathElement]) -> Reply {
        let current = self.go_to(path)?;
        // An execution whose view cannot be read is not kept.
        let report = self.report(&current)?;
        // Nor is one that has ended.
        self.current = Some(current).filter(|current| !is_over(&current.run));
        Ok(report)
    }

    /// Lets the program take these steps.
    fn go_to(&mut self, path: &[PathElement]) -> Result<Current, String> {
        let mut current = match self.current.take() {
            // The granularity at the start cannot be changed later.
            Some(current)
                if path.starts_with(&current.path)
                    && before_first_step(path) == before_first_step(&current.path) =>
            {
                current
            }
            other => {
                // There is only one execution at a time.
                drop(other);
                let current = self.start(path)?;
                self.check(&current)?;
                current
            }
        };
        for &element in &path[current.path.len()..] {
            current.path.push(element);
            let step = match element {
                PathElement::Step(step) => step,
                PathElement::Refine(granularity) => {
                    current.granularity = current.granularity.or(granularity);
                    current.run.refine(granularity);
                    continue;
                }
            };
            let number = current.fingerprinter.next().0 as usize;
            let is_possible = current.run.is_enabled(step.activity)
                && step.choice < current.run.choices(step.activity);
            if !is_possible {
                return Err(self.impossible(&current.run, number, step));
            }
            let mut links = Links::default();
            let event = current
                .run
                .step_at(step, current.fingerprinter.next(), &mut links);
            if current.run.is_dead() {
                // It could not report what this step comes after: perhaps after all others.
                (0..number).for_each(|before| links.after(Moment(before as u32)));
            }
            current.fingerprinter.push(step, &identity(&event), &links);
            if self.forked.granularity() != self.granularity {
                return Err(
                    "the program does something that was not known when it was started, such as trying to take a lock: \
                     more actions have to be steps, from the start"
                        .to_owned(),
                );
            }
            self.check(&current)?;
        }
        Ok(current)
    }

    /// Checks that all pending operations are the same as the last time in the same universe.
    fn check(&mut self, current: &Current) -> Result<(), String> {
        let run = &current.run;
        let mut hasher = DefaultHasher::new();
        for activity in (0..run.activities()).map(Activity) {
            let pending = run.pending(activity).as_ref().map(identity);
            let choices = run.choices(activity);
            (pending, run.is_enabled(activity), choices).hash(&mut hasher);
        }
        let pending = hasher.finish();
        let universe = (current.fingerprinter.fingerprint(), current.granularity);
        if self
            .known
            .get(&universe)
            .is_some_and(|known| *known != pending)
        {
            return Err(
                "the program does not do the same twice: after the same steps, an activity is about to do something else than \
                 before (an address, or something from outside, makes a difference)"
                    .to_owned(),
            );
        }
        if self.known.len() < REMEMBERED {
            self.known.insert(universe, pending);
        }
        Ok(())
    }

    /// Starts the program, with the granularity that the path begins with.
    fn start(&self, path: &[PathElement]) -> Result<Current, String> {
        let first = before_first_step(path).to_vec();
        let granularity = first
            .iter()
            .fold(Granularity::default(), |all, element| match element {
                PathElement::Refine(finer) => all.or(*finer),
                PathElement::Step(_) => all,
            });
        let run = self.forked.start_with(granularity);
        match run.failure() {
            Some(error) => Err(error.to_owned()),
            None => Ok(Current {
                path: first,
                granularity,
                run,
                fingerprinter: Fingerprinter::default(),
            }),
        }
    }

    fn impossible(&self, run: &ForkedRun, number: usize, step: Step) -> String {
        let who = self.forked.name(step.activity);
        let instead = match run.pending(step.activity) {
            Some(event) if run.is_enabled(step.activity) => format!("there is only {event:?}"),
            Some(event) => format!("it waits for {event:?}"),
            None => "it has nothing to do".to_owned(),
        };
        format!(
            "step {} of {}, of {who}, cannot be taken: {instead}. Is the program deterministic?",
            number + 1,
            step.choice
        )
    }

    fn report(&mut self, current: &Current) -> Reply {
        let all = (0..current.run.activities()).map(Activity);
        let pending: Vec<Event> = all.filter_map(|who| current.run.pending(who)).collect();
        pending.iter().for_each(|event| self.objects.learn(event));
        self.forked
            .with_names(|objects, families| self.objects.name_all(objects, families));
        let run = &current.run;
        let view = run.view().map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                "a watched value cannot be shown: its text is not ready in time, perhaps because it waits for something"
                    .to_owned()
            }
            _ => format!("the state of the program cannot be read: {error}"),
        })?;
        // Other activities may continue when the main one has ended. Once none can, the process is allowed to exit, and
        // its output is complete.
        let exit = match is_over(run) {
            true => run.end(),
            false => None,
        };
        let activities = (0..).map(Activity).zip(&view.activities);
        let mut holders = Vec::new();
        let mut sharers = Vec::new();
        for held in &view.objects {
            let holder = held.holder.iter();
            holders.extend(holder.map(|(who, since)| (held.object, *who, since.clone())));
            sharers.extend(held.sharers.iter().map(|who| (held.object, *who)));
        }
        let is_deadlock = |failure: &&Failure| matches!(failure, Failure::Deadlock(_));
        let failures = view.failures.iter().filter(|failure| !is_deadlock(failure));
        Ok(UniverseReport {
            fingerprint: current.fingerprinter.fingerprint().0,
            activities: activities
                .filter_map(|(number, activity)| self.report_activity(number, activity, run))
                .collect(),
            objects: self.names_of_used(&pending, &view),
            holders,
            sharers,
            failures: failures.map(Failure::to_string).collect(),
            is_deadlock: view.failures.iter().any(|failure| is_deadlock(&failure)),
            watched: view.watched,
            printed: run.printed().lines().map(str::to_owned).collect(),
            exit,
        })
    }

    /// Returns the names of the objects that are held or that pending operations access.
    fn names_of_used(&self, pending: &[Event], view: &View) -> Vec<(u32, ObjectName)> {
        let touched = pending.iter().flat_map(Event::touches);
        let touched = touched
            .map(|touch| touch.object)
            .filter(|&object| object != NOTHING);
        let mut all: Vec<u32> = touched
            .chain(view.objects.iter().map(|held| held.object))
            .collect();
        all.sort_unstable();
        all.dedup();
        self.forked.with_names(|objects, _| {
            let all = all.into_iter();
            all.filter_map(|object| Some((object, self.objects.name(object, objects)?)))
                .collect()
        })
    }

    fn report_activity(
        &self,
        activity: Activity,
        view: &ActivityView,
        run: &ForkedRun,
    ) -> Option<ActivityReport> {
        let status = match (&view.status, run.pending(activity)) {
            (ActivityPhase::NotStarted, _) => return None,
            (_, Some(event)) => ActivityStatus::Pending(OperationReport {
                name: event.op.name().to_owned(),
                kind: event.kind(),
                noun: event.op.object().to_owned(),
                is_enabled: run.is_enabled(activity),
                choices: run.choices(activity),
                location: event.line().map(location),
                with: view
                    .with
                    .map(|with| (with, self.forked.name(Activity(with)))),
                touches: event
                    .touches()
                    .map(|touch| (touch.access, Some(touch.object).filter(|at| *at != NOTHING)))
                    .collect(),
                message: event.about.as_deref().map(message),
            }),
            (ActivityPhase::Waits(what), None) => ActivityStatus::Waits(what.clone()),
            (ActivityPhase::Pending | ActivityPhase::Ended, None) => ActivityStatus::Ended,
        };
        let panic = view.panic.as_ref().map(|panic| {
            let place = panic.place.as_deref().unwrap_or("an unknown place");
            let message: Vec<_> = panic.message.lines().map(str::trim).collect();
            format!("at {place}: {}", message.join(" "))
        });
        Some(ActivityReport {
            number: activity.0,
            place: self.forked.name(activity),
            name: view.name.clone(),
            status,
            panic,
            inbox: view.inbox.iter().map(|about| message(about)).collect(),
            turn: view.turn.as_deref().map(message),
            state: view.shown.clone(),
        })
    }
}

fn message(about: &About) -> MessageReport {
    MessageReport {
        label: about.label.clone(),
        peer: about.peer,
        is_sent: about.sent_at.is_some(),
        sent_at: about.sent_at.flatten().copied().map(location),
    }
}

fn location(site: Site) -> SourceLocation {
    SourceLocation {
        file: site.file.to_owned(),
        line: site.line,
        column: site.column,
    }
}

/// Returns whether no activity can continue.
fn is_over(run: &ForkedRun) -> bool {
    let mut all = (0..run.activities()).map(Activity);
    !all.any(|activity| run.is_enabled(activity))
}

/// Returns what identifies an event. The objects are not part of it, because their names may be learned only later.
fn identity(event: &Event) -> (u8, u32, u32) {
    (event.op.code(), event.site.line(), event.site.column())
}

/// Returns the elements before the first step.
fn before_first_step(path: &[PathElement]) -> &[PathElement] {
    let is_step = |element: &PathElement| matches!(element, PathElement::Step(_));
    let first = path.iter().position(is_step);
    &path[..first.unwrap_or(path.len())]
}
