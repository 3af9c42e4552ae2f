//! The debugger: breakpoints and steps, in every universe at once.
//!
//! A debugger for a language is a language itself, whose states are [`Configuration`]s and whose steps are [`Rule`]s.
//! So the search that finds every universe of a program also finds every universe of the program *in the debugger*;
//! that is how multiverse debugging works. The debugger must not add or remove a step of the program, see
//! [`check_non_interference`](crate::check_non_interference).
//!
//! # What happens between two steps of the program
//!
//! Every breakpoint is checked, from left to right. A breakpoint that hits pauses the universe and every activity that
//! stands at it. A user breakpoint persists; it stops an activity again when the activity returns to it, not before the
//! activity has moved. A step is a goal and a choice of which activities run; it ends when it reaches the goal or
//! another step is requested.

mod apply;
mod check;
mod command;
mod configuration;
mod rules;
mod step;
mod target;
mod view;

pub use self::{
    command::CommandError,
    configuration::{
        ActivityRecord, ActivityState, Breakpoints, Configuration, DebuggerCommand, DebuggerMode,
        PauseCause, Point, RequestedStep,
    },
    rules::Rule,
};

use std::borrow::Cow;

use crate::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Semantics, What,
    debugger::view::ProgramView,
};

/// How much happens in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StepSize {
    /// The application of one rule.
    Rule,
    /// Of a language: all rules up to, but not including, the next action that is visible to other activities. Of the
    /// debugger: a step of the program with all rules that the debugger applies after it.
    #[default]
    Macro,
}

/// A program in the debugger.
pub struct Debugger<'s, S> {
    base: &'s S,
    breakpoints: &'s Breakpoints,
    step_size: StepSize,
}

/// The activity of the debugger's own steps.
const NOBODY: Activity = Activity(u32::MAX);

impl<'s, S: Semantics> Debugger<'s, S> {
    /// Debugs a program with these breakpoints.
    pub fn new(base: &'s S, breakpoints: &'s Breakpoints, step_size: StepSize) -> Self {
        Self {
            base,
            breakpoints,
            step_size,
        }
    }

    /// The program.
    pub fn base(&self) -> &'s S {
        self.base
    }

    /// Enters a state of the program, with no breakpoint checked yet.
    pub fn enter(&self, base: S::State) -> Configuration<S::State> {
        let activities = self.base.activities(&base);
        Configuration {
            pending: self
                .breakpoints
                .iter()
                .map(|(number, breakpoint)| Point::of(number, breakpoint))
                .collect(),
            checked: Vec::new(),
            mode: DebuggerMode::Run,
            commands: Vec::new(),
            activities: activities
                .into_iter()
                .map(|activity| (activity, ActivityRecord::RUN))
                .collect(),
            done: Vec::new(),
            base,
        }
    }

    /// Like [`enter`](Debugger::enter), but waits for a command unless the program has ended there.
    pub fn enter_paused(&self, base: S::State) -> Configuration<S::State> {
        let mut state = self.enter(base);
        if !self.base.steps(&state.base).is_empty() {
            let all: Vec<_> = state.activities.iter().map(|(one, _)| *one).collect();
            self.pause(&mut state, PauseCause::Command, &all);
        }
        state
    }

    /// Updates a configuration after breakpoints were added or removed. A new breakpoint does not stop activities that
    /// are already stopped, and treats every message in transit as sent from its line, since the origin of these
    /// messages is unknown.
    pub fn refit(&self, configuration: &Configuration<S::State>) -> Configuration<S::State> {
        let mut refitted = configuration.clone();
        let exists = |number: u32| self.breakpoints.get(number).is_some();
        for points in refitted.points_mut() {
            points.retain(|point| point.breakpoint().is_none_or(exists));
        }
        for (_, standing) in &mut refitted.activities {
            standing.passing.retain(|number| exists(*number));
        }
        for (number, breakpoint) in self.breakpoints.iter() {
            if configuration
                .points()
                .any(|point| point.breakpoint() == Some(number))
            {
                continue;
            }
            Point::of(number, breakpoint).insert(&mut refitted.pending);
            if let What::Operation(pattern) = &breakpoint.what
                && pattern.sent_from().is_some()
            {
                let receiver = Point::Receiver {
                    breakpoint: number,
                    receiver: None,
                };
                receiver.insert(&mut refitted.pending);
            }
            for (_, standing) in &mut refitted.activities {
                if standing.state == ActivityState::Pause {
                    standing.passing.push(number);
                }
            }
        }
        refitted.forget();
        refitted
    }

    /// Applies the debugger's own rules, up to the next step of the program or a pause.
    pub fn settle(&self, configuration: &mut Configuration<S::State>) {
        loop {
            let state = configuration.base.clone();
            let view = ProgramView::new(self.base, &state);
            loop {
                let Some(rule) = self.administrative(configuration, &view) else {
                    return;
                };
                // The view reflects the marks from before the rule.
                let is_marking = self.apply(configuration, &rule, &view);
                if is_marking {
                    break;
                }
            }
        }
    }
}

impl<S: Semantics> Semantics for Debugger<'_, S> {
    type State = Configuration<S::State>;
    type Step = Rule<S::Step>;

    fn initial(&self) -> Vec<Self::State> {
        let states = self.base.initial();
        let mut all: Vec<_> = states.into_iter().map(|state| self.enter(state)).collect();
        if self.step_size == StepSize::Macro {
            all.iter_mut().for_each(|one| self.settle(one));
        }
        all
    }

    /// The rules of the debugger come before those of the program; at most one of them applies.
    fn steps(&self, state: &Self::State) -> Vec<Self::Step> {
        let view = ProgramView::new(self.base, &state.base);
        match self.administrative(state, &view) {
            Some(rule) => vec![rule],
            None => self.base_steps(state),
        }
    }

    fn take(&self, state: &Self::State, step: &Self::Step) -> Self::State {
        let mut next = match step.base() {
            Some(step) => self.step(state, step),
            None => {
                let mut next = state.clone();
                self.apply(&mut next, step, &ProgramView::new(self.base, &state.base));
                next
            }
        };
        if self.step_size == StepSize::Macro {
            self.settle(&mut next);
        }
        next
    }

    fn activity(&self, step: &Self::Step) -> Activity {
        step.base().map_or(NOBODY, |step| self.base.activity(step))
    }

    /// Any two steps are dependent: their order is observable in what a breakpoint between them stops.
    fn dependent(&self, _a: &Self::Step, _b: &Self::Step) -> bool {
        true
    }

    fn kinds(&self) -> &'static [OperationKind] {
        self.base.kinds()
    }

    fn operation<'a>(&'a self, state: &'a Self::State, step: &Self::Step) -> Operation<'a> {
        match step.base() {
            Some(step) => self.base.operation(&state.base, step),
            None => Operation {
                kind: OperationKind::Local,
                activity: NOBODY,
                subject: Cow::Borrowed(step.name()),
                with: None,
                site: None,
                sent_at: None,
                depth: 0,
                marked: false,
            },
        }
    }

    fn activities(&self, state: &Self::State) -> Vec<Activity> {
        self.base.activities(&state.base)
    }

    fn turn<'a>(&'a self, state: &'a Self::State, activity: Activity) -> Option<Operation<'a>> {
        self.base.turn(&state.base, activity)
    }

    fn mark(&self, state: &Self::State, activity: Activity, what: Marked) -> Self::State {
        Configuration {
            base: self.base.mark(&state.base, activity, what),
            ..state.clone()
        }
    }

    fn unmark(&self, state: &Self::State) -> Self::State {
        Configuration {
            base: self.base.unmark(&state.base),
            ..state.clone()
        }
    }

    fn name(&self, state: &Self::State, activity: Activity) -> String {
        match activity {
            NOBODY => "the debugger".to_owned(),
            _ => self.base.name(&state.base, activity),
        }
    }

    fn describe(
        &self,
        state: &Self::State,
        step: &Self::Step,
        name: &dyn Fn(Activity) -> String,
    ) -> String {
        match step.base() {
            Some(step) => self.base.describe(&state.base, step, name),
            None => format!("applies {}", step.name()),
        }
    }

    fn observe(&self, state: &Self::State) -> Observation {
        self.base.observe(&state.base)
    }

    fn ending(&self, state: &Self::State) -> Ending {
        self.base.ending(&state.base)
    }

    fn state_bytes(&self, state: &Self::State) -> usize {
        self.base.state_bytes(&state.base)
            + size_of::<Point>() * (state.pending.capacity() + state.checked.capacity())
            + size_of::<(Activity, ActivityRecord)>() * state.activities.capacity()
    }

    fn shared_bytes(&self) -> usize {
        self.base.shared_bytes()
    }
}
