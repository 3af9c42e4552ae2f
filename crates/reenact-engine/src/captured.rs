//! Captures calls to the C library: clocks, random bytes, the process id, the environment, what is printed.
//!
//! `Instant::now`, `SystemTime::now`, the `getrandom` that `rand`, `uuid` and `HashMap` take their seeds from: in the
//! end all of them call a function of the C library by its name. A program that is linked with reenact defines
//! functions of these names itself, and the linker prefers those. So nothing in the program changes, and libraries are
//! captured like the program.
//!
//! Off, such a function is a branch and a jump to the real one. Recording, it calls the real one and records its result
//! for the activity that the thread runs. In a replay it returns what was recorded.
//!
//! A thread that was not announced may belong to a library, and poll and time out as it likes; how often it reads a
//! clock then depends on what is not recorded. So such a foreign thread gets the recorded results in their order, as
//! long as there are any, and the check of its own operations ignores them.
//!
//! Calls that are not part of the program are not captured: those of reenact itself, those of the standard library
//! within one of our operations (both are made with [`untracked`](crate::untracked)), and those of our own threads while they
//! run no activity.
//!
//! Calls whose effects are not recorded are noted ([`seen`]).
//!
//! Only on Linux with the GNU C library: elsewhere these functions do not have those names, and input from outside is
//! recorded only where the program calls [`external`](crate::external).

mod bus;
mod callers;
mod clock;
#[cfg(target_arch = "x86_64")]
mod exit;
pub(crate) mod identity;
#[cfg(feature = "explore")]
mod input;
mod output;
mod random;
mod real;
mod seen;
mod shifted;
mod syscall;
#[cfg(feature = "explore")]
pub(crate) mod threads;
mod waits;

use reenact_trace::Kind;

#[cfg(feature = "explore")]
pub(crate) use self::real::read as real_read;
pub(crate) use self::real::write_all;
pub(crate) use self::{
    clock::{CLOCK_KINDS, CLOCKS, REALTIME},
    shifted::{ShiftedClocks, VARIABLE as CLOCKS_VARIABLE, clocks_now, play as play_clocks},
};
use crate::{
    Captured, Op,
    activity::{HOT, Hot},
    explore,
    external::is_played,
    mode::{self, Mode},
};

/// Makes sure that this module is linked: a linker takes from a library only what something refers to.
pub(crate) fn link() {
    std::hint::black_box((
        BEFORE_MAIN,
        clock::clock_gettime as *const (),
        clock::gettimeofday as *const (),
        clock::time as *const (),
        clock::clock as *const (),
        random::getrandom as *const (),
        random::getentropy as *const (),
        random::arc4random as *const (),
        random::arc4random_buf as *const (),
        random::arc4random_uniform as *const (),
        identity::getpid as *const (),
        identity::kill as *const (),
        identity::getenv as *const (),
        identity::secure_getenv as *const (),
        bus::sigaction as *const (),
        bus::signal as *const (),
        syscall::syscall as *const (),
        output::write as *const (),
        output::writev as *const (),
    ));
    seen::link();
    waits::link();
    #[cfg(target_arch = "x86_64")]
    std::hint::black_box(exit::__errno_location as *const ());
    #[cfg(feature = "explore")]
    std::hint::black_box((input::read as *const (), threads::pthread_join as *const ()));
}

crate::operations! {
    CLOCK = 0xf0 External "read the clock";
    TIME_OF_DAY = 0xf1 External "read the time of day";
    RANDOM = 0xf3 External "random bytes";
    pub(crate) WAIT = 0xf4 External "wait with a time limit";
}

impl Captured {
    /// Returns the operation that the call is.
    #[inline(always)]
    pub(crate) const fn op(self) -> Op {
        match self {
            Captured::Clock => CLOCK,
            Captured::TimeOfDay => TIME_OF_DAY,
            Captured::Random => RANDOM,
        }
    }

    /// Returns the kind of its events.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Captured::Clock => Kind::CLOCK,
            Captured::TimeOfDay => Kind::TIME,
            Captured::Random => Kind::RANDOM,
        }
    }
}

/// Returns whether an event is of a captured call of the C library.
pub(crate) fn is_of_library(kind: Kind) -> bool {
    matches!(kind, Kind::CLOCK | Kind::TIME | Kind::RANDOM | Kind::WAITED)
}

/// Returns the operation of an event that [is of the library](is_of_library).
pub(crate) fn op_of(kind: Kind) -> Op {
    match kind {
        Kind::CLOCK => CLOCK,
        Kind::TIME => TIME_OF_DAY,
        Kind::WAITED => WAIT,
        _ => RANDOM,
    }
}

/// Returns whether the calls of the calling thread are to be recorded or played.
fn is_captured() -> bool {
    if HOT.with(|hot| hot.untracked.get()) != 0 {
        return false;
    }
    let is_ours =
        HOT.with(|hot| hot.is_ours.get() && hot.guest.get().is_null()) && Hot::slot().is_none();
    if is_ours {
        return false;
    }
    match mode::settled_if_known() {
        Some(Mode::Record | Mode::Replay) => true,
        // A controller that does not play the outside need not know of threads that only read clocks. For an
        // exploration, the outside is the same each time.
        Some(Mode::Controlled) => explore::is_here() || is_played(),
        _ => false,
    }
}

/// Settles the mode before any code of the program runs. Not at the first captured call: that may be in the middle of
/// an allocator, where allocating is impossible.
extern "C" fn before_main() {
    mode::settle();
}

/// Learns which code and which [objects](crate::Object) belong to the allocator. Called before the mode is known.
pub(crate) fn learn() {
    callers::learn();
}

#[used]
// SAFETY: The loader calls the functions in this section, on the main thread. The standard library is ready by then.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;
