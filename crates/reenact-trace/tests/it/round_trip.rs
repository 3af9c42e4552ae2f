//! What several threads write, of several activities that move between them, is read as it was written.
//!
//! ```text
//! round 1   thread 0: activity 0, activity 2      thread 1: activity 1
//! round 2   thread 0: activity 1                  thread 1: activity 0, activity 2
//! ```
//!
//! Within a round the threads run as they like; an activity is on one thread, as it would be on a worker pool.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Barrier, Mutex},
    thread,
};

use proptest::{collection::vec, prelude::*};
use reenact_trace::{Event, Kind, Writer, live_path};

use crate::{
    reading::{Streams, assert_recovers_to, copy_as_after_a_kill, open, sound_streams, streams},
    script::{Speaker, event, long_event, writer},
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
    /// Whether threads give their appender back after each round, for another thread to go on with its chunk.
    short_lived: [bool; THREADS],
}

fn events() -> impl Strategy<Value = Event> {
    let kinds = prop_oneof![
        3 => Just(Kind::TAKE),
        2 => Just(Kind::LOOK),
        3 => (1..0x60u8).prop_map(|code| Kind::new(code).unwrap()),
    ];
    let numbers = || prop_oneof![0..20u64, 100..20_000u64, any::<u64>()];
    (0..6u32, kinds, numbers(), numbers()).prop_map(|(silent, kind, number, second)| Event {
        silent,
        kind,
        number,
        second: if kind.has_two_numbers() { second } else { 0 },
    })
}

fn stories() -> impl Strategy<Value = Story> {
    let says = prop_oneof![
        10 => events().prop_map(Say::Event),
        1 => (100..1500u64).prop_map(Say::Much),
        2 => Just(Say::Tick),
        2 => (0..2000u32).prop_map(Say::Silent),
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
        any::<[bool; THREADS]>(),
    )
        .prop_map(|(rounds, departures, short_lived)| Story {
            rounds,
            departures,
            short_lived,
        })
}

/// Has the story told by threads; returns the activities as they are at the end of it.
fn tell(story: &Story, writer: &Writer) -> Vec<Speaker> {
    let speakers: [Mutex<Option<Speaker>>; ACTIVITIES] = Default::default();
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (speakers, barrier) = (&speakers, &barrier);
            scope.spawn(move || tell_on_thread(story, writer, thread, speakers, barrier));
        }
    });
    speakers
        .into_iter()
        .filter_map(|speaker| speaker.into_inner().unwrap())
        .collect()
}

fn tell_on_thread(
    story: &Story,
    writer: &Writer,
    thread: usize,
    speakers: &[Mutex<Option<Speaker>>],
    barrier: &Barrier,
) {
    let mut appender = writer.appender(thread as u32).unwrap();
    for round in &story.rounds {
        for (activity, turn) in round.iter().enumerate() {
            if turn.thread != thread {
                continue;
            }
            let mut speaker = speakers[activity].lock().unwrap();
            let speaker = speaker
                .get_or_insert_with(|| Speaker::start(writer, &mut appender, activity as u32));
            // A check that follows no operation on this thread would stand for nothing, and a recorder makes none.
            let mut done = false;
            for say in &turn.says {
                let checks = matches!(say, Say::Tick);
                if checks && !done {
                    continue;
                }
                done |= !checks;
                match *say {
                    Say::Event(event) => assert!(speaker.say(&mut appender, event)),
                    Say::Much(count) => {
                        for number in 0..count {
                            assert!(speaker.say(&mut appender, long_event(number)));
                        }
                    }
                    Say::Tick => assert!(speaker.tick(&mut appender)),
                    Say::Silent(operations) => speaker.be_silent(operations),
                }
            }
        }
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
        let mut speaker = speakers[activity].lock().unwrap();
        let Some(speaker) = speaker.as_mut().filter(|_| on == thread) else {
            continue;
        };
        match departure {
            Departure::None => {}
            Departure::Uncounted => {
                assert!(speaker.say_uncounted(&mut appender, event(2, Kind::CHOICE, 3)));
            }
            Departure::End => assert!(speaker.end(&mut appender)),
            Departure::EndAndMore => {
                assert!(speaker.end(&mut appender));
                assert!(speaker.say(&mut appender, event(1, Kind::TAKE, 9)));
                speaker.be_silent(1);
                assert!(speaker.tick(&mut appender));
                speaker.leave();
            }
        }
    }
}

fn expected(speakers: &[Speaker]) -> Streams {
    speakers
        .iter()
        .map(|speaker| (speaker.number, speaker.expected()))
        .collect()
}

fn check(story: &Story, finish: bool) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("story.reenact");
    let writer = writer(&path);
    let mut speakers = tell(story, &writer);

    let copy = directory.path().join("copy.reenact");
    copy_as_after_a_kill(&path, &copy);
    assert_recovers_to(&copy, &expected(&speakers));

    if finish {
        writer.finish().unwrap();
        assert!(!live_path(&path).exists());
        assert_eq!(sound_streams(&path), expected(&speakers));
    } else {
        speakers.iter_mut().for_each(Speaker::leave);
        drop(writer);
        assert_recovers_to(&path, &expected(&speakers));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

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
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("moved.reenact");
    let writer = writer(&path);
    let mut older = writer.appender(0).unwrap();
    let mut younger = writer.appender(1).unwrap();
    let mut speaker = Speaker::start(&writer, &mut younger, 7);
    assert!(speaker.tick(&mut younger));
    assert!(speaker.say(&mut older, event(0, Kind::TAKE, 3)));
    assert!(speaker.end(&mut younger));
    writer.clone().finish().unwrap();
    assert_eq!(
        sound_streams(&path),
        BTreeMap::from([(7, speaker.expected())])
    );
}

#[test]
fn chunks_of_an_activity_that_says_much_are_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("much.reenact");
    let writer = writer(&path);
    let mut appender = writer.appender(0).unwrap();
    let mut speaker = Speaker::start(&writer, &mut appender, 0);
    for number in 0..20_000 {
        assert!(speaker.say(&mut appender, long_event(number)));
    }
    writer.clone().finish().unwrap();
    let trace = open(&path);
    // 22 bytes an event, and little besides: what chunks cost is 40 bytes each.
    assert!((20_000 * 22..20_000 * 23).contains(&trace.size()));
    assert_eq!(streams(&trace), BTreeMap::from([(0, speaker.expected())]));
    assert_eq!(speaker.position(), 20_000);
}

#[test]
fn an_activity_that_the_trace_does_not_know_has_nothing_but_a_cut() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty.reenact");
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
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("family.reenact");
    write_family(&path);
    let trace = open(&path);
    assert_eq!(trace.program(), &crate::script::program());
    assert_eq!(trace.exit(), Some(reenact_trace::Exit::Signal(11)));
    assert_eq!(trace.stop(), None);
    let names: Vec<_> = trace
        .activities()
        .map(|info| (trace.family_name(info.number), info.name.as_str()))
        .collect();
    let long = "ä".repeat(32);
    assert_eq!(
        names,
        [
            ("main".to_owned(), "app"),
            ("main.0".to_owned(), ""),
            ("main.0.5".to_owned(), long.as_str()),
            ("foreign0(pool)".to_owned(), "pool"),
        ]
    );
}

fn write_family(path: &Path) {
    let writer = writer(path);
    let mut appender = writer.appender(0).unwrap();
    assert!(appender.start(0, 0, 0, "app"));
    assert!(appender.start(1, 2, 0, ""));
    // 64 bytes are kept of a name, but no half of a character.
    assert!(appender.start(2, 3, 5, &format!("{}x{}", "ä".repeat(32), "ä".repeat(9))));
    assert!(appender.start(3, 1, 0, "pool"));
    writer.finish().unwrap();
    reenact_trace::append_exit(path, reenact_trace::Exit::Signal(11)).unwrap();
}

#[test]
fn a_long_name_is_cut_between_characters() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("name.reenact");
    let writer = writer(&path);
    let mut appender = writer.appender(0).unwrap();
    let name = format!("x{}", "ä".repeat(40));
    assert!(appender.start(0, 0, 0, &name));
    writer.clone().finish().unwrap();
    let trace = open(&path);
    assert_eq!(trace.activity(0).unwrap().name, name[..63]);
}
