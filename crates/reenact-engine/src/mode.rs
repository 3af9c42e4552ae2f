//! Which mode the process is in, and how it gets there.
//!
//! The mode is one byte. Off is zero, so that an operation in a program that is not recorded costs a load and a
//! branch that is never taken. It starts as unknown and is settled before `main` ([`crate::captured`]), or by the first
//! operation: there is no `main` to wrap and nothing to link in a certain order.

use std::{
    path::PathBuf,
    sync::{
        Mutex, Once, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
};

use crate::{activity, explore, external::apart, record, replay};

/// What becomes of operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Mode {
    /// They just happen.
    Off = 0,
    /// They happen, and what is not predicted is written down.
    Record = 1,
    /// They just happen, after recording had to stop. Differs from off in that entities are marked: an activity
    /// that has not noticed yet must not go on recording over what others did unrecorded.
    Stopped = 2,
    /// Nobody has looked at the environment yet.
    Unknown = 3,
    /// They happen when the trace says so: controlled by a replay that nobody watches, which lets an activity go on
    /// without asking where the answer is known.
    Replay = 4,
    /// They happen when the controller says so.
    Controlled = 5,
}

/// The mode's byte while somebody explores: threads that take part in that are controlled, all others are off.
const EXPLORING: u8 = 6;

/// The variable of the environment that says which side of a message records it. Part of a trace, unlike our others.
pub(crate) const STRATEGY: &str = "REENACT_STRATEGY";
/// Whether it is the sender's.
const WITH_SENDER: u8 = 1;
/// Whether somebody explores.
const IS_EXPLORED: u8 = 2;
/// Whether somebody keeps a log.
const IS_LOGGED: u8 = 4;
/// What there may be to do about a message that is sent, as bits.
static SENDS: AtomicU8 = AtomicU8::new(0);

/// Whether the order of messages is recorded by those who send them.
#[inline(always)]
pub(crate) fn with_sender() -> bool {
    SENDS.load(Ordering::Relaxed) & WITH_SENDER != 0
}

/// Whether there may be anything to do about a message that is sent.
#[inline(always)]
pub(crate) fn sends_matter() -> bool {
    SENDS.load(Ordering::Relaxed) != 0
}

static MODE: AtomicU8 = AtomicU8::new(Mode::Unknown as u8);
static FROM_ENVIRONMENT: Once = Once::new();

/// The mode's byte, for the fast paths: compare with `Mode::… as u8`.
#[inline(always)]
pub(crate) fn byte() -> u8 {
    MODE.load(Ordering::Relaxed)
}

/// Whether releases have to be told to a controller.
#[inline(always)]
pub(crate) fn is_controlled() -> bool {
    let byte = byte();
    byte >= Mode::Replay as u8 && (byte != EXPLORING || explore::is_here())
}

/// Whether there is a controller that wants to know of operations of which nothing is recorded. A replay that nobody watches
/// does not.
#[inline]
pub(crate) fn is_observed() -> bool {
    byte() >= Mode::Controlled as u8 && is_controlled()
}

pub(crate) fn set(mode: Mode) {
    MODE.store(mode as u8, Ordering::SeqCst);
}

/// How many explorations there are.
static EXPLORATIONS: Mutex<u32> = Mutex::new(0);

/// One more exploration, in a process that is off otherwise; false if it is not.
pub(crate) fn begin_exploring() -> bool {
    settle();
    let mut explorations = EXPLORATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_first = *explorations == 0;
    if is_first && byte() != Mode::Off as u8 {
        return false;
    }
    *explorations += 1;
    be_explored();
    true
}

/// Somebody keeps a log of what happens in this process.
pub(crate) fn be_logged() {
    SENDS.fetch_or(IS_LOGGED, Ordering::SeqCst);
}

/// This process is like any other.
pub(crate) fn be_off() {
    set(Mode::Off);
}

/// Something in this process is explored, or all of it.
pub(crate) fn be_explored() {
    MODE.store(EXPLORING, Ordering::SeqCst);
    SENDS.fetch_or(IS_EXPLORED, Ordering::SeqCst);
}

/// One less.
pub(crate) fn end_exploring() {
    let mut explorations = EXPLORATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    *explorations -= 1;
    if *explorations == 0 {
        SENDS.fetch_and(!IS_EXPLORED, Ordering::SeqCst);
        set(Mode::Off);
    }
}

/// From recording to stopped; nothing if it was not recording.
pub(crate) fn stop_recording() {
    let _ = MODE.compare_exchange(
        Mode::Record as u8,
        Mode::Stopped as u8,
        Ordering::SeqCst,
        Ordering::SeqCst,
    );
}

/// The mode, settled from the environment if nobody did that before.
#[inline]
pub(crate) fn settled() -> Mode {
    loop {
        match settled_if_known() {
            Some(mode) => return mode,
            None => settle(),
        }
    }
}

/// The mode, if somebody has settled it.
#[inline]
pub(crate) fn settled_if_known() -> Option<Mode> {
    match byte() {
        0 => Some(Mode::Off),
        1 => Some(Mode::Record),
        2 => Some(Mode::Stopped),
        4 => Some(Mode::Replay),
        5 => Some(Mode::Controlled),
        EXPLORING if explore::is_here() => Some(Mode::Controlled),
        EXPLORING => Some(Mode::Off),
        _ => None,
    }
}

/// Settles the mode before the API does, so that the environment does not override it later.
pub(crate) fn settle() {
    FROM_ENVIRONMENT.call_once(|| apart(|| {
        if byte() != Mode::Unknown as u8 {
            return;
        }
        let path = std::env::var_os("REENACT_TRACE").map(PathBuf::from);
        let mode = match (std::env::var("REENACT").as_deref(), path) {
            (Ok("record"), Some(path)) => record::start_from_environment(&path),
            (Ok("replay"), Some(path)) => replay::start_from_environment(&path),
            (Ok("explore"), _) => {
                // In the children, of which each is an execution, the mode is set.
                explore::start_from_environment();
                return;
            }
            (Ok("follow"), _) => {
                explore::follow_from_environment();
                return;
            }
            (Ok("record" | "replay"), None) => {
                eprintln!("reenact: REENACT is set but REENACT_TRACE does not say which trace: running unrecorded");
                Mode::Off
            }
            (Ok(other), _) if other != "off" => {
                eprintln!("reenact: REENACT={other} is not a mode (record, replay, explore, follow, off): running unrecorded");
                Mode::Off
            }
            _ => Mode::Off,
        };
        if mode != Mode::Off {
            settle_strategy();
            turn_off_in_forked_children();
        }
        set(mode);
    }));
}

/// Settles which side of a message records it.
pub(crate) fn settle_strategy() {
    match std::env::var(STRATEGY).as_deref() {
        Ok("sender") => {
            SENDS.fetch_or(WITH_SENDER, Ordering::SeqCst);
        }
        Ok("receiver" | "") | Err(_) => {}
        Ok(other) => {
            eprintln!(
                "reenact: {STRATEGY}={other} is not a strategy (sender, receiver): using receiver"
            );
        }
    }
}

/// A child made by `fork` alone shares the mapping of its parent's trace but is another process: it runs off.
fn turn_off_in_forked_children() {
    extern "C" fn child() {
        set(Mode::Off);
        activity::forget();
    }
    // SAFETY: The handler stores to an atomic and to what is local to its thread, which is allowed after a fork.
    unsafe {
        libc::pthread_atfork(None, None, Some(child));
    }
}
