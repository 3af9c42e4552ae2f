//! Follows a schedule: exactly, as long as the program has not changed, and otherwise as closely as possible.
//!
//! A program that has changed since may do more or less than its schedule says. Operations before the one that the
//! schedule expects of an activity are performed; expected operations that never come are skipped; and the first line
//! that does not fit is reported. After the last line, the last activity continues as long as it can, then the others.

use reenact_explore::{Activity, Divergence, DivergencePoint, Run, Step, Verdict};

use super::{
    failure::Failure,
    schedule::{Line, Schedule},
    subject::{Describe, Subject},
};
use crate::with_object;

/// Maximum number of operations of an activity that are not in the schedule, before the search for the expected one is
/// given up.
const MOST_MORE: usize = 256;

/// Maximum number of lines of an activity that may be skipped.
const MOST_LESS: usize = 8;

/// The result of following a schedule.
#[derive(Debug)]
pub struct Followed {
    /// What was done.
    pub schedule: Schedule,
    /// The same as steps.
    pub steps: Vec<Step>,
    /// Number of steps that had been taken before each followed line.
    pub before: Vec<usize>,
    /// The first line that did not fit, and why.
    pub divergence: Option<Divergence>,
    /// How the execution ended.
    pub verdict: Verdict,
    /// What went wrong.
    pub failures: Vec<Failure>,
}

/// All steps of a failing schedule fit, but the execution does not fail at the end.
pub(super) fn does_not_fail() -> Divergence {
    Divergence {
        point: DivergencePoint::End,
        expected: "the schedule failed before".to_owned(),
        found: "nothing fails".to_owned(),
    }
}

/// An execution whose steps are written down.
struct Written<'a, S: Subject> {
    subject: &'a S,
    run: S::Run,
    schedule: Schedule,
    /// The event of each line.
    events: Vec<S::Event>,
    steps: Vec<Step>,
    before: Vec<usize>,
}

impl<'a, S: Subject> Written<'a, S> {
    /// If its lines `are_shown`, each is described with its message and result, which takes time.
    fn new(subject: &'a S, are_shown: bool) -> Self {
        subject.want_labels(are_shown);
        let run = subject.start();
        Written {
            subject,
            run,
            schedule: Schedule::default(),
            events: Vec::new(),
            steps: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Takes a step if it is possible. Returns whether it was.
    fn take(&mut self, step: Step) -> bool {
        let Some(event) = self.run.pending(step.activity) else {
            return false;
        };
        if !self.run.is_enabled(step.activity) || step.choice >= self.run.choices(step.activity) {
            return false;
        }
        let (what, site) = self.run.describe(&event);
        self.schedule.lines.push(Line {
            who: self.subject.name(step.activity),
            what,
            site,
            choice: step.choice,
        });
        self.events.push(event);
        self.steps.push(step);
        self.run.step(step);
        if let Some(came) = self.run.step_result()
            && let Some(line) = self.schedule.lines.last_mut()
        {
            line.what = Line::labelled(&line.what, &came);
        }
        true
    }

    fn ended(mut self, most: usize, divergence: Option<Divergence>) -> Followed {
        let mut last = self.steps.last().map_or(Activity(0), |step| step.activity);
        while self.steps.len() < most {
            let others = (0..self.run.activities()).map(Activity);
            let next = std::iter::once(last)
                .chain(others)
                .find(|&activity| self.run.is_enabled(activity));
            let Some(next) = next else {
                break;
            };
            self.take(next.into());
            last = next;
        }
        self.subject.want_labels(false);
        let mut failures = self.run.failures();
        self.name_objects(&mut failures);
        Followed {
            verdict: self.run.verdict(),
            failures,
            schedule: self.schedule,
            steps: self.steps,
            before: self.before,
            divergence,
        }
    }
}

impl<S: Subject> Written<'_, S> {
    /// Adds the names of objects to the lines, and to the operations of blocked activities. The names are known only at
    /// the end, when all objects have been accessed.
    fn name_objects(&mut self, failures: &mut [Failure]) {
        let taken = self.events.len();
        let all = (0..self.run.activities()).map(Activity);
        let pending: Vec<_> = all
            .filter_map(|activity| Some((activity, self.run.pending(activity)?)))
            .collect();
        let events = pending.iter().map(|(_, event)| event.clone());
        self.events.extend(events);
        let names = self.subject.object_names(&self.events);
        let (of_lines, of_pending) = names.split_at(taken);
        for (line, name) in self.schedule.lines.iter_mut().zip(of_lines) {
            if let Some(name) = name {
                line.set_object(name);
            }
        }
        for waiting in failures.iter_mut().flat_map(Failure::waiting_mut) {
            let who = self.subject.find(&waiting.who);
            let waits = |(activity, _): &(Activity, S::Event)| Some(*activity) == who;
            let pending = pending.iter().position(waits);
            // An activity that waits within an operation has already taken the step.
            let begun = || {
                self.steps
                    .iter()
                    .rposition(|step| Some(step.activity) == who)
            };
            let name = match pending {
                Some(index) => &of_pending[index],
                None => match begun() {
                    Some(index) if self.schedule.lines[index].operation() == waiting.what => {
                        &of_lines[index]
                    }
                    _ => continue,
                },
            };
            if let Some(name) = name {
                waiting.what = with_object(&waiting.what, &name.noun, &name.to_string());
            }
        }
    }
}

/// Takes the steps of an earlier execution and writes them down. A step that cannot be taken again is the first
/// difference of a program that does not behave the same under the same schedule.
pub fn write_down<S: Subject>(subject: &S, steps: &[Step], most: usize) -> Followed {
    take_down(Written::new(subject, true), steps, most)
}

/// Like [`write_down`], for an execution whose lines are not shown except where it diverges.
pub(super) fn try_out<S: Subject>(subject: &S, steps: &[Step], most: usize) -> Followed {
    take_down(Written::new(subject, false), steps, most)
}

fn take_down<S: Subject>(mut written: Written<'_, S>, steps: &[Step], most: usize) -> Followed {
    let subject = written.subject;
    let mut divergence = None;
    for (index, &step) in steps.iter().enumerate() {
        if !written.take(step) {
            divergence = Some(Divergence {
                point: DivergencePoint::Step(index),
                expected: format!("a step of {}", subject.name(step.activity)),
                found: written.finds(step.activity),
            });
            break;
        }
    }
    written.ended(most, divergence)
}

/// Follows a schedule for at most `most` steps.
pub fn follow<S: Subject>(subject: &S, schedule: &Schedule, most: usize) -> Followed {
    if let Some(wakeups) = schedule.spurious_wakeups() {
        subject.wake_spuriously(wakeups);
    }
    let mut written = Written::new(subject, true);
    let mut divergence = None;
    for (index, line) in schedule.lines.iter().enumerate() {
        if written.steps.len() >= most {
            break;
        }
        written.before.push(written.steps.len());
        let after = &schedule.lines[index + 1..];
        if let Err(found) = written.follow(line, after) {
            divergence.get_or_insert_with(|| Divergence {
                point: DivergencePoint::Step(index),
                expected: format!("`{}` of {}", line.what, line.who),
                found,
            });
        }
    }
    written.ended(most, divergence)
}

/// Returns whether one of the activity's next lines is this operation.
fn is_expected(what: &str, who: &str, lines: &[Line]) -> bool {
    let own = lines.iter().filter(|line| line.who == who);
    own.take(MOST_LESS).any(|line| line.operation() == what)
}

impl<S: Subject> Written<'_, S> {
    /// Performs the operation of a line, and the operations of the activity before it. Returns what was found if there
    /// were such operations, or if the operation is not possible.
    fn follow(&mut self, line: &Line, after: &[Line]) -> Result<(), String> {
        let (activity, late) = self.wait_for(&line.who)?;
        let step = Step {
            activity,
            choice: line.choice,
        };
        let mut before = late;
        for _ in 0..MOST_MORE {
            let Some(event) = self.run.pending(activity) else {
                return Err(self.finds(activity));
            };
            let (what, site) = self.run.name(&event);
            // What is one step here may be several operations of a recording, and have another name there.
            if what == line.operation() || !site.is_empty() && site == line.site {
                if self.take(step) || self.take(activity.into()) {
                    return before.map_or(Ok(()), Err);
                }
                return Err(self.finds(activity));
            }
            // This operation is expected later, so the one expected now does not happen any more.
            if is_expected(&what, &line.who, after) {
                return Err(self.finds(activity));
            }
            let found = self.finds(activity);
            if !self.take(activity.into()) {
                return Err(found);
            }
            before.get_or_insert(found);
        }
        Err(format!(
            "it does not get there within {MOST_MORE} operations"
        ))
    }

    /// Lets its ancestors continue until there is an activity of this name. If it did not exist yet, also returns the
    /// first operation that came before it.
    fn wait_for(&mut self, who: &str) -> Result<(Activity, Option<String>), String> {
        let mut before = None;
        for _ in 0..MOST_MORE {
            if let Some(activity) = self.subject.find(who)
                && activity.0 < self.run.activities()
            {
                return Ok((activity, before));
            }
            let mut name = who;
            let ancestor = loop {
                name = name.rsplit_once('.').map_or("main", |(parent, _)| parent);
                match self.subject.find(name) {
                    Some(ancestor) => break ancestor,
                    None if name == "main" => break Activity(0),
                    None => {}
                }
            };
            let found = self.finds(ancestor);
            if !self.take(ancestor.into()) {
                break;
            }
            before.get_or_insert(found);
        }
        Err(format!("there is no {who}"))
    }

    /// Describes what an activity is about to do instead.
    fn finds(&self, activity: Activity) -> String {
        let who = self.subject.name(activity);
        let Some(event) = self.run.pending(activity) else {
            return format!("{who} has ended, or waits for something else");
        };
        let (what, site) = self.run.name(&event);
        let at = match &*site {
            "" => String::new(),
            site => format!(" at {site}"),
        };
        match self.run.is_enabled(activity) {
            true => format!("{who} is about to do `{what}`{at}"),
            false => format!("{who} waits to do `{what}`{at}"),
        }
    }
}
