//! The mode of the process, and how it is set.
//!
//! The mode is one byte. Off is zero, so that an operation in a program that is not recorded costs a load and a branch
//! that is never taken. The mode starts as unknown and is settled before `main` ([`crate::captured`]), or by the first
//! operation: there is no `main` to wrap and nothing to link in a certain order.

#[cfg(feature = "explore")]
mod explored;

use std::{
    path::PathBuf,
    sync::{
        Once,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
};

#[cfg(feature = "explore")]
pub(crate) use self::explored::{be_explored, be_off, begin_exploring, end_exploring};
use crate::{activity, captured, explore, external::untracked, record, replay};

/// What happens to operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Mode {
    /// They simply happen.
    Off = 0,
    /// They happen, and outcomes that were not predicted are written to the trace.
    Record = 1,
    /// They simply happen, after recording had to stop. Differs from off in that objects are marked: an activity that
    /// has not noticed yet must not go on recording over what others did unrecorded.
    Stopped = 2,
    /// The environment has not been read yet.
    Unknown = 3,
    /// They happen when the trace says so. The controller is a replay without a log or debugger, which lets an activity
    /// continue without asking where the answer is known.
    Replay = 4,
    /// They happen when the controller says so.
    Controlled = 5,
}

/// The mode's byte during exploration: threads that take part in it are controlled, all others are off.
const EXPLORING: u8 = 6;

/// The environment variable that says which side of a message records it. Unlike our other variables it is part of the
/// trace.
pub(crate) const STRATEGY: &str = "REENACT_STRATEGY";
/// Bit: senders record.
const WITH_SENDER: u8 = 1;
/// Bit: a log is kept.
const IS_LOGGED: u8 = 4;
/// Reasons why sending a message may need extra work, as bits.
static SENDS: AtomicU8 = AtomicU8::new(0);

/// Returns whether senders record the order of messages.
#[inline(always)]
pub(crate) fn with_sender() -> bool {
    SENDS.load(Ordering::Relaxed) & WITH_SENDER != 0
}

/// Returns whether sending a message may need extra work.
#[inline(always)]
pub(crate) fn sends_matter() -> bool {
    SENDS.load(Ordering::Relaxed) != 0
}

static MODE: AtomicU8 = AtomicU8::new(Mode::Unknown as u8);
static FROM_ENVIRONMENT: Once = Once::new();
static IS_BEING_SETTLED: AtomicBool = AtomicBool::new(false);

/// The mode's byte, for the fast paths: compare with `Mode::… as u8`.
#[inline(always)]
pub(crate) fn byte() -> u8 {
    MODE.load(Ordering::Relaxed)
}

/// Returns whether the calling thread is controlled, so that releases have to be reported to the controller.
#[inline(always)]
pub(crate) fn is_controlled() -> bool {
    let byte = byte();
    byte >= Mode::Replay as u8 && (byte != EXPLORING || explore::is_here())
}

/// Returns whether there is a controller that wants to know of operations that are not recorded. A replay without a log
/// or debugger does not.
#[inline]
pub(crate) fn is_observed() -> bool {
    byte() >= Mode::Controlled as u8 && is_controlled()
}

pub(crate) fn set(mode: Mode) {
    MODE.store(mode as u8, Ordering::SeqCst);
}

/// Notes that a log is kept in this process.
pub(crate) fn be_logged() {
    SENDS.fetch_or(IS_LOGGED, Ordering::SeqCst);
}

/// Changes the mode from recording to stopped; does nothing if it was not recording.
pub(crate) fn stop_recording() {
    let _ = MODE.compare_exchange(
        Mode::Record as u8,
        Mode::Stopped as u8,
        Ordering::SeqCst,
        Ordering::SeqCst,
    );
}

/// Returns the mode, settling it from the environment if it is not known yet. [`Mode::Unknown`] while it is being
/// settled: what runs then is the engine and whatever it calls, such as the allocator.
#[inline]
pub(crate) fn settled() -> Mode {
    loop {
        match settled_if_known() {
            Some(mode) => return mode,
            None if IS_BEING_SETTLED.load(Ordering::Acquire) => return Mode::Unknown,
            None => settle(),
        }
    }
}

/// Returns the mode, if it has been settled.
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

/// Settles the mode from the environment. The API calls this before it sets a mode, so that the environment does not
/// override it later.
pub(crate) fn settle() {
    FROM_ENVIRONMENT.call_once(|| untracked(|| {
        if byte() != Mode::Unknown as u8 {
            return;
        }
        IS_BEING_SETTLED.store(true, Ordering::Release);
        captured::learn();
        let path = std::env::var_os("REENACT_TRACE").map(PathBuf::from);
        let mode = match (std::env::var("REENACT").as_deref(), path) {
            (Ok("record"), Some(path)) => record::start_from_environment(&path),
            (Ok("replay"), Some(path)) => replay::start_from_environment(&path),
            (Ok("explore"), _) => {
                // The mode is set in the child processes, each of which is one execution.
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

/// Reads from the environment which side of a message records it.
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

/// Turns the mode off in a child made by `fork` alone, which shares the mapping of its parent's trace but is another
/// process.
fn turn_off_in_forked_children() {
    extern "C" fn child() {
        set(Mode::Off);
        activity::forget();
    }
    // SAFETY: The handler stores to an atomic and to thread-locals, which is allowed after a fork.
    unsafe {
        libc::pthread_atfork(None, None, Some(child));
    }
}
