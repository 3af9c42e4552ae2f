//! How an actor runs: one message after the other, each a turn.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::NonNull,
};

use reenact_engine::{Arrival, NUMBERED, NextArrival, Reception, pool::Pool};

use super::{
    OnPanic,
    cell::{Core, Manage},
    mailbox::{DROP, Handler, MEASURE, Message, Rest},
};

/// How many messages an actor may handle before others have their turn.
const IN_A_ROW: u32 = 512;

/// Why an actor stops reading its mailbox, for now.
enum Pause {
    /// It has read everything.
    Empty,
    /// Others have their turn.
    Enough,
    /// It has asked to be stopped.
    Stop,
    /// In a replay: what has come was refused, because the system had been shut down.
    Closing,
}

/// Runs an actor that is scheduled.
///
/// # Safety
///
/// For the consumer, with the actor's context. The actor may be gone afterwards.
pub(super) unsafe fn run(core: NonNull<Core>, context: *mut ()) {
    // SAFETY: The cell is destroyed by the consumer only, which this is; it is not used after it is idle.
    unsafe {
        let this = core.as_ref();
        let reception = this.seat.enter();
        if reception == Reception::Announced && this.mailbox.peek().is_none() {
            this.seat.is_let_go();
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
                    this.seat.arrives(Arrival::CLOSING, 0);
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
                    // The panic hook has said what there is to say; who asked has been told.
                    if reception != Reception::Ordered || this.in_place.replace(false) {
                        this.skip();
                    }
                    if reception == Reception::Announced {
                        this.seat.end_turn(Arrival::CLOSING, &|| this.describe());
                    }
                    let is_over = this.seat.has_panicked();
                    if this.stopping.get() || this.on_panic == OnPanic::Stop || is_over {
                        stop(core);
                    }
                }
            }
        }
    }
}

/// Stops an actor: its state goes, and with it whatever is in its mailbox.
///
/// # Safety
///
/// For the consumer.
unsafe fn stop(core: NonNull<Core>) {
    // SAFETY: The caller's.
    unsafe {
        let this = core.as_ref();
        this.stopping.set(true);
        quietly(|| this.seat.stops());
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
        this.seat.end();
    }
}

/// Ends an actor that nobody refers to, and frees it.
///
/// # Safety
///
/// For the consumer.
unsafe fn end(core: NonNull<Core>) {
    // SAFETY: The caller's.
    unsafe {
        let this = core.as_ref();
        if !this.stopping.get() {
            quietly(|| (this.manage)(core, Manage::DropState));
            this.seat.end();
        }
        (this.manage)(core, Manage::Free);
    }
}

/// Runs what may panic where nobody can be told.
fn quietly(action: impl FnOnce()) {
    // The panic hook has printed what there is to say.
    let _ = catch_unwind(AssertUnwindSafe(action));
}

impl Core {
    /// Handles messages as they come until there is a reason not to.
    ///
    /// # Safety
    ///
    /// For the consumer, with its context.
    #[inline(always)]
    unsafe fn turns<const NOTED: bool>(&self, context: *mut (), left: &mut u32) -> Pause {
        // SAFETY: The caller's.
        unsafe {
            while let Some(message) = self.mailbox.peek() {
                if NOTED {
                    self.seat.note(arrival_of(message), message.header);
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

    /// The same where each is announced, and may be looked at between two of them.
    ///
    /// # Safety
    ///
    /// For the consumer, with its context.
    unsafe fn announced_turns(&self, context: *mut (), left: &mut u32) -> Pause {
        // SAFETY: The caller's.
        unsafe {
            let state = || self.describe();
            while let Some(message) = self.mailbox.peek() {
                let arrival = arrival_of(message);
                if !self.seat.begin_turn(arrival, &state) {
                    return Pause::Stop;
                }
                if let Some(bound) = &self.bound
                    && is_bounded(message.header as u32)
                {
                    bound.release();
                }
                let words = handler_of(message.header)(message.captures, context);
                self.mailbox.advance(words);
                self.seat.end_turn(arrival, &state);
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

    /// Handles messages in the order that a controller wants.
    ///
    /// # Safety
    ///
    /// For the consumer, with its context.
    unsafe fn ordered_turns(&self, context: *mut (), left: &mut u32) -> Pause {
        // SAFETY: The caller's. Nobody else has the stash, and no turn touches it.
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
            if self.has_stash() && self.seat.next() == NextArrival::This(Arrival::CLOSING) {
                return Pause::Closing;
            }
        }
        Pause::Empty
    }

    /// Whether the actor has messages to handle that were handled before the system was shut down, and is run by whoever
    /// sent to it: that is how one is run that refuses, there and then.
    fn is_for_workers(&self, reception: Reception) -> bool {
        reception == Reception::Ordered
            && Pool::current().is_none()
            && match self.seat.next() {
                NextArrival::This(arrival) => arrival != Arrival::CLOSING,
                _ => false,
            }
    }

    /// Whether what has come is refused, in a system that is shut down. That is in the order of messages as if it were
    /// one: which came before is a matter of timing.
    ///
    /// # Safety
    ///
    /// For the consumer.
    unsafe fn is_refused(&self, reception: Reception) -> bool {
        // SAFETY: The caller's.
        let has_message = unsafe { self.has_message() };
        match reception {
            Reception::Free => {}
            Reception::Noted if has_message => self.seat.note(Arrival::CLOSING, 0),
            Reception::Announced if has_message => self.seat.is_let_go(),
            Reception::Noted | Reception::Announced => {}
            // Elsewhere in the order, if there is one.
            Reception::Ordered => return has_message && self.seat.next() == NextArrival::Any,
        }
        has_message
    }

    /// Whether there is anything that might be handled.
    ///
    /// # Safety
    ///
    /// For the consumer.
    #[inline(always)]
    unsafe fn has_message(&self) -> bool {
        // SAFETY: The caller's.
        unsafe { self.mailbox.peek().is_some() || self.has_stash() }
    }

    #[inline(always)]
    unsafe fn has_stash(&self) -> bool {
        // SAFETY: The caller's, who is the consumer.
        let stash = unsafe { &*self.stash.get() };
        stash.as_ref().is_some_and(|stash| !stash.is_empty())
    }

    /// Handles the first message in the mailbox, if it is known to be the one that is next.
    ///
    /// # Safety
    ///
    /// As for [`Core::ordered_turns`].
    #[inline(always)]
    unsafe fn quiet_turn(&self, context: *mut ()) -> bool {
        // SAFETY: The caller's.
        unsafe {
            if self.has_stash() {
                return false;
            }
            let Some(message) = self.mailbox.peek() else {
                return false;
            };
            if !self
                .seat
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

    /// Handles the message that is next, if it is there. Whether it was.
    ///
    /// # Safety
    ///
    /// As for [`Core::ordered_turns`].
    unsafe fn ordered_turn(&self, context: *mut ()) -> bool {
        // SAFETY: The caller's.
        unsafe {
            let arrival = match self.seat.next() {
                NextArrival::This(arrival) => arrival,
                NextArrival::Any => match self.mailbox.peek() {
                    Some(message) => arrival_of(message),
                    None => return false,
                },
                NextArrival::None(is_fine) => {
                    // One that came too early, and whose time never comes, is as unexpected as one that comes now.
                    let kept = (*self.stash.get()).as_ref().and_then(|stash| stash.any());
                    if let Some(arrival) = kept.filter(|_| !is_fine) {
                        self.seat.unexpected(arrival);
                    }
                    while let Some(message) = self.mailbox.peek() {
                        if !is_fine {
                            self.seat.unexpected(arrival_of(message));
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
                self.seat.arrives(arrival, code_of(message));
                handler_of(message.header)(message.captures, context);
                return true;
            }
            while let Some(message) = self.mailbox.peek() {
                if arrival_of(message) == arrival {
                    self.seat.arrives(arrival, code_of(message));
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

    /// Moves a message out of the mailbox, for later.
    ///
    /// # Safety
    ///
    /// For the consumer.
    unsafe fn keep(&self, message: Message) {
        // SAFETY: The caller's.
        unsafe {
            let words = (*self.stash.get()).get_or_insert_default().keep(message);
            self.mailbox.advance(words);
        }
    }

    /// Goes past the message whose turn has panicked: it is gone, but still in the mailbox.
    ///
    /// # Safety
    ///
    /// For the consumer.
    unsafe fn skip(&self) {
        // SAFETY: The caller's.
        unsafe {
            if let Some(message) = self.mailbox.peek() {
                let words = handler_of(message.header)(message.captures, MEASURE);
                self.mailbox.advance(words);
            }
        }
    }

    /// Whether an actor that nobody refers to is at its end: in a replay that is not so where its recording was cut
    /// with messages still to be handled. With none, the recorded one may have been about to end, or have dropped its
    /// state already, which others may have noticed.
    ///
    /// # Safety
    ///
    /// For the consumer.
    unsafe fn may_end(&self, reception: Reception) -> bool {
        reception != Reception::Ordered
            || self.stopping.get()
            // SAFETY: The caller's.
            || unsafe { !self.has_stash() }
            || self.seat.next() != NextArrival::None(true)
    }
}

/// Whether a message from there counts where a mailbox is bounded: those that went through a promise do not.
pub(super) fn is_bounded(source: u32) -> bool {
    source & NUMBERED == 0 || source == PLACED
}

/// The lower half of the header of a message that has its place with it.
const PLACED: u32 = u32::MAX;

/// What handles a message, as recording knows it.
///
/// # Safety
///
/// It has not been run yet.
#[inline(always)]
unsafe fn code_of(message: Message) -> u64 {
    if message.header as u32 == PLACED {
        // SAFETY: The header that it would have is right behind its number.
        unsafe { message.captures.add(1).read() }
    } else {
        message.header
    }
}

/// The header of a message: in the upper half where its code is, as a distance from [`base`]; in the lower half who
/// sends it.
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
    // SAFETY: Made by `header` from a handler.
    unsafe { std::mem::transmute::<usize, Handler>(address) }
}

/// Where distances are measured from: a static, since a function may be at several addresses.
#[inline(always)]
fn base() -> usize {
    static BASE: u8 = 0;
    (&raw const BASE).addr()
}

/// By what the order of messages tells this one from others.
///
/// # Safety
///
/// It has not been run yet.
#[inline(always)]
pub(super) unsafe fn arrival_of(message: Message) -> Arrival {
    // SAFETY: A message with a number has that first.
    Arrival::of(message.header as u32, || unsafe { message.captures.read() })
}
