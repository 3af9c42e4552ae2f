//! Communicating sequential processes: lightweight processes and the channels between them.
//!
//! A [process](spawn) is a function that runs on its own, a million at a time if need be; a [channel] passes a message
//! from a sender to a receiver, each waiting for the other. The names are those of `crossbeam-channel`, so that porting
//! is a change of imports. Threads and actors can use channels too, and processes can use everything else: a process
//! that waits at a channel, a lock, a promise or for the end of a thread is suspended, and its worker runs others.
//!
//! ```
//! use reenact::csp;
//!
//! let (numbers, odd) = csp::channel();
//! let (squares, results) = csp::channel();
//! csp::spawn(move || (1..=5).try_for_each(|n| numbers.send(n)));
//! csp::spawn(move || odd.iter().try_for_each(|n| squares.send(n * n)));
//! assert_eq!(results.iter().sum::<i32>(), 55);
//! ```
//!
//! A process stays on the worker that started it. So a lock guard, or a reference to something bound to a thread, stays
//! sound when the process holds it across a wait.
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: which of several senders is next, and which of several receivers; which case of a
//!   [`select!`] happens, and whether its time limit expires; whether the other side was already gone.
//! - *What is recorded*: the position of a send among all sends of the channel, and of a receive among the receives, if
//!   another activity was there since this activity's last; a case other than the first; that the other side was gone.
//!   A channel with one sender and one receiver costs no byte. Both sides of a rendezvous are recorded before either
//!   continues.
//! - *What replay waits for*: the same positions, and the partner that comes with them; and for the other side to be
//!   gone, where the recording found it gone.
//! - *What exploration branches on*: which activity is next at each end, the case of a selection, and whether an
//!   operation that does not wait, or has a time limit, comes before or after the others. Whether a time limit expires
//!   is a choice of the schedule. Dropping an end is a step. On a channel of capacity 0, a send is one step, the offer;
//!   a receive is two, arriving and taking, because selections and non-blocking sends send only to a receiver that has
//!   arrived. Exploration does not support a selection or a non-blocking operation that may meet a selection at a
//!   channel of capacity 0, and says so.
//! - *What is dependent*: two sends to the same channel, two receives from it; a send and a receive only as the two
//!   halves of one rendezvous, or through the room in a buffer. A send and dropping the receiver. A non-blocking
//!   operation or selection, and any operation at the other end or at the same end.

mod channel;
mod iterators;
mod ops;
mod process;
mod receiver;
#[doc(hidden)]
pub mod select;
mod sender;
mod waiter;

use std::sync::Arc;
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use self::channel::Channel;
pub(crate) use self::iterators::iterators;
pub use self::{
    process::{JoinHandle, spawn, yield_now},
    receiver::{IntoIter, Iter, Receiver, TryIter},
    sender::{SendTimeoutError, Sender},
};
/// Performs one of several operations: the first that is ready.
///
/// ```
/// use std::time::Duration;
///
/// use reenact::csp;
///
/// let (requests, inbox) = csp::channel::<u32>();
/// let (outbox, answers) = csp::channel();
/// let server = csp::spawn(move || {
///     let mut pending = 0;
///     loop {
///         csp::select! {
///             recv(inbox) -> request => match request {
///                 Ok(request) => pending += request,
///                 Err(_) => break pending,
///             },
///             send(outbox, pending) -> taken => match taken {
///                 Ok(()) => pending = 0,
///                 Err(_) => break pending,
///             },
///             default(Duration::from_secs(60)) => break pending,
///         }
///     }
/// });
/// requests.send(1).unwrap();
/// requests.send(2).unwrap();
/// assert_eq!(answers.recv(), Ok(3));
/// drop(requests);
/// # drop(answers);
/// assert_eq!(server.join().unwrap(), 0);
/// ```
///
/// The cases are `recv(receiver) -> result => …` and `send(sender, message) -> result => …`, up to twelve of them. The
/// result is that of [`Receiver::recv`] or [`Sender::send`]; an operation that fails because the other side is gone
/// counts as ready. With `default => …` the selection does not wait, with `default(time) => …` it waits at most that
/// long. If several cases are ready, one of them is chosen at random. Messages are evaluated first, and dropped if
/// their case is not chosen.
pub use crate::__select as select;

/// Creates a channel of capacity 0: a sender waits until a receiver takes the message.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    bounded(0)
}

/// Creates a channel that holds up to `capacity` messages: a sender waits while it is full.
#[must_use]
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(capacity));
    (Sender::new(Arc::clone(&channel)), Receiver::new(channel))
}

/// Creates a channel of unlimited capacity: senders never wait.
#[must_use]
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    bounded(usize::MAX)
}

#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // The first token of a case is kept beside it: the operation takes its source location from it.
    (@cases $done:tt $left:tt { $at:tt $($rest:tt)* }) => {
        $crate::__select!(@case $at $done $left { $at $($rest)* })
    };
    (@cases [$($done:tt)*] $left:tt {}) => {
        $crate::__select!(@do [$($done)*] ($crate::csp::select::Timeout::Never) (
            ::core::unreachable!("a selection without a time limit ends with a case")
        ))
    };
    (@case $at:tt $done:tt $left:tt {
        recv($receiver:expr) -> $result:pat => $body:expr $(, $($rest:tt)*)?
    }) => {
        $crate::__select!(@next recv $at ($receiver) ($result) ($body) $done $left { $($($rest)*)? })
    };
    (@case $at:tt $done:tt $left:tt {
        recv($receiver:expr) -> $result:pat => $body:block $($rest:tt)*
    }) => {
        $crate::__select!(@next recv $at ($receiver) ($result) ($body) $done $left { $($rest)* })
    };
    (@case $at:tt $done:tt $left:tt {
        send($sender:expr, $message:expr) -> $result:pat => $body:expr $(, $($rest:tt)*)?
    }) => {
        $crate::__select!(@next send $at ($sender, $message) ($result) ($body) $done $left { $($($rest)*)? })
    };
    (@case $at:tt $done:tt $left:tt {
        send($sender:expr, $message:expr) -> $result:pat => $body:block $($rest:tt)*
    }) => {
        $crate::__select!(@next send $at ($sender, $message) ($result) ($body) $done $left { $($rest)* })
    };
    (@case $at:tt [$($done:tt)*] $left:tt { default => $body:expr $(,)? }) => {
        $crate::__select!(@do [$($done)*] ($crate::csp::select::Timeout::Now) ($body))
    };
    (@case $at:tt [$($done:tt)*] $left:tt { default($time:expr) => $body:expr $(,)? }) => {
        $crate::__select!(@do [$($done)*] ($crate::csp::select::Timeout::After($time)) ($body))
    };
    (@case $at:tt $done:tt $left:tt $rest:tt) => {
        ::core::compile_error!("cases are `recv(receiver) -> result => …`, `send(sender, message) -> result => …` and, last, `default => …` or `default(time) => …`")
    };
    (@next $kind:ident $at:tt $arguments:tt $result:tt $body:tt [$($done:tt)*] [($name:ident $number:tt) $($left:tt)*] $rest:tt) => {
        $crate::__select!(@cases [$($done)* ($kind $at $name $number $arguments $result $body)] [$($left)*] $rest)
    };
    (@next $kind:ident $at:tt $arguments:tt $result:tt $body:tt $done:tt [] $rest:tt) => {
        ::core::compile_error!("a selection has at most twelve cases")
    };
    (@do [$(($kind:ident $at:tt $name:ident $number:tt ($($argument:tt)*) ($result:pat) ($body:expr)))*] ($timeout:expr) ($default:expr)) => {{
        $(
            // Temporaries in the handle's expression live as long as the selection.
            let $name = &$crate::__select!(@handle $kind ($($argument)*));
            let mut $name = $crate::__select!(@operation $kind $name ($($argument)*));
        )*
        match $crate::csp::select::select(&mut [$(&mut $name),*], $timeout) {
            $(Some($number) => {
                let $result = $crate::__select!(@result $kind $at $name);
                $body
            })*
            _ => $default,
        }
    }};
    (@handle recv ($receiver:expr)) => { $receiver };
    (@handle send ($sender:expr, $message:expr)) => { $sender };
    (@operation recv $name:ident ($receiver:expr)) => { $name.receiving() };
    (@operation send $name:ident ($sender:expr, $message:expr)) => { $name.sending($message) };
    (@result recv $at:tt $name:ident) => { $crate::__call_at!($at $name received) };
    (@result send $at:tt $name:ident) => { $crate::__call_at!($at $name sent) };
    ($($cases:tt)*) => {
        $crate::__select!(@cases []
            [(c0 0) (c1 1) (c2 2) (c3 3) (c4 4) (c5 5) (c6 6) (c7 7) (c8 8) (c9 9) (c10 10) (c11 11)]
            { $($cases)* })
    };
}
