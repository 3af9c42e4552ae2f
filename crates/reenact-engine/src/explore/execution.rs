//! An execution under exploration: its activities, what each is about to do, and the effects of that.
//!
//! An activity announces every operation here and waits until it is chosen. What it does between two operations cannot
//! be observed by others. So an execution is a sequence of steps, and a step is an operation with everything that
//! follows it up to the next one.

mod actor;
mod controller;
mod drive;
mod ending;
mod happening;
mod meeting;
mod messages;
mod state;
pub(super) mod view;

use std::{cell::UnsafeCell, panic::resume_unwind, sync::Arc};

use reenact_explore::{Activity, Step};

use self::{
    actor::{Awaited, Pending, Phase},
    state::{Chosen, State},
};
use super::{
    HERE,
    event::NOTHING,
    failure::Failure,
    fiber::Pause,
    names::Families,
    task_stack::{StackHandle, TaskStack},
};
use crate::{
    Name, Spot,
    activity::{aside_explored, stand_up},
    is_attempting,
};

/// An execution, and what is kept for the next one.
///
/// Always in an [`Arc`].
pub(crate) struct Execution {
    state: UnsafeCell<State>,
    /// The object that stands for "no light activity has work".
    pub(in crate::explore) idle: Name,
}

// SAFETY: Only one thread at a time uses an execution: the one that explores, or the one that has the turn.
unsafe impl Send for Execution {}
// SAFETY: Only one thread at a time uses an execution, so shared references are not used concurrently.
unsafe impl Sync for Execution {}

/// The panic payload that unwinds an activity off its stack.
pub(super) struct Leave;

impl Execution {
    pub(super) fn new() -> Arc<Execution> {
        Arc::new(Execution {
            state: UnsafeCell::new(State::new()),
            idle: Name::new(),
        })
    }

    /// Returns the state. The reference must not be kept while anything else runs.
    #[expect(clippy::mut_from_ref)]
    #[inline]
    pub(crate) fn state(&self) -> &mut State {
        // SAFETY: Only one thread at a time uses the execution, and no reference is kept across a switch of fibers.
        unsafe { &mut *self.state.get() }
    }

    /// Begins an execution with `main` as its first activity.
    pub(super) fn begin(&self, main: impl FnOnce() + 'static) {
        let state = self.state();
        state.begin();
        state.born(Families::MAIN, "");
        // SAFETY: `main` is `'static`, so it borrows nothing.
        unsafe { self.start(Families::MAIN, main) };
        self.settle();
    }

    /// Begins an execution with `main`, which is already running, as its first activity.
    pub(super) fn begin_with(&self, main: TaskStack) {
        let state = self.state();
        state.begin();
        state.born(Families::MAIN, "");
        state.actors[Families::MAIN as usize].stack = Some(main);
        state.ready.push_back(Families::MAIN);
        self.settle();
    }

    /// Makes a new activity run `job`, without being chosen.
    ///
    /// # Safety
    ///
    /// What `job` borrows must stay alive until it has run.
    #[inline]
    pub(crate) unsafe fn start(&self, number: u32, job: impl FnOnce()) {
        let state = self.state();
        // SAFETY: The caller guarantees that what `job` borrows stays alive until it has run.
        match unsafe { state.fibers.with(job) } {
            Ok(fiber) => {
                state.actors[number as usize].stack = Some(TaskStack::Fiber(fiber));
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

    /// Runs the activities that need not be chosen, until all of them wait.
    #[inline]
    fn settle(&self) {
        while !self.state().is_settled() {
            if let Some(number) = self.state().ready.pop_front() {
                self.resume(number);
            } else if let Some(task) = self.state().tasks.pop_front() {
                match task {
                    Ok(stack) => self.run_task(stack),
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

    /// Makes those blocked activities ready whose condition has become true. Returns whether any is ready.
    fn unblock(&self) -> bool {
        let state = self.state();
        for number in 0..state.born {
            let Phase::Blocked(until) = state.actors[number as usize].phase else {
                continue;
            };
            // SAFETY: The blocked activity has the closure on its stack.
            if unsafe { (*until)() } {
                state.actors[number as usize].phase = Phase::Runs;
                state.ready.push_back(number);
            }
        }
        !state.ready.is_empty()
    }

    /// Runs an activity until it waits.
    #[inline]
    fn resume(&self, number: u32) {
        let state = self.state();
        let Some(stack) = &mut state.actors[number as usize].stack else {
            return;
        };
        let end = stack.end();
        match self.run(number, end) {
            Pause::Waits if self.state().current == number => {}
            pause => {
                let stack = self.state().actors[number as usize].stack.take();
                self.has_paused(pause, stack);
            }
        }
    }

    /// Runs a task that says itself which activity it is.
    fn run_task(&self, mut stack: TaskStack) {
        let pause = self.run(NOTHING, stack.end());
        self.has_paused(pause, Some(stack));
    }

    #[inline]
    fn run(&self, number: u32, end: StackHandle) -> Pause {
        let state = self.state();
        state.current = number;
        state.running = Some(end);
        HERE.set(self);
        // SAFETY: The caller or the actor keeps the stack, and it does not run: it was found waiting.
        let pause = unsafe { end.resume() };
        HERE.set(std::ptr::null());
        stand_up();
        pause
    }

    /// Handles a stack that has ended, or that has turned out to belong to another activity while it ran.
    fn has_paused(&self, pause: Pause, stack: Option<TaskStack>) {
        let state = self.state();
        let number = state.current;
        let actor = state.actors.get_mut(number as usize);
        match (pause, actor) {
            (Pause::Waits, Some(actor)) => actor.stack = stack,
            // It belongs to no activity and is never resumed.
            (Pause::Waits, None) => drop(stack),
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
                if let Some(TaskStack::Fiber(fiber)) = stack {
                    state.fibers.put_back(fiber);
                }
            }
        }
    }

    /// Returns control to the driver until the current activity is resumed.
    #[inline]
    fn wait(&self) {
        let state = self.state();
        let number = state.current;
        let running = state.running;
        aside_explored(|| {
            if let Some(running) = running {
                // SAFETY: The calling code runs on this stack.
                unsafe { running.wait() };
            }
        });
        let state = self.state();
        state.current = number;
        if state.is_ending {
            leave();
        }
    }

    /// Announces the operation that `say` fills in, for the current activity. Returns when it is the activity's turn:
    /// as far as others can observe, the operation has then happened.
    #[inline]
    fn announce(&self, say: impl FnOnce(&mut Pending)) {
        let state = self.state();
        if state.is_ending {
            return leave();
        }
        assert!(
            !is_attempting(),
            "exploration does not support operations within a transaction"
        );
        let number = state.current;
        let Some(actor) = state.actors.get_mut(number as usize) else {
            // It was created before the exploration began.
            return;
        };
        actor.phase = Phase::Pending;
        say(&mut actor.pending);
        if state.wants_labels {
            actor.pending.find_line();
        }
        if actor.counts_first_operation() {
            state.families.meet_foreign(number);
        }
        state.about_to_act.push(Activity(number));
        // All fibers share the thread's panic count, so others would find themselves panicking. Therefore an activity
        // that panics continues as long as it can.
        if std::thread::panicking() && state.is_enabled(number) {
            state.perform(Step::from(Activity(number)));
            let met = state.actors[number as usize].pending.event.touches();
            state.unwinding.extend(met);
            return;
        }
        if let Some(next) = state.next
            && state.is_settled()
        {
            self.choose(next);
            let chosen = &mut self.state().chosen;
            if *chosen == Chosen::This(number) {
                *chosen = Chosen::NotYet;
                return;
            }
        }
        self.wait();
    }

    /// Parks the current activity until there is nothing to wait for at this spot.
    fn parks(&self, at: Spot<'_>, awaited: Awaited) {
        let state = self.state();
        if !at.is_over() {
            if state.is_ending {
                leave();
                return self.block(&|| at.is_over());
            }
            // SAFETY: Only the lifetime changes, and the spot is not used once the activity continues.
            let at = unsafe { std::mem::transmute::<Spot<'_>, Spot<'static>>(at) };
            state.actors[state.current as usize].phase = Phase::Parked(at, awaited);
            state.parked += 1;
            self.wait();
        }
        let state = self.state();
        if state.moment.is_some()
            && let Spot::Latch(latch) = at
            && let Some(latch) = latch.moment()
        {
            state.inherits_latch(latch);
        }
    }

    /// Unparks the activities that wait at this spot. They continue after what the current activity has done.
    fn unparks(&self, at: Spot<'_>) {
        let state = self.state();
        if let Spot::Latch(latch) = at
            && let Some(number) = state.latch()
        {
            latch.note_moment(number);
        }
        if state.parked == 0 {
            return;
        }
        let address = at.address();
        for number in 0..state.born {
            if let Phase::Parked(spot, _) = state.actors[number as usize].phase
                && spot.address() == address
            {
                if let Spot::Parker(_) = at {
                    state.inherits_now(number);
                }
                state.parked -= 1;
                state.actors[number as usize].phase = Phase::Runs;
                state.ready.push_back(number);
            }
        }
    }

    /// Ends the execution: unwinds all activities.
    pub(super) fn end(&self) {
        let state = self.state();
        state.is_ending = true;
        let mut left = state.stacks();
        while left > 0 {
            // Children first: they may borrow from their parents.
            for number in (0..self.state().born).rev() {
                self.resume(number);
            }
            let still_left = self.state().stacks();
            if still_left == left {
                break;
            }
            left = still_left;
        }
        let state = self.state();
        for actor in &mut state.actors[..state.born as usize] {
            actor.stack = None;
            actor.phase = Phase::Ended;
            actor.kept = None;
        }
    }

    /// Drops the activities when there will be no more executions. What identifies an activity refers to the execution
    /// that runs it.
    pub(super) fn close(&self) {
        self.state().actors.clear();
    }
}

/// Unwinds the current activity off its stack, unless it is already unwinding.
#[cold]
fn leave() {
    if !std::thread::panicking() {
        resume_unwind(Box::new(Leave));
    }
}
