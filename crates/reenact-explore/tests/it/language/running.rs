//! Runs of programs, with objects that know with what their operations race.

use reenact_explore::{
    Accesses, Activity, Conditions, Holding, Latches, Links, Moment, Passing, Run, Runs, Sharing,
    Step, Verdict,
};

use super::{Event, Machine, OBJECTS, Op, Program, capacity, dependence::is_dependent};

/// A program under way.
pub struct Running<'a> {
    pub machine: Machine<'a>,
    /// The last event of each thread, or the one that spawned it.
    last: Vec<Option<Moment>>,
    variables: [Accesses; OBJECTS],
    mutexes: [Holding; OBJECTS],
    shared: [Sharing; OBJECTS],
    queues: [Passing; OBJECTS],
    conditions: [Conditions; OBJECTS],
    latches: [Latches; OBJECTS],
}

impl<'a> Runs for &'a Program {
    type Event = Event;
    type Run = Running<'a>;

    fn start(&self) -> Running<'a> {
        let queues = std::array::from_fn(|queue| match capacity(queue) {
            Some(capacity) => Passing::bounded(capacity),
            None => Passing::default(),
        });
        Running {
            machine: self.machine(),
            last: vec![None; self.threads.len()],
            variables: Default::default(),
            mutexes: Default::default(),
            shared: Default::default(),
            queues,
            conditions: Default::default(),
            latches: Default::default(),
        }
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        is_dependent(*a, *b)
    }
}

impl Running<'_> {
    fn note(&mut self, step: Step, event: Event, moment: Moment) {
        let activity = step.activity;
        match event {
            Event::Read(variable) => self.variables[variable].read(activity, moment),
            Event::Write(variable) => self.variables[variable].write(moment),
            Event::Transaction { reads, writes } => {
                for (variable, accesses) in self.variables.iter_mut().enumerate() {
                    if writes & 1 << variable != 0 {
                        accesses.write(moment);
                    } else if reads & 1 << variable != 0 {
                        accesses.read(activity, moment);
                    }
                }
            }
            Event::Lock(mutex) => self.mutexes[mutex].lock(moment),
            Event::FindLocked(mutex) => self.mutexes[mutex].try_in_vain(activity, moment),
            Event::Unlock(mutex) => self.mutexes[mutex].unlock(moment),
            Event::Look(lock) => self.shared[lock].look(activity, moment),
            Event::Take(lock) => self.shared[lock].take(moment),
            Event::Downgrade(lock) => self.shared[lock].downgrade(activity, moment),
            Event::Leave(lock) | Event::Release(lock) => self.shared[lock].leave(activity, moment),
            Event::Send(queue) => self.queues[queue].send(moment),
            Event::FindFull(queue) => self.queues[queue].find_full(activity, moment),
            Event::Receive(queue) => self.queues[queue].receive(moment),
            Event::FindEmpty(queue) => self.queues[queue].find_empty(activity, moment),
            Event::GiveUp(queue) => self.queues[queue].give_up(activity, moment),
            Event::Close(queue) => self.queues[queue].close(moment),
            Event::Wait(condition) => self.conditions[condition].wait(activity, moment),
            Event::Notify(condition) => {
                let woken = self.machine.woken(activity.0 as usize, step.choice);
                let woken = woken.into_iter().map(|thread| Activity(thread as u32));
                self.conditions[condition].notify(moment, woken);
            }
            Event::Set(latch) => self.latches[latch].set(moment),
            Event::Ask(latch) => self.latches[latch].ask(activity, moment),
            Event::Spawn(thread) => self.last[thread] = Some(moment),
            Event::FindClosed(_)
            | Event::FindEnd(_)
            | Event::Wake(_)
            | Event::Await(_)
            | Event::Pick
            | Event::Join(_) => {}
            Event::TryLock(_)
            | Event::SendOrGiveUp(_)
            | Event::TrySend(_)
            | Event::TryReceive(_) => {
                unreachable!("it is known how it ends")
            }
        }
    }
}

impl Run for Running<'_> {
    type Event = Event;

    fn activities(&self) -> u32 {
        self.machine.threads() as u32
    }

    fn pending(&self, activity: Activity) -> Option<Event> {
        self.machine.pending(activity.0 as usize)
    }

    fn is_enabled(&self, activity: Activity) -> bool {
        self.machine.is_enabled(activity.0 as usize)
    }

    fn choices(&self, activity: Activity) -> u32 {
        self.machine.choices(activity.0 as usize)
    }

    fn links(&self, activity: Activity, links: &mut Links) {
        let number = activity.0 as usize;
        if let Some(last) = self.last[number] {
            links.after(last);
        }
        let op = self.machine.op(number).expect("it has not ended");
        let tries = matches!(op, Op::TryLock(_) | Op::TrySend(..) | Op::TryReceive(_));
        match self.machine.performed(number).expect("it has not ended") {
            Event::Read(variable) => self.variables[variable].link_read(links),
            Event::Write(variable) => self.variables[variable].link_write(links),
            Event::Transaction { reads, writes } => {
                for (variable, accesses) in self.variables.iter().enumerate() {
                    if writes & 1 << variable != 0 {
                        accesses.link_write(links);
                    } else if reads & 1 << variable != 0 {
                        accesses.link_read(links);
                    }
                }
            }
            Event::Lock(mutex) if tries => self.mutexes[mutex].link_try(links),
            Event::FindLocked(mutex) => self.mutexes[mutex].link_try(links),
            Event::Lock(mutex) => self.mutexes[mutex].link_lock(links),
            Event::Unlock(mutex) => self.mutexes[mutex].link_unlock(links),
            Event::Look(lock) => self.shared[lock].link_look(links),
            Event::Take(lock) => self.shared[lock].link_take(links),
            Event::Downgrade(lock) | Event::Leave(lock) | Event::Release(lock) => {
                self.shared[lock].link_leave(activity, links);
            }
            Event::Send(queue) if tries => self.queues[queue].link_try_send(links),
            Event::Send(queue) => self.queues[queue].link_send(links),
            Event::FindFull(queue) => self.queues[queue].link_find_full(links),
            Event::Receive(queue) if tries => self.queues[queue].link_try_receive(links),
            Event::Receive(queue) => self.queues[queue].link_receive(links),
            Event::FindEmpty(queue) => self.queues[queue].link_find_empty(links),
            Event::Close(queue) => self.queues[queue].link_close(links),
            Event::GiveUp(queue) => self.queues[queue].link_give_up(links),
            Event::FindClosed(queue) if matches!(op, Op::Send(..)) => {
                self.queues[queue].link_send_in_vain(links);
            }
            Event::FindClosed(queue) => self.queues[queue].link_find_closed(links),
            Event::FindEnd(queue) if tries => self.queues[queue].link_try_end(links),
            Event::FindEnd(queue) => self.queues[queue].link_end(links),
            Event::Wait(condition) => self.conditions[condition].link_wait(links),
            Event::Notify(condition) => self.conditions[condition].link_notify(links),
            Event::Wake(condition) => self.conditions[condition].link_wake(activity, links),
            Event::Set(latch) => self.latches[latch].link_set(links),
            Event::Ask(latch) => self.latches[latch].link_ask(links),
            Event::Await(latch) => self.latches[latch].link_wait(links),
            Event::Pick | Event::Spawn(_) => {}
            Event::Join(thread) => {
                if let Some(last) = self.last[thread] {
                    links.after(last);
                }
            }
            Event::TryLock(_)
            | Event::SendOrGiveUp(_)
            | Event::TrySend(_)
            | Event::TryReceive(_) => {
                unreachable!("it is known how it ends")
            }
        }
    }

    fn step(&mut self, step: Step) {
        self.machine.step(step.activity.0 as usize, step.choice);
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Event {
        let number = step.activity.0 as usize;
        self.links(step.activity, links);
        let event = self.machine.performed(number).expect("it has not ended");
        self.note(step, event, moment);
        self.last[number] = Some(moment);
        self.machine.step(number, step.choice);
        event
    }

    fn verdict(&self) -> Verdict {
        let mut activities = (0..self.activities()).map(Activity);
        match activities.any(|activity| self.pending(activity).is_some()) {
            _ if self.machine.has_failed => Verdict::Failed,
            true => Verdict::Deadlock,
            false => Verdict::Finished,
        }
    }
}
