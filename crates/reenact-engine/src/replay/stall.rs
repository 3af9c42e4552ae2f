//! The stall detector: detects that no thread moves any more, where the engine does not know what each thread waits
//! for.
//!
//! A thread may wait for something that the engine does not know: a lock of the standard library, the end of a thread
//! that is destroying its thread-locals, input. The kernel knows. If for a while no thread of the process has run, and
//! each of them sleeps until another thread of the process acts, nothing will ever happen again. A thread checks this a
//! few times a second; activities that wait for their turn are woken without it.
//!
//! The check inspects one thread after the other, which takes a while on a busy machine: a thread that was asleep may
//! be woken by one that is asleep when it is inspected later. So the result counts only if no thread has started or
//! stopped running from before the first inspection until after the last. See [`Moves`].

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Weak, mpsc},
    thread,
    time::Duration,
};

use rustix::time::ClockId;

use super::Replay;
use crate::pool::{is_resting_place, is_work_queued};

/// How often to check.
const PERIOD: Duration = Duration::from_millis(50);
/// After this many checks without a change, the states of the threads are inspected.
const STILL: u32 = 4;
/// How often all threads must be found asleep while a task is queued before it is certain that no worker will take it.
/// A worker on the lookout has inspected the queues in between.
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
    let mut before = moves_of_others();
    let mut still = 0;
    let mut through = Duration::ZERO;
    let (mut done, mut idle) = (None, Duration::ZERO);
    let mut in_vain = 0;
    loop {
        thread::sleep(PERIOD);
        let now = moves_of_others();
        still = match now.is_close_to(before) {
            true => still + 1,
            false => 0,
        };
        let ran = now.ran.saturating_sub(before.ran);
        before = now;
        let Some(replay) = replay.upgrade() else {
            return;
        };
        through = match replay.everybody_is_through() {
            // Where threads wait for a processor, time passes as fast as they get one.
            true if somebody_could_run() => through + ran.min(PERIOD),
            true => through + PERIOD,
            false => Duration::ZERO,
        };
        let aborting = replay.see_to_abort();
        let done_before = std::mem::replace(&mut done, aborting.then(|| replay.done()));
        idle = match aborting && done == done_before {
            true => idle + PERIOD,
            false => Duration::ZERO,
        };
        let waits = still >= STILL && others().is_some_and(|others| nobody_moves(others, aborting));
        in_vain = match is_work_queued() {
            true => in_vain + u32::from(waits),
            false => 0,
        };
        let for_good = waits && (in_vain == 0 || in_vain >= IN_VAIN);
        replay.see_to_end(through, for_good, idle);
    }
}

/// What threads other than the calling one have done so far.
#[derive(Clone, Copy)]
struct Moves {
    /// How often they started or stopped running.
    switches: i64,
    /// How long they ran.
    ran: Duration,
}

impl Moves {
    /// Whether no thread has moved in between. The running time is needed because a thread that runs all the time is
    /// not switched.
    fn is_close_to(self, before: Moves) -> bool {
        self.switches == before.switches && self.ran.abs_diff(before.ran) < Duration::from_millis(1)
    }
}

/// Returns how often threads other than the calling one have been switched. Exact: if two results are equal, no thread
/// has stopped running between them.
fn switches_of_others() -> i64 {
    let switches = |of| {
        // SAFETY: `usage` is a valid place for the result, which consists of plain numbers.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(of, &mut usage);
            usage
        };
        usage.ru_nvcsw + usage.ru_nivcsw
    };
    loop {
        let own = switches(libc::RUSAGE_THREAD);
        let all = switches(libc::RUSAGE_SELF);
        // A switch of this thread in between would be counted as one of another thread.
        if switches(libc::RUSAGE_THREAD) == own {
            return all - own;
        }
    }
}

fn moves_of_others() -> Moves {
    let ran = |clock| {
        let time = rustix::time::clock_gettime(clock);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    Moves {
        switches: switches_of_others(),
        ran: ran(ClockId::ProcessCPUTime).saturating_sub(ran(ClockId::ThreadCPUTime)),
    }
}

/// Whether these threads, which are all but the calling one, wait for each other, and have done so throughout the
/// check.
///
/// A thread that moves was runnable before the first inspection, or was woken by one that was. If it runs when it is
/// inspected, it does not wait; if it has stopped running by then, the switch is counted.
fn nobody_moves(threads: impl Iterator<Item = PathBuf>, aborting: bool) -> bool {
    let before = switches_of_others();
    everybody_waits_for_another(threads, aborting) && switches_of_others() == before
}

/// Returns the `/proc` directories of all threads but the calling one; `None` if they cannot be read.
fn others() -> Option<impl Iterator<Item = PathBuf>> {
    let me = rustix::thread::gettid().as_raw_nonzero().to_string();
    let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
    let others = threads.filter(move |thread| thread.file_name() != *me);
    Some(others.map(|thread| thread.path()))
}

/// Whether a thread other than the calling one runs, or would if it had a processor.
fn somebody_could_run() -> bool {
    others().is_some_and(|mut others| others.any(|thread| state_of(&thread) == Some('R')))
}

/// Whether each of these threads sleeps in a futex without a time limit, or is an idle worker, or pauses until a signal
/// arrives while the process aborts and none will. False if the kernel does not say.
fn everybody_waits_for_another(mut threads: impl Iterator<Item = PathBuf>, aborting: bool) -> bool {
    threads.all(|thread| {
        if !is_asleep(&thread) {
            return false;
        }
        let call = fs::read_to_string(thread.join("syscall")).unwrap_or_default();
        // The number of the call and its arguments; the third after the address is the time limit.
        let mut fields = call.split_whitespace();
        let number = fields.next().and_then(|number| number.parse().ok());
        match number {
            Some(libc::SYS_futex) => {
                let address = fields.next().and_then(|field| field.strip_prefix("0x"));
                let address = address.and_then(|digits| usize::from_str_radix(digits, 16).ok());
                fields.nth(2) == Some("0x0") || address.is_some_and(is_resting_place)
            }
            #[cfg(target_arch = "x86_64")]
            Some(libc::SYS_pause) => aborting,
            _ => false,
        }
    })
}

/// Whether this thread sleeps. The file `syscall` is not enough: between being woken by another processor and being put
/// into a run queue (the kernel's `TASK_WAKING`, which lasts as long as an interrupt takes to arrive), a thread is
/// still shown in the call in which it slept. Its state is "running" by then.
fn is_asleep(thread: &Path) -> bool {
    state_of(thread) == Some('S')
}

/// Returns the state of this thread, as the kernel abbreviates it; `None` if it is gone.
fn state_of(thread: &Path) -> Option<char> {
    let stat = fs::read_to_string(thread.join("stat")).ok()?;
    // The state follows the name, which is in parentheses and may contain some.
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

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
            let id = rustix::thread::gettid().as_raw_nonzero();
            let place = PathBuf::from(format!("/proc/self/task/{id}"));
            let _ = self.members[me].set((thread::current(), place));
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

        fn places(&self) -> impl Iterator<Item = PathBuf> {
            let members = self.members.iter().filter_map(|member| member.get());
            members.map(|(_, place)| place.clone())
        }
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
            while ring.places().count() < THREADS {
                thread::yield_now();
            }
            // The first thread may have passed the token on before the second had registered.
            ring.wake(ring.holder.load(SeqCst));
            let wrong = (0..3000)
                .filter(|_| nobody_moves(ring.places(), false))
                .count();
            ring.is_held.store(true, SeqCst);
            // Now they all wait.
            while !nobody_moves(ring.places(), false) {
                thread::yield_now();
            }
            ring.is_over.store(true, SeqCst);
            (0..THREADS).for_each(|member| ring.wake(member));
            assert_eq!(wrong, 0);
        });
    }
}
