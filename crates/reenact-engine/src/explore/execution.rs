//! An execution under exploration: its activities, what each is about to do, and the effects of that.
//!
//! An activity announces every operation here and waits until it is chosen. What it does between two operations cannot
//! be observed by others. So an execution is a sequence of steps, and a step is an operation with everything that
//! follows it up to the next one.

mod activities;
mod actor;
mod controller;
mod drive;
mod enabled;
mod ending;
mod fairness;
mod happening;
mod meeting;
mod messages;
mod state;
mod state_cell;
pub(super) mod view;

use std::{mem::ManuallyDrop, panic::resume_unwind, sync::Arc};

use self::{
    actor::{Awaited, Pending, Phase},
    state::{Announced, State},
    state_cell::{StateCell, StateRef},
};
use super::{
    HERE,
    event::NOTHING,
    failure::Failure,
    fiber::{Fiber, Pause},
    gap::Gap,
    input,
    names::Families,
    supervisor::Supervisor,
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
    state: StateCell,
    /// What it has in common with the other executions of a search.
    pub(in crate::explore) supervisor: Arc<Supervisor>,
    /// How far it has read standard input.
    pub(in crate::explore) input: input::Position,
    /// The object that stands for "no light activity has work".
    pub(in crate::explore) idle: Name,
}

/// The panic payload that unwinds an activity off its stack.
pub(super) struct Leave;

impl Execution {
    pub(super) fn new(supervisor: Arc<Supervisor>) -> Arc<Execution> {
        Arc::new(Execution {
            state: StateCell::new(State::new()),
            supervisor,
            input: input::Position::default(),
            idle: Name::new(),
        })
    }

    /// Borrows the state. Nothing else of the execution may run until the reference is dropped.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn state(&self) -> StateRef<'_> {
        self.state.borrow()
    }

    /// Begins an execution with `main` as its first activity.
    pub(super) fn begin(&self, main: impl FnOnce() + 'static) {
        self.rewind_input();
        self.state().begin_with_main();
        // SAFETY: `main` is `'static`, so it borrows nothing.
        unsafe { self.start(Families::MAIN, main) };
        self.settle();
    }

    /// Begins an execution with `main`, which is already running, as its first activity.
    pub(super) fn begin_with(&self, main: TaskStack) {
        self.state().begin_with_main();
        self.runs_on(Families::MAIN, main);
        self.settle();
    }

    /// Makes a new activity run on this stack, without being chosen.
    fn runs_on(&self, number: u32, stack: TaskStack) {
        let state = &mut *self.state();
        state.actors[number as usize].stack = Some(stack);
        state.ready.push_back(number);
    }

    /// Makes a new activity run `job`, without being chosen.
    ///
    /// # Safety
    ///
    /// What `job` borrows must stay alive until it has run.
    ///
    /// Inlined, and `job` comes last: otherwise what it captures is stored and copied several times, and loading it
    /// right after it was stored takes longer than everything else here.
    #[inline(always)]
    pub(crate) unsafe fn start(&self, number: u32, job: impl FnOnce()) {
        let job = ManuallyDrop::new(job);
        if let Some(fiber) = self.new_stack(number) {
            // SAFETY: The fiber is alive, since nothing runs that could end it, and has no job. The caller guarantees
            // that what `job` borrows stays alive until it has run.
            unsafe { (*fiber).give(ManuallyDrop::into_inner(job)) };
        } else {
            drop(ManuallyDrop::into_inner(job));
        }
    }

    /// Returns a stack that is ready to run a new activity, without a job; none if there is no memory for it.
    fn new_stack(&self, number: u32) -> Option<*const Fiber> {
        let state = &mut *self.state();
        match state.fibers.take() {
            Ok(fiber) => {
                let stack = &raw const *fiber;
                state.actors[number as usize].stack = Some(TaskStack::Fiber(fiber));
                state.ready.push_back(number);
                Some(stack)
            }
            Err(error) => {
                let who = state.families.name(number);
                state.interrupt();
                state.actors[number as usize].phase = Phase::Ended;
                self.supervisor.note(no_stack(&who, &error));
                None
            }
        }
    }

    /// Runs the activities that need not be chosen, until all of them wait.
    #[inline]
    fn settle(&self) {
        while !self.state().is_settled() {
            let ready = self.state().ready.pop_front();
            if let Some(number) = ready {
                self.resume(number);
                continue;
            }
            let task = self.state().tasks.pop_front();
            if let Some(task) = task {
                match task {
                    Ok(stack) => self.run_task(stack),
                    Err(error) => {
                        self.state().interrupt();
                        self.supervisor.note(no_stack("a light activity", &error));
                    }
                }
            } else if !self.unblock() {
                return;
            }
        }
    }

    /// Makes those blocked activities ready whose condition has become true. Returns whether any is ready.
    fn unblock(&self) -> bool {
        let born = self.state().born;
        for number in 0..born {
            let phase = self.state().actors[number as usize].phase;
            let Phase::Blocked(until) = phase else {
                continue;
            };
            // SAFETY: The blocked activity has the closure on its stack.
            if unsafe { (*until)() } {
                let state = &mut *self.state();
                state.actors[number as usize].phase = Phase::Runs;
                state.ready.push_back(number);
            }
        }
        !self.state().ready.is_empty()
    }

    /// Runs an activity until it waits.
    ///
    /// Inlined: the processor predicts each place that switches stacks by its own past, and does not predict the return
    /// from a function that has switched.
    #[inline(always)]
    fn resume(&self, number: u32) {
        let end = match &mut self.state().actors[number as usize].stack {
            Some(stack) => stack.end(),
            None => return,
        };
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

    #[inline(always)]
    fn run(&self, number: u32, end: StackHandle) -> Pause {
        self.state().switch_to(number, end);
        HERE.set(self);
        // SAFETY: The caller or the actor keeps the stack, and it does not run: it was found waiting.
        let pause = unsafe { end.resume() };
        HERE.set(std::ptr::null());
        stand_up();
        pause
    }

    /// Handles a stack that has ended, or that has turned out to belong to another activity while it ran.
    fn has_paused(&self, pause: Pause, stack: Option<TaskStack>) {
        let state = &mut *self.state();
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
    ///
    /// Inlined: each return from a function after a switch of stacks is mispredicted.
    #[inline(always)]
    fn wait(&self) {
        let (number, running) = self.state().running();
        aside_explored(|| {
            if let Some(running) = running {
                // SAFETY: The calling code runs on this stack.
                unsafe { running.wait() };
            }
        });
        if self.state().continues(number) {
            leave();
        }
    }

    /// Announces the operation that `say` fills in, for the current activity. Returns when it is the activity's turn:
    /// as far as others can observe, the operation has then happened.
    ///
    /// Inlined, and `say` only borrows or copies: otherwise its captures are stored and copied at each operation, and
    /// loading them right after they were stored costs more than the rest of the announcement.
    #[inline(always)]
    fn announce(&self, say: impl FnOnce(&mut Pending)) {
        if self.may_announce() && self.state().fill_in(say) {
            self.wait_to_be_chosen();
        }
    }

    /// Returns whether an operation is to be announced. Leaves the execution if it is ending.
    #[inline]
    fn may_announce(&self) -> bool {
        if self.state().is_ending {
            leave();
            return false;
        }
        if is_attempting() {
            self.cannot_go_on("an operation within a transaction");
            return false;
        }
        true
    }

    /// Ends the execution, because the current activity does something that cannot be explored. Returns only while the
    /// execution unwinds its activities.
    #[cold]
    pub(in crate::explore) fn cannot_go_on(&self, what: &str) {
        let who = self.current_name();
        self.supervisor
            .note(Gap::Unsupported(format!("{what} ({who})")));
        self.state().interrupt();
        self.wait();
    }

    /// Returns when the operation that has been filled in has been chosen. Inlined, like [`wait`](Execution::wait).
    #[inline(always)]
    fn wait_to_be_chosen(&self) {
        let next = match self.state().announces() {
            Announced::Performed => return,
            Announced::Waits(next) => next,
        };
        if let Some(next) = next
            && self.choose_own(next)
        {
            return;
        }
        self.wait();
    }

    /// Parks the current activity until there is nothing to wait for at this spot.
    fn parks(&self, at: Spot<'_>, awaited: Awaited) {
        if !at.is_over() {
            if self.is_ending() {
                leave();
                return self.block(&|| at.is_over());
            }
            // SAFETY: Only the lifetime changes, and the spot is not used once the activity continues.
            let at = unsafe { std::mem::transmute::<Spot<'_>, Spot<'static>>(at) };
            self.state().parks(Phase::Parked(at, awaited));
            self.wait();
        }
        let state = &mut *self.state();
        if state.moment.is_some()
            && let Spot::Latch(latch) = at
            && let Some(latch) = latch.moment()
        {
            state.inherit_latch(latch);
        }
    }

    /// Unparks the activities that wait at this spot. They continue after what the current activity has done.
    fn unparks(&self, at: Spot<'_>) {
        let state = &mut *self.state();
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
                    state.inherit_now(number);
                }
                state.parked -= 1;
                state.actors[number as usize].phase = Phase::Runs;
                state.ready.push_back(number);
            }
        }
    }

    /// Ends the execution: unwinds all activities.
    pub(super) fn end(&self) {
        self.note_repetitions();
        self.state().is_ending = true;
        let mut left = self.state().stacks();
        while left > 0 {
            // Children first: they may borrow from their parents.
            let born = self.state().born;
            for number in (0..born).rev() {
                self.resume(number);
            }
            let still_left = self.state().stacks();
            if still_left == left {
                break;
            }
            left = still_left;
        }
        let born = self.state().born;
        for number in 0..born {
            let kept = self.state().actors[number as usize].ends();
            // Outside the state: what a model keeps may perform operations when it is dropped.
            drop(kept);
        }
    }

    /// Drops the activities when there will be no more executions. What identifies an activity refers to the execution
    /// that runs it.
    pub(super) fn close(&self) {
        let actors = std::mem::take(&mut self.state().actors);
        drop(actors);
        self.rewind_input();
    }
}

fn no_stack(who: &str, error: &std::io::Error) -> Gap {
    Gap::Unsupported(format!("a stack for {who} cannot be allocated: {error}"))
}

/// Unwinds the current activity off its stack, unless it is already unwinding.
#[cold]
fn leave() {
    if !std::thread::panicking() {
        resume_unwind(Box::new(Leave));
    }
}
