//! Sources of input that arrives of its own accord.
//!
//! With a listener, a timer or a subscription, the outside decides when there is input, and the program does not care
//! which thread brings it. A [`Source`] is an activity that stands for all of that. A thread that brings input does so
//! *as* the source, one at a time: the input is recorded, and the source hands it on to actors or channels in the usual
//! way, so that the usual records say when it arrived there. In a replay no thread brings input: the source is played
//! from its part of the trace, as fast as the rest of the program takes it.

use std::{
    io,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    Access, ActivitySlot, Announcement, Asked, Birth, Object, Op, Question, Reply,
    activity::{aside, stand_up, with_controlled},
    controller, explore,
    external::{is_played, stay_untracked, tracked, untracked},
    mode::{self, Mode},
    raw::RawMutex,
    record,
    thread::note_panic,
};

/// The last item of a source that ends. No other item is a number this large.
const OVER: Reply<'static> = Reply::Number(u64::MAX);

crate::operations! {
    TURN = 0x54 External "bring something from outside";
}

/// An activity that stands for something outside the program. `D` hands on the input.
pub struct Source<D> {
    slot: ActivitySlot,
    /// Held while an item is handed on: this is the order of the items. Handing on may block, and so may a task that
    /// waits for this lock.
    turn: RawMutex,
    /// Taken out by the holder of the turn. None once the source has ended.
    deliver: Mutex<Option<D>>,
    /// The turn as an object, where it is explored.
    order: Object,
}

/// The turn to bring an item, with the `D` that hands it on.
struct DeliveryGuard<'a, D> {
    source: &'a Source<D>,
    deliver: Option<D>,
}

impl<D> Drop for DeliveryGuard<'_, D> {
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
    fn turn(&self) -> DeliveryGuard<'_, D> {
        if explore::is_here() {
            self.order.take(TURN, || Some(()), || (), |()| ());
        }
        self.turn.lock();
        DeliveryGuard {
            source: self,
            deliver: self.deliver().take(),
        }
    }
}

impl<D: Send + 'static> Source<D> {
    /// Creates a source that is a child of the current activity.
    pub fn new(deliver: D) -> Source<D> {
        Source {
            slot: ActivitySlot::born(),
            turn: RawMutex::new(),
            deliver: Mutex::new(Some(deliver)),
            order: Object::new(),
        }
    }

    /// Brings an item: `hand_on` hands it on, as the source. Any thread may call this, even one that is not part of the
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
            self.slot.enter();
            record::external(op, Asked::NOTHING, &item);
            // The calling thread continues as the activity it was, panic or not.
            let handed_on = catch_unwind(AssertUnwindSafe(|| tracked(|| hand_on(deliver))));
            stand_up();
            handed_on
        });
        if let Err(panic) = handed_on {
            drop(turn);
            resume_unwind(panic);
        }
    }

    /// Ends the source, which is recorded. The source drops the `D`, so others may see that it is disconnected.
    pub fn end(&self, op: Op) {
        if is_played() {
            return;
        }
        let last = self.turn().deliver.take();
        if let Some(last) = last {
            if explore::is_here() {
                // Dropped by the activity that ends the source, which is part of the program.
                return drop(last);
            }
            aside(|| {
                self.slot.enter();
                if mode::byte() == Mode::Record as u8 {
                    record::external(op, Asked::NOTHING, &OVER);
                }
                tracked(|| drop(last));
                self.slot.end();
            });
        }
    }

    /// Runs the code that feeds the source, until it returns. It runs on a thread that is not part of the program and
    /// does not exist in a replay. Under exploration it is an activity like any other, and when it brings something is
    /// a choice of the schedule.
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
            stay_untracked();
            run();
        };
        untracked(|| thread.spawn(body)).map(drop)
    }

    /// In a replay: plays the source on a thread of its own, and returns true. `hear` restores an item from its record,
    /// or returns `None` if the record does not fit; `hand_on` hands it on. `what` describes the items for people.
    /// Returns false if this is not a replay.
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
        // Before the thread exists, so that the stall detector does not find that every activity waits.
        controller::one_more_awake();
        let thread = std::thread::Builder::new().name("reenact-source".to_owned());
        let spawned = untracked(|| {
            thread.spawn(move || {
                stay_untracked();
                source.slot.enter();
                if let Some(mut deliver) = last {
                    while let Some(item) = next(op, what, site, &mut hear) {
                        // Only after it counts as arrived: handing it on may be an operation, too.
                        tracked(|| hand_on(&mut deliver, item));
                    }
                    tracked(|| drop(deliver));
                }
                source.slot.end();
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
    if let (Some(number), Some(execution)) = (birth.number(), explore::here()) {
        let body = move || {
            let _life = birth.begin();
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                note_panic(number, false);
            }
        };
        // SAFETY: The body borrows nothing.
        unsafe { execution.start(number, body) };
    }
}

/// Returns the next item of the current activity, which is a source, according to its controller.
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
