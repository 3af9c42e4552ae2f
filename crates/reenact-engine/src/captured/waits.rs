//! Waits with a time limit that are not operations: those of libraries, and of the standard library.
//!
//! What ends such a wait is not recorded, only that there was one and whether it timed out: the readings of the clock
//! around it need not be the recorded ones (`replay/library.rs`). In a replay, a time limit that the program computed
//! from recorded readings is converted to real time ([`super::shifted`]). If the recorded thread was woken, or did not have
//! to wait, the limit is extended: a replay may be slower, and a machine so busy that the thread that wakes it gets no
//! processor.
//!
//! Captured are the waits of `syscall(SYS_futex, …)`, those of POSIX threads and semaphores, and `poll` and `epoll_wait`
//! with their variants. The limits of the latter, and of `FUTEX_WAIT`, are durations, which need no conversion. Sleeps
//! until a time, and timers that are file descriptors, are converted too. Waits that the C library makes on its own
//! behalf cannot be captured, nor system calls without the C library.

use std::{
    ffi::{c_int, c_void},
    time::Duration,
};

use libc::{clockid_t, timespec};

use super::{
    clock::{CLOCK_IDS, REALTIME, nanoseconds, read, timespec_of},
    is_captured,
    real::{self, Real},
    shifted::{ShiftedClocks, base_of},
};
use crate::{
    Heard, Question,
    activity::{Hot, NOBODY, with_controlled},
    attempt::is_attempting,
    external::{is_played, untracked},
    kernel::{self, OwnTime},
    mode::{self, Mode},
    record,
};

/// How much longer a thread that was woken may wait than its time limit: so many times that, ...
const LONGER: u64 = 4;
/// ... but no more than this. It may not be woken at all: the waits of a replay need not be the recorded ones.
const LONGEST: Duration = Duration::from_secs(10);
/// How much longer it then waits while other threads want to run, in their time ([`OwnTime`]), ...
const WHILE_OTHERS_RUN: Duration = Duration::from_secs(2);
/// ... in waits of this length.
const AT_A_TIME: Duration = Duration::from_millis(20);

/// What the time limit of a wait is.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// A time of this captured clock.
    At(usize),
    /// A time of this clock of the system.
    AtTimeOf(clockid_t),
    /// A time of a clock that is not known.
    AtSomeTime,
    /// A duration.
    After,
    /// Something that is ready, or a duration. In a replay, it may never be ready.
    Ready,
}

/// Whether a wait that has timed out may begin again as if it had not ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// What it waits for may have happened before, and is not missed.
    Yes,
    /// It would miss what happens in between: a condition variable.
    No,
}

impl Until {
    /// Returns the captured clock that a time limit is a time of.
    fn clock(self, clocks: &ShiftedClocks, time: &timespec) -> Option<usize> {
        match self {
            Until::At(index) => Some(index),
            Until::AtTimeOf(clock) => base_of(clock),
            Until::AtSomeTime => Some(clocks.closest(nanoseconds(time))),
            Until::After | Until::Ready => None,
        }
    }

    /// Returns the real time limit.
    fn real(self, clocks: &ShiftedClocks, time: &timespec, was_woken: bool) -> timespec {
        let mut limit = nanoseconds(time);
        let mut left = limit;
        if let Some(index) = self.clock(clocks, time) {
            // Never before the clock's zero, which the kernel would reject.
            limit = (clocks.real(index, limit) as i64).max(0) as u64;
            left = limit.saturating_sub(read(CLOCK_IDS[index]).unwrap_or(0));
        }
        if was_woken && !matches!(self, Until::Ready) {
            let longer = left.saturating_mul(LONGER);
            limit = limit.saturating_add(longer.min(LONGEST.as_nanos() as u64));
        }
        timespec_of(limit.min(i64::MAX as u64))
    }

    /// Returns the real time limit of a wait for so long from now.
    fn after(self, clocks: &ShiftedClocks, time: &timespec, duration: Duration) -> timespec {
        let index = self.clock(clocks, time);
        let now = index.map_or(0, |index| read(CLOCK_IDS[index]).unwrap_or(0));
        timespec_of(now.saturating_add(duration.as_nanos() as u64))
    }
}

/// Returns whether the calling thread runs an activity, and waits on its behalf.
fn is_wait_of_activity() -> bool {
    Hot::token() != NOBODY && is_captured() && !is_attempting()
}

/// Waits until `time`, a time limit of this kind. No limit if it is null.
///
/// # Safety
///
/// `time` is null or refers to a time.
pub(super) unsafe fn timed<R>(
    until: Until,
    again: Again,
    time: *const timespec,
    mut wait: impl FnMut(*const timespec) -> R,
    has_timed_out: impl Fn(&R) -> bool,
) -> R {
    // SAFETY: The caller guarantees that it is valid or null.
    let Some(limit) = (unsafe { time.as_ref() }) else {
        return wait(time);
    };
    match mode::byte() {
        mode if mode == Mode::Record as u8 && is_wait_of_activity() => {
            let result = wait(time);
            let errno = real::errno();
            record::waited(has_timed_out(&result));
            real::set_errno(errno);
            result
        }
        mode if mode >= Mode::Replay as u8 && is_wait_of_activity() && is_played() => {
            let recorded = with_controlled(|me| {
                let recorded = me.controller.outside(&me.activity, Question::Wait);
                // If it did not wait here, what this wait is for had happened before.
                let was_woken = !matches!(recorded, Some(Heard::TimedOut(true)));
                (until.real(&me.clocks, limit, was_woken), was_woken)
            });
            let Some((real, was_woken)) = recorded else {
                return wait(time);
            };
            let result = wait(&real);
            if was_woken && again == Again::Yes && has_timed_out(&result) {
                while_others_run(until, limit, result, wait, has_timed_out)
            } else {
                result
            }
        }
        _ => wait(time),
    }
}

/// Goes on with a wait that has timed out, although the recorded one was woken, as long as threads that may be about to
/// wake it want to run. Returns the result of the last wait.
#[cold]
fn while_others_run<R>(
    until: Until,
    limit: &timespec,
    mut result: R,
    mut wait: impl FnMut(*const timespec) -> R,
    has_timed_out: impl Fn(&R) -> bool,
) -> R {
    let mut own_time = untracked(OwnTime::starts);
    let mut waited = Duration::ZERO;
    while waited < WHILE_OTHERS_RUN && has_timed_out(&result) {
        let errno = real::errno();
        if !untracked(kernel::somebody_could_run) {
            real::set_errno(errno);
            break;
        }
        let next = with_controlled(|me| until.after(&me.clocks, limit, AT_A_TIME));
        let Some(next) = next else {
            break;
        };
        result = wait(&next);
        let errno = real::errno();
        waited += untracked(|| own_time.passed(AT_A_TIME));
        real::set_errno(errno);
    }
    result
}

/// Returns the real time for a time at which the calling thread wants something to happen; `None` if it is that time.
fn converted(until: Until, time: &timespec) -> Option<timespec> {
    let is_of_replay = mode::byte() >= Mode::Replay as u8 && is_wait_of_activity() && is_played();
    is_of_replay
        .then(|| with_controlled(|me| until.real(&me.clocks, time, false)))
        .flatten()
}

/// Defines functions of the C library that wait until the time in their last argument.
macro_rules! waits_until_a_time {
    ($($name:ident = $c:literal ($($argument:ident: $type:ty),*) $until:expr, $again:expr, $timed_out:expr;)*) => {
        $(
            /// The C library's function of this name, captured.
            ///
            /// # Safety
            ///
            /// As for the C library's function.
            #[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
            unsafe extern "C" fn $name($($argument: $type,)* time: *const timespec) -> c_int {
                type Function = unsafe extern "C" fn($($type,)* *const timespec) -> c_int;
                static REAL: Real = Real::new($c);
                // SAFETY: The function of this name has this type.
                let Some(real) = (unsafe { real::function::<Function>(&REAL) }) else {
                    return libc::ENOSYS;
                };
                // SAFETY: The caller fulfils the conditions of the C library's function.
                unsafe { timed($until, $again, time, |time| real($($argument,)* time), $timed_out) }
            }
        )*

        /// Makes sure that these functions are linked.
        fn link_waits_until_a_time() {
            $(std::hint::black_box($name as *const ());)*
        }
    };
}

fn returns_timed_out(&result: &c_int) -> bool {
    result == libc::ETIMEDOUT
}

fn fails_with_timed_out(&result: &c_int) -> bool {
    result < 0 && real::errno() == libc::ETIMEDOUT
}

waits_until_a_time! {
    pthread_cond_timedwait = c"pthread_cond_timedwait" (condition: *mut c_void, mutex: *mut c_void)
        Until::AtSomeTime, Again::No, returns_timed_out;
    pthread_cond_clockwait = c"pthread_cond_clockwait" (condition: *mut c_void, mutex: *mut c_void, clock: clockid_t)
        Until::AtTimeOf(clock), Again::No, returns_timed_out;
    pthread_mutex_timedlock = c"pthread_mutex_timedlock" (mutex: *mut c_void)
        Until::At(REALTIME), Again::Yes, returns_timed_out;
    pthread_mutex_clocklock = c"pthread_mutex_clocklock" (mutex: *mut c_void, clock: clockid_t)
        Until::AtTimeOf(clock), Again::Yes, returns_timed_out;
    pthread_rwlock_timedrdlock = c"pthread_rwlock_timedrdlock" (lock: *mut c_void)
        Until::At(REALTIME), Again::Yes, returns_timed_out;
    pthread_rwlock_timedwrlock = c"pthread_rwlock_timedwrlock" (lock: *mut c_void)
        Until::At(REALTIME), Again::Yes, returns_timed_out;
    pthread_rwlock_clockrdlock = c"pthread_rwlock_clockrdlock" (lock: *mut c_void, clock: clockid_t)
        Until::AtTimeOf(clock), Again::Yes, returns_timed_out;
    pthread_rwlock_clockwrlock = c"pthread_rwlock_clockwrlock" (lock: *mut c_void, clock: clockid_t)
        Until::AtTimeOf(clock), Again::Yes, returns_timed_out;
    pthread_timedjoin_np = c"pthread_timedjoin_np" (thread: libc::pthread_t, result: *mut *mut c_void)
        Until::At(REALTIME), Again::Yes, returns_timed_out;
    pthread_clockjoin_np = c"pthread_clockjoin_np" (thread: libc::pthread_t, result: *mut *mut c_void, clock: clockid_t)
        Until::AtTimeOf(clock), Again::Yes, returns_timed_out;
    sem_timedwait = c"sem_timedwait" (semaphore: *mut c_void)
        Until::At(REALTIME), Again::Yes, fails_with_timed_out;
    sem_clockwait = c"sem_clockwait" (semaphore: *mut c_void, clock: clockid_t)
        Until::AtTimeOf(clock), Again::Yes, fails_with_timed_out;
}

/// Makes sure that the functions of this module are linked.
pub(super) fn link() {
    link_waits_until_a_time();
    std::hint::black_box((
        clock_nanosleep as *const (),
        timerfd_settime as *const (),
        poll as *const (),
        ppoll as *const (),
        epoll_wait as *const (),
        epoll_pwait as *const (),
    ));
}

/// The C library's `clock_nanosleep`, captured. How long a thread sleeps is its own matter, unlike how long it waits.
///
/// # Safety
///
/// As for the C library's function.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    type Function = unsafe extern "C" fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int;
    static REAL: Real = Real::new(c"clock_nanosleep");
    // SAFETY: The function of this name has this type. The caller guarantees that the time is valid or null.
    let (real, limit) = unsafe { (real::function::<Function>(&REAL), time.as_ref()) };
    let Some(real) = real else {
        return libc::ENOSYS;
    };
    let is_time = flags & libc::TIMER_ABSTIME != 0;
    let limit = limit
        .filter(|_| is_time)
        .and_then(|limit| converted(Until::AtTimeOf(clock), limit));
    let time = limit.as_ref().map_or(time, std::ptr::from_ref);
    // SAFETY: The caller fulfils the conditions of the C library's function, and our time is valid.
    unsafe { real(clock, flags, time, left) }
}

/// The C library's `timerfd_settime`, captured.
///
/// # Safety
///
/// As for the C library's function.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
unsafe extern "C" fn timerfd_settime(
    timer: c_int,
    flags: c_int,
    new: *const libc::itimerspec,
    old: *mut libc::itimerspec,
) -> c_int {
    type Function =
        unsafe extern "C" fn(c_int, c_int, *const libc::itimerspec, *mut libc::itimerspec) -> c_int;
    static REAL: Real = Real::new(c"timerfd_settime");
    // SAFETY: The function of this name has this type. The caller guarantees that the time is valid or null.
    let (real, wanted) = unsafe { (real::function::<Function>(&REAL), new.as_ref()) };
    let Some(real) = real else {
        real::set_errno(libc::ENOSYS);
        return -1;
    };
    // A time of zero disarms the timer.
    let is_time = |wanted: &&libc::itimerspec| {
        flags & libc::TFD_TIMER_ABSTIME != 0 && nanoseconds(&wanted.it_value) != 0
    };
    let converted = wanted.filter(is_time).and_then(|wanted| {
        let it_value = converted(Until::AtSomeTime, &wanted.it_value)?;
        Some(libc::itimerspec {
            it_value,
            ..*wanted
        })
    });
    let new = converted.as_ref().map_or(new, std::ptr::from_ref);
    // SAFETY: The caller fulfils the conditions of the C library's function, and our time is valid.
    unsafe { real(timer, flags, new, old) }
}

/// Returns a time limit that was given in milliseconds; negative means none.
fn milliseconds(limit: c_int) -> Option<timespec> {
    let limit = u64::try_from(limit).ok()?;
    Some(timespec_of(limit * 1_000_000))
}

/// Defines functions of the C library that wait until something is ready, or some time has passed.
macro_rules! waits_until_ready {
    ($($name:ident = $c:literal ($($argument:ident: $type:ty),*), $limit:expr;)*) => {$(
        /// The C library's function of this name, captured.
        ///
        /// # Safety
        ///
        /// As for the C library's function.
        #[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            type Function = unsafe extern "C" fn($($type),*) -> c_int;
            static REAL: Real = Real::new($c);
            // SAFETY: The function of this name has this type.
            let Some(real) = (unsafe { real::function::<Function>(&REAL) }) else {
                real::set_errno(libc::ENOSYS);
                return -1;
            };
            let limit: Option<timespec> = $limit;
            let time = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: The caller fulfils the conditions of the C library's function. The time is null or on this stack.
            unsafe { timed(Until::Ready, Again::No, time, |_| real($($argument),*), |&result| result == 0) }
        }
    )*};
}

waits_until_ready! {
    poll = c"poll" (files: *mut c_void, count: libc::nfds_t, limit: c_int), milliseconds(limit);
    ppoll = c"ppoll" (files: *mut c_void, count: libc::nfds_t, limit: *const timespec, signals: *const c_void),
        // SAFETY: The caller guarantees that it is valid or null.
        unsafe { limit.as_ref() }.copied();
    epoll_wait = c"epoll_wait" (queue: c_int, events: *mut c_void, count: c_int, limit: c_int), milliseconds(limit);
    epoll_pwait = c"epoll_pwait"
        (queue: c_int, events: *mut c_void, count: c_int, limit: c_int, signals: *const c_void), milliseconds(limit);
}
