//! Light activities: what of one travels with it from worker to worker.
//!
//! A thread finds its activity in its own locals. A light activity, of which there may be millions, has a [`Seat`]
//! instead: a few words inside of the actor or whatever it is, that its worker sits down on before it runs it. What is
//! not needed by an activity that does nothing surprising is not there: such an activity costs its counter in the
//! live file, and a word in the trace when it ends like its neighbours.
//!
//! A light activity's own nondeterminism is the order of its messages. By default its receiver records that: whose
//! message came next, if not the predicted one ([`arrivals`](crate::arrivals)). With the other strategy senders do: each
//! message has a position in its receiver's order, and a sender writes it down if somebody else was there in between.
//! Messages that pass through a promise, and continuations, are recorded by their receiver in both: nobody else
//! always knows when they arrive.

use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, Location, catch_unwind},
};

use crate::{
    Access, Announcement, Arrival, Decision, Ending, Envelope, Message, Name, NextArrival, Op,
    Outcome, Ticket, Touch,
    activity::{
        Controlled, HOT, Hot, NOBODY, sender, stand_up, with_controlled, with_recording,
        with_thread,
    },
    arrivals::{Arrivals, CONTINUATION, DIRECT, NUMBERED, Source},
    entity::{announce, choose_as, done},
    explore::{self, World},
    life,
    mode::{self, Mode},
    record::{Diary, Me, Recording, count_at, token_of},
    replay::quiet::Quiet,
    seeds,
};

crate::operations! {
    pub(crate) SEND = 0x50 MessageSend "send a message";
    pub(crate) HANDLE = 0x51 Turn "handle a message";
    STOP = 0x52 End "stop";
}

/// What of a light activity travels with it.
///
/// # State
///
/// | field | off | recording | controlled |
/// |---|---|---|---|
/// | `token` | `NOBODY` | who it is | who it is |
/// | `first` | | whose message is predicted to be the first | the same |
/// | `predicted` | | who is predicted next, 0 where that takes a closer look | the same, while there are silent operations |
/// | `word` | | its counter in the live file; null before its first operation | its counter for silent ones |
/// | `arrivals` | null | the diary's table of senders, if there is one | null |
/// | `rest` | empty | its diary, once something surprised it | what its controller knows it by |
/// | `sent` | | how many messages were sent to it, where senders record | |
///
/// # Invariants
///
/// 1. `token` and `first` do not change. `sent` is touched under the lock of the mailbox. Everything else is touched only
///    by who runs the activity, which is one thread at a time.
pub struct Seat {
    token: u32,
    first: Source,
    predicted: Cell<Source>,
    word: Cell<*mut u64>,
    arrivals: Cell<*mut Arrivals>,
    rest: RefCell<Rest>,
    sent: Cell<u64>,
    /// What a controller knows its mailbox by.
    mailbox: Name,
}

enum Rest {
    Nothing,
    Recorded(Box<Diary>),
    Controlled(Box<Controlled>),
}

/// What is to be done about the order of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// Nothing.
    Free,
    /// Each is to be [noted](Seat::note) before it is handled.
    Noted,
    /// Each is to be [announced](Seat::begin_turn) before it is handled, and its end after it.
    Announced,
    /// Only that which is [next](Seat::next) may be handled.
    Ordered,
}

/// A message that is about to be sent, as far as people want to know.
#[derive(Clone, Copy)]
pub struct Sending<'a> {
    /// The line of the program that sends it.
    pub site: &'static Location<'static>,
    /// What it is, such as `double(12)`.
    pub label: &'a dyn Fn() -> String,
}

// SAFETY: See invariant 1.
unsafe impl Sync for Seat {}
// SAFETY: The counter is in memory that all threads share, and used by who runs the activity.
unsafe impl Send for Seat {}

impl Seat {
    /// For a child of the current activity.
    #[inline]
    #[track_caller]
    pub fn born() -> Seat {
        if mode::byte() == Mode::Off as u8 {
            return Seat::of(NOBODY, 0);
        }
        Seat::born_in_some_mode()
    }

    #[cold]
    #[track_caller]
    fn born_in_some_mode() -> Seat {
        let birth = || match mode::settled() {
            Mode::Record => with_recording(|me| me.light_child()),
            Mode::Replay | Mode::Controlled => with_controlled(Controlled::light_child),
            _ => None,
        };
        match life::creates(true, birth, |number| *number) {
            Some(number) => {
                let first = if mode::with_sender() {
                    DIRECT
                } else {
                    sender()
                };
                Seat::of(token_of(number), first)
            }
            None => Seat::of(NOBODY, 0),
        }
    }

    #[track_caller]
    fn of(token: u32, first: Source) -> Seat {
        Seat {
            token,
            first,
            predicted: Cell::new(0),
            word: Cell::new(std::ptr::null_mut()),
            arrivals: Cell::new(std::ptr::null_mut()),
            rest: RefCell::new(Rest::Nothing),
            sent: Cell::new(0),
            mailbox: Name::new(),
        }
    }

    /// The activity's number: the same in a replay. None when off.
    pub fn number(&self) -> Option<u32> {
        (self.token != NOBODY).then(|| self.token - 1)
    }

    /// Makes the calling thread run the activity, until it runs another.
    #[inline(always)]
    pub fn enter(&self) -> Reception {
        if mode::byte() == Mode::Off as u8 {
            return Reception::Free;
        }
        self.enter_in_some_mode()
    }

    #[inline]
    fn enter_in_some_mode(&self) -> Reception {
        seeds::restart();
        if self.token == NOBODY {
            // Made before there was anything to record: whatever it does, it is not who ran here before.
            stand_up();
            return Reception::Free;
        }
        self.sit_in();
        match mode::byte() {
            1 => Reception::Noted,
            4 | 5 => {
                self.enter_controlled();
                Reception::Ordered
            }
            _ if explore::sits(self.token - 1) => Reception::Announced,
            _ => Reception::Free,
        }
    }

    /// Makes the calling thread the one that records for the activity: because it runs it, or while it waits.
    #[inline]
    pub(crate) fn sit_in(&self) {
        HOT.with(|hot| {
            hot.token.set(self.token);
            hot.word.set(self.word.get());
            hot.seat.set(self);
        });
    }

    /// Its counter in the live file; null before its first operation.
    pub(crate) fn word(&self) -> *mut u64 {
        self.word.get()
    }

    /// The same; it has one from now on, if there is any to be had. For who runs the activity.
    pub(crate) fn word_for_sure(&self) -> *mut u64 {
        if self.word.get().is_null() {
            self.take_slot();
        }
        self.word.get()
    }

    /// Notes that a message is about to be handled: where it comes from, and what does it.
    #[inline(always)]
    pub fn note(&self, arrival: Arrival, code: u64) {
        // Recording may have ended in the middle of a turn, with operations that were not noted any more.
        if mode::byte() != Mode::Record as u8 {
            return;
        }
        seeds::restart();
        let tag = tag_of(code);
        if arrival.source == self.predicted.get() {
            // SAFETY: There is a prediction only if there is a counter, and the calling thread runs the activity.
            unsafe { count_at(self.word.get(), tag) };
        } else {
            self.note_closely(arrival, tag);
        }
    }

    /// Announces that a message is about to be handled; `state` says what can be seen of the activity. False if it is not to be
    /// handled: the execution is over.
    pub fn begin_turn(&self, arrival: Arrival, state: &dyn Fn() -> Option<String>) -> bool {
        if !mode::is_observed() {
            return true;
        }
        let handle = || {
            announce(&Announcement {
                touches: &[Touch::new(&self.mailbox, Access::Receive)],
                // It would not be here if there were no message.
                ready: Some(&|| true),
                envelope: Some(&self.envelope(arrival, Some(state))),
                ..Announcement::new(HANDLE, Access::Receive)
            })
        };
        catch_unwind(AssertUnwindSafe(handle)).is_ok()
    }

    /// A turn has ended.
    pub fn end_turn(&self, arrival: Arrival, state: &dyn Fn() -> Option<String>) {
        if mode::is_observed() && !explore::here().is_some_and(World::ignores_turns) {
            let announcement = Announcement {
                envelope: Some(&self.envelope(arrival, Some(state))),
                ..Announcement::new(HANDLE, Access::Receive)
            };
            done(&announcement, Outcome::Left(None));
        }
    }

    fn envelope<'a>(
        &self,
        arrival: Arrival,
        state: Option<&'a dyn Fn() -> Option<String>>,
    ) -> Envelope<'a> {
        Envelope {
            // Who is nobody has no number, and is not found by it.
            to: self.token.wrapping_sub(1),
            arrival,
            state,
        }
    }

    /// It runs although there is no message: whoever had the last reference to it has dropped that.
    #[cold]
    pub fn is_let_go(&self) {
        self.tell(Message::None);
    }

    /// Its turn has panicked. Whether it is to end.
    #[cold]
    pub fn has_panicked(&self) -> bool {
        explore::has_panicked();
        explore::is_leaving()
    }

    #[inline(never)]
    fn note_closely(&self, arrival: Arrival, tag: u64) {
        let arrival = match arrival.source & NUMBERED == 0 && mode::with_sender() {
            true => Arrival::from(DIRECT),
            false => arrival,
        };
        if self.word.get().is_null() {
            self.take_slot();
            if arrival.source == self.first && !self.word.get().is_null() {
                self.predicted.set(self.first);
                // SAFETY: As in `note`.
                unsafe { count_at(self.word.get(), tag) };
                return;
            }
        }
        // SAFETY: The diary has it, and the calling thread runs the activity.
        if let Some(arrivals) = unsafe { self.arrivals.get().as_mut() }
            && arrivals.predicted() == arrival
        {
            arrivals.came(arrival);
            if arrivals.is_settled() {
                self.predicted.set(arrival.source);
            }
            // SAFETY: As in `note`: who has a diary has a counter.
            unsafe { count_at(self.word.get(), tag) };
            return;
        }
        // From now on there are several senders, and a table to look into, unless the last one comes again.
        self.predicted.set(0);
        with_recording(|me| {
            me.received(self.first, arrival, tag);
            if let Some(arrivals) = &mut me.diary.arrivals {
                self.arrivals.set(&raw mut **arrivals);
                if arrivals.is_settled() {
                    self.predicted.set(arrivals.predicted().source);
                }
            }
        });
    }

    fn take_slot(&self) {
        let word = with_thread(|recording| recording.slot(self.token - 1));
        let word = word.unwrap_or(std::ptr::null_mut());
        self.word.set(word);
        HOT.with(|hot| hot.word.set(word));
    }

    /// Runs `action` with the diary of the activity, which the calling thread runs.
    pub(crate) fn with_diary<R>(
        &self,
        recording: &mut Recording,
        action: impl FnOnce(Me<'_>) -> R,
    ) -> Option<R> {
        if self.word.get().is_null() {
            let word = recording.slot(self.token - 1)?;
            self.word.set(word);
            HOT.with(|hot| hot.word.set(word));
        }
        let mut rest = self.rest.try_borrow_mut().ok()?;
        if let Rest::Nothing = &*rest {
            *rest = Rest::Recorded(Box::new(Diary::new(self.token - 1, self.word.get())));
        }
        match &mut *rest {
            Rest::Recorded(diary) => Some(action(recording.light(diary))),
            _ => None,
        }
    }

    /// A message is appended to the activity's mailbox, whose lock the caller has: says so where senders record.
    #[inline(always)]
    pub fn note_sent(&self) {
        if mode::with_sender() && mode::byte() == Mode::Record as u8 {
            self.note_position();
        }
    }

    #[cold]
    fn note_position(&self) {
        let position = self.sent.replace(self.sent.get() + 1);
        with_recording(|me| me.sent(self.key(), position, SEND));
    }

    fn key(&self) -> u64 {
        u64::from(self.token) << 32
    }

    /// Whether there is somebody to whom a message has to be [announced](Seat::position) that is about to be sent.
    #[inline(always)]
    pub fn announces_messages() -> bool {
        mode::sends_matter() && mode::is_controlled()
    }

    /// Announces a message that is about to be sent to the activity. Returns by what that will know it, if not by its sender:
    /// where senders record, in a replay, by its position.
    pub fn position(&self, is_reserved: bool, sending: Sending<'_>) -> Option<(u32, u64)> {
        if is_reserved && !mode::with_sender() {
            // That was the operation.
            return None;
        }
        match self.announce_send(self.key(), Arrival::from(sender()), sending) {
            Decision::Answer(position) => Some((DIRECT | NUMBERED, position)),
            _ => None,
        }
    }

    /// Announces a message that is about to be sent to it and that has a number.
    pub fn is_sent_numbered(&self, (source, number): (u32, u64), sending: Sending<'_>) {
        if mode::sends_matter() && mode::is_observed() {
            let source = source | NUMBERED;
            self.announce_send(0, Arrival { source, number }, sending);
        }
    }

    #[inline]
    fn announce_send(&self, key: u64, arrival: Arrival, sending: Sending<'_>) -> Decision {
        announce(&Announcement {
            touches: &[Touch::new(&self.mailbox, Access::Send)],
            predicted: if mode::with_sender() { key } else { 0 },
            site: sending.site,
            label: Some(sending.label),
            envelope: Some(&self.envelope(arrival, None)),
            ..Announcement::new(SEND, Access::Send)
        })
    }

    /// A message is about to be sent to it if it has room, which `has_room` finds out, and takes. Whether there is any is a
    /// matter of timing.
    pub fn reserve(
        &self,
        op: Op,
        capacity: u32,
        sending: Sending<'_>,
        has_room: impl FnOnce() -> bool,
    ) -> bool {
        let touches = [Touch::new(&self.mailbox, Access::TrySend).with_room(capacity as usize)];
        let is_controlled = mode::is_controlled();
        let envelope = is_controlled.then(|| self.envelope(Arrival::from(sender()), None));
        let announcement = Announcement {
            touches: &touches,
            predicted: 1,
            site: sending.site,
            label: Some(sending.label),
            // Where messages have positions, it is known only when that is.
            envelope: envelope.as_ref().filter(|_| !mode::with_sender()),
            ..Announcement::new(op, Access::Ask)
        };
        choose_as(&announcement, || {
            let has_room = has_room();
            if has_room && mode::is_observed() {
                done(&announcement, Outcome::Happened(0));
            }
            has_room.into()
        }) == 1
    }

    /// The activity is about to refuse all messages from now on.
    pub fn stops(&self) {
        if mode::is_observed() {
            let touches = [Touch::new(&self.mailbox, Access::DropReceiver)];
            let announcement = Announcement {
                touches: &touches,
                ..Announcement::new(STOP, Access::DropReceiver)
            };
            announce(&announcement);
            done(&announcement, Outcome::Dropped { is_last: true });
        }
    }

    /// The activity has ended. The calling thread does not run it any more.
    #[inline]
    pub fn end(&self) {
        if self.token != NOBODY {
            self.end_in_some_mode();
        }
    }

    fn end_in_some_mode(&self) {
        match mode::settled() {
            Mode::Record | Mode::Stopped => {
                let mut rest = self.rest.borrow_mut();
                let word = self.word.replace(std::ptr::null_mut());
                with_thread(|recording| {
                    let diary = match &mut *rest {
                        Rest::Recorded(diary) => Some(&mut **diary),
                        _ => None,
                    };
                    recording.end_light(self.token - 1, word, diary);
                    Some(())
                });
                *rest = Rest::Nothing;
                self.arrivals.set(std::ptr::null_mut());
            }
            Mode::Replay | Mode::Controlled if !explore::is_here() => {
                self.enter_controlled();
                if let Some(controlled) = self.controlled() {
                    let controller = &controlled.controller;
                    controller.end(&controlled.activity, Ending::Returned);
                }
            }
            _ => {}
        }
        stand_up();
    }

    // Controlled.

    #[inline]
    fn enter_controlled(&self) {
        let quiet = self.word.get().cast::<Quiet>();
        HOT.with(|hot| hot.quiet.set(quiet));
        if quiet.is_null() {
            self.begin_controlled();
        }
    }

    fn begin_controlled(&self) {
        let mut rest = self.rest.borrow_mut();
        if let Rest::Nothing = &*rest
            && let Some(controlled) = Controlled::light(self.token - 1, self.first)
        {
            *rest = Rest::Controlled(Box::new(controlled));
        }
    }

    pub(crate) fn controlled(&self) -> Option<&Controlled> {
        match &*self.rest.try_borrow().ok()? {
            // SAFETY: It stays where it is, and is not replaced before the slot is dropped.
            Rest::Controlled(controlled) => Some(unsafe { &*std::ptr::from_ref(&**controlled) }),
            _ => None,
        }
    }

    /// Whether a message is known to be the one that is next. If so, it is about to be handled; if not, who asks
    /// [`Seat::next`] knows.
    #[inline]
    pub fn arrives_quietly(&self, arrival: Arrival, code: u64) -> bool {
        let quiet = self.word.get().cast::<Quiet>();
        if quiet.is_null() || mode::byte() != Mode::Replay as u8 {
            return false;
        }
        // SAFETY: It belongs to the replay's runner of this activity, which is there until the activity ends; and the
        // calling thread runs it.
        let arrives = unsafe { (*quiet).receive(arrival, tag_of(code)) };
        if arrives {
            seeds::restart();
        }
        arrives
    }

    /// Which message is to be handled next.
    pub fn next(&self) -> NextArrival {
        let next = self.tell(Message::Next);
        self.word.set(Hot::quiet().cast_mut().cast());
        next
    }

    /// A message has come although there was none any more: the activity differs from the recorded one.
    pub fn unexpected(&self, arrival: Arrival) {
        self.tell(Message::Unexpected(arrival));
    }

    /// The message that was [next](Seat::next) is about to be handled.
    pub fn arrives(&self, arrival: Arrival, code: u64) {
        seeds::restart();
        self.tell(Message::Handled(arrival, tag_of(code)));
        if mode::is_observed() && arrival != Arrival::CLOSING {
            announce(&Announcement {
                touches: &[Touch::new(&self.mailbox, Access::Receive)],
                envelope: Some(&self.envelope(arrival, None)),
                ..Announcement::new(HANDLE, Access::Receive)
            });
        }
    }

    /// Tells the controller of a message.
    fn tell(&self, message: Message) -> NextArrival {
        if let Some(execution) = explore::here() {
            return execution.is_told(message);
        }
        match self.controlled() {
            Some(controlled) => controlled.controller.message(&controlled.activity, message),
            None => NextArrival::Any,
        }
    }
}

/// What handling a message adds to the hash: the upper half, odd.
#[inline(always)]
fn tag_of(code: u64) -> u64 {
    code & !0xffff_ffff | 1 << 32
}

impl Arrival {
    /// A message by its sender, and by its number if it has one.
    #[inline(always)]
    pub fn of(source: u32, number: impl FnOnce() -> u64) -> Arrival {
        Arrival {
            source,
            number: if source & NUMBERED == 0 { 0 } else { number() },
        }
    }
}

impl Ticket {
    /// By what its receiver will know the message.
    pub fn address(self) -> (u32, u64) {
        (self.sender | NUMBERED, self.number)
    }
}

/// By what an activity knows the n-th of its own continuations.
pub fn continuation(number: u64) -> (u32, u64) {
    (CONTINUATION, number)
}
