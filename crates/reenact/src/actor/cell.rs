//! An actor in memory: what it is made of, and who refers to it.
//!
//! An actor is one allocation that far references count, and nothing else does: being scheduled needs no count of its
//! own, because only the consumer destroys an actor, and it does so when the mailbox tells it that there is nothing to
//! read and nobody left who could send.

use std::{
    cell::{Cell as Flag, UnsafeCell},
    mem::{ManuallyDrop, MaybeUninit, align_of},
    ptr::{self, NonNull},
    sync::atomic::{
        AtomicU32, AtomicUsize,
        Ordering::{AcqRel, Relaxed},
    },
};

use reenact_engine::{
    NUMBERED, Seat,
    pool::{Pool, Task},
    sender,
};

use super::{
    Context, OnPanic,
    mailbox::{Appended, DROP, Handler, MEASURE, Mailbox, words_of},
    ops,
    stash::Stash,
    turns,
};

/// What does not depend on the type of the state.
#[repr(C)]
pub(super) struct Core {
    task: Task,
    pub(super) mailbox: Mailbox,
    /// Far references.
    references: AtomicUsize,
    pub(super) pool: Pool,
    pub(super) seat: Seat,
    pub(super) on_panic: OnPanic,
    /// Whether the actor has asked to be stopped, or has been. For the consumer.
    pub(super) stopping: Flag<bool>,
    /// Whether the message whose turn it is is still in the mailbox, in a replay. For the consumer.
    pub(super) in_place: Flag<bool>,
    /// How many continuations it has had. For the consumer.
    continuations: Flag<u64>,
    /// What is only there where it is needed.
    pub(super) bound: Option<Box<Bound>>,
    /// Messages that came too early in a replay. For the consumer.
    pub(super) stash: UnsafeCell<Option<Box<Stash>>>,
    /// Drops the state, if it is still there; and with `true`, frees the memory.
    pub(super) destroy: unsafe fn(NonNull<Core>, bool),
}

/// How many messages may wait.
pub(super) struct Bound {
    capacity: u32,
    waiting: AtomicU32,
}

/// An actor.
#[repr(C)]
pub(super) struct ActorCell<A> {
    pub(super) core: Core,
    /// Whether there is a state.
    has_state: Flag<bool>,
    state: UnsafeCell<MaybeUninit<A>>,
}

// SAFETY: The mailbox and the count are for everyone; everything else is touched by the consumer alone, which is one
// thread at a time; what moves between threads with it is `Send`.
unsafe impl<A: Send> Sync for ActorCell<A> {}

/// A message that captures more than this is put in a box of its own.
const MOST_WORDS: usize = 64;

/// A message with a number by which its receiver tells it from others of the same sender.
#[repr(C)]
struct Numbered<F> {
    number: u64,
    message: F,
}

/// A message with its place in its receiver's order, and with the header that it would have without: recording has
/// noted that one.
#[repr(C)]
struct Placed<F> {
    number: u64,
    header: u64,
    message: F,
}

/// Why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// The mailbox is bounded, and full.
    Full,
    /// The actor has stopped.
    Stopped,
}

impl<A: Send + 'static> ActorCell<A> {
    /// An actor with one far reference, which is the caller's.
    #[inline]
    pub(super) fn allocate(
        pool: Pool,
        on_panic: OnPanic,
        bound: Option<u32>,
        state: A,
    ) -> NonNull<ActorCell<A>> {
        let cell = Box::new(ActorCell {
            core: Core {
                // SAFETY: The task is at the beginning of this cell, and what is scheduled.
                task: unsafe { Task::new(run::<A>) },
                mailbox: Mailbox::new(),
                references: AtomicUsize::new(1),
                pool,
                seat: Seat::born(),
                on_panic,
                stopping: Flag::new(false),
                in_place: Flag::new(false),
                continuations: Flag::new(0),
                bound: bound.map(Bound::new),
                stash: UnsafeCell::new(None),
                destroy: destroy::<A>,
            },
            has_state: Flag::new(true),
            state: UnsafeCell::new(MaybeUninit::new(state)),
        });
        NonNull::from(Box::leak(cell))
    }

    /// Sends a message. If it is refused, it is dropped.
    #[inline(always)]
    #[track_caller]
    pub(super) fn send<F>(&self, message: F) -> Result<(), Refused>
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        self.core.reserve()?;
        self.send_reserved(message)
    }

    /// As [`ActorCell::send`], with room for it.
    #[inline(always)]
    #[track_caller]
    pub(super) fn send_reserved<F>(&self, message: F) -> Result<(), Refused>
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        if is_large::<F>() {
            let message = Box::new(message);
            let message = move |this: &mut A, ctx: &mut Context<A>| message(this, ctx);
            self.deliver(handler_for(&message), message)
        } else {
            self.deliver(handle::<A, F>, message)
        }
    }

    /// Appends a message that fits; where its sender knows the place that it has, with that.
    #[inline(always)]
    #[track_caller]
    fn deliver<F>(&self, handler: Handler, message: F) -> Result<(), Refused>
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        match self.core.seat.position(self.core.bound.is_some()) {
            None => self.append(handler, sender(), message),
            Some((source, number)) => {
                let placed = Placed {
                    number,
                    header: turns::header(handler, source),
                    message,
                };
                self.append(handle_placed::<A, F>, source, placed)
            }
        }
    }

    /// Sends a message that has a number. It is not refused, full or not.
    #[track_caller]
    pub(super) fn send_numbered<F>(
        &self,
        (source, number): (u32, u64),
        message: F,
    ) -> Result<(), Refused>
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        self.core.seat.is_sent_numbered((source, number));
        let source = source | NUMBERED;
        if is_large::<F>() {
            let message = Box::new(message);
            let message = move |this: &mut A, ctx: &mut Context<A>| message(this, ctx);
            let numbered = Numbered { number, message };
            self.append(handler_for_numbered(&numbered), source, numbered)
        } else {
            let numbered = Numbered { number, message };
            self.append(handle_numbered::<A, F>, source, numbered)
        }
    }

    #[inline(always)]
    fn append<M>(&self, handler: Handler, source: u32, message: M) -> Result<(), Refused> {
        let mut message = ManuallyDrop::new(message);
        let header = || {
            if source & NUMBERED == 0 {
                self.core.seat.note_sent();
            }
            turns::header(handler, source)
        };
        // SAFETY: The handler is for messages of this type.
        match unsafe { self.core.mailbox.append(header, &message) } {
            Appended::Behind => Ok(()),
            Appended::First => {
                self.core.schedule();
                Ok(())
            }
            Appended::Closed => {
                if let Some(bound) = &self.core.bound
                    && turns::is_bounded(source)
                {
                    bound.release();
                }
                // SAFETY: It was not moved.
                unsafe { ManuallyDrop::drop(&mut message) };
                Err(Refused::Stopped)
            }
        }
    }
}

impl Bound {
    fn new(capacity: u32) -> Box<Bound> {
        Box::new(Bound {
            capacity,
            waiting: AtomicU32::new(0),
        })
    }

    /// Takes room for one more message, if there is any.
    fn has_room(&self) -> bool {
        let more = |waiting| (waiting < self.capacity).then_some(waiting + 1);
        self.waiting.fetch_update(AcqRel, Relaxed, more).is_ok()
    }

    /// A message is handled.
    pub(super) fn release(&self) {
        self.waiting.fetch_sub(1, AcqRel);
    }
}

impl Core {
    /// Room for one more message.
    #[inline(always)]
    #[track_caller]
    pub(super) fn reserve(&self) -> Result<(), Refused> {
        match &self.bound {
            None => Ok(()),
            Some(bound) => {
                let has_room = || bound.has_room();
                match self
                    .seat
                    .reserve(ops::SEND_BOUNDED, bound.capacity, has_room)
                {
                    true => Ok(()),
                    false => Err(Refused::Full),
                }
            }
        }
    }

    /// One more far reference, for somebody who has one.
    #[inline]
    pub(super) fn add_reference(&self) {
        self.references.fetch_add(1, Relaxed);
    }

    /// A far reference, for the actor itself.
    #[inline]
    pub(super) fn add_own_reference(&self) {
        let mut count = self.references.load(Relaxed);
        while count > 0 {
            match self
                .references
                .compare_exchange_weak(count, count + 1, Relaxed, Relaxed)
            {
                Ok(_) => return,
                Err(now) => count = now,
            }
        }
        self.mailbox.revive(&self.references);
    }

    /// One far reference less.
    ///
    /// # Safety
    ///
    /// The caller has it, and does not use it any more.
    #[inline]
    pub(super) unsafe fn drop_reference(core: NonNull<Core>) {
        // SAFETY: The cell is there as long as the caller's reference counts.
        let this = unsafe { core.as_ref() };
        let mut count = this.references.load(Relaxed);
        while count > 1 {
            match this
                .references
                .compare_exchange_weak(count, count - 1, AcqRel, Relaxed)
            {
                Ok(_) => return,
                Err(now) => count = now,
            }
        }
        if this.mailbox.give_up(&this.references) {
            // The actor is idle, and only whoever runs it destroys it.
            this.schedule();
        }
    }

    #[inline(always)]
    fn schedule(&self) {
        // From the whole, since whoever runs it makes that of it again.
        let task = NonNull::from(self).cast();
        // SAFETY: The mailbox says that it is not scheduled yet, and it lives until it has run.
        unsafe { self.pool.schedule(task) };
    }

    /// The number of a new continuation.
    pub(super) fn next_continuation(&self) -> u64 {
        self.continuations.replace(self.continuations.get() + 1)
    }
}

/// Runs an actor, on a worker.
unsafe fn run<A: Send + 'static>(task: NonNull<Task>) {
    let mut context = Context::<A>::new(task.cast());
    // SAFETY: The task is at the beginning of the cell, and scheduled once.
    unsafe { turns::run(task.cast(), ptr::from_mut(&mut context).cast()) };
}

unsafe fn destroy<A>(core: NonNull<Core>, free: bool) {
    let cell = core.cast::<ActorCell<A>>();
    // SAFETY: For the consumer, which is the only one who uses the state. Freed once, when nobody has a reference; the
    // box is made first so that a panic in the state's destructor does not lose it.
    unsafe {
        let memory = free.then(|| Box::from_raw(cell.as_ptr()));
        let this = cell.as_ref();
        if this.has_state.replace(false) {
            (*this.state.get()).assume_init_drop();
        }
        drop(memory);
    }
}

/// Whether a message does not go into the mailbox as it is.
const fn is_large<F>() -> bool {
    align_of::<F>() > align_of::<u64>() || words_of::<F>() > MOST_WORDS
}

fn handler_for<A, F>(_: &F) -> Handler
where
    A: Send + 'static,
    F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
{
    handle::<A, F>
}

fn handler_for_numbered<A, F>(_: &Numbered<F>) -> Handler
where
    A: Send + 'static,
    F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
{
    handle_numbered::<A, F>
}

/// Runs, drops or measures a message.
unsafe fn handle<A, F>(captures: *mut u64, context: *mut ()) -> usize
where
    A: Send + 'static,
    F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
{
    if context != MEASURE {
        // SAFETY: The captures are of this type, and gone after this.
        let message = unsafe { captures.cast::<F>().read() };
        if context != DROP {
            // SAFETY: The consumer's context, and the state, which is there as long as messages are run.
            unsafe {
                let context = &mut *context.cast::<Context<A>>();
                let state = (*context.cell().state.get()).assume_init_mut();
                message(&mut *ptr::from_mut(state), context);
            }
        }
    }
    words_of::<F>()
}

/// The same for a message with a number.
unsafe fn handle_numbered<A, F>(captures: *mut u64, context: *mut ()) -> usize
where
    A: Send + 'static,
    F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
{
    // SAFETY: The captures are a number and a message, in this order.
    1 + unsafe { handle::<A, F>(captures.add(1), context) }
}

/// The same for a message with a place.
unsafe fn handle_placed<A, F>(captures: *mut u64, context: *mut ()) -> usize
where
    A: Send + 'static,
    F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
{
    // SAFETY: The captures are a number, a header and a message, in this order.
    2 + unsafe { handle::<A, F>(captures.add(2), context) }
}
