//! The execution that this process is, for one who drives it from within.

use std::sync::Arc;

use reenact_multiverse::{Activity, explore::Runs};

use crate::{
    ObjectName,
    explore::{
        Event, Execution, World,
        objects::names_of,
        subject::{Fineness, Subject},
    },
};

/// A program that runs in this process, once.
pub(super) struct Here(pub(super) Arc<World>);

impl Runs for Here {
    type Event = Event;
    type Run = Execution;

    fn start(&self) -> Execution {
        Execution::of_process(Arc::clone(&self.0))
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

    fn object_names(&self, events: &[Event]) -> Vec<Option<ObjectName>> {
        let state = self.0.state();
        names_of(events, &state.names, &state.families)
    }

    fn was_too_coarse(&self) -> bool {
        self.0.was_too_coarse()
    }

    fn fineness(&self) -> Fineness {
        self.0.state().fineness
    }

    fn refine(&self, fineness: Fineness) {
        self.0.state().refine(fineness);
    }

    /// Nobody asks what was done.
    fn want_labels(&self, _are_wanted: bool) {}
}
