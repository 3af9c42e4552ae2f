//! What several threads write, of several activities that move between them, is read as it was written.
//!
//! ```text
//! round 1   thread 0: activity 0, activity 2      thread 1: activity 1
//! round 2   thread 0: activity 1                  thread 1: activity 0, activity 2
//! ```
//!
//! Within a round the threads run as they like; an activity is on one thread, as it would be on a worker pool. Activities
//! have children, as many as they like, which are all on another thread in each round and say little or nothing.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Barrier, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use proptest::{collection::vec, prelude::*};
use reenact_testing::generated;
use reenact_trace::{Appender, Event, Kind, Origin, TracePosition, Writer, live_path};

use crate::{
    reading::{
        Streams, assert_recovers_to, copy_as_after_a_kill, dump, is_grouped, open,
        recover_in_chunks, sound_streams, streams,
    },
    script::{Recorder, bytes, event, long_event, temporary, writer},
    sections::CHUNK_SIZE,
};

const THREADS: usize = 3;
const ACTIVITIES: usize = 4;

/// Something that an activity does.
#[derive(Debug, Clone)]
enum Say {
    Event(Event),
    /// So many long events that chunks are full.
    Much(u64),
    Tick,
    Silent(u32),
    /// Reads so many bytes from outside, which are of one of few kinds.
    Data(usize, u64),
    /// Has so many children.
    Spawn(u32),
}

/// What a child does in a round.
#[derive(Debug, Clone, Copy)]
enum Act {
    Nothing,
    Silent(u32),
    Event(Event),
    Tick,
    /// It ends, quietly if it has said nothing.
    End,
}

/// A child: whose, and which of theirs.
struct Child {
    recorder: Recorder,
    parent: u32,
    index: u64,
}

/// What the threads share while they perform a story.
struct Stage {
    recorders: [Mutex<Option<Recorder>>; ACTIVITIES],
    /// Of each activity.
    child_count: [Mutex<u64>; ACTIVITIES],
    children: Mutex<Vec<Child>>,
    next_number: AtomicU32,
    barrier: Barrier,
}

/// What an activity does in a round, and on which thread.
#[derive(Debug, Clone)]
struct Turn {
    thread: usize,
    says: Vec<Say>,
}

/// How an activity goes.
#[derive(Debug, Clone, Copy)]
enum Departure {
    /// It is still there when the recording ends.
    None,
    /// The process is killed between an event of it and the counting of that.
    Uncounted,
    /// It says its end.
    End,
    /// It says its end, does something more, says that, and gives its slot back: as a thread does that has destructors.
    EndAndMore,
}

#[derive(Debug, Clone)]
struct Story {
    rounds: Vec<[Turn; ACTIVITIES]>,
    departures: [(usize, Departure); ACTIVITIES],
    /// What children do, one after the other and from the beginning again.
    acts: Vec<Act>,
    /// Whether threads give their appender back after each round, for another thread to go on with its chunk.
    short_lived: [bool; THREADS],
}

fn events() -> impl Strategy<Value = Event> {
    let kinds = prop_oneof![
        3 => Just(Kind::TAKE),
        2 => Just(Kind::LOOK),
        3 => (1..0x60u8).prop_filter_map("reserved", Kind::new),
    ];
    let numbers = || prop_oneof![0..20u64, 100..20_000u64, any::<u64>()];
    (0..6u32, kinds, numbers(), numbers())
        .prop_map(|(silent, kind, number, second)| Event {
            silent,
            kind,
            number,
            second: if kind.has_two_numbers() { second } else { 0 },
        })
        // These are true.
        .prop_filter("children or data", |event| {
            ![Kind::CHILDREN, Kind::DATA].contains(&event.kind)
        })
}

fn stories() -> impl Strategy<Value = Story> {
    let says = prop_oneof![
        10 => events().prop_map(Say::Event),
        1 => (100..1500u64).prop_map(Say::Much),
        2 => Just(Say::Tick),
        2 => (0..2000u32).prop_map(Say::Silent),
        2 => (prop_oneof![0..50usize, 0..40_000usize], 0..9u64)
            .prop_map(|(length, seed)| Say::Data(length, seed)),
        1 => prop_oneof![1..10u32, 1..300u32].prop_map(Say::Spawn),
    ];
    let acts = prop_oneof![
        2 => Just(Act::Nothing),
        1 => (0..3u32).prop_map(Act::Silent),
        1 => events().prop_map(Act::Event),
        2 => (0..2u32, 0..5000u64).prop_map(|(silent, number)| Act::Event(event(silent, Kind::RECEIVE, number))),
        1 => Just(Act::Tick),
        2 => Just(Act::End),
    ];
    let turns = (0..THREADS, vec(says, 0..6)).prop_map(|(thread, says)| Turn { thread, says });
    let departures = prop_oneof![
        Just(Departure::None),
        Just(Departure::Uncounted),
        Just(Departure::End),
        Just(Departure::EndAndMore),
    ];
    (
        vec(proptest::array::uniform4(turns), 1..5),
        proptest::array::uniform4((0..THREADS, departures)),
        vec(acts, 1..12),
        any::<[bool; THREADS]>(),
    )
        .prop_map(|(rounds, departures, acts, short_lived)| Story {
            rounds,
            departures,
            acts,
            short_lived,
        })
}

/// Performs the story on threads; returns the activities and their children as they are at the end of it.
fn perform(story: &Story, writer: &Writer) -> (Vec<Recorder>, Vec<Child>) {
    let stage = Stage {
        recorders: Default::default(),
        child_count: Default::default(),
        children: Mutex::default(),
        next_number: AtomicU32::new(10),
        barrier: Barrier::new(THREADS),
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let stage = &stage;
            scope.spawn(move || perform_on_thread(story, writer, thread, stage));
        }
    });
    let recorders = stage.recorders.into_iter();
    (
        recorders
            .filter_map(|recorder| recorder.into_inner().unwrap())
            .collect(),
        stage.children.into_inner().unwrap(),
    )
}

impl Stage {
    /// An activity has children: says their numbers, and they are there.
    fn spawn(&self, parent: &mut Recorder, appender: &mut Appender, count: u32) {
        let first = self.next_number.fetch_add(count, Ordering::Relaxed);
        let block = Event {
            second: count.into(),
            ..event(0, Kind::CHILDREN, first.into())
        };
        assert!(parent.say(appender, block));
        let mut index = self.child_count[parent.number as usize].lock().unwrap();
        for number in first..first + count {
            let child = Child {
                recorder: Recorder::quiet(appender, number),
                parent: parent.number,
                index: *index,
            };
            *index += 1;
            self.children.lock().unwrap().push(child);
        }
    }

    /// Has those children act that are on this thread in this round.
    fn act(&self, story: &Story, round: usize, thread: usize, appender: &mut Appender) {
        let mut children = self.children.lock().unwrap();
        for Child { recorder, .. } in children.iter_mut() {
            let number = recorder.number as usize;
            if (number / 7 + round) % THREADS != thread || recorder.has_ended() {
                continue;
            }
            match story.acts[(number + round * 5) % story.acts.len()] {
                Act::Nothing => {}
                Act::Silent(operations) => recorder.be_silent(operations),
                Act::Event(event) => assert!(recorder.say(appender, event)),
                Act::Tick => assert!(recorder.tick(appender)),
                Act::End if recorder.is_quiet() => assert!(recorder.end_quietly(appender)),
                Act::End => {
                    assert!(recorder.end(appender));
                    recorder.leave(appender);
                }
            }
        }
    }
}

fn perform_on_thread(story: &Story, writer: &Writer, thread: usize, stage: &Stage) {
    let Stage {
        recorders, barrier, ..
    } = stage;
    let mut appender = writer.appender(thread as u32).unwrap();
    for (number, round) in story.rounds.iter().enumerate() {
        for (activity, turn) in round.iter().enumerate() {
            if turn.thread != thread {
                continue;
            }
            let mut recorder = recorders[activity].lock().unwrap();
            let recorder =
                recorder.get_or_insert_with(|| Recorder::start(&mut appender, activity as u32));
            for say in &turn.says {
                match *say {
                    Say::Event(event) => assert!(recorder.say(&mut appender, event)),
                    Say::Much(count) => {
                        for number in 0..count {
                            assert!(recorder.say(&mut appender, long_event(number)));
                        }
                    }
                    Say::Tick => assert!(recorder.tick(&mut appender)),
                    Say::Silent(operations) => recorder.be_silent(operations),
                    Say::Data(length, seed) => {
                        assert!(recorder.say_data(&mut appender, &bytes(length, seed)));
                    }
                    Say::Spawn(count) => stage.spawn(recorder, &mut appender, count),
                }
            }
        }
        barrier.wait();
        stage.act(story, number, thread, &mut appender);
        barrier.wait();
        if story.short_lived[thread] {
            drop(appender);
            barrier.wait();
            appender = writer.appender(thread as u32).unwrap();
        } else {
            barrier.wait();
        }
    }
    for (activity, &(on, departure)) in story.departures.iter().enumerate() {
        let mut recorder = recorders[activity].lock().unwrap();
        let Some(recorder) = recorder.as_mut().filter(|_| on == thread) else {
            continue;
        };
        match departure {
            Departure::None => {}
            Departure::Uncounted => {
                assert!(recorder.say_uncounted(&mut appender, event(2, Kind::CHOICE, 3)));
            }
            Departure::End => assert!(recorder.end(&mut appender)),
            Departure::EndAndMore => {
                assert!(recorder.end(&mut appender));
                assert!(recorder.say(&mut appender, event(1, Kind::TAKE, 9)));
                recorder.be_silent(1);
                assert!(recorder.tick(&mut appender));
                recorder.leave(&mut appender);
            }
        }
    }
}

fn check(story: &Story, finish: bool) {
    let (directory, path) = crate::in_directory("story.reenact");
    let writer = writer(&path);
    let (recorders, children) = perform(story, &writer);
    let expected: Streams = recorders
        .iter()
        .chain(children.iter().map(|child| &child.recorder))
        .map(|recorder| (recorder.number, recorder.expected()))
        .collect();

    let copy = directory.path().join("copy.reenact");
    copy_as_after_a_kill(&path, &copy);
    recover_in_chunks(&copy);
    assert_eq!(sound_streams(&copy), expected);
    let in_chunks = dump(&open(&copy));
    copy_as_after_a_kill(&path, &copy);
    assert_eq!(dump(&open(&copy)), in_chunks);
    assert_recovers_to(&copy, &expected);

    if finish {
        writer.finish().unwrap();
        assert!(!live_path(&path).exists());
        assert_eq!(sound_streams(&path), expected);
    } else {
        drop(writer);
        assert_recovers_to(&path, &expected);
    }
    for path in [&path, &copy] {
        assert!(is_grouped(path));
    }
    let trace = open(&path);
    assert_eq!(dump(&trace), in_chunks);
    for Child {
        recorder,
        parent,
        index,
    } in children
    {
        let info = trace.activity(recorder.number).unwrap();
        assert_eq!(
            (info.origin, info.index, info.in_block),
            (Origin::Child(parent), index, true)
        );
        let name = format!("main.a{index}");
        assert_eq!(trace.family_name(recorder.number), name);
    }
    // All are called main here, and say so themselves.
    for recorder in recorders {
        assert_eq!(trace.family_name(recorder.number), "main");
    }
}

proptest! {
    #![proptest_config(generated::config(48))]

    #[test]
    fn what_is_written_is_read_after_a_finish_a_drop_and_a_kill(story in stories(), finish: bool) {
        check(&story, finish);
    }
}

/// ```text
/// thread 0, chunk 0:   ………………………   event of 7 (position 0)
/// thread 1, chunk 1:   start of 7
/// ```
#[test]
fn an_activity_may_start_in_a_younger_chunk_than_it_goes_on_in() {
    let (_directory, path, writer) = temporary();
    let mut older = writer.appender(0).unwrap();
    let mut younger = writer.appender(1).unwrap();
    let mut recorder = Recorder::start(&mut younger, 7);
    assert!(recorder.tick(&mut younger));
    assert!(recorder.say(&mut older, event(0, Kind::TAKE, 3)));
    assert!(recorder.end(&mut younger));
    writer.clone().finish().unwrap();
    assert_eq!(
        sound_streams(&path),
        BTreeMap::from([(7, recorder.expected())])
    );
}

/// ```text
/// thread 0, chunk 0:   event (position 0)              tick, event (position 1)
/// thread 1, chunk 1:                       tick (1)
/// thread 2, chunk 2:                                                              tick, end (2)
/// ```
#[test]
fn checks_on_other_threads_that_stand_for_nothing_are_in_their_place() {
    let (_directory, path, writer) = temporary();
    let mut appenders: Vec<_> = (0..3)
        .map(|thread| writer.appender(thread).unwrap())
        .collect();
    let mut recorder = Recorder::start(&mut appenders[1], 7);
    assert!(recorder.say(&mut appenders[0], event(0, Kind::TAKE, 3)));
    for thread in [1, 0, 2, 0] {
        assert!(recorder.tick(&mut appenders[thread]));
    }
    assert!(recorder.say(&mut appenders[0], event(0, Kind::TAKE, 4)));
    assert!(recorder.tick(&mut appenders[2]));
    assert!(recorder.end(&mut appenders[1]));
    assert!(recorder.tick(&mut appenders[2]));
    assert!(recorder.say(&mut appenders[0], event(0, Kind::TAKE, 5)));
    drop(appenders);
    drop(writer);
    assert_recovers_to(&path, &BTreeMap::from([(7, recorder.expected())]));
}

/// What a switch costs decides what an actor's message costs.
#[test]
fn an_activity_that_comes_back_on_the_same_thread_costs_two_bytes() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    let mut recorders: Vec<_> = (0..100)
        .map(|number| Recorder::start(&mut appender, number * 20))
        .collect();
    let mut turn = |recorder: &mut Recorder| {
        assert!(recorder.say(&mut appender, event(0, Kind::TAKE, 1)));
    };
    recorders.iter_mut().for_each(&mut turn);
    let used = || {
        let live = std::fs::read(live_path(&path)).unwrap();
        // Chunks are given out from the end of the slab.
        let chunk = &live[live.len() - CHUNK_SIZE..];
        u32::from_le_bytes(chunk[32..36].try_into().unwrap())
    };
    let before = used();
    recorders.iter_mut().for_each(&mut turn);
    // Two for each switch and one for the event.
    assert_eq!(used() - before, 300);
}

#[test]
fn chunks_of_an_activity_that_says_much_are_in_order() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    let mut recorder = Recorder::start(&mut appender, 0);
    for number in 0..20_000 {
        assert!(recorder.say(&mut appender, long_event(number)));
    }
    writer.clone().finish().unwrap();
    let trace = open(&path);
    // 22 bytes an event, and little besides: what chunks cost is 40 bytes each.
    assert!((20_000 * 22..20_000 * 23).contains(&trace.size()));
    assert_eq!(streams(&trace), BTreeMap::from([(0, recorder.expected())]));
    assert_eq!(recorder.position(), 20_000);
}

#[test]
fn an_activity_that_the_trace_does_not_know_has_nothing_but_a_cut() {
    let (_directory, path) = crate::in_directory("empty.reenact");
    writer(&path).finish().unwrap();
    let trace = open(&path);
    assert_eq!(trace.activities().len(), 0);
    assert!(trace.activity(3).is_none());
    let items: Vec<_> = trace.events(3).map(Result::unwrap).collect();
    assert_eq!(
        items,
        [reenact_trace::Item::Cut {
            silent: 0,
            hash: None
        }]
    );
}

#[test]
fn the_program_the_exit_and_the_family_are_read_as_written() {
    let (_directory, path) = crate::in_directory("family.reenact");
    write_family(&path);
    let trace = open(&path);
    assert_eq!(trace.program(), &crate::script::program());
    assert_eq!(trace.exit(), Some(reenact_trace::Exit::Signal(11)));
    assert_eq!(trace.stop(), None);
    let names: Vec<_> = trace
        .activities()
        .map(|info| (trace.family_name(info.number), info.name))
        .collect();
    let long = "ä".repeat(32);
    assert_eq!(
        names,
        [
            ("main", "app"),
            ("main.0", ""),
            ("main.0.5", long.as_str()),
            ("foreign0(pool)", "pool"),
        ]
        .map(|(family, name)| (family.to_owned(), name.to_owned()))
    );
}

fn write_family(path: &Path) {
    let writer = writer(path);
    let mut appender = writer.appender(0).unwrap();
    let mut start = |number, origin, index, name: &str| {
        assert!(appender.start(&mut TracePosition::default(), number, origin, index, name));
    };
    start(0, 0, 0, "app");
    start(1, 2, 0, "");
    // 64 bytes are kept of a name, but no half of a character.
    start(2, 3, 5, &format!("{}x{}", "ä".repeat(32), "ä".repeat(9)));
    start(3, 1, 0, "pool");
    writer.finish().unwrap();
    reenact_trace::append_exit(path, reenact_trace::Exit::Signal(11)).unwrap();
}

#[test]
fn a_long_name_is_cut_between_characters() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    let name = format!("x{}", "ä".repeat(40));
    assert!(appender.start(&mut TracePosition::default(), 0, 0, 0, &name));
    writer.clone().finish().unwrap();
    let trace = open(&path);
    assert_eq!(trace.activity(0).unwrap().name, name[..63]);
}
