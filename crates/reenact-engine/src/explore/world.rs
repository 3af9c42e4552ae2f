//! An execution under exploration: its activities, what each is about to do, and what that would mean.
//!
//! Whoever runs an activity comes here before every operation, says what it is about to do, and waits until it is chosen.
//! What it does until then next time is its own business: others cannot see it. So an execution is a sequence of steps, and a step is
//! an operation with all that follows it up to the next one.

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

use reenact_multiverse::{Activity, explore::Step};

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
    strand::{Strand, StrandEnd},
};
use crate::{
    Name, Spot,
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
    pub(crate) fn state(&self) -> &mut State {
        // SAFETY: One thread, and no reference is kept across a switch of fibers.
        unsafe { &mut *self.state.get() }
    }

    /// Begins an execution with this as its first activity.
    pub(super) fn begin(&self, main: impl FnOnce() + 'static) {
        let state = self.state();
        state.begin();
        state.born(Families::MAIN, "");
        // SAFETY: It borrows nothing.
        unsafe { self.start(Families::MAIN, main) };
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
    ///
    /// # Safety
    ///
    /// What it borrows is there until it has been done.
    #[inline]
    pub(crate) unsafe fn start(&self, number: u32, job: impl FnOnce()) {
        let state = self.state();
        // SAFETY: The caller's.
        match unsafe { state.fibers.with(job) } {
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
    #[inline]
    fn settle(&self) {
        while !self.state().is_settled() {
            if let Some(number) = self.state().ready.pop_front() {
                self.resume(number);
            } else if let Some(task) = self.state().tasks.pop_front() {
                match task {
                    Ok(strand) => self.run_task(strand),
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
    #[inline]
    fn resume(&self, number: u32) {
        let state = self.state();
        let Some(strand) = &mut state.actors[number as usize].strand else {
            return;
        };
        let end = strand.end();
        match self.run(number, end) {
            Pause::Waits if self.state().current == number => {}
            pause => {
                let strand = self.state().actors[number as usize].strand.take();
                self.has_paused(pause, strand);
            }
        }
    }

    /// Lets something run that says itself which activity it is.
    fn run_task(&self, mut strand: Strand) {
        let pause = self.run(NOTHING, strand.end());
        self.has_paused(pause, Some(strand));
    }

    #[inline]
    fn run(&self, number: u32, end: StrandEnd) -> Pause {
        let state = self.state();
        state.current = number;
        state.running = Some(end);
        HERE.set(self);
        // SAFETY: It is kept by the caller, or by the actor, and does not run: it has been found waiting.
        let pause = unsafe { end.resume() };
        HERE.set(std::ptr::null());
        stand_up();
        pause
    }

    /// The activity that ran has ended, or is found to be another only now.
    fn has_paused(&self, pause: Pause, strand: Option<Strand>) {
        let state = self.state();
        let number = state.current;
        let actor = state.actors.get_mut(number as usize);
        match (pause, actor) {
            (Pause::Waits, Some(actor)) => actor.strand = strand,
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
                if let Some(Strand::Fiber(fiber)) = strand {
                    state.fibers.put_back(fiber);
                }
            }
        }
    }

    /// Gives the thread back until the activity that runs is resumed.
    #[inline]
    fn wait(&self) {
        let state = self.state();
        let number = state.current;
        let running = state.running;
        aside_explored(|| {
            if let Some(running) = running {
                // SAFETY: The calling code is what runs.
                unsafe { running.wait() };
            }
        });
        let state = self.state();
        state.current = number;
        if state.is_ending {
            leave();
        }
    }

    /// The activity that runs is about to do what `say` says. Returns when it is its turn: it has happened, as far as others
    /// are concerned.
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
            // It was made before anything was explored.
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
        // Others would find that they panic: so who does goes on as long as it can.
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

    /// The activity that runs goes on when there is nothing to wait for at this spot.
    fn parks(&self, at: Spot<'_>, awaited: Awaited) {
        let state = self.state();
        if !at.is_over() {
            if state.is_ending {
                leave();
                return self.block(&|| at.is_over());
            }
            // SAFETY: Only the lifetime changes, and nobody looks at it once the activity goes on.
            let at = unsafe { std::mem::transmute::<Spot<'_>, Spot<'static>>(at) };
            state.actors[state.current as usize].phase = Phase::Parked(at, awaited);
            state.parked += 1;
            self.wait();
        }
        let state = self.state();
        if state.moment.is_some()
            && let Spot::Fact(fact) = at
            && let Some(fact) = fact.moment()
        {
            state.inherits_fact(fact);
        }
    }

    /// Those who wait at this spot go on, after what the activity that runs has done.
    fn unparks(&self, at: Spot<'_>) {
        let state = self.state();
        if let Spot::Fact(fact) = at
            && let Some(number) = state.fact()
        {
            fact.note_moment(number);
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
            actor.kept = None;
        }
    }

    /// There will be no more executions. What activities are known by refers to what runs them.
    pub(super) fn close(&self) {
        self.state().actors.clear();
    }
}

/// Makes the activity that runs leave its stack, unless it does already.
#[cold]
fn leave() {
    if !std::thread::panicking() {
        resume_unwind(Box::new(Leave));
    }
}
