//! A program that can be run again and again, as those who explore see it.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use reenact_multiverse::{
    Activity,
    explore::{Links, Moment, Run, Runs, Step, Verdict},
};

use super::{
    event::Event,
    failure::Failure,
    listen_to_panics,
    names::Families,
    subject::{Subject, Told},
    world::{Leave, World},
};
use crate::{activity::begin_explored, mode, seeds};

/// The keys of maps while a program is explored.
const KEYS: [u64; 2] = [0x7265_656e_6163_7421, 0x6578_706c_6f72_6521];

/// A program that is explored, by the thread that made this.
pub struct Explored<F> {
    world: Arc<World>,
    program: Arc<F>,
    is_running: Arc<Cell<bool>>,
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
        Some(Explored {
            world: World::new(),
            program,
            is_running: Arc::default(),
        })
    }
}

impl<F: Fn() + 'static> Subject for Explored<F> {
    fn name(&self, activity: Activity) -> String {
        self.world.state().families.name(activity.0)
    }

    fn find(&self, name: &str) -> Option<Activity> {
        self.world.state().families.find(name).map(Activity)
    }

    fn was_too_coarse(&self) -> bool {
        self.world.was_too_coarse()
    }
}

impl<F> Drop for Explored<F> {
    fn drop(&mut self) {
        self.world.close();
        mode::end_exploring();
    }
}

impl<F: Fn() + 'static> Runs for Explored<F> {
    type Event = Event;
    type Run = Execution;

    fn start(&self) -> Execution {
        assert!(
            !self.is_running.replace(true),
            "one execution after the other"
        );
        let program = Arc::clone(&self.program);
        let world = Arc::clone(&self.world);
        let inside = Arc::clone(&self.world);
        world.begin(Box::new(move || {
            begin_explored(Families::MAIN);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| program()))
                && !panic.is::<Leave>()
            {
                inside.is_missed(Families::MAIN, true);
            }
        }));
        Execution {
            world,
            is_running: Arc::clone(&self.is_running),
        }
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        a.is_dependent(b, &self.world.state().names)
    }
}

/// An execution that has begun.
pub struct Execution {
    world: Arc<World>,
    is_running: Arc<Cell<bool>>,
}

impl Told for Execution {
    fn tell(&self, event: &Event) -> (String, String) {
        (event.op.name().to_owned(), event.site.to_string())
    }

    fn failures(&self) -> Vec<Failure> {
        self.world.state().failures()
    }
}

impl Run for Execution {
    type Event = Event;

    fn activities(&self) -> u32 {
        self.world.state().activities()
    }

    fn pending(&self, activity: Activity) -> Option<Event> {
        self.world.state().pending(activity.0).cloned()
    }

    fn is_enabled(&self, activity: Activity) -> bool {
        self.world.state().is_enabled(activity.0)
    }

    fn choices(&self, activity: Activity) -> u32 {
        self.world.state().choices(activity.0)
    }

    fn step(&mut self, step: Step) {
        self.world.step(step);
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Event {
        self.world.step_at(step, moment, links)
    }

    fn links(&self, activity: Activity, links: &mut Links) {
        self.world.state().links(activity.0, links);
    }

    fn verdict(&self) -> Verdict {
        self.world.state().verdict()
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        self.world.end();
        self.is_running.set(false);
    }
}
