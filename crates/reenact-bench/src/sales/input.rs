//! The actor that makes up the input.

use reenact::actor::FarRef;

use super::parsing::{Parsing, ParsingSends};

/// Sends one text after the other.
pub(super) struct Input {
    texts: Vec<String>,
    parsing: FarRef<Parsing>,
}

impl Input {
    pub(super) fn new(texts: Vec<String>, parsing: FarRef<Parsing>) -> Self {
        Self { texts, parsing }
    }
}

#[reenact::actor]
impl Input {
    pub(super) fn start(&mut self) {
        for text in self.texts.drain(..) {
            self.parsing.parse(text);
        }
    }
}
