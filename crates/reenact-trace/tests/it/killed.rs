//! A process that records is killed at any instant, and nothing that it had recorded is lost.
//!
//! ```text
//! child, 8 threads:    store data, sometimes ── append event ── count it ── acknowledge ── append event ── count it ── …
//! parent:                              … after so many acknowledgements: SIGKILL, read, compare
//! ```
//!
//! A thread acknowledges each operation in memory that it shares with the parent, after having recorded it. So the
//! trace has as many operations as were acknowledged, or one more.
//!
//! In a second child activities end by the thousand without having said anything, and that is acknowledged.

use std::{
    env,
    fs::OpenOptions,
    io::{BufRead, BufReader},
    path::Path,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use memmap2::{MmapOptions, MmapRaw};
use reenact_trace::{Appender, Event, Item, Kind, Slot, TracePosition, Writer, live_path, recover};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    child,
    reading::{Stream, Streams, is_grouped, open, streams},
    script::{bytes, writer},
};

const THREADS: u32 = 8;
const RUNS: u64 = 300;
/// The kill comes when the threads have done some number of operations below this together, or a little later.
const OPERATIONS: u64 = 16_000;
/// By this the child knows when to call for the kill.
const CALL_AFTER: &str = "REENACT_TRACE_TEST_CALL_AFTER";
const EVENTS_PER_TICK: u64 = 64;

/// After how many events each life of a thread is over. Threads live short or long, as threads do.
const LIVES: [u64; 4] = [5, 200, 3_000, u64::MAX];

/// The data that the `n`-th event of an activity refers to, if it does. Some are what others have too, some are longer than
/// a chunk.
fn data(activity: u32, n: u64) -> Option<Vec<u8>> {
    let seed = match n % 32 {
        7 => u64::from(activity) << 32 | n,
        23 => n,
        _ => return None,
    };
    let length = if n.is_multiple_of(5) {
        20_000
    } else {
        10 + n as usize % 90
    };
    Some(bytes(length, seed))
}

/// The `n`-th event of an activity. Most are long, so that chunks are soon full. Which id its data have, nobody knows
/// beforehand.
fn event(activity: u32, n: u64) -> Event {
    if let Some(data) = data(activity, n) {
        return Event {
            silent: 0,
            kind: Kind::DATA,
            number: 0,
            second: xxh3_64(&data),
        };
    }
    let mixed = (n + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(activity);
    let kind = match mixed >> 32 & 7 {
        0 => Kind::TAKE,
        1 => Kind::OUTSIDE,
        _ => Kind::TAKE_AFTER_LOOKS,
    };
    Event {
        silent: (mixed >> 8 & 3 == 0).into(),
        kind,
        number: mixed >> (mixed >> 16 & 7),
        second: if kind.has_two_numbers() { mixed } else { 0 },
    }
}

/// The hash after so many operations.
fn hash(operations: u64) -> u32 {
    operations.wrapping_mul(0x0100_0193) as u32
}

/// What an activity says, for as long as it is let: its events, with a tick now and then.
fn items(activity: u32) -> impl Iterator<Item = Item> {
    let mut operations = 0;
    (0..).flat_map(move |n| {
        let event = event(activity, n);
        operations += u64::from(event.silent) + 1;
        let tick = (n % EVENTS_PER_TICK == EVENTS_PER_TICK - 1).then(|| Item::Tick {
            silent: 0,
            hash: hash(operations),
        });
        std::iter::once(Item::Event(event)).chain(tick)
    })
}

/// Memory that parent and child share.
struct Shared(MmapRaw);

impl Shared {
    fn open(directory: &Path) -> Shared {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(directory.join("acknowledged"))
            .unwrap();
        file.set_len(4096).unwrap();
        Shared(MmapOptions::new().len(4096).map_raw(&file).unwrap())
    }

    /// What a thread has acknowledged: which life it is in, and in the lower half how many operations it has done in it.
    fn acknowledged(&self, thread: u32) -> &AtomicU64 {
        self.word(1 + thread as usize)
    }

    /// How many operations all threads have done.
    fn total(&self) -> &AtomicU64 {
        self.word(0)
    }

    fn word(&self, n: usize) -> &AtomicU64 {
        // SAFETY: Aligned, within the mapping, and only ever used as an atomic.
        unsafe { AtomicU64::from_ptr(self.0.as_mut_ptr().cast::<u64>().add(n * 8)) }
    }
}

/// One life of a thread in the child.
struct Life<'a> {
    activity: u32,
    appender: Appender,
    slot: Slot,
    place: TracePosition,
    operations: u64,
    acknowledged: &'a AtomicU64,
    total: &'a AtomicU64,
    call_after: u64,
}

impl Life<'_> {
    fn count(&mut self) {
        self.operations += 1;
        let word = u64::from(hash(self.operations)) << 32 | self.operations & 0xffff_ffff;
        // SAFETY: The slot is ours, and mapped as long as we have it.
        unsafe { self.slot.word().as_ptr().write_volatile(word) };
        self.acknowledged.fetch_add(1, Ordering::Release);
        let total = self.total.fetch_add(1, Ordering::Relaxed);
        if total == self.call_after {
            println!("now");
        }
        // On a busy machine the kill may be long in coming, and all this has to be read.
        if total > self.call_after + OPERATIONS {
            loop {
                thread::park();
            }
        }
    }

    fn live(mut self, events: u64) {
        for n in 0..events {
            let mut event = event(self.activity, n);
            if let Some(data) = data(self.activity, n) {
                event.number = self.appender.data(&data).unwrap();
            }
            for _ in 0..event.silent {
                self.count();
            }
            assert!(self.appender.event(&mut self.place, self.activity, &event));
            self.count();
            if n % EVENTS_PER_TICK == EVENTS_PER_TICK - 1 {
                let hash = hash(self.operations);
                assert!(self.appender.tick(&mut self.place, self.activity, 0, hash));
            }
        }
        let hash = hash(self.operations);
        assert!(self.appender.end(&mut self.place, self.activity, 0, hash));
        self.appender.give_back(self.slot);
    }
}

fn live_and_live_again(writer: &Writer, shared: &Shared, thread: u32, call_after: u64) {
    for life in 0.. {
        let activity = life * THREADS + thread;
        let mut appender = writer.appender(thread).unwrap();
        let mut place = TracePosition::default();
        assert!(appender.start(&mut place, activity, 0, 0, ""));
        let slot = appender.slot(activity).unwrap();
        let acknowledged = shared.acknowledged(thread);
        acknowledged.store(u64::from(life) << 32, Ordering::Release);
        Life {
            activity,
            appender,
            slot,
            place,
            operations: 0,
            acknowledged,
            total: shared.total(),
            call_after,
        }
        .live(LIVES[thread as usize % LIVES.len()]);
    }
}

#[test]
#[ignore = "the child of another test"]
fn a_process_that_records_until_it_is_killed() {
    run_child(live_and_live_again);
}

/// In a child, runs `record` on all threads. Its last argument is after how many operations to call for the kill.
fn run_child(record: fn(&Writer, &Shared, u32, u64)) {
    let Some(directory) = child::directory() else {
        return;
    };
    let shared = Shared::open(&directory);
    let writer = writer(&directory.join("killed.reenact"));
    // The parent is to come in between soon, and the background writer, which has been started, is to come along.
    // SAFETY: A plain call, for this thread and those that it starts.
    unsafe { libc::nice(5) };
    let call_after = env::var(CALL_AFTER).unwrap().parse().unwrap();
    let everybody = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (writer, shared, everybody) = (&writer, &shared, &everybody);
            scope.spawn(move || {
                everybody.wait();
                record(writer, shared, thread, call_after)
            });
        }
    });
}

/// Has a child record, and kills it once it has acknowledged so many operations.
fn record_and_kill(child: &str, directory: &Path, after: u64) {
    let mut child = child::command(child, directory)
        .env(CALL_AFTER, after.to_string())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let called = output.lines().any(|line| line.unwrap().ends_with("now"));
    assert!(called, "the child ended by itself");
    // Now it is writing to the pipe. Let it get on with something else.
    for _ in 0..after.wrapping_mul(0x9e37_79b9) % 100_000 {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// How many operations a quiet activity does: the same as most of its neighbours.
fn quiet_operations(activity: u32) -> u32 {
    activity / 300 % 3 + u32::from(activity.is_multiple_of(77))
}

/// The activities of a thread in the second child begin here.
fn first_quiet(thread: u32) -> u32 {
    thread << 24
}

fn end_quietly_again_and_again(writer: &Writer, shared: &Shared, thread: u32, call_after: u64) {
    let mut appender = writer.appender(thread).unwrap();
    for activity in first_quiet(thread).. {
        let slot = appender.slot(activity).unwrap();
        let operations = quiet_operations(activity);
        let word = u64::from(hash(operations.into())) << 32 | u64::from(operations);
        // SAFETY: The slot is ours, and mapped as long as the writer is there.
        unsafe { slot.word().as_ptr().write_volatile(word) };
        assert!(appender.quiet_end(activity, operations, hash(operations.into())));
        appender.give_back(slot);
        shared.acknowledged(thread).fetch_add(1, Ordering::Release);
        let total = shared.total().fetch_add(1, Ordering::Relaxed);
        if total == call_after {
            println!("now");
        }
        if total > call_after + 10 * OPERATIONS {
            loop {
                thread::park();
            }
        }
    }
}

#[test]
#[ignore = "the child of another test"]
fn a_process_of_quiet_activities_that_is_killed() {
    run_child(end_quietly_again_and_again);
}

#[test]
fn a_killed_writer_loses_no_quiet_end() {
    for run in 0..60u64 {
        let (directory, path) = crate::in_directory("killed.reenact");
        let after = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (10 * OPERATIONS);
        record_and_kill(
            "killed::a_process_of_quiet_activities_that_is_killed",
            directory.path(),
            after,
        );
        let shared = Shared::open(directory.path());
        for recovered in [false, true] {
            assert_eq!(recovered, recovered && recover(&path).unwrap());
            let trace = open(&path);
            assert!(trace.is_complete());
            let mut known = 0;
            for thread in 0..THREADS {
                let ended = shared.acknowledged(thread).load(Ordering::Acquire) as u32;
                let first = first_quiet(thread);
                for activity in first..first + ended {
                    let operations = quiet_operations(activity);
                    let items: Vec<_> = trace.events(activity).map(Result::unwrap).collect();
                    let end = Item::End {
                        silent: operations,
                        hash: hash(operations.into()),
                    };
                    let cut = Item::Cut {
                        silent: 0,
                        hash: None,
                    };
                    assert_eq!(items, [end, cut], "activity {activity}");
                }
                // The next one may have begun, and ended.
                let next = trace.activity(first + ended).is_some();
                known += ended as usize + usize::from(next);
            }
            assert_eq!(trace.activities().len(), known);
        }
    }
}

/// Compares what was read with what the threads had acknowledged.
fn assert_nothing_is_lost(streams: &Streams, shared: &Shared) {
    let mut known = 0;
    for thread in 0..THREADS {
        let here = shared.acknowledged(thread).load(Ordering::Acquire);
        let (life, operations) = ((here >> 32) as u32, here & 0xffff_ffff);
        for past in 0..life {
            let activity = past * THREADS + thread;
            assert_life(activity, &streams[&activity], None);
            known += 1;
        }
        // Between a life and the next, and before the first, the start may be there or not.
        for (activity, operations) in [
            (life * THREADS + thread, operations),
            ((life + 1) * THREADS + thread, 0),
        ] {
            if let Some(stream) = streams.get(&activity) {
                assert_life(activity, stream, Some(operations));
                known += 1;
            } else {
                assert_eq!(operations, 0);
            }
        }
    }
    assert_eq!(streams.len(), known, "activities that nobody started");
}

/// Compares a stream with what its activity did: all of its life, or what it had acknowledged and not more than one
/// operation beyond.
fn assert_life(activity: u32, stream: &Stream, acknowledged: Option<u64>) {
    let events = LIVES[(activity % THREADS) as usize % LIVES.len()];
    let (cut, said) = stream.items.split_last().unwrap();
    let (end, said) = match said.split_last() {
        Some((Item::End { silent: 0, hash }, said)) => (Some(*hash), said),
        _ => (None, said),
    };
    // Reading has found the data, and what they should be is in the second number.
    let without_id = |item: &Item| match *item {
        Item::Event(event) if event.kind == Kind::DATA => Item::Event(Event { number: 0, ..event }),
        item => item,
    };
    assert!(
        said.iter()
            .map(without_id)
            .eq(items(activity).take(said.len()))
    );
    let Item::Cut { hash: at_cut, .. } = *cut else {
        panic!("a stream that ends with {cut:?}");
    };
    if let Some(at_cut) = at_cut {
        assert_eq!(at_cut, hash(stream.position));
    }
    if let Some(at_end) = end {
        let said = said
            .iter()
            .filter(|item| matches!(item, Item::Event(_)))
            .count() as u64;
        assert_eq!((said, at_end), (events, hash(stream.position)));
    }
    match acknowledged {
        None => assert!(end.is_some(), "a past life that has not ended"),
        Some(acknowledged) => assert!(
            (acknowledged..=acknowledged + 1).contains(&stream.position),
            "activity {activity} acknowledged {acknowledged}, {} were read",
            stream.position
        ),
    }
}

fn kill_often(runs: impl Iterator<Item = u64>) {
    let mut data = 0;
    for run in runs {
        let (directory, path) = crate::in_directory("killed.reenact");
        let after = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) % OPERATIONS;
        record_and_kill(
            "killed::a_process_that_records_until_it_is_killed",
            directory.path(),
            after,
        );

        let shared = Shared::open(directory.path());
        let read = || {
            let trace = open(&path);
            assert!(trace.is_complete());
            streams(&trace)
        };
        let left = read();
        assert_nothing_is_lost(&left, &shared);
        assert!(recover(&path).unwrap());
        assert!(!live_path(&path).exists());
        assert!(is_grouped(&path));
        let recovered = read();
        data += open(&path).data_summary().count;
        for (activity, stream) in &left {
            assert_eq!(recovered.get(activity), Some(stream), "activity {activity}");
        }
        assert_eq!(recovered.len(), left.len());
    }
    assert!(data > 1000, "only {data} data were stored in all runs");
}

#[test]
fn a_killed_writer_loses_no_event() {
    thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || kill_often((half..RUNS).step_by(2)));
        }
    });
}
