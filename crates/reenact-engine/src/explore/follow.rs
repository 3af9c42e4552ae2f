//! Following a schedule: exactly, as long as the program is what it was, and otherwise as closely as can be.
//!
//! A program that has been changed since may do more or less than its schedule says. What an activity does before what the
//! schedule expects of it is let happen; what never comes is left out; and whoever follows is told of the first line that does not fit. After
//! the last line, whoever went last goes on as long as it can, then the others.

use std::fmt;

use reenact_multiverse::{
    Activity,
    explore::{Run, Runs, Step, Verdict},
};

use super::{
    failure::Failure,
    run::{Execution, Explored},
    schedule::{Line, Schedule},
};

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
struct Written {
    run: Execution,
    schedule: Schedule,
    steps: Vec<Step>,
}

impl Written {
    /// Takes a step, if that is possible.
    fn take(&mut self, step: Step) -> bool {
        let Some(event) = self.run.pending(step.activity) else {
            return false;
        };
        if !self.run.is_enabled(step.activity) || step.choice >= self.run.choices(step.activity) {
            return false;
        }
        self.schedule.lines.push(Line {
            who: self.run.name(step.activity),
            what: event.op.name().to_owned(),
            site: event.site.to_string(),
            choice: step.choice,
        });
        self.steps.push(step);
        self.run.step(step);
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
        Followed {
            verdict: self.run.verdict(),
            failures: self.run.failures(),
            schedule: self.schedule,
            steps: self.steps,
            misfit,
        }
    }
}

impl<F: Fn() + 'static> Explored<F> {
    fn written(&self) -> Written {
        Written {
            run: self.start(),
            schedule: Schedule::default(),
            steps: Vec::new(),
        }
    }

    /// Takes these steps, and writes down what they are. They are those of an earlier execution: one that cannot be taken
    /// again is the first difference of a program that does not do the same twice.
    pub fn write_down(&self, steps: &[Step], most: usize) -> Followed {
        let mut written = self.written();
        let mut misfit = None;
        for (index, &step) in steps.iter().enumerate() {
            if !written.take(step) {
                let who = self.name(step.activity);
                misfit = Some(Misfit {
                    step: index + 1,
                    expected: format!("a step of {who}"),
                    found: written.finds(step.activity),
                });
                break;
            }
        }
        written.ended(most, misfit)
    }

    /// Follows a schedule, of at most so many steps.
    pub fn follow(&self, schedule: &Schedule, most: usize) -> Followed {
        let mut written = self.written();
        let mut misfit = None;
        for (index, line) in schedule.lines.iter().enumerate() {
            if written.steps.len() >= most {
                break;
            }
            let after = &schedule.lines[index + 1..];
            if let Err(found) = self.follow_line(&mut written, line, after) {
                misfit.get_or_insert_with(|| Misfit {
                    step: index + 1,
                    expected: format!("`{}` of {}", line.what, line.who),
                    found,
                });
            }
        }
        written.ended(most, misfit)
    }

    /// Does what a line says, and what comes before it. If that is more than this, or it cannot be done, says what there
    /// is instead.
    fn follow_line(
        &self,
        written: &mut Written,
        line: &Line,
        after: &[Line],
    ) -> Result<(), String> {
        let Some(activity) = self.find(&line.who) else {
            return Err(format!("there is no {}", line.who));
        };
        let step = Step {
            activity,
            choice: line.choice,
        };
        let mut before = None;
        for _ in 0..MOST_MORE {
            let event = written.run.pending(activity);
            match event {
                Some(event) if event.op.name() == line.what => {
                    if written.take(step) || written.take(activity.into()) {
                        return before.map_or(Ok(()), Err);
                    }
                    return Err(written.finds(activity));
                }
                // It is expected later: so what is expected now is not done any more.
                Some(event) if is_expected(event.op.name(), &line.who, after) => {
                    return Err(written.finds(activity));
                }
                Some(_) => {
                    before.get_or_insert_with(|| written.finds(activity));
                    if !written.take(activity.into()) {
                        return Err(written.finds(activity));
                    }
                }
                None => return Err(written.finds(activity)),
            }
        }
        Err(format!(
            "it does not come to that in {MOST_MORE} operations"
        ))
    }
}

/// Whether the next lines have this activity do that.
fn is_expected(what: &str, who: &str, lines: &[Line]) -> bool {
    let own = lines.iter().filter(|line| line.who == who);
    own.take(MOST_LESS).any(|line| line.what == what)
}

impl Written {
    /// What an activity is about to do instead.
    fn finds(&self, activity: Activity) -> String {
        let who = self.run.name(activity);
        match self.run.pending(activity) {
            Some(event) if self.run.is_enabled(activity) => {
                format!(
                    "{who} is about to do `{}` at {}",
                    event.op.name(),
                    event.site
                )
            }
            Some(event) => format!("{who} waits to do `{}` at {}", event.op.name(), event.site),
            None => format!("{who} has ended, or waits for something else"),
        }
    }
}
