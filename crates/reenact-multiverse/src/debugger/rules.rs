//! The rules of the debugger, those of the paper under their names.
//!
//! Where the paper has a rule for one kind of breakpoint or step, the rule here serves all kinds that work in the same
//! way. Except for the two that take a step of the program, at most one rule applies to a configuration.

use crate::Activity;

/// What the debugger does next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule<T> {
    /// CEL-STEP-GLOBAL: a step of the program that involves others: a send, a resolution, a creation.
    CelStepGlobal(T),
    /// CEL-STEP-LOCAL: any other step of the program.
    CelStepLocal(T),
    /// TRIGGER-MSB: a breakpoint stops those who are about to do something.
    TriggerMsb(u32),
    /// SAVE-MRB: a message is about to be sent from the line of a message-receiver breakpoint. Its receiver stays saved as
    /// long as the breakpoint exists.
    SaveMrb {
        /// The breakpoint.
        breakpoint: u32,
        /// Who will receive the message, if that is known.
        receiver: Option<Activity>,
    },
    /// TRIGGER-MRB: such a message is about to be processed.
    TriggerMrb(u32),
    /// In the manner of TRIGGER-MSB: a breakpoint stops those who have just done something.
    TriggerAfter(u32),
    /// In the manner of TRIGGER-MSB: what happened so far is what a breakpoint waits for.
    TriggerTemporal(u32),
    /// ADD-NEW-ACTOR: an activity exists that the debugger does not know.
    AddNewActor(Activity),
    /// NOT-APPLICABLE-BREAKPOINT: the first of the pending ones does not stop anyone.
    NotApplicableBreakpoint,
    /// PREPARE-STEP-NEXT-TURN: a step to an operation of the same activity.
    PrepareStepNextTurn,
    /// TRIGGER-STEP-NEXT-TURN: it is there.
    TriggerStepNextTurn,
    /// In the manner of SAVE-MRB: a step to another place gets a breakpoint for it.
    PrepareStep,
    /// In the manner of TRIGGER-MRB: someone is there.
    TriggerStep,
    /// Nobody can go on but those on hold: they do.
    ReleaseHold,
    /// RESUME-EXECUTION.
    ResumeExecution,
    /// PAUSE-EXECUTION.
    PauseExecution,
    /// In the manner of PAUSE-EXECUTION: for good.
    StopExecution,
}

impl<T> Rule<T> {
    /// The step of the program, if it is one.
    pub fn base(&self) -> Option<&T> {
        match self {
            Rule::CelStepGlobal(step) | Rule::CelStepLocal(step) => Some(step),
            _ => None,
        }
    }

    /// What the paper calls it, or would.
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
