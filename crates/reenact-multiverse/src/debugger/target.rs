//! Interprets the goal of a catalogue step in terms of operations.

use super::RequestedStep;
use crate::{Goal, Operation, OperationKind, Whose};

impl RequestedStep {
    pub(super) fn whose(&self) -> Option<Whose> {
        match self.step.goal {
            Goal::Operation { whose, .. } => Some(whose),
            _ => None,
        }
    }

    pub(super) fn is_before(&self) -> bool {
        matches!(
            self.step.goal,
            Goal::Operation {
                is_before: true,
                ..
            }
        )
    }

    /// Returns whether it goes to an operation of the same activity, possibly after passing some.
    pub(super) fn is_counted(&self) -> bool {
        use Whose::{Own, OwnLessDeep, OwnNotDeeper};
        self.is_before() && matches!(self.whose(), Some(Own | OwnNotDeeper | OwnLessDeep))
    }

    /// Returns whether an operation is the goal. The beginning of a turn is less deep than anything within a turn.
    pub(super) fn is_at(&self, operation: &Operation<'_>) -> bool {
        let Goal::Operation {
            operations, whose, ..
        } = self.step.goal
        else {
            return false;
        };
        let is_own = operation.activity == self.activity;
        let is_outside = matches!(
            operation.kind,
            OperationKind::Turn | OperationKind::Callback
        );
        (operations.is_empty() || operations.contains(&operation.kind))
            && match whose {
                Whose::Own => is_own,
                Whose::OwnNotDeeper => is_own && (is_outside || operation.depth <= self.depth),
                Whose::OwnLessDeep => is_own && (is_outside || operation.depth < self.depth),
                Whose::Marked(_) => operation.marked,
                Whose::New => self.created == Some(operation.activity),
                Whose::SameSubject => {
                    !is_own && self.subject.as_deref() == Some(&*operation.subject)
                }
                Whose::WithIt => operation.with == Some(self.activity),
            }
    }
}
