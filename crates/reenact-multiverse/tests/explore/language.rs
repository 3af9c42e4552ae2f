//! A small language of threads, and its machine.
//!
//! A thread has one register, with what it read last. Local operations are part of the step before them.

use std::collections::VecDeque;

use reenact_multiverse::{
    Activity,
    explore::{Accesses, Holding, Links, Moment, Passing, Run, Runs, Step, Verdict},
};

/// What is written or sent.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Just(i64),
    /// The register and so much more.
    Register(i64),
}

/// An operation of a thread.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Load(usize),
    Store(usize, Value),
    FetchAdd(usize, i64),
    Lock(usize),
    /// Nothing happens unless the thread has the mutex.
    Unlock(usize),
    Send(usize, Value),
    Receive(usize),
    Spawn(usize),
    Join(usize),
    /// Local: so many operations are left out if the register has this value.
    SkipIf(i64, usize),
    /// Local: the thread ends if the register has this value.
    EndIf(i64),
    /// Local: the thread fails if the register has this value.
    FailIf(i64),
}

/// What a step does, as far as others are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Read(usize),
    Write(usize),
    Lock(usize),
    Unlock(usize),
    Send(usize),
    Receive(usize),
    Spawn(usize),
    Join(usize),
}

/// Threads. Those that nobody spawns are there from the start.
#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Vec<Op>>,
}

const ENTITIES: usize = 8;

#[derive(Clone, Debug)]
struct Thread {
    at: usize,
    register: i64,
    is_started: bool,
    holds: [bool; ENTITIES],
}

/// A program at some point.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    program: &'a Program,
    threads: Vec<Thread>,
    variables: [i64; ENTITIES],
    is_held: [bool; ENTITIES],
    queues: [VecDeque<i64>; ENTITIES],
    pub has_failed: bool,
}

impl Program {
    pub fn new(threads: impl IntoIterator<Item = Vec<Op>>) -> Self {
        Program {
            threads: threads.into_iter().collect(),
        }
    }

    pub fn machine(&self) -> Machine<'_> {
        let is_spawned = |number| {
            let mut ops = self.threads.iter().flatten();
            ops.any(|op| matches!(op, Op::Spawn(spawned) if *spawned == number))
        };
        let mut machine = Machine {
            program: self,
            threads: (0..self.threads.len())
                .map(|number| Thread {
                    at: 0,
                    register: 0,
                    is_started: !is_spawned(number),
                    holds: [false; ENTITIES],
                })
                .collect(),
            variables: [0; ENTITIES],
            is_held: [false; ENTITIES],
            queues: Default::default(),
            has_failed: false,
        };
        for number in 0..self.threads.len() {
            machine.go_on(number);
        }
        machine
    }
}

impl Machine<'_> {
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    fn op(&self, number: usize) -> Option<Op> {
        let thread = &self.threads[number];
        self.program.threads[number].get(thread.at).copied()
    }

    /// What the thread is about to do.
    pub fn pending(&self, number: usize) -> Option<Event> {
        if !self.threads[number].is_started {
            return None;
        }
        Some(match self.op(number)? {
            Op::Load(variable) => Event::Read(variable),
            Op::Store(variable, _) | Op::FetchAdd(variable, _) => Event::Write(variable),
            Op::Lock(mutex) => Event::Lock(mutex),
            Op::Unlock(mutex) => Event::Unlock(mutex),
            Op::Send(queue, _) => Event::Send(queue),
            Op::Receive(queue) => Event::Receive(queue),
            Op::Spawn(thread) => Event::Spawn(thread),
            Op::Join(thread) => Event::Join(thread),
            Op::SkipIf(..) | Op::EndIf(_) | Op::FailIf(_) => unreachable!("they are local"),
        })
    }

    pub fn is_enabled(&self, number: usize) -> bool {
        match self.pending(number) {
            None => false,
            Some(Event::Lock(mutex)) => !self.is_held[mutex],
            Some(Event::Receive(queue)) => !self.queues[queue].is_empty(),
            Some(Event::Join(thread)) => {
                self.threads[thread].is_started && self.op(thread).is_none()
            }
            Some(_) => true,
        }
    }

    pub fn step(&mut self, number: usize) {
        let register = self.threads[number].register;
        let value = |value| match value {
            Value::Just(value) => value,
            Value::Register(more) => register + more,
        };
        let op = self.op(number).expect("it is enabled");
        let mut read = None;
        match op {
            Op::Load(variable) => read = Some(self.variables[variable]),
            Op::Store(variable, new) => self.variables[variable] = value(new),
            Op::FetchAdd(variable, more) => {
                read = Some(self.variables[variable]);
                self.variables[variable] += more;
            }
            Op::Lock(mutex) => self.set_held(number, mutex, true),
            Op::Unlock(mutex) => self.set_held(number, mutex, false),
            Op::Send(queue, new) => self.queues[queue].push_back(value(new)),
            Op::Receive(queue) => read = self.queues[queue].pop_front(),
            Op::Spawn(thread) => self.threads[thread].is_started = true,
            Op::Join(_) => {}
            Op::SkipIf(..) | Op::EndIf(_) | Op::FailIf(_) => unreachable!("they are local"),
        }
        let thread = &mut self.threads[number];
        thread.register = read.unwrap_or(register);
        thread.at += 1;
        self.go_on(number);
    }

    fn set_held(&mut self, number: usize, mutex: usize, is_held: bool) {
        self.is_held[mutex] = is_held;
        self.threads[number].holds[mutex] = is_held;
    }

    /// Does what is local.
    fn go_on(&mut self, number: usize) {
        let end = self.program.threads[number].len();
        while let Some(op) = self.op(number) {
            let thread = &mut self.threads[number];
            let is = |value| thread.register == value;
            match op {
                Op::SkipIf(value, count) if is(value) => thread.at += 1 + count,
                Op::EndIf(value) if is(value) => thread.at = end,
                Op::FailIf(value) if is(value) => {
                    thread.at = end;
                    self.has_failed = true;
                }
                Op::SkipIf(..) | Op::EndIf(_) | Op::FailIf(_) => thread.at += 1,
                Op::Unlock(mutex) if !thread.holds[mutex] => thread.at += 1,
                _ => return,
            }
        }
    }

    /// What came of it.
    pub fn outcome(&self) -> String {
        let registers: Vec<_> = self.threads.iter().map(|thread| thread.register).collect();
        let waiting: Vec<_> = (0..self.threads())
            .map(|number| self.pending(number))
            .collect();
        format!(
            "{registers:?} {:?} {:?} {waiting:?} {}",
            self.variables, self.queues, self.has_failed
        )
    }
}

/// A run of a program, with entities that know with what their operations race.
pub struct Running<'a> {
    pub machine: Machine<'a>,
    /// The last event of each thread, or the one that spawned it.
    last: Vec<Option<Moment>>,
    variables: [Accesses; ENTITIES],
    mutexes: [Holding; ENTITIES],
    queues: [Passing; ENTITIES],
}

impl<'a> Runs for &'a Program {
    type Event = Event;
    type Run = Running<'a>;

    fn start(&self) -> Running<'a> {
        Running {
            machine: self.machine(),
            last: vec![None; self.threads.len()],
            variables: Default::default(),
            mutexes: Default::default(),
            queues: Default::default(),
        }
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        match (a, b) {
            (Event::Read(a) | Event::Write(a), Event::Write(b)) => a == b,
            (Event::Write(a), Event::Read(b)) => a == b,
            (Event::Lock(a), Event::Lock(b)) => a == b,
            (Event::Send(a), Event::Send(b)) => a == b,
            (Event::Receive(a), Event::Receive(b)) => a == b,
            _ => false,
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

    fn links(&self, activity: Activity, links: &mut Links) {
        if let Some(last) = self.last[activity.0 as usize] {
            links.after(last);
        }
        match self.pending(activity).expect("it has not ended") {
            Event::Read(variable) => self.variables[variable].link_read(links),
            Event::Write(variable) => self.variables[variable].link_write(links),
            Event::Lock(mutex) => self.mutexes[mutex].link_lock(links),
            Event::Unlock(mutex) => self.mutexes[mutex].link_unlock(links),
            Event::Send(queue) => self.queues[queue].link_send(links),
            Event::Receive(queue) => self.queues[queue].link_receive(links),
            Event::Spawn(_) => {}
            Event::Join(thread) => {
                if let Some(last) = self.last[thread] {
                    links.after(last);
                }
            }
        }
    }

    fn step(&mut self, step: Step) {
        self.machine.step(step.activity.0 as usize);
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Event {
        let activity = step.activity;
        self.links(activity, links);
        let event = self.pending(activity).expect("it has not ended");
        match event {
            Event::Read(variable) => self.variables[variable].read(activity, moment),
            Event::Write(variable) => self.variables[variable].write(moment),
            Event::Lock(mutex) => self.mutexes[mutex].lock(moment),
            Event::Unlock(mutex) => self.mutexes[mutex].unlock(moment),
            Event::Send(queue) => self.queues[queue].send(moment),
            Event::Receive(queue) => self.queues[queue].receive(moment),
            Event::Spawn(thread) => self.last[thread] = Some(moment),
            Event::Join(_) => {}
        }
        self.last[activity.0 as usize] = Some(moment);
        self.machine.step(activity.0 as usize);
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
