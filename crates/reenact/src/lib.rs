//! Record a concurrent program as it runs, and replay exactly that run as often as you like.
//!
//! Write `reenact::{thread, sync}` where the program says `std::{thread, sync}`: that is the whole port. The program
//! behaves as before, at the cost of a branch per operation, until it is started by `reenact record`:
//!
//! ```text
//! $ reenact record -o bug.reenact -- ./app      # until the heisenbug strikes
//! $ reenact replay bug.reenact                  # the same failure, every time
//! ```
//!
//! What is recorded is the order in which threads met: who took which lock after whom, which wait timed out, whether a
//! `try_lock` succeeded. Everything between meetings is the program's own and happens again by itself.
//!
//! ```
//! use reenact::{sync::{Arc, Mutex}, thread};
//!
//! let total = Arc::new(Mutex::new(0));
//! let threads: Vec<_> = (0..4)
//!     .map(|i| {
//!         let total = Arc::clone(&total);
//!         thread::spawn(move || *total.lock().unwrap() += i)
//!     })
//!     .collect();
//! for thread in threads {
//!     thread.join().unwrap();
//! }
//! assert_eq!(*total.lock().unwrap(), 6);
//! ```
//!
//! New programs may do without threads and locks: [`actor`](mod@actor) has actors, with messages and promises, of which the
//! order of messages is recorded; [`csp`] has light processes that meet at channels, of which it is recorded who met whom;
//! [`stm`] has transactions, of which the order of commits is. All of them can be mixed.
//!
//! # What did not happen
//!
//! [`explore`](mod@explore) runs a program under one schedule after the other, in a test with the attribute
//! [`#[reenact::test]`](macro@test): what fails in any of them is found, told step by step, and kept.
//!
//! # What comes from outside
//!
//! Clocks and random numbers are recorded by themselves, on Linux. [`fs`], [`net`], [`process`] and [`io::stdin`] are std's,
//! recorded;
//! [`external`] is for whatever else a program asks, and a [`source`] for what comes without being asked. A replay needs the
//! trace alone: it opens no file and no socket.
//!
//! # What is not recorded
//!
//! Memory that threads share without `reenact::sync` (a library that uses `std::sync` inside is fine as long as the order of
//! its locks cannot be told from its results), and what a library of yours asks of the outside through `std` itself. A replay
//! that such a thing makes different says so at the first operation that differs.

pub mod actor;
pub mod csp;
pub mod explore;
pub mod fs;
pub mod io;
pub mod net;
pub mod process;
pub mod source;
pub mod stm;
pub mod sync;
pub mod thread;

mod ops;
mod outside;

pub use self::{explore::explore, outside::external};
pub use reenact_engine::record_to;
#[doc(hidden)]
pub use reenact_macros::call_at as __call_at;
pub use reenact_macros::{actor, test};

/// The examples of the guide to actors, which are run along with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/actors.md")]
pub struct GuideToActors;

/// The same for processes and channels.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/csp.md")]
pub struct GuideToProcesses;

/// Those of the guide to transactions.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/stm.md")]
pub struct GuideToTransactions;

/// Those of the guide to exploration.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/explore.md")]
pub struct GuideToExploration;

/// Those of the guide to what comes from outside.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/outside.md")]
pub struct GuideToOutside;
