//! What is printed in a replay: it is compared, and appears in the recorded order.
//!
//! Nobody waits for that order. The standard library prints with a lock held, and a thread that has it may be the one
//! whose text comes later. So a text that comes too early is held back, and the activity goes on; whoever prints what
//! comes before it prints both. At a difference, nothing is held back or compared any more: the order of the rest is
//! not known.
//!
//! A difference does not end the replay, because nothing depends on what was printed. It is reported at once, and the
//! replay does not count as the same as the recording.
//!
//! If threads ran that were not started by Reenact, such as those of a test binary, who prints what first may depend on
//! them, and they are not ordered. Then the report is withheld until the end, and is not made if the same lines were
//! printed in another order ([`Lines`]).

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use reenact_trace::{Crowd, Event, Item, Kind, Origin, Trace};
use xxhash_rust::xxh3::xxh3_64;

use super::{Replay, Runner, cursor::Cursor, ending, report};
use crate::{
    Heard,
    captured::write_all,
    printed::{STREAMS, Stream, from_number, hash_of, is_print},
    site, unrecorded,
};

/// What has been printed in this replay.
#[derive(Default)]
pub(super) struct Printed {
    streams: [Mutex<Queue>; STREAMS],
    has_differed: AtomicBool,
    /// The lines printed so far, if they may come in another order.
    lines: Option<[Mutex<Lines>; STREAMS]>,
    /// The report on a difference that may turn out to be one of order.
    withheld: OnceLock<String>,
}

/// The lines of a stream, without their order.
#[derive(Default, PartialEq, Eq)]
struct Lines {
    /// The sum of their hashes.
    sum: u64,
    /// What each activity has printed of a line that is not complete.
    begun: BTreeMap<u32, Vec<u8>>,
}

impl Lines {
    /// Adds a text that an activity prints.
    fn add(&mut self, activity: u32, text: &[u8]) {
        let begun = self.begun.entry(activity).or_default();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            begun.extend(line);
            if begun.ends_with(b"\n") {
                self.sum = self.sum.wrapping_add(xxh3_64(begun));
                begun.clear();
            }
        }
    }

    /// Returns the sum, with lines that have no end.
    fn sum(&self) -> u64 {
        let rest = self.begun.values().filter(|line| !line.is_empty());
        rest.fold(self.sum, |sum, line| sum.wrapping_add(xxh3_64(line)))
    }

    /// Returns the lines of a stream in a trace; `None` if the trace does not have all of the text.
    fn recorded(trace: &Arc<Trace>, stream: Stream) -> Option<Lines> {
        let mut lines = Lines::default();
        for Crowd { first, count } in trace.crowds() {
            let mut of_each = Lines::default();
            for item in trace.events(first.number) {
                match item {
                    Ok(Item::Event(event)) if from_number(event.number).0 != stream => {}
                    Ok(Item::Event(event)) if event.kind == Kind::PRINTED => {
                        of_each.add(first.number, &trace.data(event.second).ok()?);
                    }
                    Ok(Item::Event(event)) if event.kind == Kind::PRINTED_HASH => return None,
                    _ => {}
                }
            }
            let sum = of_each.sum().wrapping_mul(count.into());
            lines.sum = lines.sum.wrapping_add(sum);
        }
        Some(lines)
    }
}

/// The text of a stream that is not printed yet.
#[derive(Default)]
struct Queue {
    /// The place in the order of the text that is printed next.
    next: u64,
    /// Texts that came too early, by their place.
    held: BTreeMap<u64, Held>,
}

#[derive(Default)]
struct Held {
    text: Vec<u8>,
    /// Whether nothing more comes at this place.
    is_complete: bool,
}

impl Printed {
    /// Creates the state for a replay of this trace.
    pub(super) fn of(trace: &Trace) -> Printed {
        let is_foreign = |crowd: Crowd| crowd.first.origin == Origin::Foreign;
        let has_others = trace.crowds().any(is_foreign) || unrecorded::has_threads(trace);
        Printed {
            lines: has_others.then(Default::default),
            ..Printed::default()
        }
    }

    /// Counts the lines of a text that an activity prints, where that is of use.
    fn count(&self, stream: Stream, activity: u32, text: &[u8]) {
        if let Some(lines) = &self.lines {
            let lines = lines[stream.index()].lock();
            let mut lines = lines.unwrap_or_else(PoisonError::into_inner);
            lines.add(activity, text);
        }
    }

    /// Returns whether the lines printed are those of the trace, in any order.
    fn has_the_lines_of(&self, trace: &Arc<Trace>) -> bool {
        self.lines.as_ref().is_some_and(|lines| {
            Stream::ALL.into_iter().all(|stream| {
                let lines = lines[stream.index()].lock();
                let printed = lines.unwrap_or_else(PoisonError::into_inner).sum();
                Lines::recorded(trace, stream).is_some_and(|recorded| recorded.sum() == printed)
            })
        })
    }

    fn queue(&self, stream: Stream) -> MutexGuard<'_, Queue> {
        let queue = &self.streams[stream.index()];
        queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_differed(&self) -> bool {
        self.has_differed.load(SeqCst)
    }

    /// Prints a part of the text at this place when everything before it has been printed.
    fn print_at(&self, stream: Stream, place: u64, text: &[u8], is_complete: bool) {
        let mut queue = self.queue(stream);
        if self.has_differed() {
            write_all(stream.file(), text);
            return;
        }
        if place != queue.next {
            let held = queue.held.entry(place).or_default();
            held.text.extend(text);
            held.is_complete |= is_complete;
            return;
        }
        write_all(stream.file(), text);
        let mut is_complete = is_complete;
        while is_complete {
            queue.next += 1;
            let next = queue.next;
            let held = queue.held.remove(&next).unwrap_or_default();
            write_all(stream.file(), &held.text);
            is_complete = held.is_complete;
        }
    }

    /// Prints a text that has no place of its own after the one before this place.
    fn print_after(&self, stream: Stream, place: u64, text: &[u8]) {
        let mut queue = self.queue(stream);
        let before = place.checked_sub(1);
        match before.and_then(|before| queue.held.get_mut(&before)) {
            Some(held) => held.text.extend(text),
            None => write_all(stream.file(), text),
        }
    }

    /// Prints all that has been held back.
    pub(super) fn flush(&self) {
        for stream in Stream::ALL {
            let mut queue = self.queue(stream);
            for held in std::mem::take(&mut queue.held).values() {
                write_all(stream.file(), &held.text);
            }
        }
    }
}

/// What the trace has of a text.
enum Recorded {
    Text(Arc<[u8]>),
    /// Its length and hash.
    Hash(u64),
}

/// A text of the trace of which the activity has printed a part. It may print in other pieces than it did: at the end of
/// `main`, for one, the standard library stops collecting lines.
pub(super) struct Begun {
    /// Its place in the order of the stream.
    place: u64,
    recorded: Recorded,
    /// How much has been printed.
    done: usize,
    /// What has been printed, if the trace has only the hash.
    text: Vec<u8>,
}

impl Begun {
    fn length(&self) -> usize {
        match &self.recorded {
            Recorded::Text(text) => text.len(),
            Recorded::Hash(hash) => usize::try_from(hash >> 28).unwrap_or(usize::MAX),
        }
    }

    fn is_complete(&self) -> bool {
        self.done >= self.length()
    }

    /// Takes as much of a text as belongs here; `None` if it is another text.
    fn take(&mut self, text: &[u8]) -> Option<usize> {
        let count = text.len().min(self.length() - self.done);
        let agrees = match &self.recorded {
            Recorded::Text(recorded) => recorded[self.done..][..count] == text[..count],
            Recorded::Hash(hash) => {
                self.text.extend_from_slice(&text[..count]);
                self.text.len() < self.length() || hash_of(&self.text) == *hash
            }
        };
        self.done += count;
        agrees.then_some(count)
    }

    /// Goes back by so much that was taken, and returns what the trace has from there on.
    fn rest(self, taken: usize) -> (u64, usize, Recorded) {
        let before = self.done - taken;
        let rest = match self.recorded {
            Recorded::Text(text) => Recorded::Text(text[before..].into()),
            hash @ Recorded::Hash(_) => hash,
        };
        (self.place, before, rest)
    }
}

/// Something that is printed, or is not, unlike in the recording.
struct PrintedDifference<'a> {
    stream: Stream,
    /// What the trace has: its place in the order of the stream, how much of it agrees, and the rest.
    recorded: Option<(u64, usize, Recorded)>,
    /// What the program prints, or does instead.
    replayed: Result<&'a [u8], &'a str>,
}

impl Replay {
    /// The activity prints a text. Returns what became of it; `None` if it is to be printed as it is.
    pub(super) fn prints(&self, runner: &Runner, stream: Stream, text: &[u8]) -> Option<Heard> {
        let doing = || format!("print to {stream}");
        if self.printed.has_differed() {
            if self.printed.lines.is_some() {
                let mut cursor = runner.cursor();
                self.prints_something_else(runner, &mut cursor, stream, text, &doing);
            }
            return None;
        }
        let mut cursor = runner.cursor();
        self.resolve_doubt(runner, &mut cursor);
        let printing = cursor.printed[stream.index()];
        let mut comparison = printing.comparison;
        let compared = comparison.of(text);
        self.printed.count(stream, runner.number, &compared);
        if compared.is_empty() {
            cursor.printed[stream.index()].comparison = comparison;
            drop(cursor);
            self.printed.print_after(stream, printing.next, text);
            return Some(Heard::Written(Ok(text.len())));
        }
        cursor.printed[stream.index()].comparison = comparison;
        let mut left = &compared[..];
        let mut parts = Vec::new();
        let mut result = Ok(text.len());
        while !left.is_empty() {
            let Some(mut begun) = self.begun(runner, &mut cursor, stream, &doing) else {
                if self.is_past_the_end(runner, &cursor) {
                    break;
                }
                let difference = PrintedDifference {
                    stream,
                    recorded: None,
                    replayed: Ok(left),
                };
                self.printed_differs(runner, &cursor, &difference);
                return None;
            };
            let before = begun.done;
            let Some(count) = begun.take(left) else {
                let taken = begun.done - before;
                let difference = PrintedDifference {
                    stream,
                    recorded: Some(begun.rest(taken)),
                    replayed: Ok(left),
                };
                self.printed_differs(runner, &cursor, &difference);
                return None;
            };
            left = &left[count..];
            parts.push((begun.place, count, begun.is_complete()));
            if !begun.is_complete() {
                cursor.begun[stream.index()] = Some(begun);
            } else if let Some(taken) = self.taken(runner, &mut cursor, &doing) {
                result = taken.map(|count| count.min(text.len()));
                comparison = printing.comparison;
                comparison.of(&text[..result.unwrap_or(0)]);
                cursor.printed[stream.index()].comparison = comparison;
                break;
            }
        }
        drop(cursor);
        // If not all of the text is compared, it is not known which part is where.
        let is_whole = compared.len() == text.len();
        let end = match left.is_empty() || !is_whole {
            true => result.unwrap_or(0),
            false => text.len() - left.len(),
        };
        let mut rest = &text[..end];
        for (place, count, is_complete) in parts {
            let count = if is_whole { count } else { rest.len() };
            let (part, after) = rest.split_at(count.min(rest.len()));
            self.printed.print_at(stream, place, part, is_complete);
            rest = after;
        }
        Some(Heard::Written(result))
    }

    /// The activity prints a text after the first difference, which may be one of order. Then it prints as often as the
    /// recorded one, and reads the same clocks in between.
    fn prints_something_else(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        stream: Stream,
        text: &[u8],
        doing: &dyn Fn() -> String,
    ) {
        let compared = cursor.printed[stream.index()].comparison.of(text);
        self.printed.count(stream, runner.number, &compared);
        self.resolve_doubt(runner, cursor);
        cursor.begun[stream.index()] = None;
        if !compared.is_empty()
            && let Some(event) = self.next_print(runner, cursor, doing)
        {
            self.pass(runner, cursor, event);
        }
    }

    /// Returns the text that the activity has begun to print, or begins to print now.
    fn begun(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        stream: Stream,
        doing: &dyn Fn() -> String,
    ) -> Option<Box<Begun>> {
        if let Some(begun) = cursor.begun[stream.index()].take() {
            return Some(begun);
        }
        let event = self.next_print(runner, cursor, doing)?;
        if from_number(event.number).0 != stream || event.kind == Kind::WRITTEN {
            return None;
        }
        let (_, place) = self.place_of_print(cursor, event);
        let begun = &mut cursor.begun[stream.index()];
        *begun = Some(Box::new(Begun {
            place,
            recorded: self.recorded_text(runner, event),
            done: 0,
            text: Vec::new(),
        }));
        // The activity has not consumed its part of the trace yet.
        self.pass(runner, cursor, event);
        cursor.begun[stream.index()].take()
    }

    /// Returns how much the system took of the text that the activity has just printed, or the error number, if that is
    /// in the trace.
    fn taken(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        doing: &dyn Fn() -> String,
    ) -> Option<Result<usize, i32>> {
        self.pass_checks(runner, cursor, doing);
        let event = cursor.next_library()?;
        if event.kind != Kind::WRITTEN {
            return None;
        }
        self.pass(runner, cursor, event);
        Some(match event.number & 1 {
            0 => Ok((event.number >> 1) as usize),
            _ => Err((event.number >> 1) as i32),
        })
    }

    /// The activity has not printed a text that the trace has here.
    pub(super) fn has_not_printed(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        event: Event,
        doing: &str,
    ) {
        if !self.printed.has_differed() && event.kind != Kind::WRITTEN {
            let (stream, place) = self.place_of_print(cursor, event);
            let recorded = self.recorded_text(runner, event);
            self.prints_less(runner, cursor, stream, (place, 0, recorded), doing);
        }
        self.pass(runner, cursor, event);
    }

    /// Reports that the activity has printed only the beginning of a text that the trace has, if that is so.
    pub(super) fn has_printed_all(&self, runner: &Runner, cursor: &mut Cursor, doing: &str) {
        for stream in Stream::ALL {
            if let Some(begun) = cursor.begun[stream.index()].take() {
                self.prints_less(runner, cursor, stream, begun.rest(0), doing);
            }
        }
    }

    fn prints_less(
        &self,
        runner: &Runner,
        cursor: &Cursor,
        stream: Stream,
        recorded: (u64, usize, Recorded),
        doing: &str,
    ) {
        let difference = PrintedDifference {
            stream,
            recorded: Some(recorded),
            replayed: Err(doing),
        };
        self.printed_differs(runner, cursor, &difference);
    }

    /// Returns the stream and the place in its order of a text that the trace has.
    fn place_of_print(&self, cursor: &mut Cursor, event: Event) -> (Stream, u64) {
        let (stream, ahead) = from_number(event.number);
        let printing = &mut cursor.printed[stream.index()];
        let place = printing.next.wrapping_add(ahead);
        printing.next = place.wrapping_add(1);
        (stream, place)
    }

    fn recorded_text(&self, runner: &Runner, event: Event) -> Recorded {
        match event.kind {
            Kind::PRINTED => Recorded::Text(self.data(runner, event.second, "print a text")),
            _ => Recorded::Hash(event.second),
        }
    }

    /// Whether the recording may have ended before the activity printed anything more.
    fn is_past_the_end(&self, runner: &Runner, cursor: &Cursor) -> bool {
        // That it is not in the trace of a process that has ended by itself says that it printed nothing.
        let is_missing = !runner.is_known
            && matches!(self.trace.exit(), Some(reenact_trace::Exit::Status(_)))
            && self.trace.stop().is_none()
            && !ending::is_exiting();
        cursor.is_consumed() && !is_missing
    }

    /// Reports the first difference.
    fn printed_differs(
        &self,
        runner: &Runner,
        cursor: &Cursor,
        difference: &PrintedDifference<'_>,
    ) {
        if self.printed.has_differed.swap(true, SeqCst) {
            return;
        }
        self.printed.flush();
        let recorded = match &difference.recorded {
            Some((_, _, Recorded::Text(text))) => Some(&**text),
            _ => None,
        };
        let shown = difference.replayed.unwrap_or_default();
        let same = recorded.map_or(0, |recorded| common_start(recorded, shown));
        let place = match &difference.recorded {
            Some((place, done, _)) => {
                place_in_stream(&self.trace, difference.stream, *place, *done)
            }
            None => None,
        };
        let place = place.map_or(String::new(), |(mut line, mut byte)| {
            line += lines(&shown[..same]);
            byte += same as u64;
            format!(", line {}, byte {}", line + 1, byte + 1)
        });
        let because = match recorded
            .is_some_and(|text| without_addresses(text) == without_addresses(shown))
        {
            true => "The texts differ only in addresses, which differ from run to run.",
            false => {
                "What it prints depends on something that is not recorded, or the program is not the recorded one."
            }
        };
        // The message of a panic is printed with the lock held that capturing a backtrace takes.
        let backtrace = match std::thread::panicking() {
            true => String::new(),
            false => site::shown_stack(&site::stack()),
        };
        let text = format!(
            "the replay prints something else than the recorded program\n\
             \x20 stream:    {}{place}\n\
             \x20 activity:  {}\n\
             \x20 operation: number {} of this activity\n\
             \x20 recorded:  {}\n\
             \x20 replayed:  {}\n\
             {because}\n\
             The replay goes on, and compares nothing more that is printed.\n\
             {backtrace}",
            difference.stream,
            self.family_of(runner),
            // The cursor is past a text that is compared.
            cursor.position()
                + u64::from(difference.recorded.is_none() || difference.replayed.is_err()),
            match &difference.recorded {
                Some((_, _, Recorded::Text(text))) => quoted(text, same),
                Some((_, _, Recorded::Hash(hash))) => {
                    format!("{} bytes, which are not in the trace", hash >> 28)
                }
                None => "nothing here".to_owned(),
            },
            match difference.replayed {
                Ok(text) => quoted(text, same),
                Err(doing) => format!("nothing before: {doing}"),
            },
        );
        match self.printed.lines {
            Some(_) => {
                // If the process ends without a report, this is it.
                report::write_report(self.report.as_deref(), report::PRINTED, &text);
                let _ = self.printed.withheld.set(text);
            }
            None => report::note_printed(self.report.as_deref(), &text),
        }
    }

    /// Prints all that has been held back, at the end of the replay, and reports a difference that was withheld.
    pub(super) fn settle_printed(&self) {
        self.printed.flush();
        let Some(text) = self.printed.withheld.get() else {
            return;
        };
        match self.printed.has_the_lines_of(&self.trace) {
            true => report::note_reordered(self.report.as_deref()),
            false => report::note_printed(self.report.as_deref(), text),
        }
    }

    /// Returns the next text, or the failure to write one, that the trace has before the activity's next operation.
    fn next_print(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        doing: &dyn Fn() -> String,
    ) -> Option<Event> {
        self.pass_checks(runner, cursor, doing);
        let may_skip = runner.is_foreign || self.may_differ(runner);
        let is_there = match may_skip {
            true => cursor.is_in_reach(is_print, |kind| kind == Kind::RANDOM),
            false => Ok(cursor
                .next_library()
                .is_some_and(|next| is_print(next.kind))),
        };
        match is_there {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => self.cannot_read(&error),
        }
        loop {
            let next = cursor.next_library()?;
            if is_print(next.kind) {
                return Some(next);
            }
            self.skip(runner, cursor, next);
            self.pass_checks(runner, cursor, doing);
        }
    }
}

/// Returns how many lines and bytes were printed to a stream before this place, and so much of the text there; `None` if
/// the trace does not have all of that.
fn place_in_stream(
    trace: &Arc<Trace>,
    stream: Stream,
    place: u64,
    done: usize,
) -> Option<(u64, u64)> {
    let (mut found, mut line, mut byte) = (0, 0, 0);
    for Crowd { first, .. } in trace.crowds() {
        let mut next = 0u64;
        for item in trace.events(first.number) {
            let Ok(Item::Event(event)) = item else {
                continue;
            };
            if !matches!(event.kind, Kind::PRINTED | Kind::PRINTED_HASH) {
                continue;
            }
            let (of, ahead) = from_number(event.number);
            if of != stream {
                continue;
            }
            next = next.wrapping_add(ahead);
            let is_there = next == place;
            if next > place || is_there && done == 0 {
                break;
            }
            if event.kind == Kind::PRINTED_HASH {
                return None;
            }
            let text = trace.data(event.second).ok()?;
            let text = match is_there {
                true => text.get(..done)?,
                false => &text[..],
            };
            next = next.wrapping_add(1);
            found += u64::from(!is_there);
            line += lines(text);
            byte += text.len() as u64;
        }
    }
    (found == place).then_some((line, byte))
}

fn lines(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Returns the length of what both begin with.
fn common_start(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Shows a text around this offset, escaped for a terminal.
fn quoted(text: &[u8], around: usize) -> String {
    const BEFORE: usize = 60;
    const AFTER: usize = 140;
    let boundary = |at: usize| (at..text.len()).find(|&at| text[at] & 0xc0 != 0x80);
    let begin = boundary(around.saturating_sub(BEFORE)).unwrap_or(text.len());
    let end = boundary(around.saturating_add(AFTER)).unwrap_or(text.len());
    format!(
        "{}{:?}{}",
        if begin > 0 { "… " } else { "" },
        String::from_utf8_lossy(&text[begin..end]),
        if end < text.len() { " …" } else { "" },
    )
}

/// Returns the text with the digits of hexadecimal numbers removed.
fn without_addresses(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut is_address = false;
    for &byte in text {
        is_address = is_address && byte.is_ascii_hexdigit();
        if !is_address {
            kept.push(byte);
            is_address = kept.ends_with(b"0x");
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_shown_around_the_difference() {
        let text = format!("{}é{}", "a".repeat(99), "b".repeat(300));
        let shown = quoted(text.as_bytes(), 100);
        assert!(
            shown.starts_with("… \"aaa") && shown.ends_with("bbb\" …"),
            "{shown}"
        );
        assert!(shown.contains("aébb"), "{shown}");
        assert_eq!(quoted(b"a\n\x1b[1m", 1), r#""a\n\u{1b}[1m""#);
        assert_eq!(quoted(b"", 0), r#""""#);
    }

    #[test]
    fn lines_are_the_same_in_any_order_and_in_any_pieces() {
        let sum = |parts: &[(u32, &str)]| {
            let mut lines = Lines::default();
            for (activity, text) in parts {
                lines.add(*activity, text.as_bytes());
            }
            lines.sum()
        };
        let one = sum(&[(1, "a\nb"), (2, "c\n"), (1, "\n"), (1, "d")]);
        assert_eq!(one, sum(&[(2, "c\nb\n"), (1, "d"), (3, "a\n")]));
        assert_ne!(one, sum(&[(1, "a\nb\nc\n")]));
        assert_ne!(one, sum(&[(1, "a\nb\nc\nd\n")]));
        assert_ne!(one, sum(&[(1, "a\n"), (1, "a\nb\nc\nd")]));
    }

    #[test]
    fn addresses_are_told_apart_from_other_numbers() {
        let same = |one: &str, other: &str| {
            without_addresses(one.as_bytes()) == without_addresses(other.as_bytes())
        };
        assert!(same("at 0x7f31, 12\n", "at 0x55d40c, 12\n"));
        assert!(!same("at 0x7f31, 12\n", "at 0x7f31, 13\n"));
    }
}
