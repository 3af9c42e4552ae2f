//! A reversed race, or another choice: what to run instead, from just before the first event.
//!
//! The sequence to run consists of all later events that do not happen after the first one, and then the second one.
//! Whether another step is independent of the sequence decides whether it has been tried already, or will be.

use super::{clocked_log::ClockedLog, wakeup::Planned};
use crate::{
    Moment, Runs, Step,
    links::{Link, is_only_if_possible},
};

/// The second event of a race, or the same event with another choice.
///
/// It may still be waiting. It is given in its pending form, since it may do something else in another position.
pub(super) struct Second<'a, E> {
    pub(super) step: Step,
    pub(super) event: &'a E,
    /// Whether the pending form is all that it did in the execution where it came second.
    pub(super) is_certain: bool,
    /// The previous event of its activity.
    pub(super) previous: Option<Moment>,
    pub(super) links: &'a [Link],
}

impl<E> Clone for Second<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Second<'_, E> {}

/// How a step relates to a sequence of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// It is one of them, and can be the first.
    First(usize),
    /// It is none of them, and independent of all.
    Independent,
    /// Neither: taking it first leads elsewhere.
    Conflict,
}

/// What to run instead.
pub(super) struct Reversal<'a, R: Runs> {
    runs: &'a R,
    log: &'a ClockedLog<R::Event>,
    first: Moment,
    second: Second<'a, R::Event>,
    /// The events before the second one.
    sequence: Vec<Moment>,
    has_second: bool,
}

impl<'a, R: Runs> Reversal<'a, R> {
    /// The reversal of a race. `None` if it is impossible. `buffer` is a former result of
    /// [`into_buffer`](Reversal::into_buffer).
    pub(super) fn of_race(
        runs: &'a R,
        log: &'a ClockedLog<R::Event>,
        first: Moment,
        second: Second<'a, R::Event>,
        mut buffer: Vec<Moment>,
    ) -> Option<Self> {
        debug_assert!(
            runs.dependent(log.event(first), second.event),
            "events that race are dependent"
        );
        buffer.clear();
        buffer.extend(log.not_after(first));
        let mut reversal = Reversal {
            runs,
            log,
            first,
            second,
            sequence: buffer,
            has_second: true,
        };
        // Something that would not be over before the second event must not have begun.
        while let Some(begin) = reversal.begun_and_not_over() {
            let is_independent = |moment: &Moment| !log.is_before(begin, *moment);
            reversal.sequence.retain(is_independent);
            if reversal.lacks_what_it_comes_after() {
                return None;
            }
        }
        Some(reversal)
    }

    /// Returns whether the second event is impossible because a mandatory predecessor is not in the sequence.
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

    /// Another choice of the same event.
    ///
    /// What did not depend on the choice that was taken may depend on another one. So the sequence omits what depends
    /// on the announced form of the event.
    pub(super) fn of_choice(
        runs: &'a R,
        log: &'a ClockedLog<R::Event>,
        moment: Moment,
        choice: u32,
        mut buffer: Vec<Moment>,
    ) -> Self {
        let (event, is_certain) = log.announced(moment);
        let mut dependents = vec![moment];
        buffer.clear();
        for later in (moment.0 + 1..log.steps().next().0).map(Moment) {
            if dependents
                .iter()
                .any(|&dependent| log.is_before(dependent, later))
            {
                continue;
            }
            if !is_certain && runs.dependent(event, log.event(later)) {
                dependents.push(later);
            } else {
                buffer.push(later);
            }
        }
        let activity = log.activity(moment);
        Reversal {
            runs,
            log,
            first: moment,
            second: Second {
                step: Step { activity, choice },
                event,
                is_certain,
                previous: log.steps().previous(moment),
                links: &[],
            },
            sequence: buffer,
            has_second: true,
        }
    }

    /// The point from which it has to be run.
    pub(super) fn first(&self) -> Moment {
        self.first
    }

    pub(super) fn into_buffer(self) -> Vec<Moment> {
        self.sequence
    }

    /// How a step with this event relates to the rest of the sequence.
    pub(super) fn meet(&self, step: Step, event: &R::Event) -> Meeting {
        let Step { activity, choice } = step;
        let log = self.log;
        let own = self
            .sequence
            .iter()
            .position(|&moment| log.activity(moment) == activity);
        let (position, is_first) = if let Some(position) = own {
            let (before, at) = (&self.sequence[..position], self.sequence[position]);
            let is_first = log.steps().step(at).choice == choice
                && !before.iter().any(|&moment| log.is_before(moment, at));
            (position, is_first)
        } else if self.has_second && self.second.step.activity == activity {
            let is_first = self.second.step.choice == choice && self.is_second_initial();
            (self.sequence.len(), is_first)
        } else {
            return if self.is_independent(event) {
                Meeting::Independent
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

    fn is_independent(&self, event: &R::Event) -> bool {
        let second = self.has_second.then_some(self.second.event);
        let happened = self.sequence.iter().map(|&moment| self.log.event(moment));
        !happened
            .chain(second)
            .any(|other| self.runs.dependent(event, other))
    }

    /// Returns whether the second event does the same if it goes before the whole sequence.
    fn is_second_initial(&self) -> bool {
        let Second {
            event, is_certain, ..
        } = self.second;
        !self.sequence.iter().any(|&moment| {
            self.is_before_second(moment)
                || !is_certain && self.runs.dependent(event, self.log.event(moment))
        })
    }

    /// Returns whether an event of the sequence happens before the second one when that goes before the first. What the
    /// second event [follows](crate::Links::follows) is then a different, earlier event.
    fn is_before_second(&self, moment: Moment) -> bool {
        let Second {
            previous, links, ..
        } = self.second;
        let is_before = |before| self.log.is_before(moment, before);
        // If it is possible only because of later events, it still follows them.
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

    /// Returns whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.sequence.is_empty() && !self.has_second
    }

    /// Removes the step at this position, which is already in the tree.
    pub(super) fn remove(&mut self, position: usize) {
        if position < self.sequence.len() {
            self.sequence.remove(position);
        } else {
            self.has_second = false;
        }
    }

    /// The remaining steps, and what each is expected to do.
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
                step: self.log.steps().step(moment),
                event: self.log.event(moment).clone(),
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
