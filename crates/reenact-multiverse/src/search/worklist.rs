//! Depth-first search, and reduced search in either order: one state at a time, with a list of pending visits.
//!
//! **Sleep sets with state matching** (Godefroid). A state is visited with a set of steps that need not be taken there,
//! because what they lead to is found by taking them earlier. The set is stored. A later visit with another set takes
//! the steps that slept then and do not sleep now; the steps common to both sets stay asleep.
//!
//! **Persistent sets.** Where all steps of an activity are alone, only these are taken, unless that could repeat
//! forever and starve the others. Every cycle has a step that leads to a level no deeper (breadth first), or onto the
//! current path of the search (depth first): where that happens, all steps are taken.
//!
//! This uses one worker: what sleeps where depends on the order of visits.

use super::{
    Bound, Order, Reduction,
    driver::{NextSteps, SearchDriver, next_steps},
};
use crate::{
    Semantics,
    graph::{chunks::Chunks, store::StateStatus},
};

/// A sorted set of steps.
type Steps<S> = Box<[<S as Semantics>::Step]>;

/// A pending task.
enum Pending<S: Semantics> {
    /// Visit a state at this depth, with steps that need not be taken there.
    Visit(u32, u32, Steps<S>),
    /// Everything reachable from this state has been visited.
    Leave(u32),
}

/// What to do in a state.
struct Plan<S: Semantics> {
    /// The numbers of the steps to take.
    wanted: Vec<usize>,
    /// The steps to take as well if the others may close a cycle.
    spared: Vec<usize>,
    /// The steps that need not be taken.
    asleep: Steps<S>,
    /// Whether all of this was done before, at a greater depth.
    is_again: bool,
}

/// A step that was taken, by number, and where it led.
struct Taken {
    step: usize,
    to: u32,
    is_new: bool,
}

/// Runs the search.
pub(super) fn walk<S: Semantics>(
    driver: &mut SearchDriver<'_, S>,
    roots: Vec<S::State>,
    order: Order,
    reduction: Reduction,
) {
    let mut walk = WorklistSearch {
        driver,
        order,
        reduction,
        tasks: Chunks::default(),
        done: 0,
        later: Chunks::default(),
        depths: Chunks::default(),
        asleep: Chunks::default(),
        asleep_bytes: 0,
    };
    if let Err(bound) = walk.run(roots) {
        walk.driver.met(bound);
    }
    walk.finish();
}

struct WorklistSearch<'w, 'a, S: Semantics> {
    driver: &'w mut SearchDriver<'a, S>,
    order: Order,
    reduction: Reduction,
    /// Depth first: a stack. Breadth first: the tasks of this level, processed from the front.
    tasks: Chunks<Pending<S>>,
    done: usize,
    /// Breadth first: the tasks of the next level.
    later: Chunks<Pending<S>>,
    /// The depth at which each state was found (breadth first) or last expanded (depth first).
    depths: Chunks<u32>,
    /// The steps of each state that were not taken.
    asleep: Chunks<Steps<S>>,
    asleep_bytes: usize,
}

impl<S: Semantics> WorklistSearch<'_, '_, S> {
    fn run(&mut self, roots: Vec<S::State>) -> Result<(), Bound> {
        let started = self.driver.start(roots);
        let is_deep = self.order == Order::DepthFirst;
        let roots = 0..self.driver.store.len() as u32;
        for root in roots.clone() {
            self.note_new(0);
            // A stack returns them in the opposite order.
            let root = if is_deep { roots.end - 1 - root } else { root };
            self.tasks.push(Pending::Visit(root, 0, Box::default()));
        }
        started?;
        while let Some(task) = self.next_task() {
            match task {
                Pending::Leave(node) => self.driver.store.set_mark(node, StateStatus::Expanded),
                Pending::Visit(node, depth, asleep) => {
                    self.asleep_bytes -= size_of_val(&*asleep);
                    self.visit(node, depth, asleep)?;
                }
            }
        }
        Ok(())
    }

    fn next_task(&mut self) -> Option<Pending<S>> {
        if self.order == Order::DepthFirst {
            return self.tasks.pop();
        }
        if self.done == self.tasks.len() {
            self.tasks = std::mem::take(&mut self.later);
            self.done = 0;
        }
        if self.done == self.tasks.len() {
            return None;
        }
        self.done += 1;
        let task = self.tasks.get_mut(self.done - 1);
        Some(std::mem::replace(task, Pending::Leave(0)))
    }

    /// Marks states with pending visits as seen only, after a bound was reached.
    fn finish(&mut self) {
        if self.order == Order::DepthFirst {
            for node in 0..self.driver.store.len() as u32 {
                if self.driver.store.mark(node) == StateStatus::OnPath {
                    self.driver.store.set_mark(node, StateStatus::Expanded);
                }
            }
        }
        while let Some(task) = self.next_task() {
            let Pending::Visit(node, _, asleep) = task else {
                continue;
            };
            let is_expanded = self.driver.store.mark(node) == StateStatus::Expanded;
            if is_expanded && !without::<S>(&self.asleep[node as usize], &asleep).is_empty() {
                self.driver.store.set_mark(node, StateStatus::Seen);
            }
        }
    }

    /// Called for each new state.
    fn note_new(&mut self, depth: u32) {
        let is_deep = self.order == Order::DepthFirst;
        self.depths.push(if is_deep { u32::MAX } else { depth });
        self.asleep.push(Box::default());
    }

    /// Returns whether a depth-first search visited this state before at a greater depth.
    fn is_nearer(&self, node: u32, depth: u32) -> bool {
        self.order == Order::DepthFirst
            && self.driver.bounds.depth.is_some()
            && depth < self.depths[node as usize]
    }

    fn visit(&mut self, node: u32, depth: u32, asleep: Steps<S>) -> Result<(), Bound> {
        let pending = self.tasks.len() - self.done + self.later.len();
        self.driver.beat(pending + 1, depth)?;
        let mark = self.driver.store.mark(node);
        if matches!(mark, StateStatus::Stopped | StateStatus::End) {
            return Ok(());
        }
        let is_first = mark == StateStatus::Seen;
        let is_nearer = self.is_nearer(node, depth);
        let woken = without::<S>(&self.asleep[node as usize], &asleep);
        if !is_first && !is_nearer && woken.is_empty() {
            return Ok(());
        }
        let state = self.driver.store.state(node);
        let steps = match next_steps(self.driver.semantics, self.driver.until, state) {
            NextSteps::Stop => {
                self.driver.store.set_mark(node, StateStatus::Stopped);
                return Ok(());
            }
            NextSteps::End => {
                self.driver.store.set_mark(node, StateStatus::End);
                return Ok(());
            }
            NextSteps::Steps(steps) => steps,
        };
        let depth = depth.min(self.depths[node as usize]);
        if let Some(bound) = self.driver.bounds.depth
            && depth >= bound
        {
            self.driver.met(Bound::Depth(bound));
            self.cut(node, depth, asleep);
            return Ok(());
        }
        self.make_room(&steps)?;
        let plan = if is_first {
            let asleep = self.with_cut(node, asleep);
            self.first_plan(node, &steps, asleep)
        } else {
            let asleep = common::<S>(&self.asleep[node as usize], &asleep);
            let is_wanted = |step: &S::Step| match is_nearer {
                true => asleep.binary_search(step).is_err(),
                false => woken.binary_search(step).is_ok(),
            };
            Plan {
                wanted: numbers::<S>(&steps, is_wanted),
                spared: Vec::new(),
                asleep,
                is_again: is_nearer,
            }
        };
        self.expand(node, depth, &steps, plan)
    }

    /// Depth first: stores the sleep set of a state that is too deep, since it may be found again at a lower depth.
    fn cut(&mut self, node: u32, depth: u32, asleep: Steps<S>) {
        if self.order == Order::DepthFirst {
            let asleep = self.with_cut(node, asleep);
            self.keep_asleep(node, asleep);
            *self.depths.get_mut(node as usize) = depth;
        }
    }

    /// The intersection of this visit's sleep set with those of visits that were cut.
    fn with_cut(&self, node: u32, asleep: Steps<S>) -> Steps<S> {
        let is_deep = self.order == Order::DepthFirst;
        if is_deep && self.depths[node as usize] != u32::MAX {
            common::<S>(&self.asleep[node as usize], &asleep)
        } else {
            asleep
        }
    }

    fn expand(
        &mut self,
        node: u32,
        depth: u32,
        steps: &[S::Step],
        plan: Plan<S>,
    ) -> Result<(), Bound> {
        if self.order == Order::DepthFirst {
            *self.depths.get_mut(node as usize) = depth;
            if self.driver.store.mark(node) != StateStatus::OnPath {
                self.tasks.push(Pending::Leave(node));
                self.driver.store.set_mark(node, StateStatus::OnPath);
            }
        } else {
            self.driver.store.set_mark(node, StateStatus::Expanded);
        }
        self.keep_asleep(node, plan.asleep.clone());

        let mut taken = Vec::with_capacity(steps.len());
        let mut outcome = Ok(());
        for (is_spared, numbers) in [(false, &plan.wanted), (true, &plan.spared)] {
            if is_spared && !taken.iter().any(|one| self.may_close_a_cycle(node, one)) {
                break;
            }
            for &number in numbers {
                match self.take(node, depth, steps, number, plan.is_again) {
                    Ok(one) => taken.push(one),
                    Err(bound) => outcome = Err(bound),
                }
                if outcome.is_err() {
                    break;
                }
            }
        }
        self.driver.store.end_run(node);
        if outcome.is_err() {
            self.driver.store.set_mark(node, StateStatus::Seen);
        }
        self.follow(node, depth, steps, &taken, plan.asleep);
        outcome
    }

    /// Takes a step. If it was taken before, at a greater depth, no second edge is added.
    fn take(
        &mut self,
        node: u32,
        depth: u32,
        steps: &[S::Step],
        number: usize,
        is_again: bool,
    ) -> Result<Taken, Bound> {
        let driver = &mut *self.driver;
        let next = driver
            .semantics
            .take(driver.store.state(node), &steps[number]);
        let (to, is_new) = driver.intern(next, node, number)?;
        let is_known = is_again
            && (!driver.store.has_edges()
                || driver
                    .store
                    .edges(node)
                    .any(|(known, _)| known as usize == number));
        if !is_known {
            driver.store.add_edge(number as u32, to);
        }
        if is_new {
            self.note_new(depth + 1);
        }
        Ok(Taken {
            step: number,
            to,
            is_new,
        })
    }

    /// The plan of the first visit.
    fn first_plan(&self, node: u32, steps: &[S::Step], asleep: Steps<S>) -> Plan<S> {
        let semantics = self.driver.semantics;
        let state = self.driver.store.state(node);
        let mut wanted = numbers::<S>(steps, |step| asleep.binary_search(step).is_err());
        let mut spared = Vec::new();
        if self.reduction == Reduction::Persistent {
            let is_alone = |who| {
                let mut own = steps.iter().filter(|step| semantics.activity(step) == who);
                own.all(|step| semantics.is_alone(state, step))
            };
            let mut activities = steps.iter().map(|step| semantics.activity(step));
            if let Some(alone) = activities.find(|&who| is_alone(who)) {
                (wanted, spared) = wanted
                    .into_iter()
                    .partition(|&number| semantics.activity(&steps[number]) == alone);
            }
        }
        Plan {
            wanted,
            spared,
            asleep,
            is_again: false,
        }
    }

    fn may_close_a_cycle(&self, from: u32, taken: &Taken) -> bool {
        match self.order {
            Order::DepthFirst => self.driver.store.mark(taken.to) == StateStatus::OnPath,
            Order::BreadthFirst => {
                !taken.is_new && self.depths[taken.to as usize] <= self.depths[from as usize]
            }
        }
    }

    /// Adds visits of the successors to the list, each with its sleep set.
    fn follow(
        &mut self,
        node: u32,
        depth: u32,
        steps: &[S::Step],
        taken: &[Taken],
        asleep: Steps<S>,
    ) {
        let semantics = self.driver.semantics;
        let mut asleep = asleep.into_vec();
        let mut visits = Vec::with_capacity(taken.len());
        for one in taken {
            let step = &steps[one.step];
            let mut sleeps: Steps<S> = Box::default();
            if self.reduction != Reduction::None {
                let stays = asleep.iter().filter(|other| {
                    semantics.activity(other) != semantics.activity(step)
                        && !semantics.dependent(other, step)
                });
                sleeps = sorted::<S>(stays.cloned().collect());
                let is_persistent = self.reduction == Reduction::Persistent;
                // The target of a step that closes a cycle may have omitted steps in favour of this state, so later
                // steps must not rely on it.
                if !(is_persistent && self.may_close_a_cycle(node, one)) {
                    asleep.push(step.clone());
                }
            }
            let needs_visit = match self.driver.store.mark(one.to) {
                StateStatus::Seen => true,
                StateStatus::Stopped | StateStatus::End => false,
                StateStatus::OnPath | StateStatus::Expanded => {
                    !self.asleep[one.to as usize].is_empty() || self.is_nearer(one.to, depth + 1)
                }
            };
            if needs_visit {
                self.asleep_bytes += size_of_val(&*sleeps);
                visits.push(Pending::Visit(one.to, depth + 1, sleeps));
            }
        }
        match self.order {
            Order::DepthFirst => visits
                .into_iter()
                .rev()
                .for_each(|one| self.tasks.push(one)),
            Order::BreadthFirst => visits.into_iter().for_each(|one| self.later.push(one)),
        }
    }

    fn keep_asleep(&mut self, node: u32, asleep: Steps<S>) {
        self.asleep_bytes += size_of_val(&*asleep);
        let old = std::mem::replace(self.asleep.get_mut(node as usize), asleep);
        self.asleep_bytes -= size_of_val(&*old);
    }

    /// Ensures room for the maximum that taking all these steps can need.
    fn make_room(&mut self, steps: &[S::Step]) -> Result<(), Bound> {
        self.driver.beside = self.tasks.bytes()
            + self.later.bytes()
            + self.depths.bytes()
            + self.asleep.bytes()
            + self.asleep_bytes;
        self.driver.make_room_for_edges(steps.len())?;
        if self.driver.bounds.bytes.is_none() {
            return Ok(());
        }
        let tasks = match self.order {
            Order::DepthFirst => self.tasks.growth(steps.len() + 1),
            Order::BreadthFirst => self.later.growth(steps.len()),
        };
        let sets = if self.reduction == Reduction::None {
            0
        } else {
            (steps.len() + 4) * size_of_val(steps)
        };
        let more = tasks
            + self.depths.growth(steps.len())
            + self.asleep.growth(steps.len())
            + sets
            + steps.len() * (size_of::<Taken>() + size_of::<Pending<S>>() + 2 * size_of::<usize>());
        self.driver.beside += more;
        self.driver.make_room(0)
    }
}

/// The numbers of the steps that satisfy `is_it`.
fn numbers<S: Semantics>(steps: &[S::Step], is_it: impl Fn(&S::Step) -> bool) -> Vec<usize> {
    (0..steps.len())
        .filter(|&number| is_it(&steps[number]))
        .collect()
}

fn sorted<S: Semantics>(mut steps: Steps<S>) -> Steps<S> {
    steps.sort_unstable();
    steps
}

fn without<S: Semantics>(these: &[S::Step], those: &[S::Step]) -> Steps<S> {
    let is_other = |step: &&S::Step| those.binary_search(step).is_err();
    these.iter().filter(is_other).cloned().collect()
}

fn common<S: Semantics>(these: &[S::Step], those: &[S::Step]) -> Steps<S> {
    let is_common = |step: &&S::Step| those.binary_search(step).is_ok();
    these.iter().filter(is_common).cloned().collect()
}
