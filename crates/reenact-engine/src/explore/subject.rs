//! What is explored, whatever runs it: a function on fibers, or a whole program in processes of its own.

use reenact_multiverse::{
    Activity,
    explore::{Run, Runs},
};

use super::failure::Failure;

/// Something that is explored, and of which can be told what happens.
pub trait Subject: Runs<Run: Told<Event = Self::Event>> {
    /// The place of an activity in the family tree, as in `main.2.0`.
    fn name(&self, activity: Activity) -> String;

    /// Whose place this is, if it is somebody's so far.
    fn find(&self, name: &str) -> Option<Activity>;

    /// Whether it has been found out, since this was asked last, that more must be told apart than was so far: then what was
    /// explored is not all, and it has to begin again.
    fn was_too_coarse(&self) -> bool;

    /// Whether it is told of messages what they are, in executions that begin from now on. That takes time.
    fn want_labels(&self, are_wanted: bool);
}

/// An execution of which can be told what happens.
pub trait Told: Run {
    /// What an event does, and where.
    fn tell(&self, event: &Self::Event) -> (String, String);

    /// The same for people: with what it is about, as far as that is known.
    fn describe(&self, event: &Self::Event) -> (String, String);

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
