//! No more room while recording: the program does not notice, the trace says why it ends.

use std::{ffi::CString, path::Path};

use reenact_trace::{StopReason, Trace, live_path};

use crate::support::stage::{Outcome, Program, Stage};

/// Makes some megabytes of trace.
const CHATTER: &str = "chatter 1500000";
const OUTPUT: &str = "1500000 times in vain\n";

/// The program went on to its normal end and printed once that recording has stopped.
#[track_caller]
fn went_on(outcome: &Outcome, why: &str) {
    assert!(outcome.status.success(), "{outcome:#?}");
    assert_eq!(outcome.stdout, OUTPUT);
    assert_eq!(
        outcome.stderr,
        format!(
            "reenact: recording ends here, the program goes on: the trace could not be written: {why}\n"
        )
    );
}

/// The program ran as usual, and one line says that it was not recorded.
#[track_caller]
fn ran_unrecorded(outcome: &Outcome) {
    assert!(outcome.status.success(), "{outcome:#?}");
    assert_eq!(outcome.stdout, "10 times in vain\n");
    assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:#?}");
    assert!(
        outcome.stderr.ends_with(": running unrecorded\n"),
        "{outcome:#?}"
    );
}

/// The replay comes to where recording ended, and says why that is.
#[track_caller]
fn replays_to_there(program: &Program<'_>, trace: &Path, why: &str) {
    let outcome = program.start_replay(trace).finish();
    assert_eq!(outcome.stdout, "");
    let report = outcome.ended();
    let expected = format!("Recording had ended early: the trace could not be written: {why}.\n");
    assert!(report.contains(&expected), "{report}");
}

#[test]
fn past_the_file_size_limit_the_program_goes_on() {
    const WHY: &str = "File too large (os error 27)";
    let stage = Stage::new();
    let program = stage.program(CHATTER).with_files_up_to(3 << 20);
    went_on(&program.record(), WHY);

    let program = stage.program(CHATTER);
    replays_to_there(&program, &stage.trace(), WHY);
    let trace = stage.recovered();
    assert_eq!(trace.stop(), Some(StopReason::Storage(libc::EFBIG)));
    assert!(
        trace.size() > 3 << 20,
        "what was in the live file is there too"
    );
    replays_to_there(&program, &stage.trace(), WHY);
}

#[test]
fn with_no_room_to_begin_the_program_runs_unrecorded() {
    for limit in [0, 100, 4096, 100 << 10, 2 << 20] {
        let stage = Stage::new();
        let program = stage.program("chatter 10").with_files_up_to(limit);
        let outcome = program.record();
        ran_unrecorded(&outcome);
        assert!(
            !live_path(&stage.trace()).exists(),
            "nothing is left behind"
        );
    }
}

/// A file system of this size, for as long as this lives.
struct SmallDisk {
    path: CString,
}

impl SmallDisk {
    fn mount(path: &Path, size: &str) -> Option<SmallDisk> {
        std::fs::create_dir(path).unwrap();
        let path = CString::new(path.to_str().unwrap()).unwrap();
        let options = CString::new(format!("size={size}")).unwrap();
        // SAFETY: All of these are strings that end with a zero, and the directory is ours.
        let mounted = unsafe {
            libc::mount(
                c"none".as_ptr(),
                path.as_ptr(),
                c"tmpfs".as_ptr(),
                0,
                options.as_ptr().cast(),
            )
        };
        if mounted != 0 {
            eprintln!(
                "skipped: mounting a small disk takes privileges that this process does not have"
            );
            return None;
        }
        Some(SmallDisk { path })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // SAFETY: What was mounted above.
        unsafe { libc::umount2(self.path.as_ptr(), libc::MNT_DETACH) };
    }
}

#[test]
fn on_a_full_disk_the_program_goes_on() {
    const WHY: &str = "No space left on device (os error 28)";
    let stage = Stage::new();
    let Some(_disk) = SmallDisk::mount(&stage.path("disk"), "4m") else {
        return;
    };
    let trace = stage.path("disk/bug.reenact");
    let program = stage.program(CHATTER);
    went_on(&program.start_recording_to(&trace).finish(), WHY);

    // There is no room to make one file of it either. As it is, it can be read.
    let _ = reenact_trace::recover(&trace);
    assert_eq!(
        Trace::open(&trace).unwrap().stop(),
        Some(StopReason::Storage(libc::ENOSPC))
    );
    replays_to_there(&program, &trace, WHY);
}

#[test]
fn a_disk_that_was_full_before_is_no_reason_not_to_run() {
    let stage = Stage::new();
    let Some(_disk) = SmallDisk::mount(&stage.path("disk"), "64k") else {
        return;
    };
    let program = stage.program("chatter 10");
    let outcome = program
        .start_recording_to(&stage.path("disk/bug.reenact"))
        .finish();
    ran_unrecorded(&outcome);
}
