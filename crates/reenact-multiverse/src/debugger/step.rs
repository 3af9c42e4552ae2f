//! The two rules that take a step of the program, and what the debugger records about it.

use super::{ActivityState, Configuration, Debugger, DebuggerCommand, DebuggerMode, Point, Rule};
use crate::{
    Activity, Operation, OperationKind, Semantics, What, Whose,
    temporal::{PerformedStep, Temporal},
};

/// Returns whether a step of this kind involves other activities.
fn is_global(kind: OperationKind) -> bool {
    matches!(
        kind,
        OperationKind::MessageSend
            | OperationKind::PromiseSend
            | OperationKind::Resolve
            | OperationKind::ChannelSend
            | OperationKind::Create
    )
}

impl<S: Semantics> Debugger<'_, S> {
    /// The steps of the program that the debugger allows, once everything is checked.
    pub(super) fn base_steps(&self, state: &Configuration<S::State>) -> Vec<Rule<S::Step>> {
        if state.mode != DebuggerMode::Run {
            return Vec::new();
        }
        let steps = self.base.steps(&state.base).into_iter();
        steps
            .filter(|step| state.is_free(self.base.activity(step)))
            .map(|step| {
                let kind = self.base.operation(&state.base, &step).kind;
                match is_global(kind) {
                    true => Rule::CelStepGlobal(step),
                    false => Rule::CelStepLocal(step),
                }
            })
            .collect()
    }

    /// CEL-STEP-GLOBAL and CEL-STEP-LOCAL: takes a step of the program; then everything has to be checked again.
    pub(super) fn step(
        &self,
        from: &Configuration<S::State>,
        step: &S::Step,
    ) -> Configuration<S::State> {
        let before = &from.base;
        let operation = self.base.operation(before, step);
        let activity = operation.activity;
        let mut state = Configuration {
            pending: from.checked.clone(),
            checked: Vec::new(),
            mode: DebuggerMode::Run,
            commands: from.commands.clone(),
            activities: from.activities.clone(),
            done: Vec::new(),
            base: self.base.take(before, step),
        };
        state.done = self.done(&state, before, &operation);
        let exist = self.base.activities(&state.base);
        let name = |activity| self.base.name(before, activity);
        let happening = PerformedStep {
            operation: &operation,
            done: &state.done,
            at_lines: self.base.at_lines(),
            name: &name,
        };
        for point in &mut state.pending {
            match point {
                Point::Temporal {
                    breakpoint,
                    places,
                    hit,
                } => {
                    if let Some(automaton) = self.temporal(*breakpoint) {
                        *places = automaton.advance(*places, &happening);
                        *hit = automaton.accepts(*places).then_some(activity);
                    }
                }
                Point::Goal(target)
                    if target.whose() == Some(Whose::New)
                        && target.created.is_none()
                        && target.activity == activity =>
                {
                    let known = self.base.activities(before);
                    target.created = exist.iter().find(|one| !known.contains(one)).copied();
                }
                _ => {}
            }
        }
        let to_pass = match state.commands.first_mut() {
            Some(DebuggerCommand::Stepping(target)) if target.is_at(&operation) => {
                target.count = target.count.saturating_sub(1);
                Some(target.count)
            }
            _ => None,
        };
        if let Some(standing) = state.standing_mut(activity) {
            standing.passing = Vec::new();
            standing.state = match (standing.state, to_pass) {
                (ActivityState::Once, _) => ActivityState::Hold,
                (ActivityState::Step(_), Some(to_pass)) => ActivityState::Step(to_pass),
                (other, _) => other,
            };
        }
        state.activities.retain(|(one, _)| exist.contains(one));
        // What was done is kept only if a breakpoint needs it when it is checked.
        let is_asked_for = |point: &Point| self.asks_for_done(point, &state.done);
        if !state.pending.iter().any(is_asked_for) {
            state.done = Vec::new();
        }
        state
    }

    pub(super) fn temporal(&self, number: u32) -> Option<&Temporal> {
        match &self.breakpoints.get(number)?.what {
            What::Temporal(temporal) => Some(temporal),
            What::Operation(_) => None,
        }
    }

    /// What a step has done: its operation, and the turn that has ended with it.
    fn done(
        &self,
        state: &Configuration<S::State>,
        before: &S::State,
        operation: &Operation<'_>,
    ) -> Vec<Operation<'static>> {
        const TURNS: [OperationKind; 2] = [OperationKind::Turn, OperationKind::Callback];
        let is_asked_for = |point: &Point| match point {
            Point::Temporal { breakpoint, .. } => self
                .temporal(*breakpoint)
                .is_some_and(|one| one.patterns().any(|pattern| !pattern.is_before())),
            Point::User(number) => !self.is_before(*number),
            Point::Goal(target) => !target.is_before(),
            Point::Receiver { .. } => false,
        };
        if !state.pending.iter().any(is_asked_for) {
            return Vec::new();
        }
        if !TURNS.contains(&operation.kind) {
            let mut done = vec![own(operation)];
            if let Some(turn) = self.base.turn(before, operation.activity)
                && TURNS.contains(&turn.kind)
                && !self.is_in_turn(&state.base, operation.activity)
            {
                done.push(own(&turn));
            }
            return done;
        }
        match self.is_in_turn(&state.base, operation.activity) {
            true => Vec::new(),
            false => vec![own(operation)],
        }
    }

    fn is_in_turn(&self, state: &S::State, activity: Activity) -> bool {
        self.base.turn(state, activity).is_some()
    }

    fn asks_for_done(&self, point: &Point, done: &[Operation<'static>]) -> bool {
        match point {
            Point::User(number) => match self.breakpoints.get(*number).map(|one| &one.what) {
                Some(What::Operation(pattern)) if !pattern.is_before() => done
                    .iter()
                    .any(|operation| pattern.operations().contains(&operation.kind)),
                _ => false,
            },
            Point::Goal(target) => {
                !target.is_before() && done.iter().any(|operation| target.is_at(operation))
            }
            _ => false,
        }
    }
}

fn own(operation: &Operation<'_>) -> Operation<'static> {
    Operation {
        kind: operation.kind,
        activity: operation.activity,
        subject: operation.subject.clone().into_owned().into(),
        with: operation.with,
        site: operation.site,
        sent_at: operation.sent_at,
        depth: operation.depth,
        marked: operation.marked,
    }
}
