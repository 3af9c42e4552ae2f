//! What threads, processes and turns of actors have in common: what they do.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError as StdPoisonError},
    time::Duration,
};

use reenact::{
    actor::{Broken, Context, FarRef, Promise, Target},
    csp,
    stm::{StmResult, Transaction, TxError, abort, atomically, atomically_or_err, guard, retry},
    sync::{Barrier, PoisonError, atomic::Ordering::SeqCst, mpsc},
    thread,
};

use super::{
    Ends, Parcel, World,
    fuel::Fuel,
    language::{Operation, Verb},
    node::Node,
};
use crate::support::{Seen, jitter};

/// A thread, process or actor, as far as it does something.
pub(super) struct Body {
    pub(super) world: Arc<World>,
    pub(super) name: String,
    /// None in the end.
    pub(super) ends: Option<Ends>,
    pub(super) seen: Seen,
    /// Its number, if it is a thread or process that is there from the beginning.
    pub(super) root: Option<usize>,
    /// Whether it is a thread of its own.
    pub(super) is_thread: bool,
    /// Makes different values of the same operations.
    count: u64,
    born: usize,
    children: Vec<Child>,
}

/// A thread or process that was started later.
pub(super) enum Child {
    Thread(thread::JoinHandle<u64>),
    Process(csp::JoinHandle<u64>),
}

impl Child {
    pub(super) fn join(self) -> thread::Result<u64> {
        match self {
            Child::Thread(thread) => thread.join(),
            Child::Process(process) => process.join(),
        }
    }

    fn is_finished(&self) -> bool {
        match self {
            Child::Thread(thread) => thread.is_finished(),
            Child::Process(process) => process.is_finished(),
        }
    }
}

/// So many threads, processes and actors one may start.
const MOST_CHILDREN: usize = 12;

/// What a turn has that others have not.
type Turn<'a> = Option<&'a mut Context<Node>>;

impl Body {
    pub(super) fn new(world: &Arc<World>, name: String, ends: Ends) -> Body {
        Body {
            world: Arc::clone(world),
            name,
            ends: Some(ends),
            seen: Seen::default(),
            root: None,
            is_thread: false,
            count: 0,
            born: 0,
            children: Vec::new(),
        }
    }

    /// Does everything that there is to do for a thread or a process. Returns what it saw.
    pub(super) fn act(mut self, script: &[Operation], rounds: usize, fuel: Fuel) -> u64 {
        for _ in 0..rounds {
            self.follow(script, fuel, None);
        }
        self.ends = None;
        for child in std::mem::take(&mut self.children) {
            self.join(child);
        }
        self.seen.digest()
    }

    /// Does what a script says.
    pub(super) fn follow(&mut self, script: &[Operation], fuel: Fuel, mut turn: Turn<'_>) {
        for operation in script {
            self.count += 1;
            jitter();
            self.perform(*operation, fuel, turn.as_deref_mut());
        }
    }

    pub(super) fn note_outcome(&mut self, outcome: Result<u64, Broken>) {
        self.seen.note(outcome.map_err(|broken| broken.to_string()));
    }

    fn perform(&mut self, operation: Operation, fuel: Fuel, turn: Turn<'_>) {
        use Verb::*;
        let (verb, first, second) = operation.parts();
        match verb {
            Lock | TryLock | Held | Wait | Notify | Read | Write => self.lock(operation, fuel),
            Add | Load | Exchange => self.count_up(operation),
            Post | TryPost | Ask | AskLate | Pipe | Race | Chain => {
                self.post(operation, fuel, turn);
            }
            Send | TrySend | SendSoon | Recv | TryRecv | RecvSoon | Select | SelectSend
            | SelectNow | Favour | Introduce => self.communicate(operation, fuel, turn),
            TxRead | TxWrite | TxMove | TxAbort | TxPanic | TxElse | TxPost | Tick | Await => {
                self.transact(operation, fuel);
            }
            Thread | Process => self.start(verb == Process, first, fuel, turn),
            Actor => self.make_actor(first, second, fuel, turn),
            Join => {
                if turn.is_none() && !self.children.is_empty() {
                    let child = self.children.remove(first % self.children.len());
                    self.join(child);
                }
            }
            Finished => {
                for child in &self.children {
                    self.seen.note(child.is_finished());
                }
            }
            Stop => {
                if let Some(ctx) = turn {
                    ctx.stop();
                }
            }
            Panic => assert!(self.root.is_some(), "as it should"),
            Foreign => {
                if self.is_thread {
                    self.foreign(first, second, fuel);
                }
            }
            Exit => std::process::exit(3),
            SpawnJoin => self.spawn_and_join(first % 2 == 0, second),
            Scope => self.scope(first),
            Yield => csp::yield_now(),
            Sleep => thread::sleep(limit(first)),
            After => {
                if let Some(ctx) = turn {
                    let later = ctx.after(limit(first));
                    later.when(ctx, |node, _, ()| node.body.seen.note("later"));
                }
            }
            Init => {
                let value = self.value();
                let cell = &self.world.cells[first % self.world.cells.len()];
                self.seen.note(cell.get_or_init(|| {
                    jitter();
                    self.world.atomic(second).fetch_add(1, SeqCst) + value
                }));
            }
        }
    }

    fn value(&self) -> u64 {
        self.count * 100 + self.root.unwrap_or(77) as u64
    }

    fn lock(&mut self, operation: Operation, fuel: Fuel) {
        let (verb, first, second) = operation.parts();
        let (world, value) = (Arc::clone(&self.world), self.value());
        let count = world.mutexes.len();
        let (mutex, condition) = &world.mutexes[first % count];
        match verb {
            Verb::Lock => {
                let (one, other) = (first % count, second % count);
                let mut outer = world.mutex(one.min(other));
                let mut inner = (one != other).then(|| world.mutex(one.max(other)));
                jitter();
                let inner = inner.as_deref_mut().unwrap_or(&mut 0).to_owned();
                self.seen.note((*outer, inner));
                *outer = outer.wrapping_mul(3).wrapping_add(value);
            }
            Verb::TryLock => match mutex.try_lock() {
                Ok(mut guard) => self.seen.note(std::mem::replace(&mut *guard, value)),
                Err(_) => self.seen.note("held"),
            },
            Verb::Held => {
                let mut guard = world.mutex(first);
                let variable = world.variable(second);
                self.seen.note(atomically(|tx| variable.replace(tx, value)));
                self.seen.note(world.atomic(second).swap(value, SeqCst));
                let message = self.message(second, fuel.at_most_one());
                world.actor(second).send(unasked(message));
                *guard = guard.wrapping_add(value);
            }
            Verb::Wait => {
                let guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
                let (guard, result) = condition
                    .wait_timeout(guard, limit(second))
                    .unwrap_or_else(PoisonError::into_inner);
                self.seen.note((*guard, result.timed_out()));
            }
            Verb::Notify => condition.notify_all(),
            Verb::Read => self.seen.note(*world.table.read().unwrap()),
            _ => {
                let mut table = world.table.write().unwrap();
                self.seen.note(std::mem::replace(&mut *table, value));
            }
        }
    }

    fn count_up(&mut self, operation: Operation) {
        let value = self.value();
        let atomic = self.world.atomic(operation.first);
        match operation.verb {
            Verb::Add => self.seen.note(atomic.fetch_add(value, SeqCst)),
            Verb::Load => self.seen.note(atomic.load(SeqCst)),
            _ => {
                let was = atomic.load(SeqCst);
                jitter();
                self.seen
                    .note(atomic.compare_exchange(was, value, SeqCst, SeqCst));
            }
        }
    }

    /// A message for somebody.
    fn message(
        &self,
        script: usize,
        fuel: Fuel,
    ) -> impl FnOnce(&mut Node, &mut Context<Node>) -> u64 + Send + 'static {
        let from = self.name.clone();
        move |node, ctx| node.answer(ctx, script, fuel, &from)
    }

    /// Waits for a promise, or goes on when it is settled.
    fn expect(&mut self, promise: Promise<u64>, turn: Turn<'_>) {
        match turn {
            Some(ctx) => {
                promise.when_settled(ctx, |node, _, outcome| node.answered("settled", outcome));
            }
            None => self.note_outcome(promise.wait()),
        }
    }

    fn post(&mut self, operation: Operation, fuel: Fuel, turn: Turn<'_>) {
        let (verb, first, second) = operation.parts();
        let (world, value) = (Arc::clone(&self.world), self.value());
        let (to, other) = (world.actor(first), world.actor(first + 1));
        match verb {
            Verb::Post => to.send(unasked(self.message(second, fuel))),
            Verb::TryPost => {
                let sent = to.try_send(unasked(self.message(second, fuel)));
                self.seen.note(format!("{sent:?}"));
            }
            Verb::Ask => {
                let promise = to.ask(self.message(second, fuel));
                self.expect(promise, turn);
            }
            Verb::AskLate => {
                let promise = to.ask(self.message(second, fuel));
                match turn {
                    Some(ctx) => {
                        promise.when(ctx, |node, _, value| node.answered("when", Ok(value)));
                    }
                    None => match promise.wait_timeout(limit(second)) {
                        Ok(outcome) => self.note_outcome(outcome),
                        Err(later) => {
                            self.seen.note("late");
                            self.note_outcome(later.wait());
                        }
                    },
                }
            }
            Verb::Pipe => {
                let (promise, resolver) = Promise::<FarRef<Node>>::pair();
                promise.send(unasked(self.message(second, fuel)));
                let target = other.clone();
                to.send(move |node, _| {
                    jitter();
                    node.body.seen.note(resolver.resolve(target));
                });
                let piped = promise.ask(self.message(second + 1, fuel));
                self.expect(piped, turn);
            }
            Verb::Race => {
                let (promise, resolver) = Promise::<u64>::pair();
                for who in [to, other] {
                    let resolver = resolver.clone();
                    who.send(move |node, _| {
                        jitter();
                        node.body.seen.note(resolver.resolve(value));
                    });
                }
                jitter();
                if second % 2 == 0 {
                    self.seen.note(resolver.resolve(value + 1));
                }
                drop(resolver);
                self.expect(promise, turn);
            }
            _ => {
                let (promise, resolver) = Promise::<u64>::pair();
                let answer = to.ask(self.message(second, fuel));
                self.seen.note(resolver.resolve_with(answer));
                self.expect(promise, turn);
            }
        }
    }

    fn receive(&mut self, parcel: Parcel) {
        match parcel {
            Parcel::Number(number) => self.seen.note(number),
            Parcel::Favour(resolver) => self.seen.note(resolver.resolve(self.value())),
            Parcel::Introduction(actor, fuel) => {
                let script = self.count as usize;
                actor.send(unasked(self.message(script, fuel)));
            }
        }
    }

    fn note_received<E: ToString>(&mut self, received: Result<Parcel, E>) {
        match received {
            Ok(parcel) => self.receive(parcel),
            Err(error) => self.seen.note(error.to_string()),
        }
    }

    fn communicate(&mut self, operation: Operation, fuel: Fuel, turn: Turn<'_>) {
        let (verb, first, second) = operation.parts();
        let Some(ends) = self.ends.clone() else {
            return self.seen.note("closed");
        };
        let (world, number) = (Arc::clone(&self.world), Parcel::Number(self.value()));
        let count = world.program.channels.len();
        let (one, other) = (first % count, second % count);
        let is_fed = |channel: usize| world.program.channels[channel].is_fed;
        let (sender, receiver) = (&ends.senders[one], &ends.receivers[one]);
        let theirs = &ends.receivers[other];
        let limit = limit(second);
        match verb {
            Verb::Send if !is_fed(one) => self.seen.note(sender.send(number).is_ok()),
            Verb::Send | Verb::SendSoon => {
                let sent = sender.send_timeout(number, limit);
                self.seen.note(sent.map_err(|error| error.to_string()));
            }
            Verb::TrySend => {
                let sent = sender.try_send(number);
                self.seen.note(sent.map_err(|error| error.to_string()));
            }
            Verb::Recv if is_fed(one) => self.note_received(receiver.recv()),
            Verb::Recv | Verb::RecvSoon => self.note_received(receiver.recv_timeout(limit)),
            Verb::TryRecv => self.note_received(receiver.try_recv()),
            Verb::Select if is_fed(one) || is_fed(other) => csp::select! {
                recv(receiver) -> parcel => self.note_received(parcel),
                recv(theirs) -> parcel => self.note_received(parcel),
            },
            Verb::Select => csp::select! {
                recv(receiver) -> parcel => self.note_received(parcel),
                recv(theirs) -> parcel => self.note_received(parcel),
                default(limit) => self.seen.note("late"),
            },
            Verb::SelectSend if !is_fed(one) || is_fed(other) => csp::select! {
                send(sender, number) -> sent => self.seen.note(sent.is_ok()),
                recv(theirs) -> parcel => self.note_received(parcel),
            },
            Verb::SelectSend => csp::select! {
                send(sender, number) -> sent => self.seen.note(sent.is_ok()),
                recv(theirs) -> parcel => self.note_received(parcel),
                default(limit) => self.seen.note("late"),
            },
            Verb::SelectNow => csp::select! {
                recv(theirs) -> parcel => self.note_received(parcel),
                send(sender, number) -> sent => self.seen.note(sent.is_ok()),
                default => self.seen.note("neither"),
            },
            Verb::Favour => {
                let (promise, resolver) = Promise::pair();
                let parcel = Parcel::Favour(resolver);
                if is_fed(one) {
                    // Whether anybody receives it nobody knows, so nobody waits.
                    let sent = sender.send_timeout(parcel, limit);
                    self.seen.note(sent.is_ok());
                } else {
                    self.seen.note(sender.send(parcel).is_ok());
                    drop(ends);
                    self.expect(promise, turn);
                }
            }
            _ => {
                let whom = world.actor(second).clone();
                let parcel = Parcel::Introduction(whom, fuel.at_most_one());
                let sent = sender.send_timeout(parcel, limit);
                self.seen.note(sent.is_ok());
            }
        }
    }

    fn transact(&mut self, operation: Operation, fuel: Fuel) {
        let world = Arc::clone(&self.world);
        let (value, root) = (self.value(), self.root);
        // Before anything else, for those who count on it.
        if let (Verb::Tick, Some(root)) = (operation.verb, root) {
            return atomically(|tx| world.progress[root].modify(tx, |ticks| ticks + 1));
        }
        let result = catch_unwind(AssertUnwindSafe(|| {
            atomically_or_err(|tx| {
                if operation.verb == Verb::TxPost {
                    let message = self.message(operation.second, fuel);
                    let to = world.actor(operation.first).clone();
                    tx.after_commit(move || to.send(unasked(message)));
                }
                transaction(&world, operation, value, root, tx)
            })
        }));
        match result {
            Ok(result) => self.seen.note(result),
            Err(_) => self.seen.note("panicked"),
        }
    }

    fn start(&mut self, is_process: bool, script: usize, fuel: Fuel, turn: Turn<'_>) {
        let Some(ends) = self.ends.clone() else {
            return;
        };
        let Some(fuel) = fuel.spend() else {
            return;
        };
        if self.born == MOST_CHILDREN {
            return;
        }
        self.born += 1;
        let world = Arc::clone(&self.world);
        let mut body = Body::new(&world, format!("{}.{}", self.name, self.born), ends);
        body.is_thread = !is_process;
        let (promise, resolver) = Promise::pair();
        let act = move || {
            let seen = body.act(world.script(script), 1, fuel);
            resolver.resolve(seen);
            seen
        };
        let child = match is_process {
            true => Child::Process(csp::spawn(act)),
            false => Child::Thread(thread::spawn(act)),
        };
        match turn {
            Some(ctx) => {
                promise.when_settled(ctx, |node, _, outcome| node.answered("child", outcome));
                let strays = self.world.strays.lock();
                strays
                    .unwrap_or_else(StdPoisonError::into_inner)
                    .push(child);
            }
            None => self.children.push(child),
        }
    }

    /// Has somebody do a little, and waits for that. Who does it waits for no actor, so a turn may wait for it.
    fn spawn_and_join(&mut self, is_process: bool, number: usize) {
        let (world, value) = (Arc::clone(&self.world), self.value());
        let (sender, receiver) = mpsc::sync_channel(number % 3);
        let act = move || {
            for _ in 0..3 {
                let seen = atomically(|tx| world.variable(number).replace(tx, value));
                let mut guard = world.mutex(number);
                *guard = guard.wrapping_add(seen);
                let sent = *guard;
                drop(guard);
                let _ = sender.send(sent);
            }
            value
        };
        let child = match is_process {
            true => Child::Process(csp::spawn(act)),
            false => Child::Thread(thread::spawn(act)),
        };
        if number.is_multiple_of(2) {
            self.seen.note(receiver.recv().ok());
            self.seen.note(child.is_finished());
        }
        drop(receiver);
        self.join(child);
    }

    /// Like `spawn_and_join`, on a thread of std that is found again by its name.
    fn foreign(&mut self, first: usize, second: usize, fuel: Fuel) {
        let (world, value) = (Arc::clone(&self.world), self.value());
        let message = self.message(second, fuel.at_most_one());
        let act = move || {
            let seen = atomically(|tx| world.variable(second).replace(tx, value));
            let mut guard = world.mutex(first);
            *guard = guard.wrapping_add(seen);
            world.actor(first).send(unasked(message));
            *guard
        };
        let name = format!("{} {}", self.name, self.count);
        let thread = std::thread::Builder::new().name(name).spawn(act);
        let seen = thread.expect("there are not so many").join();
        self.seen.note(seen.expect("it does not panic"));
    }

    fn scope(&mut self, number: usize) {
        let world = Arc::clone(&self.world);
        let together = Barrier::new(2);
        let act = || {
            let before = world.atomic(number).fetch_add(1, SeqCst);
            let is_leader = together.wait().is_leader();
            let seen = atomically(|tx| world.variable(number).replace(tx, before));
            (before, is_leader, seen)
        };
        let seen = thread::scope(|scope| {
            let [one, other] = [scope.spawn(act), scope.spawn(act)];
            number
                .is_multiple_of(2)
                .then(|| (one.join().ok(), other.join().ok()))
        });
        self.seen.note(seen);
    }

    fn make_actor(&mut self, kind: usize, script: usize, fuel: Fuel, turn: Turn<'_>) {
        let Some(ends) = self.ends.clone() else {
            return;
        };
        if self.born == MOST_CHILDREN {
            return;
        }
        self.born += 1;
        let body = Body::new(&self.world, format!("{}.{}", self.name, self.born), ends);
        let child = self.world.builder(kind).spawn(Node { body });
        child.send(unasked(self.message(script, fuel.at_most_one())));
        let promise = child.ask(self.message(script + 1, fuel.at_most_one()));
        drop(child);
        self.expect(promise, turn);
    }

    fn join(&mut self, child: Child) {
        match child.join() {
            Ok(digest) => self.seen.note(digest),
            Err(_) => self.seen.note("it panicked"),
        }
    }
}

/// A message whose answer nobody wants.
fn unasked(
    message: impl FnOnce(&mut Node, &mut Context<Node>) -> u64,
) -> impl FnOnce(&mut Node, &mut Context<Node>) {
    move |node, ctx| {
        message(node, ctx);
    }
}

fn limit(tens: usize) -> Duration {
    Duration::from_micros(tens as u64 * 10)
}

fn transaction(
    world: &World,
    operation: Operation,
    value: u64,
    root: Option<usize>,
    tx: &mut Transaction,
) -> Result<Vec<u64>, TxError<u64>> {
    let (verb, first, second) = operation.parts();
    let (variable, other) = (world.variable(first), world.variable(second));
    let one = |value: u64| Ok(vec![value]);
    match verb {
        Verb::TxWrite | Verb::Tick => one(variable.replace(tx, value)?),
        Verb::TxMove => {
            let before = variable.replace(tx, value)?;
            jitter();
            one(other.replace(tx, before)?)
        }
        Verb::TxAbort => {
            let before = variable.replace(tx, value)?;
            if before % 2 == 1 {
                return abort(before);
            }
            one(before)
        }
        Verb::TxPanic => {
            let before = variable.replace(tx, value)?;
            assert!(before % 3 != 1, "it was {before}");
            one(before)
        }
        Verb::TxElse => one(tx.or_else(
            |tx| {
                let before = variable.replace(tx, value)?;
                guard(before % 2 == 1)?;
                Ok(before)
            },
            |tx| tx.or_else(|_| retry(), |tx| other.replace(tx, value)),
        )?),
        Verb::Await => {
            let far_enough = |tx: &mut Transaction| -> StmResult<u64> {
                let whom = match root {
                    Some(root) if root > 0 => first % root,
                    _ => return Ok(0),
                };
                guard(world.progress[whom].read(tx)? >= second.min(world.goal(whom)))?;
                variable.read(tx)
            };
            one(far_enough(tx)?)
        }
        _ => {
            let all = world.variables.iter().map(|variable| {
                jitter();
                variable.read(tx)
            });
            Ok(all.collect::<StmResult<_>>()?)
        }
    }
}
