//! Operations that affect only their own activity: it creates others, begins, ends, and joins those that have ended.
//!
//! None of this is recorded, since it follows from the rest, and an exploration need not try it in every order. It is
//! announced for logs, and for debuggers, which may want to stop there.

use std::panic::Location;

use crate::{
    Access, Announcement, Controller, Latch, Op,
    activity::with_controlled,
    explore, mode,
    object::{announce, choose_as},
    record::{BIRTH, LIGHT_BIRTH},
};

crate::operations! {
    BEGIN = 0xfd Begin "begin";
    pub(crate) END = 0xfc End "end";
    JOIN = 0xfb Join "join";
}

/// The calling activity creates another one: `birth` does that, and `number` returns its number.
#[inline]
#[track_caller]
pub(crate) fn creates<C>(
    is_light: bool,
    birth: impl FnOnce() -> C,
    number: impl FnOnce(&C) -> Option<u32>,
) -> C {
    let op = match is_light {
        true => LIGHT_BIRTH,
        false => BIRTH,
    };
    let site = Location::caller();
    let announced = |with| {
        announce(&Announcement {
            with,
            site,
            ..Announcement::new(op, Access::Own)
        });
    };
    // An exploration decides when it happens, and knows the number of the child in advance.
    if let Some(execution) = explore::here() {
        if execution.wants_own() {
            announced(Some(execution.next_child(is_light)));
        }
        return birth();
    }
    let child = birth();
    if is_wanted() {
        announced(number(&child));
    }
    child
}

/// The calling activity, which was created at `site`, is about to begin.
#[inline]
pub fn begins(site: &'static Location<'static>) {
    announced(BEGIN, site);
}

/// The calling activity, which was created at `site`, is about to end.
#[inline]
pub fn ends(site: &'static Location<'static>) {
    match explore::here() {
        Some(execution) if !execution.wants_ends() => {}
        Some(execution) => {
            execution.decide(&Announcement {
                site,
                ..Announcement::new(END, Access::Own)
            });
        }
        None => announced(END, site),
    }
}

/// Returns whether the activity of this number has ended, which `ask` finds out.
#[track_caller]
pub fn has_ended(op: Op, number: Option<u32>, ask: impl FnOnce() -> bool) -> bool {
    if let Some(execution) = explore::here() {
        execution.note_end_question();
    }
    let announcement = Announcement {
        with: number,
        ..Announcement::new(op, Access::Ask)
    };
    choose_as(&announcement, || ask().into()) != 0
}

/// The calling activity joins the one of this number: it waits until that one has ended.
#[inline]
#[track_caller]
pub fn joins(ended: &Latch, number: Option<u32>, wait: impl FnOnce()) {
    let site = Location::caller();
    // An exploration decides when the join happens. Elsewhere it happens after the awaited end.
    let is_first = explore::is_here();
    if is_first {
        joined(ended, number, site);
    }
    wait();
    if !is_first {
        joined(ended, number, site);
    }
}

#[inline]
fn joined(ended: &Latch, number: Option<u32>, site: &'static Location<'static>) {
    if is_wanted() {
        announce(&Announcement {
            ready: Some(&|| ended.is_established()),
            with: number,
            site,
            ..Announcement::new(JOIN, Access::Own)
        });
    }
}

#[inline]
fn announced(op: Op, site: &'static Location<'static>) {
    if is_wanted() {
        announce(&Announcement {
            site,
            ..Announcement::new(op, Access::Own)
        });
    }
}

/// Returns whether there is a controller that wants these operations announced.
#[inline]
fn is_wanted() -> bool {
    match explore::here() {
        Some(execution) => execution.wants_own(),
        None => {
            mode::is_observed() && with_controlled(|me| me.controller.wants_own()) == Some(true)
        }
    }
}
