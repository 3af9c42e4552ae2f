//! An activity of an execution.

use std::{any::Any, collections::VecDeque, panic::Location, sync::Arc};

use reenact_multiverse::explore::Moment;

use super::meeting::outliving;
use crate::{
    Arrival, Op, Spot,
    activity::Controlled,
    explore::{
        event::{About, Event, Touched},
        failure::Panic,
        outside::Outside,
        recorded::Given,
        strand::Strand,
    },
    site::Site,
};

/// What an activity is about to do, or has done last: kept, so that its room is used again.
pub(in crate::explore) struct Pending {
    pub(super) event: Event,
    /// Whether it can happen, where only its model knows.
    pub(super) ready: Option<*const dyn Fn() -> bool>,
    /// How much fits into a queue.
    pub(super) room: usize,
    /// What few operations have; and whether this one has, or its event has more than most.
    pub(super) special: Special,
    is_special: bool,
}

/// What few operations have.
#[derive(Default)]
pub(super) struct Special {
    /// In how many ways it can go.
    pub(super) ways: Option<*const dyn Fn() -> u32>,
    /// Which of the things that it meets those are.
    pub(super) possible: Option<*const dyn Fn(usize) -> bool>,
    /// How much fits into what else it meets, where that are queues.
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
            room: usize::MAX,
            special: Special::default(),
            is_special: false,
        }
    }

    /// It is this, without anything special.
    #[inline]
    pub(super) fn be(
        &mut self,
        op: Op,
        site: &'static Location<'static>,
        touch: Touched,
        ready: Option<&dyn Fn() -> bool>,
        room: usize,
    ) {
        if self.is_special {
            self.be_common();
        }
        self.event.op = op;
        self.event.site = site;
        self.event.behind = None;
        self.event.touch = touch;
        self.ready = ready.map(outliving);
        self.room = room;
    }

    fn be_common(&mut self) {
        self.is_special = false;
        self.event.more = None;
        self.event.about = None;
        let special = &mut self.special;
        special.ways = None;
        special.possible = None;
        special.more_room.clear();
        special.awaits.clear();
        special.with = None;
        special.message = None;
    }

    /// What few operations have: this one does.
    pub(super) fn be_special(&mut self) -> &mut Special {
        self.is_special = true;
        &mut self.special
    }

    /// This is what people want to know of it.
    #[inline]
    pub(super) fn is_about(&mut self, about: Option<Arc<About>>) {
        if about.is_some() {
            self.is_special = true;
            self.event.about = about;
        }
    }

    /// Finds out where in the program it is, for the activity that does it.
    #[cold]
    pub(super) fn find_line(&mut self) {
        self.event.behind = Site::behind(self.event.site);
    }

    /// Each thing that it meets, how, and how much fits into it.
    #[inline]
    pub(super) fn each_touch(&self, mut each: impl FnMut(Touched, usize)) {
        each(self.event.touch, self.room);
        if let Some(more) = &self.event.more {
            for (index, &touch) in more.iter().enumerate() {
                let room = self.special.more_room.get(index);
                each(touch, room.copied().unwrap_or(usize::MAX));
            }
        }
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

    /// It does an operation at the line of what is pending. Whether it is its first one.
    #[inline]
    pub(super) fn counts_first_operation(&mut self) -> bool {
        let site = self.pending.event.site;
        let mut known = self.operations.iter_mut().rev();
        if let Some((_, count)) = known.find(|(at, _)| std::ptr::eq(*at, site)) {
            *count += 1;
            return false;
        }
        self.operations.push((site, 1));
        self.operations.len() == 1
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
        if !self.inbox.is_empty() {
            self.inbox.clear();
        }
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
