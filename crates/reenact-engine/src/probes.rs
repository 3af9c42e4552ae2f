//! Probes: what a replayed process looks at that nobody asked for when it was recorded.
//!
//! A probe is a breakpoint in the executable's code, together with the registers and the memory to copy when a thread
//! reaches it. `reenact refine` plans probes from the executable's debug information, the replayed process places them
//! before `main`, and the command decodes what was copied. So the process needs no debugger and no debug information,
//! and a stop costs a signal: more than 100,000 stops per second.
//!
//! # How a stop works
//!
//! The first byte of an instruction is replaced by `int3`, and stays so: other threads may be about to execute it. The
//! handler of `SIGTRAP` copies what the probe asks for ([`records`]) and lets the thread continue with the replaced
//! instruction, which the plan has translated so that it can run elsewhere (`patch.rs`). The handler allocates nothing,
//! takes no lock, and calls nothing of the C library, so a probe may be anywhere except in this module.
//!
//! A probe does not change what happens: it does no operation, and a thread that is stopped for a microsecond is one
//! that has got its processor a microsecond later.

mod handler;
mod patch;
pub mod plan;
pub mod records;

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use self::{handler::Placed, plan::Plan};

/// The environment variable with the path of a plan.
pub const PLAN: &str = "REENACT_PROBES";
/// The extension of the file with the records, beside the plan.
pub const RECORDS: &str = "records";

/// Returns the current position in the order of everything that probes see; `None` if there are none.
pub(crate) fn moment() -> Option<u64> {
    handler::placed().map(Placed::moment)
}

/// Places the probes that the environment asks for. The error says why there are none.
pub(crate) fn place_from_environment() -> Result<(), String> {
    match std::env::var_os(PLAN).map(PathBuf::from) {
        Some(path) => place(&path),
        None => Ok(()),
    }
}

fn place(path: &Path) -> Result<(), String> {
    let failed = |what: &str, error: &dyn std::fmt::Display| format!("cannot {what}: {error}");
    let bytes = std::fs::read(path).map_err(|error| failed("read the plan", &error))?;
    let plan: Plan =
        postcard::from_bytes(&bytes).map_err(|error| failed("understand the plan", &error))?;
    let output = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path.with_extension(RECORDS))
        .map_err(|error| failed("create the file for what the probes see", &error))?;
    let bias = patch::bias();
    let process = handler::process();
    let output = records::Writer::new(output, bias, process, plan.room)
        .map_err(|error| failed("map the file for what the probes see", &error))?;
    let code = patch::Code::open().map_err(|error| failed("write to the code", &error))?;
    let slots = patch::Slots::new(&plan.probes, bias)
        .map_err(|error| failed("place the replaced instructions", &error))?;
    let placed = Placed::new(plan.probes, bias, process, slots, output, code)?;
    handler::start(placed).map_err(|error| failed("handle breakpoints", &error))
}
