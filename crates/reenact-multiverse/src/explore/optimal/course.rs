//! The loop of an exploration: run, look for races, go back to the last point where something is left to be tried.

use super::{
    history::{Announcement, History},
    plan::Plan,
    portion::Portion,
    reversal::{Reversal, Second},
};
use crate::{
    Activity,
    explore::{
        Changed, Coverage, Divergence, Execution, Limit, Links, Progress, Run, Runs, Step, Verdict,
        can_be_taken,
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
    done: Progress,
    /// Whether nothing is left to be tried.
    is_over: bool,
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
        Course::within(runs, most_steps, Portion::whole())
    }

    /// Of this portion of all executions.
    pub(in crate::explore) fn within(
        runs: &'a R,
        most_steps: Option<u32>,
        portion: Portion<R::Event>,
    ) -> Self {
        Course {
            runs,
            most_steps,
            history: History::new(),
            plan: Plan::within(portion),
            links: Links::default(),
            done: Progress::default(),
            is_over: false,
            coverage: Coverage::default(),
        }
    }

    /// Runs once, up to an end, and notes what is to be tried because of it. `None`: it was redundant.
    pub(in crate::explore) fn execute(
        &mut self,
        visit: &mut impl FnMut(&Execution<'_, R>),
    ) -> Result<Option<Verdict>, Divergence> {
        let mut run = self.runs.start();
        self.repeat(&mut run)?;
        if let Some(step) = self.plan.step()
            && !self.step_or_another(&mut run, step)?
        {
            // All that was planned here is impossible, or has been tried.
            self.done.redundant += 1;
            return Ok(None);
        }
        let end = loop {
            match self.choose(&run) {
                // If it is impossible, anything else is as good.
                Ok(step) => {
                    self.step_or_another(&mut run, step)?;
                }
                Err(end) => break end,
            }
        };
        if let End::Cut(steps) = end {
            self.coverage.stop(Limit::Steps(steps));
        }
        self.history.settle();
        self.reverse_races();
        self.reverse_pending(&run);
        self.reverse_choices();
        self.history.are_looked_at();
        if let End::Redundant = end {
            self.done.redundant += 1;
            return Ok(None);
        }
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
        Ok(Some(verdict))
    }

    /// Takes the steps again that are the same as the last time.
    fn repeat(&mut self, run: &mut R::Run) -> Result<(), Divergence> {
        let mut events = self.history.events();
        run.repeat(&mut events).map_err(|changed| {
            let Changed { index, found } = changed;
            let (step, event) = self.history.events().nth(index).expect("one of them");
            Divergence {
                index,
                step,
                expected: format!("{event:?}"),
                found,
            }
        })?;
        self.done.repeated += self.history.len() as u64;
        Ok(())
    }

    /// Takes a step for the first time, or, as long as what was planned has to wait, another that was planned there. Whether there
    /// was one.
    ///
    /// A race is reversed in the belief that the second event can be first. Where it waits for what only one of others can
    /// do, such as those who select, that may be wrong.
    fn step_or_another(&mut self, run: &mut R::Run, step: Step) -> Result<bool, Divergence> {
        let mut step = step;
        while self.plan.expected().is_some()
            && self.plan.expected() == run.pending(step.activity).as_ref()
            && !run.is_enabled(step.activity)
        {
            self.coverage.stop(Limit::Unreached);
            match self.plan.another() {
                Some(other) => step = other,
                None => return Ok(false),
            }
        }
        self.step(run, step)?;
        Ok(true)
    }

    /// Takes a step for the first time.
    fn step(&mut self, run: &mut R::Run, step: Step) -> Result<(), Divergence> {
        let announcement = can_be_taken(run, step)
            .and_then(|()| announce(run, step))
            .map_err(|found| Divergence {
                index: self.history.len(),
                step,
                expected: match self.plan.expected() {
                    Some(event) => format!("{event:?}"),
                    None => "possible".to_owned(),
                },
                found,
            })?;
        self.links.clear();
        let event = run.step_at(step, self.history.next(), &mut self.links);
        if !self.history.push(announcement, event, &self.links) {
            self.plan.was_not_as_announced();
        }
        self.done.steps += 1;
        Ok(())
    }

    /// The next step. If nothing is settled, it is one of anybody that is not asleep: of the last one again, if possible.
    fn choose(&mut self, run: &R::Run) -> Result<Step, End> {
        let (runs, taken) = (self.runs, self.history.len());
        let cut = self.most_steps.filter(|&most| taken >= most as usize);
        let last = self.plan.step().map(|step| step.activity);
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
                    .flat_map(|activity| {
                        (0..run.choices(activity)).map(move |choice| Step { activity, choice })
                    })
                    .find(|&step| !is_asleep(step))
                    .ok_or(End::Redundant),
            }
        })
    }

    /// Sees to it that each race of the execution is tried the other way round.
    fn reverse_races(&mut self) {
        let history = &self.history;
        for race in history.races_to_reverse() {
            let (event, is_certain) = history.announced(race.second);
            let second = Second {
                step: history.activity(race.second).into(),
                event,
                is_certain,
                previous: history.previous(race.second),
                links: history.links(race.second),
            };
            let buffer = self.plan.take_buffer();
            if let Some(reversal) =
                Reversal::of_race(self.runs, history, race.first, second, buffer)
            {
                self.plan.reverse(reversal);
            }
        }
    }

    /// The same for what was about to be done: it may have to wait for ever, and would not, had it gone first.
    fn reverse_pending(&mut self, run: &R::Run) {
        let history = &self.history;
        for activity in (0..run.activities()).map(Activity) {
            let Some(event) = run.pending(activity) else {
                continue;
            };
            self.links.clear();
            run.links(activity, &mut self.links);
            let links = self.links.as_slice();
            let previous = history.last(activity);
            for link in links {
                if let Some(first) = link.race()
                    && history.is_reversible(first, activity, previous, links)
                {
                    let second = Second {
                        step: activity.into(),
                        event: &event,
                        is_certain: false,
                        previous,
                        links,
                    };
                    let buffer = self.plan.take_buffer();
                    if let Some(reversal) =
                        Reversal::of_race(self.runs, history, first, second, buffer)
                    {
                        self.plan.reverse(reversal);
                    }
                }
            }
        }
    }

    /// Sees to it that whatever could go in several ways is tried in each of them.
    fn reverse_choices(&mut self) {
        let history = &self.history;
        for &(moment, choices) in history.open() {
            let chosen = history.step(moment).choice;
            for choice in (0..choices).filter(|&choice| choice != chosen) {
                let buffer = self.plan.take_buffer();
                let reversal = Reversal::of_choice(self.runs, history, moment, choice, buffer);
                self.plan.reverse(reversal);
            }
        }
    }

    /// How many executions were made, to the end or not.
    pub(in crate::explore) fn executed(&self) -> u64 {
        self.done.executions + self.done.redundant
    }

    /// How far it is.
    pub(in crate::explore) fn progress(&self) -> Progress {
        let share = if self.is_over { 1.0 } else { self.plan.share() };
        let estimate = (share > 0.0).then(|| (self.executed() as f64 / share).round());
        Progress {
            estimate: estimate.map(|estimate| estimate as u64),
            ..self.done
        }
    }

    /// Back to the last point where something is left to be tried. Returns whether there is one.
    pub(in crate::explore) fn go_back(&mut self) -> bool {
        let dependent = |a: &_, b: &_| self.runs.dependent(a, b);
        self.is_over = !self.plan.go_back(&mut self.history, dependent);
        !self.is_over
    }
}

/// What the step is before it is taken.
fn announce<R: Run>(run: &R, step: Step) -> Result<Announcement<R::Event>, String> {
    let event = run.pending(step.activity).ok_or("nothing")?;
    Ok(Announcement {
        step,
        event,
        choices: run.choices(step.activity),
    })
}
