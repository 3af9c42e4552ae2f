//! What the world outside said to a recorded run, for executions that are explored around it.
//!
//! Each activity is told again what it was told then, as long as it asks for the same. In another execution it may ask in
//! another order, or for something else; what was not recorded, the world is asked for, or time goes on by itself.

use std::{borrow::Cow, collections::HashMap, path::Path, sync::Arc};

use reenact_trace::{Event, Item, Kind, Origin, Trace, TraceError};

use crate::{
    Asked, Captured, Heard, Reply,
    replay::{is_stranger, play_process},
};

/// What came from outside in a recorded run.
pub(super) struct Recorded {
    trace: Arc<Trace>,
    /// By the place of the activity in the family tree.
    answers: HashMap<String, Vec<Event>>,
    /// Its number there, too.
    numbers: HashMap<String, u32>,
}

/// How far an activity is in that.
#[derive(Default)]
pub(super) struct Given {
    /// Of its answers, those that it has been given.
    is_given: Vec<bool>,
}

impl Given {
    /// Nothing.
    pub(super) fn clear(&mut self) {
        self.is_given.clear();
    }
}

impl Recorded {
    pub(super) fn open(path: &Path) -> Result<Recorded, TraceError> {
        let trace = Arc::new(Trace::open(path)?);
        play_process(&trace);
        let (mut answers, mut numbers) = (HashMap::new(), HashMap::new());
        for activity in trace.activities() {
            numbers.insert(trace.family_name(activity.number), activity.number);
            let mut own = Vec::new();
            for item in trace.events(activity.number) {
                if let Item::Event(event) = item?
                    && is_answer(event.kind)
                {
                    own.push(event);
                }
            }
            if !own.is_empty() {
                answers.insert(trace.family_name(activity.number), own);
            }
        }
        Ok(Recorded {
            trace,
            answers,
            numbers,
        })
    }

    /// Whether threads took part in it that the program had made without us.
    pub(super) fn has_foreign(&self) -> bool {
        let mut all = self.trace.activities();
        all.any(|one| one.origin == Origin::Foreign && !is_stranger(&self.trace, one.number))
    }

    /// The number of an activity in the recorded run, if it was there.
    pub(super) fn number_of(&self, family: &str) -> Option<u32> {
        self.numbers.get(family).copied()
    }

    /// The first answer that an activity has not been given yet and that this is true of.
    fn next(
        &self,
        family: &str,
        given: &mut Given,
        fits: impl Fn(&Event) -> bool,
    ) -> Option<Event> {
        let own = self.answers.get(family)?;
        given.is_given.resize(own.len(), false);
        let index = (0..own.len()).find(|&index| !given.is_given[index] && fits(&own[index]))?;
        given.is_given[index] = true;
        Some(own[index])
    }

    /// What the C library said.
    pub(super) fn recall(&self, family: &str, given: &mut Given, what: Captured) -> Option<Heard> {
        let event = self.next(family, given, |event| event.kind == what.kind())?;
        Some(match what {
            Captured::Random => Heard::Bytes(self.trace.data(event.number).ok()?),
            _ => Heard::Elapsed(event.number),
        })
    }

    /// What anybody else said who was asked this.
    pub(super) fn play(
        &self,
        family: &str,
        given: &mut Given,
        asked: Asked,
        hear: &mut dyn FnMut(Reply<'_>) -> bool,
    ) {
        let fits = |event: &Event| match event.kind {
            Kind::ANSWER | Kind::DATA => Asked::from_code(event.second) == asked,
            Kind::OUTSIDE => asked == Asked::NOTHING,
            _ => false,
        };
        let Some(event) = self.next(family, given, fits) else {
            return;
        };
        match event.kind {
            Kind::DATA => {
                if let Ok(data) = self.trace.data(event.number) {
                    hear(Reply::Bytes(Cow::Owned(data.to_vec())));
                }
            }
            _ => {
                hear(Reply::Number(event.number));
            }
        }
    }
}

fn is_answer(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::OUTSIDE | Kind::ANSWER | Kind::DATA | Kind::CLOCK | Kind::TIME | Kind::RANDOM
    )
}
