//! Checks that the programs of every model have to pass: cut traces, kills, full disks, and programs that have changed.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use expect_test::Expect;
use reenact_trace::{StopReason, Trace};

use super::{
    acknowledged::goes_on_from,
    stage::{Outcome, Program, Running, Stage, without_places},
};

/// Records a program and cuts off the end of its trace at so many places. Each of these traces replays as far as it goes.
pub(crate) fn replays_where_it_is_cut(stage: &Stage, program: &Program<'_>, places: usize) {
    let recorded = program.record();
    stage.recovered();
    let bytes = fs::read(stage.trace()).unwrap();
    let path = stage.path("cut.reenact");
    let cut = |length: usize| fs::write(&path, &bytes[..length]).unwrap();
    // Before this is the description of the program, without which there is nothing to replay.
    let first = (0..bytes.len())
        .find(|&length| {
            cut(length);
            Trace::open(&path).is_ok()
        })
        .unwrap();
    for place in 0..places {
        cut(first + (bytes.len() - first) * place / places);
        let outcome = program.start_replay(&path).finish();
        let report = outcome.report.as_deref().unwrap_or_default();
        let is_as_expected = report.starts_with("ended\n")
            || report.starts_with("diverged\nthe trace cannot be read any further: ");
        // Or all that is missing is what no one needs.
        let is_whole = outcome.report.is_none() && outcome.stdout == recorded.stdout;
        assert!(is_as_expected || is_whole, "{outcome:#?}");
    }
}

/// Runs `kill` so often, on two threads, with a seed for each.
pub(crate) fn often(times: u64, kill: impl Fn(u64) + Sync) {
    thread::scope(|scope| {
        for half in 0..2 {
            let kill = &kill;
            scope.spawn(move || (half..times).step_by(2).for_each(kill));
        }
    });
}

/// Kills a program some time after it is ready: there is nothing to wait for, as any instant will do.
pub(crate) fn kill_after(mut running: Running, time: Duration) -> Outcome {
    running.wait_for_output("ready\n");
    let instant = Instant::now() + time;
    while Instant::now() < instant {
        std::hint::spin_loop();
    }
    let outcome = running.kill();
    assert_eq!(outcome.signal(), Some(libc::SIGKILL), "{outcome:#?}");
    outcome
}

/// Kills a program at some instant, and replays it to there: what was acknowledged is acknowledged again, and beyond that
/// at most what was about to be.
pub(crate) fn replays_after_a_kill(
    stage: &Stage,
    seed: u64,
    recording: Program<'_>,
    replaying: Program<'_>,
) {
    let [recorded, replayed] = ["recorded", "replayed"].map(|name| stage.path(name));
    let running = recording.env("ACKNOWLEDGED", &recorded).start_recording();
    kill_after(running, Duration::from_micros(seed * 7919 % 6000));
    // Every other one is replayed from its two files, as the kill has left them.
    if seed.is_multiple_of(2) {
        stage.recovered();
    }
    replaying.env("ACKNOWLEDGED", &replayed).replay().ended();
    goes_on_from(&recorded, &replayed);
}

/// Records a program that makes more than three megabytes of trace, where there is not as much room. It goes on, and
/// replays to where recording ended.
#[track_caller]
pub(crate) fn goes_on_without_room(
    stage: &Stage,
    recording: Program<'_>,
    replaying: &Program<'_>,
    output: &str,
) {
    let outcome = recording.with_files_up_to(3 << 20).record();
    assert!(outcome.status.success(), "{outcome:#?}");
    assert_eq!(outcome.stdout, output);
    assert_eq!(outcome.remarks(), 1, "{outcome:#?}");
    let replays = || {
        let replayed = replaying.replay();
        let report = replayed.ended();
        assert!(report.contains("Recording had ended early"), "{report}");
    };
    replays();
    assert_eq!(
        stage.recovered().stop(),
        Some(StopReason::Storage(libc::EFBIG))
    );
    replays();
}

/// Records a program with one setting and replays it with the other.
#[track_caller]
pub(crate) fn drift<'a>(
    stage: &Stage,
    program: impl Fn() -> Program<'a>,
    recorded: &str,
    replayed: &str,
) -> Outcome {
    let with = |setting: &str| program().env("DRIFT", setting);
    let outcome = with(recorded).record();
    outcome.is_fine();
    with(recorded).replay().is_same_as(&outcome);
    stage.recovered();
    with(replayed).replay()
}

/// Compares the report of a replay that differs, up to its backtrace and without line numbers.
#[track_caller]
pub(crate) fn reports(outcome: &Outcome, expected: Expect) {
    expected.assert_eq(&without_places(outcome.diverged()));
}
