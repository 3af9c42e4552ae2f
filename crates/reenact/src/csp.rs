//! Communicating sequential processes: light processes, and channels where they meet.
//!
//! A [process](spawn) is a function that runs on its own, a million at a time if need be; a [channel] takes a message
//! from one that sends to one that receives, both waiting for the other. Names are those of `crossbeam-channel`, so that
//! porting is a change of imports. Threads and actors may use channels too, and processes whatever there is: a process
//! that waits, at a channel, a lock, a promise or for the end of a thread, is put aside, and its worker runs others.
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
//! A process stays on the worker that began to run it. So what it holds across a wait, a guard of a lock or a reference to
//! something bound to a thread, stays sound.
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: who of several senders is next, who of several receivers; which case of a
//!   [`select!`] happens, whether its time is up; whether the other side was gone already.
//! - *What is recorded*: the position of a send among all sends of the channel, and of a receive among the receives, if
//!   somebody else was there since this activity's last; a case other than the first; that the other side was gone. A
//!   channel with one sender and one receiver costs no byte. Both sides of a meeting are recorded before either goes on.
//! - *What replay waits for*: the same positions, and the partner that comes with them. That a side is gone, where the
//!   recorded one had found it gone.
//! - *What exploration branches on*: who is next at each end, the case of a selection, and whether one who does not wait, or
//!   not for ever, comes before or after the others. Whether its time is up is a choice of the schedule. An end that is
//!   dropped is a step. Where a channel has no room, sending is an offer, which is one step; receiving is two, to arrive and to take, since
//!   those who select or do not wait send only to one who has arrived. What exploration does not support, and says so: a
//!   selection, or one who does not wait, that may meet a selection at a channel without room.
//! - *What is dependent*: two sends to the same channel, two receives from it; a send and a receive only as the two halves
//!   of one meeting, or through the room in a buffer. A send and a receiver that is dropped. One who does not wait, or selects,
//!   and whatever is done at the other end; and the same end.

mod core;
mod ops;
mod process;
mod receiver;
#[doc(hidden)]
pub mod select;
mod sender;
mod waiter;

use std::sync::Arc;
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use self::core::Core;
pub use self::{
    process::{JoinHandle, spawn, yield_now},
    receiver::{IntoIter, Iter, Receiver, TryIter},
    sender::{SendTimeoutError, Sender},
};
/// Does one of several operations: the first that is possible.
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
/// result is that of [`Receiver::recv`] or [`Sender::send`]; an operation that cannot happen any more because the other
/// side is gone counts as possible. With `default => …` it does not wait, with `default(time) => …` for so long. If
/// several are possible, each has its turn. A message is made before that, and dropped if its case is not the one that
/// happens.
pub use crate::__select as select;

/// A channel without room: who sends waits until somebody receives.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    bounded(0)
}

/// A channel with room for so many messages: who sends waits while it is full.
#[must_use]
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let core = Arc::new(Core::new(capacity));
    (Sender::new(Arc::clone(&core)), Receiver::new(core))
}

/// A channel with room for any number of messages: nobody waits to send.
#[must_use]
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    bounded(usize::MAX)
}

#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // The first token of a case is kept beside it: the operation is done at its line.
    (@cases $done:tt $left:tt { $at:tt $($rest:tt)* }) => {
        $crate::__select!(@case $at $done $left { $at $($rest)* })
    };
    (@cases [$($done:tt)*] $left:tt {}) => {
        $crate::__select!(@do [$($done)*] ($crate::csp::select::Patience::Forever) (
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
        $crate::__select!(@do [$($done)*] ($crate::csp::select::Patience::None) ($body))
    };
    (@case $at:tt [$($done:tt)*] $left:tt { default($time:expr) => $body:expr $(,)? }) => {
        $crate::__select!(@do [$($done)*] ($crate::csp::select::Patience::For($time)) ($body))
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
    (@do [$(($kind:ident $at:tt $name:ident $number:tt ($($argument:tt)*) ($result:pat) ($body:expr)))*] ($patience:expr) ($default:expr)) => {{
        $(
            // Whatever the handle is an expression of lives as long as the selection.
            let $name = &$crate::__select!(@handle $kind ($($argument)*));
            let mut $name = $crate::__select!(@operation $kind $name ($($argument)*));
        )*
        match $crate::csp::select::select(&mut [$(&mut $name),*], $patience) {
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
