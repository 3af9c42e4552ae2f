//! Sources: what comes from outside of its own accord.
//!
//! A listener, a timer, a subscription: somebody outside decides when there is something, and which thread brings it is no
//! business of the program. A [`Source`] is an activity that stands for all that. Whoever brings something does so *as*
//! the source, one at a time: what it is is written down, and handed on by the source to actors or channels in the usual
//! way, so that the usual records say when it came there. In a replay nobody brings anything: the source is played from its
//! part of the trace, as fast as the rest of the program takes it.

use std::{
    io,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    Access, Announcement, Asked, Birth, Entity, Op, Question, Reply, Seat,
    activity::{aside, stand_up, with_controlled},
    controller, explore,
    external::{apart, is_played, not_apart, stay_apart},
    mode::{self, Mode},
    raw::RawMutex,
    record,
    thread::note_panic,
};

/// Comes last from a source that ends. Nothing else that comes is a number this large.
const OVER: Reply<'static> = Reply::Number(u64::MAX);

crate::operations! {
    TURN = 0x54 External "bring something from outside";
}

/// An activity that stands for something outside. `D` is what hands on what comes.
pub struct Source<D> {
    seat: Seat,
    /// Held by who brings something, while it is handed on: the order in which things come. Who hands on may wait, and so
    /// may a task that waits for this.
    turn: RawMutex,
    /// Taken out by who has the turn. None once nothing more comes.
    deliver: Mutex<Option<D>>,
    /// The turn, where it is explored.
    order: Entity,
}

/// The turn to bring something, with what hands it on.
struct Turn<'a, D> {
    source: &'a Source<D>,
    deliver: Option<D>,
}

impl<D> Drop for Turn<'_, D> {
    fn drop(&mut self) {
        *self.source.deliver() = self.deliver.take();
        self.source.turn.unlock();
        if explore::is_here() {
            self.source.order.leave(TURN, Access::Take, || ());
        }
    }
}

impl<D> Source<D> {
    fn deliver(&self) -> MutexGuard<'_, Option<D>> {
        self.deliver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn turn(&self) -> Turn<'_, D> {
        if explore::is_here() {
            self.order.take(TURN, || Some(()), || (), |()| ());
        }
        self.turn.lock();
        Turn {
            source: self,
            deliver: self.deliver().take(),
        }
    }
}

impl<D: Send + 'static> Source<D> {
    /// A source that is a child of the current activity.
    pub fn new(deliver: D) -> Source<D> {
        Source {
            seat: Seat::born(),
            turn: RawMutex::new(),
            deliver: Mutex::new(Some(deliver)),
            order: Entity::new(),
        }
    }

    /// Something has come: `hand_on` hands it on, as the source. Called by any thread, which need not be part of the
    /// program.
    pub fn bring(&self, op: Op, item: Reply<'_>, hand_on: impl FnOnce(&mut D)) {
        let mut turn = self.turn();
        let Some(deliver) = &mut turn.deliver else {
            return;
        };
        if mode::byte() != Mode::Record as u8 {
            return hand_on(deliver);
        }
        let handed_on = aside(|| {
            self.seat.enter();
            record::external(op, Asked::NOTHING, &item);
            // Who brings it goes on as what it was, panic or not.
            let handed_on = catch_unwind(AssertUnwindSafe(|| not_apart(|| hand_on(deliver))));
            stand_up();
            handed_on
        });
        if let Err(panic) = handed_on {
            drop(turn);
            resume_unwind(panic);
        }
    }

    /// Nothing more comes, which is written down: what hands on is dropped, by the source, and others may see that it is
    /// gone.
    pub fn end(&self, op: Op) {
        if is_played() {
            return;
        }
        let last = self.turn().deliver.take();
        if let Some(last) = last {
            if explore::is_here() {
                // By whoever ends it, which is an activity of the program.
                return drop(last);
            }
            aside(|| {
                self.seat.enter();
                if mode::byte() == Mode::Record as u8 {
                    record::external(op, Asked::NOTHING, &OVER);
                }
                not_apart(|| drop(last));
                self.seat.end();
            });
        }
    }

    /// Runs what feeds the source, until it returns: on a thread that is not part of the program, and that there is not in a
    /// replay. Where schedules are explored it is an activity as any other, and when it brings something is a choice of the
    /// schedule.
    pub fn feed(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        if is_played() {
            return Ok(());
        }
        if explore::is_here() {
            feed_as_activity(name, run);
            return Ok(());
        }
        let thread = std::thread::Builder::new().name(name.to_owned());
        let body = move || {
            stay_apart();
            run();
        };
        apart(|| thread.spawn(body)).map(drop)
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
        let last = source.deliver().take();
        // Before the thread is there, so that nobody finds everybody waiting.
        controller::one_more_awake();
        let thread = std::thread::Builder::new().name("reenact-source".to_owned());
        let spawned = apart(|| {
            thread.spawn(move || {
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
                controller::one_less_awake();
            })
        });
        spawned
            .map(|_| true)
            .inspect_err(|_| controller::one_less_awake())
    }
}

#[cold]
fn feed_as_activity(name: &str, run: impl FnOnce() + Send + 'static) {
    let birth = Birth::announce(Some(name));
    if let (Some(number), Some(world)) = (birth.number(), explore::here()) {
        let body = move || {
            let _life = birth.begin();
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                note_panic(number, false);
            }
        };
        // SAFETY: It borrows nothing.
        unsafe { world.start(number, body) };
    }
}

/// What comes next to the current activity, which is a source, according to its controller.
fn next<T>(
    op: Op,
    what: &'static str,
    site: &'static Location<'static>,
    hear: &mut impl FnMut(Reply<'_>) -> Option<T>,
) -> Option<T> {
    with_controlled(|me| {
        let ask = |question| me.controller.outside(&me.activity, question);
        if ask(Question::IsSourceOver).is_some() {
            return None;
        }
        let mut item = None;
        ask(Question::Call {
            announcement: &Announcement {
                site,
                ..Announcement::new(op, Access::Outside)
            },
            what,
            asked: Asked::NOTHING,
            hear: &mut |reply| {
                let is_over = reply == OVER;
                item = if is_over { None } else { hear(reply) };
                is_over || item.is_some()
            },
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
