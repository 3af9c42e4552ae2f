//! What recording, recovering and reading cost with a million activities. Times are of this thread's use of a processor,
//! so that others on the machine matter less.
//!
//! ```text
//! cargo bench -p reenact-trace
//! ```

use std::{fs, hint::black_box, path::Path, sync::Arc, time::Duration};

use reenact_trace::{
    Appender, Event, Kind, Program, Storage, Trace, TracePosition, Writer, live_path, recover,
};

const ACTORS: u32 = 1_000_000;
const MESSAGES: u32 = 10_000_000;

fn main() {
    let directory = tempfile::tempdir().expect("a place for files");
    let path = directory.path().join("bench.reenact");
    println!("| what | result |");
    println!("|---|---|");
    appending(&path);
    short_lives(&path);
    recovering_threads(&path);
    recovering(&path);
}

/// How long this thread has been running.
struct Instant(Duration);

impl Instant {
    fn now() -> Instant {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Instant(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }

    fn elapsed(&self) -> Duration {
        Instant::now().0 - self.0
    }
}

fn row(what: &str, result: String) {
    println!("| {what} | {result} |");
}

fn writer(path: &Path, storage: Storage) -> Writer {
    Writer::create(path, &Program::default(), storage, |why| panic!("{why}")).expect("a writer")
}

fn each(time: Duration, count: u32) -> String {
    format!("{:.1} ns", time.as_secs_f64() * 1e9 / f64::from(count))
}

fn message(silent: u32, sender: u64) -> Event {
    Event {
        silent,
        kind: Kind::RECEIVE,
        number: sender,
        second: 0,
    }
}

/// Events, by one activity and by many in turn.
fn appending(path: &Path) {
    for storage in [Storage::Discard, Storage::File] {
        for actors in [1, 1 << 10, 1 << 17] {
            let writer = writer(path, storage);
            let mut appender = writer.appender(0).expect("a chunk");
            let mut places: Vec<_> = (0..actors).map(|_| TracePosition::default()).collect();
            let begin = Instant::now();
            for n in 0..MESSAGES {
                let actor = (n.wrapping_mul(7919) & (actors - 1)) as usize;
                let event = message(n & 1, u64::from(n & 15));
                assert!(appender.event(&mut places[actor], actor as u32, black_box(&event)));
            }
            row(
                &format!("an event of one of {actors} activities, {storage:?}"),
                each(begin.elapsed(), MESSAGES),
            );
        }
    }
}

/// A slot, a quiet end, and the slot back.
fn short_lives(path: &Path) {
    let writer = writer(path, Storage::Discard);
    let mut appender = writer.appender(0).expect("a chunk");
    let begin = Instant::now();
    for activity in 0..MESSAGES {
        let slot = appender.slot(activity).expect("a slot");
        assert!(appender.quiet_end(activity, 1, 7));
        appender.give_back(slot);
    }
    row(
        "an activity that ends quietly",
        each(begin.elapsed(), MESSAGES),
    );
}

/// A million actors with ten messages each, of which two are surprises, on two threads; a million that are idle, and a
/// million that ended quietly.
fn record(path: &Path) -> (Writer, Vec<Appender>) {
    let writer = writer(path, Storage::File);
    let mut appenders: Vec<_> = (0..2)
        .map(|thread| writer.appender(thread).expect("a chunk"))
        .collect();
    let mut main = TracePosition::default();
    assert!(appenders[0].start(&mut main, 0, 0, 0, "main"));
    let children = Event {
        silent: 0,
        kind: Kind::CHILDREN,
        number: 1,
        second: 3 * u64::from(ACTORS),
    };
    assert!(appenders[0].event(&mut main, 0, &children));
    let mut places: Vec<_> = (0..ACTORS).map(|_| TracePosition::default()).collect();
    for round in 0..2 {
        for (n, place) in (0..).zip(&mut places) {
            // An actor that spoke in a chunk that is gone has to say again who it is.
            let appender = &mut appenders[(n / 64 + round) as usize % 2];
            for sender in [n & 15, n & 7] {
                assert!(appender.event(place, 1 + n, &message(4, sender.into())));
            }
        }
    }
    for n in 0..ACTORS {
        appenders[0].slot(1 + ACTORS + n).expect("a slot");
        assert!(appenders[1].quiet_end(1 + 2 * ACTORS + n, n / 1000 % 3, 7));
    }
    (writer, appenders)
}

/// Makes one file of a trace; says how fast.
fn recover_timed(path: &Path, what: &str) {
    let chunks = fs::metadata(path).expect("a trace").len();
    let begin = Instant::now();
    assert!(recover(path).expect("a whole trace"));
    assert!(!live_path(path).exists());
    let time = begin.elapsed();
    let grouped = fs::metadata(path).expect("a trace").len();
    row(
        &format!("recovering {what}"),
        format!(
            "{time:.2?}, {:.0} MB/s ({:.1} MB of chunks become {:.1} MB)",
            chunks as f64 / time.as_secs_f64() / 1e6,
            chunks as f64 / 1e6,
            grouped as f64 / 1e6
        ),
    );
}

/// Four threads that stay where they are.
fn recovering_threads(path: &Path) {
    let writer = writer(path, Storage::File);
    for thread in 0..4 {
        let mut appender = writer.appender(thread).expect("a chunk");
        let mut place = TracePosition::default();
        assert!(appender.start(&mut place, thread, 0, 0, ""));
        for n in 0..2 * MESSAGES {
            let event = Event {
                silent: n & 7,
                kind: Kind::TAKE,
                number: u64::from(n & 31),
                second: 0,
            };
            assert!(appender.event(&mut place, thread, &event));
        }
    }
    drop(writer);
    recover_timed(path, "80 million events of 4 threads");
}

fn recovering(path: &Path) {
    let begin = Instant::now();
    drop(record(path));
    row(
        "recording 3 million actors",
        format!("{:.2?}", begin.elapsed()),
    );
    let begin = Instant::now();
    drop(Trace::open(path).expect("a trace"));
    row("opening in chunks", format!("{:.2?}", begin.elapsed()));

    recover_timed(path, "3 million actors");

    let begin = Instant::now();
    let trace = Arc::new(Trace::open(path).expect("a trace"));
    row("opening by activity", format!("{:.2?}", begin.elapsed()));

    for (kind, first) in [
        ("spoke", 1),
        ("are idle", 1 + ACTORS),
        ("ended quietly", 1 + 2 * ACTORS),
    ] {
        let begin = Instant::now();
        for n in 0..ACTORS {
            let activity = first + n.wrapping_mul(7919) % ACTORS;
            black_box(trace.events(activity));
        }
        row(
            &format!("`events` of activities that {kind}"),
            each(begin.elapsed(), ACTORS),
        );
    }
    let begin = Instant::now();
    for n in 0..ACTORS {
        let activity = 1 + n.wrapping_mul(7919) % ACTORS;
        assert_eq!(trace.events(activity).count(), 5);
    }
    row(
        "reading a stream of 4 events",
        each(begin.elapsed(), ACTORS),
    );
}
