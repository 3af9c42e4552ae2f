//! The memory of an actor, and its reference count.
//!
//! An actor is one allocation, and only far references count: being scheduled needs no count, because only the consumer
//! destroys an actor, and does so when the mailbox is empty and no sender is left.

use std::{
    cell::{Cell as Flag, UnsafeCell},
    mem::{ManuallyDrop, MaybeUninit, align_of},
    panic::Location,
    ptr::{self, NonNull},
    sync::atomic::{
        AtomicU32,
        Ordering::{AcqRel, Relaxed},
    },
};

use reenact_engine::{
    ActivitySlot, NUMBERED, Sending,
    pool::{Pool, Task},
    sender,
};

use super::{
    Context, OnPanic, inspect,
    mailbox::{Appended, DROP, Handler, MEASURE, Mailbox, words_of},
    message::Message,
    ops,
    stash::Stash,
    turns,
};
use crate::loom::AtomicUsize;

/// The part that does not depend on the type of the state.
#[repr(C)]
pub(super) struct ActorCore {
    task: Task,
    pub(super) mailbox: Mailbox,
    /// Number of far references.
    references: AtomicUsize,
    pub(super) pool: Pool,
    pub(super) slot: ActivitySlot,
    pub(super) on_panic: OnPanic,
    /// Whether the actor has been asked to stop, or has stopped. Used by the consumer only.
    pub(super) stopping: Flag<bool>,
    /// In a replay, whether the message that is being handled is still in the mailbox. Used by the consumer only.
    pub(super) in_place: Flag<bool>,
    /// Number of continuations so far. Used by the consumer only.
    continuations: Flag<u64>,
    /// Present only if the mailbox is bounded.
    pub(super) bound: Option<Box<Bound>>,
    /// Messages that arrived too early in a replay. Used by the consumer only.
    pub(super) stash: UnsafeCell<Option<Box<Stash>>>,
    /// Performs what depends on the type of the state. Used by the consumer only.
    pub(super) manage: unsafe fn(NonNull<ActorCore>, Manage<'_>),
}

/// Type-dependent operations on an actor.
pub(super) enum Manage<'a> {
    /// Drops the state, if it is still there.
    DropState,
    /// Drops the state, if it is still there, and frees the memory.
    Free,
    /// Describes the state.
    Describe(&'a mut Option<String>),
}

/// The bound of a mailbox.
pub(super) struct Bound {
    capacity: u32,
    waiting: AtomicU32,
}

/// An actor.
#[repr(C)]
pub(super) struct ActorCell<A> {
    pub(super) core: ActorCore,
    /// Whether `state` is initialized.
    has_state: Flag<bool>,
    state: UnsafeCell<MaybeUninit<A>>,
}

// SAFETY: The mailbox and the count are synchronized; everything else is used by the consumer alone, which is one
// thread at a time; what moves between threads with it is `Send`.
unsafe impl<A: Send> Sync for ActorCell<A> {}

/// A message that captures more words than this is boxed.
const MOST_WORDS: usize = 64;

/// A message with a number that distinguishes it from others of the same sender.
#[repr(C)]
struct Numbered<M> {
    number: u64,
    message: M,
}

/// A message with its position in the receiver's order, and with the header that it would have without one, which is
/// the header that was recorded.
#[repr(C)]
struct Placed<M> {
    number: u64,
    header: u64,
    message: M,
}

/// Why a message was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// The mailbox is bounded, and full.
    Full,
    /// The actor has stopped.
    Stopped,
}

impl<A: Send + 'static> ActorCell<A> {
    /// Allocates an actor with one far reference, which the caller owns.
    #[inline]
    #[track_caller]
    pub(super) fn allocate(
        pool: Pool,
        on_panic: OnPanic,
        bound: Option<u32>,
        state: A,
    ) -> NonNull<ActorCell<A>> {
        let cell = Box::new(ActorCell {
            core: ActorCore {
                // SAFETY: The task is the first field of this cell, and the cell is what is scheduled.
                task: unsafe { Task::new(run::<A>) },
                mailbox: Mailbox::new(),
                references: AtomicUsize::new(1),
                pool,
                slot: ActivitySlot::born(),
                on_panic,
                stopping: Flag::new(false),
                in_place: Flag::new(false),
                continuations: Flag::new(0),
                bound: bound.map(Bound::new),
                stash: UnsafeCell::new(None),
                manage: manage::<A>,
            },
            has_state: Flag::new(true),
            state: UnsafeCell::new(MaybeUninit::new(state)),
        });
        NonNull::from(Box::leak(cell))
    }

    /// Sends a message. A refused message is dropped.
    #[inline(always)]
    #[track_caller]
    pub(super) fn send<M: Message<A, Answer = ()>>(&self, message: M) -> Result<(), Refused> {
        match self.core.bound {
            None => self.send_reserved(message),
            Some(_) => self.send_bounded(message),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn send_bounded<M: Message<A, Answer = ()>>(&self, message: M) -> Result<(), Refused> {
        self.reserve(&message)?;
        self.send_reserved(message)
    }

    /// Reserves room in the mailbox for `message`.
    #[inline(always)]
    #[track_caller]
    pub(super) fn reserve<M: Message<A>>(&self, message: &M) -> Result<(), Refused> {
        match &self.core.bound {
            None => Ok(()),
            Some(bound) => {
                let sending = Sending {
                    site: Location::caller(),
                    label: &|| message.label(),
                };
                self.core.reserve(bound, sending)
            }
        }
    }

    /// Sends a message for which room is reserved.
    #[inline(always)]
    #[track_caller]
    pub(super) fn send_reserved<M: Message<A, Answer = ()>>(
        &self,
        message: M,
    ) -> Result<(), Refused> {
        if is_large::<M>() {
            self.deliver(Box::new(message))
        } else {
            self.deliver(message)
        }
    }

    /// Appends a message that is small enough.
    #[inline(always)]
    #[track_caller]
    fn deliver<M: Message<A, Answer = ()>>(&self, message: M) -> Result<(), Refused> {
        if ActivitySlot::announces_messages() {
            return self.deliver_announced(message);
        }
        self.append(handle::<A, M>, sender(), message)
    }

    /// Appends a message after announcing it; if its sender knows its position, with that.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn deliver_announced<M: Message<A, Answer = ()>>(&self, message: M) -> Result<(), Refused> {
        let sending = Sending {
            site: Location::caller(),
            label: &|| message.label(),
        };
        match self.core.slot.position(self.core.bound.is_some(), sending) {
            None => self.append(handle::<A, M>, sender(), message),
            Some((source, number)) => {
                let placed = Placed {
                    number,
                    header: turns::header(handle::<A, M>, source),
                    message,
                };
                self.append(handle_placed::<A, M>, source, placed)
            }
        }
    }

    /// Sends a message with a number. It is never refused because the mailbox is full.
    pub(super) fn send_numbered<M: Message<A, Answer = ()>>(
        &self,
        address: (u32, u64),
        site: &'static Location<'static>,
        message: M,
    ) -> Result<(), Refused> {
        if ActivitySlot::announces_messages() {
            let label = &|| message.label();
            let sending = Sending { site, label };
            self.core.slot.is_sent_numbered(address, sending);
        }
        let (source, number) = address;
        let source = source | NUMBERED;
        if is_large::<M>() {
            let message = Box::new(message);
            let numbered = Numbered { number, message };
            self.append(handle_numbered::<A, Box<M>>, source, numbered)
        } else {
            let numbered = Numbered { number, message };
            self.append(handle_numbered::<A, M>, source, numbered)
        }
    }

    #[inline(always)]
    fn append<M>(&self, handler: Handler, source: u32, message: M) -> Result<(), Refused> {
        let mut message = ManuallyDrop::new(message);
        let header = || {
            if source & NUMBERED == 0 {
                self.core.slot.note_sent();
            }
            turns::header(handler, source)
        };
        // SAFETY: `header` names the instance of `handle` (or of its variants, for a message with a number) that was made
        // for this type of message, just above.
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
                // SAFETY: `append` does not move the captures if the mailbox is closed, so they are still here to be dropped.
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

    /// Reserves room for one more message, if there is any.
    fn has_room(&self) -> bool {
        let more = |waiting| (waiting < self.capacity).then_some(waiting + 1);
        self.waiting.fetch_update(AcqRel, Relaxed, more).is_ok()
    }

    /// Releases the room of a message that is handled.
    pub(super) fn release(&self) {
        self.waiting.fetch_sub(1, AcqRel);
    }
}

impl ActorCore {
    /// Reserves room for one more message.
    fn reserve(&self, bound: &Bound, sending: Sending<'_>) -> Result<(), Refused> {
        let (capacity, has_room) = (bound.capacity, || bound.has_room());
        match self
            .slot
            .reserve(ops::SEND_BOUNDED, capacity, sending, has_room)
        {
            true => Ok(()),
            false => Err(Refused::Full),
        }
    }

    /// Describes the actor's state.
    ///
    /// # Safety
    ///
    /// Only for the consumer, between two turns, while there is a state.
    pub(super) unsafe fn describe(&self) -> Option<String> {
        let mut state = None;
        // SAFETY: `manage` was made for the type of this cell. It reads the state, which by the contract of this function
        // is there and is not used by a turn.
        unsafe { (self.manage)(NonNull::from(self), Manage::Describe(&mut state)) };
        state
    }

    /// Adds a far reference, for a caller that has one.
    #[inline]
    pub(super) fn add_reference(&self) {
        self.references.fetch_add(1, Relaxed);
    }

    /// Adds a far reference, for the actor itself, which may have none.
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

    /// Removes a far reference.
    ///
    /// # Safety
    ///
    /// The caller owns it, and does not use it any more.
    #[inline]
    pub(super) unsafe fn drop_reference(core: NonNull<ActorCore>) {
        // SAFETY: The cell lives as long as the caller's reference is counted.
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
            // The actor is idle, and only its consumer destroys it.
            this.schedule();
        }
    }

    #[inline(always)]
    fn schedule(&self) {
        // Derived from the whole cell, since the consumer casts it back to that.
        let task = NonNull::from(self).cast();
        // SAFETY: The mailbox says that the cell is not scheduled yet, and the cell lives until it has run.
        unsafe { self.pool.schedule(task) };
    }

    /// Returns the number of a new continuation.
    pub(super) fn next_continuation(&self) -> u64 {
        self.continuations.replace(self.continuations.get() + 1)
    }
}

/// Runs an actor, on a worker.
unsafe fn run<A: Send + 'static>(task: NonNull<Task>) {
    let mut context = Context::<A>::new(task.cast());
    // SAFETY: The task is the first field of the cell, and scheduled once.
    unsafe { turns::run(task.cast(), ptr::from_mut(&mut context).cast()) };
}

unsafe fn manage<A: 'static>(core: NonNull<ActorCore>, what: Manage<'_>) {
    let cell = core.cast::<ActorCell<A>>();
    // SAFETY: Only the consumer calls this, and only it uses the state. The cell is freed once, when there are no
    // references; the box is created first so that a panic in the state's destructor does not leak it.
    unsafe {
        let memory = match what {
            Manage::Describe(text) => {
                let this = cell.as_ref();
                if this.has_state.get() {
                    *text = inspect::state_of((*this.state.get()).assume_init_ref());
                }
                return;
            }
            Manage::DropState => None,
            Manage::Free => Some(Box::from_raw(cell.as_ptr())),
        };
        let this = cell.as_ref();
        if this.has_state.replace(false) {
            (*this.state.get()).assume_init_drop();
        }
        drop(memory);
    }
}

/// Whether a message must be boxed to go into the mailbox.
const fn is_large<M>() -> bool {
    align_of::<M>() > align_of::<u64>() || words_of::<M>() > MOST_WORDS
}

/// Runs, drops or measures a message.
unsafe fn handle<A, M>(captures: *mut u64, context: *mut ()) -> usize
where
    A: Send + 'static,
    M: Message<A, Answer = ()>,
{
    if context != MEASURE {
        // SAFETY: The captures are of this type, and are not used after this.
        let message = unsafe { captures.cast::<M>().read() };
        if context != DROP {
            // SAFETY: The context is the consumer's, and the state is initialized as long as messages are run.
            unsafe {
                let context = &mut *context.cast::<Context<A>>();
                let state = (*context.cell().state.get()).assume_init_mut();
                message.run(&mut *ptr::from_mut(state), context);
            }
        }
    }
    words_of::<M>()
}

/// Does the same for a message with a number.
unsafe fn handle_numbered<A, M>(captures: *mut u64, context: *mut ()) -> usize
where
    A: Send + 'static,
    M: Message<A, Answer = ()>,
{
    // SAFETY: The captures are a number and a message, in this order.
    1 + unsafe { handle::<A, M>(captures.add(1), context) }
}

/// Does the same for a message with a position.
unsafe fn handle_placed<A, M>(captures: *mut u64, context: *mut ()) -> usize
where
    A: Send + 'static,
    M: Message<A, Answer = ()>,
{
    // SAFETY: The captures are a number, a header and a message, in this order.
    2 + unsafe { handle::<A, M>(captures.add(2), context) }
}
