//! Operations without a position: questions whose answer depends on timing, and numbers from outside the program.

use super::{announce, arrive};
use crate::{
    Access, Announcement, Asked, Decision, Named, Op, Reply, Touch,
    external::untracked,
    mode::{self, Mode},
    record,
};

/// Like [`choose`], where the answer depends on this object, which is read or changed.
#[track_caller]
pub fn choose_at(
    op: Op,
    object: &impl Named,
    access: Access,
    predicted: u64,
    ask: impl FnOnce() -> u64,
) -> u64 {
    let announcement = Announcement {
        touches: &[Touch::new(object, access)],
        predicted,
        ..Announcement::new(op, Access::Ask)
    };
    choose_as(&announcement, ask)
}

/// Asks the question with this announcement.
pub(crate) fn choose_as(announcement: &Announcement<'_>, ask: impl FnOnce() -> u64) -> u64 {
    match mode::settled() {
        Mode::Record => {
            let answer = untracked(ask);
            record::choice(announcement.op, announcement.predicted, answer);
            answer
        }
        Mode::Replay | Mode::Controlled => match announce(announcement) {
            Decision::Answer(answer) => answer,
            _ => untracked(ask),
        },
        _ => ask(),
    }
}

/// Records the outcome of an operation that has already been announced: it is known here, but not to a replay. Only an
/// answer other than `predicted` is written to the trace.
#[track_caller]
pub fn settled(op: Op, predicted: u64, answer: u64) -> u64 {
    let announcement = Announcement {
        predicted,
        is_settled: true,
        ..Announcement::new(op, Access::Ask)
    };
    choose_as(&announcement, || answer)
}

/// Asks a question whose answer depends on timing. Only an answer other than `predicted` is written to the trace.
#[track_caller]
pub fn choose(op: Op, predicted: u64, ask: impl FnOnce() -> u64) -> u64 {
    let announcement = Announcement {
        predicted,
        ..Announcement::new(op, Access::Ask)
    };
    choose_as(&announcement, ask)
}

/// Brings a number into the program from outside. It is always written to the trace.
#[track_caller]
pub fn outside(op: Op, ask: impl FnOnce() -> u64) -> u64 {
    match mode::settled() {
        Mode::Record => {
            let answer = untracked(ask);
            record::external(op, Asked::NOTHING, &Reply::Number(answer));
            answer
        }
        Mode::Replay | Mode::Controlled => match arrive(op, Access::Outside, None, 0) {
            Decision::Answer(answer) => answer,
            _ => untracked(ask),
        },
        _ => ask(),
    }
}
