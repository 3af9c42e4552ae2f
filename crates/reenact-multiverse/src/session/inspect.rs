//! Queries about universes: their state, their history, the possible commands, and reachable states.

use std::collections::HashMap;

use super::{
    Choices, FoundStates, Group, Nearest, Overview, PathEvent, Session, SessionError,
    StoppedActivity, Transition, UniverseStatus, Universes, walk::walk,
};
use crate::{
    Activity, Configuration, Debugger, DebuggerMode, Difference, Expression, Observation,
    PauseCause, Semantics, catalogue,
};

impl<S: Semantics> Session<S> {
    /// The visible part of a universe.
    pub fn observe(&self, universe: usize) -> Result<Observation, SessionError> {
        Ok(self.language.observe(&self.state(universe)?.base))
    }

    /// The differences between two universes.
    pub fn diff(&self, a: usize, b: usize) -> Result<Vec<Difference>, SessionError> {
        Ok(self.observe(a)?.diff(&self.observe(b)?))
    }

    /// The events that led to a universe.
    pub fn story(&self, universe: usize) -> Result<Vec<PathEvent>, SessionError> {
        let last = &self.state(universe)?.base;
        let name = |activity| self.language.name(last, activity);
        let mut story = Vec::new();
        let mut at = self.current[universe];
        while let Some((from, link)) = &self.nodes[at].from {
            let before = &self.nodes[*from].state.base;
            match link {
                Transition::Command(what) => story.push(PathEvent {
                    who: None,
                    what: what.clone(),
                    site: None,
                }),
                Transition::Rule(rule) => {
                    if let Some(step) = rule.base() {
                        story.push(PathEvent {
                            who: Some(name(self.language.activity(step))),
                            what: self.language.describe(before, step, &name),
                            site: self.language.operation(before, step).site,
                        });
                    }
                }
            }
            at = *from;
        }
        story.reverse();
        Ok(story)
    }

    /// The status of all universes.
    pub fn overview(&self) -> Overview {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<UniverseStatus, usize> = HashMap::new();
        for (universe, state) in self.universes().enumerate() {
            let how = self.how(state);
            let place = *places.entry(how).or_insert_with_key(|how| {
                groups.push(Group {
                    how: how.clone(),
                    universes: Vec::new(),
                });
                groups.len() - 1
            });
            groups[place].universes.push(universe);
        }
        Overview {
            groups,
            states: self.states,
        }
    }

    fn how(&self, state: &Configuration<S::State>) -> UniverseStatus {
        let cause = match state.mode {
            DebuggerMode::Stopped => return UniverseStatus::Stopped,
            DebuggerMode::Run if self.is_over(state) => {
                return UniverseStatus::Ended(self.language.ending(&state.base));
            }
            DebuggerMode::Run => return UniverseStatus::Running,
            DebuggerMode::Pause(cause) => cause,
        };
        let (by, breakpoint) = match cause {
            PauseCause::Breakpoint(number) => {
                let text = self.breakpoints.get(number).map(ToString::to_string);
                (text.unwrap_or("removed".to_owned()), Some(number))
            }
            PauseCause::Step(name) => (name.to_owned(), None),
            PauseCause::Command => ("pause".to_owned(), None),
        };
        let stopped = state.paused().map(|activity| StoppedActivity {
            who: self.language.name(&state.base, activity),
            next: self.next(state, activity),
        });
        UniverseStatus::Paused {
            by,
            breakpoint,
            stopped: stopped.collect(),
        }
    }

    fn next(&self, state: &Configuration<S::State>, activity: Activity) -> Vec<String> {
        let name = |activity| self.language.name(&state.base, activity);
        let steps = self.language.steps(&state.base);
        steps
            .iter()
            .filter(|step| self.language.activity(step) == activity)
            .map(|step| self.language.describe(&state.base, step, &name))
            .collect()
    }

    /// The possible commands in a universe, for each activity.
    pub fn applicable(&self, universe: usize) -> Result<Vec<Choices>, SessionError> {
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.step_size);
        let state = self.state(universe)?;
        let steps = self.language.steps(&state.base);
        let operations = steps
            .iter()
            .map(|step| self.language.operation(&state.base, step));
        let operations: Vec<_> = operations.collect();
        let all = self.language.activities(&state.base).into_iter();
        Ok(all
            .map(|activity| Choices {
                activity,
                who: self.language.name(&state.base, activity),
                is_paused: state.paused().any(|paused| paused == activity),
                next: self.next(state, activity),
                breakpoints: catalogue::breakpoints(&self.language)
                    .filter(|kind| {
                        operations.iter().any(|operation| {
                            operation.activity == activity
                                && kind.operations.contains(&operation.kind)
                        })
                    })
                    .collect(),
                steps: debugger.applicable(state, activity).collect(),
            })
            .collect())
    }

    /// The states reachable from some universes in which a condition holds, ignoring breakpoints.
    pub fn find(
        &self,
        condition: &Expression,
        universes: Universes,
    ) -> Result<FoundStates, SessionError> {
        let numbers = self.numbers(universes)?;
        let mut starts = Vec::new();
        for universe in &numbers {
            starts.push(self.language.unmark(&self.state(*universe)?.base));
        }
        let found = walk(
            &self.language,
            starts.clone(),
            &self.limits,
            self.is_interrupted,
        );
        let left = found.left();
        let is_looked_at = |at: &usize| left.binary_search(at).is_err();
        let holds = |at: &usize| condition.holds(&self.language.observe(found.state(*at)));
        let all: Vec<usize> = (0..found.len())
            .filter(|at| is_looked_at(at) && holds(at))
            .collect();
        let nearest = all.first().map(|first| {
            let (mut at, mut story) = (*first, Vec::new());
            let last = found.state(*first);
            let name = |activity| self.language.name(last, activity);
            while let Some((from, step)) = &found.origin(at) {
                story.push(PathEvent {
                    who: Some(name(self.language.activity(step))),
                    what: self.language.describe(found.state(*from), step, &name),
                    site: self.language.operation(found.state(*from), step).site,
                });
                at = *from;
            }
            story.reverse();
            let start = starts.iter().position(|start| start == found.state(at));
            Nearest {
                universe: numbers[start.unwrap_or(0)],
                story,
                observation: self.language.observe(last),
            }
        });
        Ok(FoundStates {
            states: all.len(),
            of: found.len() - left.len(),
            is_complete: left.is_empty(),
            nearest,
        })
    }
}
