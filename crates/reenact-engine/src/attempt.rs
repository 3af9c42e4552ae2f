//! What comes from outside in the middle of a transaction.
//!
//! A transaction has its place in the trace when it commits, and a replay must know that place when it begins; it may be
//! attempted many times, and in a replay once. So what is recorded within one is kept aside, and written just before the
//! transaction's own event by the attempt that takes effect; that of the others is forgotten. A replay looks ahead, over
//! what came from outside, to find the transaction's event.

use std::cell::RefCell;

use reenact_trace::Kind;

use crate::{activity::HOT, record};

/// What the thread has to do with transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempting {
    /// It is in none.
    Nothing,
    /// It is in one, in which nothing has come from outside.
    Alone,
    /// It is in one, and [`KEPT`] has what came.
    WithMore,
}

/// Something from outside that is not written yet.
pub(crate) enum Kept {
    /// An event, and what it adds to the hash.
    Event {
        kind: Kind,
        number: u64,
        second: u64,
        tag: u64,
    },
    /// Bytes: of which kind their event is, what they were an answer to, and what they add to the hash.
    Bytes(Kind, Vec<u8>, u64, u64),
    /// A reading of a clock, which one it is, and what it adds to the hash.
    Clock(usize, record::Reading, u64),
}

thread_local! {
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// Whether the calling thread is in a transaction.
#[inline(always)]
pub fn is_attempting() -> bool {
    HOT.with(|hot| hot.attempting.get()) != Attempting::Nothing
}

/// The calling thread begins to attempt a transaction.
#[inline(always)]
pub fn begin_attempt() {
    HOT.with(|hot| hot.attempting.set(Attempting::Alone));
}

/// The attempt is over: what has not been written by now is nothing that happened.
#[inline(always)]
pub fn end_attempt() {
    if HOT.with(|hot| hot.attempting.replace(Attempting::Nothing)) == Attempting::WithMore {
        KEPT.with_borrow_mut(Vec::clear);
    }
}

/// Keeps something aside, if the thread is in a transaction; otherwise gives it back.
#[inline]
pub(crate) fn keep(what: impl FnOnce() -> Kept) -> bool {
    if !is_attempting() {
        return false;
    }
    KEPT.with_borrow_mut(|kept| kept.push(what()));
    HOT.with(|hot| hot.attempting.set(Attempting::WithMore));
    true
}

/// The attempt takes effect: what it kept is written.
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
