//! A universe of a Rust program: the steps that lead to it, and their fingerprint.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use reenact_engine::{
    Access,
    explore::protocol::{Granularity, OperationReport, PathElement, Request},
};
use reenact_explore::Step;
use reenact_multiverse::{Activity, OperationKind, Site};

use super::site;

/// A step: the activity that takes it, and which of its possible results it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Choice {
    pub(super) activity: u32,
    pub(super) way: u32,
}

impl From<Step> for Choice {
    fn from(step: Step) -> Choice {
        Choice {
            activity: step.activity.0,
            way: step.choice,
        }
    }
}

impl From<Choice> for Step {
    fn from(choice: Choice) -> Step {
        Step {
            activity: Activity(choice.activity),
            choice: choice.way,
        }
    }
}

/// A value that was put into a queue or taken out of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) is_sent: bool,
    pub(super) object: u32,
    /// Whether an actor begins a turn with it.
    is_turn: bool,
    site: Option<Site>,
}

impl Moved {
    /// Returns what an operation moves. An operation that only tries may move nothing, so it returns `None`.
    pub(super) fn of(doing: &OperationReport) -> Option<Moved> {
        let (access, object) = *doing.touches.first()?;
        let is_sent = match access {
            Access::Send => true,
            Access::Receive => false,
            _ => return None,
        };
        Some(Moved {
            is_sent,
            object: object?,
            is_turn: doing.kind == OperationKind::Turn,
            site: doing.location.as_ref().map(site),
        })
    }
}

/// Makes the fingerprints of universes differ if their granularity does.
fn salt(granularity: Granularity) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let Granularity { releases, own, .. } = granularity;
    ODD.wrapping_mul(u128::from(releases) | u128::from(own) << 1)
}

/// The message that is marked, or where it has got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum MarkedMessage {
    /// The message that this activity is about to send.
    Next(u32),
    /// The message in this queue that has this many others before it.
    Sent { object: u32, behind: u32 },
    /// What this activity does in its current turn.
    Turn(u32),
}

/// The last step on the path to a universe, with a link to the steps before it.
#[derive(Debug)]
struct PathStep {
    step: Choice,
    granularity: Granularity,
    moved: Option<Moved>,
    before: Option<Arc<PathStep>>,
}

/// Iterative: dropping a long path recursively would overflow the stack.
impl Drop for PathStep {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut path) = next.and_then(Arc::into_inner) {
            next = path.before.take();
        }
    }
}

/// The memory of a universe beyond its own size.
pub(super) const BYTES: usize = size_of::<PathStep>() + 2 * size_of::<usize>();

/// A universe, identified by its fingerprint and its mark, whichever path leads to it.
#[derive(Clone, Debug)]
pub(crate) struct Universe {
    path: Option<Arc<PathStep>>,
    /// The granularity at the start of the program.
    first: Granularity,
    fingerprint: u128,
    mark: Option<MarkedMessage>,
}

impl PartialEq for Universe {
    fn eq(&self, other: &Universe) -> bool {
        (self.fingerprint, self.mark) == (other.fingerprint, other.mark)
    }
}

impl Eq for Universe {}

impl Hash for Universe {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.fingerprint, self.mark).hash(state);
    }
}

impl Universe {
    /// Returns the universe before the first step.
    pub(super) fn start(granularity: Granularity) -> Universe {
        Universe {
            path: None,
            first: granularity,
            fingerprint: 0,
            mark: None,
        }
        .with_fingerprint(0)
    }

    pub(super) fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// Sets the fingerprint, given the one that the program reported.
    pub(super) fn with_fingerprint(self, fingerprint: u128) -> Universe {
        Universe {
            fingerprint: fingerprint ^ salt(self.granularity()),
            ..self
        }
    }

    /// Returns a fingerprint for a universe that the program failed to reach.
    pub(super) fn fingerprint_of_failure(&self, step: &Choice) -> u128 {
        let step = u128::from(step.activity) << 32 | u128::from(step.way);
        !self.fingerprint.wrapping_add(step)
    }

    /// Returns the granularity at this universe.
    fn granularity(&self) -> Granularity {
        self.path
            .as_ref()
            .map_or(self.first, |path| path.granularity)
    }

    /// Returns the universe after one more step, taken under `granularity`, for which the program reported
    /// `fingerprint`.
    pub(super) fn after(
        &self,
        step: Choice,
        granularity: Granularity,
        moved: Option<Moved>,
        fingerprint: u128,
    ) -> Universe {
        let mark = match (self.mark, moved) {
            (Some(MarkedMessage::Next(who)), moved) if who == step.activity => moved
                .filter(|moved| moved.is_sent)
                .map(|moved| MarkedMessage::Sent {
                    object: moved.object,
                    behind: self.waiting(moved.object),
                }),
            (Some(MarkedMessage::Sent { object, behind }), Some(moved))
                if !moved.is_sent && moved.object == object =>
            {
                match behind.checked_sub(1) {
                    Some(behind) => Some(MarkedMessage::Sent { object, behind }),
                    None => moved.is_turn.then_some(MarkedMessage::Turn(step.activity)),
                }
            }
            (Some(MarkedMessage::Turn(who)), Some(moved))
                if who == step.activity && moved.is_turn =>
            {
                None
            }
            (mark, _) => mark,
        };
        Universe {
            path: Some(Arc::new(PathStep {
                step,
                granularity,
                moved,
                before: self.path.clone(),
            })),
            first: self.first,
            fingerprint: 0,
            mark,
        }
        .with_fingerprint(fingerprint)
    }

    /// Returns the same universe with another mark.
    pub(super) fn marked(&self, mark: Option<MarkedMessage>) -> Universe {
        Universe {
            mark,
            ..self.clone()
        }
    }

    /// Whether the next value to be taken out of a queue is marked.
    pub(super) fn is_marked(&self, object: u32) -> bool {
        self.mark == Some(MarkedMessage::Sent { object, behind: 0 })
    }

    /// Whether the current turn of an activity is marked.
    pub(super) fn is_turn_marked(&self, activity: u32) -> bool {
        self.mark == Some(MarkedMessage::Turn(activity))
    }

    /// Returns the number of values in a queue.
    fn waiting(&self, object: u32) -> u32 {
        let count = |is_sent: bool| {
            self.moved(object)
                .filter(|one| one.is_sent == is_sent)
                .count()
        };
        count(true).saturating_sub(count(false)) as u32
    }

    /// Returns where the next value to be taken out of a queue was sent.
    pub(super) fn next_sent(&self, object: u32) -> Option<Site> {
        let waiting = self.waiting(object) as usize;
        let sent = self.moved(object).filter(|moved| moved.is_sent);
        sent.take(waiting).last().and_then(|moved| moved.site)
    }

    /// Returns what was put into a queue and taken out of it, latest first.
    fn moved(&self, object: u32) -> impl Iterator<Item = Moved> {
        let all = self.paths().filter_map(|path| path.moved);
        all.filter(move |moved| moved.object == object)
    }

    /// Returns the path to this universe, latest step first.
    fn paths(&self) -> impl Iterator<Item = &PathStep> {
        std::iter::successors(self.path.as_deref(), |path| path.before.as_deref())
    }

    /// Returns the steps that lead here, each with the universe in which it was taken. These universes have no
    /// fingerprint.
    pub(super) fn steps(&self) -> Vec<(Universe, Choice)> {
        let before = |path: &PathStep| Universe {
            path: path.before.clone(),
            ..Universe::start(self.first)
        };
        let mut steps: Vec<_> = self.paths().map(|path| (before(path), path.step)).collect();
        steps.reverse();
        steps
    }

    /// Returns the request that asks the program for this universe.
    pub(super) fn request(&self) -> Request {
        let mut request = Request::new();
        let mut granularity = Granularity::default();
        let mut refine = |request: &mut Request, finer: Granularity| {
            if finer != granularity {
                request.push(PathElement::Refine(finer));
                granularity = finer;
            }
        };
        refine(&mut request, self.first);
        let mut paths: Vec<&PathStep> = self.paths().collect();
        paths.reverse();
        for path in paths {
            refine(&mut request, path.granularity);
            request.push(PathElement::Step(path.step.into()));
        }
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: Site = Site { line: 1, column: 1 };
    const COARSE: Granularity = Granularity {
        releases: false,
        drops: false,
        queues: false,
        ends: false,
        meetings: false,
        own: false,
    };

    fn moved(is_sent: bool) -> Option<Moved> {
        Some(Moved {
            is_sent,
            object: 7,
            is_turn: false,
            site: Some(SITE),
        })
    }

    #[test]
    fn what_is_marked_is_followed_through_a_queue() {
        let [a, b] = [0, 1].map(|activity| Choice { activity, way: 0 });
        let one = Universe::start(COARSE).after(a, COARSE, moved(true), 1);
        let marked = one.marked(Some(MarkedMessage::Next(0)));
        // A message of another activity arrives first.
        let both = marked
            .after(b, COARSE, moved(true), 2)
            .after(a, COARSE, moved(true), 3);
        assert!(!both.is_marked(7));
        let next = both
            .after(b, COARSE, moved(false), 4)
            .after(b, COARSE, moved(false), 5);
        assert!(next.is_marked(7));
        assert!(!next.is_marked(8));
        assert!(!next.after(b, COARSE, moved(false), 6).is_marked(7));
    }

    #[test]
    fn a_universe_is_known_by_its_fingerprint_and_its_mark() {
        let [a, b] = [0, 1].map(|activity| Choice { activity, way: 0 });
        let one = Universe::start(COARSE)
            .after(a, COARSE, None, 1)
            .after(b, COARSE, None, 3);
        let other = Universe::start(COARSE)
            .after(b, COARSE, None, 2)
            .after(a, COARSE, None, 3);
        assert_eq!(one, other);
        assert_ne!(one, other.marked(Some(MarkedMessage::Next(0))));
        let steps = [a, b].map(|step| PathElement::Step(step.into()));
        assert_eq!(one.request(), steps);
    }

    #[test]
    fn a_finer_universe_is_another_one() {
        let fine = Granularity {
            own: true,
            ..COARSE
        };
        let [a, b] = [0, 1].map(|activity| Choice { activity, way: 0 });
        let coarse = Universe::start(COARSE).after(a, COARSE, None, 1);
        let [one, other] = [COARSE, fine].map(|finer| coarse.after(b, finer, None, 2));
        assert_ne!(one, other);
        let expected = [
            PathElement::Step(a.into()),
            PathElement::Refine(fine),
            PathElement::Step(b.into()),
        ];
        assert_eq!(other.request(), expected);
        assert_eq!(Universe::start(fine).request(), [PathElement::Refine(fine)]);
    }

    #[test]
    fn a_long_way_is_dropped() {
        let mut universe = Universe::start(COARSE);
        for number in 0..1_000_000 {
            universe = universe.after(
                Choice {
                    activity: 0,
                    way: 0,
                },
                COARSE,
                None,
                number,
            );
        }
    }
}
