//! How the writer behaves towards the program that it records.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use reenact_trace::{
    Kind, StopReason, Storage, Trace, TraceError, TracePosition, Writer, live_path,
};

use crate::{
    reading::{assert_recovers_to, open, sound_streams},
    script::{Recorder, event, long_event, program, temporary, writer},
};

#[test]
fn a_stop_is_marked_once_and_the_first_reason_stays() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    fn on_stop(why: StopReason) {
        assert_eq!(why, StopReason::NoRoom);
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
    let (_directory, path) = crate::in_directory("stopped.reenact");
    let writer = Writer::create(&path, &program(), Storage::File, on_stop).unwrap();
    let mut appender = writer.appender(0).unwrap();
    let mut recorder = Recorder::start(&mut appender, 0);
    // Its chunk is left behind, with room in it, and yet nobody gets it after the stop.
    drop(writer.appender(1).unwrap());
    writer.stop(StopReason::NoRoom);
    writer.stop(StopReason::Asked);
    assert!(writer.has_stopped());
    assert!(writer.appender(2).is_none());
    assert!(appender.slot(2).is_none());
    // What has a chunk may fill it.
    let mut said = 0;
    while recorder.say(&mut appender, long_event(said)) {
        said += 1;
    }
    assert_eq!(said, 737);
    assert!(!recorder.tick(&mut appender));
    assert!(!recorder.end(&mut appender));
    assert!(!appender.start(&mut TracePosition::default(), 3, 0, 0, ""));
    assert!(!appender.quiet_end(4, 0, 0));
    assert_eq!(appender.data(b"late"), None);
    let expected = [(0, recorder.expected())].into();
    drop(appender);
    assert!(writer.appender(2).is_none());
    drop(writer);
    assert_recovers_to(&path, &expected);
    assert_eq!(open(&path).stop(), Some(StopReason::NoRoom));
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
}

#[test]
fn files_are_for_their_owner_only() {
    let (_directory, path) = crate::in_directory("private.reenact");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for exists in [false, true] {
        if exists {
            // An earlier one that everybody may read is no reason that this one is so.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let writer = writer(&path);
        assert_eq!((mode(&path), mode(&live_path(&path))), (0o600, 0o600));
        // Finishing makes a new file and puts it in the place of this one.
        let inode = fs::metadata(&path).unwrap().ino();
        writer.finish().unwrap();
        assert_ne!(fs::metadata(&path).unwrap().ino(), inode);
        assert_eq!(mode(&path), 0o600);
    }
}

#[test]
fn the_hook_may_use_the_writer() {
    static WRITER: OnceLock<Writer> = OnceLock::new();
    fn on_stop(_: StopReason) {
        let writer = WRITER.get().unwrap();
        assert!(writer.has_stopped());
        assert!(writer.appender(0).is_none());
        writer.stop(StopReason::Asked);
    }
    let (_directory, path) = crate::in_directory("hook.reenact");
    let writer = Writer::create(&path, &program(), Storage::File, on_stop).unwrap();
    WRITER.set(writer.clone()).ok().unwrap();
    writer.stop(StopReason::Storage(5));
    writer.finish().unwrap();
    assert_eq!(open(&path).stop(), Some(StopReason::Storage(5)));
}

#[test]
fn recording_after_the_finish_fails_when_the_chunk_is_full() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    let mut recorder = Recorder::start(&mut appender, 0);
    writer.clone().finish().unwrap();
    let before = sound_streams(&path);
    while recorder.say(&mut appender, long_event(0)) {}
    assert!(writer.appender(1).is_none());
    assert!(appender.slot(1).is_none());
    drop(appender);
    assert_eq!(sound_streams(&path), before);
    assert_eq!(open(&path).stop(), None);
}

/// A child process that records to the file of its parent.
#[test]
fn a_second_recording_to_the_same_file_does_not_bring_the_first_one_down() {
    let (_directory, path) = crate::in_directory("twice.reenact");
    let first = writer(&path);
    let mut appender = first.appender(0).unwrap();
    let mut recorder = Recorder::start(&mut appender, 0);

    let second = writer(&path);
    let mut other = second.appender(0).unwrap();
    let mut survivor = Recorder::start(&mut other, 5);
    assert!(survivor.say(&mut other, event(1, Kind::TAKE, 1)));
    for number in 0..100 {
        assert!(recorder.say(&mut appender, long_event(number)));
    }
    second.clone().finish().unwrap();
    assert_eq!(sound_streams(&path), [(5, survivor.expected())].into());
}

/// A kill can fall between the new trace file and its live file; the old live file must not be taken for it.
#[test]
fn a_live_file_of_an_earlier_recording_is_gone_before_the_new_one_begins() {
    let (_directory, path) = crate::in_directory("again.reenact");
    fs::write(live_path(&path), "something old").unwrap();
    let writer = writer(&path);
    drop(writer);
    assert_recovers_to(&path, &[].into());
}

#[test]
fn a_directory_that_cannot_be_written_to_is_an_error_with_its_path() {
    let Err(error) = Writer::create(
        Path::new("/proc/bug.reenact"),
        &program(),
        Storage::File,
        |_| (),
    ) else {
        panic!("/proc takes files now");
    };
    expect_test::expect!["cannot create /proc/bug.reenact: No such file or directory (os error 2)"]
        .assert_eq(&error.to_string());
}

/// A directory in the place of the live file: the trace can be created, its live file cannot.
#[test]
fn a_live_file_that_cannot_be_set_up_is_an_error_with_its_path() {
    let (_directory, path) = crate::in_directory("blocked.reenact");
    fs::create_dir(live_path(&path)).unwrap();
    let Err(TraceError::Io {
        action,
        path: blamed,
        ..
    }) = Writer::create(&path, &program(), Storage::File, |_| ())
    else {
        panic!("it was created");
    };
    assert_eq!((action, blamed), ("cannot set up", live_path(&path)));
}

/// A program that waits for signals blocks them in all of its threads. Ours must not be the one that gets them.
#[test]
fn the_background_thread_takes_no_signals() {
    let directory = tempfile::tempdir().unwrap();
    let _writer = writer(&directory.path().join("signals.reenact"));
    // It gives itself its name when it begins to run, and there is no other way to know it.
    let blocked = loop {
        if let Some(blocked) = blocked_in_writers_thread() {
            break blocked;
        }
        thread::yield_now();
    };
    for signal in [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGCHLD,
        libc::SIGUSR1,
        libc::SIGALRM,
        libc::SIGPROF,
        libc::SIGRTMAX(),
    ] {
        assert_ne!(blocked & 1 << (signal - 1), 0, "signal {signal}");
    }
}

fn blocked_in_writers_thread() -> Option<u64> {
    fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("status")).ok())
        .find(|status| status.starts_with("Name:\treenact-writer\n"))
        .map(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("SigBlk:\t"));
            u64::from_str_radix(line.unwrap(), 16).unwrap()
        })
}

#[test]
fn discarded_chunks_are_missed_by_readers() {
    let (_directory, path) = crate::in_directory("discarded.reenact");
    let writer = Writer::create(&path, &program(), Storage::Discard, |_| ()).unwrap();
    let mut appender = writer.appender(0).unwrap();
    let mut recorder = Recorder::start(&mut appender, 0);
    for number in 0..3000 {
        assert!(recorder.say(&mut appender, long_event(number)));
    }
    writer.clone().finish().unwrap();
    let trace = Trace::open(&path).unwrap();
    assert!(trace.damage().is_some());
    assert!(!trace.is_complete());
}
