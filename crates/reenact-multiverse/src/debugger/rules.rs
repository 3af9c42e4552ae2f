//! The rules of the debugger. Those from the paper keep their names.
//!
//! Where the paper has a rule for one kind of breakpoint or step, the rule here serves all kinds that work in the same
//! way. Except for the two that take a step of the program, at most one rule applies to a configuration.

use crate::Activity;

/// A rule to apply next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule<T> {
    /// CEL-STEP-GLOBAL: a step of the program that involves others: a send, a resolution, a creation.
    CelStepGlobal(T),
    /// CEL-STEP-LOCAL: any other step of the program.
    CelStepLocal(T),
    /// TRIGGER-MSB: a breakpoint stops the activities that are about to perform an operation.
    TriggerMsb(u32),
    /// SAVE-MRB: a message is about to be sent from the line of a message-receiver breakpoint. Its receiver stays saved
    /// as long as the breakpoint exists.
    SaveMrb {
        /// The breakpoint.
        breakpoint: u32,
        /// The receiver of the message, if known.
        receiver: Option<Activity>,
    },
    /// TRIGGER-MRB: such a message is about to be processed.
    TriggerMrb(u32),
    /// Like TRIGGER-MSB: a breakpoint stops the activities that have just performed an operation.
    TriggerAfter(u32),
    /// Like TRIGGER-MSB: the history so far matches a temporal breakpoint.
    TriggerTemporal(u32),
    /// ADD-NEW-ACTOR: an activity exists that the debugger does not know.
    AddNewActor(Activity),
    /// NOT-APPLICABLE-BREAKPOINT: the first pending breakpoint does not stop any activity.
    NotApplicableBreakpoint,
    /// PREPARE-STEP-NEXT-TURN: a step to an operation of the same activity.
    PrepareStepNextTurn,
    /// TRIGGER-STEP-NEXT-TURN: the step has reached its goal.
    TriggerStepNextTurn,
    /// Like SAVE-MRB: a step to another place gets a breakpoint for it.
    PrepareStep,
    /// Like TRIGGER-MRB: an activity has reached the goal.
    TriggerStep,
    /// Only activities on hold can continue: they are released.
    ReleaseHold,
    /// RESUME-EXECUTION.
    ResumeExecution,
    /// PAUSE-EXECUTION.
    PauseExecution,
    /// Like PAUSE-EXECUTION, but permanent.
    StopExecution,
}

impl<T> Rule<T> {
    /// The step of the program, if the rule takes one.
    pub fn base(&self) -> Option<&T> {
        match self {
            Rule::CelStepGlobal(step) | Rule::CelStepLocal(step) => Some(step),
            _ => None,
        }
    }

    /// The name of the rule, from the paper or in its style.
    pub fn name(&self) -> &'static str {
        match self {
            Rule::CelStepGlobal(_) => "CEL-STEP-GLOBAL",
            Rule::CelStepLocal(_) => "CEL-STEP-LOCAL",
            Rule::TriggerMsb(_) => "TRIGGER-MSB",
            Rule::SaveMrb { .. } => "SAVE-MRB",
            Rule::TriggerMrb(_) => "TRIGGER-MRB",
            Rule::TriggerAfter(_) => "TRIGGER-AFTER",
            Rule::TriggerTemporal(_) => "TRIGGER-TEMPORAL",
            Rule::AddNewActor(_) => "ADD-NEW-ACTOR",
            Rule::NotApplicableBreakpoint => "NOT-APPLICABLE-BREAKPOINT",
            Rule::PrepareStepNextTurn => "PREPARE-STEP-NEXT-TURN",
            Rule::TriggerStepNextTurn => "TRIGGER-STEP-NEXT-TURN",
            Rule::PrepareStep => "PREPARE-STEP",
            Rule::TriggerStep => "TRIGGER-STEP",
            Rule::ReleaseHold => "RELEASE-HOLD",
            Rule::ResumeExecution => "RESUME-EXECUTION",
            Rule::PauseExecution => "PAUSE-EXECUTION",
            Rule::StopExecution => "STOP-EXECUTION",
        }
    }
}
