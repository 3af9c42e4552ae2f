//! A program that can be run again and again, as those who explore see it.

use std::{
    cell::Cell,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::Arc,
};

use reenact_multiverse::{
    Activity,
    explore::{Changed, Links, Moment, Run, Runs, Step, Verdict},
};

use super::{
    event::Event,
    failure::Failure,
    listen_to_panics,
    names::Families,
    objects::names_of,
    subject::{Fineness, Subject, Told},
    world::{Leave, World},
};
use crate::{ObjectName, activity::begin_explored, mode, seeds, site::Site};

/// The keys of maps while a program is explored.
pub(super) const KEYS: [u64; 2] = [0x7265_656e_6163_7421, 0x6578_706c_6f72_6521];

/// A program that is explored, by the thread that made this.
pub struct Explored<F> {
    shared: Rc<Shared>,
    /// Its first activity.
    main: Rc<dyn Fn()>,
    program: PhantomData<F>,
}

/// What the executions of a program share.
struct Shared {
    world: Arc<World>,
    is_running: Cell<bool>,
}

impl<F: Fn() + 'static> Explored<F> {
    /// A program. None in a process that is recorded or replayed.
    pub fn new(program: Arc<F>) -> Option<Explored<F>> {
        if !mode::begin_exploring() {
            return None;
        }
        listen_to_panics();
        seeds::set(KEYS);
        seeds::give_to_worker();
        let world = World::new();
        let inside = Arc::clone(&world);
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
                world,
                is_running: Cell::new(false),
            }),
            main: Rc::new(main),
            program: PhantomData,
        })
    }
}

impl<F: Fn() + 'static> Subject for Explored<F> {
    fn name(&self, activity: Activity) -> String {
        self.shared.world.state().families.name(activity.0)
    }

    fn find(&self, name: &str) -> Option<Activity> {
        let families = &self.shared.world.state().families;
        families.find(name).map(Activity)
    }

    fn object_names(&self, events: &[Event]) -> Vec<Option<ObjectName>> {
        let state = self.shared.world.state();
        names_of(events, &state.names, &state.families)
    }

    fn was_too_coarse(&self) -> bool {
        self.shared.world.was_too_coarse()
    }

    fn fineness(&self) -> Fineness {
        self.shared.world.state().fineness
    }

    fn refine(&self, fineness: Fineness) {
        self.shared.world.state().refine(fineness);
    }

    fn want_labels(&self, are_wanted: bool) {
        self.shared.world.state().wants_labels = are_wanted;
    }
}

impl<F> Drop for Explored<F> {
    fn drop(&mut self) {
        self.shared.world.close();
        mode::end_exploring();
    }
}

impl<F: Fn() + 'static> Runs for Explored<F> {
    type Event = Event;
    type Run = Execution;

    fn start(&self) -> Execution {
        let shared = Rc::clone(&self.shared);
        assert!(
            !shared.is_running.replace(true),
            "one execution after the other"
        );
        let main = Rc::clone(&self.main);
        shared.world.begin(move || main());
        Execution(shared)
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        a.is_dependent(b, &self.shared.world.state().names)
    }
}

/// An execution that has begun.
pub struct Execution(Rc<Shared>);

impl Execution {
    /// The one that this process is.
    pub(super) fn of_process(world: Arc<World>) -> Execution {
        let is_running = Cell::new(true);
        Execution(Rc::new(Shared { world, is_running }))
    }
}

impl Told for Execution {
    fn tell(&self, event: &Event) -> (String, String) {
        (event.op.name().to_owned(), Site::text(event.line()))
    }

    fn describe(&self, event: &Event) -> (String, String) {
        event.text(&self.0.world.state().families)
    }

    fn came_of_step(&self) -> Option<String> {
        self.0.world.state().came_of.take()
    }

    fn failures(&self) -> Vec<Failure> {
        let state = self.0.world.state();
        // What a process ends with, it says itself.
        match state.is_whole && state.main_has_ended {
            true => Vec::new(),
            false => state.failures(),
        }
    }
}

impl Run for Execution {
    type Event = Event;

    #[inline]
    fn activities(&self) -> u32 {
        self.0.world.state().activities()
    }

    fn pending(&self, activity: Activity) -> Option<Event> {
        self.0.world.state().pending(activity.0).cloned()
    }

    #[inline]
    fn is_enabled(&self, activity: Activity) -> bool {
        let state = self.0.world.state();
        !state.has_exited && state.is_enabled(activity.0)
    }

    #[inline]
    fn about_to_act(&self) -> Option<&[Activity]> {
        Some(&self.0.world.state().about_to_act)
    }

    #[inline]
    fn choices(&self, activity: Activity) -> u32 {
        self.0.world.state().choices(activity.0)
    }

    #[inline]
    fn step(&mut self, step: Step) {
        self.0.world.step(step);
    }

    fn go_on(&mut self, next: &mut dyn FnMut(&Self) -> Option<Step>) {
        let this = &*self;
        this.0.world.go_on(&mut || next(this));
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Event {
        self.0.world.step_at(step, moment, links)
    }

    fn repeat(&mut self, steps: &mut dyn Iterator<Item = (Step, &Event)>) -> Result<(), Changed> {
        self.0.world.repeat(self, steps)
    }

    fn links(&self, activity: Activity, links: &mut Links) {
        self.0.world.state().links(activity.0, links);
    }

    fn verdict(&self) -> Verdict {
        self.0.world.state().verdict()
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        if !self.0.world.state().is_whole {
            self.0.world.end();
        }
        self.0.is_running.set(false);
    }
}
