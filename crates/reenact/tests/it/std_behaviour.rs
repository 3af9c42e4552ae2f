//! What the behaviours say holds of std; if it did not, they would be wrong.

#[path = "../../examples/programs/behaviour/all.rs"]
mod behaviour;

/// Whom the behaviours are of.
use std as subject;
