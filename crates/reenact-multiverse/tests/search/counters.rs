//! Activities that count, each for itself: all numbers about them are known.

use reenact_multiverse::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Semantics,
};

/// So many counters, each counting from 0 to `top`; or on and on, if there is no top.
pub(crate) struct Counters {
    pub(crate) count: usize,
    pub(crate) top: Option<u32>,
}

impl Counters {
    pub(crate) fn new(count: usize, top: u32) -> Self {
        Counters {
            count,
            top: Some(top),
        }
    }
}

impl Semantics for Counters {
    type State = Box<[u32]>;
    type Step = u32;

    fn initial(&self) -> Vec<Box<[u32]>> {
        vec![vec![0; self.count].into()]
    }

    fn steps(&self, state: &Box<[u32]>) -> Vec<u32> {
        let is_below = |&who: &u32| self.top.is_none_or(|top| state[who as usize] < top);
        (0..self.count as u32).filter(is_below).collect()
    }

    fn take(&self, state: &Box<[u32]>, step: &u32) -> Box<[u32]> {
        let mut next = state.clone();
        next[*step as usize] += 1;
        next
    }

    fn activity(&self, step: &u32) -> Activity {
        Activity(*step)
    }

    fn dependent(&self, _: &u32, _: &u32) -> bool {
        false
    }

    fn is_alone(&self, _: &Box<[u32]>, _: &u32) -> bool {
        true
    }

    fn kinds(&self) -> &'static [OperationKind] {
        &[OperationKind::Local]
    }

    fn operation<'a>(&'a self, _: &'a Box<[u32]>, step: &u32) -> Operation<'a> {
        Operation {
            kind: OperationKind::Local,
            activity: Activity(*step),
            subject: "count".into(),
            with: None,
            site: None,
            sent_at: None,
            depth: 0,
            marked: false,
        }
    }

    fn activities(&self, _: &Box<[u32]>) -> Vec<Activity> {
        (0..self.count as u32).map(Activity).collect()
    }

    fn mark(&self, state: &Box<[u32]>, _: Activity, _: Marked) -> Box<[u32]> {
        state.clone()
    }

    fn unmark(&self, state: &Box<[u32]>) -> Box<[u32]> {
        state.clone()
    }

    fn name(&self, _: &Box<[u32]>, activity: Activity) -> String {
        format!("counter {}", activity.0)
    }

    fn describe(&self, state: &Box<[u32]>, step: &u32, _: &dyn Fn(Activity) -> String) -> String {
        format!("counts to {}", state[*step as usize] + 1)
    }

    fn observe(&self, _: &Box<[u32]>) -> Observation {
        Observation::Null
    }

    fn ending(&self, state: &Box<[u32]>) -> Ending {
        Ending {
            outcome: vec![format!("{state:?}")],
            ..Ending::default()
        }
    }

    fn state_bytes(&self, state: &Box<[u32]>) -> usize {
        size_of_val(&**state)
    }
}
