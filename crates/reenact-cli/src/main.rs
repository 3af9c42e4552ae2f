//! The command `reenact`. Everything is in the library, so that tests and later tools can use it.

use std::process::ExitCode;

fn main() -> ExitCode {
    reenact_cli::main()
}
