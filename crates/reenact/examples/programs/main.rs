//! Small concurrent programs whose outcome depends on timing, for the tests: `programs NAME [ARG…]`.
//!
//! Each prints what it saw. Two runs of one of these rarely print the same; a run and its replays must.

/// Defines `run`, which runs the program of a name, if it is one of these.
macro_rules! programs {
    ($($name:literal => $program:ident,)*) => {
        pub(crate) fn run(name: &str, _arguments: &[String]) -> bool {
            match name {
                $($name => $program(),)*
                _ => return false,
            }
            true
        }
    };
}
use programs;

mod actors;
mod atomic;
mod barrier;
mod condvar;
mod csp;
mod failures;
mod generated;
mod mixed;
mod mpsc;
mod mutex;
mod once;
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod ported;
mod rwlock;
mod scoped;
mod selfcheck;
mod stm;
mod support;
mod thread;

fn main() {
    reenact_testing::programs::main(&[
        mutex::run,
        rwlock::run,
        condvar::run,
        barrier::run,
        once::run,
        mpsc::run,
        atomic::run,
        thread::run,
        scoped::run,
        generated::run,
        selfcheck::run,
        ported::run,
        actors::run,
        csp::run,
        stm::run,
        mixed::run,
        failures::run,
    ]);
}
