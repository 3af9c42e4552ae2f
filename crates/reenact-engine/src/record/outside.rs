//! Recording what comes from outside: answers, random bytes, clocks.
//!
//! Nothing of it is predicted, so all of it is written. Within a transaction it is kept aside until an attempt takes effect; see
//! [`crate::attempt`].

use reenact_trace::Kind;

use super::counted;
use crate::{
    Asked, Op, Reply,
    activity::{HOT, with_recording},
    arrivals::zigzag,
    attempt::{self, Kept, is_attempting},
    captured::{CLOCK_KINDS, REALTIME},
    entity::tag,
};

/// An answer from outside, to what was asked.
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

/// Random bytes.
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

/// Writes what was kept aside.
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

/// What a clock said.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reading {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: i64,
}

impl Reading {
    /// How much later it is than another, in nanoseconds.
    fn since(self, last: Reading) -> u64 {
        let seconds = self.seconds.wrapping_sub(last.seconds);
        let nanoseconds = self.nanoseconds.wrapping_sub(last.nanoseconds);
        seconds
            .wrapping_mul(1_000_000_000)
            .wrapping_add(nanoseconds) as u64
    }
}

/// Programs that do little else than look at clocks write a check after so many operations.
#[inline(always)]
fn is_time_to_check(word: u64) -> bool {
    word.trailing_zeros() >= 10
}

/// A clock has been read.
pub(crate) fn clock(index: usize, now: Reading, op: Op) {
    let tag = tag(0, op);
    if !attempt::keep(|| Kept::Clock(index, now, tag)) {
        write_clock(index, now, tag);
    }
}

fn write_clock(index: usize, now: Reading, tag: u64) {
    with_recording(|me| {
        let last = std::mem::replace(&mut me.diary.clocks[index], now);
        let written = me.write(CLOCK_KINDS[index], zigzag(now.since(last)), 0, tag);
        if written && is_time_to_check(me.diary.counted()) {
            me.tick();
        }
    });
}

/// The same where it takes few instructions: by a thread that runs its own activity, has just written in its chunk, and has
/// read the clock in the same second. False if this is not such a case, and nothing has been done.
#[inline(always)]
pub(crate) fn clock_briefly<const INDEX: usize>(now: Reading, op: Op) -> bool {
    let (apart, diary, word) = HOT.with(|hot| (hot.apart.get(), hot.diary.get(), hot.word.get()));
    if diary.is_null() || apart != 0 || is_attempting() {
        return false;
    }
    // SAFETY: The thread's own, and nobody has borrowed it: who does is apart. With it there is somewhere to append, and its
    // counter is mapped.
    unsafe {
        let diary = &mut *diary;
        debug_assert_eq!(diary.word, word);
        if diary.is_foreign {
            return false;
        }
        let last = &mut diary.clocks[INDEX];
        let elapsed = now.nanoseconds.wrapping_sub(last.nanoseconds);
        let before = word.read();
        if is_time_to_check(before + 1) || now.seconds != last.seconds || elapsed < 0 {
            return false;
        }
        let silent = (before as u32).wrapping_sub(diary.place.position() as u32);
        let appender = &mut *HOT.with(|hot| hot.appender.get());
        // Zigzag, of what is not negative.
        let number = (elapsed as u64) << 1;
        if !appender.reading(
            &mut diary.place,
            diary.number,
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
