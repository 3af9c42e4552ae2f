//! Input from outside in the middle of a transaction.
//!
//! A transaction gets its position in the trace when it commits, and a replay must know that position when it begins; a
//! transaction may be attempted many times, but in a replay only once. So what is recorded within an attempt is
//! buffered. The attempt that commits writes it just before the transaction's own event; the buffers of the others are
//! discarded. A replay looks ahead, over the input from outside, to find the transaction's event.

use std::cell::RefCell;

use reenact_trace::Kind;

use crate::{activity::HOT, record};

/// The state of a thread with respect to transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempting {
    /// Not in a transaction.
    Nothing,
    /// In a transaction without input from outside so far.
    Alone,
    /// In a transaction whose input is in [`KEPT`].
    WithMore,
}

/// Input from outside that is not written yet.
pub(crate) enum Kept {
    /// An event, and what it adds to the hash.
    Event {
        kind: Kind,
        number: u64,
        second: u64,
        tag: u64,
    },
    /// Bytes: the kind of their event, the code of the question, and what they add to the hash.
    Bytes(Kind, Vec<u8>, u64, u64),
    /// A clock reading: the clock's index, the reading, and what it adds to the hash.
    Clock(usize, record::Reading, u64),
}

thread_local! {
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// Returns whether the calling thread is in a transaction.
#[inline(always)]
pub fn is_attempting() -> bool {
    HOT.with(|hot| hot.attempting.get()) != Attempting::Nothing
}

/// Begins an attempt of a transaction on the calling thread.
#[inline(always)]
pub fn begin_attempt() {
    HOT.with(|hot| hot.attempting.set(Attempting::Alone));
}

/// Ends the attempt: what has not been written by now is discarded.
#[inline(always)]
pub fn end_attempt() {
    if HOT.with(|hot| hot.attempting.replace(Attempting::Nothing)) == Attempting::WithMore {
        KEPT.with_borrow_mut(Vec::clear);
    }
}

/// Buffers an item and returns true, if the thread is in a transaction; otherwise returns false.
#[inline]
pub(crate) fn keep(what: impl FnOnce() -> Kept) -> bool {
    if !is_attempting() {
        return false;
    }
    KEPT.with_borrow_mut(|kept| kept.push(what()));
    HOT.with(|hot| hot.attempting.set(Attempting::WithMore));
    true
}

/// Writes what the attempt has buffered, because it commits.
#[inline(always)]
pub(crate) fn write_kept() {
    if HOT.with(|hot| hot.attempting.get()) == Attempting::WithMore {
        write_all();
    }
}

#[cold]
fn write_all() {
    let kept = KEPT.take();
    HOT.with(|hot| hot.attempting.set(Attempting::Alone));
    kept.into_iter().for_each(record::write_kept);
}
