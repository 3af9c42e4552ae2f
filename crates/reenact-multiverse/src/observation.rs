//! What can be seen of a state: a tree of values, the same for every language.

use serde::Serialize;

/// A value, as a person may look at it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Observation {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Float(f64),
    /// Text; also what can only be named, such as a reference.
    Text(String),
    /// Values in an order.
    List(Vec<Observation>),
    /// Values by name, in an order.
    Record(Vec<(String, Observation)>),
}
