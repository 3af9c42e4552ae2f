//! Queues that activities pass messages through, where they are explored: what channels of all kinds have in common.
//!
//! A message is sent in one step and received in another. At a queue without room each send waits for its receive: it is an
//! offer, which the receive accepts; nobody takes a step for that the sender goes on then. Those who do not wait, or not only at
//! one queue, find a receiver there only if it has arrived, which is a step of its own.

use std::{
    panic::Location,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use super::{End, Name, event::How, here, thing::Passed, world::Meeting};
use crate::Op;

/// How long one waits for something to become possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patience {
    /// As long as it takes.
    Forever,
    /// Until its time is up, which it may be at any time.
    Limited,
    /// Not at all.
    None,
}

/// What is known of a queue, but for what is in it.
pub struct Queue {
    name: Name,
    capacity: usize,
    /// How many messages are in it, and how many receivers wait for one.
    waiting: AtomicUsize,
    arrived: AtomicUsize,
    /// How many there are at each end, and how many of these select from several.
    ends: [AtomicUsize; 2],
    selecting: [AtomicUsize; 2],
}

/// One more, or one less: how many there are then. All who count here take turns.
#[inline]
fn add(number: &AtomicUsize, one: isize) -> usize {
    let sum = number.load(Relaxed).wrapping_add_signed(one);
    number.store(sum, Relaxed);
    sum
}

/// Somebody is about to receive if it can, or one of several things.
fn tries_to_receive() {
    if let Some(world) = here() {
        world.tries_to_receive();
    }
}

/// What has become possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Possible {
    /// Which of the cases it is.
    pub case: usize,
    /// The place of the message in the queue. None: there is nobody at the other end any more.
    pub place: Option<usize>,
}

impl Queue {
    /// With room for so many messages, and nobody at its ends.
    pub fn new(capacity: usize) -> Queue {
        Queue {
            name: Name::new(),
            capacity,
            waiting: AtomicUsize::new(0),
            arrived: AtomicUsize::new(0),
            ends: [AtomicUsize::new(0), AtomicUsize::new(0)],
            selecting: [AtomicUsize::new(0), AtomicUsize::new(0)],
        }
    }

    /// Whether anything fits into it.
    pub(super) fn has_room(&self) -> bool {
        self.capacity > 0
    }

    fn is_gone(&self, end: End) -> bool {
        self.ends[end as usize].load(Relaxed) == 0
    }

    /// One more at this end.
    pub fn one_more(&self, end: End) {
        add(&self.ends[end as usize], 1);
    }

    /// One less, which is a step where others can tell. Whether it was the last.
    pub fn one_less(&self, op: Op, end: End, site: &'static Location<'static>) -> bool {
        let how = match end {
            End::Sending => How::StopSending,
            End::Receiving => How::StopReceiving,
        };
        let Some(world) = here() else {
            return add(&self.ends[end as usize], -1) == 0;
        };
        let is_step = world.is_step_to_leave(end);
        if is_step {
            self.meet(op, how, None, site);
        }
        let is_last = add(&self.ends[end as usize], -1) == 0;
        match is_step {
            true => self.passed(Passed::Stopped(end, is_last)),
            false => world.leaves_silently(&self.name.0, is_last, site),
        }
        is_last
    }

    /// All receivers have gone: what becomes true meanwhile is so because of all of them.
    pub(super) fn because_gone(&self, establish: impl FnOnce()) {
        if let Some(world) = here() {
            world.because_gone(&self.name.0, End::Receiving, establish);
        }
    }

    fn meet(
        &self,
        op: Op,
        how: How,
        possible: Option<&dyn Fn() -> bool>,
        site: &'static Location<'static>,
    ) {
        if let Some(world) = here() {
            world.meets_at_queue(op, how, &self.name.0, possible, self.room(how), site);
        }
    }

    /// How much of what is sent this way has to fit in.
    fn room(&self, how: How) -> usize {
        match how {
            How::Send if self.capacity == 0 => usize::MAX,
            _ => self.capacity,
        }
    }

    #[inline]
    fn passed(&self, what: Passed) {
        if let Some(world) = here() {
            world.passed(&self.name.0, what);
        }
    }

    /// Where the message of one that operates here would be, if that is possible now. `has_come`: it is one of those that wait.
    #[inline]
    fn possible(&self, end: End, waits_alone: bool, has_come: bool) -> Option<Option<usize>> {
        let (waiting, arrived) = (self.waiting.load(Relaxed), self.arrived.load(Relaxed));
        match end {
            End::Sending if self.is_gone(End::Receiving) => Some(None),
            End::Sending => {
                let fits = match self.capacity {
                    0 => waits_alone || arrived > waiting,
                    capacity => waiting < capacity,
                };
                fits.then_some(Some(waiting))
            }
            End::Receiving => {
                // Those who have arrived have met the first of those who send.
                let place = if has_come { 0 } else { arrived };
                if place < waiting {
                    Some(Some(place))
                } else {
                    (self.is_gone(End::Sending) && waiting == 0).then_some(None)
                }
            }
        }
    }

    /// Sends or receives, as the message or the room for one is the caller's business; none if it is not possible in time.
    pub fn operate(
        &self,
        op: Op,
        end: End,
        patience: Patience,
        site: &'static Location<'static>,
    ) -> Option<Possible> {
        let waits_alone = patience == Patience::Forever;
        let comes = self.capacity == 0 && end == End::Receiving && patience != Patience::None;
        if comes {
            self.meet(op, How::Arrive, None, site);
            add(&self.arrived, 1);
            self.passed(Passed::Arrived(true));
        }
        if !waits_alone {
            self.meets_no_selection(end);
        }
        if !waits_alone && end == End::Receiving {
            tries_to_receive();
        }
        let possible = || self.possible(end, waits_alone, comes).is_some();
        let how = match (end, waits_alone) {
            (End::Sending, true) => How::Send,
            (End::Sending, false) => How::TrySend,
            (End::Receiving, true) => How::Receive,
            (End::Receiving, false) => How::TryReceive,
        };
        self.meet(op, how, waits_alone.then_some(&possible), site);
        let place = self.possible(end, waits_alone, comes);
        self.happens(end, place.flatten());
        if comes {
            add(&self.arrived, -1);
            self.passed(Passed::Arrived(false));
        }
        place.map(|place| Possible { case: 0, place })
    }

    /// Does one of several of these; none if none is possible in time.
    pub fn select(
        op: Op,
        cases: &[(&Queue, End)],
        patience: Patience,
        site: &'static Location<'static>,
    ) -> Option<Possible> {
        if let [(queue, end)] = *cases {
            return queue.operate(op, end, patience, site);
        }
        let world = here()?;
        let Some((first, rest)) = cases.split_first() else {
            // Nothing will ever be possible.
            world.block(&|| patience != Patience::Forever);
            return None;
        };
        let how = |end| match end {
            End::Sending => How::TrySend,
            End::Receiving => How::TryReceive,
        };
        for &(queue, end) in cases {
            queue.meets_no_selection(end);
            if patience != Patience::None && queue.capacity == 0 {
                add(&queue.selecting[end as usize], 1);
            }
        }
        if cases.iter().any(|&(_, end)| end == End::Receiving) {
            tries_to_receive();
        }
        let all = || {
            let cases = cases.iter().enumerate();
            cases.filter_map(|(case, (queue, end))| {
                let place = queue.possible(*end, false, false)?;
                Some(Possible { case, place })
            })
        };
        let possible = || all().next().is_some();
        let count = || all().count() as u32;
        let more: Vec<_> = rest
            .iter()
            .map(|&(queue, end)| (how(end), &queue.name.0, queue.capacity))
            .collect();
        let (queue, end) = *first;
        let answer = world.meets(&Meeting {
            op,
            how: how(end),
            thing: &queue.name.0,
            possible: (patience == Patience::Forever).then_some(&possible),
            room: queue.capacity,
            more: &more,
            awaits: &[],
            answers: 1,
            count: Some(&count),
            site,
        });
        for &(queue, end) in cases {
            if patience != Patience::None && queue.capacity == 0 {
                add(&queue.selecting[end as usize], -1);
            }
        }
        let chosen = all().nth(answer as usize)?;
        let (queue, end) = cases[chosen.case];
        queue.happens(end, chosen.place);
        Some(chosen)
    }

    /// Somebody who does not wait here alone can meet those who select from several only if both are one step, which is not
    /// supported.
    fn meets_no_selection(&self, end: End) {
        let other = match end {
            End::Sending => End::Receiving,
            End::Receiving => End::Sending,
        };
        assert!(
            self.capacity > 0 || self.selecting[other as usize].load(Relaxed) == 0,
            "exploration does not support this: at a channel without room, a selection, or one who does not wait, may meet a selection"
        );
    }

    #[inline]
    fn happens(&self, end: End, place: Option<usize>) {
        match (end, place) {
            (_, None) => {}
            (End::Sending, Some(_)) => {
                add(&self.waiting, 1);
                self.passed(Passed::Sent);
            }
            (End::Receiving, Some(place)) => {
                add(&self.waiting, -1);
                self.passed(Passed::Received(place));
            }
        }
    }
}
