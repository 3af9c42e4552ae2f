//! A universe of a Rust program: the steps that lead there, and the fingerprint of what they did.

use std::{
    fmt::Write,
    hash::{Hash, Hasher},
    sync::Arc,
};

use reenact_engine::Access;
use reenact_multiverse::{OperationKind, Site};

use super::told::Doing;

/// A step: who takes it, and which of the ways it can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Choice {
    pub(super) activity: u32,
    pub(super) way: u32,
}

impl Choice {
    /// A step as it is written, such as `2:0`.
    pub(super) fn parse(text: &str) -> Option<Choice> {
        let (activity, way) = text.split_once(':')?;
        Some(Choice {
            activity: activity.parse().ok()?,
            way: way.parse().ok()?,
        })
    }
}

/// Something that was put into a queue, or taken out of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) is_sent: bool,
    pub(super) thing: u32,
    /// Whether an actor begins a turn with it.
    is_turn: bool,
    site: Option<Site>,
}

impl Moved {
    /// What an operation moves. Not one that only tries: it may have moved nothing.
    pub(super) fn of(doing: &Doing) -> Option<Moved> {
        let (access, thing) = *doing.touches.first()?;
        let is_sent = match access {
            Access::Send => true,
            Access::Receive => false,
            _ => return None,
        };
        Some(Moved {
            is_sent,
            thing: thing?,
            is_turn: doing.kind == OperationKind::Turn,
            site: doing.site(),
        })
    }
}

/// What is a step although nobody else can tell when it happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Granularity {
    /// Giving a lock back.
    pub(super) releases: bool,
    /// To create an activity, to begin, to end, to join, to ask the world outside.
    pub(super) own: bool,
}

impl Granularity {
    /// As words of a question, as far as it is finer than the other.
    fn finer_than(self, other: Granularity) -> impl Iterator<Item = &'static str> {
        let releases = self.releases && !other.releases;
        let own = self.own && !other.own;
        let words = [("+releases", releases), ("+own", own)];
        words
            .into_iter()
            .filter_map(|(word, is_new)| is_new.then_some(word))
    }

    /// Universes that differ in nothing but this are two.
    fn salt(self) -> u128 {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        ODD.wrapping_mul(u128::from(self.releases) | u128::from(self.own) << 1)
    }
}

/// What is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    /// What this one is about to send.
    Next(u32),
    /// What is in this queue, behind so many others.
    Sent { thing: u32, behind: u32 },
    /// What this one does in the turn that it is in.
    Turn(u32),
}

/// The last step on the way to a universe, and those before it.
#[derive(Debug)]
struct Path {
    step: Choice,
    granularity: Granularity,
    moved: Option<Moved>,
    before: Option<Arc<Path>>,
}

/// A long one is not dropped by recursion.
impl Drop for Path {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut path) = next.and_then(Arc::into_inner) {
            next = path.before.take();
        }
    }
}

/// What a universe takes beyond its own size.
pub(super) const BYTES: usize = size_of::<Path>() + 2 * size_of::<usize>();

/// A universe. It is known by its fingerprint, whatever way leads there.
#[derive(Clone, Debug)]
pub(crate) struct Universe {
    path: Option<Arc<Path>>,
    /// With which the program was started.
    first: Granularity,
    fingerprint: u128,
    mark: Option<Mark>,
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
    /// Nothing has happened.
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

    /// The same one, of which this was told.
    pub(super) fn with_fingerprint(self, fingerprint: u128) -> Universe {
        Universe {
            fingerprint: fingerprint ^ self.granularity().salt(),
            ..self
        }
    }

    /// One for a universe that cannot be had.
    pub(super) fn fingerprint_of_failure(&self, step: &Choice) -> u128 {
        let step = u128::from(step.activity) << 32 | u128::from(step.way);
        !self.fingerprint.wrapping_add(step)
    }

    /// What is a step here.
    fn granularity(&self) -> Granularity {
        self.path
            .as_ref()
            .map_or(self.first, |path| path.granularity)
    }

    /// After one more step, for which `granularity` held, where this was told.
    pub(super) fn after(
        &self,
        step: Choice,
        granularity: Granularity,
        moved: Option<Moved>,
        fingerprint: u128,
    ) -> Universe {
        let mark = match (self.mark, moved) {
            (Some(Mark::Next(who)), moved) if who == step.activity => {
                moved.filter(|moved| moved.is_sent).map(|moved| Mark::Sent {
                    thing: moved.thing,
                    behind: self.waiting(moved.thing),
                })
            }
            (Some(Mark::Sent { thing, behind }), Some(moved))
                if !moved.is_sent && moved.thing == thing =>
            {
                match behind.checked_sub(1) {
                    Some(behind) => Some(Mark::Sent { thing, behind }),
                    None => moved.is_turn.then_some(Mark::Turn(step.activity)),
                }
            }
            (Some(Mark::Turn(who)), Some(moved)) if who == step.activity && moved.is_turn => None,
            (mark, _) => mark,
        };
        Universe {
            path: Some(Arc::new(Path {
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

    /// The same one, with something else marked.
    pub(super) fn marked(&self, mark: Option<Mark>) -> Universe {
        Universe {
            mark,
            ..self.clone()
        }
    }

    /// Whether what will be taken out of a queue next is marked.
    pub(super) fn is_marked(&self, thing: u32) -> bool {
        self.mark == Some(Mark::Sent { thing, behind: 0 })
    }

    /// Whether what an activity does in its turn is.
    pub(super) fn is_turn_marked(&self, activity: u32) -> bool {
        self.mark == Some(Mark::Turn(activity))
    }

    /// How much is in a queue.
    fn waiting(&self, thing: u32) -> u32 {
        let count = |is_sent: bool| {
            self.moved(thing)
                .filter(|one| one.is_sent == is_sent)
                .count()
        };
        count(true).saturating_sub(count(false)) as u32
    }

    /// Where what will be taken out of a queue next was sent.
    pub(super) fn next_sent(&self, thing: u32) -> Option<Site> {
        let waiting = self.waiting(thing) as usize;
        let sent = self.moved(thing).filter(|moved| moved.is_sent);
        sent.take(waiting).last().and_then(|moved| moved.site)
    }

    /// What was put into a queue and taken out of it, the last first.
    fn moved(&self, thing: u32) -> impl Iterator<Item = Moved> {
        let all = self.paths().filter_map(|path| path.moved);
        all.filter(move |moved| moved.thing == thing)
    }

    /// The way here, backwards.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        std::iter::successors(self.path.as_deref(), |path| path.before.as_deref())
    }

    /// The steps that lead here, each with where it was taken, of which nothing is told.
    pub(super) fn steps(&self) -> Vec<(Universe, Choice)> {
        let before = |path: &Path| Universe {
            path: path.before.clone(),
            ..Universe::start(self.first)
        };
        let mut steps: Vec<_> = self.paths().map(|path| (before(path), path.step)).collect();
        steps.reverse();
        steps
    }

    /// How the program is asked for it.
    pub(super) fn question(&self) -> String {
        let mut question = "state".to_owned();
        let mut granularity = Granularity::default();
        let mut refine = |question: &mut String, finer: Granularity| {
            for word in finer.finer_than(granularity) {
                let _ = write!(question, " {word}");
            }
            granularity = finer;
        };
        refine(&mut question, self.first);
        let mut paths: Vec<&Path> = self.paths().collect();
        paths.reverse();
        for path in paths {
            refine(&mut question, path.granularity);
            let Choice { activity, way } = path.step;
            let _ = write!(question, " {activity}:{way}");
        }
        question
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: Site = Site { line: 1, column: 1 };
    const COARSE: Granularity = Granularity {
        releases: false,
        own: false,
    };

    fn moved(is_sent: bool) -> Option<Moved> {
        Some(Moved {
            is_sent,
            thing: 7,
            is_turn: false,
            site: Some(SITE),
        })
    }

    #[test]
    fn what_is_marked_is_followed_through_a_queue() {
        let [a, b] = [0, 1].map(|activity| Choice { activity, way: 0 });
        let one = Universe::start(COARSE).after(a, COARSE, moved(true), 1);
        let marked = one.marked(Some(Mark::Next(0)));
        // Somebody else's comes first.
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
        assert_ne!(one, other.marked(Some(Mark::Next(0))));
        assert_eq!(one.question(), "state 0:0 1:0");
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
        assert_eq!(other.question(), "state 0:0 +own 1:0");
        assert_eq!(Universe::start(fine).question(), "state +own");
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
