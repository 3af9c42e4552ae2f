//! The programs on TraceForge, by a program beside this one: see there for why.

use std::{
    env,
    process::{Command, Stdio},
};

use super::{explored::Explored, programs::Program};

/// Those that it can look for all executions of.
pub(crate) const PROGRAMS: [Program; 7] = [
    Program::Mutex2x3,
    Program::Mutex2x6,
    Program::Philosophers3,
    Program::Philosophers3Ordered,
    Program::Mpsc3x3,
    Program::LostUpdate,
    Program::QueueOrder,
];

/// Looks for all executions of the program, as often as it takes to measure that.
pub(crate) fn run(program: Program, scale: f64) -> Explored {
    let this = env::current_exe().expect("a process knows its program");
    let output = Command::new(this.with_file_name("peer-round-traceforge"))
        .args([program.name(), &scale.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .expect("`peer-round-traceforge` is built together with `peer-round`");
    assert!(output.status.success(), "{}", output.status);
    serde_json::from_slice(&output.stdout).expect("it prints one line of JSON")
}
