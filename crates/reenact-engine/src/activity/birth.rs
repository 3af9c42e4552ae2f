//! The lives of activities: a parent announces a child, some thread begins it, and others wait for its end.

use std::{panic::Location, sync::Arc};

use super::{
    Controlled, ControlledActivity, HOT, LOCAL, Local, install, with_controlled, with_recording,
};
use crate::{
    Ending, Op, explore, life,
    mode::{self, Mode},
    record::{AnnouncedChild, Recording, token_of},
    seeds,
};

/// Makes the calling code run this activity of an explored execution.
#[inline]
pub(crate) fn begin_explored(number: u32) {
    if let Some(execution) = explore::here() {
        let controlled = execution.begins(number);
        HOT.with(|hot| {
            hot.token.set(token_of(number));
            hot.fiber.set(controlled);
        });
        if explore::is_process() {
            seeds::give_to_thread(execution.number_in_recording(number));
        }
        seeds::restart();
    }
}

/// Ends the explored activity that the calling thread runs.
#[cfg(feature = "explore")]
pub(crate) fn end_explored() {
    // SAFETY: Set only while the fiber runs, and the `Controlled` exists until the execution has ended.
    if let Some(controlled) = unsafe { HOT.with(|hot| hot.fiber.get()).as_ref() } {
        controlled.activity.ended.establish();
        explore::end_thread();
    }
}

/// A child activity that exists but does not run yet. The parent creates it, because a parent determines the order of
/// its children; then it moves to the thread that will run it.
pub struct Birth {
    child: NewActivity,
    /// The line of the program that spawns it.
    site: &'static Location<'static>,
}

enum NewActivity {
    Unrecorded,
    Recorded(AnnouncedChild),
    Controlled(Arc<Controlled>),
    Explored(u32),
}

impl NewActivity {
    fn unexplored(name: &str) -> NewActivity {
        let child = match mode::settled() {
            Mode::Record => with_recording(|parent| NewActivity::Recorded(parent.child(name))),
            Mode::Replay | Mode::Controlled => with_controlled(|parent| parent.child(name))
                .flatten()
                .map(|child| NewActivity::Controlled(Arc::new(child))),
            _ => None,
        };
        child.unwrap_or(NewActivity::Unrecorded)
    }
}

impl Birth {
    /// Announces a new child of the current activity, to be run by a thread of this name.
    #[inline]
    #[track_caller]
    pub fn announce(name: Option<&str>) -> Birth {
        let name = name.unwrap_or_default();
        let site = Location::caller();
        let birth = || Birth {
            child: match explore::here() {
                Some(execution) => NewActivity::Explored(execution.child(name)),
                None => NewActivity::unexplored(name),
            },
            site,
        };
        life::creates(false, birth, Birth::number)
    }

    /// Like [`Birth::announce`], for an activity that never has a thread of its own, even if others have. Only under
    /// exploration.
    #[track_caller]
    pub(crate) fn announce_on_fiber(name: &str) -> Birth {
        let number = explore::here().map(|execution| execution.child_on_fiber(name));
        Birth {
            child: number.map_or(NewActivity::Unrecorded, NewActivity::Explored),
            site: Location::caller(),
        }
    }

    /// Returns a handle with which others wait for the end of the activity.
    #[inline]
    pub fn lineage(&self) -> Lineage {
        match &self.child {
            NewActivity::Controlled(controlled) => Lineage(Some(Arc::clone(&controlled.activity))),
            NewActivity::Explored(number) => {
                let execution = explore::here();
                Lineage(execution.and_then(|execution| execution.activity(*number)))
            }
            _ => Lineage(None),
        }
    }

    /// Returns the activity's number: unique among the activities of a recording and the same in its replays. None if
    /// the process is neither recorded nor controlled.
    #[inline]
    pub fn number(&self) -> Option<u32> {
        match &self.child {
            NewActivity::Unrecorded => None,
            NewActivity::Recorded(newborn) => Some(newborn.number),
            NewActivity::Controlled(controlled) => Some(controlled.activity.number),
            NewActivity::Explored(number) => Some(*number),
        }
    }

    /// Makes the calling thread run the activity. It ends when the returned value is dropped.
    #[inline]
    pub fn begin(self) -> Life {
        if let NewActivity::Explored(number) = self.child {
            let site = self.site;
            std::mem::forget(self);
            explore::begin_thread(number);
            begin_explored(number);
            life::begins(site);
            return Life(site);
        }
        self.begin_unexplored()
    }

    fn begin_unexplored(mut self) -> Life {
        let local = match std::mem::replace(&mut self.child, NewActivity::Unrecorded) {
            NewActivity::Unrecorded | NewActivity::Explored(_) => None,
            NewActivity::Recorded(newborn) => Recording::of_thread().and_then(|mut recording| {
                let registered = recording.register(Some(newborn));
                registered.then_some(Local::Recording(recording))
            }),
            NewActivity::Controlled(controlled) => Some(Local::Controlled(controlled)),
        };
        if let Some(local) = local {
            LOCAL.with(|slot| install(&mut slot.borrow_mut(), local));
        }
        if mode::is_controlled() {
            with_controlled(|me| me.controller.begin(&me.activity, None));
            life::begins(self.site);
        }
        Life(self.site)
    }
}

impl Drop for Birth {
    /// Ends a child that never ran, because its thread could not be started.
    fn drop(&mut self) {
        match &self.child {
            NewActivity::Controlled(controlled) => {
                let controller = &controlled.controller;
                controller.end(&controlled.activity, Ending::NeverRan);
                controlled.activity.ended.establish();
            }
            NewActivity::Explored(number) => {
                explore::end_not_started(*number);
                if let Some(activity) =
                    explore::here().and_then(|execution| execution.activity(*number))
                {
                    activity.ended.establish();
                }
            }
            NewActivity::Unrecorded | NewActivity::Recorded(_) => {}
        }
    }
}

/// An activity that runs on this thread. Dropping it marks the end of the activity's own code.
pub struct Life(&'static Location<'static>);

impl Drop for Life {
    fn drop(&mut self) {
        life::ends(self.0);
        // SAFETY: Set only while the fiber runs, and the `Controlled` exists until the execution has ended.
        if let Some(controlled) = unsafe { HOT.with(|hot| hot.fiber.get()).as_ref() } {
            controlled.activity.ended.establish();
            explore::end_thread();
            return;
        }
        let ended = LOCAL.with(|slot| match slot.try_borrow_mut().ok()?.as_mut()? {
            Local::Recording(recording) => {
                recording.end();
                None
            }
            Local::Controlled(controlled) => Some((
                Arc::clone(&controlled.controller),
                Arc::clone(&controlled.activity),
            )),
        });
        if let Some((controller, activity)) = ended {
            controller.end(&activity, Ending::Returned);
            activity.ended.establish();
        }
    }
}

/// A handle to an activity, for its parent.
#[derive(Clone)]
pub struct Lineage(Option<Arc<ControlledActivity>>);

impl Lineage {
    /// Waits until the activity's own code has ended, if there is a controller. The caller then waits for the thread
    /// itself in the usual way.
    #[track_caller]
    pub fn join(&self) {
        if let Some(target) = &self.0 {
            life::joins(&target.ended, Some(target.number), || self.wait_for_end());
        }
    }

    /// Returns whether the activity has ended. `ask` finds out where there is no controller, and when recording.
    #[track_caller]
    pub fn has_ended(&self, op: Op, ask: impl FnOnce() -> bool) -> bool {
        let target = self.0.as_ref();
        life::has_ended(op, target.map(|target| target.number), || match target {
            // Its thread may take longer to end than its activity.
            Some(target) if explore::is_here() => target.ended.is_established(),
            _ => ask(),
        })
    }

    /// Like [`Lineage::join`], for a caller that only waits for the end, without joining it.
    pub fn wait_for_end(&self) {
        if let Some(target) = &self.0 {
            match explore::here() {
                Some(execution) => execution.waits_for_end(target),
                None => {
                    let what = || format!("the end of {}", target.family);
                    target.ended.wait_if_controlled(&what);
                }
            }
        }
    }
}
