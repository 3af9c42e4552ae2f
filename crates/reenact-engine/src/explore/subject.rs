//! What is explored, whatever runs it: a function on fibers, or a whole program in processes of its own.

use reenact_multiverse::{
    Activity,
    explore::{Run, Runs},
};

use super::failure::Failure;
use crate::ObjectName;

/// Something that is explored, and of which can be told what happens.
pub trait Subject: Runs<Run: Told<Event = Self::Event>> {
    /// The place of an activity in the family tree, as in `main.2.0`.
    fn name(&self, activity: Activity) -> String;

    /// Whose place this is, if it is somebody's so far.
    fn find(&self, name: &str) -> Option<Activity>;

    /// What the objects are called that these operations are about.
    fn object_names(&self, events: &[Self::Event]) -> Vec<Option<ObjectName>>;

    /// Whether it has been found out, since this was asked last, that more must be told apart than was so far: then what was
    /// explored is not all, and it has to begin again.
    fn was_too_coarse(&self) -> bool;

    /// How fine its steps are. It becomes finer when somebody does what makes a difference of what was none, and what was
    /// written down before that cannot be repeated step by step.
    fn fineness(&self) -> Fineness;

    /// Makes its steps at least this fine.
    fn refine(&self, fineness: Fineness);

    /// Whether it is told of messages what they are, in executions that begin from now on. That takes time.
    fn want_labels(&self, are_wanted: bool);
}

/// How fine the steps of an execution are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Fineness {
    /// Whether giving something back is a step, because somebody tries to have it.
    pub(super) releases: bool,
    /// Whether dropping a sender is a step, because somebody tries to receive.
    pub(super) drops: bool,
    /// Whether beginning to wait for what others share is a step, because somebody shares something twice over.
    pub(super) queues: bool,
    /// Whether the end of an activity is a step, because somebody asks whether it has ended.
    pub(super) ends: bool,
    /// Whether what concerns nobody else is a step: a debugger may want to stop there.
    pub(super) own: bool,
}

impl Fineness {
    /// Everything is told apart that anybody else can tell apart.
    pub(super) const FINEST: Fineness = Fineness {
        releases: true,
        drops: true,
        queues: true,
        ends: true,
        own: false,
    };

    /// As a number.
    pub(super) fn code(self) -> u64 {
        let bits = [self.releases, self.drops, self.queues, self.own, self.ends];
        (0..)
            .zip(bits)
            .map(|(bit, is_set)| u64::from(is_set) << bit)
            .sum()
    }

    /// The one of such a number.
    pub(super) fn from_code(code: u64) -> Fineness {
        Fineness {
            releases: code & 1 != 0,
            drops: code & 2 != 0,
            queues: code & 4 != 0,
            own: code & 8 != 0,
            ends: code & 16 != 0,
        }
    }

    /// As fine as either.
    pub(super) fn or(self, other: Fineness) -> Fineness {
        Fineness {
            releases: self.releases || other.releases,
            drops: self.drops || other.drops,
            queues: self.queues || other.queues,
            ends: self.ends || other.ends,
            own: self.own || other.own,
        }
    }
}

/// An execution of which can be told what happens.
pub trait Told: Run {
    /// What an event does, and where.
    fn tell(&self, event: &Self::Event) -> (String, String);

    /// The same for people: with what it is about, as far as that is known.
    fn describe(&self, event: &Self::Event) -> (String, String);

    /// What came of the last step, for people, if it says more than the event: the value that was read. Asked once.
    fn came_of_step(&self) -> Option<String>;

    /// What went wrong, once nobody can go on.
    fn failures(&self) -> Vec<Failure>;

    /// What came of it, for people: those that are alike have the same text.
    fn outcome(&self) -> String {
        let failures: Vec<_> = self.failures().iter().map(ToString::to_string).collect();
        match failures.is_empty() {
            true => "all is well".to_owned(),
            false => failures.join("\n"),
        }
    }
}
