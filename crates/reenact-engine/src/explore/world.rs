//! An execution under exploration: its activities, what each is about to do, and what that would mean.
//!
//! Whoever runs an activity comes here before every operation, says what it is about to do, and waits until it is chosen.
//! What it does until then next time is its own business: others cannot see it. So an execution is a sequence of steps, and a step is
//! an operation with all that follows it up to the next one.

mod actor;
mod conductor;
mod ending;
mod meeting;
mod state;
pub(super) mod view;

use std::{cell::UnsafeCell, panic::resume_unwind, sync::Arc};

use reenact_multiverse::explore::{Links, Moment, Step};

pub use self::meeting::Meeting;
use self::{
    actor::{Pending, Phase},
    state::State,
};
use super::{
    HERE, Name,
    event::{Event, How, NOTHING},
    failure::Failure,
    fiber::{Job, Pause},
    names::Families,
    strand::Strand,
};
use crate::{
    activity::{aside_explored, stand_up},
    is_attempting,
};

/// An execution, and what is kept for the next one.
///
/// Always in an [`Arc`].
pub(crate) struct World {
    state: UnsafeCell<State>,
    /// That there is nothing left to do for light activities.
    pub(in crate::explore) idle: Name,
}

// SAFETY: Used by one thread at a time: the one that explores, or the one that has its turn.
unsafe impl Send for World {}
// SAFETY: As above.
unsafe impl Sync for World {}

/// What is thrown to make an activity leave its stack.
pub(super) struct Leave;

impl World {
    pub(super) fn new() -> Arc<World> {
        Arc::new(World {
            state: UnsafeCell::new(State::new()),
            idle: Name::new(),
        })
    }

    /// The state. Not to be kept while anything else runs.
    #[expect(clippy::mut_from_ref)]
    #[inline]
    pub(super) fn state(&self) -> &mut State {
        // SAFETY: One thread, and no reference is kept across a switch of fibers.
        unsafe { &mut *self.state.get() }
    }

    /// Begins an execution with this as its first activity.
    pub(super) fn begin(&self, main: Job) {
        let state = self.state();
        state.begin();
        state.born(Families::MAIN, "");
        self.start(Families::MAIN, main);
        self.settle();
    }

    /// Begins an execution with this as its first activity, which runs already.
    pub(super) fn begin_with(&self, main: Strand) {
        let state = self.state();
        state.begin();
        state.born(Families::MAIN, "");
        state.actors[Families::MAIN as usize].strand = Some(main);
        state.ready.push_back(Families::MAIN);
        self.settle();
    }

    /// Makes an activity that is born do this, without being chosen.
    pub(super) fn start(&self, number: u32, job: Job) {
        let state = self.state();
        match state.fibers.with(job) {
            Ok(fiber) => {
                state.actors[number as usize].strand = Some(Strand::Fiber(fiber));
                state.ready.push_back(number);
            }
            Err(error) => {
                let who = state.families.name(number);
                state
                    .failures
                    .push(Failure::NoStack(who, error.to_string()));
                state.actors[number as usize].phase = Phase::Ended;
            }
        }
    }

    /// Lets everybody run who needs not be chosen.
    fn settle(&self) {
        loop {
            if let Some(number) = self.state().ready.pop_front() {
                self.resume(number);
            } else if let Some(task) = self.state().tasks.pop_front() {
                match task {
                    Ok(strand) => self.run(NOTHING, strand),
                    Err(error) => {
                        let failure =
                            Failure::NoStack("a light activity".to_owned(), error.to_string());
                        self.state().failures.push(failure);
                    }
                }
            } else if !self.unblock() {
                return;
            }
        }
    }

    /// Lets those go on who wait for something that is no operation, and which is so now. Whether there are any.
    fn unblock(&self) -> bool {
        let state = self.state();
        if state.blocked == 0 {
            return false;
        }
        for number in 0..state.born {
            let Phase::Blocked(until) = state.actors[number as usize].phase else {
                continue;
            };
            // SAFETY: The activity waits with it on its stack.
            if unsafe { (*until)() } {
                state.actors[number as usize].phase = Phase::Runs;
                state.ready.push_back(number);
            }
        }
        !state.ready.is_empty()
    }

    /// Lets an activity run until it waits.
    fn resume(&self, number: u32) {
        let state = self.state();
        if let Some(strand) = state.actors[number as usize].strand.take() {
            self.run(number, strand);
        }
    }

    fn run(&self, number: u32, mut strand: Strand) {
        let state = self.state();
        state.current = number;
        state.waits = Some(strand.waits());
        HERE.set(self);
        let pause = strand.resume();
        HERE.set(std::ptr::null());
        stand_up();
        let state = self.state();
        // A task is found to be this or that activity only when it runs.
        let number = state.current;
        let actor = state.actors.get_mut(number as usize);
        match (pause, actor) {
            (Pause::Waits, Some(actor)) => actor.strand = Some(strand),
            // It is nobody, and waits for ever.
            (Pause::Waits, None) => drop(strand),
            (Pause::Overflowed, actor) => {
                if let Some(actor) = actor {
                    actor.phase = Phase::Ended;
                }
                let who = state.families.name(number);
                state.failures.push(Failure::Overflow(who));
                state.main_has_ended |= number == Families::MAIN;
            }
            (Pause::Done, actor) => {
                if let Some(actor) = actor {
                    actor.phase = Phase::Ended;
                }
                state.main_has_ended |= number == Families::MAIN;
                if let Strand::Fiber(fiber) = strand {
                    state.fibers.put_back(fiber);
                }
            }
        }
    }

    /// Gives the thread back until the activity that runs is resumed.
    fn wait(&self) {
        let state = self.state();
        let number = state.current;
        let waits = state.waits;
        aside_explored(|| {
            if let Some(waits) = waits {
                // SAFETY: The calling code is what runs.
                unsafe { waits.wait() };
            }
        });
        let state = self.state();
        state.current = number;
        if state.is_ending && !std::thread::panicking() {
            resume_unwind(Box::new(Leave));
        }
    }

    /// The activity that runs is about to do something. Returns when it is its turn: it has happened, as far as others are
    /// concerned.
    fn announce(&self, pending: Pending) {
        let state = self.state();
        if state.is_ending {
            if std::thread::panicking() {
                return;
            }
            resume_unwind(Box::new(Leave));
        }
        assert!(
            !is_attempting(),
            "exploration does not support operations within a transaction"
        );
        let number = state.current;
        if number == NOTHING {
            // It was made before anything was explored.
            return;
        }
        let actor = &mut state.actors[number as usize];
        actor.operations += 1;
        actor.phase = Phase::Pending(pending);
        // Others would find that they panic: so who does goes on as long as it can.
        if std::thread::panicking() && state.is_enabled(number) {
            state.perform(Step::from(reenact_multiverse::Activity(number)), None);
            return;
        }
        self.wait();
    }

    /// Takes a step. Of one who cannot go on, nothing happens: it would wait for others on the thread of all.
    pub(super) fn step(&self, step: Step) {
        if !self.state().is_enabled(step.activity.0) {
            return;
        }
        self.state().perform(step, None);
        self.resume(step.activity.0);
        self.settle();
    }

    /// Takes a step, and says what it was and what it comes after.
    pub(super) fn step_at(&self, step: Step, moment: Moment, links: &mut Links) -> Event {
        let state = self.state();
        state.moment = Some(moment);
        let number = step.activity.0;
        if !state.is_enabled(number) {
            let pending = state.pending(number).cloned();
            return pending.unwrap_or_else(Event::nothing);
        }
        let mut event = state.perform(step, Some(links));
        self.resume(number);
        let state = self.state();
        if event.touch.how == How::Transact {
            event.more = state.met(number, links);
        }
        self.settle();
        event
    }

    /// The execution is over: everybody leaves.
    pub(super) fn end(&self) {
        let state = self.state();
        state.is_ending = true;
        let mut left = state.strands();
        while left > 0 {
            // Children first: they may borrow from their parents.
            for number in (0..self.state().born).rev() {
                self.resume(number);
            }
            let still_left = self.state().strands();
            if still_left == left {
                break;
            }
            left = still_left;
        }
        let state = self.state();
        for actor in &mut state.actors[..state.born as usize] {
            actor.strand = None;
            actor.phase = Phase::Ended;
            // They refer to what runs them.
            actor.conducted = None;
            actor.kept = None;
        }
    }
}
