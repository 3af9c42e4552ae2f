//! No more room: the program goes on, the trace says why it ends, and what was written before is there.

use std::{
    ffi::CString,
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::{ffi::OsStrExt, fs::OpenOptionsExt},
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

use reenact_trace::{
    Appender, StopReason, Storage, TraceError, TracePosition, Writer, live_path, recover,
};

use crate::{
    child,
    reading::{Streams, assert_recovers_to, is_grouped, open, sound_streams, streams},
    script::{Recorder, bytes, long_event, program},
    sections::{LIVE_HEADER, SLAB},
};

static STOPS: AtomicU32 = AtomicU32::new(0);

/// The hook has no place for its count but a static, so tests that use it take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    STOPS.store(0, Ordering::Relaxed);
    turn
}

fn stops() -> u32 {
    STOPS.load(Ordering::Acquire)
}

fn create(path: &Path) -> Result<Writer, TraceError> {
    Writer::create(path, &program(), Storage::File, |_| {
        STOPS.fetch_add(1, Ordering::Release);
    })
}

/// Records until that is no longer possible.
fn record_until_stopped(writer: &Writer) -> (Recorder, Appender) {
    let mut appender = writer.appender(0).unwrap();
    let mut recorder = Recorder::start(&mut appender, 0);
    for number in 0.. {
        if number % 1000 == 0 {
            // What has no chunk for data yet has no more once recording has stopped, and may still have one for events.
            let _ = recorder.say_data(&mut appender, &bytes(20_000, number));
        }
        if !recorder.say(&mut appender, long_event(number)) {
            break;
        }
    }
    (recorder, appender)
}

/// Asserts that the program can go on calling a writer that has stopped.
fn assert_harmless(writer: &Writer, recorder: &mut Recorder, appender: &mut Appender) {
    for number in 0..1000 {
        assert!(!recorder.say(appender, long_event(number)));
        assert!(!recorder.tick(appender));
        assert!(!recorder.end(appender));
        assert!(!appender.start(&mut TracePosition::default(), 9, 0, 0, "late"));
        assert!(!appender.quiet_end(9, 0, 0));
        assert_eq!(appender.data(&bytes(number as usize, number)), None);
    }
    assert!(writer.has_stopped());
    assert!(writer.appender(1).is_none());
    assert!(appender.slot(1).is_none());
    // It may be the background writer that stopped, and be about to call the hook.
    while stops() == 0 {
        thread::yield_now();
    }
    assert_eq!(stops(), 1);
}

fn streams_of(recorder: &Recorder) -> Streams {
    [(recorder.number, recorder.expected())].into()
}

/// What a live file needs at least: its header, slots and chunks.
const LIVE: u64 = (LIVE_HEADER + 2 * SLAB) as u64;

fn limit_file_size(limit: u64) {
    rustix::process::setrlimit(
        rustix::process::Resource::Fsize,
        rustix::process::Rlimit {
            current: Some(limit),
            maximum: None,
        },
    )
    .unwrap();
}

#[test]
#[ignore = "the child of another test"]
fn a_process_whose_files_may_not_grow() {
    let Some(directory) = child::directory() else {
        return;
    };
    limit_file_size(LIVE);
    let path = directory.join("limited.reenact");
    let writer = create(&path).unwrap();
    let (mut recorder, mut appender) = record_until_stopped(&writer);
    assert_harmless(&writer, &mut recorder, &mut appender);
    assert_eq!(sound_streams(&path), streams_of(&recorder));
    // If the live file was first to reach the limit, there may be room for it in the trace. Not now.
    limit_file_size(fs::metadata(&path).unwrap().len());
    let error = writer.clone().finish().unwrap_err().to_string();
    assert!(error.contains("File too large"), "{error}");
    assert_eq!(stops(), 1);
    assert_eq!(sound_streams(&path), streams_of(&recorder));
    println!("recorded {}", recorder.position());
}

#[test]
#[ignore = "the child of another test"]
fn a_process_whose_live_file_has_no_room() {
    let Some(directory) = child::directory() else {
        return;
    };
    for limit in [100, LIVE_HEADER as u64 - 1, LIVE_HEADER as u64, LIVE - 1] {
        limit_file_size(limit);
        let path = directory.join(format!("limit-{limit}.reenact"));
        let error = create(&path).err().expect("there is no room").to_string();
        assert!(error.ends_with("File too large (os error 27)"), "{error}");
        assert!(!live_path(&path).exists());
    }
    assert_eq!(stops(), 0);
    println!("recorded 0");
}

/// Runs a child; returns how it ended, and how many operations it says that it recorded.
fn run(name: &str, directory: &Path) -> (ExitStatus, u64) {
    let output = child::command(name, directory).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let recorded = text
        .lines()
        .find_map(|line| line.rsplit_once("recorded ")?.1.parse().ok());
    let recorded = recorded.unwrap_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        panic!("{text}{errors}")
    });
    (output.status, recorded)
}

/// Runs a child, which is a test of this module; returns how many operations it says that it recorded.
fn succeeds(name: &str, directory: &Path) -> u64 {
    let (status, recorded) = run(&format!("full_disk::{name}"), directory);
    assert!(status.success(), "{status}");
    recorded
}

#[test]
fn a_file_size_limit_ends_the_recording_and_not_the_program() {
    let (directory, path) = crate::in_directory("limited.reenact");
    let recorded = succeeds("a_process_whose_files_may_not_grow", directory.path());
    assert_eq!(open(&path).stop(), Some(StopReason::Storage(libc::EFBIG)));
    let streams = sound_streams(&path);
    assert_eq!(streams[&0].position, recorded);
    // Either the trace has reached the limit, or the live file wanted to grow past it.
    assert!(recorded * 22 > SLAB as u64 / 2);
    assert_recovers_to(&path, &streams);
    assert_eq!(open(&path).stop(), Some(StopReason::Storage(libc::EFBIG)));
}

#[test]
fn a_file_size_limit_that_leaves_no_room_at_all_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    succeeds("a_process_whose_live_file_has_no_room", directory.path());
}

/// Runs `test` on a thread that has a small file system of its own, which goes with the thread. Says so if it may not.
fn on_small_disk(bytes: u64, test: fn(&Path)) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let mounted = thread::spawn(move || {
        mount_here(&path, bytes)?;
        test(&path);
        io::Result::Ok(())
    })
    .join()
    .unwrap();
    if let Err(error) = mounted {
        // Not by a macro, whose output is kept from view when a test passes.
        let _ = writeln!(
            io::stderr(),
            "skipped: a test of a full disk needs to mount one: {error}"
        );
    }
}

/// Mounts a file system at `path` for this thread and those that it starts.
fn mount_here(path: &Path, bytes: u64) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let options = CString::new(format!("size={bytes}")).unwrap();
    let result = |code| match code {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: Plain calls with strings that outlive them.
    unsafe {
        result(libc::unshare(libc::CLONE_NEWNS))?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        let nothing = std::ptr::null();
        result(libc::mount(
            nothing,
            c"/".as_ptr(),
            nothing,
            private,
            nothing.cast(),
        ))?;
        result(libc::mount(
            c"none".as_ptr(),
            path.as_ptr(),
            c"tmpfs".as_ptr(),
            0,
            options.as_ptr().cast(),
        ))
    }
}

/// Takes all the room that is left.
fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    while file.write(&[0; 4096]).is_ok_and(|written| written > 0) {}
}

/// Creates a trace beside a file that takes as much room as there may be in the live file when there is no more, and then
/// some. Returns both paths and the writer.
fn create_with_ballast(directory: &Path) -> (PathBuf, PathBuf, Writer) {
    let ballast = directory.join("ballast");
    fs::write(&ballast, vec![1; 4 << 20]).unwrap();
    let path = directory.join("full.reenact");
    let writer = create(&path).unwrap();
    (ballast, path, writer)
}

fn assert_no_room(result: Result<impl std::fmt::Debug, TraceError>) {
    match result {
        Err(TraceError::Io { source, .. }) => {
            assert_eq!(source.raw_os_error(), Some(libc::ENOSPC));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_program() {
    on_small_disk(LIVE + (6 << 20), |directory| {
        let _alone = alone();
        let (ballast, path, writer) = create_with_ballast(directory);
        let (mut recorder, mut appender) = record_until_stopped(&writer);
        assert_harmless(&writer, &mut recorder, &mut appender);
        let expected = streams_of(&recorder);
        assert_eq!(sound_streams(&path), expected);
        assert_eq!(open(&path).stop(), Some(StopReason::Storage(libc::ENOSPC)));

        // There is no room to make one file of the two either, and nothing is lost by trying.
        fill(&directory.join("rest"));
        assert_no_room(writer.clone().finish());
        assert_no_room(recover(&path));
        assert_eq!(sound_streams(&path), expected);
        assert_eq!(stops(), 1);
        fs::remove_file(&ballast).unwrap();
        assert_recovers_to(&path, &expected);
        assert_eq!(open(&path).stop(), Some(StopReason::Storage(libc::ENOSPC)));
    });
}

#[test]
fn a_disk_full_of_data_ends_the_recording_and_not_the_program() {
    on_small_disk(LIVE + (6 << 20), |directory| {
        let _alone = alone();
        let (ballast, path, writer) = create_with_ballast(directory);
        let mut appender = writer.appender(0).unwrap();
        let mut recorder = Recorder::start(&mut appender, 0);
        let stored = (0..)
            .take_while(|&number| recorder.say_data(&mut appender, &bytes(30_000, number)))
            .count();
        assert!(stored > 10);
        assert_eq!(open(&path).data_summary().count, stored as u64);
        assert_eq!(sound_streams(&path), streams_of(&recorder));
        fill(&directory.join("rest"));
        assert_no_room(writer.finish());
        assert_eq!(sound_streams(&path), streams_of(&recorder));
        fs::remove_file(&ballast).unwrap();
        assert_recovers_to(&path, &streams_of(&recorder));
        let trace = open(&path);
        assert_eq!(trace.stop(), Some(StopReason::Storage(libc::ENOSPC)));
        assert_eq!(trace.data_summary().count, stored as u64);
    });
}

/// Grouping a trace takes room for another one.
#[test]
fn a_trace_that_cannot_be_grouped_for_lack_of_room_is_made_one_file_in_chunks() {
    on_small_disk(LIVE + (10 << 20), |directory| {
        let path = directory.join("full.reenact");
        let writer = create(&path).unwrap();
        let mut appender = writer.appender(0).unwrap();
        let mut recorder = Recorder::start(&mut appender, 0);
        for number in 0..100_000 {
            assert!(recorder.say(&mut appender, long_event(number)));
        }
        assert!(recorder.say_data(&mut appender, &bytes(50_000, 1)));
        drop((appender, writer));
        let ballast = directory.join("ballast");
        fs::write(&ballast, vec![1; 1 << 17]).unwrap();
        fill(&directory.join("rest"));
        let size = fs::metadata(&path).unwrap().len();
        let live = fs::read(live_path(&path)).unwrap();
        assert_no_room(recover(&path));
        assert_eq!(fs::metadata(&path).unwrap().len(), size);
        assert_eq!(fs::read(live_path(&path)).unwrap(), live);

        fs::remove_file(&ballast).unwrap();
        assert_recovers_to(&path, &streams_of(&recorder));
        assert!(!is_grouped(&path));
        assert!(!path.with_added_extension("new").exists());
    });
}

#[test]
fn a_disk_without_room_for_more_activities_ends_the_recording() {
    on_small_disk(LIVE + (1 << 20), |directory| {
        let _alone = alone();
        let path = directory.join("slots.reenact");
        let writer = create(&path).unwrap();
        fill(&directory.join("rest"));
        let mut appender = writer.appender(0).unwrap();
        let slots: Vec<_> = (0..).map_while(|number| appender.slot(number)).collect();
        assert_eq!(slots.len(), SLAB / 16);
        assert_eq!(stops(), 1);
        assert!(writer.appender(0).is_none());
        assert_eq!(open(&path).stop(), Some(StopReason::Storage(libc::ENOSPC)));
    });
}

#[test]
fn a_disk_that_is_full_from_the_start_is_an_error() {
    on_small_disk(LIVE - 4096, |directory| {
        let path = directory.join("full.reenact");
        assert_no_room(create(&path).map(|_| ()));
        assert!(!live_path(&path).exists());
    });
}

/// The trace file is a pipe that nobody empties, so that the background writer is stuck in it.
#[test]
fn a_disk_that_hangs_ends_the_recording_and_not_the_program() {
    let _alone = alone();
    let (directory, path) = crate::in_directory("pipe.reenact");
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: A plain call with a string that outlives it.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    // Opened for both, so that neither side waits for the other.
    let mut pipe = File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(&path)
        .unwrap();

    let writer = create(&path).unwrap();
    let (mut recorder, mut appender) = record_until_stopped(&writer);
    assert_harmless(&writer, &mut recorder, &mut appender);

    // What a kill would leave now: what the disk had taken, and the live file.
    let copy = directory.path().join("copy.reenact");
    fs::copy(live_path(&path), live_path(&copy)).unwrap();
    let mut bytes = Vec::new();
    let full = pipe.read_to_end(&mut bytes).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
    fs::write(&copy, &bytes).unwrap();
    let expected = streams_of(&recorder);
    for one_file in [false, true] {
        if one_file {
            assert!(recover(&copy).unwrap());
        }
        let trace = open(&copy);
        assert_eq!(trace.stop(), Some(StopReason::NoRoom));
        assert!(trace.is_complete());
        assert_eq!(streams(&trace), expected);
    }

    // Let the background writer come to its end.
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                match pipe.read(&mut [0; 1 << 16]) {
                    Err(error) if error.kind() != io::ErrorKind::WouldBlock => panic!("{error}"),
                    _ => thread::yield_now(),
                }
            }
        });
        drop((appender, writer));
        over.store(true, Ordering::Release);
    });
}
