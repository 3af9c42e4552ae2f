//! The loop of an optimal exploration: run, find races, go back to the last point where something is left to be tried.

use super::{
    clocked_log::{AnnouncedStep, ClockedLog},
    plan::Plan,
    portion::Portion,
    reversal::{Reversal, Second},
};
use crate::{
    Activity, Coverage, Divergence, EndedExecution, Limit, Links, Progress, Run, Runs, Step,
    Verdict, can_be_taken,
};

/// An optimal exploration in progress.
///
/// # Invariants
///
/// 1. Between executions, the plan has one more step than the log has events: the next new step.
/// 2. At the end of an execution, both have the same length.
pub(crate) struct OptimalDriver<'a, R: Runs> {
    runs: &'a R,
    most_steps: Option<u32>,
    log: ClockedLog<R::Event>,
    plan: Plan<R::Event>,
    /// The links of the current event. A buffer, reused.
    links: Links,
    done: Progress,
    /// Whether nothing is left to be tried.
    is_over: bool,
    pub(crate) coverage: Coverage,
}

/// Why there is no next step.
enum StopReason {
    Over,
    Cut(u32),
    Redundant,
    /// Everything planned at the last point is impossible, or has been tried.
    Impossible,
}

impl<'a, R: Runs> OptimalDriver<'a, R> {
    pub(crate) fn new(runs: &'a R, most_steps: Option<u32>) -> Self {
        OptimalDriver::within(runs, most_steps, Portion::whole())
    }

    /// Explores only this portion of all executions.
    pub(crate) fn within(runs: &'a R, most_steps: Option<u32>, portion: Portion<R::Event>) -> Self {
        OptimalDriver {
            runs,
            most_steps,
            log: ClockedLog::new(),
            plan: Plan::within(portion),
            links: Links::default(),
            done: Progress::default(),
            is_over: false,
            coverage: Coverage::default(),
        }
    }

    /// Runs once, to the end, and plans what is to be tried because of it. `None` if the execution was redundant.
    pub(crate) fn execute(
        &mut self,
        visit: &mut impl FnMut(&EndedExecution<'_, R>),
    ) -> Result<Option<Verdict>, Divergence> {
        let mut run = self.runs.start();
        let end = match self.go_to_the_end(&mut run) {
            Err(_) | Ok(StopReason::Over) if run.verdict() == Verdict::Interrupted => {
                return Ok(Some(Verdict::Interrupted));
            }
            end => end?,
        };
        if let StopReason::Impossible = end {
            self.done.redundant += 1;
            return Ok(None);
        }
        if let StopReason::Cut(steps) = end {
            self.coverage.stop(Limit::Steps(steps));
        }
        self.log.settle();
        self.reverse_races();
        self.reverse_pending(&run);
        self.reverse_choices();
        self.log.are_looked_at();
        if let StopReason::Redundant = end {
            self.done.redundant += 1;
            return Ok(None);
        }
        let verdict = match end {
            StopReason::Cut(_) => Verdict::Cut,
            _ => run.verdict(),
        };
        visit(&EndedExecution {
            number: self.done.executions,
            verdict,
            run: &run,
            log: &self.log,
        });
        self.done.count(verdict);
        Ok(Some(verdict))
    }

    /// Takes the steps of the plan, and then others until there is no next one.
    fn go_to_the_end(&mut self, run: &mut R::Run) -> Result<StopReason, Divergence> {
        self.repeat(run)?;
        if let Some(step) = self.plan.step()
            && !self.step_or_another(run, step)?
        {
            return Ok(StopReason::Impossible);
        }
        loop {
            match self.choose(run) {
                // If the step is impossible, any other is as good.
                Ok(step) => {
                    self.step_or_another(run, step)?;
                }
                Err(end) => return Ok(end),
            }
        }
    }

    /// Takes the steps again that are the same as in the last execution.
    fn repeat(&mut self, run: &mut R::Run) -> Result<(), Divergence> {
        let mut events = self.log.events();
        run.repeat(&mut events)?;
        self.done.repeated += self.log.steps().len() as u64;
        Ok(())
    }

    /// Takes a step for the first time; while the planned step is not enabled, takes another one planned at the same
    /// point instead. Returns whether there was one.
    ///
    /// A race is reversed on the assumption that the second event can go first. Where it waits for something that only
    /// one of several activities can do, as with select, that may be wrong.
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
            .map_err(|found| match self.plan.expected() {
                Some(event) => Divergence::at_event(self.log.steps().len(), step, event, found),
                None => Divergence::at_step(self.log.steps().len(), step, found),
            })?;
        self.links.clear();
        let event = run.step_at(step, self.log.steps().next(), &mut self.links);
        if !self.log.push(announcement, event, &self.links) {
            self.plan.was_not_as_announced();
        }
        self.done.steps += 1;
        Ok(())
    }

    /// Chooses the next step. If none is planned, takes any step that is not asleep, preferably of the last activity.
    fn choose(&mut self, run: &R::Run) -> Result<Step, StopReason> {
        let (runs, taken) = (self.runs, self.log.steps().len());
        let cut = self.most_steps.filter(|&most| taken >= most as usize);
        let last = self.plan.step().map(|step| step.activity);
        let is_independent = {
            let last = self.log.last_event();
            move |event: &R::Event| !last.is_some_and(|last| runs.dependent(event, last))
        };
        self.plan.next(is_independent, |is_asleep| {
            let mut enabled = last
                .into_iter()
                .chain((0..run.activities()).map(Activity))
                .filter(|&activity| run.is_enabled(activity))
                .peekable();
            match (enabled.peek(), cut) {
                (None, _) => Err(StopReason::Over),
                (Some(_), Some(steps)) => Err(StopReason::Cut(steps)),
                (Some(_), None) => enabled
                    .flat_map(|activity| {
                        (0..run.choices(activity)).map(move |choice| Step { activity, choice })
                    })
                    .find(|&step| !is_asleep(step))
                    .ok_or(StopReason::Redundant),
            }
        })
    }

    /// Plans the reversal of each race of the execution.
    fn reverse_races(&mut self) {
        let log = &self.log;
        for race in log.races_to_reverse() {
            let (event, is_certain) = log.announced(race.second);
            let second = Second {
                step: log.activity(race.second).into(),
                event,
                is_certain,
                previous: log.steps().previous(race.second),
                links: log.steps().links(race.second),
            };
            let buffer = self.plan.take_buffer();
            if let Some(reversal) = Reversal::of_race(self.runs, log, race.first, second, buffer) {
                self.plan.reverse(reversal);
            }
        }
    }

    /// Plans reversals for the pending operations: one that waits at the end might not wait had it gone first.
    fn reverse_pending(&mut self, run: &R::Run) {
        let log = &self.log;
        for activity in (0..run.activities()).map(Activity) {
            let Some(event) = run.pending(activity) else {
                continue;
            };
            self.links.clear();
            run.links(activity, &mut self.links);
            let links = self.links.as_slice();
            let previous = log.steps().last(activity);
            for link in links {
                if let Some(first) = link.race()
                    && log.is_reversible(first, activity, previous, links)
                {
                    let second = Second {
                        step: activity.into(),
                        event: &event,
                        is_certain: false,
                        previous,
                        links,
                    };
                    let buffer = self.plan.take_buffer();
                    if let Some(reversal) = Reversal::of_race(self.runs, log, first, second, buffer)
                    {
                        self.plan.reverse(reversal);
                    }
                }
            }
        }
    }

    /// Plans the other choices of each event.
    fn reverse_choices(&mut self) {
        let log = &self.log;
        for &(moment, choices) in log.open() {
            let chosen = log.steps().step(moment).choice;
            for choice in (0..choices).filter(|&choice| choice != chosen) {
                let buffer = self.plan.take_buffer();
                let reversal = Reversal::of_choice(self.runs, log, moment, choice, buffer);
                self.plan.reverse(reversal);
            }
        }
    }

    /// The number of executions, including redundant ones.
    pub(crate) fn executed(&self) -> u64 {
        self.done.started()
    }

    /// The progress of the exploration.
    pub(crate) fn progress(&self) -> Progress {
        let share = if self.is_over { 1.0 } else { self.plan.share() };
        let estimate = (share > 0.0).then(|| (self.executed() as f64 / share).round());
        Progress {
            estimate: estimate.map(|estimate| estimate as u64),
            ..self.done
        }
    }

    /// Goes back to the last point where something is left to be tried. Returns whether there is one.
    pub(crate) fn go_back(&mut self) -> bool {
        let dependent = |a: &_, b: &_| self.runs.dependent(a, b);
        self.is_over = !self.plan.go_back(&mut self.log, dependent);
        !self.is_over
    }
}

/// The step in its pending form.
fn announce<R: Run>(run: &R, step: Step) -> Result<AnnouncedStep<R::Event>, String> {
    let event = run.pending(step.activity).ok_or("nothing")?;
    Ok(AnnouncedStep {
        step,
        event,
        choices: run.choices(step.activity),
    })
}
