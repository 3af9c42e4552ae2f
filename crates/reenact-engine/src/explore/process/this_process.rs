//! The execution that this process is, driven from within the process.

use std::sync::Arc;

use reenact_explore::{Activity, Runs};

use crate::{
    ObjectName,
    explore::{
        Event, Execution, LocalRun,
        objects::names_of,
        subject::{Granularity, Subject},
        supervisor::Supervisor,
    },
};

/// A program that runs in this process, once.
pub(super) struct ThisProcess(pub(super) Arc<Execution>);

impl Runs for ThisProcess {
    type Event = Event;
    type Run = LocalRun;

    fn start(&self) -> LocalRun {
        LocalRun::of_process(Arc::clone(&self.0))
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        a.is_dependent(b, &self.0.state().names)
    }
}

impl Subject for ThisProcess {
    fn name(&self, activity: Activity) -> String {
        self.0.state().families.name(activity.0)
    }

    fn find(&self, name: &str) -> Option<Activity> {
        self.0.state().families.find(name).map(Activity)
    }

    fn object_names(&self, events: &[Event]) -> Vec<Option<ObjectName>> {
        let state = &mut *self.0.state();
        names_of(events, &state.names, &state.families)
    }

    fn granularity(&self) -> Granularity {
        self.0.state().granularity
    }

    fn refine(&self, granularity: Granularity) {
        self.0.state().refine(granularity);
    }

    fn be_fair(&self) {
        self.0.state().is_fair = true;
    }

    /// Ignored: nothing reads labels here.
    fn want_labels(&self, _are_wanted: bool) {}

    fn allow_blocked(&self, are_allowed: bool) {
        self.0.state().allows_blocked = are_allowed;
    }

    fn wake_spuriously(&self, most: u32) {
        self.0.state().spurious_wakeups = most;
    }

    fn supervisor(&self) -> &Supervisor {
        &self.0.supervisor
    }
}
