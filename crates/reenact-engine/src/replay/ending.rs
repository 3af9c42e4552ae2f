//! The end of a replayed process.
//!
//! The recorded process ended while its other activities were at certain points. In a replay, the activity that ends
//! the process may be ahead of them, so it waits until they have reached those points.

use std::{
    sync::{
        Arc, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use super::{
    Replay, Runner,
    cursor::Next,
    stall,
    waiting::{Asleep, WaitReason},
};
use crate::{
    Object,
    activity::{self, HOT, Hot, NOBODY},
    loom::AtomicU32,
    mode,
    pool::{can_be_put_aside, nothing_else_is_ready, poll_until_woken},
    raw::{self, Parker},
};

/// The replay of this process, for the handlers below.
static REPLAY: OnceLock<Arc<Replay>> = OnceLock::new();
/// Whether the process is ending, so that no other thread ends the replay.
static EXITING: AtomicBool = AtomicBool::new(false);
/// Not 0 once the process may end without waiting any longer.
static MAY_EXIT: AtomicU32 = AtomicU32::new(0);
/// The token of the activity that aborts the process; 0 if none does.
static ABORTING: AtomicU32 = AtomicU32::new(0);
/// How many of the awake activities end the process: 0 or 1.
static ENDING_IT: AtomicU32 = AtomicU32::new(0);

/// Whether the process is ending.
pub(super) fn is_exiting() -> bool {
    EXITING.load(SeqCst)
}

/// Settles what this replay has printed, before it ends the process.
pub(super) fn settle_printed() {
    if let Some(replay) = REPLAY.get() {
        replay.settle_printed();
    }
}

/// Wakes the activities whose turn it is at this object.
#[cold]
pub(super) fn wake(object: &Object) {
    if let Some(replay) = REPLAY.get() {
        replay.turns.wake(object);
    }
}

/// Arranges that exits and aborts wait for the other activities.
pub(super) fn watch(replay: &Arc<Replay>) {
    if REPLAY.set(Arc::clone(replay)).is_err() {
        return;
    }
    /// Returns `None` in a forked child, which runs the handlers too.
    fn of_this_process() -> Option<&'static Arc<Replay>> {
        REPLAY.get().filter(|_| mode::is_controlled())
    }
    extern "C" fn at_exit() {
        if let Some(replay) = of_this_process() {
            EXITING.store(true, SeqCst);
            let is_light = Hot::slot().is_some();
            activity::with_controlled(|me| {
                if is_light {
                    replay.exit_begins(replay.runner(&me.activity));
                }
            });
            activity::leave(true);
            replay.wait_for_others();
            replay.settle_printed();
        }
    }
    // May run on the small alternate stack of a thread that has overflowed its own, so the watching thread does the
    // work.
    extern "C" fn at_abort(signal: libc::c_int) {
        if of_this_process().is_some() {
            let token = HOT.with(|hot| hot.token.get());
            ENDING_IT.store((token != NOBODY).into(), SeqCst);
            EXITING.store(true, SeqCst);
            ABORTING.store(token, SeqCst);
            let may_exit = || (MAY_EXIT.load(SeqCst) != 0).then_some(());
            if can_be_put_aside() {
                // Other activities may need this worker. A task that overflows its stack does not come here.
                poll_until_woken(may_exit);
            }
            while may_exit().is_none() {
                raw::sleep_on(&MAY_EXIT, 0);
            }
        }
        // SAFETY: Both calls are allowed in a signal handler; the signal then has its default effect.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    if !stall::watch(replay) {
        // No thread watches for an abort, so an abort does not wait.
        MAY_EXIT.store(1, SeqCst);
    }
    // SAFETY: A handler of `atexit` may do anything. The signal handler only uses atomics and futexes, except in a
    // task, which has called `abort` itself.
    unsafe {
        libc::atexit(at_exit);
        libc::signal(libc::SIGABRT, at_abort as *const () as libc::sighandler_t);
    }
}

impl Replay {
    /// Called when the thread of this activity ends before its code does, or when a light activity exits: the activity
    /// is ending the process.
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
        // The worker of a task counts as awake, not the task.
        ENDING_IT.store((!runner.is_light).into(), SeqCst);
    }

    /// Called when the activity is about to exit. If the recorded one had not come to that when the process ended, or
    /// another one was first, the activity stops here.
    pub(super) fn exits(&self, runner: &Runner) {
        // Recording may have stopped before the program ended, and the trace of a program without operations does not
        // say who has ended it.
        if self.trace.stop().is_some() || self.trace.activities().len() == 0 {
            return;
        }
        let mut cursor = runner.cursor();
        self.resolve_doubt(runner, &mut cursor);
        // A text that the trace has here may be one that exit handlers and destructors print. If the activity should have
        // printed it before, it is seen to be missing at the end.
        self.skip_calls(runner, &mut cursor, &|| "the program exits".to_owned());
        if cursor.is_consumed() && cursor.begun.iter().all(Option::is_none) {
            drop(cursor);
            self.at_end(runner, "the end of the recording, before it exits");
        }
    }

    /// Handles an abort of the process, which leaves nothing in a trace: the aborting activity must be at the end of
    /// its recording, and the others get there too. Returns whether the process is aborting.
    pub(super) fn see_to_abort(&self) -> bool {
        let Some(number) = ABORTING.load(SeqCst).checked_sub(1) else {
            return false;
        };
        let runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
        let runner = runners.get(&number).cloned();
        drop(runners);
        // If the cursor is locked, the activity aborts within the engine.
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

    /// Sleeps until all other activities wait or have ended, having consumed their part of the trace. An activity that
    /// has consumed its part but does not reach its next operation is not waited for much longer: the recorded one had
    /// not reached it either when the process ended.
    fn wait_for_others(&self) {
        if can_be_put_aside() {
            // Other activities may need this worker.
            return poll_until_woken(|| {
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

    /// Whether all other activities have reached the point where they were when the recorded process ended. If they
    /// cannot reach it, the replay diverges. `asking` is the number of workers that are awake only to ask this.
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

    /// Lets the thread that waits for the other activities end the process.
    fn may_exit(&self) {
        self.printed.flush();
        MAY_EXIT.store(1, SeqCst);
        raw::wake_all(&MAY_EXIT);
        raw::wake_all(&self.turns.awake);
    }

    /// Registers what an activity that is about to sleep waits for. The activity drops the result when it goes on.
    pub(super) fn sleeps<'a>(
        &self,
        runner: &'a Runner,
        what: &'a (dyn Fn() -> String + Sync),
    ) -> Asleep<'a> {
        *runner.lock_waiting() = Some(WaitReason::new(what));
        // The worker of a task remains awake.
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

    /// Ends the process or the replay if it is time.
    ///
    /// `through` is for how long all activities have been at the end of the trace; after a while, they have had enough
    /// time to do what the recorded ones may have done after their last operation. `for_good` says that no thread can
    /// move before another does; see [`stall`](super::stall). `idle` is for how long no operation of the trace has been
    /// done: an activity that aborts during a panic keeps its worker, and with it other tasks, from going on.
    pub(super) fn see_to_end(&self, through: Duration, for_good: bool, idle: Duration) {
        // After a stack overflow, other activities may not have got as far as they should: std keeps threads from
        // starting then.
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

    /// The number of operations done by activities that do not wait.
    pub(super) fn done(&self) -> u64 {
        let runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
        let cursors = runners
            .values()
            .filter_map(|runner| runner.cursor.try_lock().ok());
        cursors.map(|cursor| cursor.position()).sum()
    }

    /// Whether all activities of the trace have reached its end.
    pub(super) fn everybody_is_through(&self) -> bool {
        let runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
        for runner in runners.values() {
            // An activity that waits for its turn has its cursor locked, and has not reached the end.
            if let Ok(mut cursor) = runner.cursor.try_lock() {
                while cursor.silent_left() == 0 && matches!(cursor.next, Next::Tick { .. }) {
                    self.check(runner, &cursor, &|| "nothing more".to_owned());
                    self.load(runner, &mut cursor);
                }
                if cursor.is_consumed() {
                    self.check(runner, &cursor, &|| "nothing more".to_owned());
                    self.consumed(runner);
                } else if self.needs_nothing_more(runner, &cursor) {
                    self.consumed(runner);
                }
            }
        }
        self.unconsumed.load(SeqCst) == 0
    }

    /// Parks the activity until the process ends: the trace has nothing more for it.
    pub(super) fn at_end(&self, runner: &Runner, what: &str) -> ! {
        self.consumed(runner);
        let what = || what.to_owned();
        let _asleep = self.sleeps(runner, &what);
        loop {
            Parker::default().park();
        }
    }
}
