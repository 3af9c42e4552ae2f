//! Every program at a small size, on one worker and on two.

use std::sync::Once;

use super::{IDLE_ACTORS, PROGRAMS};
use crate::{Measured, Setting, Workload, end_with_any_panic};

fn run(program: &Workload, workers: usize) -> Measured {
    // A panic in a turn would leave the program waiting.
    static ONCE: Once = Once::new();
    ONCE.call_once(end_with_any_panic);
    program.run(&Setting {
        scale: 0.002,
        threads: Some(workers),
    })
}

#[test]
fn every_program_checks_out_on_one_worker() {
    for program in &PROGRAMS {
        assert!(run(program, 1).ops > 0, "{}", program.name);
    }
}

#[test]
fn every_program_checks_out_on_two_workers() {
    for program in &PROGRAMS {
        assert!(run(program, 2).ops > 0, "{}", program.name);
    }
}

#[test]
fn on_one_worker_a_program_has_the_same_messages_every_time() {
    for program in &PROGRAMS {
        assert_eq!(run(program, 1).ops, run(program, 1).ops, "{}", program.name);
    }
}

#[test]
fn idle_actors_take_memory() {
    assert!(run(&IDLE_ACTORS, 1).rss_bytes.is_some());
}
