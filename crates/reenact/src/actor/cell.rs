//! An actor in memory: its mailbox, its state, and how it runs.
//!
//! An actor is one allocation that far references count, and nothing else does: being scheduled needs no count of its
//! own, because only the consumer destroys an actor, and it does so when the mailbox tells it that there is nothing to
//! read and nobody left who could send.

use std::{
    cell::{Cell as Flag, UnsafeCell},
    mem::{ManuallyDrop, MaybeUninit, align_of},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::{self, NonNull},
    sync::atomic::{
        AtomicU32, AtomicUsize,
        Ordering::{AcqRel, Relaxed},
    },
};

use reenact_engine::pool::{Pool, Task};

use super::{
    Context, OnPanic,
    mailbox::{Appended, DROP, Handler, MEASURE, Mailbox, Message, Rest, words_of},
};

/// What does not depend on the type of the state.
#[repr(C)]
pub(super) struct Core {
    task: Task,
    mailbox: Mailbox,
    /// Far references.
    references: AtomicUsize,
    pub(super) pool: Pool,
    on_panic: OnPanic,
    bound: Option<Box<Bound>>,
    /// How many continuations it has had. For the consumer.
    continuations: Flag<u64>,
    /// Whether the actor has asked to be stopped, or has been. For the consumer.
    stopping: Flag<bool>,
    /// Drops the state, if it is still there; and with `true`, frees the memory.
    destroy: unsafe fn(NonNull<Core>, bool),
}

/// How many messages may wait.
struct Bound {
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

/// How many messages an actor may handle before others have their turn.
const IN_A_ROW: u32 = 512;
/// A message that captures more than this is put in a box of its own.
const MOST_WORDS: usize = 64;

/// Why an actor stops reading its mailbox, for now.
enum Pause {
    /// It has read everything.
    Empty,
    /// Others have their turn.
    Enough,
    /// It has asked to be stopped.
    Stop,
}

impl<A: Send + 'static> ActorCell<A> {
    /// An actor with one far reference, which is the caller's.
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
                on_panic,
                bound: bound.map(|capacity| {
                    Box::new(Bound {
                        capacity,
                        waiting: AtomicU32::new(0),
                    })
                }),
                continuations: Flag::new(0),
                stopping: Flag::new(false),
                destroy: destroy::<A>,
            },
            has_state: Flag::new(true),
            state: UnsafeCell::new(MaybeUninit::new(state)),
        });
        NonNull::from(Box::leak(cell))
    }

    /// Sends a message. False if the actor has stopped; the message is dropped then.
    #[inline(always)]
    pub(super) fn send<F>(&self, message: F) -> bool
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        if align_of::<F>() > align_of::<u64>() || words_of::<F>() > MOST_WORDS {
            let message = Box::new(message);
            self.append(move |this: &mut A, ctx: &mut Context<A>| message(this, ctx))
        } else {
            self.append(message)
        }
    }

    /// Sends a message that was kept by a promise, or has passed through one.
    pub(super) fn send_with<F>(&self, _ticket: u64, message: F) -> bool
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        self.send(message)
    }

    /// Sends the actor one of its own continuations.
    pub(super) fn continue_with<F>(&self, _number: u64, message: F) -> bool
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        self.send(message)
    }

    #[inline(always)]
    fn append<F>(&self, message: F) -> bool
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        let mut message = ManuallyDrop::new(message);
        let header = || header(handle::<A, F>);
        // SAFETY: The handler is for captures of this type.
        match unsafe { self.core.mailbox.append(header, &message) } {
            Appended::Behind => true,
            Appended::First => {
                self.core.schedule();
                true
            }
            Appended::Closed => {
                // SAFETY: It was not moved.
                unsafe { ManuallyDrop::drop(&mut message) };
                false
            }
        }
    }
}

impl Core {
    /// One more far reference, for somebody who has one.
    pub(super) fn add_reference(&self) {
        self.references.fetch_add(1, Relaxed);
    }

    /// A far reference, for the actor itself.
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
        let task = NonNull::from(&self.task);
        // SAFETY: The mailbox says that it is not scheduled yet, and it lives until it has run.
        unsafe { self.pool.schedule(task) };
    }

    /// The number of a new continuation.
    pub(super) fn next_continuation(&self) -> u64 {
        self.continuations.replace(self.continuations.get() + 1)
    }

    /// Asks the actor to stop after this turn.
    pub(super) fn stop(&self) {
        self.stopping.set(true);
    }

    /// Handles messages until there is a reason not to.
    ///
    /// # Safety
    ///
    /// For the consumer, with its context.
    #[inline(always)]
    unsafe fn turns(&self, context: *mut (), left: &mut u32) -> Pause {
        // SAFETY: The caller's.
        unsafe {
            while let Some(message) = self.mailbox.peek() {
                let words = handler_of(message.header)(message.captures, context);
                self.mailbox.advance(words);
                if self.stopping.get() {
                    return Pause::Stop;
                }
                *left -= 1;
                if *left == 0 {
                    return Pause::Enough;
                }
            }
        }
        Pause::Empty
    }

    /// Drops the message that is next.
    ///
    /// # Safety
    ///
    /// For the consumer.
    unsafe fn skip(&self, message: Message, how: *mut ()) {
        // SAFETY: The caller's.
        unsafe {
            let words = handler_of(message.header)(message.captures, how);
            self.mailbox.advance(words);
        }
    }

    /// Stops the actor: its state goes, and with it whatever is in its mailbox.
    ///
    /// # Safety
    ///
    /// For the consumer.
    unsafe fn stopped(core: NonNull<Core>) {
        // SAFETY: The caller's.
        unsafe {
            let this = core.as_ref();
            this.mailbox.close();
            quietly(|| (this.destroy)(core, false));
            while let Some(message) = this.mailbox.peek() {
                let words = handler_of(message.header)(message.captures, MEASURE);
                quietly(|| {
                    handler_of(message.header)(message.captures, DROP);
                });
                this.mailbox.advance(words);
            }
        }
    }
}

/// Runs what may panic where nobody can be told.
fn quietly(action: impl FnOnce()) {
    // The panic hook has printed what there is to say.
    let _ = catch_unwind(AssertUnwindSafe(action));
}

/// Runs an actor, on a worker.
unsafe fn run<A: Send + 'static>(task: NonNull<Task>) {
    let mut context = Context::<A>::new(task.cast());
    // SAFETY: The task is at the beginning of the cell, and scheduled once.
    unsafe { run_core(task.cast(), ptr::from_mut(&mut context).cast()) };
}

unsafe fn run_core(core: NonNull<Core>, context: *mut ()) {
    // SAFETY: The cell is destroyed by the consumer only, which this is; it is not used after it is idle.
    unsafe {
        let this = core.as_ref();
        if this.pool.is_closed() {
            this.stop();
            Core::stopped(core);
        }
        let mut left = IN_A_ROW;
        loop {
            let turns = catch_unwind(AssertUnwindSafe(|| this.turns(context, &mut left)));
            match turns {
                Ok(Pause::Empty) => match this.mailbox.rest() {
                    Rest::More => {}
                    Rest::Idle => return,
                    Rest::Abandoned => {
                        quietly(|| (this.destroy)(core, true));
                        return;
                    }
                },
                Ok(Pause::Enough) => {
                    this.pool.schedule_last(core.cast());
                    return;
                }
                Ok(Pause::Stop) => Core::stopped(core),
                Err(_) => {
                    // The message is gone, but not passed yet.
                    if let Some(message) = this.mailbox.peek() {
                        this.skip(message, MEASURE);
                    }
                    if this.stopping.get() || this.on_panic == OnPanic::Stop {
                        this.stop();
                        Core::stopped(core);
                    }
                }
            }
        }
    }
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

/// The header of a message: in the upper half where its code is, as a distance from [`base`]; in the lower half who
/// sends it.
#[inline(always)]
fn header(handler: Handler) -> u64 {
    let distance = (handler as usize).wrapping_sub(base()) as isize;
    assert!(
        distance == distance as i32 as isize,
        "a program of which all code is within two gigabytes"
    );
    (distance as u32 as u64) << 32 | u64::from(reenact_engine::sender())
}

#[inline(always)]
fn handler_of(header: u64) -> Handler {
    let distance = (header as i64 >> 32) as usize;
    let address = base().wrapping_add(distance);
    // SAFETY: Made by `header` from a handler.
    unsafe { std::mem::transmute::<usize, Handler>(address) }
}

/// Where distances are measured from: a static, since a function may be at several addresses.
#[inline(always)]
fn base() -> usize {
    static BASE: u8 = 0;
    (&raw const BASE).addr()
}
