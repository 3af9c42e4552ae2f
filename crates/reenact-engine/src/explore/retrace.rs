//! Retraces a recorded run: converts the log of a replay to a sequence of steps of an exploration.
//!
//! Both consist of the same announcements. But a replay lets activities continue as soon as it can: it lists a receive
//! before its send, a read after a write that it did not see, and operations that are not recorded (a notification, a
//! message, a try that fails) at any time at which they may have happened. What matters is that each activity performs
//! its operations in its own order; that the operations of an object are in the recorded order; and that each operation
//! goes as it went then. So among the activities whose next operation can be a step and would go as recorded, the one
//! continues whose operation comes first in the log. If there is none before all operations are done, the recording
//! does not fit, and a divergence is reported.

mod path;
mod prospects;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    time::Instant,
};

use reenact_explore::{Activity, Divergence, DivergencePoint, Links, Moment, Run, Runs, Step};

pub(super) use self::path::RecordedPath;
use self::{
    path::{Goes, Meets, RecordedOperation},
    prospects::{LaterOperation, When, each_awaited},
};
use super::{
    event::Event,
    process::{Forked, ForkedRun},
    subject::Subject,
};
use crate::{Access, Arrival, OperationKind, site::Site};

/// The result of retracing a recorded run.
pub(super) struct Retraced {
    pub(super) steps: Vec<Step>,
    /// The number of each operation of the log that is a step, and the index of the step.
    places: Vec<(usize, usize)>,
    /// The first operation of the recorded run that the program does not perform here.
    pub(super) divergence: Option<Divergence>,
}

impl Retraced {
    /// Returns the step of this operation of the log, counted from 1, or of the next one that is a step.
    pub(super) fn step_of(&self, operation: usize) -> usize {
        if operation <= 1 {
            return 0;
        }
        let later = self
            .places
            .iter()
            .filter(|(number, _)| *number >= operation);
        let first = later.min_by_key(|(number, _)| *number);
        first.map_or(self.steps.len(), |(_, step)| *step)
    }
}

/// The time limit passed before it was known whether a recording fits.
#[derive(Debug)]
pub(super) struct OutOfTime {
    done: usize,
    recorded: usize,
}

impl fmt::Display for OutOfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the time limit passed after {} of the {} recorded operations; nothing was explored",
            self.done, self.recorded
        )
    }
}

impl std::error::Error for OutOfTime {}

/// When to stop retracing.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Maximum number of steps that are not in the log.
    pub(super) steps: usize,
    pub(super) until: Option<Instant>,
}

/// Takes the steps that were recorded. `exit` is the exit status of the recorded program; if there is one, the
/// execution then continues to its end. The recording of a program that was killed is a path that ends where the
/// recording does.
pub(super) fn retrace(
    forked: &Forked,
    path: &RecordedPath,
    limits: Limits,
    exit: Option<i32>,
) -> Result<Retraced, OutOfTime> {
    loop {
        let before = forked.granularity();
        let retraced = Retracer::new(forked, path, limits).run(exit)?;
        // If more operations have turned out to be steps, the path is another one.
        if forked.granularity() == before {
            return Ok(retraced);
        }
    }
}

struct Retracer<'a> {
    forked: &'a Forked,
    path: &'a RecordedPath,
    limits: Limits,
    run: ForkedRun,
    steps: Vec<Step>,
    places: Vec<(usize, usize)>,
    /// For each activity of the path: the activity here, and the number of its lines that are done.
    known: Vec<Option<Activity>>,
    next: Vec<usize>,
    is_done: Vec<bool>,
    /// Number of lines that are neither done nor optional.
    left: usize,
    /// For each activity of the path: whether it has ended, if that is a step.
    has_ended: Vec<bool>,
    /// For each object: the number of its operations that are done.
    orders: Vec<usize>,
    /// For each mailbox: the number of messages that were sent and handled.
    mailboxes: HashMap<u64, (usize, usize)>,
    /// For each object number here: the object's number in the path.
    objects: HashMap<u32, u64>,
    /// For each condition: the activities that wait for a notification.
    waiting: HashMap<u64, Vec<Activity>>,
    /// The promises that have been settled, by their object numbers here.
    settled: HashSet<u32>,
    /// The number of later operations that other steps must leave possible.
    awaited: HashMap<LaterOperation, usize>,
}

impl<'a> Retracer<'a> {
    fn new(forked: &'a Forked, path: &'a RecordedPath, limits: Limits) -> Retracer<'a> {
        let mut awaited = HashMap::new();
        for line in &path.lines {
            each_awaited(line, |what| *awaited.entry(what).or_default() += 1);
        }
        Retracer {
            forked,
            path,
            limits,
            run: forked.start(),
            steps: Vec::new(),
            places: Vec::new(),
            known: vec![None; path.activities.len()],
            next: vec![0; path.activities.len()],
            is_done: vec![false; path.lines.len()],
            left: path.lines.iter().filter(|line| !line.is_optional).count(),
            has_ended: vec![false; path.activities.len()],
            orders: vec![0; path.orders.len()],
            mailboxes: HashMap::new(),
            objects: HashMap::new(),
            waiting: HashMap::new(),
            settled: HashSet::new(),
            awaited,
        }
    }

    fn run(mut self, exit: Option<i32>) -> Result<Retraced, OutOfTime> {
        // Steps that are not in the log may continue without end if the program does not do what was recorded.
        let enough = self.path.lines.len() + self.limits.steps;
        while self.steps.len() < enough {
            self.check_time()?;
            for who in 0..self.path.activities.len() {
                self.activity(who);
                self.skip_rest(who);
            }
            if let Some(step) = self.free() {
                self.take(step, true);
            } else if let Some((line, step)) = self.choose() {
                self.follow(line, step);
            } else if self.left > 0
                && let Some(step) = self.unlisted()
            {
                self.take(step, true);
            } else {
                break;
            }
        }
        let divergence = self.missing();
        if divergence.is_none() && exit.is_some() {
            self.go_on(self.steps.len() + self.limits.steps)?;
        }
        let divergence = divergence.or_else(|| self.ended_otherwise(exit));
        Ok(Retraced {
            steps: self.steps,
            places: self.places,
            divergence,
        })
    }

    fn check_time(&self) -> Result<(), OutOfTime> {
        match self.limits.until {
            Some(until) if Instant::now() >= until => Err(OutOfTime {
                done: self.is_done.iter().filter(|is_done| **is_done).count(),
                recorded: self.is_done.len(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns a step of which only the effect is recorded: an operation on a promise that only one activity may
    /// settle, and forwarding a message because a promise is settled. The activity that settles the promise forwards
    /// the message, or the one that asks for its value, whichever comes later. A message is forwarded when it is the
    /// next one that was handled.
    fn free(&self) -> Option<Step> {
        let mut all = (0..self.run.activities()).map(Activity);
        let next = all.find(|&activity| {
            if !self.run.is_enabled(activity) {
                return false;
            }
            if let Some(message) = self.run.message(activity) {
                return self.is_next_message(activity, message);
            }
            let Some(event) = self.run.pending(activity) else {
                return false;
            };
            match event.op.kind() {
                OperationKind::Resolve if self.is_awaited(LaterOperation::FailedWait) => false,
                OperationKind::Resolve | OperationKind::Local => self.is_free(activity, &event),
                _ => false,
            }
        });
        next.map(Step::from)
    }

    fn is_free(&self, activity: Activity, event: &Event) -> bool {
        let is_listed = |who: usize| {
            let line = self.head(who).map(|line| &self.path.lines[line]);
            line.is_some_and(|line| is(line, event) && line.announced_at == event.site.to_string())
        };
        event.touch.access == Access::Write && !self.who(activity).is_some_and(is_listed)
    }

    /// Returns the index of an activity in the path.
    fn who(&self, activity: Activity) -> Option<usize> {
        let mut known = self.known.iter();
        known.position(|known| *known == Some(activity))
    }

    fn is_next_message(&self, activity: Activity, message: Arrival) -> bool {
        let event = self.run.pending(activity);
        let object = event.and_then(|event| self.objects.get(&event.touch.object).copied());
        let Some(object) = object else {
            return true;
        };
        let (sent, _) = self.mailboxes.get(&object).copied().unwrap_or_default();
        let name = |number| self.forked.name(Activity(number));
        let handled = self.path.mailboxes.get(&object);
        let turn = handled.and_then(|handled| handled.turn_of(&message.key(name)));
        let all = handled.map_or(0, |handled| handled.count);
        turn.map_or(sent >= all, |turn| turn == sent)
    }

    /// Returns the next line of the path, and its step.
    fn choose(&mut self) -> Option<(usize, Step)> {
        let mut best: Option<(When, usize, Step)> = None;
        for who in 0..self.path.activities.len() {
            let Some(activity) = self.activity(who) else {
                continue;
            };
            let Some(event) = self.run.pending(activity) else {
                continue;
            };
            self.skip_to(who, &event);
            let Some(line) = self.head(who) else {
                continue;
            };
            if !is(&self.path.lines[line], &event)
                || self.run.message(activity).is_some()
                || !self.run.is_enabled(activity)
                || !self.is_due(line)
            {
                continue;
            }
            if let Some((when, choice)) = self.goes_as_recorded(line, activity)
                && let Some(unwinds) = self.unwinds(line)
                && let when = when.max(unwinds)
                && best.is_none_or(|(first, least, _)| (when, line) < (first, least))
            {
                best = Some((when, line, Step { activity, choice }));
            }
        }
        best.map(|(_, line, step)| (line, step))
    }

    fn activity(&mut self, who: usize) -> Option<Activity> {
        if self.known[who].is_none() {
            self.known[who] = self.forked.find(&self.path.activities[who].0);
        }
        self.known[who]
    }

    /// Returns the next line of an activity of the path.
    fn head(&self, who: usize) -> Option<usize> {
        self.path.activities[who].1.get(self.next[who]).copied()
    }

    /// Skips optional lines, which may be part of another step, if another operation is pending.
    fn skip_to(&mut self, who: usize, event: &Event) {
        while let Some(line) = self.head(who) {
            let expected = &self.path.lines[line];
            let is_there =
                || expected.what.is_empty() || expected.announced_at == event.site.to_string();
            if !expected.is_optional || is(expected, event) && is_there() {
                return;
            }
            self.is_done(line);
        }
    }

    /// Skips the rest of an activity that has ended: what it did while it unwound was part of its last step.
    fn skip_rest(&mut self, who: usize) {
        let is_over = |activity: Activity| {
            activity.0 < self.run.activities() && self.run.pending(activity).is_none()
        };
        if !self.known[who].is_some_and(is_over) {
            return;
        }
        let path = self.path;
        let rest = &path.activities[who].1[self.next[who]..];
        let line = |index: &usize| &path.lines[*index];
        // Others wait only for lines that have a place in the order of an object.
        let last = rest.iter().rposition(|index| line(index).has_place());
        if let Some(last) = last
            && rest.iter().all(|index| line(index).is_optional)
        {
            for &line in &rest[..=last] {
                self.is_done(line);
            }
        }
    }

    fn is_done(&mut self, index: usize) {
        let line = &self.path.lines[index];
        self.is_done[index] = true;
        self.left -= usize::from(!line.is_optional);
        self.next[line.who] += 1;
        each_awaited(line, |what| {
            if let Some(count) = self.awaited.get_mut(&what) {
                *count -= 1;
            }
        });
        if let Some(sequence) = line.sequence {
            let order = &self.path.orders[sequence];
            let done = &mut self.orders[sequence];
            while order.get(*done).is_some_and(|&line| self.is_done[line]) {
                *done += 1;
            }
        }
    }

    /// Returns whether the operations that come before it at its object are done.
    fn is_due(&self, index: usize) -> bool {
        let line = &self.path.lines[index];
        match line.sequence {
            Some(sequence) if line.has_place() => {
                self.path.orders[sequence].get(self.orders[sequence]) == Some(&index)
            }
            _ => true,
        }
    }

    /// Returns when to take a step that includes the following operations of an unwinding panic, which are part of it
    /// unless they have to wait. Returns none if one of their objects is not yet in the recorded position.
    fn unwinds(&self, index: usize) -> Option<When> {
        let mut when = When::AtOnce;
        for later in self.unwinding(index) {
            let line = &self.path.lines[later];
            if let Some(sequence) = line.sequence.filter(|_| line.has_place()) {
                let order = &self.path.orders[sequence][self.orders[sequence]..];
                let mut before = order.iter().take_while(|&&other| other != later);
                let is_in_step =
                    |other| other == index || self.unwinding(index).any(|own| own == other);
                if !before.all(|&other| self.is_done[other] || is_in_step(other)) {
                    return None;
                }
            }
            if line.access == Access::DropReceiver {
                when = when.max(self.when_receiver_drops(line));
            }
        }
        Some(when)
    }

    /// Returns the lines that follow a line while a panic unwinds. The release of what the operation itself acquired
    /// may come before that.
    fn unwinding(&self, index: usize) -> impl Iterator<Item = usize> {
        let lines = &self.path.activities[self.path.lines[index].who].1;
        let next = lines.partition_point(|&line| line <= index);
        let rest = lines[next..].iter().copied();
        rest.take_while(|&line| {
            let line = &self.path.lines[line];
            line.is_panicking || line.access == Access::Release
        })
    }

    fn is_awaited(&self, what: LaterOperation) -> bool {
        self.awaited.get(&what).is_some_and(|count| *count > 0)
    }

    /// Takes the step of a line.
    fn follow(&mut self, index: usize, step: Step) {
        let line = &self.path.lines[index];
        let waiting = self.waiting.entry(line.object()).or_default();
        match line.access {
            Access::Wait => {
                waiting.push(step.activity);
                waiting.sort_unstable_by_key(|activity| activity.0);
            }
            Access::Wake { .. } => waiting.retain(|who| *who != step.activity),
            Access::Notify { all: true } => waiting.clear(),
            Access::Notify { all: false } if !waiting.is_empty() => {
                waiting.remove(step.choice as usize);
            }
            _ => {}
        }
        if line.access == Access::Own {
            self.has_ended[line.who] = true;
        }
        if line.meets == Meets::OwnMailbox {
            self.mailboxes.entry(line.object()).or_default().1 += 1;
        }
        if let Some(event) = self.run.pending(step.activity) {
            self.objects.insert(event.touch.object, line.object());
        }
        self.places.push((line.number, self.steps.len()));
        self.is_done(index);
        self.take(step, line.goes != Goes::Answer(false));
    }

    /// Takes a step. If it sends a message, `is_sent` says whether that succeeds.
    fn take(&mut self, step: Step, is_sent: bool) {
        if let Some(event) = self.run.pending(step.activity) {
            match event.op.kind() {
                OperationKind::MessageSend if is_sent => {
                    if let Some(object) = self.objects.get(&event.touch.object) {
                        self.mailboxes.entry(*object).or_default().0 += 1;
                    }
                }
                OperationKind::Resolve => {
                    self.settled.insert(event.touch.object);
                }
                _ => {}
            }
        }
        let moment = Moment(self.steps.len() as u32);
        self.run.step_at(step, moment, &mut Links::default());
        self.steps.push(step);
    }

    /// Returns a step that is not in a replay's log: a timer that fires, a choice, a wait until all is idle.
    fn unlisted(&self) -> Option<Step> {
        let mut all = (0..self.run.activities()).map(Activity);
        let next = all.find(|&activity| {
            let Some(event) = self.run.pending(activity) else {
                return false;
            };
            if !self.run.is_enabled(activity) || self.run.message(activity).is_some() {
                return false;
            }
            let Some(who) = self.who(activity) else {
                return true;
            };
            if matches!(
                event.touch.access,
                Access::Queue | Access::DropSender | Access::DropReceiver
            ) {
                return true;
            }
            // Steps after the end of the recording are not recorded either, but they are taken at the end.
            let mut rest = self.path.activities[who].1[self.next[who]..].iter();
            rest.len() > 0 && !rest.any(|&line| is(&self.path.lines[line], &event))
        });
        next.map(Step::from)
    }

    /// Returns the first operation that has not been done and is not optional.
    fn missing(&mut self) -> Option<Divergence> {
        let lines = self.path.lines.iter().enumerate();
        let missing = lines.filter(|(index, line)| !self.is_done[*index] && !line.is_optional);
        // An activity that has not been created yet is not where the divergence begins.
        let (_, line) = missing.min_by_key(|(_, line)| {
            let activity = self.known[line.who];
            activity.is_none_or(|activity| activity.0 >= self.run.activities())
        })?;
        let who = &self.path.activities[line.who].0;
        let found = match self.activity(line.who) {
            None => format!("there is no {who}"),
            Some(activity) => self.finds(who, activity),
        };
        Some(Divergence {
            point: DivergencePoint::Operation(line.number),
            expected: format!("`{}` of {who}{}", line.what, at(&line.site)),
            found,
        })
    }

    fn finds(&self, who: &str, activity: Activity) -> String {
        match self.run.pending(activity) {
            None if self.run.has_ended() => "the program has ended".to_owned(),
            None => format!("{who} has ended, or waits for something else"),
            Some(event) if self.run.is_enabled(activity) => {
                format!(
                    "{who} is about to do `{}`{}, which would go another way, or come at another time",
                    event.op.name(),
                    at(&Site::text(event.line()))
                )
            }
            Some(event) => format!(
                "{who} waits to do `{}`{}",
                event.op.name(),
                at(&Site::text(event.line()))
            ),
        }
    }

    /// Continues after the end of the recording: the last activity as long as it can, then the others.
    fn go_on(&mut self, most: usize) -> Result<(), OutOfTime> {
        let mut last = self.steps.last().map_or(Activity(0), |step| step.activity);
        while self.steps.len() < most {
            self.check_time()?;
            let others = (0..self.run.activities()).map(Activity);
            let next = std::iter::once(last).chain(others);
            let Some(next) = next
                .into_iter()
                .find(|&activity| self.run.is_enabled(activity))
            else {
                return Ok(());
            };
            self.take(next.into(), true);
            last = next;
        }
        Ok(())
    }

    fn ended_otherwise(&self, exit: Option<i32>) -> Option<Divergence> {
        let exit = exit?;
        let can_go_on =
            || (0..self.run.activities()).any(|activity| self.run.is_enabled(Activity(activity)));
        let found = match self.run.end() {
            Some(end) if libc::WIFEXITED(end) => match libc::WEXITSTATUS(end) {
                status if status == exit => return None,
                status => format!("it exits with status {status}"),
            },
            Some(end) => format!("it is killed by signal {}", libc::WTERMSIG(end)),
            None if can_go_on() => format!("it does not end in {} steps", self.steps.len()),
            None => "no activity can continue".to_owned(),
        };
        Some(Divergence {
            point: DivergencePoint::End,
            expected: format!("the recorded program exited with status {exit}"),
            found,
        })
    }
}

fn at(site: &str) -> String {
    match site {
        "" => String::new(),
        site => format!(" at {site}"),
    }
}

/// Returns whether a pending event is the operation of this line.
fn is(line: &RecordedOperation, event: &Event) -> bool {
    let is_same = line.what == event.op.name();
    match (line.access, event.touch.access) {
        // A compare-and-swap is recorded as a write and reads only if it would fail.
        (Access::Write, Access::Read) => is_same,
        (recorded, now) => recorded == now && (is_same || line.what.is_empty()),
    }
}
