//! What a trace says, all of it, in forms that tests compare.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path, sync::Arc};

use reenact_trace::{Exit, Item, Kind, Program, Trace, TraceError, Writer, append_exit, live_path};
use xxhash_rust::xxh3::xxh3_64;

use crate::sections::{CHUNK, DATA, DIRECTORY, kinds};

/// What a stream gave: its items, and the error that it ended with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stream {
    pub(crate) items: Vec<Item>,
    pub(crate) error: Option<String>,
    /// Operations that the items stand for.
    pub(crate) position: u64,
}

pub(crate) type Streams = BTreeMap<u32, Stream>;

pub(crate) fn open(path: &Path) -> Arc<Trace> {
    Arc::new(Trace::open(path).unwrap_or_else(|error| panic!("{error}")))
}

/// Data that an event refers to are there, and as they were: the tests that store some put a hash of them in the event.
/// Only a trace that knows of its loss may have lost them, and says so.
fn check_data(trace: &Trace, item: &Item) {
    let Item::Event(event) = item else { return };
    if event.kind != Kind::DATA {
        return;
    }
    match trace.data(event.number) {
        Ok(bytes) => assert_eq!(xxh3_64(&bytes), event.second),
        Err(TraceError::NoData { .. } | TraceError::BrokenData { .. }) => {
            assert!(!trace.is_complete());
        }
        Err(error) => panic!("{error}"),
    }
}

/// The stream of one activity.
pub(crate) fn stream(trace: &Arc<Trace>, activity: u32) -> Stream {
    let mut events = trace.events(activity);
    let mut items = Vec::new();
    let mut error = None;
    for item in events.by_ref() {
        match item {
            Ok(item) => {
                check_data(trace, &item);
                items.push(item);
            }
            Err(wrong) => error = Some(wrong.to_string()),
        }
    }
    assert!(events.next().is_none(), "a stream that is over goes on");
    Stream {
        items,
        error,
        position: events.position(),
    }
}

/// The streams of all activities that the trace knows.
pub(crate) fn streams(trace: &Arc<Trace>) -> Streams {
    trace
        .activities()
        .map(|info| (info.number, stream(trace, info.number)))
        .collect()
}

/// The streams of a trace in which nothing is missing or wrong.
pub(crate) fn sound_streams(path: &Path) -> Streams {
    let trace = open(path);
    assert_eq!(trace.damage(), None);
    assert!(trace.is_complete());
    let streams = streams(&trace);
    let errors: Vec<_> = streams
        .values()
        .filter_map(|stream| stream.error.as_ref())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    // That much and no more: nothing belongs to an activity that is not known.
    let mut items = 0;
    trace
        .check(|progress| items += progress)
        .unwrap_or_else(|error| panic!("{error}"));
    let read: usize = streams.values().map(|stream| stream.items.len()).sum();
    assert!(items as usize <= read);
    streams
}

/// Asserts that what was read is how it began in full, and nothing else. Where it ends early it says so: with an error,
/// or with a cut that claims nothing.
pub(crate) fn assert_prefix(read: &Stream, full: &Stream) {
    let (end, items) = match read.items.split_last() {
        Some((end @ Item::Cut { .. }, items)) => (Some(end), items),
        _ => (None, &read.items[..]),
    };
    assert_eq!(items, &full.items[..items.len()]);
    match end {
        None => assert!(read.error.is_some()),
        Some(Item::Cut {
            silent: 0,
            hash: None,
        }) => {}
        Some(end) => assert_eq!(
            (Some(end), items.len()),
            (full.items.last(), full.items.len() - 1)
        ),
    }
}

/// Asserts that a trace in two files says what `expected` says, then makes one file of it and asserts that again.
pub(crate) fn assert_recovers_to(path: &Path, expected: &Streams) {
    assert_eq!(&sound_streams(path), expected);
    assert!(reenact_trace::recover(path).unwrap());
    assert!(!live_path(path).exists());
    assert_eq!(&sound_streams(path), expected);
    assert!(!reenact_trace::recover(path).unwrap());
}

/// Makes one file of a trace in two and leaves it in chunks: the file that it would be grouped into cannot be made.
pub(crate) fn recover_in_chunks(path: &Path) {
    let in_the_way = path.with_added_extension("new");
    fs::create_dir(&in_the_way).unwrap();
    assert!(reenact_trace::recover(path).unwrap());
    fs::remove_dir(&in_the_way).unwrap();
    assert!(!is_grouped(path));
}

/// Ends a recording whose process returned this status, in one file: in chunks or by activity.
pub(crate) fn finish(writer: Writer, path: &Path, in_chunks: bool, status: i32) {
    if in_chunks {
        drop(writer);
        recover_in_chunks(path);
    } else {
        writer.finish().unwrap();
    }
    append_exit(path, Exit::Status(status)).unwrap();
}

/// Whether a trace in one file is by activity.
pub(crate) fn is_grouped(path: &Path) -> bool {
    let kinds = kinds(&fs::read(path).unwrap());
    let in_chunks = kinds.contains(&CHUNK) || kinds.contains(&DATA);
    assert_ne!(kinds.contains(&DIRECTORY), in_chunks);
    kinds.contains(&DIRECTORY)
}

/// Copies both files of a trace that is still open, so that the copies are what a kill would have left. The live file
/// goes first: a chunk that is then no longer in it is in the trace file already.
pub(crate) fn copy_as_after_a_kill(from: &Path, to: &Path) {
    fs::copy(live_path(from), live_path(to)).unwrap();
    fs::copy(from, to).unwrap();
}

/// The name of a kind, if it has had it since version 2: a kind that gets a name later is the same in old traces.
fn name(kind: Kind) -> String {
    match kind {
        Kind::CLOCK | Kind::WITHHELD | Kind::ANSWER | Kind::DATA => {
            format!("kind {:#04x}", kind.code())
        }
        _ => kind.to_string(),
    }
}

/// The trace as text.
pub(crate) fn dump(trace: &Arc<Trace>) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").unwrap();
    let Program {
        executable,
        build_id,
        arguments,
        directory,
        environment,
        withheld,
    } = trace.program();
    line(format!(
        "Program {{ executable: {executable:?}, build_id: {build_id:?}, arguments: {arguments:?}, \
         directory: {directory:?}, environment: {environment:?} }}"
    ));
    if !withheld.is_empty() {
        line(format!("withheld: {withheld:?}"));
    }
    line(format!("complete: {}", trace.is_complete()));
    if let Some(damage) = trace.damage() {
        line(format!("damage: {damage}"));
    }
    if let Some(stop) = trace.stop() {
        line(format!("stop: {stop}"));
    }
    if let Some(exit) = trace.exit() {
        line(format!("exit: {exit}"));
    }
    let summary = trace.data_summary();
    if summary.count > 0 {
        line(format!("{} data, {} bytes", summary.count, summary.bytes));
    }
    for id in 0..summary.count {
        // Long ones are no pleasure to read.
        line(match trace.data(id) {
            Ok(bytes) if bytes.len() > 40 => {
                format!("  {id}: {} bytes, hash {:#x}", bytes.len(), xxh3_64(&bytes))
            }
            Ok(bytes) => format!("  {id}: {}", bytes.escape_ascii()),
            Err(error) => format!("  {error}"),
        });
    }
    for info in trace.activities() {
        line(format!(
            "activity {} {:?} {:?}",
            info.number,
            trace.family_name(info.number),
            info.name
        ));
        let stream = stream(trace, info.number);
        for item in stream.items {
            line(match item {
                Item::Event(event) if event.kind.has_two_numbers() => format!(
                    "  {} silent, {} {} {}",
                    event.silent,
                    name(event.kind),
                    event.number,
                    event.second
                ),
                Item::Event(event) => format!(
                    "  {} silent, {} {}",
                    event.silent,
                    name(event.kind),
                    event.number
                ),
                Item::Tick { silent, hash } => format!("  {silent} silent, tick {hash:#x}"),
                Item::End { silent, hash } => format!("  {silent} silent, end {hash:#x}"),
                Item::Cut { silent, hash } => format!("  {silent} silent, cut {hash:x?}"),
            });
        }
        if let Some(error) = stream.error {
            line(format!("  {error}"));
        }
        line(format!("  {} operations", stream.position));
    }
    text
}
