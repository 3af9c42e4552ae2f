//! What a program asks the C library for, captured: clocks, random bytes, its process id, its environment.
//!
//! `Instant::now`, `SystemTime::now`, the `getrandom` that `rand`, `uuid` and `HashMap` take their seeds from: in the end all
//! of them call a function of the C library by its name. A program that is linked with reenact has functions of these names
//! itself, and the linker prefers those. So nothing in the program changes, and libraries are captured like the program.
//!
//! Off, such a function is a branch and a jump to the real one. Recording, it calls the real one and writes down what that
//! said, for the activity that the thread runs, whatever that is. In a replay it says what was written down.
//!
//! A thread that nobody announced may belong to a library, and poll and time out as it likes; how often it looks at a clock
//! then depends on things that are not recorded. So what such a foreign thread asks for is played to it in the order in
//! which it asked for it then, as long as there is any, and its own operations are checked without that.
//!
//! Not captured is what is not part of the program: what reenact itself asks, or the standard library within one of our
//! operations (both are done [`apart`](crate::apart)), and threads of ours while they run nobody.
//!
//! Only on Linux with the GNU C library: elsewhere these functions do not have those names, and the outside is recorded where
//! the program asks [`external`](crate::external).

mod callers;
mod clock;
pub(crate) mod identity;
mod random;
mod real;
pub(crate) mod threads;

use reenact_trace::Kind;

pub(crate) use self::clock::{CLOCK_KINDS, CLOCKS, REALTIME};
use crate::{
    Captured, Op,
    activity::{HOT, Hot},
    explore,
    external::is_played,
    mode::{self, Mode},
};

/// Makes sure that this module is in the program: a linker takes of a library only what something refers to.
pub(crate) fn link() {
    std::hint::black_box((
        BEFORE_MAIN,
        clock::clock_gettime as *const (),
        clock::gettimeofday as *const (),
        clock::time as *const (),
        random::getrandom as *const (),
        random::getentropy as *const (),
        identity::getpid as *const (),
        identity::kill as *const (),
        identity::getenv as *const (),
        threads::pthread_create as *const (),
        threads::pthread_join as *const (),
        threads::syscall as *const (),
    ));
}

crate::operations! {
    CLOCK = 0x90 External "read the clock";
    TIME_OF_DAY = 0x91 External "read the time of day";
    RANDOM = 0x93 External "random bytes";
}

impl Captured {
    /// The operation that asking for it is.
    #[inline(always)]
    pub(crate) const fn op(self) -> Op {
        match self {
            Captured::Clock => CLOCK,
            Captured::TimeOfDay => TIME_OF_DAY,
            Captured::Random => RANDOM,
        }
    }

    /// Of which kind its events are.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Captured::Clock => Kind::CLOCK,
            Captured::TimeOfDay => Kind::TIME,
            Captured::Random => Kind::RANDOM,
        }
    }
}

/// Whether an event is of something that a program asks the C library for.
pub(crate) fn is_of_library(kind: Kind) -> bool {
    matches!(kind, Kind::CLOCK | Kind::TIME | Kind::RANDOM)
}

/// Whether what the calling thread asks for is to be recorded or played.
fn is_captured() -> bool {
    if HOT.with(|hot| hot.apart.get()) != 0 {
        return false;
    }
    let is_ours =
        HOT.with(|hot| hot.is_ours.get() && hot.guest.get().is_null()) && Hot::seat().is_none();
    if is_ours {
        return false;
    }
    match mode::settled_if_known() {
        Some(Mode::Record | Mode::Replay) => true,
        // Who does not play what is outside need not hear of threads that do nothing but look at clocks. To what is explored
        // the outside is the same each time.
        Some(Mode::Controlled) => explore::is_here() || is_played(),
        _ => false,
    }
}

/// Settles the mode before anything of the program runs. Not when something is first asked for: that may be in the middle of
/// an allocator, in which nothing can be allocated.
extern "C" fn before_main() {
    callers::learn();
    mode::settle();
}

#[used]
// SAFETY: The loader calls what is in this section, on the main thread. The standard library is ready by then.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;
