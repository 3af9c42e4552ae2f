//! Threads that touch cells, in a way that shows which class of executions it was.
//!
//! A cell keeps who touched it, in which order, and who looked in between. That, and who had which lock when, is all that
//! can be observed of an execution, so two executions have the same [`Outcome`] if and only if they are of the same class.
//! Some touches can go several ways, and in some cases it depends on what others did in how many.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*, test_runner::Config};
use reenact_explore::{Accesses, Activity, Holding, Links, Moment, Run, Runs, Step, Verdict};
use reenact_testing::generated;

/// An operation of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    Look(usize),
    Touch(usize),
    /// A touch that can go in so many ways.
    Pick(usize, u32),
    /// A touch that can go in as many ways as there were touches, but in one at least and in three at most.
    Draw(usize),
    Lock(usize),
    Unlock(usize),
    Begin(usize),
    Await(usize),
}

pub(crate) use Act::*;

const OBJECTS: usize = 3;

/// Who touched, and in which way; and who looked since then, with which of its acts.
type Cell = Vec<((u32, u32), BTreeSet<(u32, usize)>)>;

/// What can be observed of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Outcome {
    pub(crate) cells: [Cell; OBJECTS],
    pub(crate) locks: [Vec<u32>; OBJECTS],
    /// How many acts each has done.
    pub(crate) at: Vec<usize>,
}

impl Outcome {
    /// Who touched the cell.
    pub(crate) fn touches(&self, cell: usize) -> Vec<u32> {
        self.cells[cell][1..]
            .iter()
            .map(|((who, _), _)| *who)
            .collect()
    }
}

/// Threads, and what is a failure.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    pub(crate) threads: Vec<Vec<Act>>,
    pub(crate) fails: fn(&Outcome) -> bool,
}

impl Cells {
    pub(crate) fn new(threads: impl IntoIterator<Item = Vec<Act>>) -> Self {
        Cells {
            threads: threads.into_iter().collect(),
            fails: |_| false,
        }
    }

    pub(crate) fn failing(mut self, fails: fn(&Outcome) -> bool) -> Self {
        self.fails = fails;
        self
    }
}

#[derive(Clone)]
pub(crate) struct Touching<'a> {
    program: &'a Cells,
    pub(crate) outcome: Outcome,
    has_begun: Vec<bool>,
    held_by: [Option<u32>; OBJECTS],
    last: Vec<Option<Moment>>,
    accesses: [Accesses; OBJECTS],
    holdings: [Holding; OBJECTS],
}

impl<'a> Runs for &'a Cells {
    type Event = Act;
    type Run = Touching<'a>;

    fn start(&self) -> Touching<'a> {
        let count = self.threads.len();
        let mut has_begun = vec![true; count];
        for act in self.threads.iter().flatten() {
            if let Begin(child) = act {
                has_begun[*child] = false;
            }
        }
        let mut outcome = Outcome {
            at: vec![0; count],
            ..Outcome::default()
        };
        for cell in &mut outcome.cells {
            cell.push(((u32::MAX, 0), BTreeSet::new()));
        }
        Touching {
            program: self,
            outcome,
            has_begun,
            held_by: [None; OBJECTS],
            last: vec![None; count],
            accesses: Default::default(),
            holdings: Default::default(),
        }
    }

    fn dependent(&self, a: &Act, b: &Act) -> bool {
        match (*a, *b) {
            (Look(_), Look(_)) => false,
            (
                Look(a) | Touch(a) | Pick(a, _) | Draw(a),
                Look(b) | Touch(b) | Pick(b, _) | Draw(b),
            ) => a == b,
            (Lock(a), Lock(b)) => a == b,
            _ => false,
        }
    }
}

impl Touching<'_> {
    fn act(&self, number: usize) -> Option<Act> {
        let act = self.program.threads[number].get(self.outcome.at[number]);
        act.copied().filter(|_| self.has_begun[number])
    }

    fn touch(&mut self, step: Step, cell: usize) {
        let touch = (step.activity.0, step.choice);
        self.outcome.cells[cell].push((touch, BTreeSet::new()));
    }
}

impl Run for Touching<'_> {
    type Event = Act;

    fn activities(&self) -> u32 {
        self.outcome.at.len() as u32
    }

    fn pending(&self, activity: Activity) -> Option<Act> {
        self.act(activity.0 as usize)
    }

    fn is_enabled(&self, activity: Activity) -> bool {
        match self.act(activity.0 as usize) {
            None => false,
            Some(Lock(lock)) => self.held_by[lock].is_none(),
            Some(Await(other)) => self.has_begun[other] && self.act(other).is_none(),
            Some(_) => true,
        }
    }

    fn choices(&self, activity: Activity) -> u32 {
        match self.act(activity.0 as usize) {
            Some(Pick(_, ways)) => ways,
            Some(Draw(cell)) => (self.outcome.cells[cell].len() as u32 - 1).clamp(1, 3),
            _ => 1,
        }
    }

    fn step(&mut self, step: Step) {
        let (who, number) = (step.activity.0, step.activity.0 as usize);
        assert!(step.choice < self.choices(step.activity));
        let at = self.outcome.at[number];
        match self.act(number).expect("it is enabled") {
            Look(cell) => {
                let last = self.outcome.cells[cell].last_mut().expect("there is one");
                last.1.insert((who, at));
            }
            Touch(cell) | Pick(cell, _) | Draw(cell) => self.touch(step, cell),
            Lock(lock) => {
                self.held_by[lock] = Some(who);
                self.outcome.locks[lock].push(who);
            }
            // Who does not have it gives nothing back.
            Unlock(lock) => {
                self.held_by[lock].take_if(|holder| *holder == who);
            }
            Begin(child) => self.has_begun[child] = true,
            Await(_) => {}
        }
        self.outcome.at[number] += 1;
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Act {
        let activity = step.activity;
        self.links(activity, links);
        let act = self.pending(activity).expect("it is enabled");
        match act {
            Look(cell) => self.accesses[cell].read(activity, moment),
            Touch(cell) | Pick(cell, _) | Draw(cell) => self.accesses[cell].write(moment),
            Lock(lock) => self.holdings[lock].lock(moment),
            Unlock(lock) if self.held_by[lock] == Some(activity.0) => {
                self.holdings[lock].unlock(moment);
            }
            Begin(child) => self.last[child] = Some(moment),
            Unlock(_) | Await(_) => {}
        }
        self.last[activity.0 as usize] = Some(moment);
        self.step(step);
        act
    }

    fn links(&self, activity: Activity, links: &mut Links) {
        if let Some(last) = self.last[activity.0 as usize] {
            links.after(last);
        }
        match self.pending(activity).expect("it has not ended") {
            Look(cell) => self.accesses[cell].link_read(links),
            Touch(cell) | Pick(cell, _) | Draw(cell) => self.accesses[cell].link_write(links),
            Lock(lock) => self.holdings[lock].link_lock(links),
            Unlock(lock) if self.held_by[lock] == Some(activity.0) => {
                self.holdings[lock].link_unlock(links);
            }
            Await(other) => {
                if let Some(last) = self.last[other] {
                    links.after(last);
                }
            }
            Unlock(_) | Begin(_) => {}
        }
    }

    fn verdict(&self) -> Verdict {
        let mut numbers = 0..self.program.threads.len();
        if (self.program.fails)(&self.outcome) {
            Verdict::Failed
        } else if numbers.any(|number| self.act(number).is_some()) {
            Verdict::Deadlock
        } else {
            Verdict::Finished
        }
    }
}

/// The steps that are possible.
pub(crate) fn possible(run: &impl Run) -> Vec<Step> {
    let activities = (0..run.activities()).map(Activity);
    activities
        .filter(|&activity| run.is_enabled(activity))
        .flat_map(|activity| {
            (0..run.choices(activity)).map(move |choice| Step { activity, choice })
        })
        .collect()
}

/// Every outcome, with all schedules that lead to it. `None`: there are too many.
pub(crate) fn by_brute_force(
    program: &Cells,
    most: usize,
) -> Option<BTreeMap<Outcome, Vec<Vec<Step>>>> {
    let mut all = BTreeMap::new();
    let mut left = most;
    walk(Runs::start(&program), &mut Vec::new(), &mut all, &mut left)?;
    Some(all)
}

fn walk(
    run: Touching<'_>,
    schedule: &mut Vec<Step>,
    all: &mut BTreeMap<Outcome, Vec<Vec<Step>>>,
    left: &mut usize,
) -> Option<()> {
    let possible = possible(&run);
    if possible.is_empty() {
        *left = left.checked_sub(1)?;
        let schedules = all.entry(run.outcome).or_default();
        schedules.push(schedule.clone());
        return Some(());
    }
    for step in possible {
        let mut next = run.clone();
        next.step(step);
        schedule.push(step);
        walk(next, schedule, all, left)?;
        schedule.pop();
    }
    Some(())
}

fn act() -> impl Strategy<Value = Act> {
    let one = 0..2usize;
    prop_oneof![
        3 => one.clone().prop_map(Look),
        3 => one.clone().prop_map(Touch),
        1 => one.clone().prop_map(|cell| Pick(cell, 2)),
        1 => one.clone().prop_map(Draw),
        3 => one.clone().prop_map(Lock),
        3 => one.prop_map(Unlock),
        1 => (0..4usize).prop_map(Await),
    ]
}

/// Two to four threads. The last may be begun by one of the others.
pub(crate) fn program() -> impl Strategy<Value = Cells> {
    let begin = proptest::option::of((0..3usize, 0..4usize));
    (vec(vec(act(), 0..5), 2..=4), begin).prop_map(|(mut threads, begin)| {
        let count = threads.len();
        for act in threads.iter_mut().flatten() {
            if let Await(thread) = act {
                *thread %= count;
            }
        }
        if let Some((by, at)) = begin {
            let thread = &mut threads[by % (count - 1)];
            thread.insert(at.min(thread.len()), Begin(count - 1));
        }
        Cells::new(threads)
    })
}

/// `REENACT_CASES=5000` for more programs.
pub(crate) fn config() -> Config {
    let config = generated::config(100);
    Config {
        max_global_rejects: 20 * config.cases,
        ..config
    }
}
