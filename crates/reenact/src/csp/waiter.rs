//! Who waits at a channel, or at several.
//!
//! All of it is on the stack of who waits, linked into the lists of the channels, and taken out of them before that
//! stack is left. Nothing is allocated to wait.

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
/// | `WAITING` | nothing has happened yet | who waits |
/// | `GIVEN_UP` | nothing will | who waits: its time is up, or it has seen that it need not wait |
/// | `CHOSEN` + n | case n has happened, or cannot any more | who met it, or closed the channel |
///
/// That of a wait for a single operation stays at `WAITING`: whoever takes it out of the list has it.
pub(super) struct Selection {
    state: AtomicU32,
    /// The selection that this is; none for a wait for a single operation.
    op: Option<Op>,
    /// Whether it is known to be met.
    is_certain: bool,
    parker: Parker,
    party: Party,
}

const WAITING: u32 = 0;
const GIVEN_UP: u32 = 1;
const CHOSEN: u32 = 2;

impl Selection {
    /// For a single operation.
    #[inline]
    pub(super) fn single(is_certain: bool) -> Selection {
        Selection::new(None, is_certain)
    }

    /// For the first of several.
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

    /// Makes it this case that has happened; false if another one has.
    #[inline]
    fn claim(&self, case: usize) -> bool {
        self.op.is_none() || self.leave_waiting(CHOSEN + case as u32)
    }

    /// Makes nothing happen any more; false if something has.
    pub(super) fn give_up(&self) -> bool {
        self.leave_waiting(GIVEN_UP)
    }

    fn leave_waiting(&self, to: u32) -> bool {
        // Both: who comes second sees what who came first did.
        self.state
            .compare_exchange(WAITING, to, AcqRel, Acquire)
            .is_ok()
    }

    /// The case that has happened.
    pub(super) fn chosen(&self) -> Option<usize> {
        let state = self.state.load(Acquire);
        state.checked_sub(CHOSEN).map(|case| case as usize)
    }

    /// For who has claimed it: says what that means for who waits, who is returned. Under the lock of the channel.
    #[inline]
    pub(super) fn note_chosen(&self, case: usize) -> &Party {
        if let Some(op) = self.op {
            let answer = Selected::answer(Some(case));
            chose(op, 0, answer, Some(&self.party));
        }
        &self.party
    }

    /// Waits for a single operation. `publish` lets go of the lock that keeps others from finding it.
    #[inline]
    pub(super) fn wait(&self, publish: impl FnMut(), what: &(dyn Fn() -> String + Sync)) {
        self.parker.wait_in_operation(publish, what);
    }

    /// Waits for one of several, which others can find already. False if the time is up; but one may have happened since.
    pub(super) fn wait_until(&self, deadline: Option<Instant>) -> bool {
        self.parker.spin(SPINS) || self.parker.park_in_operation(deadline)
    }
}

/// How often to look before sleeping: what is selected from is often busy.
const SPINS: u32 = 50;

/// One who waits and has been claimed, to be woken. It is there until then, and perhaps not after.
pub(super) struct Sleeper(NonNull<Selection>);

impl Sleeper {
    /// Lets it go on; called without the lock.
    #[inline]
    pub(super) fn wake(sleeper: Option<Sleeper>) {
        let Some(Sleeper(selection)) = sleeper else {
            return;
        };
        // SAFETY: It waits until it is woken, which happens here, once.
        let selection = unsafe { selection.as_ref() };
        match selection.op {
            None => selection.parker.wake_in_operation(),
            Some(_) => selection.parker.unpark_in_operation(),
        }
    }
}

/// How a wait at one channel has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Not yet.
    None,
    /// The message has been handed over.
    Met,
    /// The other side is gone.
    Closed,
}

/// A place in the list of those who wait at a channel.
///
/// # Invariants
///
/// 1. Everything but `selection` and `case`, which do not change, is touched under the lock of the channel, or by who waits
///    when it is in no list.
pub(super) struct Node<T> {
    selection: NonNull<Selection>,
    pub(super) case: usize,
    /// What is to be sent, or was received.
    message: UnsafeCell<Option<T>>,
    outcome: Cell<Outcome>,
    is_listed: Cell<bool>,
    before: Cell<Option<NonNull<Node<T>>>>,
    after: Cell<Option<NonNull<Node<T>>>>,
}

impl<T> Node<T> {
    /// For one case of a selection, which outlives it.
    pub(super) fn new(selection: &Selection, case: usize, message: Option<T>) -> Node<T> {
        Node {
            selection: NonNull::from(selection),
            case,
            message: UnsafeCell::new(message),
            outcome: Cell::new(Outcome::None),
            is_listed: Cell::new(false),
            before: Cell::new(None),
            after: Cell::new(None),
        }
    }

    pub(super) fn selection(&self) -> &Selection {
        // SAFETY: It outlives the node.
        unsafe { self.selection.as_ref() }
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.outcome.get()
    }

    /// What was received, or not sent. For who waited.
    pub(super) fn into_message(self) -> Option<T> {
        self.message.into_inner()
    }

    /// What is to be sent. Under the lock, for who has claimed it.
    pub(super) fn take_message(&self) -> Option<T> {
        // SAFETY: Invariant 1.
        unsafe { (*self.message.get()).take() }
    }

    /// It has happened: with this message if it is to receive one. Under the lock, for who has claimed it.
    pub(super) fn meet(&self, message: Option<T>) -> Sleeper {
        if message.is_some() {
            // SAFETY: Invariant 1.
            unsafe { *self.message.get() = message };
        }
        self.outcome.set(Outcome::Met);
        Sleeper(self.selection)
    }

    /// It cannot happen any more. Under the lock, for who has claimed it.
    pub(super) fn turn_away(&self) -> Sleeper {
        self.outcome.set(Outcome::Closed);
        Sleeper(self.selection)
    }
}

/// Nodes in the order in which they came. Nodes stay where they are until they have been taken out.
pub(super) struct List<T> {
    first: Option<NonNull<Node<T>>>,
    last: Option<NonNull<Node<T>>>,
}

impl<T> List<T> {
    pub(super) const fn new() -> List<T> {
        List {
            first: None,
            last: None,
        }
    }

    /// Adds a node.
    pub(super) fn push(&mut self, node: &Node<T>) {
        let this = NonNull::from(node);
        node.is_listed.set(true);
        node.before.set(self.last);
        node.after.set(None);
        match self.last {
            // SAFETY: Nodes in the list are there.
            Some(last) => unsafe { last.as_ref() }.after.set(Some(this)),
            None => self.first = Some(this),
        }
        self.last = Some(this);
    }

    /// Takes a node out, if it is in.
    pub(super) fn remove(&mut self, node: &Node<T>) -> bool {
        if !node.is_listed.replace(false) {
            return false;
        }
        let (before, after) = (node.before.get(), node.after.get());
        match before {
            // SAFETY: As in `push`.
            Some(before) => unsafe { before.as_ref() }.after.set(after),
            None => self.first = after,
        }
        match after {
            // SAFETY: As in `push`.
            Some(after) => unsafe { after.as_ref() }.before.set(before),
            None => self.last = before,
        }
        true
    }

    /// Whether there is any.
    pub(super) fn is_any(&self) -> bool {
        self.first.is_some()
    }

    /// Whether the first one is known to be met.
    pub(super) fn is_first_certain(&self) -> bool {
        // SAFETY: As in `push`.
        let first = self.first.map(|first| unsafe { first.as_ref() });
        first.is_some_and(|first| first.selection().is_certain)
    }

    /// Takes out the first that still waits, claiming it.
    #[inline]
    pub(super) fn claim_first<'a>(&mut self) -> Option<&'a Node<T>> {
        while let Some(node) = self.first {
            // SAFETY: As in `push`. One that is claimed is there until it is woken, by the caller.
            let node = unsafe { node.as_ref() };
            self.remove(node);
            if node.selection().claim(node.case) {
                return Some(node);
            }
        }
        None
    }

    /// Whether there is one that still waits, other than those of this selection.
    pub(super) fn has_other(&self, but: &Selection) -> bool {
        let mut at = self.first;
        while let Some(node) = at {
            // SAFETY: As in `push`.
            let node = unsafe { node.as_ref() };
            at = node.after.get();
            let selection = node.selection();
            if !std::ptr::eq(but, selection) && selection.state.load(Relaxed) == WAITING {
                return true;
            }
        }
        false
    }
}
