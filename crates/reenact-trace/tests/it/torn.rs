//! A section of which only the beginning is in the file: what a kill of the writer leaves, or one of `recover`.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread,
};

use reenact_trace::{Kind, live_path, recover};
use tempfile::TempDir;

use crate::{
    reading::{
        Streams, assert_recovers_to, copy_as_after_a_kill, open, recover_in_chunks, sound_streams,
        streams,
    },
    script::{Recorder, event, long_event, writer},
    sections::boundaries,
};

/// A trace in two files: two activities and four chunks, one of data and one that is empty, all in the live file.
struct TwoFiles {
    directory: TempDir,
    path: PathBuf,
    expected: Streams,
    /// The bytes of both files.
    recorded: Vec<u8>,
    live: Vec<u8>,
}

impl TwoFiles {
    fn new() -> TwoFiles {
        let (directory, path) = crate::in_directory("torn.reenact");
        let expected = leave_two_files(&path);
        TwoFiles {
            recorded: fs::read(&path).unwrap(),
            live: fs::read(live_path(&path)).unwrap(),
            directory,
            path,
            expected,
        }
    }

    /// Writes these bytes to the trace file, and the live file as it was.
    fn write(&self, trace: &[u8]) {
        fs::write(&self.path, trace).unwrap();
        fs::write(live_path(&self.path), &self.live).unwrap();
    }

    /// The trace file after this recovery of the two files.
    fn recovered(&self, recover: impl FnOnce(&Path)) -> Vec<u8> {
        self.write(&self.recorded);
        recover(&self.path);
        fs::read(&self.path).unwrap()
    }
}

/// Leaves the files of [`TwoFiles`] at this path; returns what must be read of them.
fn leave_two_files(path: &Path) -> Streams {
    let original = path.with_file_name("original.reenact");
    let writer = writer(&original);
    let mut first = writer.appender(0).unwrap();
    let mut second = writer.appender(1).unwrap();
    let mut one = Recorder::start(&mut first, 0);
    let mut two = Recorder::start(&mut second, 1);
    assert!(two.say_data(&mut first, b"some data, in a chunk between the others"));
    let unused = writer.appender(2).unwrap();
    for number in 0..5 {
        assert!(one.say(&mut first, long_event(number)));
    }
    assert!(two.say(&mut second, event(1, Kind::TAKE, 3)));
    assert!(one.say(&mut second, event(0, Kind::LOOK, 4)));
    one.be_silent(6);
    copy_as_after_a_kill(&original, path);
    drop((first, second, unused));
    BTreeMap::from([(0, one.expected()), (1, two.expected())])
}

/// Where it cannot group a trace, `recover` appends sections in one go; here it is killed after every byte of them. What
/// it makes of that, in chunks or by activity, is always the same.
#[test]
fn a_killed_recover_can_be_repeated_from_any_byte() {
    let files = TwoFiles::new();
    let TwoFiles { path, expected, .. } = &files;
    let grouped = files.recovered(recover_by_activity);
    let in_chunks = files.recovered(recover_in_chunks);
    for cut in files.recorded.len()..=in_chunks.len() {
        for (recover, whole) in [
            (recover_by_activity as fn(&Path), &grouped),
            (recover_in_chunks, &in_chunks),
        ] {
            files.write(&in_chunks[..cut]);
            assert_eq!(sound_streams(path), *expected);
            recover(path);
            assert_eq!(sound_streams(path), *expected);
            let bytes = fs::read(path).unwrap();
            // What was appended before the kill is not appended again, but for the counters.
            assert!(&bytes == whole || whole == &in_chunks);
        }
    }
}

fn recover_by_activity(path: &Path) {
    assert!(recover(path).unwrap());
    assert!(!recover(path).unwrap());
}

/// Grouping a trace makes a new file; the kill leaves any part of that beside the two that were there.
#[test]
fn a_recover_that_was_killed_while_it_grouped_the_trace_can_be_repeated() {
    let files = TwoFiles::new();
    let path = &files.path;
    let grouped = files.recovered(recover_by_activity);
    let new = path.with_added_extension("new");
    for cut in 0..=grouped.len() {
        files.write(&files.recorded);
        fs::write(&new, &grouped[..cut]).unwrap();
        assert_recovers_to(path, &files.expected);
        assert_eq!(fs::read(path).unwrap(), grouped);
        assert!(!new.exists());
    }
}

/// The kill fell between the new file's taking its place and the removal of the live file.
#[test]
fn a_live_file_beside_a_trace_by_activity_has_nothing_to_add() {
    let files = TwoFiles::new();
    let path = &files.path;
    let grouped = files.recovered(recover_by_activity);
    for live in [&files.live[..], b"half of one"] {
        fs::write(live_path(path), live).unwrap();
        assert_recovers_to(path, &files.expected);
        assert_eq!(fs::read(path).unwrap(), grouped);
    }
    // If the trace has lost something since, the live file may be all there is of it.
    let boundaries = boundaries(&grouped);
    let tails = boundaries[boundaries.len() - 2];
    for length in boundaries[2]..=tails {
        files.write(&grouped[..length]);
        assert!(!open(path).is_complete());
        recover(path).unwrap_err();
        assert_eq!(fs::read(live_path(path)).unwrap(), files.live);
    }
}

/// Two who replay the same crash.
#[test]
fn two_may_recover_a_trace_at_the_same_time() {
    let (_directory, path) = crate::in_directory("twice.reenact");
    for _ in 0..50 {
        let expected = leave_two_files(&path);
        let recovered: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| recover(&path).unwrap()))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(recovered.contains(&true));
        assert_eq!(sound_streams(&path), expected);
    }
}

#[test]
fn a_link_to_a_trace_goes_on_being_one() {
    let TwoFiles {
        directory,
        path,
        expected,
        ..
    } = TwoFiles::new();
    let link = directory.path().join("link.reenact");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    fs::rename(live_path(&path), live_path(&link)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_recovers_to(&link, &expected);
    assert!(link.is_symlink());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(sound_streams(&path), expected);
}

#[test]
fn a_chunk_that_is_in_neither_file_is_missed() {
    let files = TwoFiles::new();
    let whole = files.recovered(recover_in_chunks);
    let boundaries = boundaries(&whole);
    // The program's section comes first, then chunks 0 to 3, then the counters.
    for chunk in [1, 2, 3] {
        let mut bytes = whole.clone();
        bytes.drain(boundaries[chunk]..boundaries[chunk + 1]);
        fs::write(&files.path, &bytes).unwrap();
        let trace = open(&files.path);
        let damage = trace.damage().expect("a chunk is missing").to_string();
        assert!(damage.starts_with("a chunk is missing"), "{damage}");
        for (activity, stream) in streams(&trace) {
            crate::reading::assert_prefix(&stream, &files.expected[&activity]);
        }
    }
}

#[test]
fn nothing_is_cut_off_a_file_that_is_damaged_before_its_end() {
    let files = TwoFiles::new();
    let path = &files.path;
    let mut bytes = files.recovered(recover_in_chunks);
    let second = boundaries(&bytes)[2];
    bytes[second] ^= 1;
    for with_live in [true, false] {
        files.write(&bytes);
        if with_live {
            let error = recover(path).unwrap_err().to_string();
            assert!(
                error.ends_with(&format!("no section begins at byte {second}")),
                "{error}"
            );
        }
        fs::remove_file(live_path(path)).unwrap();
        let exit = reenact_trace::Exit::Status(0);
        reenact_trace::append_exit(path, exit).unwrap_err();
        assert_eq!(fs::read(path).unwrap(), bytes);
    }
}

#[test]
fn an_exit_is_kept_whether_it_is_added_before_or_after_the_files_are_one() {
    let TwoFiles { path, expected, .. } = &TwoFiles::new();
    let exit = reenact_trace::Exit::Status(3);
    reenact_trace::append_exit(path, exit).unwrap();
    assert_eq!(open(path).exit(), Some(exit));
    assert_recovers_to(path, expected);
    assert_eq!(open(path).exit(), Some(exit));
    let exit = reenact_trace::Exit::Signal(9);
    reenact_trace::append_exit(path, exit).unwrap();
    assert_eq!(open(path).exit(), Some(exit));
    assert_eq!(sound_streams(path), *expected);
}
