//! The stall detector: detects that no thread moves any more, where the engine does not know what each thread waits
//! for.
//!
//! A thread may wait for something that the engine does not know: a lock of the standard library, the end of a thread
//! that is destroying its thread-locals, input. The kernel knows. If for a while no thread of the process has run, and
//! each of them sleeps until another thread of the process acts, nothing will ever happen again. A thread checks this a
//! few times a second; activities that wait for their turn are woken without it.
//!
//! How long nothing has happened proves nothing: on a busy machine, a thread that could run may not get a processor for
//! seconds. Nor does it that each thread has been found asleep: one that was may be woken by one that is not inspected
//! until it sleeps, or has ended. So all threads are inspected twice. If they are the same, and none was switched in
//! between, there is an instant between the two inspections at which all of them slept. See [`nobody_moves`].

use std::{
    sync::{Arc, Weak, mpsc},
    thread,
    time::Duration,
};

use super::Replay;
use crate::{
    kernel::{self, Moves, OwnTime, Sleeping, SystemCall, Thread},
    pool::{is_resting_place, is_work_queued},
};

/// How often to check.
const PERIOD: Duration = Duration::from_millis(50);
/// After this many checks without a change, the states of the threads are inspected.
const STILL: u32 = 4;
/// How often all threads must be found asleep while a task is queued, and no operation done, before it is certain that
/// no worker will take it. A worker on the lookout has inspected the queues in between.
const IN_VAIN: u32 = 20;

/// Starts to watch this process; returns whether that worked. Without it, a diverging replay may hang, but that is no
/// reason not to replay.
pub(super) fn watch(replay: &Arc<Replay>) -> bool {
    let replay = Arc::downgrade(replay);
    let (started, has_started) = mpsc::channel();
    let watch = || {
        thread::Builder::new()
            .name("reenact-still".to_owned())
            .spawn(move || {
                let _ = started.send(());
                look_again_and_again(&replay);
            })
    };
    // The thread blocks all signals: they are for the program. Except for those of probes, which end the process if they are
    // blocked. SAFETY: The sets are on this stack; only this thread's
    // mask changes, and it is restored.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigdelset(&mut all, libc::SIGTRAP);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let watched = watch().is_ok();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        // The standard library never lets a thread start while another reports a stack overflow.
        watched && has_started.recv().is_ok()
    }
}

fn look_again_and_again(replay: &Weak<Replay>) {
    let mut before = Moves::of_others();
    let mut own_time = OwnTime::starts();
    let mut still = 0;
    let mut through = Duration::ZERO;
    let (mut done, mut idle) = (None, Duration::ZERO);
    let (mut done_in_vain, mut in_vain) = (0, 0);
    loop {
        thread::sleep(PERIOD);
        let now = Moves::of_others();
        still = match now.is_close_to(before) {
            true => still + 1,
            false => 0,
        };
        before = now;
        let Some(replay) = replay.upgrade() else {
            return;
        };
        let is_through = replay.everybody_is_through();
        let aborting = replay.see_to_abort();
        let passed = match is_through || aborting {
            true => own_time.passed(PERIOD),
            false => Duration::ZERO,
        };
        through = match is_through {
            true => through + passed,
            false => Duration::ZERO,
        };
        let done_before = std::mem::replace(&mut done, aborting.then(|| replay.done()));
        idle = match aborting && done == done_before {
            true => idle + passed,
            false => Duration::ZERO,
        };
        let waits = still >= STILL && nobody_moves(kernel::others, aborting);
        if waits && is_work_queued() {
            let done = replay.done();
            in_vain = match done == done_in_vain {
                true => in_vain + 1,
                false => 1,
            };
            done_in_vain = done;
        } else if waits {
            in_vain = 0;
        }
        let for_good = waits && (in_vain == 0 || in_vain >= IN_VAIN);
        replay.see_to_end(through, for_good, idle);
    }
}

/// Whether all threads but the calling one wait for each other.
///
/// A thread that has not started when they are listed first is listed the second time, unless it has ended by then; and
/// so is the one that has started it. So all threads that exist at the second listing have been inspected before, and
/// none of them has run until it was inspected again.
fn nobody_moves<I: Iterator<Item = Thread>>(
    mut threads: impl FnMut() -> Option<I>,
    aborting: bool,
) -> bool {
    let mut all_asleep = || {
        let endless = |call: &SystemCall| is_endless(call, aborting);
        let asleep = threads()?.map(|thread| thread.sleeping(endless));
        asleep.collect::<Option<Vec<Sleeping>>>()
    };
    all_asleep().is_some_and(|first| all_asleep() == Some(first))
}

/// Whether a thread that sleeps in this call does so until another thread of the process acts: in a futex without a time
/// limit, as an idle worker, or until a signal arrives while the process aborts and none will.
fn is_endless(call: &SystemCall, aborting: bool) -> bool {
    let [address, operation, _, limit, ..] = call.arguments;
    match call.number {
        libc::SYS_futex if limit != 0 => is_resting_place(address),
        // Those that are not private may be in memory that another process shares.
        libc::SYS_futex => {
            operation & libc::FUTEX_PRIVATE_FLAG as usize != 0 || !kernel::is_shared(address)
        }
        #[cfg(target_arch = "x86_64")]
        libc::SYS_pause => aborting,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        path::{Path, PathBuf},
        sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    };

    use super::*;

    const THREADS: usize = 12;

    /// A token that goes round: its holder passes it on and sleeps.
    #[derive(Default)]
    struct Ring {
        holder: AtomicUsize,
        is_held: AtomicBool,
        is_over: AtomicBool,
        /// By number: the thread, and its directory in `/proc`.
        members: [std::sync::OnceLock<(thread::Thread, PathBuf)>; THREADS],
    }

    impl Ring {
        fn join(&self, me: usize) {
            let _ = self.members[me].set((thread::current(), place_of_this_thread()));
            while !self.is_over.load(SeqCst) {
                if self.holder.load(SeqCst) == me && !self.is_held.load(SeqCst) {
                    let next = (me + 1) % THREADS;
                    self.holder.store(next, SeqCst);
                    self.wake(next);
                }
                thread::park();
            }
        }

        fn wake(&self, member: usize) {
            if let Some((thread, _)) = self.members[member].get() {
                thread.unpark();
            }
        }

        fn threads(&self) -> impl Iterator<Item = Thread> {
            let members = self.members.iter().filter_map(|member| member.get());
            members.map(|(_, place)| Thread::at(place))
        }
    }

    fn place_of_this_thread() -> PathBuf {
        let id = rustix::thread::gettid().as_raw_nonzero();
        PathBuf::from(format!("/proc/self/task/{id}"))
    }

    /// ```text
    /// ring  ── 0 ── 1 ── 2 ── … ── 11 ── 0 ── …   each asleep, but for one
    /// look  ────── 0? ── 1? ── 2? ── …
    /// ```
    #[test]
    fn threads_of_which_one_moves_at_a_time_do_not_all_wait() {
        let ring = Ring::default();
        thread::scope(|scope| {
            for me in 0..THREADS {
                let ring = &ring;
                scope.spawn(move || ring.join(me));
            }
            while ring.threads().count() < THREADS {
                thread::yield_now();
            }
            // The first thread may have passed the token on before the second had registered.
            ring.wake(ring.holder.load(SeqCst));
            let wrong = (0..3000)
                .filter(|_| nobody_moves(|| Some(ring.threads()), false))
                .count();
            ring.is_held.store(true, SeqCst);
            // Now they all wait.
            while !nobody_moves(|| Some(ring.threads()), false) {
                thread::yield_now();
            }
            ring.is_over.store(true, SeqCst);
            (0..THREADS).for_each(|member| ring.wake(member));
            assert_eq!(wrong, 0);
        });
    }

    fn is_asleep(place: &Path) -> bool {
        Thread::at(place).sleeping(|_| true).is_some()
    }

    fn wait_until(happens: impl Fn() -> bool) {
        while !happens() {
            std::hint::spin_loop();
        }
    }

    /// Returns what the detector thinks of two threads of which the second wakes the first, and ends, while they are
    /// inspected.
    ///
    /// ```text
    /// inspection  ── first? ──────────────────────────────── second? (gone)
    /// first       ── asleep, waits for the second ── runs ── …
    /// second      ── runs ─────────────────────── ends
    /// ```
    fn ends_during_the_check() -> bool {
        let (may_end, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let places: [std::sync::OnceLock<PathBuf>; 2] = Default::default();
        let place = |index: usize| places[index].get().map(PathBuf::as_path);
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                places[1].set(place_of_this_thread()).unwrap();
                wait_until(|| may_end.load(SeqCst));
            });
            scope.spawn(|| {
                places[0].set(place_of_this_thread()).unwrap();
                second.join().unwrap();
                wait_until(|| is_over.load(SeqCst));
            });
            wait_until(|| place(1).is_some() && place(0).is_some_and(is_asleep));
            let threads = || {
                let second = std::iter::from_fn(|| {
                    may_end.store(true, SeqCst);
                    wait_until(|| place(1).is_some_and(|place| !place.exists()));
                    None
                });
                Some(place(0).map(Thread::at).into_iter().chain(second))
            };
            let nobody_moves = nobody_moves(threads, false);
            is_over.store(true, SeqCst);
            nobody_moves
        })
    }

    #[test]
    fn a_thread_that_wakes_another_and_ends_during_the_check_is_not_missed() {
        // Mostly it is switched once more before it ends, and so seen without being listed.
        let wrong = (0..50).filter(|_| ends_during_the_check()).count();
        assert_eq!(wrong, 0);
    }
}
