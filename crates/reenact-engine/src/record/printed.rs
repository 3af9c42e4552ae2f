//! Records what is printed.

use reenact_trace::Kind;

use super::environment::has_secret;
use crate::{
    activity::with_recording,
    printed::{Order, Stream, hash_of, number_of},
};

/// Records that a text is printed. Called before it is: whoever sees it may kill the process at once, and the trace then
/// has it.
///
/// The text is stored as data; what does not fit any more, is to be kept out of the trace, or contains a secret, as a
/// hash. None of this is
/// in the hash of the activity.
pub(crate) fn printed(stream: Stream, order: &mut Order, text: &[u8]) {
    with_recording(|me| {
        let printing = &mut me.recorder_state.printed[stream.index()];
        printing.before = printing.comparison;
        let compared = printing.comparison.of(text);
        if compared.is_empty() {
            return Some(());
        }
        let number = number_of(stream, order.next - printing.next);
        let is_kept = !has_secret(&compared) && order.has_room(stream, &compared);
        let (kind, second) = match is_kept {
            true => (Kind::PRINTED, me.appender.data(&compared)?),
            false => (Kind::PRINTED_HASH, hash_of(&compared)),
        };
        me.write(kind, number, second, 0).then_some(())?;
        order.next += 1;
        me.recorder_state.printed[stream.index()].next = order.next;
        Some(())
    });
}

/// Records that the system took only so many bytes of the text that was recorded last, or refused it with an error.
pub(crate) fn printed_in_part(stream: Stream, text: &[u8], taken: Result<usize, i32>) {
    with_recording(|me| {
        let printing = &mut me.recorder_state.printed[stream.index()];
        let mut before = printing.before;
        let is_compared = !before.of(text).is_empty();
        printing.comparison = printing.before;
        printing.comparison.of(&text[..taken.unwrap_or(0)]);
        if is_compared {
            let code = match taken {
                Ok(count) => (count as u64) << 1,
                Err(errno) => (errno as u64) << 1 | 1,
            };
            me.write(Kind::WRITTEN, code, 0, 0);
        }
    });
}
