//! The loop of a bounded exploration: go back to a deferred step, and run from there to the end.

use std::{collections::HashSet, hash::Hash};

use super::cost::Bounding;
use crate::{
    Activity, Fingerprint, Fingerprinter, Links, Progress, Run, Runs, Seen, Step, Verdict,
};

/// A step and its predecessor. Schedules share their prefixes, so they are stored as a tree.
struct Node {
    parent: Option<u32>,
    step: Step,
}

/// A bounded exploration in progress.
///
/// # Invariants
///
/// 1. `seen` contains every universe that was continued, together with the activity that costs depend on; everything
///    that can follow such a universe was run, deferred, or cut.
/// 2. Levels below `level` are empty.
pub(super) struct BoundedDriver<'a, R: Runs> {
    runs: &'a R,
    bounding: Bounding,
    most: u32,
    most_steps: usize,
    nodes: Vec<Node>,
    /// For each level, the last steps of the prefixes to be tried. `None` is the empty prefix.
    put_off: Vec<Vec<Option<u32>>>,
    level: usize,
    seen: HashSet<Fingerprint, foldhash::fast::FixedState>,
    /// Whether something was left out because its cost exceeds `most`.
    is_bounded: bool,
    /// Whether an execution was cut.
    is_cut: bool,
    pub(super) done: Progress,
    schedule: Vec<Step>,
    enabled: Vec<Activity>,
    links: Links,
    prints: Fingerprinter,
}

impl<'a, R: Runs> BoundedDriver<'a, R>
where
    R::Event: Hash,
{
    pub(super) fn new(runs: &'a R, bounding: Bounding, most: u32, most_steps: Option<u32>) -> Self {
        BoundedDriver {
            runs,
            bounding,
            most,
            most_steps: most_steps.map_or(usize::MAX, |most| most as usize),
            nodes: Vec::new(),
            put_off: vec![vec![None]],
            level: 0,
            seen: HashSet::default(),
            is_bounded: false,
            is_cut: false,
            done: Progress::default(),
            schedule: Vec::new(),
            enabled: Vec::new(),
            links: Links::default(),
            prints: Fingerprinter::default(),
        }
    }

    /// The level of what is to be tried next. `None` if nothing is left.
    pub(super) fn level(&mut self) -> Option<u32> {
        let left = self.put_off[self.level..].iter();
        let next = left.take_while(|level| level.is_empty()).count();
        self.level += next;
        (self.level < self.put_off.len()).then_some(self.level as u32)
    }

    /// The maximum number of steps, if an execution reached it.
    pub(super) fn cut_at(&self) -> Option<u32> {
        self.is_cut.then_some(self.most_steps as u32)
    }

    /// The highest level up to which nothing is left to be tried.
    pub(super) fn all_up_to(&self) -> Option<u32> {
        match self.put_off.iter().position(|level| !level.is_empty()) {
            Some(left) => (left as u32).checked_sub(1),
            None if self.is_bounded => Some(self.most),
            None => Some(self.put_off.len() as u32 - 1),
        }
    }

    /// Returns whether nothing is left to be tried on any level.
    pub(super) fn is_everything(&self) -> bool {
        !self.is_bounded && self.put_off.iter().all(Vec::is_empty)
    }

    /// Runs once, from a deferred step to the end. `None` if the run reached a universe that was already continued.
    ///
    /// # Panics
    ///
    /// Panics if there is no level left.
    pub(super) fn execute(&mut self, visit: impl FnOnce(&Seen<'_, R>)) -> Option<Verdict> {
        let mut node = self.put_off[self.level].pop().expect("a level is left");
        let mut run = self.runs.start();
        if !self.go_back_to(node, &mut run) {
            return Some(Verdict::Interrupted);
        }
        let verdict = loop {
            let last = self.schedule.last().map(|step| step.activity);
            self.enabled.clear();
            let activities = (0..run.activities()).map(Activity);
            self.enabled
                .extend(activities.filter(|&activity| run.is_enabled(activity)));
            self.bounding.sort(&mut self.enabled, last);
            let current = self.bounding.current(&self.enabled, last);
            if !self.seen.insert(self.prints.fingerprint().with(current)) {
                self.done.redundant += 1;
                return None;
            }
            if self.enabled.is_empty() {
                break run.verdict();
            }
            if self.schedule.len() >= self.most_steps {
                self.is_cut = true;
                break Verdict::Cut;
            }
            let step = Step::from(self.enabled[0]);
            self.put_off_others(&run, node, last);
            node = Some(self.node(node, step));
            self.step(&mut run, step);
            self.done.steps += 1;
        };
        visit(&Seen {
            number: self.done.executions,
            verdict,
            run: &run,
            schedule: &self.schedule,
        });
        self.done.count(verdict);
        Some(verdict)
    }

    /// Takes the steps up to `node`. The last of them is new. Returns false if the run is interrupted meanwhile.
    fn go_back_to(&mut self, node: Option<u32>, run: &mut R::Run) -> bool {
        let parents = std::iter::successors(node, |&node| self.nodes[node as usize].parent);
        let mut schedule = std::mem::take(&mut self.schedule);
        schedule.clear();
        schedule.extend(parents.map(|node| self.nodes[node as usize].step));
        schedule.reverse();
        self.prints.clear();
        for &step in &schedule {
            let is_possible =
                run.is_enabled(step.activity) && step.choice < run.choices(step.activity);
            if !is_possible && run.verdict() == Verdict::Interrupted {
                return false;
            }
            assert!(
                is_possible,
                "{step:?} was possible, and under the same schedule is not any more"
            );
            self.step(run, step);
        }
        self.done.steps += u64::from(node.is_some());
        self.done.repeated += (schedule.len() as u64).saturating_sub(1);
        self.schedule = schedule;
        true
    }

    fn step(&mut self, run: &mut R::Run, step: Step) {
        self.links.clear();
        let event = run.step_at(step, self.prints.next(), &mut self.links);
        self.prints.push(step, &event, &self.links);
        self.schedule.push(step);
    }

    fn node(&mut self, parent: Option<u32>, step: Step) -> u32 {
        let node = u32::try_from(self.nodes.len()).expect("fewer than 2^32 steps to remember");
        self.nodes.push(Node { parent, step });
        node
    }

    /// Defers all steps except the first choice of the first activity, to this level or a later one.
    fn put_off_others(&mut self, run: &R::Run, node: Option<u32>, last: Option<Activity>) {
        for position in (0..self.enabled.len()).rev() {
            let activity = self.enabled[position];
            let cost = self.bounding.cost(position, &self.enabled, last) as usize;
            let level = self.level + cost;
            if level > self.most as usize {
                self.is_bounded = true;
                continue;
            }
            if self.put_off.len() <= level {
                self.put_off.resize_with(level + 1, Vec::new);
            }
            let first = u32::from(position == 0);
            for choice in (first..run.choices(activity)).rev() {
                let other = self.node(node, Step { activity, choice });
                self.put_off[level].push(Some(other));
            }
        }
    }
}
