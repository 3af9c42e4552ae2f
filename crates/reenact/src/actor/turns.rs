//! How an actor runs: one message after the other, each in a turn.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::NonNull,
};

use reenact_engine::{Arrival, NUMBERED, NextArrival, Reception, pool::Pool};

use super::{
    OnPanic,
    cell::{ActorCore, Manage},
    mailbox::{DROP, Handler, MEASURE, Message, Rest},
};

/// How many messages an actor may handle before it yields to others.
const IN_A_ROW: u32 = 512;

/// Why an actor pauses reading its mailbox.
enum Pause {
    /// The mailbox is empty.
    Empty,
    /// It yields to others.
    Enough,
    /// It has been asked to stop.
    Stop,
    /// In a replay: the recording refused the messages, because the system had been shut down.
    Closing,
}

/// Runs a scheduled actor.
///
/// # Safety
///
/// Only for the consumer, with the actor's context. The actor may be freed afterwards.
pub(super) unsafe fn run(core: NonNull<ActorCore>, context: *mut ()) {
    // SAFETY: Only the consumer destroys the cell, which is the caller; the cell is not used after it is idle.
    unsafe {
        let this = core.as_ref();
        let reception = this.slot.enter();
        if reception == Reception::Announced && this.mailbox.peek().is_none() {
            this.slot.is_let_go();
        }
        if this.pool.is_closed() && !this.stopping.get() {
            if this.is_for_workers(reception) {
                this.pool.hand_over(core.cast());
                return;
            }
            if this.is_refused(reception) {
                stop(core);
            }
        }
        let mut left = IN_A_ROW;
        loop {
            let turns = catch_unwind(AssertUnwindSafe(|| match reception {
                Reception::Free => this.turns::<false>(context, &mut left),
                Reception::Noted => this.turns::<true>(context, &mut left),
                Reception::Announced => this.announced_turns(context, &mut left),
                Reception::Ordered => this.ordered_turns(context, &mut left),
            }));
            match turns {
                Ok(Pause::Closing) => {
                    if this.pool.wait_until_closed(core.cast()) {
                        return;
                    }
                    this.slot.arrives(Arrival::CLOSING, 0);
                    stop(core);
                }
                Ok(Pause::Empty) => match this.mailbox.rest() {
                    Rest::More => {}
                    Rest::Idle => return,
                    Rest::Abandoned => {
                        if this.may_end(reception) {
                            end(core);
                        }
                        return;
                    }
                },
                Ok(Pause::Enough) => {
                    this.pool.schedule_last(core.cast());
                    return;
                }
                Ok(Pause::Stop) => stop(core),
                Err(_) => {
                    // The panic hook has printed the message, and the promise, if there is one, is broken.
                    if reception != Reception::Ordered || this.in_place.replace(false) {
                        this.skip();
                    }
                    if reception == Reception::Announced {
                        this.slot.end_turn(Arrival::CLOSING, &|| this.describe());
                    }
                    let is_over = this.slot.has_panicked();
                    if this.stopping.get() || this.on_panic == OnPanic::Stop || is_over {
                        stop(core);
                    }
                }
            }
        }
    }
}

/// Stops an actor: drops its state and the messages in its mailbox.
///
/// # Safety
///
/// Only for the consumer.
unsafe fn stop(core: NonNull<ActorCore>) {
    // SAFETY: The caller is the consumer. Each message is dropped once, before the mailbox advances past it.
    unsafe {
        let this = core.as_ref();
        this.stopping.set(true);
        quietly(|| this.slot.stops());
        this.mailbox.close();
        quietly(|| (this.manage)(core, Manage::DropState));
        while let Some(message) = this.mailbox.peek() {
            let words = handler_of(message.header)(message.captures, MEASURE);
            if let Some(bound) = &this.bound
                && is_bounded(message.header as u32)
            {
                bound.release();
            }
            quietly(|| {
                handler_of(message.header)(message.captures, DROP);
            });
            this.mailbox.advance(words);
        }
        let stash = (*this.stash.get()).take();
        quietly(|| drop(stash));
        this.slot.end();
    }
}

/// Ends an actor without far references, and frees it.
///
/// # Safety
///
/// Only for the consumer.
unsafe fn end(core: NonNull<ActorCore>) {
    // SAFETY: `Rest::Abandoned` means that no far reference is left, and only those schedule an actor: so nobody can reach
    // it any more but the caller, the consumer, which ends with this call.
    unsafe {
        let this = core.as_ref();
        if !this.stopping.get() {
            quietly(|| (this.manage)(core, Manage::DropState));
            this.slot.end();
        }
        (this.manage)(core, Manage::Free);
    }
}

/// Runs an action whose panic cannot be passed on to anyone.
fn quietly(action: impl FnOnce()) {
    // The panic hook has printed the message.
    let _ = catch_unwind(AssertUnwindSafe(action));
}

impl ActorCore {
    /// Handles messages as they come until there is a reason to pause.
    ///
    /// # Safety
    ///
    /// Only for the consumer, with its context.
    #[inline(always)]
    unsafe fn turns<const NOTED: bool>(&self, context: *mut (), left: &mut u32) -> Pause {
        // SAFETY: What `peek` returns stays in place until `advance`, which only the consumer calls: this function, by its
        // contract. The handler moves the captures out, and then the mailbox advances, after a panic in `skip`: so no
        // message is run twice.
        unsafe {
            while let Some(message) = self.mailbox.peek() {
                if NOTED {
                    self.slot.note(arrival_of(message), message.header);
                }
                if let Some(bound) = &self.bound
                    && is_bounded(message.header as u32)
                {
                    bound.release();
                }
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

    /// Handles messages as they come, announcing each; the state may be inspected between two of them.
    ///
    /// # Safety
    ///
    /// Only for the consumer, with its context.
    unsafe fn announced_turns(&self, context: *mut (), left: &mut u32) -> Pause {
        // SAFETY: As in `turns`, a message is run in place and then passed. `describe` reads the state between turns, when
        // nothing else borrows it.
        unsafe {
            let state = || self.describe();
            while let Some(message) = self.mailbox.peek() {
                let arrival = arrival_of(message);
                if !self.slot.begin_turn(arrival, &state) {
                    return Pause::Stop;
                }
                if let Some(bound) = &self.bound
                    && is_bounded(message.header as u32)
                {
                    bound.release();
                }
                let words = handler_of(message.header)(message.captures, context);
                self.mailbox.advance(words);
                self.slot.end_turn(arrival, &state);
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

    /// Handles messages in the order that a controller determines.
    ///
    /// # Safety
    ///
    /// Only for the consumer, with its context.
    unsafe fn ordered_turns(&self, context: *mut (), left: &mut u32) -> Pause {
        // SAFETY: The caller is the consumer, which alone uses the stash; no turn touches it.
        unsafe {
            while self.has_message() && (self.quiet_turn(context) || self.ordered_turn(context)) {
                if self.stopping.get() {
                    return Pause::Stop;
                }
                *left -= 1;
                if *left == 0 {
                    return Pause::Enough;
                }
            }
            if self.has_stash() && self.slot.next() == NextArrival::This(Arrival::CLOSING) {
                return Pause::Closing;
            }
        }
        Pause::Empty
    }

    /// Whether the actor still has messages to handle that the recording handled before the system was shut down, but
    /// is run by a sender: senders run the actors of a closed system themselves, so that these refuse at once.
    fn is_for_workers(&self, reception: Reception) -> bool {
        reception == Reception::Ordered
            && Pool::current().is_none()
            && match self.slot.next() {
                NextArrival::This(arrival) => arrival != Arrival::CLOSING,
                _ => false,
            }
    }

    /// Whether the actor refuses its messages because the system is shut down. The refusal has a position in the order
    /// of messages, as if it were one, because it depends on timing which messages came before.
    ///
    /// # Safety
    ///
    /// Only for the consumer.
    unsafe fn is_refused(&self, reception: Reception) -> bool {
        // SAFETY: The contract of this function is that of `has_message`: only for the consumer.
        let has_message = unsafe { self.has_message() };
        match reception {
            Reception::Free => {}
            Reception::Noted if has_message => self.slot.note(Arrival::CLOSING, 0),
            Reception::Announced if has_message => self.slot.is_let_go(),
            Reception::Noted | Reception::Announced => {}
            // If there is an order, the refusal has its position in it: see [`Pause::Closing`].
            Reception::Ordered => return has_message && self.slot.next() == NextArrival::Any,
        }
        has_message
    }

    /// Whether there is a message that might be handled.
    ///
    /// # Safety
    ///
    /// Only for the consumer.
    #[inline(always)]
    unsafe fn has_message(&self) -> bool {
        // SAFETY: By the contract of this function its caller may read the mailbox and the stash, which is all it does.
        unsafe { self.mailbox.peek().is_some() || self.has_stash() }
    }

    #[inline(always)]
    unsafe fn has_stash(&self) -> bool {
        // SAFETY: The caller is the consumer, which alone uses the stash.
        let stash = unsafe { &*self.stash.get() };
        stash.as_ref().is_some_and(|stash| !stash.is_empty())
    }

    /// Handles the first message in the mailbox, if it is known to be next.
    ///
    /// # Safety
    ///
    /// As for [`ActorCore::ordered_turns`].
    #[inline(always)]
    unsafe fn quiet_turn(&self, context: *mut ()) -> bool {
        // SAFETY: The message at the head is left in place if it does not come next. If it does, it is run, and then the
        // mailbox advances past it.
        unsafe {
            if self.has_stash() {
                return false;
            }
            let Some(message) = self.mailbox.peek() else {
                return false;
            };
            if !self
                .slot
                .arrives_quietly(arrival_of(message), code_of(message))
            {
                return false;
            }
            self.in_place.set(true);
            let words = handler_of(message.header)(message.captures, context);
            self.in_place.set(false);
            self.mailbox.advance(words);
        }
        true
    }

    /// Handles the message that is next, if it has arrived. Returns whether it has.
    ///
    /// # Safety
    ///
    /// As for [`ActorCore::ordered_turns`].
    unsafe fn ordered_turn(&self, context: *mut ()) -> bool {
        // SAFETY: The caller is the consumer, which alone uses the stash. Each message is run once, or moved into the
        // stash.
        unsafe {
            let arrival = match self.slot.next() {
                NextArrival::This(arrival) => arrival,
                NextArrival::Any => match self.mailbox.peek() {
                    Some(message) => arrival_of(message),
                    None => return false,
                },
                NextArrival::None(is_fine) => {
                    // A stashed message that is never due is as unexpected as one that arrives now.
                    let kept = (*self.stash.get()).as_ref().and_then(|stash| stash.any());
                    if let Some(arrival) = kept.filter(|_| !is_fine) {
                        self.slot.unexpected(arrival);
                    }
                    while let Some(message) = self.mailbox.peek() {
                        if !is_fine {
                            self.slot.unexpected(arrival_of(message));
                        }
                        self.keep(message);
                    }
                    return false;
                }
            };
            let kept = (*self.stash.get())
                .as_mut()
                .and_then(|stash| stash.take(arrival));
            if let Some(mut kept) = kept {
                let message = kept.message();
                self.slot.arrives(arrival, code_of(message));
                handler_of(message.header)(message.captures, context);
                return true;
            }
            while let Some(message) = self.mailbox.peek() {
                if arrival_of(message) == arrival {
                    self.slot.arrives(arrival, code_of(message));
                    self.in_place.set(true);
                    let words = handler_of(message.header)(message.captures, context);
                    self.in_place.set(false);
                    self.mailbox.advance(words);
                    return true;
                }
                self.keep(message);
            }
        }
        false
    }

    /// Moves a message out of the mailbox into the stash.
    ///
    /// # Safety
    ///
    /// Only for the consumer.
    unsafe fn keep(&self, message: Message) {
        // SAFETY: The caller is the consumer, and advances past the message.
        unsafe {
            let words = (*self.stash.get()).get_or_insert_default().keep(message);
            self.mailbox.advance(words);
        }
    }

    /// Advances past the message whose turn has panicked: it was consumed, but is still in the mailbox.
    ///
    /// # Safety
    ///
    /// Only for the consumer.
    unsafe fn skip(&self) {
        // SAFETY: The caller is the consumer. `MEASURE` does not read the captures.
        unsafe {
            if let Some(message) = self.mailbox.peek() {
                let words = handler_of(message.header)(message.captures, MEASURE);
                self.mailbox.advance(words);
            }
        }
    }

    /// Whether an actor without far references may end. In a replay it may not, if its recording was cut with messages
    /// still to be handled. With none, the recorded actor may have been about to end, or have dropped its state
    /// already, which others may have observed.
    ///
    /// # Safety
    ///
    /// Only for the consumer.
    unsafe fn may_end(&self, reception: Reception) -> bool {
        reception != Reception::Ordered
            || self.stopping.get()
            // SAFETY: Only the consumer asks this, when it is about to handle messages; it has the stash.
            || unsafe { !self.has_stash() }
            || self.slot.next() != NextArrival::None(true)
    }
}

/// Whether a message from this source counts against the bound of a mailbox: messages through promises do not.
pub(super) fn is_bounded(source: u32) -> bool {
    source & NUMBERED == 0 || source == PLACED
}

/// The lower half of the header of a message that carries its position.
const PLACED: u32 = u32::MAX;

/// Returns the header by which recording knows the code of a message.
///
/// # Safety
///
/// The message has not been run yet.
#[inline(always)]
unsafe fn code_of(message: Message) -> u64 {
    if message.header as u32 == PLACED {
        // SAFETY: The recorded header follows the number of the message.
        unsafe { message.captures.add(1).read() }
    } else {
        message.header
    }
}

/// Returns the header of a message: its handler in the upper half, as a distance from [`base`]; its sender in the lower
/// half.
#[inline(always)]
pub(super) fn header(handler: Handler, source: u32) -> u64 {
    let distance = (handler as usize).wrapping_sub(base()) as isize;
    assert!(
        distance == distance as i32 as isize,
        "a program of which all code is within two gigabytes"
    );
    (distance as u32 as u64) << 32 | u64::from(source)
}

#[inline(always)]
pub(super) fn handler_of(header: u64) -> Handler {
    let distance = (header as i64 >> 32) as usize;
    let address = base().wrapping_add(distance);
    // SAFETY: `header` computed the distance from a handler.
    unsafe { std::mem::transmute::<usize, Handler>(address) }
}

/// The address that distances are measured from: that of a static, since a function may have several addresses.
#[inline(always)]
fn base() -> usize {
    static BASE: u8 = 0;
    (&raw const BASE).addr()
}

/// Returns the identity of a message in the order of messages.
///
/// # Safety
///
/// The message has not been run yet.
#[inline(always)]
pub(super) unsafe fn arrival_of(message: Message) -> Arrival {
    // SAFETY: A message with a number begins with it.
    Arrival::of(message.header as u32, || unsafe { message.captures.read() })
}
