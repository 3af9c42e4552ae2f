//! The loop of an exploration: run, look for races, go back to the last point where something is left to be tried.

use super::{history::History, plan::Plan, reversal::Second};
use crate::{
    Activity,
    explore::{
        Coverage, Execution, Limit, Links, Moment, Progress, Run, Runs, Verdict, links::Link,
    },
};

/// An exploration under way.
///
/// # Invariants
///
/// 1. Between executions, the plan has one more step than the history has events: it is the next new one.
/// 2. At the end of an execution, it has as many.
pub(in crate::explore) struct Course<'a, R: Runs> {
    runs: &'a R,
    most_steps: Option<u32>,
    history: History<R::Event>,
    plan: Plan<R::Event>,
    /// Those of the event in question. It is here to be used again.
    links: Links,
    pub(in crate::explore) done: Progress,
    pub(in crate::explore) coverage: Coverage,
}

/// Why no step follows.
enum End {
    Over,
    Cut(u32),
    Redundant,
}

impl<'a, R: Runs> Course<'a, R> {
    pub(in crate::explore) fn new(runs: &'a R, most_steps: Option<u32>) -> Self {
        Course {
            runs,
            most_steps,
            history: History::new(),
            plan: Plan::new(),
            links: Links::default(),
            done: Progress::default(),
            coverage: Coverage::default(),
        }
    }

    /// Runs once, up to an end, and notes what is to be tried because of it. `None`: it was redundant.
    pub(in crate::explore) fn execute(
        &mut self,
        visit: &mut impl FnMut(&Execution<'_, R>),
    ) -> Option<Verdict> {
        let mut run = self.runs.start();
        self.repeat(&mut run);
        if let Some(activity) = self.plan.activity() {
            self.step(&mut run, activity);
        }
        let end = loop {
            match self.choose(&run) {
                Ok(activity) => self.step(&mut run, activity),
                Err(end) => break end,
            }
        };
        if let End::Redundant = end {
            self.done.redundant += 1;
            return None;
        }
        if let End::Cut(steps) = end {
            self.coverage.stop(Limit::Steps(steps));
        }
        self.reverse_races();
        self.reverse_pending(&run);
        let verdict = match end {
            End::Cut(_) => Verdict::Cut,
            _ => run.verdict(),
        };
        visit(&Execution {
            number: self.done.executions,
            verdict,
            run: &run,
            history: &self.history,
        });
        self.done.executions += 1;
        self.done.deadlocks += u64::from(verdict == Verdict::Deadlock);
        self.done.failures += u64::from(verdict == Verdict::Failed);
        Some(verdict)
    }

    /// Takes the steps again that are the same as the last time.
    fn repeat(&mut self, run: &mut R::Run) {
        for (index, (activity, event)) in (0..).zip(self.history.events()) {
            self.links.clear();
            let performed = run
                .is_enabled(activity)
                .then(|| run.step_at(activity.into(), Moment(index), &mut self.links));
            assert!(
                performed.as_ref() == Some(event),
                "step {index} was {event:?} of {activity:?}, and under the same schedule is not any more"
            );
        }
        self.done.repeated += self.history.len() as u64;
    }

    /// Takes a step for the first time.
    fn step(&mut self, run: &mut R::Run, activity: Activity) {
        assert!(
            run.is_enabled(activity),
            "{activity:?} could take a step, and cannot after independent ones"
        );
        self.links.clear();
        let pending = run
            .pending(activity)
            .expect("who is enabled is about to do something");
        let event = run.step_at(activity.into(), self.history.next(), &mut self.links);
        self.history.push(activity, event, pending, &self.links);
        self.done.steps += 1;
    }

    /// Who takes the next step. If nothing is settled, it is anyone who is not asleep: the last one again, if possible.
    fn choose(&mut self, run: &R::Run) -> Result<Activity, End> {
        let (runs, taken) = (self.runs, self.history.len());
        let cut = self.most_steps.filter(|&most| taken >= most as usize);
        let last = self.plan.activity();
        let is_independent = {
            let last = self.history.last_event();
            move |event: &R::Event| !last.is_some_and(|last| runs.dependent(event, last))
        };
        self.plan.next(is_independent, |is_asleep| {
            let mut enabled = last
                .into_iter()
                .chain((0..run.activities()).map(Activity))
                .filter(|&activity| run.is_enabled(activity))
                .peekable();
            match (enabled.peek(), cut) {
                (None, _) => Err(End::Over),
                (Some(_), Some(steps)) => Err(End::Cut(steps)),
                (Some(_), None) => enabled
                    .find(|&activity| !is_asleep(activity))
                    .ok_or(End::Redundant),
            }
        })
    }

    /// Sees to it that each race of the execution is tried the other way round.
    fn reverse_races(&mut self) {
        let history = &self.history;
        for race in history.races() {
            let second = Second {
                activity: history.activity(race.second),
                event: history.pending(race.second),
                previous: history.previous(race.second),
                links: history.links(race.second),
            };
            self.plan.reverse(self.runs, history, race.first, second);
        }
    }

    /// The same for what was about to be done: it may have to wait for ever, and would not, had it gone first.
    fn reverse_pending(&mut self, run: &R::Run) {
        for activity in (0..run.activities()).map(Activity) {
            let Some(event) = run.pending(activity) else {
                continue;
            };
            self.links.clear();
            run.links(activity, &mut self.links);
            let links = self.links.as_slice();
            let previous = self.history.last(activity);
            for link in links {
                if let Link::Races(first) | Link::RacesIfPossible(first) = *link
                    && self.history.is_reversible(first, activity, previous, links)
                {
                    let second = Second {
                        activity,
                        event: &event,
                        previous,
                        links,
                    };
                    self.plan.reverse(self.runs, &self.history, first, second);
                }
            }
        }
    }

    /// Back to the last point where something is left to be tried. Returns whether there is one.
    pub(in crate::explore) fn go_back(&mut self) -> bool {
        self.plan.go_back(&mut self.history)
    }
}
