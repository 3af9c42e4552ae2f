//! Caches what breakpoint checks need to know about one state of the program.

use std::cell::OnceCell;

use crate::{Activity, Breakpoint, Expression, Observation, Operation, Pattern, Semantics};

/// A state of the program.
pub(super) struct ProgramView<'a, S: Semantics> {
    base: &'a S,
    state: &'a S::State,
    operations: OnceCell<Vec<Operation<'a>>>,
    seen: OnceCell<Observation>,
}

impl<'a, S: Semantics> ProgramView<'a, S> {
    pub(super) fn new(base: &'a S, state: &'a S::State) -> Self {
        Self {
            base,
            state,
            operations: OnceCell::new(),
            seen: OnceCell::new(),
        }
    }

    /// The pending operations of all activities.
    pub(super) fn operations(&self) -> &[Operation<'a>] {
        self.operations.get_or_init(|| {
            let steps = self.base.steps(self.state);
            steps
                .iter()
                .map(|step| self.base.operation(self.state, step))
                .collect()
        })
    }

    /// The possible next operations of one activity.
    pub(super) fn of(&self, activity: Activity) -> impl Iterator<Item = &Operation<'a>> {
        self.operations()
            .iter()
            .filter(move |operation| operation.activity == activity)
    }

    pub(super) fn fits(&self, pattern: &Pattern, operation: &Operation<'_>) -> bool {
        let name = |activity| self.base.name(self.state, activity);
        pattern.fits(operation, self.base.at_lines(), &name)
    }

    pub(super) fn holds(&self, breakpoint: &Breakpoint) -> bool {
        let is_true = |condition: &Expression| {
            condition.holds(self.seen.get_or_init(|| self.base.observe(self.state)))
        };
        breakpoint.condition.as_ref().is_none_or(is_true)
    }
}
