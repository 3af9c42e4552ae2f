//! The interface of an explored program, whether it is a function on fibers or a whole program in processes of its own.

use reenact_explore::{Activity, Run, Runs};
use serde::{Deserialize, Serialize};

use super::{failure::Failure, supervisor::Supervisor};
use crate::ObjectName;

/// A program that can be explored and whose events can be described.
pub trait Subject: Runs<Run: Describe<Event = Self::Event>> {
    /// Returns the place of an activity in the family tree, such as `main.2.0`.
    fn name(&self, activity: Activity) -> String;

    /// Returns the activity with this place in the family tree, if it is known so far.
    fn find(&self, name: &str) -> Option<Activity>;

    /// Returns the names of the objects that these events operate on.
    fn object_names(&self, events: &[Self::Event]) -> Vec<Option<ObjectName>>;

    /// Returns how fine its steps are. Steps become finer when an activity does something that makes more actions
    /// observable. Then an exhaustive exploration so far is incomplete, and schedules that were written before
    /// cannot be repeated step by step.
    fn granularity(&self) -> Granularity;

    /// Makes its steps at least this fine.
    fn refine(&self, granularity: Granularity);

    /// Makes activities that repeat operations without any effect let others go first.
    fn be_fair(&self);

    /// Sets whether executions that begin from now on describe messages. This takes time.
    fn want_labels(&self, are_wanted: bool);

    /// Sets whether activities other than the main one may wait forever, except for a lock.
    fn allow_blocked(&self, are_allowed: bool);

    /// Lets so many waits of each activity end without a reason.
    fn wake_spuriously(&self, most: u32);

    /// Returns what its executions have in common with others of the same search.
    fn supervisor(&self) -> &Supervisor;
}

/// How fine the steps of an execution are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Granularity {
    /// Whether a release is a step. Needed once an activity uses a try-lock.
    pub releases: bool,
    /// Whether dropping a sender is a step. Needed once an activity uses a try-receive.
    pub drops: bool,
    /// Whether queueing for exclusive access to a shared lock is a step. Needed once an activity that has a read lock
    /// takes it again, or waits for something while another one takes it.
    pub queues: bool,
    /// Whether the end of an activity is a step. Needed once an activity asks whether another one has ended.
    pub ends: bool,
    /// Whether it is a step that others can observe to begin to wait for several operations of which one is at a channel
    /// without capacity. Needed once two selections may meet, or a selection and an operation that does not wait.
    pub meetings: bool,
    /// Whether actions that no other activity can observe are steps. A debugger may want to stop there.
    pub own: bool,
}

impl Granularity {
    /// Everything that other activities can observe is a step.
    pub(in crate::explore) const FINEST: Granularity = Granularity {
        releases: true,
        drops: true,
        queues: true,
        ends: true,
        meetings: true,
        own: false,
    };

    /// Returns the union of the two.
    #[must_use]
    pub fn or(self, other: Granularity) -> Granularity {
        Granularity {
            releases: self.releases || other.releases,
            drops: self.drops || other.drops,
            queues: self.queues || other.queues,
            ends: self.ends || other.ends,
            meetings: self.meetings || other.meetings,
            own: self.own || other.own,
        }
    }
}

/// An execution whose events can be described.
pub trait Describe: Run {
    /// Returns what an event does, and where.
    fn name(&self, event: &Self::Event) -> (String, String);

    /// Returns the same for display, including the message if it is known.
    fn describe(&self, event: &Self::Event) -> (String, String);

    /// Returns the result of the last step for display, if it says more than the event: for example, the value that was
    /// read. A local run returns it only once.
    fn step_result(&self) -> Option<String>;

    /// Returns what went wrong, once no activity can continue.
    fn failures(&self) -> Vec<Failure>;

    /// Returns the outcome for display. Equal outcomes have equal text.
    fn outcome(&self) -> String {
        let failures: Vec<_> = self.failures().iter().map(ToString::to_string).collect();
        match failures.is_empty() {
            true => "all is well".to_owned(),
            false => failures.join("\n"),
        }
    }
}
