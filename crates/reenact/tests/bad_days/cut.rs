//! A trace of which the end is missing replays as far as it goes.

use std::fs;

use reenact_trace::Trace;

use crate::stage::Stage;

#[test]
fn a_trace_that_is_cut_anywhere_replays_up_to_there() {
    for command_line in ["waves 60 10", "poison", "foreign-named"] {
        let stage = Stage::new();
        let program = stage.program(command_line);
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
        const PARTS: usize = 12;
        for part in 0..PARTS {
            cut(first + (bytes.len() - first) * part / PARTS);
            let outcome = program.start_replay(&path).finish();
            let report = outcome.report.as_deref().unwrap_or_default();
            let is_as_expected = report.starts_with("ended\n")
                || report.starts_with("diverged\nthe trace cannot be read any further: ");
            // Or all that is missing is what no one needs.
            let is_whole = outcome.report.is_none() && outcome.stdout == recorded.stdout;
            assert!(is_as_expected || is_whole, "{outcome:#?}");
        }
    }
}
