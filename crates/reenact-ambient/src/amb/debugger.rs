//! D_amb, a debugger that only pauses and resumes.
//!
//! Its states are pairs of a label and a state of the program. It is generic over the base language, since nothing in
//! it is specific to λ_amb:
//!
//! ```text
//! (STEP, e)    →  (PAUSED, e')   if e → e'     STEP
//! (PAUSED, e)  →  (STEP, e)                    RESUME
//! ```
//!
//! Each step of the base language is a step of the debugger, so the debugger loses no behaviour; and each state of the
//! debugger contains one of the program, so it adds none: it is free of the probe effect. Since it begins in STEP, a
//! program with n universes has 2n − 1 in the debugger, unless it returns to its initial state.

use reenact_multiverse::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Semantics,
};

/// Whether the program may take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// It may, and is paused afterwards.
    Step,
    /// It may not until it is resumed.
    Paused,
}

/// A state of the debugger, given the states of the base language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<T> {
    /// Whether the program may take a step.
    pub label: Label,
    /// The state of the program.
    pub base: T,
}

/// The rule that a step of the debugger applies, given the steps of the base language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule<T> {
    /// The program takes a step.
    Step(T),
    /// The program is resumed.
    Resume,
}

/// The debugger of a program.
#[derive(Clone, Debug)]
pub struct Debugger<S>(pub S);

impl<S: Semantics> Semantics for Debugger<S> {
    type State = State<S::State>;
    type Step = Rule<S::Step>;

    fn initial(&self) -> Vec<Self::State> {
        let label = Label::Step;
        let initial = self.0.initial().into_iter();
        initial.map(|base| State { label, base }).collect()
    }

    fn steps(&self, state: &Self::State) -> Vec<Self::Step> {
        match state.label {
            Label::Paused => vec![Rule::Resume],
            Label::Step => {
                let steps = self.0.steps(&state.base).into_iter();
                steps.map(Rule::Step).collect()
            }
        }
    }

    fn take(&self, state: &Self::State, step: &Self::Step) -> Self::State {
        match (state.label, step) {
            // STEP
            (Label::Step, Rule::Step(step)) => State {
                label: Label::Paused,
                base: self.0.take(&state.base, step),
            },
            // RESUME
            (Label::Paused, Rule::Resume) => State {
                label: Label::Step,
                base: state.base.clone(),
            },
            _ => panic!("{step:?} is not a step of {state:?}"),
        }
    }

    /// The debugger is not an activity: the first activity of the program takes the step that resumes.
    fn activity(&self, step: &Self::Step) -> Activity {
        match step {
            Rule::Step(step) => self.0.activity(step),
            Rule::Resume => Activity(0),
        }
    }

    /// Every two steps are dependent, because a step pauses all activities.
    fn dependent(&self, _a: &Self::Step, _b: &Self::Step) -> bool {
        true
    }

    fn kinds(&self) -> &'static [OperationKind] {
        self.0.kinds()
    }

    fn operation<'a>(&'a self, state: &'a Self::State, step: &Self::Step) -> Operation<'a> {
        match step {
            Rule::Step(step) => self.0.operation(&state.base, step),
            Rule::Resume => Operation {
                kind: OperationKind::Local,
                activity: self.activity(step),
                subject: "resume".into(),
                with: None,
                site: None,
                sent_at: None,
                depth: 0,
                marked: false,
            },
        }
    }

    fn activities(&self, state: &Self::State) -> Vec<Activity> {
        self.0.activities(&state.base)
    }

    fn turn<'a>(&'a self, state: &'a Self::State, activity: Activity) -> Option<Operation<'a>> {
        self.0.turn(&state.base, activity)
    }

    fn mark(&self, state: &Self::State, activity: Activity, what: Marked) -> Self::State {
        State {
            label: state.label,
            base: self.0.mark(&state.base, activity, what),
        }
    }

    fn unmark(&self, state: &Self::State) -> Self::State {
        State {
            label: state.label,
            base: self.0.unmark(&state.base),
        }
    }

    fn stop_at(&mut self, lines: &[u32]) -> Vec<u32> {
        self.0.stop_at(lines)
    }

    fn name(&self, state: &Self::State, activity: Activity) -> String {
        self.0.name(&state.base, activity)
    }

    fn describe(
        &self,
        state: &Self::State,
        step: &Self::Step,
        name: &dyn Fn(Activity) -> String,
    ) -> String {
        match step {
            Rule::Step(step) => self.0.describe(&state.base, step, name),
            Rule::Resume => "is resumed".to_owned(),
        }
    }

    /// Returns the observation of the program, preceded by the label.
    fn observe(&self, state: &Self::State) -> Observation {
        let label = match state.label {
            Label::Step => "STEP",
            Label::Paused => "PAUSED",
        };
        let label = ("debugger".to_owned(), Observation::Text(label.to_owned()));
        Observation::Record(match self.0.observe(&state.base) {
            Observation::Record(entries) => std::iter::once(label).chain(entries).collect(),
            other => vec![label, ("program".to_owned(), other)],
        })
    }

    fn ending(&self, state: &Self::State) -> Ending {
        self.0.ending(&state.base)
    }

    fn state_bytes(&self, state: &Self::State) -> usize {
        self.0.state_bytes(&state.base)
    }

    fn shared_bytes(&self) -> usize {
        self.0.shared_bytes()
    }
}
