//! Sources: what comes from outside of its own accord.
//!
//! A listener, a timer, a subscription: somebody outside decides when there is something, and which thread brings it is no
//! business of the program. A [`Source`] is an activity that stands for all that. Whoever brings something does so *as*
//! the source, one at a time: what it is is written down, and handed on by the source to actors or channels in the usual
//! way, so that the usual records say when it came there. In a replay nobody brings anything: the source is played from its
//! part of the trace, as fast as the rest of the program takes it.

use std::{
    io,
    panic::Location,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    Access, Asked, Op, Operation, Reply, Seat,
    activity::{aside, stand_up, with_conducted},
    conduct,
    external::{is_played, not_apart, stay_apart},
    mode::{self, Mode},
    record,
};

/// Comes last from a source that ends. Nothing else that comes is a number this large.
const OVER: Reply<'static> = Reply::Number(u64::MAX);

/// An activity that stands for something outside. `D` is what hands on what comes.
pub struct Source<D> {
    seat: Seat,
    /// Also the order in which things come. None once nothing more comes.
    deliver: Mutex<Option<D>>,
}

impl<D: Send + 'static> Source<D> {
    /// A source that is a child of the current activity.
    pub fn new(deliver: D) -> Source<D> {
        Source {
            seat: Seat::born(),
            deliver: Mutex::new(Some(deliver)),
        }
    }

    /// Something has come: `hand_on` hands it on, as the source. Called by any thread, which need not be part of the
    /// program.
    pub fn bring(&self, op: Op, item: Reply<'_>, hand_on: impl FnOnce(&mut D)) {
        let mut deliver = self.deliver.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(deliver) = &mut *deliver else {
            return;
        };
        if mode::byte() != Mode::Record as u8 {
            return hand_on(deliver);
        }
        aside(|| {
            self.seat.enter();
            record::external(op, Asked::NOTHING, item);
            not_apart(|| hand_on(deliver));
            stand_up();
        });
    }

    /// Nothing more comes, which is written down: what hands on is dropped, by the source, and others may see that it is
    /// gone.
    pub fn end(&self, op: Op) {
        if is_played() {
            return;
        }
        if let Some(last) = self.take() {
            aside(|| {
                self.seat.enter();
                if mode::byte() == Mode::Record as u8 {
                    record::external(op, Asked::NOTHING, OVER);
                }
                not_apart(|| drop(last));
                self.seat.end();
            });
        }
    }

    fn take(&self) -> Option<D> {
        let mut deliver = self.deliver.lock().unwrap_or_else(PoisonError::into_inner);
        deliver.take()
    }

    /// In a replay: plays the source on a thread of its own. `hear` makes what came out of what was written down, or says
    /// with none that this cannot be it; `hand_on` hands it on. `what` says for people what comes. False if this is no
    /// replay.
    #[track_caller]
    pub fn play<T>(
        self: &Arc<Self>,
        op: Op,
        what: &'static str,
        mut hear: impl FnMut(Reply<'_>) -> Option<T> + Send + 'static,
        mut hand_on: impl FnMut(&mut D, T) + Send + 'static,
    ) -> io::Result<bool> {
        if !is_played() {
            return Ok(false);
        }
        let site = Location::caller();
        let source = Arc::clone(self);
        let last = source.take();
        // Before the thread is there, so that nobody finds everybody waiting.
        conduct::one_more_awake();
        let spawned = std::thread::Builder::new()
            .name("reenact-source".to_owned())
            .spawn(move || {
                stay_apart();
                source.seat.enter();
                if let Some(mut deliver) = last {
                    while let Some(item) = next(op, what, site, &mut hear) {
                        // Not before it counts as having come: handing it on may be an operation, too.
                        not_apart(|| hand_on(&mut deliver, item));
                    }
                    not_apart(|| drop(deliver));
                }
                source.seat.end();
                conduct::one_less_awake();
            });
        spawned
            .map(|_| true)
            .inspect_err(|_| conduct::one_less_awake())
    }
}

/// What comes next to the current activity, which is a source, according to its conductor.
fn next<T>(
    op: Op,
    what: &'static str,
    site: &'static Location<'static>,
    hear: &mut impl FnMut(Reply<'_>) -> Option<T>,
) -> Option<T> {
    with_conducted(|me| {
        if me.conductor.is_over(&me.activity) {
            return None;
        }
        let operation = Operation {
            activity: &me.activity,
            op,
            access: Access::Outside,
            entity: None,
            predicted: 0,
            site,
        };
        let mut item = None;
        me.conductor
            .external(&operation, what, Asked::NOTHING, &mut |reply| {
                let is_over = reply == OVER;
                item = if is_over { None } else { hear(reply) };
                is_over || item.is_some()
            });
        item
    })
    .flatten()
}

impl<D> std::fmt::Debug for Source<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}
