//! What programs do.

use std::collections::{BTreeSet, VecDeque};

use super::{Event, OBJECTS, Op, Program, Value, capacity};

#[derive(Clone, Debug)]
struct Thread {
    at: usize,
    register: i64,
    is_started: bool,
    holds: [bool; OBJECTS],
    wait: Wait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    No,
    Waits,
    IsNotified,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    items: VecDeque<i64>,
    is_closed: bool,
}

#[derive(Clone, Debug, Default)]
struct Shared {
    looking: BTreeSet<usize>,
    alone: Option<usize>,
}

/// A program at some point.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    program: &'a Program,
    threads: Vec<Thread>,
    variables: [i64; OBJECTS],
    is_held: [bool; OBJECTS],
    shared: [Shared; OBJECTS],
    queues: [Queue; OBJECTS],
    latches: [bool; OBJECTS],
    pub has_failed: bool,
}

impl Program {
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
                    holds: [false; OBJECTS],
                    wait: Wait::No,
                })
                .collect(),
            variables: [0; OBJECTS],
            is_held: [false; OBJECTS],
            shared: Default::default(),
            queues: Default::default(),
            latches: [false; OBJECTS],
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

    pub fn op(&self, number: usize) -> Option<Op> {
        let thread = &self.threads[number];
        let op = self.program.threads[number].get(thread.at).copied();
        op.filter(|_| thread.is_started)
    }

    /// What the thread is about to do.
    pub fn pending(&self, number: usize) -> Option<Event> {
        Some(match self.op(number)? {
            Op::Load(variable) => Event::Read(variable),
            Op::Store(variable, _) | Op::FetchAdd(variable, _) => Event::Write(variable),
            Op::Transact(..) => Event::Transaction {
                reads: u8::MAX,
                writes: u8::MAX,
            },
            Op::Lock(mutex) => Event::Lock(mutex),
            Op::TryLock(mutex) => Event::TryLock(mutex),
            Op::Unlock(mutex) => Event::Unlock(mutex),
            Op::Look(lock) => Event::Look(lock),
            Op::Take(lock) => Event::Take(lock),
            Op::Downgrade(lock) => Event::Downgrade(lock),
            Op::Leave(lock) if self.shared[lock].alone.is_some() => Event::Release(lock),
            Op::Leave(lock) => Event::Leave(lock),
            Op::Send(queue, _) if capacity(queue).is_some() => Event::SendOrGiveUp(queue),
            Op::Send(queue, _) => Event::Send(queue),
            Op::TrySend(queue, _) => Event::TrySend(queue),
            Op::Receive(queue) => Event::Receive(queue),
            Op::TryReceive(queue) => Event::TryReceive(queue),
            Op::Close(queue) => Event::Close(queue),
            Op::Wait(condition) => match self.threads[number].wait {
                Wait::No => Event::Wait(condition),
                Wait::Waits | Wait::IsNotified => Event::Wake(condition),
            },
            Op::NotifyOne(condition) | Op::NotifyAll(condition) => Event::Notify(condition),
            Op::Set(latch) => Event::Set(latch),
            Op::Ask(latch) => Event::Ask(latch),
            Op::Await(latch) => Event::Await(latch),
            Op::Pick(_) => Event::Pick,
            Op::Spawn(thread) => Event::Spawn(thread),
            Op::Join(thread) => Event::Join(thread),
            Op::SkipIf(..) | Op::EndIf(_) | Op::FailIf(_) => unreachable!("they are local"),
        })
    }

    /// What that will be in hindsight, if it is next.
    pub fn performed(&self, number: usize) -> Option<Event> {
        let pending = self.pending(number)?;
        Some(match (self.op(number)?, pending) {
            (Op::Transact(a, b), _) if self.variables[a] == 0 => Event::Transaction {
                reads: 1 << a,
                writes: 1 << b,
            },
            (Op::Transact(a, b), _) => Event::Transaction {
                reads: 1 << a | 1 << b,
                writes: 0,
            },
            (_, Event::TryLock(mutex)) if self.is_held[mutex] => Event::FindLocked(mutex),
            (_, Event::TryLock(mutex)) => Event::Lock(mutex),
            (_, Event::SendOrGiveUp(queue)) if !self.queues[queue].is_closed => Event::Send(queue),
            (_, Event::SendOrGiveUp(queue)) if self.is_full(queue) => Event::GiveUp(queue),
            (_, Event::SendOrGiveUp(queue)) => Event::FindClosed(queue),
            (_, Event::Send(queue) | Event::TrySend(queue) | Event::Close(queue))
                if self.queues[queue].is_closed =>
            {
                Event::FindClosed(queue)
            }
            (_, Event::TrySend(queue)) if self.is_full(queue) => Event::FindFull(queue),
            (_, Event::TrySend(queue)) => Event::Send(queue),
            (_, Event::Receive(queue) | Event::TryReceive(queue)) if self.is_at_end(queue) => {
                Event::FindEnd(queue)
            }
            (_, Event::TryReceive(queue)) if self.queues[queue].items.is_empty() => {
                Event::FindEmpty(queue)
            }
            (_, Event::TryReceive(queue)) => Event::Receive(queue),
            (_, Event::Set(latch)) if self.latches[latch] => Event::Ask(latch),
            _ => pending,
        })
    }

    pub fn is_full(&self, queue: usize) -> bool {
        capacity(queue).is_some_and(|capacity| self.queues[queue].items.len() >= capacity)
    }

    fn is_at_end(&self, queue: usize) -> bool {
        let Queue { items, is_closed } = &self.queues[queue];
        *is_closed && items.is_empty()
    }

    pub fn is_enabled(&self, number: usize) -> bool {
        match self.pending(number) {
            None => false,
            Some(Event::Lock(mutex)) => !self.is_held[mutex],
            Some(Event::Look(lock)) => self.shared[lock].alone.is_none(),
            Some(Event::Take(lock)) => {
                let Shared { looking, alone } = &self.shared[lock];
                alone.is_none() && looking.is_empty()
            }
            Some(Event::SendOrGiveUp(queue)) => {
                self.queues[queue].is_closed || !self.is_full(queue)
            }
            Some(Event::Receive(queue)) => {
                let Queue { items, is_closed } = &self.queues[queue];
                *is_closed || !items.is_empty()
            }
            Some(Event::Wake(_)) => self.threads[number].wait == Wait::IsNotified,
            Some(Event::Await(latch)) => self.latches[latch],
            Some(Event::Join(thread)) => {
                self.threads[thread].is_started && self.op(thread).is_none()
            }
            Some(_) => true,
        }
    }

    /// Who waits for the condition.
    fn waiting(&self, condition: usize) -> impl Iterator<Item = usize> {
        (0..self.threads()).filter(move |&number| {
            self.threads[number].wait == Wait::Waits
                && matches!(self.op(number), Some(Op::Wait(other)) if other == condition)
        })
    }

    /// Whom a notification wakes.
    pub fn woken(&self, number: usize, choice: u32) -> Vec<usize> {
        match self.op(number) {
            Some(Op::NotifyOne(condition)) => {
                let mut waiting = self.waiting(condition).skip(choice as usize);
                waiting.next().into_iter().collect()
            }
            Some(Op::NotifyAll(condition)) => self.waiting(condition).collect(),
            _ => Vec::new(),
        }
    }

    pub fn choices(&self, number: usize) -> u32 {
        match self.op(number) {
            Some(Op::Pick(values)) => values,
            Some(Op::NotifyOne(condition)) => self.waiting(condition).count().max(1) as u32,
            _ => 1,
        }
    }

    pub fn step(&mut self, number: usize, choice: u32) {
        let register = self.threads[number].register;
        let value = |value| match value {
            Value::Just(value) => value,
            Value::Register(more) => register + more,
        };
        let op = self.op(number).expect("it is enabled");
        let performed = self.performed(number).expect("it is enabled");
        let mut read = None;
        let mut is_over = true;
        match op {
            Op::Load(variable) => read = Some(self.variables[variable]),
            Op::Store(variable, new) => self.variables[variable] = value(new),
            Op::FetchAdd(variable, more) => {
                read = Some(self.variables[variable]);
                self.variables[variable] += more;
            }
            Op::Transact(a, b) if self.variables[a] == 0 => self.variables[b] = 1,
            Op::Transact(_, b) => read = Some(self.variables[b]),
            Op::Lock(mutex) => self.set_held(number, mutex, true),
            Op::TryLock(mutex) => {
                let can = !self.is_held[mutex];
                read = Some(i64::from(can));
                if can {
                    self.set_held(number, mutex, true);
                }
            }
            Op::Unlock(mutex) => self.set_held(number, mutex, false),
            Op::Look(lock) => _ = self.shared[lock].looking.insert(number),
            Op::Take(lock) => self.shared[lock].alone = Some(number),
            Op::Downgrade(lock) => {
                self.shared[lock].alone = None;
                self.shared[lock].looking.insert(number);
            }
            Op::Leave(lock) => {
                if !self.shared[lock].looking.remove(&number) {
                    self.shared[lock].alone = None;
                }
            }
            Op::Send(queue, new) | Op::TrySend(queue, new) => match performed {
                Event::Send(_) => {
                    self.queues[queue].items.push_back(value(new));
                    read = Some(1);
                }
                Event::FindFull(_) => read = Some(0),
                _ => read = Some(-1),
            },
            Op::Receive(queue) | Op::TryReceive(queue) => {
                let at_end = if self.queues[queue].is_closed { -1 } else { 0 };
                read = Some(self.queues[queue].items.pop_front().unwrap_or(at_end));
            }
            Op::Close(queue) => self.queues[queue].is_closed = true,
            Op::Wait(_) if self.threads[number].wait == Wait::IsNotified => {
                self.threads[number].wait = Wait::No;
            }
            Op::Wait(_) => {
                self.threads[number].wait = Wait::Waits;
                is_over = false;
            }
            Op::NotifyOne(_) | Op::NotifyAll(_) => {
                for woken in self.woken(number, choice) {
                    self.threads[woken].wait = Wait::IsNotified;
                }
            }
            Op::Set(latch) => {
                read = Some(i64::from(!self.latches[latch]));
                self.latches[latch] = true;
            }
            Op::Ask(latch) => read = Some(i64::from(self.latches[latch])),
            Op::Pick(_) => read = Some(i64::from(choice)),
            Op::Spawn(thread) => self.threads[thread].is_started = true,
            Op::Await(_) | Op::Join(_) => {}
            Op::SkipIf(..) | Op::EndIf(_) | Op::FailIf(_) => unreachable!("they are local"),
        }
        let thread = &mut self.threads[number];
        thread.register = read.unwrap_or(register);
        if is_over {
            thread.at += 1;
            self.go_on(number);
        }
    }

    fn set_held(&mut self, number: usize, mutex: usize, is_held: bool) {
        self.is_held[mutex] = is_held;
        self.threads[number].holds[mutex] = is_held;
    }

    /// Does what is local.
    fn go_on(&mut self, number: usize) {
        let end = self.program.threads[number].len();
        while let Some(&op) = self.program.threads[number].get(self.threads[number].at) {
            let thread = &mut self.threads[number];
            let is = |value| thread.register == value;
            let looks = |lock: usize| self.shared[lock].looking.contains(&number);
            let is_alone = |lock: usize| self.shared[lock].alone == Some(number);
            match op {
                Op::SkipIf(value, count) if is(value) => thread.at += 1 + count,
                Op::EndIf(value) if is(value) => thread.at = end,
                Op::FailIf(value) if is(value) => {
                    thread.at = end;
                    self.has_failed = true;
                }
                Op::SkipIf(..) | Op::EndIf(_) | Op::FailIf(_) => thread.at += 1,
                Op::Unlock(mutex) if !thread.holds[mutex] => thread.at += 1,
                Op::Look(lock) | Op::Take(lock) if looks(lock) || is_alone(lock) => thread.at += 1,
                Op::Downgrade(lock) if !is_alone(lock) => thread.at += 1,
                Op::Leave(lock) if !looks(lock) && !is_alone(lock) => thread.at += 1,
                _ => return,
            }
        }
    }

    /// What nobody has received. In what order it was sent can only be observed if there is not room for all.
    fn left_in(&self, queue: usize) -> Vec<i64> {
        let mut items: Vec<_> = self.queues[queue].items.iter().copied().collect();
        if capacity(queue).is_none() {
            items.sort_unstable();
        }
        items
    }

    /// What came of it.
    pub fn outcome(&self) -> String {
        let registers: Vec<_> = self.threads.iter().map(|thread| thread.register).collect();
        let waiting: Vec<_> = (0..self.threads())
            .map(|number| self.pending(number))
            .collect();
        let used = ..3;
        let queues: Vec<_> = (0..3).map(|queue| self.left_in(queue)).collect();
        format!(
            "{registers:?} {:?} {queues:?} {:?} {waiting:?} {}",
            &self.variables[used], &self.latches[used], self.has_failed
        )
    }
}
