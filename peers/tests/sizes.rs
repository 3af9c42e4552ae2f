//! The sizes have the papers' shapes.

use reenact_bench_peers::sizes::{Program, Size};

#[test]
fn a_round_is_the_papers_size() {
    assert_eq!(
        Size::of(Program::ForkJoinThroughput, 1.0),
        Size::ForkJoinThroughput {
            actors: 3_000,
            messages: 60,
            rounds: 32
        }
    );
    assert_eq!(
        Size::of(Program::Counting, 0.5),
        Size::Counting {
            increments: 200_000,
            rounds: 20
        }
    );
}

#[test]
fn a_run_below_one_round_is_one_smaller_round() {
    assert_eq!(
        Size::of(Program::ForkJoinActorCreation, 0.01),
        Size::ForkJoinActorCreation {
            actors: 2_400,
            rounds: 1
        }
    );
}

#[test]
fn every_program_has_work_at_every_scale() {
    for program in Program::ALL {
        assert!(Size::of(program, 0.0).ops() > 0);
        assert_eq!(Program::from_name(program.name()), Some(program));
    }
}
