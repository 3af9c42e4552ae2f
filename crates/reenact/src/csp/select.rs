//! Waiting for the first of several operations.
//!
//! First every case is tried, in an order of chance: so where several are possible again and again, each has its turn,
//! whoever else selects on the same thread in between. If none is, all are put up, and whoever meets one takes the whole selection with
//! it. While it puts them up, a selection may find that a case has become possible. It then takes all of them back and
//! tries again, so that one that is active is never one that others can find: two selections cannot claim each other.

use std::{
    cell::Cell,
    panic::Location,
    time::{Duration, Instant},
};

use reenact_engine::{self as engine, End, Ends, Fact, Op, Selected, chose, raw::now};

use super::{
    RecvError, SendError,
    core::{Attempt, Core, Side, op_of},
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
    /// It is the one that happens, when its result is asked for: only there is it known which line of the program it is.
    fn decide(&mut self);
    /// Which end of which channel it is about.
    fn ends(&self) -> (&Ends, End);
    /// Whether it would happen at once.
    fn is_possible(&self) -> bool;
    /// Ends the wait for it alone, for a limited time. False where the clock says when that is.
    fn is_timed_out(&self, site: &'static Location<'static>) -> bool;
}

/// A selection that waits.
pub struct Waiting(Selection);

/// Sending or receiving, as one of several operations.
pub struct Operation<'a, T> {
    core: &'a Core<T>,
    side: Side,
    /// What it is part of.
    op: Op,
    message: Option<T>,
    node: Option<Node<T>>,
    happened: bool,
    /// Whether it is still to be done.
    is_due: bool,
}

impl<'a, T> Operation<'a, T> {
    pub(super) fn new(core: &'a Core<T>, side: Side, message: Option<T>) -> Operation<'a, T> {
        Operation {
            core,
            side,
            op: ops::SELECT,
            message,
            node: None,
            happened: false,
            is_due: false,
        }
    }

    /// The same, as an operation by itself.
    pub(super) fn alone(self, op: Op) -> Operation<'a, T> {
        Operation { op, ..self }
    }

    /// Does it if it is possible in time. Whether it was.
    #[track_caller]
    pub(super) fn within(&mut self, patience: Patience) -> bool {
        let op = self.op;
        select_as(op, &mut [self], patience).is_some()
    }

    /// What was received, once it is known to have happened, or not to be possible any more.
    #[track_caller]
    pub fn received(mut self) -> Result<T, RecvError> {
        self.operate_if_due();
        self.message.ok_or(RecvError)
    }

    /// Whether it was sent.
    #[track_caller]
    pub fn sent(mut self) -> Result<(), SendError<T>> {
        self.operate_if_due();
        match self.message {
            Some(message) if !self.happened => Err(SendError(message)),
            _ => Ok(()),
        }
    }

    /// What was to be sent.
    pub(super) fn into_message(self) -> Option<T> {
        self.message
    }

    #[inline]
    #[track_caller]
    fn operate_if_due(&mut self) {
        if self.is_due {
            self.happened = self.core.operate(self.side, &mut self.message);
        }
    }

    fn is_impossible(&mut self, case: usize) {
        chose(self.op, 0, Selected::answer(Some(case)), None);
        self.core.declined(self.side);
    }
}

impl<T> Case for Operation<'_, T> {
    fn attempt(&mut self, case: usize) -> bool {
        let case_of = (self.op, case);
        match self
            .core
            .attempt_alone(self.side, &mut self.message, case_of)
        {
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

    fn decide(&mut self) {
        self.is_due = true;
    }

    fn ends(&self) -> (&Ends, End) {
        (self.core.orders(), self.side)
    }

    fn is_possible(&self) -> bool {
        self.core.is_possible(self.side)
    }

    fn is_timed_out(&self, site: &'static Location<'static>) -> bool {
        let orders = self.core.orders();
        orders.is_timed_out(self.side, op_of(self.side), site)
    }
}

/// Does one of the operations, the first that is possible. None if none was in time.
#[track_caller]
pub fn select(cases: &mut [&mut dyn Case], patience: Patience) -> Option<usize> {
    select_as(ops::SELECT, cases, patience)
}

#[track_caller]
fn select_as(op: Op, cases: &mut [&mut dyn Case], patience: Patience) -> Option<usize> {
    let site = Location::caller();
    let selected = Ends::select(
        op,
        || cases.iter().map(|case| case.ends()).collect(),
        match patience {
            Patience::Forever => engine::Patience::Forever,
            Patience::For(_) => engine::Patience::Limited,
            Patience::None => engine::Patience::None,
        },
        |case| cases[case].is_possible(),
    );
    match selected {
        Selected::Any => {}
        Selected::Recorded(answer) => {
            return select_as_recorded(cases, patience, Selected::case(answer));
        }
        Selected::Now(case) => return case.filter(|&case| cases[case].attempt(case)),
    }
    let deadline = match patience {
        Patience::For(time) => now().checked_add(time),
        Patience::Forever | Patience::None => None,
    };
    let mut is_late = matches!(patience, Patience::None);
    loop {
        for case in Order::of(cases.len()) {
            if cases[case].attempt(case) {
                if let (Patience::For(_), [only]) = (patience, &*cases) {
                    // Had its time been up before, it would not have.
                    only.is_timed_out(site);
                }
                return Some(case);
            }
        }
        if is_late || deadline.is_some_and(|deadline| now() >= deadline) {
            chose(op, 0, Selected::answer(None), None);
            return None;
        }
        match wait(op, cases, deadline, site) {
            Waited::Happened(case) => return Some(case),
            Waited::TimeIsUp => is_late = true,
            Waited::Possible => {}
        }
    }
}

/// Has that done which the recorded one did. If this one has no such case, that never happens, and who looks at the replay is told so.
#[cold]
#[track_caller]
fn select_as_recorded(
    cases: &mut [&mut dyn Case],
    patience: Patience,
    recorded: Option<usize>,
) -> Option<usize> {
    let count = cases.len();
    match (recorded, patience) {
        (None, Patience::Forever) => {
            Fact::new().wait(&|| "the time limit of a selection that has none".to_owned());
        }
        (None, _) => {}
        (Some(case), _) => match cases.get_mut(case) {
            Some(case) => case.decide(),
            None => Fact::new().wait(&|| format!("case {case} of a selection that has {count}")),
        },
    }
    recorded
}

/// How a wait has ended.
enum Waited {
    Happened(usize),
    /// A case is possible without waiting.
    Possible,
    TimeIsUp,
}

/// Cases that others can find.
struct PutUp<'a, 'b>(&'a mut [&'b mut dyn Case]);

impl Drop for PutUp<'_, '_> {
    /// Who waits may be made to leave its stack instead.
    #[cold]
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|case| case.withdraw(false));
    }
}

/// Puts all cases up and waits.
fn wait(
    op: Op,
    cases: &mut [&mut dyn Case],
    deadline: Option<Instant>,
    site: &'static Location<'static>,
) -> Waited {
    let waiting = Waiting(Selection::first_of(op));
    let selection = &waiting.0;
    let put_up = PutUp(&mut *cases);
    let mut all_wait = true;
    for (number, case) in put_up.0.iter_mut().enumerate() {
        // SAFETY: The cases are borrowed for all of this function, and withdrawn at its end.
        if !unsafe { case.put_up(&waiting, number) } {
            all_wait = false;
            break;
        }
    }
    if let ([only], Some(_)) = (&*put_up.0, deadline)
        && all_wait
    {
        only.is_timed_out(site);
    }
    let was_told = all_wait && selection.wait_until(deadline);
    if !was_told && !selection.give_up() {
        // Somebody has claimed it and is about to say so.
        selection.wait_until(None);
    }
    std::mem::forget(put_up);
    let chosen = selection.chosen();
    for (number, case) in cases.iter_mut().enumerate() {
        case.withdraw(chosen == Some(number));
    }
    match chosen {
        Some(case) => Waited::Happened(case),
        None if all_wait => Waited::TimeIsUp,
        None => Waited::Possible,
    }
}

/// So many cases, in an order of chance.
struct Order {
    /// A bit for each that has not been yet.
    left: u64,
    /// What decides which is next: the digits after the point of a number below one.
    chance: u32,
}

impl Order {
    fn of(cases: usize) -> Order {
        thread_local! {
            static CHANCE: Cell<u32> = const { Cell::new(0x9e37_79b9) };
        }
        // Xorshift.
        let mut chance = CHANCE.get();
        chance ^= chance << 13;
        chance ^= chance >> 17;
        chance ^= chance << 5;
        CHANCE.set(chance);
        let left = match cases {
            0 => 0,
            _ => u64::MAX >> (64 - cases),
        };
        Order { left, chance }
    }
}

impl Iterator for Order {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let product = u64::from(self.left.count_ones()) * u64::from(self.chance);
        self.chance = product as u32;
        let mut from_there = self.left;
        for _ in 0..product >> 32 {
            from_there &= from_there - 1;
        }
        let case = from_there.trailing_zeros();
        self.left &= !1u64.checked_shl(case)?;
        Some(case as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn an_order_has_every_case_once() {
        for cases in 0..=64 {
            let mut order: Vec<_> = Order::of(cases).collect();
            order.sort_unstable();
            assert!(order.into_iter().eq(0..cases));
        }
    }

    #[test]
    fn every_order_of_few_comes_about_as_often() {
        let mut counts = HashMap::new();
        for _ in 0..24_000 {
            let order: Vec<_> = Order::of(4).collect();
            *counts.entry(order).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        assert!(counts.values().all(|count| (800..1200).contains(count)));
    }
}
