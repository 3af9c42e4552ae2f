//! The external data of a recorded run, for executions that are explored around it.
//!
//! Each activity receives the same answers again, as long as it asks the same questions. In another execution it may
//! ask in another order, or ask something else; what was not recorded comes from outside, or from a simulated clock.

use std::{borrow::Cow, collections::HashMap, path::Path, sync::Arc};

use reenact_trace::{Crowd, Event, Item, Kind, Origin, Trace, TraceError};

use crate::{
    Asked, Captured, Heard, Reply,
    replay::{external::is_stranger, play_process},
};

/// The external data of a recorded run.
pub(super) struct RecordedInput {
    trace: Arc<Trace>,
    /// By the activity's place in the family tree.
    answers: HashMap<String, Vec<Event>>,
    /// The activities' numbers in the recorded run, by the same.
    numbers: HashMap<String, u32>,
}

/// Which of its recorded answers an activity has received.
#[derive(Default)]
pub(super) struct Given {
    /// For each of its answers, whether it has been given.
    is_given: Vec<bool>,
}

impl Given {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.is_given.clear();
    }
}

impl RecordedInput {
    pub(super) fn open(path: &Path) -> Result<RecordedInput, TraceError> {
        let trace = Arc::new(Trace::open(path)?);
        play_process(&trace);
        let (mut answers, mut numbers) = (HashMap::new(), HashMap::new());
        for Crowd {
            first: activity, ..
        } in trace.crowds()
        {
            // Others are found by those that they descend from.
            if !activity.in_block {
                numbers.insert(trace.family_name(activity.number), activity.number);
            }
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
        Ok(RecordedInput {
            trace,
            answers,
            numbers,
        })
    }

    /// Returns whether threads took part in the run that the program created without Reenact.
    pub(super) fn has_foreign(&self) -> bool {
        let mut all = self.trace.crowds().map(|crowd| crowd.first);
        all.any(|one| one.origin == Origin::Foreign && !is_stranger(&self.trace, one.number))
    }

    /// Returns the number of an activity in the recorded run, if it was part of it.
    pub(super) fn number_of(&self, family: &str) -> Option<u32> {
        if let Some(&number) = self.numbers.get(family) {
            return Some(number);
        }
        let (parent, index) = family.rsplit_once(".a")?;
        let parent = self.number_of(parent)?;
        self.trace.child_in_block(parent, index.parse().ok()?)
    }

    /// Returns the first answer for which `fits` is true and that the activity has not received yet.
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

    /// Returns what the C library returned.
    pub(super) fn recall(&self, family: &str, given: &mut Given, what: Captured) -> Option<Heard> {
        let event = self.next(family, given, |event| event.kind == what.kind())?;
        Some(match what {
            Captured::Random => Heard::Bytes(self.trace.data(event.number).ok()?),
            _ => Heard::Elapsed(event.number),
        })
    }

    /// Passes the recorded answer to this question, if there is one, to `hear`.
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
