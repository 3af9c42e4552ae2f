//! Waiting at a channel, or at several.
//!
//! All of it is on the waiter's stack, linked into the lists of the channels, and unlinked before that stack frame is
//! left. Waiting allocates nothing.

use std::{
    cell::{Cell, UnsafeCell},
    ptr::NonNull,
    sync::atomic::{
        AtomicU32,
        Ordering::{AcqRel, Acquire, Relaxed},
    },
    time::Instant,
};

use reenact_engine::{Op, Party, Selected, chose, raw::Parker};

/// A wait for the first of several operations, or for just one.
///
/// # State
///
/// | `state` | meaning | set by |
/// |---|---|---|
/// | `WAITING` | nothing has happened yet | the waiter |
/// | `GIVEN_UP` | nothing will | the waiter: its time limit expired, or it need not wait |
/// | `CHOSEN` + n | case n has happened, or cannot any more | the activity that met it, or closed the channel |
///
/// A wait for a single operation stays at `WAITING`: removing it from the list claims it.
pub(super) struct Selection {
    state: AtomicU32,
    /// The operation of the selection; none for a wait for a single operation.
    op: Option<Op>,
    /// Whether it is known that it will be met.
    is_certain: bool,
    parker: Parker,
    party: Party,
}

const WAITING: u32 = 0;
const GIVEN_UP: u32 = 1;
const CHOSEN: u32 = 2;

impl Selection {
    /// Creates a wait for a single operation.
    #[inline]
    pub(super) fn single(is_certain: bool) -> Selection {
        Selection::new(None, is_certain)
    }

    /// Creates a wait for the first of several operations.
    pub(super) fn first_of(op: Op) -> Selection {
        Selection::new(Some(op), false)
    }

    #[inline]
    fn new(op: Option<Op>, is_certain: bool) -> Selection {
        Selection {
            state: AtomicU32::new(WAITING),
            op,
            is_certain,
            parker: Parker::new(),
            party: Party::here(),
        }
    }

    /// Claims it with this case; returns false if another case has happened.
    #[inline]
    fn claim(&self, case: usize) -> bool {
        self.op.is_none() || self.leave_waiting(CHOSEN + case as u32)
    }

    /// Gives up waiting; returns false if a case has happened.
    pub(super) fn give_up(&self) -> bool {
        self.leave_waiting(GIVEN_UP)
    }

    fn leave_waiting(&self, to: u32) -> bool {
        // Acquire and Release: the second caller sees what the first one did.
        self.state
            .compare_exchange(WAITING, to, AcqRel, Acquire)
            .is_ok()
    }

    /// Returns the case that has happened.
    pub(super) fn chosen(&self) -> Option<usize> {
        let state = self.state.load(Acquire);
        state.checked_sub(CHOSEN).map(|case| case as usize)
    }

    /// Records the choice for the waiter, after claiming it, and returns the waiter's party. The caller holds the
    /// channel's lock.
    #[inline]
    pub(super) fn note_chosen(&self, case: usize) -> &Party {
        if let Some(op) = self.op {
            let answer = Selected::answer(Some(case));
            chose(op, 0, answer, Some(&self.party));
        }
        &self.party
    }

    /// Waits for a single operation. `publish` releases the lock that keeps others from finding it.
    #[inline]
    pub(super) fn wait(&self, publish: impl FnMut(), what: &(dyn Fn() -> String + Sync)) {
        self.parker.wait_in_operation(publish, what);
    }

    /// Waits for one of several operations, which others can already find. Returns false if the time limit expired; but
    /// a case may have happened since.
    pub(super) fn wait_until(&self, deadline: Option<Instant>) -> bool {
        self.parker.spin(SPINS) || self.parker.park_in_operation(deadline)
    }
}

/// How often to spin before parking: the channels of a selection are often busy.
const SPINS: u32 = 50;

/// A claimed waiter that has to be woken. It exists until then, and possibly not after.
pub(super) struct ClaimedWaiter(NonNull<Selection>);

impl ClaimedWaiter {
    /// Wakes the waiter; called without the lock.
    #[inline]
    pub(super) fn wake(waiter: Option<ClaimedWaiter>) {
        let Some(ClaimedWaiter(selection)) = waiter else {
            return;
        };
        // SAFETY: The selection exists until its waiter is woken, which happens here, once.
        let selection = unsafe { selection.as_ref() };
        match selection.op {
            None => selection.parker.wake_in_operation(),
            Some(_) => selection.parker.unpark_in_operation(),
        }
    }
}

/// The outcome of a wait at one channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WaitResult {
    /// It still waits.
    None,
    /// The message has been handed over.
    Met,
    /// The other side is gone.
    Closed,
}

/// A node in a channel's list of waiters.
///
/// # Invariants
///
/// 1. Everything but `selection` and `case`, which do not change, is accessed under the lock of the channel, or by the
///    waiter when the node is in no list.
pub(super) struct Node<T> {
    selection: NonNull<Selection>,
    pub(super) case: usize,
    /// The message to send, or the received one.
    message: UnsafeCell<Option<T>>,
    outcome: Cell<WaitResult>,
    is_listed: Cell<bool>,
    before: Cell<Option<NonNull<Node<T>>>>,
    after: Cell<Option<NonNull<Node<T>>>>,
}

impl<T> Node<T> {
    /// Creates a node for one case of a selection, which must outlive it.
    pub(super) fn new(selection: &Selection, case: usize, message: Option<T>) -> Node<T> {
        Node {
            selection: NonNull::from(selection),
            case,
            message: UnsafeCell::new(message),
            outcome: Cell::new(WaitResult::None),
            is_listed: Cell::new(false),
            before: Cell::new(None),
            after: Cell::new(None),
        }
    }

    pub(super) fn selection(&self) -> &Selection {
        // SAFETY: An operation makes its selection before its nodes, and ends both in the reverse order.
        unsafe { self.selection.as_ref() }
    }

    pub(super) fn outcome(&self) -> WaitResult {
        self.outcome.get()
    }

    /// Returns the message that was received, or not sent. Only for the waiter.
    pub(super) fn into_message(self) -> Option<T> {
        self.message.into_inner()
    }

    /// Takes the message to send. Under the lock, after claiming the node.
    pub(super) fn take_message(&self) -> Option<T> {
        // SAFETY: The caller holds the lock of the channel, under which invariant 1 lets it have the message.
        unsafe { (*self.message.get()).take() }
    }

    /// Completes the operation: with this message if it is a receive. Under the lock, after claiming the node.
    pub(super) fn meet(&self, message: Option<T>) -> ClaimedWaiter {
        if message.is_some() {
            // SAFETY: As in `take_message`; and the waiter reads it only after it has been woken, which is after this.
            unsafe { *self.message.get() = message };
        }
        self.outcome.set(WaitResult::Met);
        ClaimedWaiter(self.selection)
    }

    /// Completes the operation with an error, because the other side is gone. Under the lock, after claiming the node.
    pub(super) fn turn_away(&self) -> ClaimedWaiter {
        self.outcome.set(WaitResult::Closed);
        ClaimedWaiter(self.selection)
    }
}

/// Nodes in the order in which they were added. A node must not move until it has been removed.
pub(super) struct WaiterList<T> {
    first: Option<NonNull<Node<T>>>,
    last: Option<NonNull<Node<T>>>,
}

impl<T> WaiterList<T> {
    pub(super) const fn new() -> WaiterList<T> {
        WaiterList {
            first: None,
            last: None,
        }
    }

    /// Returns a node of the list.
    #[inline(always)]
    fn node(&self, link: NonNull<Node<T>>) -> &Node<T> {
        // SAFETY: The links of a list lead only to nodes that are in it. Those exist: each is on the stack, or in the
        // selection, of an operation that does not end before its nodes have been removed.
        unsafe { link.as_ref() }
    }

    /// Adds a node.
    pub(super) fn push(&mut self, node: &Node<T>) {
        let this = NonNull::from(node);
        node.is_listed.set(true);
        node.before.set(self.last);
        node.after.set(None);
        match self.last {
            Some(last) => self.node(last).after.set(Some(this)),
            None => self.first = Some(this),
        }
        self.last = Some(this);
    }

    /// Removes a node. Returns whether it was in the list.
    pub(super) fn remove(&mut self, node: &Node<T>) -> bool {
        if !node.is_listed.replace(false) {
            return false;
        }
        let (before, after) = (node.before.get(), node.after.get());
        match before {
            Some(before) => self.node(before).after.set(after),
            None => self.first = after,
        }
        match after {
            Some(after) => self.node(after).before.set(before),
            None => self.last = before,
        }
        true
    }

    /// Whether the list is not empty.
    pub(super) fn is_any(&self) -> bool {
        self.first.is_some()
    }

    /// Whether the first node is known to be met.
    pub(super) fn is_first_certain(&self) -> bool {
        let first = self.first.map(|first| self.node(first));
        first.is_some_and(|first| first.selection().is_certain)
    }

    /// Removes the first node that still waits, claiming it.
    #[inline]
    pub(super) fn claim_first<'a>(&mut self) -> Option<&'a Node<T>> {
        while let Some(node) = self.first {
            // SAFETY: A node that is in the list exists, as in `node`; and one that has been claimed exists until it is woken,
            // for which its thread or task waits.
            let node = unsafe { node.as_ref() };
            self.remove(node);
            if node.selection().claim(node.case) {
                return Some(node);
            }
        }
        None
    }

    /// Whether there is a node that still waits, other than those of this selection.
    pub(super) fn has_other(&self, but: &Selection) -> bool {
        let mut at = self.first;
        while let Some(node) = at {
            let node = self.node(node);
            at = node.after.get();
            let selection = node.selection();
            if !std::ptr::eq(but, selection) && selection.state.load(Relaxed) == WAITING {
                return true;
            }
        }
        false
    }
}
