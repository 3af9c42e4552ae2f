//! What a program asks the C library for, captured: clocks, random bytes, its process id, its environment.
//!
//! `Instant::now`, `SystemTime::now`, the `getrandom` that `rand`, `uuid` and `HashMap` take their seeds from: in the end all
//! of them call a function of the C library by its name. A program that is linked with reenact has functions of these names
//! itself, and the linker prefers those. So nothing in the program changes, and libraries are captured like the program.
//!
//! Off, such a function is a branch and a jump to the real one. Recording, it calls the real one and writes down what that
//! said, for the activity that the thread runs, whatever that is. In a replay it says what was written down.
//!
//! Not captured is what is not part of the program: what reenact itself asks, or the standard library within one of our
//! operations (both are done [`apart`](crate::apart)), and threads of ours while they run nobody.
//!
//! Only on Linux with the GNU C library: elsewhere there are no such functions in here, and the outside is recorded where
//! the program asks [`external`](crate::external).

mod clock;
mod identity;
mod random;
mod real;

pub(crate) use self::clock::CLOCKS;
use crate::{
    activity::{HOT, Hot},
    mode::{self, Mode},
};

/// Makes sure that this module is in the program: a linker takes of a library only what something refers to.
pub(crate) fn link() {
    std::hint::black_box((
        clock::clock_gettime as *const (),
        clock::gettimeofday as *const (),
        clock::time as *const (),
        random::getrandom as *const (),
        random::getentropy as *const (),
        identity::getpid as *const (),
        identity::kill as *const (),
        identity::getenv as *const (),
    ));
}

/// Whether what the calling thread asks for is to be recorded or played.
fn is_captured() -> bool {
    // Settling the mode asks for a few things itself.
    if HOT.with(|hot| hot.apart.get()) != 0 {
        return false;
    }
    let is_ours =
        HOT.with(|hot| hot.is_ours.get() && hot.guest.get().is_null()) && Hot::seat().is_none();
    if is_ours {
        return false;
    }
    match mode::byte() {
        1 | 4 | 5 => true,
        3 => matches!(
            crate::apart(mode::settled),
            Mode::Record | Mode::Replay | Mode::Conducted
        ),
        _ => false,
    }
}
