//! Finding out that nobody moves any more, where that is not known from who waits for what.
//!
//! A thread may wait in a place that the engine does not know: for a lock of the standard library, for the end of a
//! thread that is destroying its thread-locals, for input. The system knows. If for a while no thread of the process has
//! run, and each of them sleeps until another thread of it does something, nothing will ever happen again. This looks
//! at that a few times a second; whoever waits for its turn is woken without it.
//!
//! Threads are looked at one after the other, and on a busy machine that takes a while: one that was asleep may be woken
//! by one that is asleep when it is looked at later. So it counts only if no thread has begun or ceased to run from before
//! the first look until after the last. See [`Moves`].

use std::{
    fs,
    sync::{Arc, Weak, mpsc},
    thread,
    time::Duration,
};

use rustix::time::ClockId;

use super::Replay;
use crate::pool::{is_resting_place, is_work_queued};

/// How often to look.
const PERIOD: Duration = Duration::from_millis(50);
/// After so many looks without a change it is worth asking what the threads are doing.
const STILL: u32 = 4;
/// So often everybody is found asleep with a task in a queue before it is clear that no worker will take it: one that is on
/// the lookout has looked at the queues in between.
const IN_VAIN: u32 = 20;

/// Starts to watch this process; whether that worked. Without it, a replay that differs may hang, but that is no reason not
/// to try.
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
    // Signals are for the program. SAFETY: Sets on this stack; only this thread's mask changes, and back.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let watched = watch().is_ok();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        // A thread that is about to start while another runs out of stack never does: the standard library sees to that.
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
        before = now;
        let Some(replay) = replay.upgrade() else {
            return;
        };
        through = match replay.everybody_is_through() {
            true => through + PERIOD,
            false => Duration::ZERO,
        };
        let aborting = replay.see_to_abort();
        let done_before = std::mem::replace(&mut done, aborting.then(|| replay.done()));
        idle = match aborting && done == done_before {
            true => idle + PERIOD,
            false => Duration::ZERO,
        };
        let waits = still >= STILL && nobody_moves(aborting);
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
    /// How often they began or ceased to run.
    switches: i64,
    /// How long they ran.
    ran: Duration,
}

impl Moves {
    /// Whether nobody has moved in between: who runs all the time is not switched.
    fn is_close_to(self, before: Moves) -> bool {
        self.switches == before.switches && self.ran.abs_diff(before.ran) < Duration::from_millis(1)
    }
}

/// How often threads other than the calling one have been switched. Exact: if two answers are equal, no thread has ceased to
/// run from the first to the second.
fn switches_of_others() -> i64 {
    let switches = |of| {
        // SAFETY: A place for the answer, which is plain numbers.
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
        // A switch of this thread in between would be taken for none of another's.
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

/// Whether every other thread waits for another, and did so all the time while that was found out.
///
/// Whoever moves was able to run before the first look, or was woken by one that was. It runs when it is looked at, and then
/// it does not wait; or it has ceased to run by then, and that is counted.
fn nobody_moves(aborting: bool) -> bool {
    let before = switches_of_others();
    everybody_waits_for_another(aborting) && switches_of_others() == before
}

/// Whether every other thread sleeps in a futex without a time limit, or as a worker does that has nothing to do, or until
/// there is a signal and we know that there will be none. No if the system does not say.
fn everybody_waits_for_another(aborting: bool) -> bool {
    let me = rustix::thread::gettid().as_raw_nonzero().to_string();
    let Ok(threads) = fs::read_dir("/proc/self/task") else {
        return false;
    };
    threads
        .flatten()
        .filter(|thread| thread.file_name() != *me)
        .all(|thread| {
            let call = fs::read_to_string(thread.path().join("syscall")).unwrap_or_default();
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
