//! The canonical form of an actor.
//!
//! Between steps an actor is stored as bytes, in a form that contains only what is relevant: the heap holds the
//! reachable entries in the order in which they are reached, and there are no counters of objects, futures or
//! messages. So two paths to the same state produce the same bytes, and a program that loops has finitely many states.
//!
//! Exported entries are kept, in the order in which they were first exported, as long as another actor refers to them
//! or the actor itself reaches them. Whether another actor does is known only in the whole state; `lonely` lists the
//! slots for which this matters. Cycles through several actors are never freed; that costs only memory.

use super::{
    actor::{Actor, HeapEntry},
    value::{Far, HeapId, Value},
};

/// What a state has to know about an actor to find the exports that no actor refers to any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    /// Exported slots that the actor itself does not reach.
    pub(crate) lonely: Box<[u32]>,
    /// Its references to other actors.
    pub(crate) imports: Box<[Far]>,
}

/// Brings the actor into canonical form.
pub(crate) fn canonicalise(actor: &mut Actor) -> Links {
    let mut moving = Moving {
        old: std::mem::take(&mut actor.heap),
        places: Vec::new(),
        queue: Vec::new(),
    };
    moving.places = vec![None; moving.old.len()];

    // First the actor's own roots, beginning with the behaviour.
    let mut exports = std::mem::take(&mut actor.exports);
    if let Some(behaviour) = exports.first_mut() {
        moving.visit(behaviour);
    }
    let mut heap = Vec::with_capacity(moving.old.len());
    actor.visit(&mut |value| moving.visit_value(value));
    for future in actor.waiting.iter_mut().chain(&mut actor.ruined) {
        moving.visit(future);
    }
    moving.settle(&mut heap);

    // Then what only other actors reach.
    let mut lonely = Vec::new();
    for (slot, export) in exports.iter_mut().enumerate().skip(1) {
        if moving.places[export.0 as usize].is_none() {
            lonely.push(slot as u32);
        }
    }
    for export in exports.iter_mut().skip(1) {
        moving.visit(export);
        moving.settle(&mut heap);
    }

    actor.heap = heap;
    actor.exports = exports;
    // A vector is enough, because there are few.
    let mut imports = Vec::new();
    actor.visit(&mut |value| {
        if let Value::Far(far) = *value
            && !imports.contains(&far)
        {
            imports.push(far);
        }
    });
    Links {
        lonely: lonely.into(),
        imports: imports.into(),
    }
}

/// The heap while it is being reordered.
struct Moving {
    old: Vec<HeapEntry>,
    places: Vec<Option<u32>>,
    /// The entries that have a place and have not been moved yet, in the order of their places.
    queue: Vec<u32>,
}

impl Moving {
    fn visit(&mut self, id: &mut HeapId) {
        let place = &mut self.places[id.0 as usize];
        id.0 = match *place {
            Some(place) => place,
            None => {
                self.queue.push(id.0);
                let next = self.queue.len() as u32 - 1;
                *place = Some(next);
                next
            }
        };
    }

    fn visit_value(&mut self, value: &mut Value) {
        if let Value::Near(id) = value {
            self.visit(id);
        }
    }

    /// Moves everything that has been reached.
    fn settle(&mut self, heap: &mut Vec<HeapEntry>) {
        while let Some(&from) = self.queue.get(heap.len()) {
            // Each entry is moved once, because it gets a place once.
            let mut entry =
                std::mem::replace(&mut self.old[from as usize], HeapEntry::Cell(Value::Null));
            entry.visit(&mut |value| self.visit_value(value));
            if let HeapEntry::Resolver(future) = &mut entry {
                self.visit(future);
            }
            heap.push(entry);
        }
    }
}
