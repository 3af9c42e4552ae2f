//! Small programs that depend on what is outside of them, for the tests: `outside NAME [ARG…]`.
//!
//! Each prints what it saw. What it depends on is gone when it is replayed.

mod bus_errors;
mod captured;
mod everyone;
mod files;
mod generated;
mod printed;
mod processes;
mod sockets;
mod sources;
mod values;

fn main() {
    reenact_testing::programs::main(&[
        files::run,
        sockets::run,
        printed::run,
        processes::run,
        values::run,
        sources::run,
        everyone::run,
        captured::run,
        bus_errors::run,
        generated::run,
    ]);
}

/// A setting of the environment, by which a replay can be another program.
fn setting(name: &str, usual: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| usual.to_owned())
}

/// Prints for a test that waits for it.
fn say(what: &str) {
    use std::io::Write;
    println!("{what}");
    std::io::stdout().flush().expect("somebody listens");
}

/// Does nothing until it is killed.
fn wait_to_be_killed() -> ! {
    loop {
        reenact::thread::park();
    }
}

/// A number for bytes, to be printed instead of them.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |digest, &byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
