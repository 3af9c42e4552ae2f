//! The state that the ends of a channel share.
//!
//! Each end has an order of its own: the n-th message sent is the n-th received, whichever activities send and receive.
//! So two objects suffice: the position of a send among the sends, and that of a receive among the receives. As long as
//! the same activity sends, and the same receives, both are as predicted, and the trace contains no byte of it.

use std::{
    cell::UnsafeCell,
    collections::VecDeque,
    hint::cold_path,
    panic::Location,
    sync::atomic::{
        AtomicUsize,
        Ordering::{AcqRel, Relaxed},
    },
};

use reenact_engine::{Decision, Ends, Latch, Op, Selected, at, chose, is_active, raw::BriefLock};

use super::{
    ops,
    waiter::{ClaimedWaiter, Node, Selection, WaitResult, WaiterList},
};

pub(super) use reenact_engine::End as Side;

fn drop_op(side: Side) -> Op {
    match side {
        Side::Sending => ops::DROP_SENDER,
        Side::Receiving => ops::DROP_RECEIVER,
    }
}

pub(super) fn op_of(side: Side) -> Op {
    match side {
        Side::Sending => ops::SEND,
        Side::Receiving => ops::RECEIVE,
    }
}

/// A channel.
///
/// # Invariants
///
/// 1. `state` is accessed only with `lock`, which nobody holds while it waits or runs code of the program.
/// 2. Receivers wait only if there is nothing to receive: the buffer is empty and no sender waits. Senders wait only if
///    the buffer is full (one of capacity 0 always is) and no receiver waits. So never both, except for two sides of
///    the same selection, which does not meet itself.
/// 3. The orders are recorded under `lock`, in the order of the messages.
pub(super) struct Channel<T> {
    lock: BriefLock,
    state: UnsafeCell<State<T>>,
    capacity: usize,
    /// The orders of sends and of receives.
    orders: Ends,
    ends: [End; 2],
}

/// The state of one side.
#[derive(Default)]
struct End {
    handles: AtomicUsize,
    /// Set when the last handle is dropped.
    gone: Latch,
}

struct State<T> {
    buffer: VecDeque<T>,
    waiting: [WaiterList<T>; 2],
    gone: [bool; 2],
}

// SAFETY: Of what it contains, only messages that are stored belong to a user, and these are `Send`. Nodes are on the stacks
// of operations, which have a reference to the channel: there are none when it moves.
unsafe impl<T: Send> Send for Channel<T> {}
// SAFETY: `state` is accessed only through a `Locked`, of which there is one at a time. A message may be taken out by another
// thread than the one that put it in, for which it is `Send`.
unsafe impl<T: Send> Sync for Channel<T> {}

/// The result of an attempt to send or receive.
pub(super) enum Attempted {
    /// It has happened; this waiter, if any, has to be woken.
    Done(Option<ClaimedWaiter>),
    /// The other side is gone.
    Closed,
    /// It would have to wait.
    WouldBlock,
}

/// The channel's state while its lock is held.
pub(super) struct Locked<'a, T>(&'a Channel<T>);

impl<T> Locked<'_, T> {
    fn state(&mut self) -> &mut State<T> {
        // SAFETY: The lock is held, so this is the only `Locked` of the channel, and it is borrowed mutably.
        unsafe { &mut *self.0.state.get() }
    }
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        self.0.lock.unlock();
    }
}

impl<T> Channel<T> {
    /// Creates a channel with room for `capacity` messages.
    #[track_caller]
    pub(super) fn new(capacity: usize) -> Channel<T> {
        // Settles the mode, which the activities that use the channel may not have done.
        is_active();
        Channel {
            lock: BriefLock::new(),
            state: UnsafeCell::new(State {
                buffer: VecDeque::new(),
                waiting: [WaiterList::new(), WaiterList::new()],
                gone: [false; 2],
            }),
            capacity,
            orders: Ends::new(capacity),
            ends: [End::default(), End::default()],
        }
    }

    #[inline]
    fn lock(&self) -> Locked<'_, T> {
        self.lock.lock();
        Locked(self)
    }

    fn end(&self, side: Side) -> &End {
        &self.ends[side as usize]
    }

    /// Sends what is in `message`, or receives into it, waiting as long as necessary. Returns false if the other side
    /// is gone.
    #[inline(always)]
    #[track_caller]
    pub(super) fn operate(&self, side: Side, message: &mut Option<T>) -> bool {
        match self
            .orders
            .arrive(side, op_of(side), move || self.is_possible(side))
        {
            Decision::Go => {
                self.operate_in_turn(side, message);
                self.orders.leave(side, op_of(side));
                true
            }
            Decision::Decline => {
                cold_path();
                let site = Location::caller();
                self.end(side.other()).gone.wait(&|| match side {
                    Side::Sending => format!("the last receiver to go of a channel{}", at(site)),
                    Side::Receiving => format!("the last sender to go of a channel{}", at(site)),
                });
                self.declined(side);
                false
            }
            _ => self.operate_freely(side, message),
        }
    }

    #[inline(always)]
    fn operate_freely(&self, side: Side, message: &mut Option<T>) -> bool {
        let mut locked = self.lock();
        match self.attempt(&mut locked, side, message, None) {
            Attempted::Done(waiter) => {
                drop(locked);
                ClaimedWaiter::wake(waiter);
                true
            }
            Attempted::Closed => {
                drop(locked);
                self.declined(side);
                false
            }
            Attempted::WouldBlock => {
                let met = self.wait(locked, side, message, false, &String::new);
                if !met {
                    self.declined(side);
                }
                met
            }
        }
    }

    /// Repeats a recorded operation, which succeeded: so this one does.
    #[cold]
    #[track_caller]
    fn operate_in_turn(&self, side: Side, message: &mut Option<T>) {
        let mut locked = self.lock();
        match self.attempt(&mut locked, side, message, None) {
            Attempted::Done(waiter) => {
                drop(locked);
                ClaimedWaiter::wake(waiter);
            }
            // The receivers were dropped too early, and with them the contents of the buffer.
            Attempted::Closed if self.capacity > 0 => {
                drop(locked);
                drop(message.take());
            }
            _ => {
                let site = Location::caller();
                self.wait(locked, side, message, true, &|| match side {
                    Side::Sending => format!("someone to receive what it sends{}", at(site)),
                    Side::Receiving => format!("someone to send what it receives{}", at(site)),
                });
            }
        }
    }

    /// Sends or receives if that is possible without waiting. `case` is the case and the selection of the calling
    /// activity, if it selects.
    #[inline(always)]
    pub(super) fn attempt(
        &self,
        locked: &mut Locked<'_, T>,
        side: Side,
        message: &mut Option<T>,
        case: Option<(Op, usize)>,
    ) -> Attempted {
        let state = locked.state();
        match side {
            Side::Sending => {
                if state.gone[Side::Receiving as usize] {
                    return Attempted::Closed;
                }
                let receiver = state.waiting[Side::Receiving as usize].claim_first();
                if receiver.is_none() && state.buffer.len() >= self.capacity {
                    return Attempted::WouldBlock;
                }
                self.happens(side, case);
                match receiver {
                    Some(receiver) => {
                        self.happens_to(Side::Receiving, receiver);
                        Attempted::Done(Some(receiver.meet(message.take())))
                    }
                    None => {
                        if let Some(message) = message.take() {
                            state.buffer.push_back(message);
                        }
                        Attempted::Done(None)
                    }
                }
            }
            Side::Receiving => {
                let mut first = state.buffer.pop_front();
                let sender = state.waiting[Side::Sending as usize].claim_first();
                if first.is_none() && sender.is_none() {
                    return match state.gone[Side::Sending as usize] {
                        true => Attempted::Closed,
                        false => Attempted::WouldBlock,
                    };
                }
                self.happens(side, case);
                let waiter = sender.map(|sender| {
                    self.happens_to(Side::Sending, sender);
                    let sent = sender.take_message();
                    match first {
                        Some(_) => state.buffer.extend(sent),
                        None => first = sent,
                    }
                    sender.meet(None)
                });
                *message = first;
                Attempted::Done(waiter)
            }
        }
    }

    /// Records an operation of the calling activity. The caller holds the lock.
    #[inline]
    fn happens(&self, side: Side, case: Option<(Op, usize)>) {
        if let Some((op, case)) = case {
            chose(op, 0, Selected::answer(Some(case)), None);
        }
        self.orders.taken(side, op_of(side));
    }

    /// Records an operation of a waiter. The caller holds the lock.
    #[inline]
    fn happens_to(&self, side: Side, node: &Node<T>) {
        let party = node.selection().note_chosen(node.case);
        self.orders.taken_by(side, op_of(side), party);
    }

    /// Records that the calling activity found the other side gone.
    #[cold]
    pub(super) fn declined(&self, side: Side) {
        self.orders.declined(side, op_of(side));
    }

    /// Attempts as [`Channel::attempt`] does, taking the lock.
    pub(super) fn attempt_alone(
        &self,
        side: Side,
        message: &mut Option<T>,
        case: (Op, usize),
    ) -> Attempted {
        let mut locked = self.lock();
        self.attempt(&mut locked, side, message, Some(case))
    }

    /// Adds a node to the waiters, unless its operation is ready: returns false then.
    pub(super) fn enlist(&self, side: Side, node: &Node<T>) -> bool {
        let mut locked = self.lock();
        let state = locked.state();
        let other = side.other() as usize;
        let is_possible = match side {
            Side::Sending => state.buffer.len() < self.capacity,
            Side::Receiving => !state.buffer.is_empty(),
        };
        if is_possible || state.gone[other] || state.waiting[other].has_other(node.selection()) {
            return false;
        }
        state.waiting[side as usize].push(node);
        true
    }

    /// Whether a try or a selection would not have to wait.
    pub(super) fn is_possible(&self, side: Side) -> bool {
        if side == Side::Sending && self.capacity == usize::MAX {
            return true;
        }
        let mut locked = self.lock();
        let state = locked.state();
        let other = side.other() as usize;
        state.gone[other]
            || state.waiting[other].is_any()
            || match side {
                Side::Sending => state.buffer.len() < self.capacity,
                Side::Receiving => !state.buffer.is_empty(),
            }
    }

    /// Removes a node that has not been met.
    pub(super) fn delist(&self, side: Side, node: &Node<T>) {
        if self.lock().state().waiting[side as usize].remove(node) {
            self.orders.gave_up(side, op_of(side));
        }
    }

    /// Returns the orders of sends and of receives.
    pub(super) fn orders(&self) -> &Ends {
        &self.orders
    }

    /// Adds a handle of this side.
    pub(super) fn one_more(&self, side: Side) {
        self.end(side).handles.fetch_add(1, Relaxed);
    }

    /// Removes a handle of this side; the last one wakes the waiters at the other side.
    #[track_caller]
    pub(super) fn one_less(&self, side: Side) {
        // Acquire and Release: the last one sees what the others did.
        let one_less = || self.end(side).handles.fetch_sub(1, AcqRel) == 1;
        if self.orders.drop_handle(side, drop_op(side), one_less) {
            self.close(side);
        }
    }

    fn close(&self, side: Side) {
        let mut locked = self.lock();
        let state = locked.state();
        state.gone[side as usize] = true;
        let lost = match side {
            Side::Receiving => std::mem::take(&mut state.buffer),
            Side::Sending => VecDeque::new(),
        };
        drop(locked);
        while let Some(waiter) = self.turn_away(side.other()) {
            ClaimedWaiter::wake(Some(waiter));
        }
        self.end(side).gone.establish();
        // Last, because dropping a message may panic.
        drop(lost);
    }

    /// Removes a waiter because the other side is gone, and returns it to be woken.
    fn turn_away(&self, side: Side) -> Option<ClaimedWaiter> {
        let mut locked = self.lock();
        let waiting = &mut locked.state().waiting[side as usize];
        if waiting.is_first_certain() {
            return None;
        }
        Some(waiting.claim_first()?.turn_away())
    }

    /// Waits until the operation is met, or the other side is gone: returns false then. If it `is_certain` to be met,
    /// it ignores that the other side is gone.
    fn wait(
        &self,
        mut locked: Locked<'_, T>,
        side: Side,
        message: &mut Option<T>,
        is_certain: bool,
        what: &(dyn Fn() -> String + Sync),
    ) -> bool {
        let selection = Selection::single(is_certain);
        let node = Node::new(&selection, 0, message.take());
        locked.state().waiting[side as usize].push(&node);
        let listed = Listed(self, side, &node);
        let mut locked = Some(locked);
        selection.wait(|| drop(locked.take()), what);
        std::mem::forget(listed);
        let outcome = node.outcome();
        *message = node.into_message();
        outcome == WaitResult::Met
    }
}

/// Removes the node if the waiter's stack is unwound instead.
struct Listed<'a, T>(&'a Channel<T>, Side, &'a Node<T>);

impl<T> Drop for Listed<'_, T> {
    #[cold]
    fn drop(&mut self) {
        self.0.delist(self.1, self.2);
    }
}
