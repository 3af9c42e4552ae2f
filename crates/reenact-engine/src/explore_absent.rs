//! Takes the place of `explore` in a build without the feature of that name: no code is ever part of an execution.
//!
//! There is no value of [`Execution`], so what would happen under exploration is not compiled.

use std::{
    panic::Location,
    sync::{Arc, atomic::AtomicU32},
};

use crate::{
    Access, Announcement, Change, ControlledActivity, Controller, Decision, Ending, Message,
    Newborn, NextArrival, Object, Op, Outcome, Spot, activity::Controlled, pool::Pool, refusal,
    unrecorded::Uncaptured,
};

/// An execution, of which there are none.
pub(crate) enum Execution {}

pub(crate) fn is_here() -> bool {
    false
}

pub(crate) fn here<'a>() -> Option<&'a Execution> {
    None
}

pub(crate) fn controller() -> Option<Arc<dyn Controller>> {
    None
}

pub(crate) fn is_process() -> bool {
    false
}

pub(crate) fn begin_thread(_number: u32) {}

pub(crate) fn end_not_started(_number: u32) {}

pub(crate) fn end_thread() {}

/// Ends the process, before the program has begun.
pub(crate) fn start_from_environment() {
    refuse();
}

/// Ends the process, before the program has begun.
pub(crate) fn follow_from_environment() {
    refuse();
}

fn refuse() -> ! {
    let report = std::env::var_os("REENACT_REPORT");
    refusal::refuse(
        report.as_deref().map(AsRef::as_ref),
        "it was built without the feature `explore` of the crate reenact",
    )
}

pub(crate) fn note_uncaptured(_what: Uncaptured) {}

pub(crate) fn sits(_number: u32) -> bool {
    false
}

/// Returns whether a wait that begins now may end without a reason.
pub fn wakes_spuriously(_op: Op) -> bool {
    false
}

/// Returns whether the calling code is explored around a recorded run.
pub fn is_around_recording() -> bool {
    false
}

pub(crate) fn wait_until_idle(_op: Op, _is_idle: &dyn Fn() -> bool) {}

pub(crate) fn pool(_size: usize, _make: impl FnOnce() -> Pool) -> Option<Pool> {
    None
}

pub(crate) fn is_in_turn() -> bool {
    false
}

pub(crate) fn in_background() {}

pub(crate) fn has_panicked() {}

pub(crate) fn is_leaving() -> bool {
    false
}

pub(crate) fn wait_while(_word: &AtomicU32, _value: u32) -> bool {
    false
}

impl Execution {
    pub(crate) fn decide(&self, _announcement: &Announcement<'_>) -> Decision {
        match *self {}
    }

    pub(crate) fn conclude(&self, _announcement: &Announcement<'_>, _outcome: Outcome<'_>) {
        match *self {}
    }

    pub(crate) fn arrives_at(
        &self,
        _object: &Object,
        _op: Op,
        _access: Access,
        _site: &'static Location<'static>,
    ) -> Decision {
        match *self {}
    }

    pub(crate) fn leave_with(
        &self,
        _op: Op,
        _access: Access,
        _object: &Object,
        _value: Option<Change>,
        _site: &'static Location<'static>,
    ) {
        match *self {}
    }

    /// # Safety
    ///
    /// There is no execution to call this of.
    pub(crate) unsafe fn start(&self, _number: u32, _job: impl FnOnce()) {
        match *self {}
    }

    pub(crate) fn activity(&self, _number: u32) -> Option<Arc<ControlledActivity>> {
        match *self {}
    }

    pub(crate) fn note_end_question(&self) {
        match *self {}
    }

    pub(crate) fn expected_work_is_done(&self) {
        match *self {}
    }

    pub(crate) fn yields(&self) {
        match *self {}
    }

    pub(crate) fn begins(&self, _number: u32) -> *const Controlled {
        match *self {}
    }

    pub(crate) fn child(&self, _name: &str) -> u32 {
        match *self {}
    }

    pub(crate) fn child_on_fiber(&self, _name: &str) -> u32 {
        match *self {}
    }

    pub(crate) fn next_child(&self, _is_light: bool) -> u32 {
        match *self {}
    }

    pub(crate) fn current_on_fiber(&self) -> Option<(u32, Option<String>)> {
        match *self {}
    }

    pub(crate) fn kept<T>(&self, _number: u32, _first: impl FnOnce() -> T) -> Option<T> {
        match *self {}
    }

    pub(crate) fn number_in_recording(&self, _number: u32) -> u32 {
        match *self {}
    }

    pub(crate) fn handle_message(&self, _message: Message) -> NextArrival {
        match *self {}
    }

    pub(crate) fn ignores_turns(&self) -> bool {
        match *self {}
    }

    pub(crate) fn forget_panic(&self) {
        match *self {}
    }

    pub(crate) fn is_missed(&self, _number: u32, _is_missed: bool) {
        match *self {}
    }

    pub(crate) fn is_ending(&self) -> bool {
        match *self {}
    }

    pub(crate) fn wait_at(&self, _at: Spot<'_>, _what: &(dyn Fn() -> String + Sync)) {
        match *self {}
    }

    pub(crate) fn waits_for_end(&self, _of: &ControlledActivity) {
        match *self {}
    }

    pub(crate) fn wants_ends(&self) -> bool {
        match *self {}
    }
}

impl Controller for Execution {
    fn born(&self, _newborn: Newborn<'_>) -> u32 {
        match *self {}
    }

    fn end(&self, _who: &ControlledActivity, _how: Ending) {
        match *self {}
    }

    fn operate(&self, _who: &ControlledActivity, _announcement: &Announcement<'_>) -> Decision {
        match *self {}
    }

    fn done(
        &self,
        _who: &ControlledActivity,
        _announcement: &Announcement<'_>,
        _outcome: Outcome<'_>,
    ) {
        match *self {}
    }

    fn park(&self, _who: &ControlledActivity, _at: Spot<'_>, _what: &(dyn Fn() -> String + Sync)) {
        match *self {}
    }

    fn unpark(&self, _at: Spot<'_>) {
        match *self {}
    }
}
