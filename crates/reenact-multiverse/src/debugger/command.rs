//! User commands: whether they apply in a universe, and how they change its configuration.

use super::{Configuration, Debugger, DebuggerCommand, DebuggerMode, Point, RequestedStep};
use crate::{Activity, Goal, Operation, OperationKind, Semantics, StepKind, Whose, catalogue};

/// Why a step is not possible, and which ones are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{step} does not apply to {activity}: {why}; {}", applying(.applicable))]
pub struct CommandError {
    /// The step.
    pub step: &'static str,
    /// The name of the activity.
    pub activity: String,
    /// Why the step does not apply.
    pub why: String,
    /// The steps that apply instead.
    pub applicable: Vec<&'static str>,
}

fn applying(applicable: &[&str]) -> String {
    match applicable {
        [] => "no step applies".to_owned(),
        some => format!("what applies: {}", some.join(", ")),
    }
}

impl<S: Semantics> Debugger<'_, S> {
    /// Returns the configuration in which an activity is to take a step, `count` times. The rules do the rest.
    pub fn command(
        &self,
        state: &Configuration<S::State>,
        step: &'static StepKind,
        activity: Activity,
        count: u32,
    ) -> Result<Configuration<S::State>, CommandError> {
        if let Some(why) = self.obstacle(state, step, activity, count) {
            let all = catalogue::steps(self.base);
            let possible = all.filter(|one| self.obstacle(state, one, activity, 1).is_none());
            return Err(CommandError {
                step: step.name,
                activity: match state.standing(activity) {
                    Some(_) => self.base.name(&state.base, activity),
                    None => format!("activity {}", activity.0),
                },
                why,
                applicable: possible.map(|one| one.name).collect(),
            });
        }
        let mut next = state.clone();
        let command = match step.goal {
            Goal::Resume => DebuggerCommand::Resume,
            Goal::Pause => DebuggerCommand::Pause,
            Goal::Stop => DebuggerCommand::Stop,
            Goal::Operation { whose, .. } => {
                self.forget_step(&mut next);
                let steps = self.base.steps(&state.base);
                let place = steps
                    .iter()
                    .map(|one| self.base.operation(&state.base, one))
                    .find(|one| {
                        one.activity == activity
                            && (step.at.is_empty() || step.at.contains(&one.kind))
                    });
                DebuggerCommand::Step(Box::new(RequestedStep {
                    step,
                    activity,
                    count,
                    depth: place.as_ref().map_or(0, |one| one.depth),
                    subject: match whose {
                        Whose::SameSubject => place.map(|one| one.subject.into_owned()),
                        _ => None,
                    },
                    created: None,
                }))
            }
        };
        next.commands.insert(0, command);
        Ok(next)
    }

    /// The steps that an activity can take in a universe.
    pub fn applicable(
        &self,
        state: &Configuration<S::State>,
        activity: Activity,
    ) -> impl Iterator<Item = &'static StepKind> {
        catalogue::steps(self.base)
            .filter(move |step| self.obstacle(state, step, activity, 1).is_none())
    }

    /// Cancels the current step: at most one step is in progress.
    fn forget_step(&self, state: &mut Configuration<S::State>) {
        state.commands.clear();
        let mut is_marked = false;
        for points in state.points_mut() {
            points.retain(|point| {
                let is_goal = matches!(point, Point::Goal(_));
                is_marked |= is_goal;
                !is_goal
            });
        }
        if is_marked {
            state.base = self.base.unmark(&state.base);
        }
        state.forget();
    }

    /// Why a step does not apply.
    fn obstacle(
        &self,
        state: &Configuration<S::State>,
        step: &StepKind,
        activity: Activity,
        count: u32,
    ) -> Option<String> {
        let is_paused = match state.mode {
            DebuggerMode::Stopped => return Some("this universe was stopped".to_owned()),
            DebuggerMode::Pause(_) => true,
            DebuggerMode::Run => false,
        };
        let Goal::Operation {
            is_before, whose, ..
        } = step.goal
        else {
            let is_idle = step.goal == Goal::Pause && is_paused;
            return is_idle.then(|| "all activities are paused already".to_owned());
        };
        if !is_paused {
            return Some("this universe is not paused".to_owned());
        }
        if state.standing(activity).is_none() {
            return Some("there is no such activity in this universe".to_owned());
        }
        let is_counted =
            is_before && matches!(whose, Whose::Own | Whose::OwnNotDeeper | Whose::OwnLessDeep);
        if count == 0 || count > 1 && !is_counted {
            return Some(format!("it cannot be repeated {count} times"));
        }
        let turn = self.base.turn(&state.base, activity);
        if step.is_within_turn && turn.is_none() {
            return Some("it is not in a turn".to_owned());
        }
        let steps = self.base.steps(&state.base);
        let next: Vec<Operation<'_>> = steps
            .iter()
            .map(|one| self.base.operation(&state.base, one))
            .filter(|one| one.activity == activity)
            .collect();
        let is_possible = match next.is_empty() {
            true => step.applies(None, turn.as_ref()),
            false => next
                .iter()
                .any(|one| step.applies(Some(one), turn.as_ref())),
        };
        if is_possible {
            return None;
        }
        let listed = |kinds: &mut dyn Iterator<Item = OperationKind>| {
            let mut names: Vec<_> = kinds.map(OperationKind::label).collect();
            names.dedup();
            names.join(" or ")
        };
        let wanted = listed(&mut step.at.iter().copied());
        Some(match next.is_empty() {
            true => format!("it must be at a {wanted}, and has nothing to do"),
            false => {
                let is = listed(&mut next.iter().map(|one| one.kind));
                format!("it must be at a {wanted}, and is at a {is}")
            }
        })
    }

    /// The activity for a step if the user names none: the first stopped activity to which it applies.
    pub fn who_takes(
        &self,
        state: &Configuration<S::State>,
        step: &'static StepKind,
    ) -> Option<Activity> {
        let is_possible = |activity: &Activity| self.obstacle(state, step, *activity, 1).is_none();
        let whoever = || state.activities.first().map(|(activity, _)| *activity);
        state
            .paused()
            .find(is_possible)
            .or_else(|| state.paused().next())
            .or_else(whoever)
    }
}
