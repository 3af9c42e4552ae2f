//! Waiting for the first of several operations.
//!
//! First every case is tried, from one to the next, beginning with another one each time: so where several are possible
//! again and again, each has its turn. If none is, all are put up, and whoever meets one takes the whole selection with
//! it. While it puts them up, a selection may find that a case has become possible. It then takes all of them back and
//! tries again, so that one that is active is never one that others can find: two selections cannot claim each other.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use reenact_engine::{chose, decided};

use super::{
    RecvError, SendError,
    core::{Attempt, Core, Side},
    ops,
    waiter::{Node, Outcome, Selection, Sleeper},
};

/// How long a selection waits.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// Until something happens.
    Forever,
    /// Not at all.
    None,
    /// For so long.
    For(Duration),
}

/// One of the operations that are selected from.
pub trait Case {
    /// Does it if it is possible at once, or known to be impossible for good.
    fn attempt(&mut self, case: usize) -> bool;
    /// Lets others find it, unless it is possible at once.
    ///
    /// # Safety
    ///
    /// It is not moved before [`Case::withdraw`], and the selection is there until then.
    unsafe fn put_up(&mut self, selection: &Waiting, case: usize) -> bool;
    /// Takes it back, if it was put up. If it is the one that has happened, it knows how.
    fn withdraw(&mut self, has_happened: bool);
    /// Does it, waiting as long as it must.
    fn operate(&mut self);
}

/// A selection that waits.
pub struct Waiting(Selection);

/// Sending or receiving, as one of several operations.
pub struct Operation<'a, T> {
    core: &'a Core<T>,
    side: Side,
    message: Option<T>,
    node: Option<Node<T>>,
    happened: bool,
}

impl<'a, T> Operation<'a, T> {
    pub(super) fn new(core: &'a Core<T>, side: Side, message: Option<T>) -> Operation<'a, T> {
        Operation {
            core,
            side,
            message,
            node: None,
            happened: false,
        }
    }

    /// What was received, once it is known to have happened, or not to be possible any more.
    pub fn received(self) -> Result<T, RecvError> {
        self.message.ok_or(RecvError)
    }

    /// Whether it was sent.
    pub fn sent(self) -> Result<(), SendError<T>> {
        match self.message {
            Some(message) if !self.happened => Err(SendError(message)),
            _ => Ok(()),
        }
    }

    /// What was to be sent.
    pub(super) fn into_message(self) -> Option<T> {
        self.message
    }

    fn is_impossible(&mut self, case: usize) {
        chose(ops::SELECT, 0, case as u64, None);
        self.core.declined(self.side);
    }
}

impl<T> Case for Operation<'_, T> {
    fn attempt(&mut self, case: usize) -> bool {
        match self.core.attempt_alone(self.side, &mut self.message, case) {
            Attempt::Done(sleeper) => {
                Sleeper::wake(sleeper);
                self.happened = true;
                true
            }
            Attempt::Closed => {
                self.is_impossible(case);
                true
            }
            Attempt::NotYet => false,
        }
    }

    unsafe fn put_up(&mut self, selection: &Waiting, case: usize) -> bool {
        let node = Node::new(&selection.0, case, self.message.take());
        let node = self.node.insert(node);
        self.core.enlist(self.side, node)
    }

    fn withdraw(&mut self, has_happened: bool) {
        let Some(node) = &self.node else {
            return;
        };
        self.core.delist(self.side, node);
        let (outcome, case) = (node.outcome(), node.case);
        self.message = self.node.take().and_then(Node::into_message);
        if has_happened && outcome == Outcome::Closed {
            self.is_impossible(case);
        }
        self.happened = has_happened && outcome == Outcome::Met;
    }

    #[track_caller]
    fn operate(&mut self) {
        self.happened = self.core.operate(self.side, &mut self.message);
    }
}

/// Does one of the operations, the first that is possible. None if none was in time.
#[track_caller]
pub fn select(cases: &mut [&mut dyn Case], patience: Patience) -> Option<usize> {
    let none = cases.len();
    if let Some(decision) = decided(ops::SELECT, 0) {
        let case = usize::try_from(decision).unwrap_or(none);
        cases.get_mut(case)?.operate();
        return Some(case);
    }
    let deadline = match patience {
        Patience::For(time) => Instant::now().checked_add(time),
        Patience::Forever | Patience::None => None,
    };
    let start = start(none);
    loop {
        for case in (start..none).chain(0..start) {
            if cases[case].attempt(case) {
                return Some(case);
            }
        }
        let is_late = match patience {
            Patience::None => true,
            _ => deadline.is_some_and(|deadline| Instant::now() >= deadline),
        };
        if is_late {
            chose(ops::SELECT, 0, none as u64, None);
            return None;
        }
        if let Some(case) = wait(cases, deadline) {
            return Some(case);
        }
    }
}

/// Puts all cases up and waits. The case that has happened; none if the time is up, or one is possible without waiting.
fn wait(cases: &mut [&mut dyn Case], deadline: Option<Instant>) -> Option<usize> {
    let waiting = Waiting(Selection::new(false));
    let selection = &waiting.0;
    let mut all_wait = true;
    for (number, case) in cases.iter_mut().enumerate() {
        // SAFETY: The cases are borrowed for all of this function, and withdrawn at its end.
        if !unsafe { case.put_up(&waiting, number) } {
            all_wait = false;
            break;
        }
    }
    let was_told = all_wait && selection.wait_until(deadline);
    if !was_told && !selection.give_up() {
        // Somebody has claimed it and is about to say so.
        selection.wait_until(None);
    }
    let chosen = selection.chosen();
    for (number, case) in cases.iter_mut().enumerate() {
        case.withdraw(chosen == Some(number));
    }
    chosen
}

/// With which of so many cases to begin.
fn start(cases: usize) -> usize {
    thread_local! {
        static NEXT: Cell<usize> = const { Cell::new(0) };
    }
    let next = NEXT.get();
    NEXT.set(next.wrapping_add(1));
    next % cases.max(1)
}
