//! loom runs senders and the consumer of a mailbox in all ways.
//!
//! A message is the number of a value that its sender writes just before; the consumer reads that value, and adds the
//! number to those that it has handled. loom checks all these accesses: a message that is read before it is complete,
//! and two consumers at a time, are races.

use std::{mem::ManuallyDrop, sync::Arc};

use loom::{model::Builder, thread};

use super::{Acquire, Appended, Mailbox, Release, Rest, words_of};
use crate::loom::{AtomicUsize, Cell};

/// What a message carries besides its number: so much that a chunk holds only one of them.
type Captures = (u64, [u64; 8]);

struct Actor {
    mailbox: Mailbox,
    references: AtomicUsize,
    sent: [Cell<u64>; 4],
    /// The numbers of the messages that have been handled, as digits, which are one more.
    handled: Cell<u64>,
    /// How often the consumer found that no sender is left.
    abandoned: Cell<u64>,
    /// Whether a worker is to run the actor.
    is_scheduled: AtomicUsize,
}

// SAFETY: loom reports accesses of the cells that are not ordered, instead of performing them.
unsafe impl Sync for Actor {}
// SAFETY: As above.
unsafe impl Send for Actor {}

impl Actor {
    fn new(references: usize) -> Arc<Actor> {
        Arc::new(Actor {
            mailbox: Mailbox::new(),
            references: AtomicUsize::new(references),
            sent: [(); 4].map(|()| Cell::new(0)),
            handled: Cell::new(0),
            abandoned: Cell::new(0),
            is_scheduled: AtomicUsize::new(0),
        })
    }

    fn append(&self, number: u64) -> Appended {
        self.sent[number as usize].set(number + 1);
        let captures: ManuallyDrop<Captures> = ManuallyDrop::new((number, [number; 8]));
        // SAFETY: The header is only compared: no handler is called.
        unsafe { self.mailbox.append(|| number, &captures) }
    }

    /// Sends a message. If the actor was idle, the sender is the worker that runs it next.
    fn send(&self, number: u64) {
        if self.append(number) == Appended::First {
            self.run();
        }
    }

    fn drop_reference(&self) {
        if self.mailbox.give_up(&self.references) {
            self.run();
        }
    }

    fn run(&self) {
        loop {
            // SAFETY: The actor was idle, and this thread has scheduled it: it is the consumer until `rest` says that the
            // actor is idle. The captures are of the type that `send` appends.
            let rest = unsafe {
                while let Some(message) = self.mailbox.peek() {
                    let (number, rest) = message.captures.cast::<Captures>().read();
                    assert_eq!(message.header, number);
                    assert_eq!(rest, [number; 8]);
                    assert_eq!(self.sent[number as usize].get(), number + 1);
                    self.handled.set(10 * self.handled.get() + number + 1);
                    self.mailbox.advance(words_of::<Captures>());
                }
                self.mailbox.rest()
            };
            match rest {
                Rest::More => {}
                Rest::Idle => return,
                Rest::Abandoned => return self.abandoned.set(self.abandoned.get() + 1),
            }
        }
    }
}

/// Runs `main` and `other` in all ways with so many preemptions, and checks in which orders messages were handled, and
/// that the actor ends once, if it has so few references that it does.
fn check(references: usize, main: fn(&Actor), other: fn(&Actor), expected: &'static [u64]) {
    let mut builder = Builder::new();
    // Three are enough to leave a sender between any steps of the consumer, and the consumer between those of a sender.
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let actor = Actor::new(references);
        let theirs = Arc::clone(&actor);
        let thread = thread::spawn(move || other(&theirs));
        main(&actor);
        thread.join().unwrap();
        let handled = actor.handled.get();
        assert!(expected.contains(&handled), "handled: {handled}");
        let is_abandoned = actor.abandoned.get();
        assert_eq!(is_abandoned, u64::from(references <= 2));
    });
}

/// ```text
/// main   send 1, send 2
/// other  send 3
/// ```
#[test]
fn each_message_is_handled_once_and_in_the_order_of_its_sender() {
    let main = |actor: &Actor| {
        actor.send(0);
        actor.send(1);
    };
    check(9, main, |actor| actor.send(2), &[123, 132, 312]);
}

/// ```text
/// main   send 1, drop its reference
/// other  send 2, drop its reference
/// ```
#[test]
fn an_actor_without_references_ends_once_and_after_its_last_message() {
    let main = |actor: &Actor| {
        actor.send(0);
        actor.drop_reference();
    };
    let other = |actor: &Actor| {
        actor.send(1);
        actor.drop_reference();
    };
    check(2, main, other, &[12, 21]);
}

/// ```text
/// main   send 1, drop its reference, which is the last
/// other  (a worker) handle it
/// ```
#[test]
fn an_actor_that_loses_its_last_reference_while_it_runs_ends_once() {
    let worker = |actor: &Actor| {
        // Its pool gives it the actor when the message has been appended.
        while actor.is_scheduled.load(Acquire) == 0 {
            thread::yield_now();
        }
        actor.run();
    };
    let main = |actor: &Actor| {
        assert_eq!(actor.append(0), Appended::First);
        actor.is_scheduled.store(1, Release);
        actor.drop_reference();
    };
    check(1, main, worker, &[1]);
}
