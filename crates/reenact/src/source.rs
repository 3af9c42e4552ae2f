//! Sources: events that arrive from outside unasked.
//!
//! A question has an answer, and it is clear which activity asked. But a request, a timer tick or a broker's message
//! arrives at any time, on a thread of a library that knows nothing of this program. A [`Source`] is where such events
//! enter: the library's thread [emits](Source::emit) an event, and the source delivers it to an actor or into a
//! channel. In a replay nobody has to emit anything: the source plays the events from the trace, as an activity of its
//! own.
//!
//! A subscription, whose callback delivers to an actor:
//!
//! ```
//! use reenact::{actor::{self, System}, source::Source};
//!
//! #[derive(Default)]
//! struct Ledger {
//!     total: u64,
//! }
//!
//! #[reenact::actor]
//! impl Ledger {
//!     pub fn book(&mut self, amount: u64) {
//!         self.total += amount;
//!     }
//!
//!     pub fn total(&self) -> u64 {
//!         self.total
//!     }
//! }
//!
//! let ledger = actor::spawn(Ledger::default());
//! let books = ledger.clone();
//! let bookings = Source::new("bookings", move |amount: u64| {
//!     books.book(amount);
//! });
//!
//! // This is what the library does, on a thread that is not ours.
//! # let library =
//! std::thread::spawn(move || {
//!     bookings.emit(40);
//!     bookings.emit(2);
//! });
//! # library.join().unwrap();
//! assert_eq!(ledger.total().wait().unwrap(), 42);
//! ```
//!
//! A timer, whose ticks a thread takes out of a channel. [`Source::thread`] runs it on a thread that does not exist in
//! a replay:
//!
//! ```
//! use std::time::Duration;
//!
//! use reenact::{csp, source::Source};
//!
//! let (ticks, ticked) = csp::bounded(1);
//! Source::thread(
//!     "ticks",
//!     move |n: u32| {
//!         let _ = ticks.send(n);
//!     },
//!     |source| {
//!         for n in 0..3 {
//!             std::thread::sleep(Duration::from_millis(1));
//!             source.emit(n);
//!         }
//!     },
//! )?;
//! assert_eq!(ticked.iter().collect::<Vec<_>>(), [0, 1, 2]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A listener that gives the program requests instead of sockets:
//!
//! ```
//! use std::{io::{BufRead, BufReader, Write}, net::{TcpListener, TcpStream}};
//!
//! use reenact::{csp, source::Source};
//!
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! # let address = listener.local_addr()?;
//! let (requests, requested) = csp::unbounded();
//! Source::thread(
//!     "requests",
//!     move |line: String| {
//!         let _ = requests.send(line);
//!     },
//!     move |source| {
//!         for stream in listener.incoming().flatten() {
//!             for line in BufReader::new(stream).lines().map_while(Result::ok) {
//!                 source.emit(line);
//!             }
//! #           break;
//!         }
//!     },
//! )?;
//! # TcpStream::connect(address)?.write_all(b"hello\n")?;
//! assert_eq!(requested.recv().unwrap(), "hello");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: which events arrive, how many, and when.
//! - *What is recorded*: the events in order, as the answers that the source, which is an activity, got. When an event
//!   reached an actor or was taken out of a channel is recorded there, as for any other message.
//! - *What replay waits for*: only what a source waits for by itself, such as room in a channel. So it may be far ahead
//!   of the activities that take its events; a [bounded](crate::csp::bounded) channel holds it back.
//! - *What exploration branches on*: when an event is emitted, and which activity emits first: whatever emits is an
//!   activity like any other, and [`Source::thread`] starts one. The events must be the same in all executions.
//! - *What is dependent*: all events of the same source; and what is dependent where they are delivered.

use std::{fmt, io, sync::Arc};

pub use reenact_engine::stay_untracked;
use reenact_engine::{Reply, is_active, is_played, is_withheld};
use serde::{Serialize, de::DeserializeOwned};

use crate::outside::{decode_value, encode_value, ops};

type Deliver<T> = Box<dyn FnMut(T) + Send>;

/// A source of events that arrive from outside unasked.
///
/// It ends when it is dropped or closed, and drops its `deliver` closure then: a channel that it sent to has one sender
/// less.
pub struct Source<T: Send + 'static> {
    inner: Arc<reenact_engine::Source<Deliver<T>>>,
    name: &'static str,
}

impl<T: Serialize + DeserializeOwned + Send + 'static> Source<T> {
    /// Creates a source of this name that passes each event to `deliver`. `deliver` is called for one event at a time,
    /// by the thread that emits it, or by the source itself in a replay; it must not emit into the same source.
    ///
    /// # Panics
    ///
    /// Panics in a replay, if the system cannot start a thread.
    #[track_caller]
    pub fn new(name: &'static str, deliver: impl FnMut(T) + Send + 'static) -> Source<T> {
        let inner = Arc::new(reenact_engine::Source::<Deliver<T>>::new(Box::new(deliver)));
        inner
            .play(
                ops::BRING,
                name,
                |reply| decode_value(&reply),
                |deliver, item| deliver(item),
            )
            .expect("failed to spawn a thread for a source");
        Source { inner, name }
    }

    /// Creates a source that is fed by a thread of its own: `run` runs there, to its end or that of the program. The
    /// thread is not part of the program, and does not exist in a replay. What it asks of the system is not recorded;
    /// what it emits is.
    ///
    /// # Errors
    ///
    /// If the system cannot start a thread.
    #[track_caller]
    pub fn thread(
        name: &'static str,
        deliver: impl FnMut(T) + Send + 'static,
        run: impl FnOnce(&Source<T>) + Send + 'static,
    ) -> io::Result<()> {
        let source = Source::new(name, deliver);
        reenact_engine::Source::<Deliver<T>>::feed(name, move || run(&source))
    }

    /// Emits an event, and returns after it has been delivered. Does nothing in a replay, where the source delivers by
    /// itself.
    pub fn emit(&self, item: T) {
        if is_played() {
            return;
        }
        let reply = if !is_active() {
            // The reply is not recorded.
            Reply::Number(0)
        } else if is_withheld("source", self.name) {
            Reply::Withheld
        } else {
            encode_value(&item, || format!("what comes from source {}", self.name))
        };
        self.inner.bring(ops::BRING, reply, |deliver| deliver(item));
    }

    /// Closes the source: no more events arrive.
    pub fn close(self) {}
}

impl<T: Send + 'static> Drop for Source<T> {
    fn drop(&mut self) {
        self.inner.end(ops::BRING);
    }
}

impl<T: Send + 'static> fmt::Debug for Source<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
