//! The mode of a process while it explores.

use std::sync::{Mutex, PoisonError, atomic::Ordering};

use super::{EXPLORING, MODE, Mode, SENDS, byte, set, settle};

/// Bit of the reasons why sending may need extra work: an exploration is in progress.
const IS_EXPLORED: u8 = 2;

/// The number of explorations in progress.
static EXPLORATIONS: Mutex<u32> = Mutex::new(0);

/// Begins an exploration. Returns false if the process is not off otherwise.
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

pub(crate) fn be_off() {
    set(Mode::Off);
}

/// Notes that an exploration runs in this process, or that all of it is explored.
pub(crate) fn be_explored() {
    MODE.store(EXPLORING, Ordering::SeqCst);
    SENDS.fetch_or(IS_EXPLORED, Ordering::SeqCst);
}

/// Ends one exploration.
pub(crate) fn end_exploring() {
    let mut explorations = EXPLORATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    *explorations -= 1;
    if *explorations == 0 {
        SENDS.fetch_and(!IS_EXPLORED, Ordering::SeqCst);
        set(Mode::Off);
    }
}
