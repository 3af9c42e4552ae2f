//! A function that can be run many times, implementing the interface of the strategies.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::Arc,
};

use reenact_explore::{Activity, Divergence, Links, Moment, Run, Runs, Step, Verdict};

use super::{
    event::Event,
    execution::{Execution, Leave},
    failure::Failure,
    listen_to_panics,
    names::Families,
    objects::names_of,
    subject::{Describe, Granularity, Subject},
    supervisor::Supervisor,
};
use crate::{ObjectName, activity::begin_explored, mode, seeds, site::Site};

/// The keys of hash maps while a program is explored.
pub(super) const KEYS: [u64; 2] = [0x7265_656e_6163_7421, 0x6578_706c_6f72_6521];

/// A program that is explored on the thread that created this value.
///
/// Its type is the same for all programs, so that strategies are not compiled again for each of them.
pub struct Explored {
    shared: Rc<Shared>,
    /// The body of the first activity.
    main: Rc<dyn Fn()>,
}

/// What the executions of a program share.
struct Shared {
    execution: Arc<Execution>,
    is_running: Cell<bool>,
}

impl Explored {
    /// Creates an explored program. Returns none in a process that is recorded or replayed.
    pub fn new(program: Arc<dyn Fn()>) -> Option<Explored> {
        Explored::supervised(program, Arc::default())
    }

    /// Creates an explored program whose executions this interrupts.
    pub(super) fn supervised(
        program: Arc<dyn Fn()>,
        supervisor: Arc<Supervisor>,
    ) -> Option<Explored> {
        if !mode::begin_exploring() {
            return None;
        }
        listen_to_panics();
        seeds::set(KEYS);
        seeds::give_to_worker();
        supervisor.enter();
        let execution = Execution::new(supervisor);
        let inside = Arc::clone(&execution);
        let main = move || {
            begin_explored(Families::MAIN);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| program()))
                && !panic.is::<Leave>()
            {
                inside.is_missed(Families::MAIN, true);
            }
        };
        Some(Explored {
            shared: Rc::new(Shared {
                execution,
                is_running: Cell::new(false),
            }),
            main: Rc::new(main),
        })
    }
}

impl Subject for Explored {
    fn name(&self, activity: Activity) -> String {
        self.shared.execution.state().families.name(activity.0)
    }

    fn find(&self, name: &str) -> Option<Activity> {
        let families = &self.shared.execution.state().families;
        families.find(name).map(Activity)
    }

    fn object_names(&self, events: &[Event]) -> Vec<Option<ObjectName>> {
        let state = &mut *self.shared.execution.state();
        names_of(events, &state.names, &state.families)
    }

    fn granularity(&self) -> Granularity {
        self.shared.execution.state().granularity
    }

    fn refine(&self, granularity: Granularity) {
        self.shared.execution.state().refine(granularity);
    }

    fn be_fair(&self) {
        self.shared.execution.state().is_fair = true;
    }

    fn want_labels(&self, are_wanted: bool) {
        self.shared.execution.state().wants_labels = are_wanted;
    }

    fn allow_blocked(&self, are_allowed: bool) {
        self.shared.execution.state().allows_blocked = are_allowed;
    }

    fn wake_spuriously(&self, most: u32) {
        self.shared.execution.state().spurious_wakeups = most;
    }

    fn supervisor(&self) -> &Supervisor {
        &self.shared.execution.supervisor
    }
}

impl Drop for Explored {
    fn drop(&mut self) {
        self.shared.execution.close();
        self.shared.execution.supervisor.leave();
        mode::end_exploring();
    }
}

impl Runs for Explored {
    type Event = Event;
    type Run = LocalRun;

    fn start(&self) -> LocalRun {
        let shared = Rc::clone(&self.shared);
        assert!(
            !shared.is_running.replace(true),
            "one execution after the other"
        );
        let main = Rc::clone(&self.main);
        shared.execution.begin(move || main());
        LocalRun(shared)
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        a.is_dependent(b, &self.shared.execution.state().names)
    }
}

/// An execution that has begun.
pub struct LocalRun(Rc<Shared>);

impl LocalRun {
    /// Returns the execution that this process is.
    pub(super) fn of_process(execution: Arc<Execution>) -> LocalRun {
        let is_running = Cell::new(true);
        LocalRun(Rc::new(Shared {
            execution,
            is_running,
        }))
    }
}

impl LocalRun {
    /// Ends the execution if its time is up.
    #[inline]
    fn check_time(&self) {
        let execution = &self.0.execution;
        if execution.supervisor.is_interrupted() {
            execution.state().interrupt();
        }
    }
}

impl Describe for LocalRun {
    fn name(&self, event: &Event) -> (String, String) {
        (event.op.name().to_owned(), Site::text(event.line()))
    }

    fn describe(&self, event: &Event) -> (String, String) {
        event.text(&self.0.execution.state().families)
    }

    fn step_result(&self) -> Option<String> {
        self.0.execution.state().step_result.take()
    }

    fn failures(&self) -> Vec<Failure> {
        let state = &mut *self.0.execution.state();
        // When the main activity of a whole process has ended, its exit status shows whether it failed.
        match state.is_process && state.main_has_ended {
            true => Vec::new(),
            false => state.failures(),
        }
    }
}

impl Run for LocalRun {
    type Event = Event;

    #[inline]
    fn activities(&self) -> u32 {
        self.0.execution.state().activities()
    }

    fn pending(&self, activity: Activity) -> Option<Event> {
        self.0.execution.state().pending(activity.0).cloned()
    }

    #[inline]
    fn is_enabled(&self, activity: Activity) -> bool {
        let state = &mut *self.0.execution.state();
        !state.has_exited && state.is_enabled(activity.0)
    }

    #[inline]
    fn candidates(&self) -> u32 {
        self.0.execution.state().about_to_act.len() as u32
    }

    #[inline]
    fn candidate(&self, index: u32) -> Activity {
        self.0.execution.state().about_to_act[index as usize]
    }

    #[inline]
    fn choices(&self, activity: Activity) -> u32 {
        self.0.execution.state().choices(activity.0)
    }

    #[inline]
    fn step(&mut self, step: Step) {
        self.0.execution.step(step);
        self.check_time();
    }

    fn go_on(&mut self, next: &mut dyn FnMut(&Self) -> Option<Step>) {
        let this = &*self;
        this.0.execution.go_on(&mut || {
            this.check_time();
            next(this)
        });
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Event {
        let event = self.0.execution.step_at(step, moment, links);
        self.check_time();
        event
    }

    fn repeat(
        &mut self,
        steps: &mut dyn Iterator<Item = (Step, &Event)>,
    ) -> Result<(), Divergence> {
        self.0.execution.repeat(self, steps)
    }

    fn links(&self, activity: Activity, links: &mut Links) {
        self.0.execution.state().links(activity.0, links);
    }

    fn verdict(&self) -> Verdict {
        self.0.execution.state().verdict()
    }
}

impl Drop for LocalRun {
    fn drop(&mut self) {
        if !self.0.execution.state().is_process {
            self.0.execution.end();
        }
        self.0.is_running.set(false);
    }
}
