//! What activities do that concerns nobody else: they create others, begin, end, and join those that have ended.
//!
//! None of this is recorded, since it follows from the rest, and an exploration need not try it in every order. It is announced for
//! those who read a log, and for a debugger, which may want to stop there.

use std::panic::Location;

use crate::{
    Access, Announcement, Controller, Fact, Op,
    activity::with_controlled,
    entity::{announce, choose_as},
    explore, mode,
    record::{BIRTH, LIGHT_BIRTH},
};

crate::operations! {
    BEGIN = 0xfd Begin "begin";
    pub(crate) END = 0xfc End "end";
    JOIN = 0xfb Join "join";
}

/// The calling activity creates another one: `birth`, of which `number` says which it is.
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
    // Who explores decides when it happens, and knows whom it will be.
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

/// The calling activity, which was created at `site`, is about to do the first thing it does.
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

/// Asks whether the activity of this number has ended, which `ask` finds out.
#[track_caller]
pub fn has_ended(op: Op, number: Option<u32>, ask: impl FnOnce() -> bool) -> bool {
    if let Some(execution) = explore::here() {
        execution.asks_for_end();
    }
    let announcement = Announcement {
        with: number,
        ..Announcement::new(op, Access::Ask)
    };
    choose_as(&announcement, || ask().into()) != 0
}

/// The calling activity joins the one of this number: it waits until that has ended.
#[inline]
#[track_caller]
pub fn joins(ended: &Fact, number: Option<u32>, wait: impl FnOnce()) {
    let site = Location::caller();
    // Who explores decides when it happens. Elsewhere it happens after the end that is waited for.
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
fn joined(ended: &Fact, number: Option<u32>, site: &'static Location<'static>) {
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

/// Whether there is a controller that wants to be asked.
#[inline]
fn is_wanted() -> bool {
    match explore::here() {
        Some(execution) => execution.wants_own(),
        None => {
            mode::is_observed() && with_controlled(|me| me.controller.wants_own()) == Some(true)
        }
    }
}
