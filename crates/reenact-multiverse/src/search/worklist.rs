//! Depth first, and reduced in either order: one state at a time, with a list of what is still to be visited.
//!
//! **Sleep sets with state matching** (Godefroid). A state is visited with a set of steps that need not be taken there,
//! as what they lead to is found by taking them earlier. The set is remembered. Whoever arrives again with another one
//! takes the steps that slept then and do not sleep now, and both sets' common steps remain asleep.
//!
//! **Persistent sets.** Where all steps of an activity are alone, these are taken and no others, unless that could go on
//! forever and the others be forgotten. Every cycle has a step that leads to a level no deeper (breadth first), or onto
//! the path that the search is on (depth first): where that happens, everything is taken.
//!
//! This is for one core: what sleeps where depends on who arrives first.

use super::{
    Bound, Order, Reduction,
    course::{Course, Outlook, look},
};
use crate::{
    Semantics,
    graph::{chunks::Chunks, store::Mark},
};

/// A set of steps, sorted.
type Steps<S> = Box<[<S as Semantics>::Step]>;

/// What is still to be done.
enum Task<S: Semantics> {
    /// Visit a state, this deep, with steps that need not be taken there.
    Visit(u32, u32, Steps<S>),
    /// All that follows from this state has been visited.
    Leave(u32),
}

/// What to do in a state.
struct Plan<S: Semantics> {
    /// The numbers of the steps to take.
    wanted: Vec<usize>,
    /// Those to take as well if the others may close a cycle.
    spared: Vec<usize>,
    /// The steps that need not be taken.
    asleep: Steps<S>,
    /// Whether all of this was done before, with fewer steps left.
    is_again: bool,
}

/// A step that is taken, by number, and where it led.
struct Taken {
    step: usize,
    to: u32,
    is_new: bool,
}

/// Searches.
pub(super) fn walk<S: Semantics>(
    course: &mut Course<'_, S>,
    roots: Vec<S::State>,
    order: Order,
    reduction: Reduction,
) {
    let mut walk = Walk {
        course,
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
        walk.course.met(bound);
    }
    walk.finish();
}

struct Walk<'w, 'a, S: Semantics> {
    course: &'w mut Course<'a, S>,
    order: Order,
    reduction: Reduction,
    /// Depth first, a stack. Breadth first, what is done from the front in this level.
    tasks: Chunks<Task<S>>,
    done: usize,
    /// Breadth first, the next level.
    later: Chunks<Task<S>>,
    /// How deep each state was found (breadth first) or last expanded (depth first).
    depths: Chunks<u32>,
    /// The steps that were not taken, of each state.
    asleep: Chunks<Steps<S>>,
    asleep_bytes: usize,
}

impl<S: Semantics> Walk<'_, '_, S> {
    fn run(&mut self, roots: Vec<S::State>) -> Result<(), Bound> {
        let started = self.course.start(roots);
        let is_deep = self.order == Order::DepthFirst;
        let roots = 0..self.course.store.len() as u32;
        for root in roots.clone() {
            self.note_new(0);
            // A stack gives them back in the opposite order.
            let root = if is_deep { roots.end - 1 - root } else { root };
            self.tasks.push(Task::Visit(root, 0, Box::default()));
        }
        started?;
        while let Some(task) = self.next_task() {
            match task {
                Task::Leave(node) => self.course.store.set_mark(node, Mark::Expanded),
                Task::Visit(node, depth, asleep) => {
                    self.asleep_bytes -= size_of_val(&*asleep);
                    self.visit(node, depth, asleep)?;
                }
            }
        }
        Ok(())
    }

    fn next_task(&mut self) -> Option<Task<S>> {
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
        Some(std::mem::replace(task, Task::Leave(0)))
    }

    /// What is left to be done when a bound is met counts as seen only.
    fn finish(&mut self) {
        if self.order == Order::DepthFirst {
            for node in 0..self.course.store.len() as u32 {
                if self.course.store.mark(node) == Mark::OnPath {
                    self.course.store.set_mark(node, Mark::Expanded);
                }
            }
        }
        while let Some(task) = self.next_task() {
            let Task::Visit(node, _, asleep) = task else {
                continue;
            };
            let is_expanded = self.course.store.mark(node) == Mark::Expanded;
            if is_expanded && !without::<S>(&self.asleep[node as usize], &asleep).is_empty() {
                self.course.store.set_mark(node, Mark::Seen);
            }
        }
    }

    /// To be called for each new state.
    fn note_new(&mut self, depth: u32) {
        let is_deep = self.order == Order::DepthFirst;
        self.depths.push(if is_deep { u32::MAX } else { depth });
        self.asleep.push(Box::default());
    }

    /// Whether a depth-first search came this way before, but had fewer steps left.
    fn is_nearer(&self, node: u32, depth: u32) -> bool {
        self.order == Order::DepthFirst
            && self.course.bounds.depth.is_some()
            && depth < self.depths[node as usize]
    }

    fn visit(&mut self, node: u32, depth: u32, asleep: Steps<S>) -> Result<(), Bound> {
        let pending = self.tasks.len() - self.done + self.later.len();
        self.course.beat(pending + 1, depth)?;
        let mark = self.course.store.mark(node);
        if matches!(mark, Mark::Stopped | Mark::End) {
            return Ok(());
        }
        let is_first = mark == Mark::Seen;
        let is_nearer = self.is_nearer(node, depth);
        let woken = without::<S>(&self.asleep[node as usize], &asleep);
        if !is_first && !is_nearer && woken.is_empty() {
            return Ok(());
        }
        let state = self.course.store.state(node);
        let steps = match look(self.course.semantics, self.course.until, state) {
            Outlook::Stop => {
                self.course.store.set_mark(node, Mark::Stopped);
                return Ok(());
            }
            Outlook::End => {
                self.course.store.set_mark(node, Mark::End);
                return Ok(());
            }
            Outlook::Steps(steps) => steps,
        };
        let depth = depth.min(self.depths[node as usize]);
        if let Some(bound) = self.course.bounds.depth
            && depth >= bound
        {
            self.course.met(Bound::Depth(bound));
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

    /// Depth first, remembers with what a state was visited that is too deep: it may be found again, less deep.
    fn cut(&mut self, node: u32, depth: u32, asleep: Steps<S>) {
        if self.order == Order::DepthFirst {
            let asleep = self.with_cut(node, asleep);
            self.keep_asleep(node, asleep);
            *self.depths.get_mut(node as usize) = depth;
        }
    }

    /// What sleeps on this visit and slept on those that were cut.
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
            if self.course.store.mark(node) != Mark::OnPath {
                self.tasks.push(Task::Leave(node));
                self.course.store.set_mark(node, Mark::OnPath);
            }
        } else {
            self.course.store.set_mark(node, Mark::Expanded);
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
        self.course.store.end_run(node);
        if outcome.is_err() {
            self.course.store.set_mark(node, Mark::Seen);
        }
        self.follow(node, depth, steps, &taken, plan.asleep);
        outcome
    }

    /// Takes a step. If it was taken before, from less near, it is not an edge once more.
    fn take(
        &mut self,
        node: u32,
        depth: u32,
        steps: &[S::Step],
        number: usize,
        is_again: bool,
    ) -> Result<Taken, Bound> {
        let course = &mut *self.course;
        let next = course
            .semantics
            .take(course.store.state(node), &steps[number]);
        let (to, is_new) = course.intern(next, node, number)?;
        let is_known = is_again
            && (!course.store.has_edges()
                || course
                    .store
                    .edges(node)
                    .any(|(known, _)| known as usize == number));
        if !is_known {
            course.store.add_edge(number as u32, to);
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

    /// What to do on the first visit.
    fn first_plan(&self, node: u32, steps: &[S::Step], asleep: Steps<S>) -> Plan<S> {
        let semantics = self.course.semantics;
        let state = self.course.store.state(node);
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
            Order::DepthFirst => self.course.store.mark(taken.to) == Mark::OnPath,
            Order::BreadthFirst => {
                !taken.is_new && self.depths[taken.to as usize] <= self.depths[from as usize]
            }
        }
    }

    /// Puts the visits of what was found on the list, each with what may sleep there.
    fn follow(
        &mut self,
        node: u32,
        depth: u32,
        steps: &[S::Step],
        taken: &[Taken],
        asleep: Steps<S>,
    ) {
        let semantics = self.course.semantics;
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
                // What a cycle leads back to may have left the others to this state: they cannot count on it.
                if !(is_persistent && self.may_close_a_cycle(node, one)) {
                    asleep.push(step.clone());
                }
            }
            let needs_visit = match self.course.store.mark(one.to) {
                Mark::Seen => true,
                Mark::Stopped | Mark::End => false,
                Mark::OnPath | Mark::Expanded => {
                    !self.asleep[one.to as usize].is_empty() || self.is_nearer(one.to, depth + 1)
                }
            };
            if needs_visit {
                self.asleep_bytes += size_of_val(&*sleeps);
                visits.push(Task::Visit(one.to, depth + 1, sleeps));
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

    /// Room for what taking all these steps can need at most.
    fn make_room(&mut self, steps: &[S::Step]) -> Result<(), Bound> {
        self.course.beside = self.tasks.bytes()
            + self.later.bytes()
            + self.depths.bytes()
            + self.asleep.bytes()
            + self.asleep_bytes;
        self.course.make_room_for_edges(steps.len())?;
        if self.course.bounds.bytes.is_none() {
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
            + steps.len() * (size_of::<Taken>() + size_of::<Task<S>>() + 2 * size_of::<usize>());
        self.course.beside += more;
        self.course.make_room(0)
    }
}

/// The numbers of the steps like this.
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
    these
        .iter()
        .filter(|step| those.binary_search(step).is_err())
        .cloned()
        .collect()
}

fn common<S: Semantics>(these: &[S::Step], those: &[S::Step]) -> Steps<S> {
    these
        .iter()
        .filter(|step| those.binary_search(step).is_ok())
        .cloned()
        .collect()
}
