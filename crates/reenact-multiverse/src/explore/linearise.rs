//! The same execution with as few switches as possible.
//!
//! Of all schedules of a class, the one that lets each activity go on for as long as it can is the easiest to read. How
//! long that is depends on what has happened before, so it is a search: from the start, over who goes on next and then as
//! far as it can, breadth first. To go on as far as one can is never worse, since it takes nothing from anybody. Two
//! ways to have the same events behind them are the same from there on. Only so many ways are kept, those that are
//! farthest, so what is found is the best one unless there are very many.
//!
//! What is found depends on the class only, not on the schedule it is made from, so it also stands for the class.

use super::{Moment, Step, chronicle::Chronicle};

/// So many ways are kept.
const WIDTH: usize = 64;

/// A way to get so far.
struct Way {
    /// How many events of each activity are behind it.
    counts: Vec<u32>,
    total: usize,
    /// Who went on last, and the way before that.
    last: Option<(usize, usize)>,
}

/// A schedule of the same class that begins with the first `kept` steps, with as few switches as possible.
pub(super) fn linearise(chronicle: &Chronicle, kept: usize) -> Vec<Step> {
    let events = Events::of(chronicle);
    let (kept, len) = (
        kept.min(chronicle.schedule().len()),
        chronicle.schedule().len(),
    );
    let mut ways = vec![events.start(kept)];
    let mut level = 0..1;
    loop {
        if let Some(way) = level.clone().find(|&way| ways[way].total == len) {
            let mut schedule = chronicle.schedule()[..kept].to_vec();
            events.write(&ways, way, &mut schedule);
            return schedule;
        }
        let mut next = Vec::new();
        for at in level {
            let activities = 0..events.of.len();
            next.extend(activities.filter_map(|activity| events.go_on(&ways[at], at, activity)));
        }
        next.sort_by(|a, b| (b.total, &a.counts).cmp(&(a.total, &b.counts)));
        next.dedup_by(|a, b| a.counts == b.counts);
        next.truncate(WIDTH);
        level = ways.len()..ways.len() + next.len();
        ways.append(&mut next);
    }
}

/// The events of an execution, for each activity.
struct Events<'a> {
    chronicle: &'a Chronicle,
    of: Vec<Vec<Moment>>,
    /// The number of each among those of its activity.
    numbers: Vec<u32>,
}

impl<'a> Events<'a> {
    fn of(chronicle: &'a Chronicle) -> Self {
        let mut of: Vec<Vec<Moment>> = Vec::new();
        let mut numbers = Vec::new();
        for moment in chronicle.moments() {
            let activity = chronicle.step(moment).activity.0 as usize;
            if of.len() <= activity {
                of.resize_with(activity + 1, Vec::new);
            }
            numbers.push(of[activity].len() as u32);
            of[activity].push(moment);
        }
        Events {
            chronicle,
            of,
            numbers,
        }
    }

    /// Behind what is kept. Whoever was last goes on: that is no switch.
    fn start(&self, kept: usize) -> Way {
        let mut counts = vec![0; self.of.len()];
        for step in &self.chronicle.schedule()[..kept] {
            counts[step.activity.0 as usize] += 1;
        }
        let start = Way {
            counts,
            total: kept,
            last: None,
        };
        let last = self.chronicle.schedule()[..kept].last();
        match last.and_then(|last| self.go_on(&start, 0, last.activity.0 as usize)) {
            Some(way) => Way { last: None, ..way },
            None => start,
        }
    }

    /// The way on from there, if this activity goes on as far as it can. `None`: it cannot.
    fn go_on(&self, way: &Way, at: usize, activity: usize) -> Option<Way> {
        let is_behind = |before: Moment| {
            let other = self.chronicle.step(before).activity.0 as usize;
            other == activity || self.numbers[before.index()] < way.counts[other]
        };
        let own = &self.of[activity][way.counts[activity] as usize..];
        let more = own
            .iter()
            .take_while(|&&moment| self.chronicle.before(moment).all(is_behind))
            .count();
        if more == 0 {
            return None;
        }
        let mut counts = way.counts.clone();
        counts[activity] += more as u32;
        Some(Way {
            counts,
            total: way.total + more,
            last: Some((activity, at)),
        })
    }

    /// Writes down the steps of a way.
    fn write(&self, ways: &[Way], way: usize, schedule: &mut Vec<Step>) {
        let before = |&way: &usize| ways[way].last.map(|(_, before)| before);
        let mut path: Vec<usize> = std::iter::successors(Some(way), before).collect();
        path.reverse();
        let mut counts = vec![0; self.of.len()];
        for step in &*schedule {
            counts[step.activity.0 as usize] += 1;
        }
        for way in path {
            for (activity, count) in counts.iter_mut().enumerate() {
                let end = ways[way].counts[activity];
                let moments = &self.of[activity][*count as usize..end as usize];
                schedule.extend(moments.iter().map(|&moment| self.chronicle.step(moment)));
                *count = end;
            }
        }
    }
}
