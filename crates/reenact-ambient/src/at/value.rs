//! Values, and who owns what they refer to.

use serde::{Deserialize, Serialize};

use super::tables::{ActorId, TextId};

/// A value. Two equal values are the same value, or the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// The bits of a number; there is only one that is not a number.
    Float(u64),
    Text(TextId),
    /// The object `system`, which every actor has.
    System,
    /// Something in this actor's heap.
    Near(HeapId),
    /// Something in another actor's heap.
    Far(Far),
}

/// A place in the heap of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct HeapId(pub(crate) u32);

/// A far reference: whose, which of the entities that its owner has given away, and of what kind that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Far {
    pub(crate) actor: ActorId,
    pub(crate) slot: u32,
    pub(crate) kind: FarKind,
}

/// What a far reference leads to: ι_a.ι_o, ι_a.ι_f and ι_a.ι_r in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum FarKind {
    Object,
    Future,
    Resolver,
}

impl Value {
    pub(crate) fn float(number: f64) -> Value {
        Value::Float(if number.is_nan() { f64::NAN } else { number }.to_bits())
    }
}
