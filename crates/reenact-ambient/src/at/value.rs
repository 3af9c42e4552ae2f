//! Values and references.

use serde::{Deserialize, Serialize};

use super::tables::{ActorId, TextId};

/// A value. Two values are equal if they are the same primitive value or refer to the same entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// The bits of a floating-point number. All NaNs have the same bits.
    Float(u64),
    Text(TextId),
    /// The object `system`, which is available to every actor.
    System,
    /// An entry in this actor's heap.
    Near(HeapId),
    /// An entry in another actor's heap.
    Far(Far),
}

/// A position in the heap of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct HeapId(pub(crate) u32);

/// A far reference: the owner, its slot among the owner's exports, and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Far {
    pub(crate) actor: ActorId,
    pub(crate) slot: u32,
    pub(crate) kind: FarKind,
}

/// The kind of a far reference: ι_a.ι_o, ι_a.ι_f and ι_a.ι_r in the paper.
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
