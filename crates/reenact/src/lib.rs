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
//! A trace contains the order in which threads synchronized: which thread acquired which lock after which other, which
//! wait timed out, whether a `try_lock` succeeded. Everything between these operations is deterministic and repeats by
//! itself.
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
//! New programs can do without threads and locks: [`actor`](mod@actor) provides actors with messages and promises, and
//! records the order of messages; [`csp`] provides lightweight processes that communicate through channels, and records
//! which sender met which receiver; [`stm`] provides transactions, and records the order of commits. All of them can be
//! mixed.
//!
//! # Exploring other schedules
//!
//! [`explore`](mod@explore) runs a program under one schedule after the other, in a test with the attribute
//! [`#[reenact::test]`](macro@test). It reports a failing schedule step by step and keeps it as a regression test.
//!
//! # Input from outside
//!
//! On Linux, clocks and random numbers are recorded automatically. [`fs`], [`net`], [`process`] and [`io::stdin`] are
//! recorded versions of std's. Use [`external`] for any other value that a program asks for, and a [`source`] for
//! events that arrive unasked. A replay needs only the trace: it opens no file and no socket.
//!
//! # What is not recorded
//!
//! Memory that threads share without `reenact::sync` is not recorded (a library that uses `std::sync` internally is
//! fine as long as its results do not depend on the order of its locks), nor is input that a library obtains directly
//! through `std`. If that makes a replay differ, the replay reports the first operation that differs.

pub mod actor;
pub mod csp;
#[cfg(feature = "explore")]
pub mod explore;
pub mod fs;
pub mod io;
pub mod net;
pub mod process;
pub mod source;
pub mod stm;
pub mod sync;
pub mod thread;

mod loom;
mod ops;
mod outside;

#[cfg(feature = "explore")]
pub use self::explore::explore;
pub use self::outside::external;
pub use reenact_engine::record_to;
#[doc(hidden)]
pub use reenact_macros::call_at as __call_at;
pub use reenact_macros::{actor, test};

/// Runs the examples of the guide to actors as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/actors.md")]
pub struct GuideToActors;

/// Runs the examples of the guide to processes and channels.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/csp.md")]
pub struct GuideToProcesses;

/// Runs the examples of the guide to transactions.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/stm.md")]
pub struct GuideToTransactions;

/// Runs the examples of the guide to exploration.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/explore.md")]
pub struct GuideToExploration;

/// Runs the examples of the guide to input from outside.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/outside.md")]
pub struct GuideToOutside;
