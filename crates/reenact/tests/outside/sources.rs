//! What comes of its own accord.
//!
//! ```text
//! recorded:  a thread outside ── emit ──→ source ──→ actor, channel
//! replayed:                      trace ──→ source ──→ actor, channel
//! ```

use crate::{
    oracle::{check_alone, check_four_times, program},
    support::stage::Stage,
};

reenact_testing::tests! {
    check_four_times {
        "several" => several_sources_at_once,
        "subscription" => foreign_threads_emit_into_one_source,
        "until-the-end" => the_program_ends_while_items_come,
    }
    check_alone {
        "to-threads 0" => nothing_comes_from_a_source,
    }
}

#[test]
fn sources_deliver_to_an_actor() {
    for _ in 0..4 {
        let recorded = check_alone("to-actors");
        assert_eq!(recorded.stdout.matches("is through").count(), 2);
    }
}

#[test]
fn sources_deliver_to_an_actor_whose_senders_record() {
    for name in ["to-actors", "from-within"] {
        let stage = Stage::new();
        let program = program(&stage, name).env("REENACT_STRATEGY", "sender");
        let recorded = program.record_completely();
        program.replay().is_same_as(&recorded);
    }
}

#[test]
fn sources_send_into_channels() {
    for _ in 0..4 {
        let recorded = check_alone("to-threads");
        assert!(recorded.stdout.contains("number 49"), "{recorded:#?}");
    }
}

/// ```text
/// process A:  emit ── source waits for who meets it, and A with it ───────────────────── …
/// process B:          emit ── waits for A, on the same worker
/// process C:                           the one that meets the source, on the same worker
/// ```
#[test]
fn threads_actors_and_processes_emit_into_one_source() {
    for workers in ["1", "2", "4"] {
        let stage = Stage::new();
        let program = program(&stage, "from-within").env("REENACT_WORKERS", workers);
        program.run().is_fine();
        let recorded = program.record_completely();
        program.replay().is_same_as(&recorded);
    }
}

#[test]
fn what_comes_can_be_withheld() {
    let stage = Stage::new();
    let program = program(&stage, "withheld").env("REENACT_REDACT", "source:news");
    program.record_completely();
    let outcome = program.replay();
    assert!(outcome.diverged().contains("kept out of the trace"));
}
