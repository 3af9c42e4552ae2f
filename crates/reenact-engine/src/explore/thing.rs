//! What is known of a thing in the current execution: who has it, and what next events at it come after.

use std::panic::Location;

use reenact_multiverse::explore::{Links, Moment};

use crate::{Access, End};

/// A lock, a value, a queue, a condition: whatever activities meet at.
#[derive(Default)]
pub(super) struct Thing {
    /// Who has taken it, and where.
    pub(super) holder: Option<(u32, &'static Location<'static>)>,
    /// Who looks at it.
    pub(super) lookers: Vec<u32>,
    /// Who waits to take it, since when, and keeps others from looking at it.
    queue: Vec<(u32, Option<Moment>)>,
    /// When there were such, from and until.
    queued: Vec<(Moment, Moment)>,
    /// Who waits for its signal.
    pub(super) waiters: Vec<u32>,
    /// Those events that a next one may race with.
    recent: Vec<Recent>,
    /// When those who took it last gave it back, and those who looked since.
    released: Vec<Moment>,
    looked: Vec<Moment>,
    /// Since when those have it who have it now.
    having: Vec<(u32, Moment)>,
    /// Who had it from when to when, and whether to look at it, in the order in which they gave it back.
    had: Vec<(Moment, Moment, bool)>,
    /// Who came to send, and to receive, in this order, and when. The n-th meets the n-th, whoever comes first.
    sent: Vec<(u32, Moment)>,
    received: Vec<(u32, Moment)>,
    /// When those of each end went, and whether all have.
    stopped: [Vec<Moment>; 2],
    are_gone: [bool; 2],
    /// When what it holds was changed.
    changed: Vec<Moment>,
}

struct Recent {
    who: u32,
    access: Access,
    moment: Moment,
    /// Whether something could be sent, or received, and it could be taken, or looked at, just before it: a bit for each.
    was_open: u8,
}

/// What has happened at a queue in the current step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed {
    /// Something was put in.
    Sent,
    /// What was first was taken out.
    Received,
    /// The activity, which came to send or to receive, will not: its time is up.
    GaveUp(End),
    /// One of this end has gone, and whether that was the last.
    Stopped(End, bool),
}

impl Thing {
    /// As if nobody had met it.
    pub(super) fn clear(&mut self) {
        self.holder = None;
        self.released.clear();
        self.sent.clear();
        self.lookers.clear();
        self.queue.clear();
        self.queued.clear();
        self.waiters.clear();
        self.recent.clear();
        self.looked.clear();
        self.received.clear();
        self.stopped.iter_mut().for_each(Vec::clear);
        self.are_gone = [false; 2];
        self.changed.clear();
        self.having.clear();
        self.had.clear();
    }

    /// Whether somebody may take it now.
    pub(super) fn is_free(&self) -> bool {
        self.holder.is_none() && self.lookers.is_empty()
    }

    /// Whether somebody may look at it now.
    pub(super) fn may_look(&self) -> bool {
        self.holder.is_none() && self.queue.is_empty()
    }

    /// Whether this one looks at it already.
    pub(super) fn is_shared_by(&self, activity: u32) -> bool {
        self.lookers.contains(&activity)
    }

    /// Somebody waits to take it.
    pub(super) fn joins_queue(&mut self, activity: u32, moment: Option<Moment>) {
        self.queue.push((activity, moment));
    }

    /// It has taken it.
    pub(super) fn leaves_queue(&mut self, activity: u32, moment: Option<Moment>) {
        if let Some(index) = self.queue.iter().position(|&(who, _)| who == activity) {
            let (_, since) = self.queue.swap_remove(index);
            self.queued.extend(since.zip(moment));
        }
    }

    /// What an event of this kind would come after. `room` is access much fits into a queue; `waits` whether it cannot happen before
    /// there is room, or something in it.
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
            // Who comes to wait there comes after nobody; what it does then does.
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

    /// When the room was made that the next one to be sent has.
    fn made_room(&self, room: usize) -> Option<Moment> {
        let index = self.sent.len().checked_sub(room)?;
        self.received.get(index).map(|&(_, at)| at)
    }

    /// Whether who comes to this end is told that there is nobody at the other.
    pub(super) fn is_over(&self, end: End) -> bool {
        self.are_gone[end.other() as usize] && (end == End::Sending || self.under_way().is_empty())
    }

    /// What was sent and not received.
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

    /// It is possible since there is nobody any more at the other end.
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

    /// It happens.
    pub(super) fn note(&mut self, activity: u32, access: Access, moment: Moment, room: usize) {
        let has_room = self.sent.len() < self.received.len().saturating_add(room);
        let was_open = u8::from(has_room || self.are_gone[End::Receiving as usize])
            | u8::from(!self.under_way().is_empty() || self.are_gone[End::Sending as usize]) << 1
            | u8::from(self.is_free()) << 2
            | u8::from(self.holder.is_none()) << 3;
        // Whoever could not have come before this one may have been able to come before an earlier one.
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

    /// When what it holds was changed since then.
    pub(super) fn changed_since(&self, moment: Option<Moment>) -> impl Iterator<Item = Moment> {
        let changed = self.changed.iter().copied();
        changed.filter(move |&at| moment.is_none_or(|moment| at > moment))
    }

    /// When those at this end went.
    pub(super) fn stopped(&self, end: End) -> &[Moment] {
        &self.stopped[end as usize]
    }

    /// This has happened at a queue: returns what the activity does next comes after besides.
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

    /// One of this end has gone: when, if not before the first step.
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

    /// Somebody has taken it, or looks at it, from now on.
    pub(super) fn had_by(&mut self, activity: u32, moment: Moment) {
        self.having.push((activity, moment));
    }

    /// Since when it was impossible to take it, or to look at it, until when, as far as that is later than this.
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

    /// Who took it has given it back. When that is matters only to those who compare executions.
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

    /// Who took it looks at it from now on.
    pub(super) fn downgraded(
        &mut self,
        activity: u32,
        moment: Option<Moment>,
        reasons: impl IntoIterator<Item = Moment>,
    ) {
        self.released(moment, reasons);
        self.lookers.push(activity);
        self.having.extend(moment.map(|moment| (activity, moment)));
    }

    /// Who looked at it does not any more.
    pub(super) fn looked(
        &mut self,
        activity: u32,
        moment: Option<Moment>,
        reasons: impl IntoIterator<Item = Moment>,
    ) {
        if let Some(index) = self.lookers.iter().position(|&who| who == activity) {
            self.lookers.swap_remove(index);
        }
        let Some(moment) = moment else {
            return;
        };
        self.gives_back(activity, moment, true);
        self.looked.push(moment);
        reasons.into_iter().for_each(|at| self.looked.push(at));
    }
}

/// Another number.
fn next(way: &mut u32) -> u32 {
    *way += 1;
    *way
}

/// Whether it is done at an end of a queue, where one may have to wait.
pub(super) fn is_at_queue(access: Access) -> bool {
    end_of(access).is_some()
}

/// The end of a queue at which it is.
fn end_of(access: Access) -> Option<End> {
    match access {
        Access::Send | Access::TrySend => Some(End::Sending),
        Access::Receive | Access::TryReceive => Some(End::Receiving),
        _ => None,
    }
}
