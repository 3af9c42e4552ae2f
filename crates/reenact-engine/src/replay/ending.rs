//! The end of a replayed process.
//!
//! The recorded process ended while its other activities were somewhere. In a replay the one that ends the process may
//! be ahead of them, so it waits until they have come to where they were.

use std::{
    sync::{
        Arc, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use super::{
    Replay, Runner,
    cursor::Next,
    stillness,
    waiting::{Asleep, Waiting},
};
use crate::{
    Entity,
    activity::{self, HOT, NOBODY},
    mode,
    pool::{ask_until_told, can_be_put_aside, nothing_else_is_ready},
    raw::{self, Parker},
};

/// The replay of this process, for the handlers below.
static REPLAY: OnceLock<Arc<Replay>> = OnceLock::new();
/// Whether the process is ending, so that nobody else declares the end.
static EXITING: AtomicBool = AtomicBool::new(false);
/// Whether that has been waited for long enough.
static MAY_EXIT: AtomicU32 = AtomicU32::new(0);
/// By whom, if not in the usual way: a token.
static ABORTING: AtomicU32 = AtomicU32::new(0);
/// How many of those who are awake are the one who ends the process.
static ENDING_IT: AtomicU32 = AtomicU32::new(0);

/// Whether the process is ending.
pub(super) fn is_exiting() -> bool {
    EXITING.load(SeqCst)
}

/// Wakes whose turn it is at this entity now.
#[cold]
pub(super) fn wake(entity: &Entity) {
    if let Some(replay) = REPLAY.get() {
        replay.turns.wake(entity);
    }
}

/// Arranges that exits and aborts wait for the other activities.
pub(super) fn watch(replay: &Arc<Replay>) {
    if REPLAY.set(Arc::clone(replay)).is_err() {
        return;
    }
    /// None in a child made by `fork`, which comes here too.
    fn of_this_process() -> Option<&'static Arc<Replay>> {
        REPLAY.get().filter(|_| mode::is_controlled())
    }
    extern "C" fn at_exit() {
        if let Some(replay) = of_this_process() {
            EXITING.store(true, SeqCst);
            activity::with_controlled(|_| ());
            activity::leave();
            replay.wait_for_others();
        }
    }
    // May run on the little stack that there is for a thread that has used up its own, so others do the work.
    extern "C" fn at_abort(signal: libc::c_int) {
        if of_this_process().is_some() {
            let token = HOT.with(|hot| hot.token.get());
            ENDING_IT.store((token != NOBODY).into(), SeqCst);
            EXITING.store(true, SeqCst);
            ABORTING.store(token, SeqCst);
            let may_exit = || (MAY_EXIT.load(SeqCst) != 0).then_some(());
            if can_be_put_aside() {
                // Some of the others are this worker's. A task that overflows its stack does not come here.
                ask_until_told(may_exit);
            }
            while may_exit().is_none() {
                raw::sleep_on(&MAY_EXIT, 0);
            }
        }
        // SAFETY: Both calls are allowed in a signal handler; the signal then does what it does by default.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    if !stillness::watch(replay) {
        // Nobody will see to an abort.
        MAY_EXIT.store(1, SeqCst);
    }
    // SAFETY: At its exit a program may do anything; the handler of the signal touches atomics and futexes only, unless it is
    // called by a task, of its own accord.
    unsafe {
        libc::atexit(at_exit);
        libc::signal(libc::SIGABRT, at_abort as *const () as libc::sighandler_t);
    }
}

impl Replay {
    /// The thread of this activity ends although its code has not: the process is being ended by it.
    pub(super) fn exit_begins(&self, runner: &Runner) {
        let mut cursor = runner.cursor();
        let doing = "the program exits";
        self.settle(runner, &mut cursor, doing);
        if let Next::End { .. } = cursor.next {
            if !cursor.exits() {
                self.diverge(runner, &cursor, &cursor.describe(), doing);
            }
            self.load(runner, &mut cursor);
        }
        drop(cursor);
        self.consumed(runner);
        ENDING_IT.store(1, SeqCst);
    }

    /// Sees to a process that aborts, which leaves nothing in a trace: whoever does it is where the recording ends, and the
    /// others come there too. Whether it does.
    pub(super) fn see_to_abort(&self) -> bool {
        let Some(number) = ABORTING.load(SeqCst).checked_sub(1) else {
            return false;
        };
        let runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
        let runner = runners.get(&number).cloned();
        drop(runners);
        // Who aborts with the cursor in use does so in here.
        if let Some(runner) = &runner
            && let Ok(mut cursor) = runner.cursor.try_lock()
        {
            let doing = "the program aborts";
            self.settle(runner, &mut cursor, doing);
            if let Next::End { .. } = cursor.next {
                self.diverge(runner, &cursor, &cursor.describe(), doing);
            }
            self.consumed(runner);
        }
        if self.others_are_there(0) {
            self.may_exit();
        }
        true
    }

    /// Sleeps until all others wait or have ended, having done what the trace has of them. One that has, but does not come
    /// to its next operation, is not waited for much longer: the recorded one was there when the process ended, too.
    fn wait_for_others(&self) {
        if can_be_put_aside() {
            // Some of the others are this worker's.
            return ask_until_told(|| {
                let is_over = MAY_EXIT.load(SeqCst) != 0
                    || (nothing_else_is_ready() && self.others_are_there(1));
                is_over.then_some(())
            });
        }
        loop {
            let awake = self.turns.awake.load(SeqCst);
            if self.others_are_there(0) || MAY_EXIT.load(SeqCst) != 0 {
                return;
            }
            raw::sleep_on(&self.turns.awake, awake);
        }
    }

    /// Whether, as the process ends, all others are where they were when the recorded one did. If they never will be, that
    /// is a difference. So many workers are awake only to ask.
    fn others_are_there(&self, asking: u32) -> bool {
        if !self.turns.nobody_moves(ENDING_IT.load(SeqCst) + asking) {
            return false;
        }
        let through = self.everybody_is_through();
        if !through && self.guests.load(SeqCst) == 0 {
            self.nobody_awake();
        }
        through
    }

    /// Lets who waits for the others end the process.
    fn may_exit(&self) {
        MAY_EXIT.store(1, SeqCst);
        raw::wake_all(&MAY_EXIT);
        raw::wake_all(&self.turns.awake);
    }

    /// Called by an activity that is about to sleep, with what it waits for. It drops what is returned when it goes on.
    pub(super) fn sleeps<'a>(
        &self,
        runner: &'a Runner,
        what: &'a (dyn Fn() -> String + Sync),
    ) -> Asleep<'a> {
        *runner.lock_waiting() = Some(Waiting::new(what));
        // The worker of a task goes on.
        if !can_be_put_aside() {
            self.one_less_awake();
        }
        Asleep(runner)
    }

    pub(super) fn one_less_awake(&self) {
        let awake = self.turns.awake.fetch_sub(1, SeqCst) - 1;
        if EXITING.load(SeqCst) {
            raw::wake_all(&self.turns.awake);
        } else if awake == 0 && self.guests.load(SeqCst) == 0 && self.turns.nobody_moves(0) {
            self.nobody_awake();
        }
    }

    /// For so long everybody has been through with the trace, and `for_good` if nobody can move before another does, says
    /// [`stillness`](super::stillness). That is time enough for what the recorded activities may have done after their
    /// last operation; whatever they do now, they did not do more then. And for so long nobody has done anything that is in
    /// the trace: who aborts in the middle of a panic keeps its worker, and with it others from going on.
    pub(super) fn see_to_end(&self, through: Duration, for_good: bool, idle: Duration) {
        // Where a stack has overflowed, others may not have come as far as they should: std keeps them from starting then.
        let is_through = !through.is_zero() || ABORTING.load(SeqCst) != 0;
        let exiting = EXITING.load(SeqCst);
        let patience = if exiting {
            Duration::from_millis(400)
        } else {
            Duration::from_secs(2)
        };
        let is_too_late = ABORTING.load(SeqCst) != 0 && idle >= Duration::from_secs(2);
        if is_through && exiting && (for_good || through >= patience || is_too_late) {
            self.may_exit();
        } else if for_good || through >= patience {
            self.nobody_awake();
        }
    }

    /// How much of the trace has been done, by those who do not wait.
    pub(super) fn done(&self) -> u64 {
        let runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
        let cursors = runners
            .values()
            .filter_map(|runner| runner.cursor.try_lock().ok());
        cursors.map(|cursor| cursor.position()).sum()
    }

    /// Whether all activities of the trace have come to its end.
    pub(super) fn everybody_is_through(&self) -> bool {
        let runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
        for runner in runners.values() {
            // Who waits for its turn has it locked, and is not through.
            if let Ok(mut cursor) = runner.cursor.try_lock() {
                while cursor.silent_left() == 0 && matches!(cursor.next, Next::Tick { .. }) {
                    self.check(runner, &cursor, &|| "nothing more".to_owned());
                    self.load(runner, &mut cursor);
                }
                if cursor.is_consumed() {
                    self.check(runner, &cursor, &|| "nothing more".to_owned());
                    self.consumed(runner);
                }
            }
        }
        self.unconsumed.load(SeqCst) == 0
    }

    /// The trace has nothing more for this activity: it waits for the end of the process.
    pub(super) fn at_end(&self, runner: &Runner, what: &str) -> ! {
        self.consumed(runner);
        let what = || what.to_owned();
        let _asleep = self.sleeps(runner, &what);
        loop {
            Parker::default().park();
        }
    }
}
