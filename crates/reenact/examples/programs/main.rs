//! Small concurrent programs whose outcome depends on timing, for the tests: `programs NAME [ARG…]`.
//!
//! Each prints what it saw. Two runs of one of these rarely print the same; a run and its replays must.

mod acknowledged;
mod actors;
mod atomic;
mod bad_days;
mod barrier;
mod condvar;
mod csp;
mod generated;
mod jitter;
mod mixed;
mod mpsc;
mod mutex;
mod once;
mod parsed;
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod ported;
mod rwlock;
mod scoped;
mod seen;
mod selfcheck;
mod stm;
mod thread;
mod workers;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, arguments)) = arguments.split_first() else {
        eprintln!("which program? programs NAME [ARG…]");
        std::process::exit(2);
    };
    let known = mutex::run(name, arguments)
        || rwlock::run(name, arguments)
        || condvar::run(name, arguments)
        || barrier::run(name, arguments)
        || once::run(name, arguments)
        || mpsc::run(name, arguments)
        || atomic::run(name, arguments)
        || thread::run(name, arguments)
        || scoped::run(name, arguments)
        || generated::run(name, arguments)
        || selfcheck::run(name, arguments)
        || ported::run(name, arguments)
        || actors::run(name, arguments)
        || csp::run(name, arguments)
        || stm::run(name, arguments)
        || mixed::run(name, arguments)
        || bad_days::run(name, arguments);
    if !known {
        eprintln!("no such program: {name}");
        std::process::exit(2);
    }
}
