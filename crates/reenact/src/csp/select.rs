//! Waiting for the first of several operations.
//!
//! First every case is tried, in random order: so if several are ready again and again, they take turns, even if others
//! select on the same thread in between. If none is ready, all are enlisted, and the activity that meets one claims the
//! whole selection. While enlisting, a selection may find that a case has become ready. It then withdraws all of them
//! and tries again, so that an active selection is never one that others can find: two selections cannot claim each
//! other.

use std::{
    cell::Cell,
    panic::Location,
    time::{Duration, Instant},
};

use reenact_engine::{
    self as engine, End, Ends, Latch, Op, Selected, chose,
    raw::{has_passed, is_unlimited, now},
};

use super::{
    RecvError, SendError,
    channel::{Attempted, Channel, Side, op_of},
    ops,
    waiter::{ClaimedWaiter, Node, Selection, WaitResult},
};

/// When a selection stops waiting.
#[derive(Clone, Copy, Debug)]
pub enum Timeout {
    /// It waits until a case happens.
    Never,
    /// It does not wait.
    Now,
    /// It waits for this long.
    After(Duration),
}

/// One of the operations of a selection.
pub trait Case {
    /// Performs it if it is ready, or known to be impossible for good.
    fn attempt(&mut self, case: usize) -> bool;
    /// Enlists it for others to find, unless it is ready.
    ///
    /// # Safety
    ///
    /// It is not moved before [`Case::withdraw`], and the selection lives until then.
    unsafe fn enlist(&mut self, selection: &WaitingSelection, case: usize) -> bool;
    /// Withdraws it, if it was enlisted. If it is the case that has happened, it takes over the outcome.
    fn withdraw(&mut self, has_happened: bool);
    /// Marks it as the case to perform when its result is asked for: only then is its source location known.
    fn decide(&mut self);
    /// Returns the channel and the end that it operates on.
    fn ends(&self) -> (&Ends, End);
    /// Whether it is ready.
    fn is_possible(&self) -> bool;
}

/// A waiting selection.
pub struct WaitingSelection(Selection);

/// A send or a receive, as a case of a selection.
pub struct ChannelOperation<'a, T> {
    channel: &'a Channel<T>,
    side: Side,
    /// The operation that it is part of.
    op: Op,
    message: Option<T>,
    node: Option<Node<T>>,
    happened: bool,
    /// Whether it is still to be performed.
    is_due: bool,
}

impl<'a, T> ChannelOperation<'a, T> {
    pub(super) fn new(
        channel: &'a Channel<T>,
        side: Side,
        message: Option<T>,
    ) -> ChannelOperation<'a, T> {
        ChannelOperation {
            channel,
            side,
            op: ops::SELECT,
            message,
            node: None,
            happened: false,
            is_due: false,
        }
    }

    /// Makes it an operation by itself.
    pub(super) fn alone(self, op: Op) -> ChannelOperation<'a, T> {
        ChannelOperation { op, ..self }
    }

    /// Performs it if it is ready in time. Returns whether it was.
    #[track_caller]
    pub(super) fn within(&mut self, timeout: Timeout) -> bool {
        let op = self.op;
        select_as(op, &mut [self], timeout).is_some()
    }

    /// Returns what was received, once the case has happened or become impossible.
    #[track_caller]
    pub fn received(mut self) -> Result<T, RecvError> {
        self.operate_if_due();
        self.message.ok_or(RecvError)
    }

    /// Returns whether it was sent.
    #[track_caller]
    pub fn sent(mut self) -> Result<(), SendError<T>> {
        self.operate_if_due();
        match self.message {
            Some(message) if !self.happened => Err(SendError(message)),
            _ => Ok(()),
        }
    }

    /// Returns the message that was to be sent.
    pub(super) fn into_message(self) -> Option<T> {
        self.message
    }

    #[inline]
    #[track_caller]
    fn operate_if_due(&mut self) {
        if self.is_due {
            self.happened = self.channel.operate(self.side, &mut self.message);
        }
    }

    fn is_impossible(&mut self, case: usize) {
        chose(self.op, 0, Selected::answer(Some(case)), None);
        self.channel.declined(self.side);
    }
}

impl<T> Case for ChannelOperation<'_, T> {
    fn attempt(&mut self, case: usize) -> bool {
        let case_of = (self.op, case);
        match self
            .channel
            .attempt_alone(self.side, &mut self.message, case_of)
        {
            Attempted::Done(waiter) => {
                ClaimedWaiter::wake(waiter);
                self.happened = true;
                true
            }
            Attempted::Closed => {
                self.is_impossible(case);
                true
            }
            Attempted::WouldBlock => false,
        }
    }

    unsafe fn enlist(&mut self, selection: &WaitingSelection, case: usize) -> bool {
        let node = Node::new(&selection.0, case, self.message.take());
        let node = self.node.insert(node);
        self.channel.enlist(self.side, node)
    }

    fn withdraw(&mut self, has_happened: bool) {
        let Some(node) = &self.node else {
            return;
        };
        self.channel.delist(self.side, node);
        let (outcome, case) = (node.outcome(), node.case);
        self.message = self.node.take().and_then(Node::into_message);
        if has_happened && outcome == WaitResult::Closed {
            self.is_impossible(case);
        }
        self.happened = has_happened && outcome == WaitResult::Met;
    }

    fn decide(&mut self) {
        self.is_due = true;
    }

    fn ends(&self) -> (&Ends, End) {
        (self.channel.orders(), self.side)
    }

    fn is_possible(&self) -> bool {
        self.channel.is_possible(self.side)
    }
}

/// Performs one of the operations, the first that is ready. Returns none if none was in time.
#[track_caller]
pub fn select(cases: &mut [&mut dyn Case], timeout: Timeout) -> Option<usize> {
    select_as(ops::SELECT, cases, timeout)
}

#[track_caller]
fn select_as(op: Op, cases: &mut [&mut dyn Case], timeout: Timeout) -> Option<usize> {
    let site = Location::caller();
    let selected = Ends::select(
        op,
        || cases.iter().map(|case| case.ends()).collect(),
        match timeout {
            Timeout::Never => engine::Patience::Forever,
            Timeout::After(limit) if is_unlimited(limit) => engine::Patience::Unlimited,
            Timeout::After(_) => engine::Patience::Limited,
            Timeout::Now => engine::Patience::None,
        },
        |case| cases[case].is_possible(),
    );
    match selected {
        Selected::Any => {}
        Selected::Recorded(answer) => {
            return select_as_recorded(cases, timeout, Selected::case(answer));
        }
        Selected::Now(case) => return case.filter(|&case| cases[case].attempt(case)),
    }
    let timeout = match timeout {
        Timeout::After(limit) if is_unlimited(limit) => Timeout::Never,
        timeout => timeout,
    };
    let deadline = match timeout {
        Timeout::After(time) => now().checked_add(time),
        Timeout::Never | Timeout::Now => None,
    };
    let mut is_late = matches!(timeout, Timeout::Now);
    loop {
        for case in Order::of(cases.len()) {
            if cases[case].attempt(case) {
                if let (Timeout::After(_), [_]) = (timeout, &*cases) {
                    // If the time limit had expired before, the operation would not have happened.
                    end_timed(op, cases, &|_| true, site);
                }
                return Some(case);
            }
        }
        if is_late || deadline.is_some_and(has_passed) {
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

/// Performs the recorded case. If there is no such case, waits forever, which the replay reports.
#[cold]
#[track_caller]
fn select_as_recorded(
    cases: &mut [&mut dyn Case],
    timeout: Timeout,
    recorded: Option<usize>,
) -> Option<usize> {
    let count = cases.len();
    match (recorded, timeout) {
        (None, Timeout::Never) => {
            Latch::new().wait(&|| "the time limit of a selection that has none".to_owned());
        }
        (None, _) => {}
        (Some(case), _) => match cases.get_mut(case) {
            Some(case) => case.decide(),
            None => Latch::new().wait(&|| format!("case {case} of a selection that has {count}")),
        },
    }
    recorded
}

/// Ends a timed wait for these cases, under a controller.
fn end_timed(
    op: Op,
    cases: &[&mut dyn Case],
    is_met: &dyn Fn(usize) -> bool,
    site: &'static Location<'static>,
) {
    let op = match cases {
        [only] => op_of(only.ends().1),
        _ => op,
    };
    Ends::end_timed(op, cases.iter().map(|case| case.ends()), is_met, site);
}

/// The result of a wait.
enum Waited {
    Happened(usize),
    /// A case is ready.
    Possible,
    TimeIsUp,
}

/// Cases that others can find.
struct Enlisted<'a, 'b>(&'a mut [&'b mut dyn Case]);

impl Drop for Enlisted<'_, '_> {
    /// Withdraws the cases if the waiter's stack is unwound instead.
    #[cold]
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|case| case.withdraw(false));
    }
}

/// Enlists all cases and waits.
fn wait(
    op: Op,
    cases: &mut [&mut dyn Case],
    deadline: Option<Instant>,
    site: &'static Location<'static>,
) -> Waited {
    let waiting = WaitingSelection(Selection::first_of(op));
    let selection = &waiting.0;
    let enlist = Enlisted(&mut *cases);
    let mut all_wait = true;
    for (number, case) in enlist.0.iter_mut().enumerate() {
        // SAFETY: The cases are borrowed for all of this function, and withdrawn at its end.
        if !unsafe { case.enlist(&waiting, number) } {
            all_wait = false;
            break;
        }
    }
    if deadline.is_some() && all_wait {
        let is_met = |case| selection.chosen() == Some(case);
        end_timed(op, &*enlist.0, &is_met, site);
    }
    let was_woken = all_wait && selection.wait_until(deadline);
    if !was_woken && !selection.give_up() {
        // Another activity has claimed it and is about to wake it.
        selection.wait_until(None);
    }
    std::mem::forget(enlist);
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

/// The cases in random order.
struct Order {
    /// A bit for each case that has not been returned.
    left: u64,
    /// Determines the next case: the binary digits of a fraction below one.
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
