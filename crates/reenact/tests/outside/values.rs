//! Values of the program's own making.

use std::fs;

use expect_test::expect;

use crate::{
    oracle::{check, check_is_new_each_time, program},
    support::stage::{Stage, without_places},
};

reenact_testing::tests! {
    check_is_new_each_time {
        "values" => values_of_many_types,
        "maps" => maps_that_are_made_for_a_value_do_not_change_the_program_s_own,
    }
}

#[test]
fn a_value_that_is_withheld_is_not_in_the_trace() {
    let stage = Stage::new();
    let program = program(&stage, "secret").env("REENACT_REDACT", "external:token");
    let recorded = program.record_completely();
    assert!(recorded.stdout.ends_with("11\n"), "{recorded:#?}");
    let trace = fs::read(stage.trace()).unwrap();
    assert!(!trace.windows(11).any(|bytes| bytes == b"a7f3-secret"));
    let outcome = program.replay();
    expect![[r#"
        the replay cannot go on: what the program asks for was kept out of the trace
          activity:  main
          program:   external "Token" of type alloc::string::String (ask for at values.rs:_)
        Withheld when this was recorded: external:token.
    "#]]
    .assert_eq(&without_places(outcome.diverged()));
}

#[test]
fn a_value_of_another_type_is_a_difference() {
    let stage = Stage::new();
    let of = |name: &str| program(&stage, "type").env("TYPE", name);
    let recorded = of("u64").record_completely();
    of("u64").replay().is_same_as(&recorded);
    for other in ["u32", "String"] {
        let outcome = of(other).replay();
        let report = outcome.diverged();
        assert!(report.contains("external \"value\" of type"), "{report}");
    }
}

#[test]
fn a_value_of_another_name_is_a_difference() {
    let stage = Stage::new();
    let of = |name: &str| program(&stage, "name").env("NAME", name);
    of("usual").record_completely();
    let outcome = of("other").replay();
    assert!(outcome.diverged().contains("external \"other\""));
}

#[test]
fn what_is_asked_for_a_value_is_not_asked_again() {
    let stage = Stage::new();
    let world = stage.path("world");
    fs::write(&world, "seven").unwrap();
    let recorded = check(&stage, &format!("nested {}", world.display()), || {
        fs::remove_file(&world).unwrap();
    });
    assert_eq!(recorded.stdout, "5\n");
}
