//! A universe of a Rust program: the steps that lead there, and the fingerprint of what they did.

use std::{
    fmt::Write,
    hash::{Hash, Hasher},
    sync::Arc,
};

use reenact_multiverse::Site;

use super::told::{Doing, Way};

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
        let (way, thing) = *doing.touches.first()?;
        let is_sent = match way {
            Way::Send => true,
            Way::Receive => false,
            _ => return None,
        };
        Some(Moved {
            is_sent,
            thing: thing?,
            is_turn: !is_sent && doing.is_of_actor(),
            site: doing.site(),
        })
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
    pub(super) fn start() -> Universe {
        Universe {
            path: None,
            fingerprint: 0,
            mark: None,
        }
    }

    pub(super) fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    pub(super) fn with_fingerprint(self, fingerprint: u128) -> Universe {
        Universe {
            fingerprint,
            ..self
        }
    }

    /// One for a universe that cannot be had.
    pub(super) fn fingerprint_of_failure(&self, step: &Choice) -> u128 {
        let step = u128::from(step.activity) << 32 | u128::from(step.way);
        !self.fingerprint.wrapping_add(step)
    }

    /// After one more step.
    pub(super) fn after(&self, step: Choice, moved: Option<Moved>, fingerprint: u128) -> Universe {
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
                moved,
                before: self.path.clone(),
            })),
            fingerprint,
            mark,
        }
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

    /// The mailbox from which an actor took its last message, and where that was sent.
    pub(super) fn last_turn(&self, activity: u32) -> Option<(u32, Option<Site>)> {
        let mut path = self.path.as_ref()?;
        loop {
            match path.moved {
                Some(moved) if path.step.activity == activity && moved.is_turn => {
                    let before = Universe {
                        path: path.before.clone(),
                        ..Universe::start()
                    };
                    return Some((moved.thing, before.next_sent(moved.thing)));
                }
                _ => path = path.before.as_ref()?,
            }
        }
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

    /// The steps that lead here.
    pub(super) fn steps(&self) -> Vec<Choice> {
        let mut steps: Vec<Choice> = self.paths().map(|path| path.step).collect();
        steps.reverse();
        steps
    }

    /// How the program is asked for it.
    pub(super) fn question(&self) -> String {
        let mut question = "state".to_owned();
        for Choice { activity, way } in self.steps() {
            let _ = write!(question, " {activity}:{way}");
        }
        question
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: Site = Site { line: 1, column: 1 };

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
        let one = Universe::start().after(a, moved(true), 1);
        let marked = one.marked(Some(Mark::Next(0)));
        // Somebody else's comes first.
        let both = marked.after(b, moved(true), 2).after(a, moved(true), 3);
        assert!(!both.is_marked(7));
        let next = both.after(b, moved(false), 4).after(b, moved(false), 5);
        assert!(next.is_marked(7));
        assert!(!next.is_marked(8));
        assert!(!next.after(b, moved(false), 6).is_marked(7));
    }

    #[test]
    fn a_universe_is_known_by_its_fingerprint_and_its_mark() {
        let [a, b] = [0, 1].map(|activity| Choice { activity, way: 0 });
        let one = Universe::start().after(a, None, 1).after(b, None, 3);
        let other = Universe::start().after(b, None, 2).after(a, None, 3);
        assert_eq!(one, other);
        assert_ne!(one, other.marked(Some(Mark::Next(0))));
        assert_eq!(one.question(), "state 0:0 1:0");
    }

    #[test]
    fn a_long_way_is_dropped() {
        let mut universe = Universe::start();
        for number in 0..1_000_000 {
            universe = universe.after(
                Choice {
                    activity: 0,
                    way: 0,
                },
                None,
                number,
            );
        }
    }
}
