//! The state of an object in the current execution: its holders, and what the next events at it come after.

use std::panic::Location;

use reenact_explore::{Links, Moment};

use crate::{Access, End};

/// The state of a lock, a value, a queue, a condition, or any other object.
#[derive(Default)]
pub(super) struct ObjectState {
    /// The activity that has exclusive access, and where it acquired it.
    pub(super) holder: Option<(u32, &'static Location<'static>)>,
    /// The activities that have shared access.
    pub(super) sharers: Vec<u32>,
    /// Whether two activities have had shared access at the same time since somebody acquired it.
    pub(super) is_shared_by_several: bool,
    /// The activities that wait for exclusive access, and since when. They keep others from acquiring shared access.
    queue: Vec<(u32, Option<Moment>)>,
    /// The intervals in which there were such activities.
    queued: Vec<(Moment, Moment)>,
    /// The activities that wait for its notification.
    pub(super) waiters: Vec<u32>,
    /// The events that a next one may race with.
    recent: Vec<Recent>,
    /// When the last exclusive access was released, and when shared accesses were released since.
    released: Vec<Moment>,
    looked: Vec<Moment>,
    /// The current holders, and since when they hold it.
    having: Vec<(u32, Moment)>,
    /// Past holders, in the order of their releases: from when to when they held it, and whether the access was shared.
    had: Vec<(Moment, Moment, bool)>,
    /// The activities that came to send, and to receive, in this order, and when. The n-th sender meets the n-th
    /// receiver, whichever comes first.
    sent: Vec<(u32, Moment)>,
    received: Vec<(u32, Moment)>,
    /// For each end, when handles were dropped, and whether all of them have been.
    stopped: [Vec<Moment>; 2],
    are_gone: [bool; 2],
    /// For each end, whether an activity has selected there or tried to operate without waiting; and whether one has
    /// waited in a selection.
    selecting: [Selecting; 2],
    /// When its value was changed.
    changed: Vec<Moment>,
    /// How often anything about it has changed, and when that happened last.
    pub(super) version: u32,
    pub(super) changed_at: Option<Moment>,
}

/// How activities have selected at one end of a channel.
#[derive(Clone, Copy, Default)]
struct Selecting {
    any: bool,
    waiting: bool,
}

struct Recent {
    who: u32,
    access: Access,
    moment: Moment,
    /// Whether a send, a receive, exclusive access and shared access were possible just before it, as bits.
    was_open: u8,
}

/// What has happened at a queue in the current step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed {
    /// A message was put in.
    Sent,
    /// The first message was taken out.
    Received,
    /// The activity came to send or to receive, and timed out.
    GaveUp(End),
    /// A handle of this end was dropped, and whether that was the last one.
    Stopped(End, bool),
}

impl ObjectState {
    /// Resets it to the state before any access.
    pub(super) fn clear(&mut self) {
        self.holder = None;
        self.released.clear();
        self.sent.clear();
        self.sharers.clear();
        self.is_shared_by_several = false;
        self.queue.clear();
        self.queued.clear();
        self.waiters.clear();
        self.recent.clear();
        self.looked.clear();
        self.received.clear();
        self.stopped.iter_mut().for_each(Vec::clear);
        self.are_gone = [false; 2];
        self.selecting = [Selecting::default(); 2];
        self.changed.clear();
        self.version = 0;
        self.changed_at = None;
        self.having.clear();
        self.had.clear();
    }

    /// Returns whether exclusive access can be acquired now.
    pub(super) fn is_free(&self) -> bool {
        self.holder.is_none() && self.sharers.is_empty()
    }

    /// Returns whether shared access can be acquired now.
    pub(super) fn may_look(&self) -> bool {
        self.holder.is_none() && self.queue.is_empty()
    }

    /// Returns whether this activity has shared access.
    pub(super) fn is_shared_by(&self, activity: u32) -> bool {
        self.sharers.contains(&activity)
    }

    /// Notes that an activity has acquired shared access.
    pub(super) fn share(&mut self, activity: u32) {
        self.is_shared_by_several = self.sharers.iter().any(|&who| who != activity)
            || self.is_shared_by_several && !self.sharers.is_empty();
        self.sharers.push(activity);
    }

    /// Notes that an activity waits for exclusive access.
    pub(super) fn join_queue(&mut self, activity: u32, moment: Option<Moment>) {
        self.queue.push((activity, moment));
    }

    /// Notes that an activity has acquired the exclusive access that it waited for.
    pub(super) fn leave_queue(&mut self, activity: u32, moment: Option<Moment>) {
        if let Some(index) = self.queue.iter().position(|&(who, _)| who == activity) {
            let (_, since) = self.queue.swap_remove(index);
            self.queued.extend(since.zip(moment));
        }
    }

    /// Adds what an event with this access would come after. `room` is the capacity of a queue; `waits` says whether
    /// the event cannot happen before there is room, or a message, in it.
    pub(super) fn link(
        &self,
        activity: u32,
        access: Access,
        room: usize,
        waits: bool,
        links: &mut Links,
        way: &mut u32,
    ) {
        for recent in &self.recent {
            if recent.who != activity && access.conflicts(recent.access) {
                let was_open =
                    end_of(access).is_some_and(|end| recent.was_open & 1 << end as u8 != 0);
                match waits && !was_open {
                    true => links.races_if_possible(recent.moment),
                    false => links.races(recent.moment),
                }
            }
        }
        match access {
            Access::Take | Access::TryTake => {
                self.released.iter().for_each(|&at| links.follows(at));
                self.looked.iter().for_each(|&at| links.follows(at));
            }
            Access::Look | Access::TryLook => {
                self.released.iter().for_each(|&at| links.follows(at));
            }
            // An activity that arrives to wait comes after nothing; only its continuation does.
            Access::Receive | Access::Send if !waits => {}
            Access::Receive | Access::TryReceive => {
                match self.under_way().first() {
                    Some(&(_, sent)) => links.follows(sent),
                    None => self.stopped[0].iter().for_each(|&at| links.follows(at)),
                }
                if waits {
                    self.ways_to_receive(links, way);
                }
            }
            Access::Send | Access::TrySend => {
                if let Some(at) = self.made_room(room) {
                    links.follows(at);
                }
                if waits {
                    self.ways_to_send(room, links, way);
                }
            }
            _ => {}
        }
    }

    /// Returns when the room was made that the next message will use.
    fn made_room(&self, room: usize) -> Option<Moment> {
        let index = self.sent.len().checked_sub(room)?;
        self.received.get(index).map(|&(_, at)| at)
    }

    /// Returns whether an activity that comes to this end finds the other end gone.
    pub(super) fn is_over(&self, end: End) -> bool {
        self.are_gone[end.other() as usize] && (end == End::Sending || self.under_way().is_empty())
    }

    /// Returns the messages that were sent and not received.
    fn under_way(&self) -> &[(u32, Moment)] {
        self.sent.get(self.received.len()..).unwrap_or_default()
    }

    fn ways_to_receive(&self, links: &mut Links, way: &mut u32) {
        for &(_, sent) in self.under_way() {
            links.needs(next(way), Some(sent));
        }
        self.way_through_end(End::Sending, links, way);
    }

    fn ways_to_send(&self, room: usize, links: &mut Links, way: &mut u32) {
        match self.sent.len().checked_sub(room) {
            None => links.needs(next(way), None),
            Some(index) => {
                let several = if room == 0 { usize::MAX } else { 1 };
                for &(_, at) in self.received.iter().skip(index).take(several) {
                    links.needs(next(way), Some(at));
                }
            }
        }
        self.way_through_end(End::Receiving, links, way);
    }

    /// Adds the way in which the event is possible because the other end is gone.
    fn way_through_end(&self, end: End, links: &mut Links, way: &mut u32) {
        if self.are_gone[end as usize] {
            let way = next(way);
            let stopped = &self.stopped[end as usize];
            if stopped.is_empty() {
                links.needs(way, None);
            }
            for &at in stopped {
                links.needs(way, Some(at));
            }
        }
    }

    /// Notes that an activity selects, or tries, at this end. Returns whether it may meet a selection at the other end, of
    /// which at least one waits.
    pub(super) fn selects(&mut self, end: End, waits: bool) -> bool {
        let here = &mut self.selecting[end as usize];
        here.any = true;
        here.waiting |= waits;
        let there = self.selecting[end.other() as usize];
        there.waiting || waits && there.any
    }

    /// Notes that an event happens.
    pub(super) fn note(&mut self, activity: u32, access: Access, moment: Moment, room: usize) {
        let has_room = self.sent.len() < self.received.len().saturating_add(room);
        let was_open = u8::from(has_room || self.are_gone[End::Receiving as usize])
            | u8::from(!self.under_way().is_empty() || self.are_gone[End::Sending as usize]) << 1
            | u8::from(self.is_free()) << 2
            | u8::from(self.holder.is_none()) << 3;
        // An event that could not have come before this one may have been able to come before an earlier one.
        self.recent.retain(|recent| {
            !(recent.was_open & !was_open == 0
                && access.stands_for(recent.access)
                && (recent.who == activity || access.conflicts(recent.access)))
        });
        self.recent.push(Recent {
            who: activity,
            access,
            moment,
            was_open,
        });
        if access == Access::Write {
            self.changed.push(moment);
        }
    }

    /// Returns when its value was changed since `moment`.
    pub(super) fn changed_since(&self, moment: Option<Moment>) -> impl Iterator<Item = Moment> {
        let changed = self.changed.iter().copied();
        changed.filter(move |&at| moment.is_none_or(|moment| at > moment))
    }

    /// Returns when the handles of this end were dropped.
    pub(super) fn stopped(&self, end: End) -> &[Moment] {
        &self.stopped[end as usize]
    }

    /// Notes what has happened at a queue. Returns what else the next step of the activity comes after.
    pub(super) fn passed(
        &mut self,
        activity: u32,
        what: Passed,
        moment: Moment,
        room: usize,
    ) -> Option<Moment> {
        match what {
            Passed::Sent => {
                let made_room = self.made_room(room);
                self.sent.push((activity, moment));
                made_room
            }
            Passed::Received => {
                let sent = self.sent.get(self.received.len()).map(|&(_, at)| at);
                self.received.push((activity, moment));
                sent
            }
            Passed::GaveUp(end) => {
                let came = match end {
                    End::Sending => &mut self.sent,
                    End::Receiving => &mut self.received,
                };
                let place = came.iter().rposition(|&(who, _)| who == activity);
                place.map(|place| came.remove(place));
                None
            }
            Passed::Stopped(end, is_last) => {
                self.left(end, is_last, [moment]);
                None
            }
        }
    }

    /// Notes that a handle of this end was dropped, and when, unless that was before the first step.
    pub(super) fn left(
        &mut self,
        end: End,
        is_last: bool,
        reasons: impl IntoIterator<Item = Moment>,
    ) {
        let stopped = &mut self.stopped[end as usize];
        reasons.into_iter().for_each(|at| stopped.push(at));
        self.are_gone[end as usize] = is_last;
    }

    /// Notes that an activity holds it from now on.
    pub(super) fn had_by(&mut self, activity: u32, moment: Moment) {
        self.having.push((activity, moment));
    }

    /// Adds the intervals in which the access was impossible, as far as they end after `since`.
    pub(super) fn held(&self, to_look: bool, since: Moment, links: &mut Links) {
        let had = self
            .had
            .iter()
            .rev()
            .take_while(|(_, until, _)| *until > since);
        for &(from, until, looked) in had {
            if !(to_look && looked) {
                links.barred(from, Some(until));
            }
        }
        if self.holder.is_some() || !to_look {
            for &(_, from) in &self.having {
                links.barred(from, None);
            }
        }
        if to_look {
            for &(from, until) in self.queued.iter().filter(|(_, until)| *until > since) {
                links.barred(from, Some(until));
            }
            for &(_, from) in &self.queue {
                from.into_iter().for_each(|from| links.barred(from, None));
            }
        }
    }

    fn gives_back(&mut self, activity: u32, moment: Moment, looked: bool) {
        if let Some(index) = self.having.iter().position(|&(who, _)| who == activity) {
            let (_, from) = self.having.swap_remove(index);
            self.had.push((from, moment, looked));
        }
    }

    /// Notes the release of exclusive access. Its moment matters only if the strategy tracks dependences.
    #[inline]
    pub(super) fn released(
        &mut self,
        moment: Option<Moment>,
        reasons: impl IntoIterator<Item = Moment>,
    ) {
        let holder = self.holder.take();
        let Some(moment) = moment else {
            return;
        };
        if let Some((who, _)) = holder {
            self.gives_back(who, moment, false);
        }
        self.released.clear();
        self.released.push(moment);
        reasons.into_iter().for_each(|at| self.released.push(at));
        self.looked.clear();
    }

    /// Notes that exclusive access was downgraded to shared access.
    pub(super) fn downgraded(
        &mut self,
        activity: u32,
        moment: Option<Moment>,
        reasons: impl IntoIterator<Item = Moment>,
    ) {
        self.released(moment, reasons);
        self.share(activity);
        self.having.extend(moment.map(|moment| (activity, moment)));
    }

    /// Notes the release of shared access.
    pub(super) fn looked(
        &mut self,
        activity: u32,
        moment: Option<Moment>,
        reasons: impl IntoIterator<Item = Moment>,
    ) {
        if let Some(index) = self.sharers.iter().position(|&who| who == activity) {
            self.sharers.swap_remove(index);
        }
        let Some(moment) = moment else {
            return;
        };
        self.gives_back(activity, moment, true);
        self.looked.push(moment);
        reasons.into_iter().for_each(|at| self.looked.push(at));
    }
}

/// Returns the next number.
fn next(way: &mut u32) -> u32 {
    *way += 1;
    *way
}

/// Returns whether the access is at an end of a queue, where it may have to wait.
pub(super) fn is_at_queue(access: Access) -> bool {
    end_of(access).is_some()
}

/// Returns the end of a queue that the access is at.
fn end_of(access: Access) -> Option<End> {
    match access {
        Access::Send | Access::TrySend => Some(End::Sending),
        Access::Receive | Access::TryReceive => Some(End::Receiving),
        _ => None,
    }
}
