//! A race the other way round, or a choice made otherwise: what is to be run instead, from just before its first event.
//!
//! These are all later events that do not happen after the first one, and then the second one. Whether another step would
//! make no difference to them decides whether they are tried already, or will be.

use super::{history::History, wakeup::Planned};
use crate::explore::{
    Moment, Runs, Step,
    links::{Link, is_only_if_possible},
};

/// The second event of a race, or the same event with another choice.
///
/// It may be one that is still waiting. It comes in the form in which it is pending, since it may do something else where
/// it has not been before.
pub(super) struct Second<'a, E> {
    pub(super) step: Step,
    pub(super) event: &'a E,
    /// Whether this is all that it did in the execution where it came second.
    pub(super) is_certain: bool,
    /// The last event of its activity before it.
    pub(super) previous: Option<Moment>,
    pub(super) links: &'a [Link],
}

impl<E> Clone for Second<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Second<'_, E> {}

/// What a step has to do with a sequence of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// It is one of them, and can be the first.
    First(usize),
    /// It is none of them and independent of all.
    Apart,
    /// Neither: having it first leads elsewhere.
    Conflict,
}

/// What is to be run instead.
pub(super) struct Reversal<'a, R: Runs> {
    runs: &'a R,
    history: &'a History<R::Event>,
    first: Moment,
    second: Second<'a, R::Event>,
    /// What comes before the second event.
    sequence: Vec<Moment>,
    has_second: bool,
}

impl<'a, R: Runs> Reversal<'a, R> {
    /// Of a race. `None`: it cannot be. `buffer` is what [`into_buffer`](Reversal::into_buffer) gave back the last time.
    pub(super) fn of_race(
        runs: &'a R,
        history: &'a History<R::Event>,
        first: Moment,
        second: Second<'a, R::Event>,
        mut buffer: Vec<Moment>,
    ) -> Option<Self> {
        debug_assert!(
            runs.dependent(history.event(first), second.event),
            "events that race are dependent"
        );
        buffer.clear();
        buffer.extend(history.apart_from(first));
        let mut reversal = Reversal {
            runs,
            history,
            first,
            second,
            sequence: buffer,
            has_second: true,
        };
        // What is not over before the second event must not have begun.
        while let Some(begin) = reversal.begun_and_not_over() {
            let is_apart = |moment: &Moment| !history.is_before(begin, *moment);
            reversal.sequence.retain(is_apart);
            if reversal.lacks_what_it_comes_after() {
                return None;
            }
        }
        Some(reversal)
    }

    /// Whether the second event cannot happen because something before it in any case is not in the sequence.
    fn lacks_what_it_comes_after(&self) -> bool {
        let lacks =
            |moment: Moment| moment > self.first && self.sequence.binary_search(&moment).is_err();
        self.second.previous.is_some_and(lacks)
            || self.second.links.iter().any(|link| match *link {
                Link::After(moment) => lacks(moment),
                _ => false,
            })
    }

    fn begun_and_not_over(&self) -> Option<Moment> {
        let has = |moment: Moment| self.sequence.binary_search(&moment).is_ok();
        self.second.links.iter().find_map(|link| {
            let (begin, end) = link.bar()?;
            (has(begin) && !end.is_some_and(has)).then_some(begin)
        })
    }

    /// Of a choice: the same event goes another way.
    ///
    /// What the way it went did not depend on, another way might. So the sequence is without what depends on the event as
    /// it was announced.
    pub(super) fn of_choice(
        runs: &'a R,
        history: &'a History<R::Event>,
        moment: Moment,
        choice: u32,
        mut buffer: Vec<Moment>,
    ) -> Self {
        let (event, is_certain) = history.announced(moment);
        let mut dependents = vec![moment];
        buffer.clear();
        for later in (moment.0 + 1..history.next().0).map(Moment) {
            if dependents
                .iter()
                .any(|&dependent| history.is_before(dependent, later))
            {
                continue;
            }
            if !is_certain && runs.dependent(event, history.event(later)) {
                dependents.push(later);
            } else {
                buffer.push(later);
            }
        }
        let activity = history.activity(moment);
        Reversal {
            runs,
            history,
            first: moment,
            second: Second {
                step: Step { activity, choice },
                event,
                is_certain,
                previous: history.previous(moment),
                links: &[],
            },
            sequence: buffer,
            has_second: true,
        }
    }

    /// The point from which it is to be run.
    pub(super) fn first(&self) -> Moment {
        self.first
    }

    pub(super) fn into_buffer(self) -> Vec<Moment> {
        self.sequence
    }

    /// What a step, which does this, has to do with what is left.
    pub(super) fn meet(&self, step: Step, event: &R::Event) -> Meeting {
        let Step { activity, choice } = step;
        let history = self.history;
        let own = self
            .sequence
            .iter()
            .position(|&moment| history.activity(moment) == activity);
        let (position, is_first) = if let Some(position) = own {
            let (before, at) = (&self.sequence[..position], self.sequence[position]);
            let is_first = history.step(at).choice == choice
                && !before.iter().any(|&moment| history.is_before(moment, at));
            (position, is_first)
        } else if self.has_second && self.second.step.activity == activity {
            let is_first = self.second.step.choice == choice && self.is_second_initial();
            (self.sequence.len(), is_first)
        } else {
            return if self.is_apart(event) {
                Meeting::Apart
            } else {
                Meeting::Conflict
            };
        };
        if is_first {
            Meeting::First(position)
        } else {
            Meeting::Conflict
        }
    }

    fn is_apart(&self, event: &R::Event) -> bool {
        let second = self.has_second.then_some(self.second.event);
        let happened = self
            .sequence
            .iter()
            .map(|&moment| self.history.event(moment));
        !happened
            .chain(second)
            .any(|other| self.runs.dependent(event, other))
    }

    /// Whether the second event does the same if it goes before the whole sequence.
    fn is_second_initial(&self) -> bool {
        let Second {
            event, is_certain, ..
        } = self.second;
        !self.sequence.iter().any(|&moment| {
            self.is_before_second(moment)
                || !is_certain && self.runs.dependent(event, self.history.event(moment))
        })
    }

    /// Whether an event of the sequence happens before the second one when that goes before the first. What it
    /// [follows](crate::explore::Links::follows) is then something else, earlier.
    fn is_before_second(&self, moment: Moment) -> bool {
        let Second {
            previous, links, ..
        } = self.second;
        let is_before = |before| self.history.is_before(moment, before);
        // If it is possible only because of what came later, it follows that still.
        let is_as_it_was = is_only_if_possible(self.first, links);
        previous.is_some_and(is_before)
            || links.iter().any(|link| match *link {
                Link::After(before) => is_before(before),
                Link::Races(before) | Link::RacesIfSeen(before) | Link::RacesIfPossible(before) => {
                    before != self.first && is_before(before)
                }
                Link::Follows(before) => is_as_it_was && is_before(before),
                Link::Needs(..) | Link::Void => false,
                Link::Outside(..) | Link::Barred(..) => link.bar().is_some_and(|(begin, end)| {
                    (begin < self.first || self.sequence.binary_search(&begin).is_ok())
                        && end.is_some_and(is_before)
                }),
            })
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.sequence.is_empty() && !self.has_second
    }

    /// The step at this position has been found elsewhere.
    pub(super) fn remove(&mut self, position: usize) {
        if position < self.sequence.len() {
            self.sequence.remove(position);
        } else {
            self.has_second = false;
        }
    }

    /// What is left of it: the steps, and what each does as far as that is settled.
    pub(super) fn steps(&self) -> impl DoubleEndedIterator<Item = Planned<R::Event>> {
        let second = self.has_second.then(|| Planned {
            step: self.second.step,
            event: self.second.event.clone(),
            is_certain: self.second.is_certain,
            is_early: false,
        });
        self.sequence
            .iter()
            .map(|&moment| Planned {
                step: self.history.step(moment),
                event: self.history.event(moment).clone(),
                is_certain: true,
                is_early: false,
            })
            .chain(second)
    }
}

impl<R: Runs> Clone for Reversal<'_, R> {
    fn clone(&self) -> Self {
        Reversal {
            sequence: self.sequence.clone(),
            ..*self
        }
    }
}
