//! Every operation of the suite `instructions` is one that a program does.

use std::{path::Path, process::Command};

use reenact_bench::harness;

#[test]
fn every_operation_is_done_by_its_program() {
    let one_of_them = Path::new(env!("CARGO_BIN_EXE_instructions-sync"));
    for (program, operation) in harness::counted() {
        let mut command = Command::new(one_of_them.with_file_name(&program));
        let status = command.args([operation, "10"]).status().unwrap();
        assert!(status.success(), "{program} {operation}");
    }
}
