//! Light activities: the state that moves with one from worker to worker.
//!
//! A thread finds its activity in its thread-locals. A light activity, of which there may be millions, has an
//! [`ActivitySlot`] instead: a few words inside the actor or whatever it is, which its worker enters before it runs it.
//! State that is only needed after an unpredicted event is allocated when that happens; until then an activity costs
//! its counter in the live file, and a word in the trace when it ends like its neighbours.
//!
//! A light activity's own nondeterminism is the order of its messages. By default its receiver records that: the sender
//! of the next message, if it is not the predicted one ([`arrivals`](crate::arrivals)). With the other strategy senders
//! do: each message has a position in its receiver's order, and a sender records it if another activity sent something
//! in between. Messages that pass through a promise, and continuations, are recorded by their receiver in both: no
//! other activity always knows when they arrive.

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
    arrivals::{Arrivals, CONTINUATION, DIRECT, NUMBERED, SourceId},
    explore::{self, Execution},
    life,
    mode::{self, Mode},
    object::{announce, choose_as, done},
    record::{Me, RecorderState, Recording, count_at, token_of},
    replay::fast_path::FastPath,
    seeds,
};

crate::operations! {
    pub(crate) SEND = 0x50 MessageSend "send a message";
    pub(crate) HANDLE = 0x51 Turn "handle a message";
    STOP = 0x52 End "stop";
}

/// The state of a light activity that moves with it from worker to worker.
///
/// # State
///
/// | field | off | recording | controlled |
/// |---|---|---|---|
/// | `token` | `NOBODY` | its token | its token |
/// | `first` | | predicted sender of its first message | the same |
/// | `predicted` | | predicted next sender, 0 where the table decides | the same, while there are silent operations |
/// | `word` | | its counter in the live file; null before its first operation | its counter for silent operations |
/// | `arrivals` | null | the recorder state's table of senders, if there is one | null |
/// | `rest` | empty | its recorder state, after the first unpredicted event | its identity for the controller, from when it is first run |
/// | `sent` | | the number of messages sent to it, where senders record | |
///
/// # Invariants
///
/// 1. `token` and `first` do not change. `sent` is accessed under the lock of the mailbox. All other fields are
///    accessed only by the thread that runs the activity; only one thread runs it at a time.
pub struct ActivitySlot {
    token: u32,
    first: SourceId,
    predicted: Cell<SourceId>,
    word: Cell<*mut u64>,
    arrivals: Cell<*mut Arrivals>,
    rest: RefCell<SlotState>,
    sent: Cell<u64>,
    /// Identifies its mailbox to a controller.
    mailbox: Name,
}

/// One enum rather than two cells: a second cell cost 16 instructions per rendezvous, even when off.
enum SlotState {
    Nothing,
    Recorded(Box<RecorderState>),
    Controlled(Box<Controlled>),
}

/// How the order of messages is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// Not at all.
    Free,
    /// Each message must be [noted](ActivitySlot::note) before it is handled.
    Noted,
    /// Each message must be [announced](ActivitySlot::begin_turn) before it is handled, and its end after it.
    Announced,
    /// Only the [next](ActivitySlot::next) message may be handled.
    Ordered,
}

/// A message that is about to be sent, described for people.
#[derive(Clone, Copy)]
pub struct Sending<'a> {
    /// The line of the program that sends it.
    pub site: &'static Location<'static>,
    /// Describes the message, such as `double(12)`.
    pub label: &'a dyn Fn() -> String,
}

// SAFETY: Invariant 1: every mutable field is accessed by one thread at a time.
unsafe impl Sync for ActivitySlot {}
// SAFETY: The counter is in memory that all threads share, and only the thread that runs the activity uses it.
unsafe impl Send for ActivitySlot {}

impl ActivitySlot {
    /// Creates the slot of a new child of the current activity.
    #[inline]
    #[track_caller]
    pub fn born() -> ActivitySlot {
        if mode::byte() == Mode::Off as u8 {
            return ActivitySlot::of(NOBODY, 0);
        }
        ActivitySlot::born_in_some_mode()
    }

    #[cold]
    #[track_caller]
    fn born_in_some_mode() -> ActivitySlot {
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
                ActivitySlot::of(token_of(number), first)
            }
            None => ActivitySlot::of(NOBODY, 0),
        }
    }

    #[track_caller]
    fn of(token: u32, first: SourceId) -> ActivitySlot {
        ActivitySlot {
            token,
            first,
            predicted: Cell::new(0),
            word: Cell::new(std::ptr::null_mut()),
            arrivals: Cell::new(std::ptr::null_mut()),
            rest: RefCell::new(SlotState::Nothing),
            sent: Cell::new(0),
            mailbox: Name::new(),
        }
    }

    /// Returns the activity's number, which is the same in a replay. None when off.
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
            // It was created before recording began. Its operations must not count as those of the activity that ran
            // here before.
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

    /// Makes the calling thread the one that records for the activity, because it runs it or because the activity
    /// waits.
    #[inline]
    pub(crate) fn sit_in(&self) {
        HOT.with(|hot| {
            hot.token.set(self.token);
            hot.word.set(self.word.get());
            hot.slot.set(self);
        });
    }

    /// Returns its counter in the live file; null before its first operation.
    pub(crate) fn word(&self) -> *mut u64 {
        self.word.get()
    }

    /// Returns its counter, assigning one if it has none and recording has room. For the thread that runs the activity.
    pub(crate) fn word_for_sure(&self) -> *mut u64 {
        if self.word.get().is_null() {
            self.take_slot();
        }
        self.word.get()
    }

    /// Notes that a message is about to be handled: its source, and the code of its handler.
    #[inline(always)]
    pub fn note(&self, arrival: Arrival, code: u64) {
        // Recording may have ended in the middle of a turn, and later operations were not noted.
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

    /// Announces that a message is about to be handled; `state` describes the activity. Returns false if it must not be
    /// handled because the execution is over.
    pub fn begin_turn(&self, arrival: Arrival, state: &dyn Fn() -> Option<String>) -> bool {
        if !mode::is_observed() {
            return true;
        }
        let handle = || {
            announce(&Announcement {
                touches: &[Touch::new(&self.mailbox, Access::Receive)],
                // It is called only when there is a message.
                ready: Some(&|| true),
                envelope: Some(&self.envelope(arrival, Some(state))),
                ..Announcement::new(HANDLE, Access::Receive)
            })
        };
        catch_unwind(AssertUnwindSafe(handle)).is_ok()
    }

    /// Reports the end of a turn.
    pub fn end_turn(&self, arrival: Arrival, state: &dyn Fn() -> Option<String>) {
        if mode::is_observed() && !explore::here().is_some_and(Execution::ignores_turns) {
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
            // A slot without an activity has no number; this value belongs to no activity.
            to: self.token.wrapping_sub(1),
            arrival,
            state,
        }
    }

    /// Reports that it runs without a message: the last reference to it has been dropped.
    #[cold]
    pub fn is_let_go(&self) {
        self.report(Message::None);
    }

    /// Reports that its turn has panicked. Returns whether the activity must end.
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
                // SAFETY: It has a counter, as just checked, and the calling thread runs the activity.
                unsafe { count_at(self.word.get(), tag) };
                return;
            }
        }
        // SAFETY: The recorder state owns it, and the calling thread runs the activity.
        if let Some(arrivals) = unsafe { self.arrivals.get().as_mut() }
            && arrivals.predicted() == arrival
        {
            arrivals.came(arrival);
            if arrivals.is_settled() {
                self.predicted.set(arrival.source);
            }
            // SAFETY: An activity with a recorder state has a counter, and the calling thread runs the activity.
            unsafe { count_at(self.word.get(), tag) };
            return;
        }
        // From now on there are several senders, which takes the table, unless the last one comes again.
        self.predicted.set(0);
        with_recording(|me| {
            me.received(self.first, arrival, tag);
            if let Some(arrivals) = &mut me.recorder_state.arrivals {
                self.arrivals.set(&raw mut **arrivals);
                if arrivals.is_settled() {
                    self.predicted.set(arrivals.predicted().source);
                }
            }
        });
    }

    fn take_slot(&self) {
        let word = with_thread(|recording| recording.slot(self.token - 1));
        self.set_word(word.unwrap_or(std::ptr::null_mut()));
    }

    fn set_word(&self, word: *mut u64) {
        self.word.set(word);
        HOT.with(|hot| hot.word.set(word));
    }

    /// Runs `action` with the recorder state of the activity, which the calling thread runs.
    pub(crate) fn with_recorder_state<R>(
        &self,
        recording: &mut Recording,
        action: impl FnOnce(Me<'_>) -> R,
    ) -> Option<R> {
        if self.word.get().is_null() {
            self.set_word(recording.slot(self.token - 1)?);
        }
        let mut rest = self.rest.try_borrow_mut().ok()?;
        if let SlotState::Nothing = &*rest {
            let state = RecorderState::new(self.token - 1, self.word.get());
            *rest = SlotState::Recorded(Box::new(state));
        }
        match &mut *rest {
            SlotState::Recorded(state) => Some(action(recording.light(state))),
            _ => None,
        }
    }

    /// Notes that a message is appended to the activity's mailbox, whose lock the caller holds. Does nothing unless
    /// senders record.
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

    /// Returns whether a message that is about to be sent has to be [announced](ActivitySlot::position).
    #[inline(always)]
    pub fn announces_messages() -> bool {
        mode::sends_matter() && mode::is_controlled()
    }

    /// Announces a message that is about to be sent to the activity. Returns the source and number by which the
    /// receiver will know it, if not by its sender: its position, in a replay where senders record.
    pub fn position(&self, is_reserved: bool, sending: Sending<'_>) -> Option<(u32, u64)> {
        if is_reserved && !mode::with_sender() {
            // Reserving room was the operation.
            return None;
        }
        match self.announce_send(self.key(), Arrival::from(sender()), sending) {
            Decision::Answer(position) => Some((DIRECT | NUMBERED, position)),
            _ => None,
        }
    }

    /// Announces a numbered message that is about to be sent to the activity.
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

    /// Reserves room in the mailbox for a message that is about to be sent. `has_room` reserves it if there is any.
    /// Whether there is depends on timing.
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
            // Where messages have positions, the message is known only once it has one.
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

    /// Announces that the activity is about to refuse all further messages.
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

    /// Ends the activity. The calling thread does not run it any more.
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
                    let state = match &mut *rest {
                        SlotState::Recorded(state) => Some(&mut **state),
                        _ => None,
                    };
                    recording.end_light(self.token - 1, word, state);
                    Some(())
                });
                *rest = SlotState::Nothing;
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
        let fast_path = self.word.get().cast::<FastPath>();
        HOT.with(|hot| hot.fast_path.set(fast_path));
        if fast_path.is_null() {
            self.begin_controlled();
        }
    }

    fn begin_controlled(&self) {
        let mut rest = self.rest.borrow_mut();
        if let SlotState::Nothing = &*rest
            && let Some(controlled) = Controlled::light(self.token - 1, self.first)
        {
            *rest = SlotState::Controlled(Box::new(controlled));
        }
    }

    pub(crate) fn controlled(&self) -> Option<&Controlled> {
        match &*self.rest.try_borrow().ok()? {
            SlotState::Controlled(controlled) => {
                // SAFETY: The box does not move, and is not replaced before the slot is dropped: only a recording
                // resets `rest`, and a process that records has no controller.
                Some(unsafe { &*std::ptr::from_ref(&**controlled) })
            }
            _ => None,
        }
    }

    /// Returns whether a message is known to be the next one. If so, it is about to be handled; if not,
    /// [`ActivitySlot::next`] says which one is.
    #[inline]
    pub fn arrives_quietly(&self, arrival: Arrival, code: u64) -> bool {
        let fast_path = self.word.get().cast::<FastPath>();
        if fast_path.is_null() || mode::byte() != Mode::Replay as u8 {
            return false;
        }
        // SAFETY: It belongs to the replay's runner of this activity, which exists until the activity ends; and the
        // calling thread runs the activity.
        let arrives = unsafe { (*fast_path).receive(arrival, tag_of(code)) };
        if arrives {
            seeds::restart();
        }
        arrives
    }

    /// Returns which message is to be handled next.
    pub fn next(&self) -> NextArrival {
        let next = self.report(Message::Next);
        self.word.set(Hot::fast_path().cast_mut().cast());
        next
    }

    /// Reports a message that arrived although none was expected any more: a divergence from the recording.
    pub fn unexpected(&self, arrival: Arrival) {
        self.report(Message::Unexpected(arrival));
    }

    /// Reports that the [next](ActivitySlot::next) message is about to be handled.
    pub fn arrives(&self, arrival: Arrival, code: u64) {
        seeds::restart();
        self.report(Message::Handled(arrival, tag_of(code)));
        if mode::is_observed() && arrival != Arrival::CLOSING {
            announce(&Announcement {
                touches: &[Touch::new(&self.mailbox, Access::Receive)],
                envelope: Some(&self.envelope(arrival, None)),
                ..Announcement::new(HANDLE, Access::Receive)
            });
        }
    }

    /// Reports an event about messages to the controller.
    fn report(&self, message: Message) -> NextArrival {
        if let Some(execution) = explore::here() {
            return execution.handle_message(message);
        }
        match self.controlled() {
            Some(controlled) => controlled.controller.message(&controlled.activity, message),
            None => NextArrival::Any,
        }
    }
}

/// Returns what handling a message adds to the hash: the upper half, odd.
#[inline(always)]
fn tag_of(code: u64) -> u64 {
    code & !0xffff_ffff | 1 << 32
}

impl Arrival {
    /// A message identified by its source, and by its number if it has one.
    #[inline(always)]
    pub fn of(source: u32, number: impl FnOnce() -> u64) -> Arrival {
        Arrival {
            source,
            number: if source & NUMBERED == 0 { 0 } else { number() },
        }
    }
}

impl Ticket {
    /// Returns the source and number by which the receiver will know the message.
    pub fn address(self) -> (u32, u64) {
        (self.sender | NUMBERED, self.number)
    }
}

/// Returns the source and number by which an activity knows the n-th of its own continuations.
pub fn continuation(number: u64) -> (u32, u64) {
    (CONTINUATION, number)
}
