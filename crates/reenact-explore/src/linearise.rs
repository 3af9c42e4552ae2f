//! Rewrites a schedule into an equivalent one with as few switches as possible.
//!
//! Of all schedules of a class, the one that runs each activity for as long as possible is the easiest to read. How
//! long that is depends on what has happened before, so finding it takes a search: breadth first, over which activity
//! runs next and then runs as far as it can. Running as far as possible is never worse, since it disables nothing. Two
//! prefixes with the same events are equivalent. Only the `WIDTH` longest prefixes of each level are kept, so the
//! result is optimal unless there are very many.
//!
//! The result depends only on the class, not on the schedule it is made from, so it also serves as the representative
//! of the class.

use super::{Moment, Step, event_log::EventLog};

/// How many prefixes are kept per level.
const WIDTH: usize = 64;

/// The beginning of a schedule.
struct Prefix {
    /// The number of events of each activity in it.
    counts: Vec<u32>,
    total: usize,
    /// The activity that ran last, and the index of the prefix before that.
    last: Option<(usize, usize)>,
}

/// Returns a schedule of the same class that begins with the first `kept` steps, with as few switches as possible.
pub(super) fn linearise(event_log: &EventLog, kept: usize) -> Vec<Step> {
    let events = Events::of(event_log);
    let (kept, len) = (
        kept.min(event_log.schedule().len()),
        event_log.schedule().len(),
    );
    let mut prefixes = vec![events.start(kept)];
    let mut level = 0..1;
    loop {
        if let Some(prefix) = level.clone().find(|&prefix| prefixes[prefix].total == len) {
            let mut schedule = event_log.schedule()[..kept].to_vec();
            events.write(&prefixes, prefix, &mut schedule);
            return schedule;
        }
        let mut next = Vec::new();
        for at in level {
            let activities = 0..events.of.len();
            next.extend(
                activities.filter_map(|activity| events.go_on(&prefixes[at], at, activity)),
            );
        }
        next.sort_by(|a, b| (b.total, &a.counts).cmp(&(a.total, &b.counts)));
        next.dedup_by(|a, b| a.counts == b.counts);
        next.truncate(WIDTH);
        level = prefixes.len()..prefixes.len() + next.len();
        prefixes.append(&mut next);
    }
}

/// The events of an execution, by activity.
struct Events<'a> {
    event_log: &'a EventLog,
    of: Vec<Vec<Moment>>,
    /// The position of each event among those of its activity.
    numbers: Vec<u32>,
}

impl<'a> Events<'a> {
    fn of(event_log: &'a EventLog) -> Self {
        let mut of: Vec<Vec<Moment>> = Vec::new();
        let mut numbers = Vec::new();
        for moment in event_log.moments() {
            let activity = event_log.step(moment).activity.0 as usize;
            if of.len() <= activity {
                of.resize_with(activity + 1, Vec::new);
            }
            numbers.push(of[activity].len() as u32);
            of[activity].push(moment);
        }
        Events {
            event_log,
            of,
            numbers,
        }
    }

    /// The prefix after the first `kept` steps, extended by the last activity, which takes no switch.
    fn start(&self, kept: usize) -> Prefix {
        let mut counts = vec![0; self.of.len()];
        for step in &self.event_log.schedule()[..kept] {
            counts[step.activity.0 as usize] += 1;
        }
        let start = Prefix {
            counts,
            total: kept,
            last: None,
        };
        let last = self.event_log.schedule()[..kept].last();
        match last.and_then(|last| self.go_on(&start, 0, last.activity.0 as usize)) {
            Some(prefix) => Prefix {
                last: None,
                ..prefix
            },
            None => start,
        }
    }

    /// Extends the prefix by running this activity as far as it can. `None` if it cannot run.
    fn go_on(&self, prefix: &Prefix, at: usize, activity: usize) -> Option<Prefix> {
        let is_behind = |before: Moment| {
            let other = self.event_log.step(before).activity.0 as usize;
            other == activity || self.numbers[before.index()] < prefix.counts[other]
        };
        let own = &self.of[activity][prefix.counts[activity] as usize..];
        let more = own
            .iter()
            .take_while(|&&moment| self.event_log.before(moment).all(is_behind))
            .count();
        if more == 0 {
            return None;
        }
        let mut counts = prefix.counts.clone();
        counts[activity] += more as u32;
        Some(Prefix {
            counts,
            total: prefix.total + more,
            last: Some((activity, at)),
        })
    }

    /// Appends the steps of a prefix.
    fn write(&self, prefixes: &[Prefix], prefix: usize, schedule: &mut Vec<Step>) {
        let before = |&prefix: &usize| prefixes[prefix].last.map(|(_, before)| before);
        let mut path: Vec<usize> = std::iter::successors(Some(prefix), before).collect();
        path.reverse();
        let mut counts = vec![0; self.of.len()];
        for step in &*schedule {
            counts[step.activity.0 as usize] += 1;
        }
        for prefix in path {
            for (activity, count) in counts.iter_mut().enumerate() {
                let end = prefixes[prefix].counts[activity];
                let moments = &self.of[activity][*count as usize..end as usize];
                schedule.extend(moments.iter().map(|&moment| self.event_log.step(moment)));
                *count = end;
            }
        }
    }
}
