//! Somebody truncates the live file while a program records: the recording ends, and the program goes on.

use std::{
    fs::{self, File},
    os::unix::process::ExitStatusExt,
    sync::atomic::{AtomicU32, Ordering},
};

use reenact_trace::{StopReason, Storage, Trace, TracePosition, Writer, live_path, recover};

use crate::{
    child,
    script::{Recorder, long_event, program},
    sections::LIVE_HEADER,
};

static STOPS: AtomicU32 = AtomicU32::new(0);

fn create(path: &std::path::Path) -> Writer {
    Writer::create(path, &program(), Storage::File, |why| {
        assert_eq!(why, StopReason::Truncated);
        STOPS.fetch_add(1, Ordering::SeqCst);
    })
    .unwrap()
}

fn truncate(path: &std::path::Path, length: u64) {
    let live = File::options().write(true).open(live_path(path)).unwrap();
    live.set_len(length).unwrap();
}

#[test]
fn a_truncated_live_file_ends_the_recording_and_not_the_program() {
    for (number, length) in [0, 100, LIVE_HEADER as u64, 2 << 20]
        .into_iter()
        .enumerate()
    {
        let (_directory, path) = crate::in_directory("bug.reenact");
        let writer = create(&path);
        let mut appender = writer.appender(0).unwrap();
        let mut recorder = Recorder::start(&mut appender, 0);
        for event in 0..5000 {
            assert!(recorder.say(&mut appender, long_event(event)));
        }
        truncate(&path, length);
        let mut position = TracePosition::default();
        let mut event = 0;
        while recorder.say(&mut appender, long_event(event)) {
            event += 1;
            // Somebody else comes and counts.
            if let Some(slot) = appender.slot(7) {
                let _ = appender.start(&mut position, 7, 0, 0, "late");
                appender.give_back(slot);
            }
        }
        assert!(writer.has_stopped());
        assert!(writer.appender(1).is_none());
        // This waits for the background writer, which may be the one that finds out.
        drop((appender, writer));
        assert_eq!(STOPS.load(Ordering::SeqCst), number as u32 + 1);
        // Whatever is left, reading it is an error or not, and nothing worse.
        let stop = Trace::open(&path).map(|trace| {
            assert!(!trace.is_complete());
            trace.stop()
        });
        match length >= LIVE_HEADER as u64 {
            true => assert_eq!(stop.unwrap(), Some(StopReason::Truncated)),
            false => assert_eq!(stop.unwrap(), None),
        }
        let _ = recover(&path);
        let _ = Trace::open(&path);
    }
}

#[test]
#[ignore = "it is the child of another test"]
fn a_bus_error_elsewhere() {
    let Some(directory) = child::directory() else {
        return;
    };
    let _writer = create(&directory.join("bug.reenact"));
    let other = directory.join("other");
    fs::write(&other, [1; 4096]).unwrap();
    let file = File::options().read(true).write(true).open(&other).unwrap();
    let map = memmap2::MmapOptions::new().map_raw(&file).unwrap();
    file.set_len(0).unwrap();
    // SAFETY: The address is mapped. There is no file behind it any more, which is what this is about.
    unsafe { map.as_mut_ptr().write_volatile(1) };
}

/// A SIGBUS that has nothing to do with the trace is the program's, and ends it.
#[test]
fn any_other_bus_error_is_the_program_s() {
    let directory = tempfile::tempdir().unwrap();
    let child = "truncated::a_bus_error_elsewhere";
    let ended = child::command(child, directory.path()).output().unwrap();
    assert_eq!(ended.status.signal(), Some(libc::SIGBUS), "{ended:?}");
}
