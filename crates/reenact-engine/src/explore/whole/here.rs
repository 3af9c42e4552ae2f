//! The execution that this process is, for one who drives it from within.

use std::sync::Arc;

use reenact_multiverse::{
    Activity,
    explore::{Links, Moment, Run, Runs, Step, Verdict},
};

use crate::explore::{
    Event, World,
    failure::Failure,
    subject::{Subject, Told},
};

/// A program that runs in this process, once.
pub(super) struct Here(pub(super) Arc<World>);

/// It runs.
pub(super) struct Running(Arc<World>);

impl Runs for Here {
    type Event = Event;
    type Run = Running;

    fn start(&self) -> Running {
        Running(Arc::clone(&self.0))
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        a.is_dependent(b, &self.0.state().names)
    }
}

impl Subject for Here {
    fn name(&self, activity: Activity) -> String {
        self.0.state().families.name(activity.0)
    }

    fn find(&self, name: &str) -> Option<Activity> {
        self.0.state().families.find(name).map(Activity)
    }

    fn was_too_coarse(&self) -> bool {
        self.0.was_too_coarse()
    }
}

impl Run for Running {
    type Event = Event;

    fn activities(&self) -> u32 {
        self.0.state().activities()
    }

    fn pending(&self, activity: Activity) -> Option<Event> {
        self.0.state().pending(activity.0).cloned()
    }

    fn is_enabled(&self, activity: Activity) -> bool {
        let state = self.0.state();
        !state.main_has_ended && state.is_enabled(activity.0)
    }

    fn choices(&self, activity: Activity) -> u32 {
        self.0.state().choices(activity.0)
    }

    fn step(&mut self, step: Step) {
        self.0.step(step);
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Event {
        self.0.step_at(step, moment, links)
    }

    fn links(&self, activity: Activity, links: &mut Links) {
        self.0.state().links(activity.0, links);
    }

    fn verdict(&self) -> Verdict {
        self.0.state().verdict()
    }
}

impl Told for Running {
    fn tell(&self, event: &Event) -> (String, String) {
        (event.op.name().to_owned(), event.site.to_string())
    }

    fn failures(&self) -> Vec<Failure> {
        match self.0.state().main_has_ended {
            true => Vec::new(),
            false => self.0.state().failures(),
        }
    }
}
