//! States, and the transitions between them.
//!
//! A state is a list of actors, and an actor between steps is an entry of a table of all actors that were ever seen. So
//! a state is a few numbers, which are enough to compare two states, and a step that involves only one actor is
//! computed once, however many states that actor occurs in. This makes a search fast: most steps are looked up.

use std::sync::OnceLock;

use reenact_multiverse::{Marked, Operation, StepSize};
use smallvec::SmallVec;

use super::{
    actor::{Actor, Frame, HeapEntry, TurnCause},
    canonical::{Links, canonicalise},
    code::{Code, PROGRAM},
    exchange,
    machine::{self, Machine, NextAction, Rule, Stops},
    tables::{ActorId, Actors, Interned, MAIN, Texts},
    value::{Far, HeapId, Value},
};

/// A state of a program: its actors, creators before the actors that they created.
///
/// The actors of a small program are stored inline, so that comparing two states follows no pointers.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State(pub(crate) SmallVec<[StoredId; 12]>);

impl Clone for State {
    fn clone(&self) -> State {
        State(SmallVec::from_slice(&self.0))
    }
}

/// An actor between steps, as an index into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StoredId(u32);

/// An actor in canonical form, with the data that a state needs without loading it.
pub(crate) struct Stored {
    bytes: Box<[u8]>,
    pub(crate) id: ActorId,
    pub(crate) next: NextAction,
    links: Links,
    /// The result of its next step, if no other actor takes part in that.
    alone: OnceLock<StepResult>,
    /// The operation of that step; `turn` is the turn that the actor is in. Both are computed on demand.
    pub(crate) operation: OnceLock<Box<Operation<'static>>>,
    pub(crate) turn: OnceLock<Option<Box<Operation<'static>>>>,
}

impl PartialEq for Stored {
    fn eq(&self, other: &Stored) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Stored {}

impl std::hash::Hash for Stored {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

/// The result of a step, for the actors that take part.
#[derive(Clone, Copy)]
struct StepResult {
    actor: StoredId,
    /// The receiver of the message, or the actor that was created.
    other: Option<StoredId>,
    /// Whether an entry may have lost its last reference.
    drops: bool,
    rule: Option<Rule>,
}

type Memo = papaya::HashMap<(StoredId, StoredId), StepResult, foldhash::fast::FixedState>;

/// What all states of a program share.
pub(crate) struct StateTable {
    pub(crate) code: Code,
    pub(crate) texts: Texts,
    pub(crate) actors: Actors,
    stored: Interned<Stored>,
    stops: Stops,
    /// The results of sends from one actor to another.
    memo: Memo,
}

impl StateTable {
    pub(crate) fn new(code: Code, texts: Texts, stops: Stops) -> StateTable {
        StateTable {
            code,
            texts,
            actors: Actors::new(),
            stored: Interned::new(),
            stops,
            memo: Memo::default(),
        }
    }

    pub(crate) fn stops(&self) -> &Stops {
        &self.stops
    }

    /// Sets where steps end. Clears all memoized steps.
    pub(crate) fn set_stops(&mut self, stops: Stops) {
        self.stops = stops;
        self.memo = Memo::default();
        self.stored
            .for_each_mut(|stored| stored.alone = OnceLock::new());
    }

    pub(crate) fn bytes(&self) -> usize {
        // The table is at most three quarters full, and its entries are allocated one by one.
        let entry = size_of::<((StoredId, StoredId), StepResult)>() + 2 * size_of::<usize>();
        self.stored.bytes() + self.memo.len() * entry + self.texts.bytes() + self.actors.bytes()
    }

    pub(crate) fn initial(&self) -> State {
        let mut main = Actor::with_behaviour(MAIN, &self.code, PROGRAM);
        main.begin(&self.code, PROGRAM, &[]);
        State(SmallVec::from_slice(&[self.store(main)]))
    }

    /// Stores an actor in its canonical form.
    pub(crate) fn store(&self, mut actor: Actor) -> StoredId {
        let links = canonicalise(&mut actor);
        let stored = Stored {
            bytes: postcard::to_allocvec(&actor)
                .expect("an actor is plain data")
                .into(),
            id: actor.id,
            next: machine::next(&self.code, &actor),
            links,
            alone: OnceLock::new(),
            operation: OnceLock::new(),
            turn: OnceLock::new(),
        };
        let owned = stored.bytes.len()
            + size_of_val(&*stored.links.lonely)
            + size_of_val(&*stored.links.imports);
        StoredId(self.stored.number(stored, owned))
    }

    /// Loads an actor, to inspect it or to execute it.
    pub(crate) fn load(&self, id: StoredId) -> Actor {
        postcard::from_bytes(&self.get(id).bytes).expect("it is what was stored")
    }

    pub(crate) fn get(&self, id: StoredId) -> &Stored {
        self.stored.get(id.0)
    }

    pub(crate) fn position(&self, state: &State, actor: ActorId) -> Option<usize> {
        state
            .0
            .iter()
            .position(|&stored| self.get(stored).id == actor)
    }

    /// Returns the first rule of the actor's next step, and the state that it leads to.
    pub(crate) fn take(&self, state: &State, actor: ActorId) -> (Option<Rule>, State) {
        let at = self
            .position(state, actor)
            .expect("the step is one of this state's");
        let before = state.0[at];
        let (partner, is_created) = match self.get(before).next {
            NextAction::Send(to) if to != actor => (
                Some(
                    self.position(state, to)
                        .expect("far references lead to actors that exist"),
                ),
                false,
            ),
            NextAction::Create => (None, true),
            _ => (None, false),
        };
        let moved = self.moved(before, partner.map(|partner| state.0[partner]));
        let mut after = state.clone();
        after.0[at] = moved.actor;
        match moved.other {
            Some(created) if is_created => after.insert(self, created),
            Some(other) => after.0[partner.expect("it is sent to somebody")] = other,
            None => {}
        }
        if moved.drops {
            self.release(&mut after);
        }
        (moved.rule, after)
    }

    fn moved(&self, actor: StoredId, partner: Option<StoredId>) -> StepResult {
        let Some(partner) = partner else {
            let alone = &self.get(actor).alone;
            return *alone.get_or_init(|| self.compute(actor, None));
        };
        let key = (actor, partner);
        let memo = self.memo.pin();
        if let Some(&known) = memo.get(&key) {
            return known;
        }
        let moved = self.compute(actor, Some(partner));
        memo.insert(key, moved);
        moved
    }

    fn compute(&self, before: StoredId, partner: Option<StoredId>) -> StepResult {
        let (code, texts) = (&self.code, &self.texts);
        let mut actor = self.load(before);
        let mut is_global = true;
        let mut rule = None;
        let other = match (self.get(before).next, partner) {
            (NextAction::Send(_), Some(partner)) => {
                let mut receiver = self.load(partner);
                rule = Some(exchange::send(code, texts, &mut actor, &mut receiver));
                Some(receiver)
            }
            (NextAction::Send(_), None) => {
                rule = Some(exchange::send_to_itself(code, texts, &mut actor));
                None
            }
            (NextAction::Create, _) => {
                rule = Some(Rule::NewActor);
                Some(exchange::create(code, texts, &self.actors, &mut actor))
            }
            _ => {
                is_global = false;
                None
            }
        };
        let mut machine = Machine::new(code, texts, &mut actor);
        if !is_global {
            rule = machine.step(&self.stops);
        } else if self.stops.step_size == StepSize::Macro {
            machine.run(&self.stops, false);
        }
        let other = other.map(|other| self.store(other));
        let actor = self.store(actor);
        let (old, new) = (&self.get(before).links, &self.get(actor).links);
        StepResult {
            actor,
            other,
            drops: old.imports.iter().any(|far| !new.imports.contains(far))
                || new.lonely.iter().any(|slot| !old.lonely.contains(slot)),
            rule,
        }
    }

    /// Frees the exports that nothing refers to any more.
    fn release(&self, state: &mut State) {
        loop {
            let unused = (0..state.0.len()).find_map(|at| {
                let unused = self.unused(state, at);
                (!unused.is_empty()).then_some((at, unused))
            });
            let Some((at, unused)) = unused else {
                return;
            };
            let mut owner = self.load(state.0[at]);
            let mut slots = 0..;
            owner
                .exports
                .retain(|_| !unused.contains(&slots.next().expect("there is no last number")));
            let id = owner.id;
            state.0[at] = self.store(owner);
            // Removing slots renumbers the later ones.
            for other in &mut state.0 {
                let moves = |far: &Far| far.actor == id && far.slot > unused[0];
                if !self.get(*other).links.imports.iter().any(moves) {
                    continue;
                }
                let mut holder = self.load(*other);
                holder.visit(&mut |value| {
                    if let Value::Far(far) = value
                        && far.actor == id
                    {
                        far.slot -= unused.iter().filter(|&&slot| slot < far.slot).count() as u32;
                    }
                });
                *other = self.store(holder);
            }
        }
    }

    /// Returns the slots of an actor that neither it nor other actors can reach, in order.
    fn unused(&self, state: &State, at: usize) -> Vec<u32> {
        let owner = self.get(state.0[at]);
        let is_imported = |slot: u32| {
            let refers = |far: &Far| far.actor == owner.id && far.slot == slot;
            state
                .0
                .iter()
                .any(|&other| self.get(other).links.imports.iter().any(refers))
        };
        let (imported, unused): (Vec<u32>, Vec<u32>) = owner
            .links
            .lonely
            .iter()
            .partition(|&&slot| is_imported(slot));
        if unused.is_empty() || imported.is_empty() {
            return unused;
        }
        // They may still be reachable through exports that other actors refer to.
        let actor = self.load(state.0[at]);
        let reached = actor.reached_from(imported.iter().map(|&slot| actor.exports[slot as usize]));
        let is_reached = |slot: &u32| reached[actor.exports[*slot as usize].0 as usize];
        unused
            .into_iter()
            .filter(|slot| !is_reached(slot))
            .collect()
    }
}

impl State {
    /// Inserts an actor at its position in the order.
    fn insert(&mut self, table: &StateTable, created: StoredId) {
        let id = table.get(created).id;
        let is_before = |other: &StoredId| table.actors.order(table.get(*other).id, id).is_lt();
        let at = self.0.partition_point(is_before);
        self.0.insert(at, created);
    }
}

impl Actor {
    /// Returns which entries of the heap are reachable from these.
    fn reached_from(&self, roots: impl Iterator<Item = HeapId>) -> Vec<bool> {
        let mut reached = vec![false; self.heap.len()];
        let mut todo: Vec<HeapId> = roots.collect();
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut reached[id.0 as usize], true) {
                continue;
            }
            let mut entry = self.get(id).clone();
            entry.visit(&mut |value| {
                if let Value::Near(id) = *value {
                    todo.push(id);
                }
            });
            if let HeapEntry::Resolver(future) = entry {
                todo.push(future);
            }
        }
        reached
    }

    /// Marks the next message that the actor sends, or its current turn, so that the debugger follows it.
    pub(crate) fn mark(&mut self, what: Marked) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        if what == Marked::Next {
            turn.marks_next = true;
            return;
        }
        if let TurnCause::Message { is_marked, .. } = &mut turn.cause {
            *is_marked = true;
        }
        // The answer may already be waiting to be sent.
        if let Some(Frame::Sends(messages)) = turn.frames.first_mut() {
            let answers = messages
                .iter_mut()
                .filter(|message| message.is_resolution());
            answers.for_each(|message| message.is_marked = true);
        }
    }

    /// Removes all marks.
    pub(crate) fn unmark(&mut self) {
        self.visit_messages(&mut |message| message.is_marked = false);
        for entry in &mut self.heap {
            if let HeapEntry::Future(future) = entry {
                future.is_marked = false;
            }
        }
        if let Some(turn) = &mut self.turn {
            turn.marks_next = false;
            if let TurnCause::Message { is_marked, .. } = &mut turn.cause {
                *is_marked = false;
            }
        }
    }
}
