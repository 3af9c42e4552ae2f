//! The canonical form of an actor.
//!
//! Between steps an actor is kept as bytes, in a form that says nothing but what matters: the heap holds what can still
//! be reached, in the order in which it is reached, and there is no counter of objects, futures or messages. So two ways
//! to the same state lead to the same bytes, and a program that goes round in circles has finitely many states.
//!
//! What others may refer to stays, in the order in which it was first given away, for as long as somebody does or the
//! actor itself still reaches it. Whether others do is seen only in the whole state; `lonely` are the slots for which it
//! matters. Circles through several actors are never freed; that costs memory and nothing else.

use super::{
    actor::{Actor, Entity},
    value::{Far, HeapId, Value},
};

/// What a state has to know of an actor to see what nobody refers to any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    /// Slots that the actor itself does not reach.
    pub(crate) lonely: Box<[u32]>,
    /// What it refers to in other actors.
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

    // The actor's own roots, the behaviour first.
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

    // Then what only others reach.
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
    // There are few.
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

/// The heap, on its way into the new order.
struct Moving {
    old: Vec<Entity>,
    places: Vec<Option<u32>>,
    /// What has a place and has not been moved, in the order of the places.
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

    /// Moves all that is reached.
    fn settle(&mut self, heap: &mut Vec<Entity>) {
        while let Some(&from) = self.queue.get(heap.len()) {
            // Each entity is moved once: its place is given once.
            let mut entity =
                std::mem::replace(&mut self.old[from as usize], Entity::Cell(Value::Null));
            entity.visit(&mut |value| self.visit_value(value));
            if let Entity::Resolver(future) = &mut entity {
                self.visit(future);
            }
            heap.push(entity);
        }
    }
}
