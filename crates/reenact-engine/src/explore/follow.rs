//! Following a schedule: exactly, as long as the program is what it was, and otherwise as closely as can be.
//!
//! A program that has been changed since may do more or less than its schedule says. What an activity does before what the
//! schedule expects of it is let happen; what never comes is left out; and whoever follows is told of the first line that does not fit. After
//! the last line, whoever went last goes on as long as it can, then the others.

use std::fmt;

use reenact_multiverse::{
    Activity,
    explore::{Run, Step, Verdict},
};

use super::{
    failure::Failure,
    schedule::{Line, Schedule},
    subject::{Subject, Told},
};
use crate::with_object;

/// So many operations more than the schedule has of them may an activity do, before it is given up to find what it expects.
const MOST_MORE: usize = 256;

/// So many operations less may it do.
const MOST_LESS: usize = 8;

/// What came of following a schedule.
#[derive(Debug)]
pub struct Followed {
    /// What was done.
    pub schedule: Schedule,
    /// The same, as steps.
    pub steps: Vec<Step>,
    /// How many steps had been taken before each line that was followed.
    pub before: Vec<usize>,
    /// The first line that did not fit, from 0, and why.
    pub misfit: Option<Misfit>,
    /// How it ended.
    pub verdict: Verdict,
    /// What went wrong.
    pub failures: Vec<Failure>,
}

/// A line of a schedule that does not fit the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The step, from 1.
    pub step: usize,
    /// What was expected.
    pub expected: String,
    /// What there was instead.
    pub found: String,
}

impl Misfit {
    /// All fits, but it ends otherwise.
    pub(super) fn at_the_end(steps: usize) -> Misfit {
        Misfit {
            step: steps,
            expected: "the last one".to_owned(),
            found: "nothing fails".to_owned(),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfit {
            step,
            expected,
            found,
        } = self;
        write!(
            f,
            "step {step} of the schedule, {expected}, does not fit: {found}"
        )
    }
}

/// An execution that is written down.
struct Written<'a, S: Subject> {
    subject: &'a S,
    run: S::Run,
    schedule: Schedule,
    /// What was done in each line.
    events: Vec<S::Event>,
    steps: Vec<Step>,
    before: Vec<usize>,
}

impl<'a, S: Subject> Written<'a, S> {
    /// If its lines `are_shown`, it is found out what people want to know of each, which takes time.
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

    /// Takes a step, if that is possible.
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
        if let Some(came) = self.run.came_of_step()
            && let Some(line) = self.schedule.lines.last_mut()
        {
            line.what = Line::labelled(&line.what, &came);
        }
        true
    }

    fn ended(mut self, most: usize, misfit: Option<Misfit>) -> Followed {
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
            misfit,
        }
    }
}

impl<S: Subject> Written<'_, S> {
    /// Says in each line what its operation is about, and what those are about to meet who wait. Names are known when
    /// everything has been met.
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
            // Who waits within an operation has begun with it.
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

/// Takes these steps, and writes down what they are. They are those of an earlier execution: one that cannot be taken
/// again is the first difference of a program that does not do the same twice.
pub fn write_down<S: Subject>(subject: &S, steps: &[Step], most: usize) -> Followed {
    take_down(Written::new(subject, true), steps, most)
}

/// The same for one that nobody is going to see, but for where it fails to do the same.
pub(super) fn try_out<S: Subject>(subject: &S, steps: &[Step], most: usize) -> Followed {
    take_down(Written::new(subject, false), steps, most)
}

fn take_down<S: Subject>(mut written: Written<'_, S>, steps: &[Step], most: usize) -> Followed {
    let subject = written.subject;
    let mut misfit = None;
    for (index, &step) in steps.iter().enumerate() {
        if !written.take(step) {
            misfit = Some(Misfit {
                step: index + 1,
                expected: format!("a step of {}", subject.name(step.activity)),
                found: written.finds(step.activity),
            });
            break;
        }
    }
    written.ended(most, misfit)
}

/// Follows a schedule, for at most so many steps.
pub fn follow<S: Subject>(subject: &S, schedule: &Schedule, most: usize) -> Followed {
    let mut written = Written::new(subject, true);
    let mut misfit = None;
    for (index, line) in schedule.lines.iter().enumerate() {
        if written.steps.len() >= most {
            break;
        }
        written.before.push(written.steps.len());
        let after = &schedule.lines[index + 1..];
        if let Err(found) = written.follow(line, after) {
            misfit.get_or_insert_with(|| Misfit {
                step: index + 1,
                expected: format!("`{}` of {}", line.what, line.who),
                found,
            });
        }
    }
    written.ended(most, misfit)
}

/// Whether the next lines have this activity do that.
fn is_expected(what: &str, who: &str, lines: &[Line]) -> bool {
    let own = lines.iter().filter(|line| line.who == who);
    own.take(MOST_LESS).any(|line| line.operation() == what)
}

impl<S: Subject> Written<'_, S> {
    /// Does what a line says, and what comes before it. If that is more than this, or it cannot be done, says what there
    /// is instead.
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
            let (what, site) = self.run.tell(&event);
            // What is one step here may be several operations of a recording, and be called otherwise there.
            if what == line.operation() || !site.is_empty() && site == line.site {
                if self.take(step) || self.take(activity.into()) {
                    return before.map_or(Ok(()), Err);
                }
                return Err(self.finds(activity));
            }
            // It is expected later: so what is expected now is not done any more.
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
            "it does not come to that in {MOST_MORE} operations"
        ))
    }

    /// Lets those from whom it comes go on until there is an activity of this name. If it is not there yet, what comes
    /// before it.
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

    /// What an activity is about to do instead.
    fn finds(&self, activity: Activity) -> String {
        let who = self.subject.name(activity);
        let Some(event) = self.run.pending(activity) else {
            return format!("{who} has ended, or waits for something else");
        };
        let (what, site) = self.run.tell(&event);
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
