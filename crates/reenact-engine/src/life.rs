//! What activities do that concerns nobody else: they create others, begin, end, and join those that have ended.
//!
//! None of this is recorded, since it follows from the rest, and an exploration need not try it in every order. It is announced for
//! those who read a log, and for a debugger, which may want to stop there.

use std::panic::Location;

use crate::{
    Access, Announcement, Controller, Fact, Op,
    activity::with_controlled,
    explore, mode,
    record::{BIRTH, LIGHT_BIRTH},
};

crate::operations! {
    BEGIN = 0xfd Begin "begin";
    END = 0xfc End "end";
    JOIN = 0xfb Join "join";
}

/// The calling activity is about to create another one.
#[track_caller]
pub(crate) fn creates(is_light: bool) {
    let op = match is_light {
        true => LIGHT_BIRTH,
        false => BIRTH,
    };
    announced(op, Location::caller());
}

/// The calling activity, which was created at `site`, is about to do the first thing it does.
pub fn begins(site: &'static Location<'static>) {
    announced(BEGIN, site);
}

/// The calling activity, which was created at `site`, is about to end.
pub fn ends(site: &'static Location<'static>) {
    announced(END, site);
}

/// The calling activity joins the one of this number: it waits until that has ended.
#[track_caller]
pub fn joins(ended: &Fact, number: Option<u32>, wait: impl FnOnce()) {
    let site = Location::caller();
    let is_ended = || ended.is_established();
    let joins = || {
        announce_own(&Announcement {
            ready: Some(&is_ended),
            with: number,
            site,
            ..Announcement::new(JOIN, Access::Own)
        });
    };
    // Who explores decides when it happens. Elsewhere it happens after the end that is waited for.
    if explore::is_here() {
        joins();
        wait();
    } else {
        wait();
        joins();
    }
}

fn announced(op: Op, site: &'static Location<'static>) {
    announce_own(&Announcement {
        site,
        ..Announcement::new(op, Access::Own)
    });
}

#[inline]
fn announce_own(announcement: &Announcement<'_>) {
    if let Some(execution) = explore::here() {
        if execution.wants_own() {
            execution.decide(announcement);
        }
    } else if mode::is_observed() {
        with_controlled(|me| {
            if me.controller.wants_own() {
                me.controller.operate(&me.activity, announcement);
            }
        });
    }
}
