//! An activity of an execution.

use std::{any::Any, collections::VecDeque, panic::Location, sync::Arc};

use reenact_explore::Moment;

use super::{
    fairness::{Repetition, SUSPICIOUS},
    meeting::outliving,
};
use crate::{
    Access, Arrival, Op, Spot,
    activity::Controlled,
    explore::{
        event::{About, Event, Touched},
        failure::Panic,
        outside::Outside,
        recorded::Given,
        task_stack::TaskStack,
    },
    site::Site,
};

/// The pending operation of an activity, or its last one. Kept to reuse its memory.
pub(in crate::explore) struct Pending {
    pub(super) event: Event,
    /// Whether the operation can happen, if only its model knows.
    pub(super) ready: Option<*const dyn Fn() -> bool>,
    /// The capacity of the queue that it accesses.
    pub(super) room: usize,
    /// Data that few operations have; and whether this operation has any, or its event has more than the common fields.
    pub(super) special: Special,
    is_special: bool,
}

/// Data that few operations have.
#[derive(Default)]
pub(super) struct Special {
    /// Returns whether a write would change the value.
    pub(super) changes: Option<*const dyn Fn() -> bool>,
    /// Returns the number of ways in which the operation can go.
    pub(super) ways: Option<*const dyn Fn() -> u32>,
    /// Returns whether the operation on one of the accessed objects is possible, by index.
    pub(super) possible: Option<*const dyn Fn(usize) -> bool>,
    /// The capacities of the further objects that it accesses, if they are queues.
    pub(super) more_room: Vec<usize>,
    /// The objects for whose change it waits.
    pub(super) awaits: Vec<u32>,
    /// The other activity.
    pub(super) with: Option<u32>,
    /// The message that it sends, if it is identified by more than its sender.
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

    /// Sets the operation, without any special data.
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
        special.changes = None;
        special.ways = None;
        special.possible = None;
        special.more_room.clear();
        special.awaits.clear();
        special.with = None;
        special.message = None;
    }

    /// Marks the operation as having special data, and returns that data.
    pub(super) fn be_special(&mut self) -> &mut Special {
        self.is_special = true;
        &mut self.special
    }

    /// Makes a write that would not change the value a read, and the other way round.
    pub(super) fn settle_access(&mut self) {
        if let Some(changes) = self.special.changes {
            // SAFETY: The waiting activity has the closure on its stack.
            self.event.touch.access = match unsafe { (*changes)() } {
                true => Access::Write,
                false => Access::Read,
            };
        }
    }

    /// Sets the description of the message.
    #[inline]
    pub(super) fn is_about(&mut self, about: Option<Arc<About>>) {
        if about.is_some() {
            self.is_special = true;
            self.event.about = about;
        }
    }

    /// Finds the location in the user's program. Called by the activity that announces the operation.
    #[cold]
    pub(super) fn find_line(&mut self) {
        self.event.behind = Site::behind(self.event.site);
    }

    /// Returns whether the operation may have to wait for other activities.
    pub(super) fn may_wait(&self) -> bool {
        self.ready.is_some()
            || matches!(
                self.event.touch.access,
                Access::Take | Access::Look | Access::Wait | Access::Wake { .. }
            )
    }

    /// Calls `each` for each access of the operation, with the capacity of the object.
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

/// What a parked activity waits for.
#[derive(Clone, Copy)]
pub(super) enum Awaited {
    /// The end of this activity.
    EndOf(u32),
    /// What its last operation waits for.
    Operation,
    /// What this description says.
    Described(*const dyn Fn() -> String),
}

/// The phase of an activity.
#[derive(Clone, Copy)]
pub(super) enum Phase {
    /// It has not been created.
    NotStarted,
    /// It runs, or will run without being chosen.
    Runs,
    /// It has a pending operation.
    Pending,
    /// It waits at a spot until it is unparked. Its continuation is not a step.
    Parked(Spot<'static>, Awaited),
    /// It waits for a condition that others make true outside of any operation.
    Blocked(*const dyn Fn() -> bool),
    Ended,
}

pub(super) struct Actor {
    pub(super) phase: Phase,
    pub(super) pending: Pending,
    pub(super) stack: Option<TaskStack>,
    pub(super) name: String,
    /// Number of children so far, by kind.
    pub(super) children: [u32; 3],
    /// Number of operations at each source location. They are counted separately, so that operations elsewhere do not
    /// change how an object that is accessed at a location is identified.
    pub(super) operations: Vec<(&'static Location<'static>, u32)>,
    /// The steps that its next step comes after for reasons other than its own steps.
    pub(super) inherited: Vec<Moment>,
    pub(super) is_notified: bool,
    /// Whether its current wait may end without a reason, and number of such waits so far.
    pub(super) wakes_spuriously: bool,
    pub(super) spurious_wakeups: u32,
    /// Whether its last selection with a time limit was met, and has left the other channels.
    pub(super) has_left: bool,
    /// Number of locks that it has shared access to, and whether it has waited for something while it had.
    pub(super) shared: u32,
    pub(super) waited_while_sharing: bool,
    pub(super) repetition: Repetition,
    /// Its last panic, and whether that ended it without having been observed.
    pub(super) panic: Option<Panic>,
    pub(super) is_missed: bool,
    /// The number of its last panic among all, and the activity that has observed it.
    pub(super) panicked: u32,
    pub(super) observed_by: Option<u32>,
    /// Whether it is a light activity, which runs only when it has work.
    pub(super) is_light: bool,
    pub(super) outside: Outside,
    /// What it has received of the recorded run.
    pub(super) given: Given,
    /// Data of its model.
    pub(super) kept: Option<Box<dyn Any>>,
    /// The messages that were sent to it and not handled, and the one that it handles now, if labels are requested.
    pub(super) inbox: VecDeque<Arc<About>>,
    pub(super) turn: Option<Arc<About>>,
    /// Its state when it was last outside a turn.
    pub(super) shown: Option<String>,
    /// What identifies it to the code that it runs. Reused in the next execution.
    pub(super) controlled: Option<Box<Controlled>>,
}

impl Actor {
    /// Returns its pending operation, if it has one.
    #[inline]
    pub(super) fn pending(&self) -> Option<&Pending> {
        match self.phase {
            Phase::Pending => Some(&self.pending),
            _ => None,
        }
    }

    /// Notes that it has given back the shared access to a lock.
    pub(super) fn unshare(&mut self) {
        self.shared = self.shared.saturating_sub(1);
        self.waited_while_sharing &= self.shared > 0;
    }

    /// Counts an operation at the location of the pending one. Returns whether it is the activity's first operation.
    #[inline]
    pub(super) fn count_first_operation(&mut self) -> bool {
        let site = self.pending.event.site;
        let mut known = self.operations.iter_mut().rev();
        if let Some((_, count)) = known.find(|(at, _)| std::ptr::eq(*at, site)) {
            *count += 1;
            self.repetition.is_suspicious |= *count >= SUSPICIOUS;
            return false;
        }
        self.operations.push((site, 1));
        self.operations.len() == 1
    }

    /// Returns the number of its operations at this location.
    pub(super) fn operations_at(&self, site: &'static Location<'static>) -> u32 {
        let mut known = self.operations.iter().rev();
        let known = known.find(|(at, _)| std::ptr::eq(*at, site));
        known.map_or(0, |&(_, count)| count)
    }

    /// Ends it without running it further. Returns what its model keeps.
    pub(super) fn ends(&mut self) -> Option<Box<dyn Any>> {
        self.stack = None;
        self.phase = Phase::Ended;
        self.kept.take()
    }

    /// Resets it to the state before its creation.
    pub(super) fn clear(&mut self) {
        debug_assert!(self.stack.is_none());
        self.phase = Phase::NotStarted;
        self.name.clear();
        self.inherited.clear();
        self.children = [0; 3];
        self.operations.clear();
        self.is_notified = false;
        self.has_left = false;
        self.wakes_spuriously = false;
        self.spurious_wakeups = 0;
        self.shared = 0;
        self.waited_while_sharing = false;
        self.repetition.clear();
        self.panic = None;
        self.is_missed = false;
        self.panicked = 0;
        self.observed_by = None;
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

    pub(super) fn not_started() -> Actor {
        Actor {
            phase: Phase::NotStarted,
            pending: Pending::nothing(),
            stack: None,
            name: String::new(),
            children: [0; 3],
            operations: Vec::new(),
            inherited: Vec::new(),
            is_notified: false,
            has_left: false,
            wakes_spuriously: false,
            spurious_wakeups: 0,
            shared: 0,
            waited_while_sharing: false,
            repetition: Repetition::default(),
            panic: None,
            is_missed: false,
            panicked: 0,
            observed_by: None,
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
