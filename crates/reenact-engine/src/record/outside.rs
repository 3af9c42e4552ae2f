//! Records input from outside: answers, random bytes, clock readings.
//!
//! None of it is predicted, so all of it is written. Within a transaction it is buffered until an attempt commits; see
//! [`crate::attempt`].

use reenact_trace::Kind;

use super::counted;
use crate::{
    Asked, Op, Reply,
    activity::{HOT, with_recording},
    arrivals::zigzag,
    attempt::{self, Kept, is_attempting},
    captured::{CLOCK_KINDS, REALTIME, WAIT},
    object::tag,
};

/// Records an answer from outside, and what was handed out for it.
pub(crate) fn external(op: Op, asked: Asked, reply: &Reply<'_>) {
    let (second, tag) = (asked.code(), tag(0, op));
    let (kind, number) = match *reply {
        Reply::Number(number) if asked == Asked::NOTHING => (Kind::OUTSIDE, number),
        Reply::Number(number) => (Kind::ANSWER, number),
        Reply::Withheld => (Kind::WITHHELD, 0),
        Reply::Bytes(ref bytes) => {
            return data(Kind::DATA, bytes, second, tag);
        }
    };
    let event = || Kept::Event {
        kind,
        number,
        second,
        tag,
    };
    if !attempt::keep(event) {
        with_recording(|me| me.write(kind, number, second, tag));
    }
}

/// Records that a wait with a time limit, which is not an operation, has ended.
pub(crate) fn waited(timed_out: bool) {
    with_recording(|me| me.write(Kind::WAITED, timed_out.into(), 0, tag(0, WAIT)));
}

/// Records random bytes.
pub(crate) fn random(bytes: &[u8], op: Op) {
    data(Kind::RANDOM, bytes, 0, tag(0, op));
}

fn data(kind: Kind, bytes: &[u8], asked: u64, tag: u64) {
    if !attempt::keep(|| Kept::Bytes(kind, bytes.to_vec(), asked, tag)) {
        write_data(kind, bytes, asked, tag);
    }
}

fn write_data(kind: Kind, bytes: &[u8], asked: u64, tag: u64) {
    with_recording(|me| {
        let id = me.appender.data(bytes)?;
        me.write(kind, id, asked, tag).then_some(())
    });
}

/// Writes a buffered item.
pub(crate) fn write_kept(kept: Kept) {
    match kept {
        Kept::Event {
            kind,
            number,
            second,
            tag,
        } => {
            with_recording(|me| me.write(kind, number, second, tag));
        }
        Kept::Bytes(kind, bytes, asked, tag) => write_data(kind, &bytes, asked, tag),
        Kept::Clock(index, now, tag) => write_clock(index, now, tag),
    }
}

/// A clock reading.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reading {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: i64,
}

impl Reading {
    /// Returns the difference to an earlier reading, in nanoseconds.
    fn since(self, last: Reading) -> u64 {
        let seconds = self.seconds.wrapping_sub(last.seconds);
        let nanoseconds = self.nanoseconds.wrapping_sub(last.nanoseconds);
        seconds
            .wrapping_mul(1_000_000_000)
            .wrapping_add(nanoseconds) as u64
    }
}

/// Returns whether a check is due: programs that do little but read clocks write one after this many operations.
#[inline(always)]
fn is_time_to_check(word: u64) -> bool {
    word.trailing_zeros() >= 10
}

/// Records a clock reading.
pub(crate) fn clock(index: usize, now: Reading, op: Op) {
    let tag = tag(0, op);
    if !attempt::keep(|| Kept::Clock(index, now, tag)) {
        write_clock(index, now, tag);
    }
}

fn write_clock(index: usize, now: Reading, tag: u64) {
    with_recording(|me| {
        let last = std::mem::replace(&mut me.recorder_state.clocks[index], now);
        let written = me.write(CLOCK_KINDS[index], zigzag(now.since(last)), 0, tag);
        if written && is_time_to_check(me.recorder_state.counted()) {
            me.tick();
        }
    });
}

/// Like [`clock`], in few instructions: for a thread that runs its own activity, has just written in its chunk, and has
/// read the clock in the same second. Returns false, having done nothing, if this is not such a case.
#[inline(always)]
pub(crate) fn clock_briefly<const INDEX: usize>(now: Reading, op: Op) -> bool {
    let (untracked, recorder_state, word) = HOT.with(|hot| {
        (
            hot.untracked.get(),
            hot.recorder_state.get(),
            hot.word.get(),
        )
    });
    if recorder_state.is_null() || untracked != 0 || is_attempting() {
        return false;
    }
    // SAFETY: The recorder state is the thread's own, and it is not borrowed: a thread is untracked while it borrows
    // it. A thread with a recorder state has an appender, and its counter is mapped.
    unsafe {
        let recorder_state = &mut *recorder_state;
        debug_assert_eq!(recorder_state.word, word);
        if recorder_state.is_foreign {
            return false;
        }
        let last = &mut recorder_state.clocks[INDEX];
        let elapsed = now.nanoseconds.wrapping_sub(last.nanoseconds);
        let before = word.read();
        if is_time_to_check(before + 1) || now.seconds != last.seconds || elapsed < 0 {
            return false;
        }
        let silent = (before as u32).wrapping_sub(recorder_state.place.position() as u32);
        let appender = &mut *HOT.with(|hot| hot.appender.get());
        // Zigzag-encoded: it is not negative.
        let number = (elapsed as u64) << 1;
        if !appender.reading(
            &mut recorder_state.place,
            recorder_state.number,
            INDEX == REALTIME,
            silent,
            number,
        ) {
            return false;
        }
        last.nanoseconds = now.nanoseconds;
        word.write_volatile(counted(before, tag(0, op)));
    }
    true
}
