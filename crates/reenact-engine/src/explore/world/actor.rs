//! An activity of an execution.

use std::{any::Any, collections::VecDeque, panic::Location, sync::Arc};

use reenact_multiverse::explore::Moment;

use crate::{
    Access, Arrival, Op, Spot,
    activity::Controlled,
    explore::{
        event::{About, Event, Touched},
        failure::Panic,
        outside::Outside,
        recorded::Given,
        strand::Strand,
    },
};

/// What an activity is about to do, or has done last: kept, so that its room is used again.
pub(in crate::explore) struct Pending {
    pub(super) event: Event,
    /// Whether it can happen, where only its model knows.
    pub(super) ready: Option<*const dyn Fn() -> bool>,
    /// In how many ways it can go.
    pub(super) ways: Option<*const dyn Fn() -> u32>,
    /// Which of the things that it meets those are.
    pub(super) possible: Option<*const dyn Fn(usize) -> bool>,
    /// How much fits into a queue.
    pub(super) room: usize,
    /// The same for what else it meets.
    pub(super) more_room: Vec<usize>,
    /// What it waits for to change.
    pub(super) awaits: Vec<u32>,
    /// The other party.
    pub(super) with: Option<u32>,
    /// The message that it sends, if that is known by more than its sender.
    pub(super) message: Option<Arrival>,
}

impl Pending {
    fn nothing() -> Pending {
        Pending {
            event: Event::nothing(),
            ready: None,
            ways: None,
            possible: None,
            room: usize::MAX,
            more_room: Vec::new(),
            awaits: Vec::new(),
            with: None,
            message: None,
        }
    }

    /// It is this, without anything special.
    #[inline]
    pub(super) fn be(
        &mut self,
        op: Op,
        site: &'static Location<'static>,
        access: Access,
        thing: u32,
    ) {
        let event = &mut self.event;
        event.op = op;
        event.site = site;
        event.touch = Touched { access, thing };
        event.more = None;
        event.about = None;
        self.ready = None;
        self.ways = None;
        self.possible = None;
        self.room = usize::MAX;
        self.more_room.clear();
        self.awaits.clear();
        self.with = None;
        self.message = None;
    }

    /// Each thing that it meets, how, and how much fits into it.
    pub(super) fn touches(&self) -> impl Iterator<Item = (Touched, usize)> {
        let more = self
            .more_room
            .iter()
            .copied()
            .chain(std::iter::repeat(usize::MAX));
        let rooms = std::iter::once(self.room).chain(more);
        self.event.touches().zip(rooms)
    }
}

/// What one waits for who is parked.
#[derive(Clone, Copy)]
pub(super) enum Awaited {
    /// The end of this activity.
    EndOf(u32),
    /// What its last operation waits for.
    Operation,
    /// What this says.
    Described(*const dyn Fn() -> String),
}

/// What an activity waits for, or does.
pub(super) enum Phase {
    /// It has not come into being.
    Unborn,
    /// It runs, or will without being chosen.
    Runs,
    /// It is about to do something.
    Pending,
    /// It waits at a spot until it is let go on, which is no step.
    Parked(Spot<'static>, Awaited),
    /// It waits for something that others do outside of any operation.
    Blocked(*const dyn Fn() -> bool),
    Ended,
}

pub(super) struct Actor {
    pub(super) phase: Phase,
    pub(super) pending: Pending,
    pub(super) strand: Option<Strand>,
    pub(super) name: String,
    /// How many children it has had.
    pub(super) children: [u32; 3],
    /// How many operations it has done at each line of the program. What it does elsewhere does not change by what an object is
    /// known that it meets there.
    pub(super) operations: Vec<(&'static Location<'static>, u32)>,
    /// The step that its next one comes after for other reasons than its own steps.
    pub(super) inherited: Vec<Moment>,
    pub(super) is_notified: bool,
    /// Its last panic, and whether that ended it without anybody having been told.
    pub(super) panic: Option<Panic>,
    pub(super) is_missed: bool,
    /// Whether it is one that runs only when it has something to do.
    pub(super) is_light: bool,
    pub(super) outside: Outside,
    /// What it has been told of a recorded run.
    pub(super) given: Given,
    /// What its model keeps with it.
    pub(super) kept: Option<Box<dyn Any>>,
    /// What was sent to it and not handled, where somebody wants to know; and what it handles now.
    pub(super) inbox: VecDeque<Arc<About>>,
    pub(super) turn: Option<Arc<About>>,
    /// What could be seen of it when it was in no turn.
    pub(super) shown: Option<String>,
    /// What it is known by where it runs. Used again in the next execution.
    pub(super) controlled: Option<Box<Controlled>>,
}

impl Actor {
    /// What it is about to do, if it is about to do anything.
    #[inline]
    pub(super) fn pending(&self) -> Option<&Pending> {
        match self.phase {
            Phase::Pending => Some(&self.pending),
            _ => None,
        }
    }

    /// It does an operation at the line of what is pending.
    #[inline]
    pub(super) fn count_operation(&mut self) {
        let site = self.pending.event.site;
        let mut known = self.operations.iter_mut().rev();
        match known.find(|(at, _)| std::ptr::eq(*at, site)) {
            Some((_, count)) => *count += 1,
            None => self.operations.push((site, 1)),
        }
    }

    /// How many operations it has done at this line.
    pub(super) fn operations_at(&self, site: &'static Location<'static>) -> u32 {
        let mut known = self.operations.iter().rev();
        let known = known.find(|(at, _)| std::ptr::eq(*at, site));
        known.map_or(0, |&(_, count)| count)
    }

    /// As if it had never been.
    pub(super) fn clear(&mut self) {
        debug_assert!(self.strand.is_none());
        self.phase = Phase::Unborn;
        self.name.clear();
        self.inherited.clear();
        self.children = [0; 3];
        self.operations.clear();
        self.is_notified = false;
        self.panic = None;
        self.is_missed = false;
        self.is_light = false;
        self.outside = Outside::default();
        self.given.clear();
        self.kept = None;
        self.inbox.clear();
        self.turn = None;
        self.shown = None;
    }

    pub(super) fn unborn() -> Actor {
        Actor {
            phase: Phase::Unborn,
            pending: Pending::nothing(),
            strand: None,
            name: String::new(),
            children: [0; 3],
            operations: Vec::new(),
            inherited: Vec::new(),
            is_notified: false,
            panic: None,
            is_missed: false,
            is_light: false,
            outside: Outside::default(),
            given: Given::default(),
            kept: None,
            inbox: VecDeque::new(),
            turn: None,
            shown: None,
            controlled: None,
        }
    }
}
