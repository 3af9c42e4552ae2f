//! Applies the debugger's own rules. They leave the program unchanged, up to marks.

use super::{
    ActivityRecord, ActivityState, Configuration, Debugger, DebuggerCommand, DebuggerMode,
    PauseCause, Point, RequestedStep, Rule, view::ProgramView,
};
use crate::{Activity, Freeing, Semantics, Whose};

impl<S: Semantics> Debugger<'_, S> {
    /// Applies one of the debugger's own rules. Returns whether it may have changed a mark in the program.
    pub(super) fn apply(
        &self,
        state: &mut Configuration<S::State>,
        rule: &Rule<S::Step>,
        view: &ProgramView<'_, S>,
    ) -> bool {
        match rule {
            Rule::CelStepGlobal(_) | Rule::CelStepLocal(_) => {} // See `step`.
            Rule::AddNewActor(activity) => {
                let at = state.activities.partition_point(|(one, _)| one < activity);
                state
                    .activities
                    .insert(at, (*activity, ActivityRecord::RUN));
            }
            Rule::SaveMrb {
                breakpoint,
                receiver,
            } => {
                if receiver.is_none() {
                    let is_other = |point: &Point| match point {
                        Point::Receiver {
                            breakpoint: other, ..
                        } => other != breakpoint,
                        _ => true,
                    };
                    state.points_mut().for_each(|all| all.retain(is_other));
                }
                let point = Point::Receiver {
                    breakpoint: *breakpoint,
                    receiver: *receiver,
                };
                point.insert(&mut state.checked);
            }
            Rule::NotApplicableBreakpoint => self.checked(state),
            Rule::TriggerMsb(number) | Rule::TriggerMrb(number) => {
                let stopped = self.stopped_by(state, &state.pending[0], view);
                self.pass(state, &stopped, view);
                self.checked(state);
                self.pause(state, PauseCause::Breakpoint(*number), &stopped);
            }
            Rule::TriggerAfter(number) | Rule::TriggerTemporal(number) => {
                let stopped = self.stopped_by(state, &state.pending[0], view);
                self.checked(state);
                self.pause(state, PauseCause::Breakpoint(*number), &stopped);
            }
            Rule::TriggerStep => {
                let stopped = self.stopped_by(state, &state.pending[0], view);
                if let Point::Goal(target) = state.pending.remove(0) {
                    if target.is_before() {
                        self.pass(state, &stopped, view);
                    }
                    self.pause(state, PauseCause::Step(target.step.name), &stopped);
                }
                state.base = self.base.unmark(&state.base);
                return true;
            }
            Rule::TriggerStepNextTurn => {
                if let DebuggerCommand::Stepping(target) = state.commands.remove(0) {
                    self.pass(state, &[target.activity], view);
                    let cause = PauseCause::Step(target.step.name);
                    self.pause(state, cause, &[target.activity]);
                }
            }
            Rule::PrepareStepNextTurn => {
                if let DebuggerCommand::Step(mut target) = state.commands.remove(0) {
                    self.free(state, &target);
                    // The current operation is never the goal: if it matches, it has to be passed as well.
                    let is_there = view.of(target.activity).any(|next| target.is_at(next));
                    target.count -= u32::from(!is_there);
                    if let Some(standing) = state.standing_mut(target.activity) {
                        standing.state = ActivityState::Step(target.count);
                    }
                    state.commands.insert(0, DebuggerCommand::Stepping(target));
                }
            }
            Rule::PrepareStep => {
                if let DebuggerCommand::Step(target) = state.commands.remove(0) {
                    self.free(state, &target);
                    if let Some(Whose::Marked(what)) = target.whose() {
                        state.base = self.base.mark(&state.base, target.activity, what);
                    }
                    Point::Goal(target).insert(&mut state.pending);
                }
                return true;
            }
            Rule::ReleaseHold => {
                self.recheck(state);
                for (_, standing) in &mut state.activities {
                    if standing.state == ActivityState::Hold {
                        standing.state = ActivityState::Run;
                    }
                }
            }
            Rule::ResumeExecution => {
                self.recheck(state);
                state.commands.remove(0);
                state.mode = DebuggerMode::Run;
                for (_, standing) in &mut state.activities {
                    standing.state = ActivityState::Run;
                }
                if let Some(DebuggerCommand::Stepping(target)) = state.commands.first() {
                    let (activity, count) = (target.activity, target.count);
                    if let Some(standing) = state.standing_mut(activity) {
                        standing.state = ActivityState::Step(count);
                    }
                }
            }
            Rule::PauseExecution => {
                self.recheck(state);
                state.commands.remove(0);
                let all: Vec<_> = state.activities.iter().map(|(one, _)| *one).collect();
                self.pause(state, PauseCause::Command, &all);
            }
            Rule::StopExecution => {
                state.commands.clear();
                state.mode = DebuggerMode::Stopped;
            }
        }
        false
    }

    /// Moves the first pending point to the checked ones.
    pub(super) fn checked(&self, state: &mut Configuration<S::State>) {
        let mut point = state.pending.remove(0);
        if let Point::Temporal { hit, .. } = &mut point {
            *hit = None;
        }
        point.insert(&mut state.checked);
        state.forget();
    }

    /// Pauses the universe and some activities.
    pub(super) fn pause(
        &self,
        state: &mut Configuration<S::State>,
        cause: PauseCause,
        stopped: &[Activity],
    ) {
        for activity in stopped {
            if let Some(standing) = state.standing_mut(*activity) {
                standing.state = ActivityState::Pause;
            }
        }
        state.forget();
        state.mode = DebuggerMode::Pause(cause);
    }

    /// Marks activities as passing all breakpoints at their position, so that they stop there only once.
    fn pass(
        &self,
        state: &mut Configuration<S::State>,
        stopped: &[Activity],
        view: &ProgramView<'_, S>,
    ) {
        let mut passing: Vec<(Activity, u32)> = Vec::new();
        for point in state.points() {
            if let Some(number) = point.breakpoint()
                && self.is_before(number)
            {
                let here = self.stopped_by(state, point, view);
                passing.extend(here.into_iter().map(|activity| (activity, number)));
            }
        }
        passing.retain(|(activity, _)| stopped.contains(activity));
        for (activity, number) in passing {
            if let Some(standing) = state.standing_mut(activity) {
                standing.passing.push(number);
                standing.passing.sort_unstable();
                standing.passing.dedup();
            }
        }
    }

    /// Activities on hold are not checked. When they are released, the breakpoints they stand at have to be checked for
    /// them.
    fn recheck(&self, state: &mut Configuration<S::State>) {
        let is_held =
            |(_, standing): &(Activity, ActivityRecord)| standing.state == ActivityState::Hold;
        if !state.activities.iter().any(is_held) {
            return;
        }
        let (again, checked) = std::mem::take(&mut state.checked)
            .into_iter()
            .partition(|point| match point {
                Point::User(number) => self.is_before(*number),
                Point::Receiver { .. } => true,
                Point::Temporal { .. } => false,
                Point::Goal(target) => target.is_before(),
            });
        state.checked = checked;
        for point in Vec::into_iter(again) {
            point.insert(&mut state.pending);
        }
    }

    /// Sets which activities run during a step.
    fn free(&self, state: &mut Configuration<S::State>, target: &RequestedStep) {
        self.recheck(state);
        state.mode = DebuggerMode::Run;
        for (activity, standing) in &mut state.activities {
            let is_once = target.step.freeing == Freeing::Others && *activity == target.activity;
            standing.state = match is_once {
                true => ActivityState::Once,
                false => ActivityState::Run,
            };
        }
    }
}
