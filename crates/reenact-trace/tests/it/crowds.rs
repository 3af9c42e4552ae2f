//! Many threads: at once, and one after the other.

use std::{fs, sync::Barrier, thread};

use reenact_trace::{Kind, live_path};

use crate::{
    reading::{assert_recovers_to, copy_as_after_a_kill, open, sound_streams},
    script::{Recorder, event, temporary, writer},
    sections::{LIVE_HEADER, SLAB},
};

#[test]
fn three_hundred_threads_at_once_have_a_chunk_each() {
    const THREADS: u32 = 300;
    let (directory, path) = crate::in_directory("crowd.reenact");
    let writer = writer(&path);
    let everybody = Barrier::new(THREADS as usize);
    let recorders: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let (writer, everybody) = (&writer, &everybody);
                scope.spawn(move || {
                    let mut appender = writer.appender(number).unwrap();
                    everybody.wait();
                    let mut recorder = Recorder::start(&mut appender, number);
                    for n in 0..20 {
                        assert!(recorder.say(&mut appender, event(n % 3, Kind::TAKE, n.into())));
                    }
                    recorder.be_silent(number);
                    recorder
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    // 64 chunks are in a slab, and one slab has the slots.
    let live = fs::metadata(live_path(&path)).unwrap().len();
    assert_eq!(live, (LIVE_HEADER + 6 * SLAB) as u64);
    let expected = recorders
        .iter()
        .map(|recorder| (recorder.number, recorder.expected()))
        .collect();
    let copy = directory.path().join("copy.reenact");
    copy_as_after_a_kill(&path, &copy);
    assert_recovers_to(&copy, &expected);
    writer.clone().finish().unwrap();
    assert_eq!(sound_streams(&path), expected);
}

#[test]
fn twenty_thousand_short_lived_threads_share_a_few_chunks() {
    const THREADS: u32 = 4;
    const LIVES: u32 = 5_000;
    let (_directory, path, writer) = temporary();
    let expected = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let writer = &writer;
                scope.spawn(move || {
                    let live = |life| {
                        let number = life * THREADS + thread;
                        let mut appender = writer.appender(thread).unwrap();
                        let mut recorder = Recorder::start(&mut appender, number);
                        for n in 0..3 {
                            let event = event(n, Kind::TAKE, u64::from(number % 200));
                            assert!(recorder.say(&mut appender, event));
                        }
                        assert!(recorder.end(&mut appender));
                        recorder.leave(&mut appender);
                        (number, recorder.expected())
                    };
                    (0..LIVES).map(live).collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    let live = fs::metadata(live_path(&path)).unwrap().len();
    assert_eq!(live, (LIVE_HEADER + 2 * SLAB) as u64);
    writer.finish().unwrap();
    assert_eq!(sound_streams(&path), expected);
    // Who it is, where it comes from, three events and the end.
    let lives = u64::from(THREADS * LIVES);
    assert!((lives * 15..lives * 25).contains(&open(&path).size()));
}
