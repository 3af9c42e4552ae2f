//! The loop: run, look for races, go back to the last point where something is left to be tried.
//!
//! Between two executions there is the stack of [`Frame`]s: for each step of the last execution, who took it, what is to
//! be tried instead, and who is asleep. Sleepers of all frames are in one vector, because only the topmost frame ever
//! gets more of them.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use super::{
    Budget, Coverage, Limit, Links, Progress, Report, Run, Runs, Verdict,
    history::History,
    links::Link,
    reversal::{Meeting, Reversal, Second},
    wakeup::{Branches, Forest},
};
use crate::{Activity, dpor::Moment};

const REPORT_EVERY: Duration = Duration::from_millis(20);

/// An execution that has come to its end.
pub struct Execution<'a, R: Runs> {
    /// Its number, from 0.
    pub number: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// The run, at its end.
    pub run: &'a R::Run,
    history: &'a History<R::Event>,
}

impl<R: Runs> Execution<'_, R> {
    /// Who took the steps. Taking them again leads to the same end.
    pub fn schedule(&self) -> &[Activity] {
        self.history.schedule()
    }

    /// The steps.
    pub fn events(&self) -> impl Iterator<Item = (Activity, &R::Event)> {
        self.history.events()
    }
}

type Listener<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// An exploration that is about to start.
///
/// ```text
/// let report = Explorer::of(&program)
///     .budget(Budget { executions: Some(100_000), ..Budget::default() })
///     .stop_at_failure()
///     .run(|execution| println!("{:?}: {:?}", execution.verdict, execution.schedule()));
/// println!("{report}");
/// ```
pub struct Explorer<'a, R: Runs> {
    runs: &'a R,
    budget: Budget,
    stops_at_failure: bool,
    progress: Option<Box<Listener<'a>>>,
}

impl<'a, R: Runs> Explorer<'a, R> {
    /// An exploration of everything the program can do.
    pub fn of(runs: &'a R) -> Self {
        Explorer {
            runs,
            budget: Budget::default(),
            stops_at_failure: false,
            progress: None,
        }
    }

    /// Within this budget.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Not beyond the first failure or deadlock.
    pub fn stop_at_failure(mut self) -> Self {
        self.stops_at_failure = true;
        self
    }

    /// Telling how far it is: at the start and some times in a second. To break is to give up.
    pub fn progress(mut self, listener: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(listener));
        self
    }

    /// Explores, and shows each execution to `visit`.
    ///
    /// # Panics
    ///
    /// Panics if the program does not do the same under the same schedule.
    pub fn run(mut self, mut visit: impl FnMut(&Execution<'_, R>)) -> Report {
        let mut course = Course::new(self.runs, self.budget.steps);
        let began = Instant::now();
        let mut told = None;
        loop {
            let limit = self.is_over(&course.done, began, &mut told);
            if let Some(limit) = limit {
                course.coverage.stop(limit);
                break;
            }
            let verdict = course.execute(&mut visit);
            if self.stops_at_failure && verdict.is_some_and(Verdict::is_bad) {
                course.coverage.stop(Limit::Failure);
                break;
            }
            if !course.go_back() {
                break;
            }
        }
        Report {
            progress: course.done,
            coverage: course.coverage,
        }
    }

    fn is_over(
        &mut self,
        done: &Progress,
        began: Instant,
        told: &mut Option<Instant>,
    ) -> Option<Limit> {
        if let Some(most) = self.budget.executions
            && done.executions + done.redundant >= most
        {
            return Some(Limit::Executions(most));
        }
        if self.budget.time.is_none() && self.progress.is_none() {
            return None;
        }
        let now = Instant::now();
        if let Some(time) = self.budget.time
            && now - began >= time
        {
            return Some(Limit::Time(time));
        }
        if let Some(listener) = &mut self.progress
            && told.is_none_or(|told| now - told >= REPORT_EVERY)
        {
            *told = Some(now);
            if listener(*done).is_break() {
                return Some(Limit::Cancelled);
            }
        }
        None
    }
}

/// A point of the current execution.
struct Frame {
    /// Who takes the step.
    activity: Activity,
    /// What is to be tried instead.
    branches: Branches,
    /// Where its sleepers begin. They end where those of the next frame begin.
    sleepers: usize,
}

/// One whose next step has been tried, and has not been made worth another try by a dependent one.
struct Sleeper<E> {
    activity: Activity,
    event: E,
}

/// An exploration under way.
///
/// # Invariants
///
/// 1. Between executions, there is one more frame than events in the history: its step is the next new one.
/// 2. Whoever is asleep in a frame is enabled there, and is neither its step nor a branch of it.
struct Course<'a, R: Runs> {
    runs: &'a R,
    most_steps: usize,
    history: History<R::Event>,
    frames: Vec<Frame>,
    sleepers: Vec<Sleeper<R::Event>>,
    forest: Forest<R::Event>,
    /// What is settled about the time after the topmost frame's step.
    ahead: Branches,
    links: Links,
    sequence: Vec<Moment>,
    done: Progress,
    coverage: Coverage,
}

/// Why no step follows.
enum End {
    Over,
    Cut,
    Redundant,
}

impl<'a, R: Runs> Course<'a, R> {
    fn new(runs: &'a R, most_steps: Option<u32>) -> Self {
        Course {
            runs,
            most_steps: most_steps.map_or(usize::MAX, |steps| steps as usize),
            history: History::new(),
            frames: Vec::new(),
            sleepers: Vec::new(),
            forest: Forest::new(),
            ahead: Branches::EMPTY,
            links: Links::default(),
            sequence: Vec::new(),
            done: Progress::default(),
            coverage: Coverage::default(),
        }
    }

    /// Runs once, up to an end, and notes what is to be tried because of it. `None`: it was redundant.
    fn execute(&mut self, visit: &mut impl FnMut(&Execution<'_, R>)) -> Option<Verdict> {
        let mut run = self.runs.start();
        self.repeat(&mut run);
        if let Some(frame) = self.frames.last() {
            self.step(&mut run, frame.activity);
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
        let waiting = self.reverse_races(&run);
        let verdict = if run.has_failed() {
            Verdict::Failed
        } else if let End::Cut = end {
            Verdict::Cut
        } else if waiting {
            Verdict::Deadlock
        } else {
            Verdict::Finished
        };
        if let End::Cut = end {
            let steps = u32::try_from(self.most_steps).expect("it was one");
            self.coverage.stop(Limit::Steps(steps));
        }
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
            assert!(
                run.is_enabled(activity) && run.pending(activity).as_ref() == Some(event),
                "step {index} was {event:?} of {activity:?}, and under the same schedule is not any more"
            );
            run.step(activity, Moment(index));
        }
        self.done.repeated += self.history.len() as u64;
    }

    /// Takes a step for the first time.
    fn step(&mut self, run: &mut R::Run, activity: Activity) {
        assert!(
            run.is_enabled(activity),
            "{activity:?} could take a step, and cannot after independent ones"
        );
        let event = run.pending(activity).expect("what is enabled is pending");
        self.links.clear();
        run.links(activity, &mut self.links);
        let moment = self.history.push(activity, event, &self.links);
        run.step(activity, moment);
        self.done.steps += 1;
    }

    /// Who takes the next step, with a frame for it.
    fn choose(&mut self, run: &R::Run) -> Result<Activity, End> {
        let sleepers = self.sleepers.len();
        self.pass_on_sleepers();
        let (activity, branches) = match self.forest.take(&mut self.ahead) {
            Some((activity, below)) => {
                let others = std::mem::replace(&mut self.ahead, below);
                (activity, others)
            }
            None => match self.any(run, sleepers) {
                Ok(activity) => (activity, Branches::EMPTY),
                Err(end) => {
                    self.sleepers.truncate(sleepers);
                    return Err(end);
                }
            },
        };
        self.frames.push(Frame {
            activity,
            branches,
            sleepers,
        });
        Ok(activity)
    }

    /// Those who were asleep at the last step and are independent of it still are.
    fn pass_on_sleepers(&mut self) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        let last = Moment(u32::try_from(self.history.len() - 1).expect("fewer than 2^32 events"));
        let event = self.history.event(last);
        for index in frame.sleepers..self.sleepers.len() {
            let sleeper = &self.sleepers[index];
            if !self.runs.dependent(&sleeper.event, event) {
                let (activity, event) = (sleeper.activity, sleeper.event.clone());
                self.sleepers.push(Sleeper { activity, event });
            }
        }
    }

    /// Anyone enabled who is not asleep: the last one again, if possible.
    fn any(&self, run: &R::Run, sleepers: usize) -> Result<Activity, End> {
        let is_asleep = |activity| {
            self.sleepers[sleepers..]
                .iter()
                .any(|sleeper| sleeper.activity == activity)
        };
        let last = self.frames.last().map(|frame| frame.activity);
        let mut enabled = last
            .into_iter()
            .chain((0..run.activities()).map(Activity))
            .filter(|&activity| run.is_enabled(activity))
            .peekable();
        if enabled.peek().is_none() {
            return Err(End::Over);
        }
        if self.history.len() >= self.most_steps {
            return Err(End::Cut);
        }
        enabled
            .find(|&activity| !is_asleep(activity))
            .ok_or(End::Redundant)
    }

    /// Sees to it that each race of the execution is tried the other way round. Returns whether somebody is waiting.
    fn reverse_races(&mut self, run: &R::Run) -> bool {
        for index in 0..self.history.races().len() {
            let race = self.history.races()[index];
            let second = Second {
                activity: self.history.activity(race.second),
                event: self.history.event(race.second),
                previous: self.history.previous(race.second),
                links: self.history.links(race.second),
            };
            let buffer = std::mem::take(&mut self.sequence);
            let reversal = Reversal::new(self.runs, &self.history, race.first, second, buffer);
            let frame = race.first.index();
            let asleep = sleepers(&self.frames, &self.sleepers, frame);
            let branches = &mut self.frames[frame].branches;
            self.sequence = insert(reversal, asleep, &mut self.forest, branches);
        }
        let mut is_waiting = false;
        for activity in (0..run.activities()).map(Activity) {
            if let Some(event) = run.pending(activity) {
                is_waiting = true;
                self.reverse_pending(run, activity, &event);
            }
        }
        is_waiting
    }

    /// The same for what was never done, be it that it has to wait for ever.
    fn reverse_pending(&mut self, run: &R::Run, activity: Activity, event: &R::Event) {
        self.links.clear();
        run.links(activity, &mut self.links);
        let links = self.links.as_slice();
        let previous = self.history.last(activity);
        for &link in links {
            let Link::Races(first) = link else { continue };
            if !self.history.is_reversible(first, activity, previous, links) {
                continue;
            }
            let second = Second {
                activity,
                event,
                previous,
                links,
            };
            let buffer = std::mem::take(&mut self.sequence);
            let reversal = Reversal::new(self.runs, &self.history, first, second, buffer);
            let frame = first.index();
            let asleep = sleepers(&self.frames, &self.sleepers, frame);
            let branches = &mut self.frames[frame].branches;
            self.sequence = insert(reversal, asleep, &mut self.forest, branches);
        }
    }

    /// Back to the last point where something is left to be tried, and on to that. Returns whether there is one.
    fn go_back(&mut self) -> bool {
        while let Some(frame) = self.frames.last_mut() {
            let (activity, event) = self.history.pop().expect("each frame has had its step");
            if let Some((next, below)) = self.forest.take(&mut frame.branches) {
                self.sleepers.push(Sleeper { activity, event });
                frame.activity = next;
                self.ahead = below;
                return true;
            }
            self.sleepers.truncate(frame.sleepers);
            self.frames.pop();
        }
        false
    }
}

/// Those who are asleep in a frame.
fn sleepers<'s, E>(frames: &[Frame], sleepers: &'s [Sleeper<E>], frame: usize) -> &'s [Sleeper<E>] {
    let end = match frames.get(frame + 1) {
        Some(next) => next.sleepers,
        None => sleepers.len(),
    };
    &sleepers[frames[frame].sleepers..end]
}

/// Adds a reversed race to what is to be tried, unless that is or was part of something else. Returns its buffer.
fn insert<R: Runs>(
    mut reversal: Reversal<'_, R>,
    asleep: &[Sleeper<R::Event>],
    forest: &mut Forest<R::Event>,
    branches: &mut Branches,
) -> Vec<Moment> {
    let is_done = asleep
        .iter()
        .any(|sleeper| reversal.meet(sleeper.activity, &sleeper.event) != Meeting::Conflict);
    if is_done {
        return reversal.into_buffer();
    }
    let mut parent = None;
    let mut children = *branches;
    loop {
        let found = forest.iter(children).find_map(|(child, activity, event)| {
            match reversal.meet(activity, event) {
                Meeting::First(position) => Some((child, Some(position))),
                Meeting::Apart => Some((child, None)),
                Meeting::Conflict => None,
            }
        });
        let Some((child, position)) = found else {
            let branch = forest.grow(reversal.steps());
            match parent {
                Some(parent) => forest.append_below(parent, branch),
                None => forest.append(branches, branch),
            }
            return reversal.into_buffer();
        };
        if let Some(position) = position {
            reversal.remove(position);
        }
        children = forest.below(child);
        if children.is_empty() {
            return reversal.into_buffer();
        }
        parent = Some(child);
    }
}
