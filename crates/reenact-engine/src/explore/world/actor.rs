//! An activity of an execution.

use std::{any::Any, panic::Location};

use reenact_multiverse::explore::Moment;

use crate::{
    Access, Arrival, Op, Spot,
    activity::Controlled,
    explore::{
        event::{Event, Touched},
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
    /// Access much fits into a queue.
    pub(super) room: usize,
    /// The same for what else it meets.
    pub(super) more_room: Vec<usize>,
    /// What it waits for to change.
    pub(super) awaits: Vec<u32>,
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
        self.ready = None;
        self.ways = None;
        self.possible = None;
        self.room = usize::MAX;
        self.more_room.clear();
        self.awaits.clear();
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
    /// Access many children it has had, and how many operations.
    pub(super) children: [u32; 3],
    pub(super) operations: u32,
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

    /// As if it had never been.
    pub(super) fn clear(&mut self) {
        debug_assert!(self.strand.is_none());
        self.phase = Phase::Unborn;
        self.name.clear();
        self.inherited.clear();
        self.children = [0; 3];
        self.operations = 0;
        self.is_notified = false;
        self.panic = None;
        self.is_missed = false;
        self.is_light = false;
        self.outside = Outside::default();
        self.given.clear();
        self.kept = None;
    }

    pub(super) fn unborn() -> Actor {
        Actor {
            phase: Phase::Unborn,
            pending: Pending::nothing(),
            strand: None,
            name: String::new(),
            children: [0; 3],
            operations: 0,
            inherited: Vec::new(),
            is_notified: false,
            panic: None,
            is_missed: false,
            is_light: false,
            outside: Outside::default(),
            given: Given::default(),
            kept: None,
            controlled: None,
        }
    }
}
