//! Very many activities that say little: what they cost in the files and in memory.

use std::{collections::BTreeMap, fs, path::Path, thread};

use reenact_trace::{Appender, Event, Item, Kind, Origin, TracePosition, live_path, recover};

use crate::{
    memory::{in_use, peak_of, total_of},
    reading::{assert_recovers_to, open, recover_in_chunks, sound_streams, stream},
    script::{Recorder, event, long_event, temporary, writer},
    sections::SLAB,
};

const ACTORS: u32 = 200_000;

fn children(first: u64, count: u64) -> Event {
    Event {
        second: count,
        ..event(0, Kind::CHILDREN, first)
    }
}

fn live_size(path: &Path) -> u64 {
    fs::metadata(live_path(path)).unwrap().len()
}

#[test]
fn an_idle_activity_costs_a_slot_and_nothing_else() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    let before = live_size(&path);
    let memory = peak_of(|| {
        for activity in 0..ACTORS {
            appender.slot(activity).unwrap();
        }
    });
    // The addresses of the free slots of one slab.
    assert!(memory <= SLAB / 16 * 8 + 4096, "{memory}");
    // One slab was there.
    let slabs = (u64::from(ACTORS) * 16).div_ceil(SLAB as u64) - 1;
    assert_eq!(live_size(&path) - before, slabs * SLAB as u64);

    drop((appender, writer));
    let trace = open(&path);
    assert_eq!(trace.activities().len(), ACTORS as usize);
    recover(&path).unwrap();
    let trace = open(&path);
    assert_eq!(trace.activities().len(), ACTORS as usize);
    assert!(trace.is_complete());
    // They are all alike.
    assert!(trace.size() < 300, "{}", trace.size());
}

/// ```text
/// thread 0:  slot ── give back ── slot …
/// thread 1:                 slot ── give back ── slot …
/// ```
#[test]
fn slots_that_are_given_back_are_given_out_again() {
    let (_directory, path, writer) = temporary();
    let before = live_size(&path);
    thread::scope(|scope| {
        for thread in 0..2 {
            let writer = &writer;
            scope.spawn(move || {
                for _ in 0..20 {
                    let mut appender = writer.appender(thread).unwrap();
                    let slots: Vec<_> = (0..10_000)
                        .map(|activity| appender.slot(activity).unwrap())
                        .collect();
                    slots.into_iter().for_each(|slot| appender.give_back(slot));
                }
            });
        }
    });
    assert_eq!(live_size(&path), before);
    writer.finish().unwrap();
    assert_eq!(open(&path).activities().len(), 0);
}

#[test]
fn a_slot_may_be_given_back_on_another_thread() {
    let (_directory, path, writer) = temporary();
    let mut one = writer.appender(0).unwrap();
    let mut other = writer.appender(1).unwrap();
    let slots: Vec<_> = (0..1000).map(|number| one.slot(number).unwrap()).collect();
    for slot in slots.into_iter().skip(1) {
        other.give_back(slot);
    }
    drop((one, other));
    writer.finish().unwrap();
    let numbers: Vec<_> = open(&path).activities().map(|info| info.number).collect();
    assert_eq!(numbers, [0]);
}

#[test]
fn ends_of_neighbours_are_one_entry_until_its_count_is_full() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    // More than a count of two bytes holds, and something in between.
    let mut main = TracePosition::default();
    for activity in 0..150_000 {
        assert!(appender.quiet_end(activity, 2, 7));
        if activity == 140_000 {
            assert!(appender.event(&mut main, 500_000, &event(0, Kind::TAKE, 1)));
        }
    }
    // Not alike.
    assert!(appender.quiet_end(150_000, 2, 8));
    assert!(appender.quiet_end(150_001, 3, 8));
    // Not neighbours.
    assert!(appender.quiet_end(150_003, 3, 8));
    assert!(appender.quiet_end(u32::MAX, 0, 0));
    assert!(appender.quiet_end(u32::MAX - 1, 0, 0));
    drop((appender, writer));
    recover_in_chunks(&path);
    // Eight runs of up to 14 bytes, a switch and an event.
    let empty = 219;
    assert!(open(&path).size() < empty + 8 * 14 + 10);
    let trace = open(&path);
    assert_eq!(trace.activities().len(), 150_006);
    for (activity, operations, hash) in [
        (0, 2, 7),
        (65_535, 2, 7),
        (65_536, 2, 7),
        (149_999, 2, 7),
        (150_000, 2, 8),
        (150_001, 3, 8),
        (150_003, 3, 8),
        (u32::MAX - 1, 0, 0),
        (u32::MAX, 0, 0),
    ] {
        let end = Item::End {
            silent: operations,
            hash,
        };
        let cut = Item::Cut {
            silent: 0,
            hash: None,
        };
        let read = stream(&trace, activity);
        assert_eq!(read.items, [end, cut], "activity {activity}");
        assert_eq!(read.position, operations.into());
    }
    assert!(trace.activity(150_002).is_none());
    assert_eq!(stream(&trace, 500_000).items.len(), 2);
}

#[test]
fn a_number_from_a_block_is_not_free_although_the_trace_has_nothing_of_that_child() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    let mut main = Recorder::start(&mut appender, 0);
    assert!(main.say(&mut appender, children(1, 8)));
    assert!(main.say(&mut appender, children(10, 5)));
    drop((appender, writer));
    let trace = open(&path);
    assert!(trace.activity(1).is_none());
    let free = [0, 1, 8, 9, 10, 12, 15].map(|from| trace.free_number(from));
    assert_eq!(free, [9, 9, 9, 9, 15, 15, 15].map(Some));
}

/// Nobody needs to say a start, and who says one keeps it.
#[test]
fn children_in_blocks_are_those_of_which_there_is_something() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    let mut main = Recorder::start(&mut appender, 0);
    assert!(main.say(&mut appender, children(10, 5)));
    let mut said = Recorder::quiet(&mut appender, 10);
    assert!(said.say(&mut appender, event(0, Kind::new(0x08).unwrap(), 0)));
    let mut ended = Recorder::quiet(&mut appender, 11);
    assert!(ended.end_quietly(&mut appender));
    let idle = Recorder::quiet(&mut appender, 12);
    // Of 13 there is nothing. 14 says itself who it is, and ends without having said more.
    let mut thread = Recorder::start_as(&mut appender, 14, 2, 7, "thread");
    assert!(thread.end_quietly(&mut appender));
    let stray = Recorder::quiet(&mut appender, 99);
    drop((appender, writer));
    let expected: BTreeMap<_, _> = [&main, &said, &ended, &idle, &thread, &stray]
        .map(|recorder| (recorder.number, recorder.expected()))
        .into();
    let check = || {
        let trace = open(&path);
        let names: Vec<_> = trace
            .activities()
            .map(|info| (info.number, trace.family_name(info.number)))
            .collect();
        let expected = [
            (0, "main"),
            (10, "main.a0"),
            (11, "main.a1"),
            (12, "main.a2"),
            (14, "main.7"),
            (99, "?99"),
        ];
        assert_eq!(names, expected.map(|(number, name)| (number, name.into())));
        assert!(trace.activity(13).is_none());
        assert_eq!(trace.family_name(13), "main.a3");
        let origin = |number| trace.activity(number).unwrap().origin;
        assert_eq!(origin(12), Origin::Child(0));
        assert_eq!(origin(99), Origin::Unknown);
    };
    check();
    assert_recovers_to(&path, &expected);
    check();
}

/// Many actors of which each says as much as `talk` has it say.
fn record_actors(path: &Path, talk: impl Fn(&mut Appender, &mut TracePosition, u32)) {
    let writer = writer(path);
    let mut appenders: Vec<_> = (0..2).map(|n| writer.appender(n).unwrap()).collect();
    let mut main = TracePosition::default();
    assert!(appenders[0].start(&mut main, 0, 0, 0, ""));
    let block = children(1, ACTORS.into());
    assert!(appenders[0].event(&mut main, 0, &block));
    for activity in 1..=ACTORS {
        let mut place = TracePosition::default();
        talk(
            &mut appenders[activity as usize / 100 % 2],
            &mut place,
            activity,
        );
    }
    drop(appenders);
    writer.finish().unwrap();
}

#[test]
fn a_trace_by_activity_takes_little_memory_to_read() {
    let (_directory, path) = crate::in_directory("memory.reenact");
    record_actors(&path, |appender, place, activity| {
        let messages = if activity == 7 { 20_000 } else { activity % 4 };
        for n in 0..messages {
            assert!(appender.event(place, activity, &long_event(n.into())));
        }
        if activity % 4 == 0 {
            assert!(appender.quiet_end(activity, activity, 0));
        }
    });
    let mut trace = None;
    let before = in_use();
    let memory = peak_of(|| trace = Some(open(&path)));
    let kept = in_use() - before;
    let trace = trace.unwrap();
    // Rows, and the index to find them by.
    assert!(kept < 26 * ACTORS as isize + (1 << 14), "{kept}");
    assert_eq!(trace.activities().len(), ACTORS as usize + 1);
    // Rows that double as they grow, for the moment in which both halves are there, and a section of the directory.
    assert!(memory < 3 * 24 * ACTORS as usize + (1 << 20), "{memory}");

    let take = |activity| {
        total_of(|| {
            let items = trace.events(activity).map(Result::unwrap).count();
            let said = if activity == 7 { 20_000 } else { activity % 4 };
            let ended = u32::from(activity % 4 == 0);
            assert_eq!(items as u32, said + ended + 1);
        })
    };
    // Verifying a section for the first time takes a section.
    trace.check(|_| ()).unwrap();
    assert_eq!(take(4), 0);
    assert_eq!(take(ACTORS), 0);
    for said in 1..4 {
        assert_eq!(take(40_000 + said), 22 * said as usize);
    }
    assert_eq!(take(7), 2 << 10);
}

/// Recovering takes memory for the activities that there are, not for what they said.
#[test]
fn the_memory_that_recovering_takes_does_not_depend_on_length() {
    let (_directory, path) = crate::in_directory("length.reenact");
    let record = |events: u64| {
        let writer = writer(&path);
        let mut appenders: Vec<_> = (0..3).map(|n| writer.appender(n).unwrap()).collect();
        let mut recorders: Vec<_> = (0..3)
            .map(|number| Recorder::start(&mut appenders[0], number))
            .collect();
        for number in 0..events {
            for recorder in &mut recorders {
                let appender =
                    &mut appenders[(number / 50 + u64::from(recorder.number)) as usize % 3];
                assert!(recorder.say(appender, long_event(number)));
            }
        }
        let expected: BTreeMap<_, _> = recorders
            .iter()
            .map(|recorder| (recorder.number, recorder.expected()))
            .collect();
        drop((appenders, writer));
        expected
    };
    let mut memory = Vec::new();
    for events in [5_000, 50_000] {
        let expected = record(events);
        memory.push(peak_of(|| assert!(recover(&path).unwrap())));
        assert_eq!(sound_streams(&path), expected);
    }
    let [short, long] = memory[..] else {
        panic!("two sizes");
    };
    // Of a chunk there is only where it is: 3.3 MB are 200 of them.
    assert!(long < short + 200 * 100, "{short} {long}");
}
