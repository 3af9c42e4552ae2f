//! Selects the rule to apply: commands first, then breakpoints, then the program.

use super::{
    ActivityRecord, ActivityState, Configuration, Debugger, DebuggerCommand, DebuggerMode, Point,
    Rule, view::ProgramView,
};
use crate::{Activity, Operation, OperationKind, Semantics, What};

impl<S: Semantics> Debugger<'_, S> {
    /// The rule to apply before the program can take a step. `view` is the view of `state`.
    pub(super) fn administrative(
        &self,
        state: &Configuration<S::State>,
        view: &ProgramView<'_, S>,
    ) -> Option<Rule<S::Step>> {
        let is_running = match state.mode {
            DebuggerMode::Run => true,
            DebuggerMode::Pause(_) => false,
            DebuggerMode::Stopped => return None,
        };
        match state.commands.first() {
            Some(DebuggerCommand::Resume) => return Some(Rule::ResumeExecution),
            Some(DebuggerCommand::Stop) => return Some(Rule::StopExecution),
            Some(DebuggerCommand::Pause) if is_running => return Some(Rule::PauseExecution),
            Some(DebuggerCommand::Step(target)) if !is_running => {
                return Some(match target.is_counted() {
                    true => Rule::PrepareStepNextTurn,
                    false => Rule::PrepareStep,
                });
            }
            _ if !is_running => return None,
            _ => {}
        }
        let mut activities = self.base.activities(&state.base).into_iter();
        if let Some(new) = activities.find(|activity| state.standing(*activity).is_none()) {
            return Some(Rule::AddNewActor(new));
        }
        if let Some(DebuggerCommand::Stepping(target)) = state.commands.first()
            && let Some(standing) = state.standing(target.activity)
            && standing.state == ActivityState::Step(0)
            && view.of(target.activity).any(|next| target.is_at(next))
        {
            return Some(Rule::TriggerStepNextTurn);
        }
        if let Some(point) = state.pending.first() {
            return Some(self.check(state, point, view));
        }
        let is_held =
            |(_, standing): &(Activity, ActivityRecord)| standing.state == ActivityState::Hold;
        if state.activities.iter().any(is_held) {
            let mut next = view.operations().iter();
            let is_stuck = !next.any(|operation| state.is_free(operation.activity));
            return is_stuck.then_some(Rule::ReleaseHold);
        }
        None
    }

    /// The rule for the first pending breakpoint.
    fn check(
        &self,
        state: &Configuration<S::State>,
        point: &Point,
        view: &ProgramView<'_, S>,
    ) -> Rule<S::Step> {
        match point {
            Point::User(number) => {
                if let Some(receiver) = self.to_save(state, *number, view) {
                    return Rule::SaveMrb {
                        breakpoint: *number,
                        receiver,
                    };
                }
                if !self.stopped_by(state, point, view).is_empty() {
                    return match self.is_before(*number) {
                        true => Rule::TriggerMsb(*number),
                        false => Rule::TriggerAfter(*number),
                    };
                }
            }
            Point::Temporal { breakpoint, .. } => {
                if !self.stopped_by(state, point, view).is_empty() {
                    return Rule::TriggerTemporal(*breakpoint);
                }
            }
            Point::Receiver { breakpoint, .. } => {
                if !self.stopped_by(state, point, view).is_empty() {
                    return Rule::TriggerMrb(*breakpoint);
                }
            }
            Point::Goal(_) => {
                if !self.stopped_by(state, point, view).is_empty() {
                    return Rule::TriggerStep;
                }
            }
        }
        Rule::NotApplicableBreakpoint
    }

    pub(super) fn is_before(&self, number: u32) -> bool {
        match self.breakpoints.get(number).map(|one| &one.what) {
            Some(What::Operation(pattern)) => pattern.is_before(),
            _ => false,
        }
    }

    /// The receiver of a message that is about to be sent from the line of a message-receiver breakpoint, if it is not
    /// saved yet.
    pub(super) fn to_save(
        &self,
        state: &Configuration<S::State>,
        number: u32,
        view: &ProgramView<'_, S>,
    ) -> Option<Option<Activity>> {
        let What::Operation(pattern) = &self.breakpoints.get(number)?.what else {
            return None;
        };
        let line = pattern.sent_from()?;
        let sends = view
            .operations()
            .iter()
            .filter(|operation| operation.site.is_some_and(|site| site.line == line));
        let receivers = sends.filter_map(|operation| match operation.kind {
            OperationKind::MessageSend => Some(operation.with),
            OperationKind::PromiseSend => Some(None),
            _ => None,
        });
        let is_saved = |wanted: Option<Activity>| {
            state.points().any(|point| match point {
                Point::Receiver {
                    breakpoint,
                    receiver,
                } => *breakpoint == number && (receiver.is_none() || *receiver == wanted),
                _ => false,
            })
        };
        receivers.into_iter().find(|receiver| !is_saved(*receiver))
    }

    /// The activities that a point stops.
    pub(super) fn stopped_by(
        &self,
        state: &Configuration<S::State>,
        point: &Point,
        view: &ProgramView<'_, S>,
    ) -> Vec<Activity> {
        let is_passing = |operation: &Operation<'_>, number: u32| {
            let standing = state.standing(operation.activity);
            standing.is_some_and(|standing| standing.passing.contains(&number))
        };
        let next = || {
            let all = view.operations().iter();
            all.filter(|operation| state.is_free(operation.activity))
        };
        let breakpoint = point
            .breakpoint()
            .and_then(|number| self.breakpoints.get(number));
        let mut stopped: Vec<_> = match (point, breakpoint.map(|one| &one.what)) {
            (Point::User(_), Some(What::Operation(pattern))) if pattern.sent_from().is_some() => {
                Vec::new()
            }
            (Point::User(number), Some(What::Operation(pattern))) if pattern.is_before() => next()
                .filter(|operation| !is_passing(operation, *number))
                .filter(|operation| view.fits(pattern, operation))
                .map(|operation| operation.activity)
                .collect(),
            (Point::User(_), Some(What::Operation(pattern))) => {
                let done = state.done.iter();
                done.filter(|operation| view.fits(pattern, operation))
                    .map(|operation| operation.activity)
                    .collect()
            }
            (
                Point::Receiver {
                    breakpoint,
                    receiver,
                },
                Some(What::Operation(pattern)),
            ) => next()
                .filter(|operation| receiver.is_none_or(|one| one == operation.activity))
                .filter(|operation| !is_passing(operation, *breakpoint))
                .filter(|operation| view.fits(pattern, operation))
                .map(|operation| operation.activity)
                .collect(),
            (Point::Temporal { hit, .. }, _) => hit.iter().copied().collect(),
            (Point::Goal(target), _) if target.is_before() => next()
                .filter(|operation| target.is_at(operation))
                .map(|operation| operation.activity)
                .collect(),
            (Point::Goal(target), _) => state
                .done
                .iter()
                .filter(|operation| target.is_at(operation))
                .map(|operation| operation.activity)
                .collect(),
            _ => Vec::new(),
        };
        if !stopped.is_empty() && breakpoint.is_some_and(|one| !view.holds(one)) {
            stopped.clear();
        }
        stopped.sort_unstable();
        stopped.dedup();
        stopped
    }
}
