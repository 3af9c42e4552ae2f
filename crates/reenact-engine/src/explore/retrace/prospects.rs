//! Whether a pending operation would go as recorded, and when to take it so that later ones can, too.

use reenact_explore::{Activity, Run};

use super::{
    Retracer,
    path::{Goes, Meets, RecordedOperation},
};
use crate::{Access, explore::event::ANY_CHANNEL};

/// An operation that is still to come and that other steps must leave possible: its kind, and its object or sequence.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LaterOperation {
    /// It finds no room, or nothing to receive.
    FailedSend(u64),
    FailedReceive(u64),
    /// It finds that another activity holds the lock.
    FailedTry(usize),
    /// It finds that the other end has not been dropped.
    Send(u64),
    /// It is notified.
    Wake(u64),
    /// It times out before some promise is settled.
    FailedWait,
    /// It finds that this activity of the path has not ended.
    Running(usize),
}

/// When to take a possible step, and with which choice.
pub(super) type Candidate = (When, u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum When {
    /// At once: it changes nothing for others, which may change what it observes.
    AtOnce,
    /// In the order of the log.
    InTurn,
    /// If nothing else can be done: it may prevent what others did after it.
    Later,
    /// After `Later`: it most likely prevents what others did after it.
    Last,
}

impl Retracer<'_> {
    /// Returns when to take the step and with which choice, if it would go as recorded.
    pub(super) fn goes_as_recorded(&self, index: usize, activity: Activity) -> Option<Candidate> {
        let line = &self.path.lines[index];
        let prospect = self.run.prospect(activity);
        let if_so = |is_so: bool, when| is_so.then_some((when, 0));
        match (line.access, line.goes, line.meets) {
            (_, Goes::Case(None), _) => if_so(prospect == 0, When::AtOnce),
            // It waits until another selection meets it.
            (_, Goes::Case(Some(_)), _) if prospect == 0 => {
                if_so(self.may_be_met(activity), When::Last)
            }
            (_, Goes::Case(Some(case)), _) => {
                let bit = 1u64.checked_shl(case as u32)?;
                let choice = (prospect & (bit - 1)).count_ones();
                (prospect & bit != 0).then(|| (self.when_passed(line), choice))
            }
            (Access::Notify { all }, ..) => self.notify(line, all),
            (Access::TryTake | Access::TryLook, Goes::Fails, _) => {
                if_so(prospect == 0, When::AtOnce)
            }
            (Access::TryTake | Access::TryLook, ..) => if_so(prospect == 1, When::InTurn),
            (Access::Wake { .. }, goes, _) => {
                if_so(prospect == u64::from(goes != Goes::Fails), When::InTurn)
            }
            (_, Goes::Fails, Meets::Channel) => if_so(prospect == 0, When::AtOnce),
            (_, _, Meets::Channel) => if_so(prospect == 1, self.when_passed(line)),
            (_, goes, Meets::Mailbox(turn, room)) => {
                let (sent, handled) = self
                    .mailboxes
                    .get(&line.object())
                    .copied()
                    .unwrap_or_default();
                let has_room = sent.saturating_sub(handled) < room;
                if goes == Goes::Answer(false) {
                    return if_so(!has_room, When::AtOnce);
                }
                let handled = self.path.mailboxes.get(&line.object());
                let all = handled.map_or(0, |handled| handled.count);
                let is_next = turn.map_or(sent >= all, |turn| turn == sent);
                if_so(is_next && has_room, When::InTurn)
            }
            (_, _, Meets::OwnMailbox) => {
                let is_full = self.is_awaited(LaterOperation::FailedSend(line.object()));
                Some((if is_full { When::Later } else { When::InTurn }, 0))
            }
            (Access::Write, Goes::Answer(is_first), Meets::Promise) => {
                let is_settled = self.is_settled(activity);
                match is_first {
                    true => if_so(!is_settled, When::InTurn),
                    false => if_so(is_settled, When::AtOnce),
                }
            }
            (Access::Read, Goes::Answer(in_time), Meets::Promise) => {
                if_so(in_time == self.is_settled(activity), When::AtOnce)
            }
            (_, Goes::Answer(is_running), Meets::Activity(Some(who))) => {
                if_so(is_running != self.has_ended[who], When::AtOnce)
            }
            (Access::Own, _, _) => {
                let is_asked_before = self.is_awaited(LaterOperation::Running(line.who));
                if_so(!is_asked_before, When::InTurn)
            }
            (_, Goes::Answer(true), _) => Some((When::AtOnce, 0)),
            (_, Goes::Answer(false), _) => Some((When::Later, 0)),
            (Access::Release, ..) => {
                let is_tried = |sequence| self.is_awaited(LaterOperation::FailedTry(sequence));
                let is_tried = line.sequence.is_some_and(is_tried);
                Some((if is_tried { When::Later } else { When::InTurn }, 0))
            }
            (Access::DropSender, ..) => Some((When::Later, 0)),
            (Access::DropReceiver, ..) => Some((self.when_receiver_drops(line), 0)),
            _ => Some((When::InTurn, 0)),
        }
    }

    /// Returns when to drop a receiver: sends that succeeded come before.
    pub(super) fn when_receiver_drops(&self, line: &RecordedOperation) -> When {
        match self.is_awaited(LaterOperation::Send(line.object())) {
            true => When::Last,
            false => When::InTurn,
        }
    }

    /// Returns whether others can observe that the activity waits in a selection.
    fn may_be_met(&self, activity: Activity) -> bool {
        let event = self.run.pending(activity);
        let more = event.and_then(|event| event.more);
        more.is_some_and(|more| more.ends_with(&ANY_CHANNEL))
    }

    /// Returns whether the promise of an activity's pending operation is settled.
    fn is_settled(&self, activity: Activity) -> bool {
        let event = self.run.pending(activity);
        event.is_some_and(|event| self.settled.contains(&event.touch.object))
    }

    /// Returns when to send to a channel or to receive from it: operations that found it empty, or full, come before.
    fn when_passed(&self, line: &RecordedOperation) -> When {
        let mut objects = line.objects.iter().copied();
        let is_later = objects.any(|object| {
            line.sends() && self.is_awaited(LaterOperation::FailedReceive(object))
                || line.receives() && self.is_awaited(LaterOperation::FailedSend(object))
        });
        match is_later {
            true => When::Later,
            false => When::InTurn,
        }
    }

    /// Returns when to take a notification, and the choice of the activity that it wakes.
    fn notify(&self, line: &RecordedOperation, all: bool) -> Option<Candidate> {
        let waiting = self.waiting.get(&line.object());
        let waiting = waiting.map_or(&[][..], |waiting| waiting);
        let wakes = |activity: &Activity| {
            let head = self.head(self.who(*activity)?)?;
            (self.path.lines[head].goes != Goes::Fails).then_some(head)
        };
        let woken = waiting.iter().filter_map(wakes).count();
        match (all, waiting.len()) {
            (_, 0) if self.is_awaited(LaterOperation::Wake(line.object())) => {
                Some((When::Later, 0))
            }
            (_, 0) => Some((When::InTurn, 0)),
            (true, count) if woken == count => Some((When::InTurn, 0)),
            (false, _) if woken > 0 => {
                let first = (0..waiting.len()).min_by_key(|&index| {
                    let head = wakes(&waiting[index]);
                    (head.is_none(), head)
                });
                Some((When::InTurn, first? as u32))
            }
            // Some waiting activity times out before.
            _ => Some((When::Last, 0)),
        }
    }
}

/// Calls `note` for what other steps must leave possible for this line.
pub(super) fn each_awaited(line: &RecordedOperation, mut note: impl FnMut(LaterOperation)) {
    match (line.access, line.goes, line.meets) {
        (_, Goes::Case(None), _) => {
            for &object in &line.objects {
                note(match line.sends() {
                    true => LaterOperation::FailedSend(object),
                    false => LaterOperation::FailedReceive(object),
                });
            }
        }
        (_, Goes::Answer(false), Meets::Mailbox(..)) => {
            note(LaterOperation::FailedSend(line.object()))
        }
        (Access::TryTake | Access::TryLook, Goes::Fails, _) => {
            line.sequence
                .into_iter()
                .for_each(|sequence| note(LaterOperation::FailedTry(sequence)));
        }
        (Access::Send, Goes::Succeeds, Meets::Channel) => note(LaterOperation::Send(line.object())),
        (Access::Wake { .. }, Goes::Succeeds, _) => note(LaterOperation::Wake(line.object())),
        (Access::Read, Goes::Answer(false), Meets::Promise) => note(LaterOperation::FailedWait),
        (_, Goes::Answer(true), Meets::Activity(Some(who))) => note(LaterOperation::Running(who)),
        _ => {}
    }
}
