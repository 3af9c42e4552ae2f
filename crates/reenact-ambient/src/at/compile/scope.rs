//! Resolves names by the scopes around them.
//!
//! Scopes are nested: code is within an object or within other code, an object is within code. Code accesses its own
//! variables and the object around it (`this`); everything further out is captured by the blocks and objects in
//! between.

use std::collections::HashSet;

use super::{Compiled, Compiler};
use crate::{
    Span, SyntaxError,
    at::code::{Body, Instruction},
};

/// A scope around a position in the program.
pub(super) enum Scope {
    /// Code.
    Code(CodeScope),
    /// An object, an isolate or an actor.
    Object {
        fields: Vec<String>,
        methods: Vec<String>,
        /// Whether it cannot access the scopes around it.
        is_closed: bool,
        /// What it captures from the scopes around it. These are its fields after the named ones.
        captures: Vec<(Capture, NameAccess)>,
    },
}

/// What an object captures.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Capture {
    Variable(String),
    /// The enclosing object.
    This,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    Method,
    Block,
    Init,
}

/// A variable of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LocalVariable {
    pub(super) local: u32,
    /// Whether the variable holds a cell that contains the value.
    pub(super) is_cell: bool,
}

/// How code accesses a name.
#[derive(Clone, Debug)]
pub(super) enum NameAccess {
    Local(LocalVariable),
    /// A field of `this`, or of an object around it.
    Slot {
        holder: Hops,
        slot: u32,
        is_cell: bool,
    },
    This,
}

/// The path from `this` to an object around it: the fields to follow.
pub(super) type Hops = Vec<u32>;

/// Code that is being compiled.
pub(super) struct CodeScope {
    pub(super) body: Body,
    pub(super) kind: BodyKind,
    /// Variables that have to be in cells.
    shared: HashSet<String>,
    /// The visible variables, innermost last. `scope` is where the innermost scope begins.
    variables: Vec<(String, LocalVariable)>,
    scope: usize,
    captured: Vec<(String, LocalVariable, NameAccess)>,
}

impl CodeScope {
    pub(super) fn new(name: &str, shared: HashSet<String>, kind: BodyKind) -> CodeScope {
        let body = Body {
            name: name.to_owned(),
            locals: 1,
            ..Body::default()
        };
        CodeScope {
            body,
            kind,
            shared,
            variables: Vec::new(),
            scope: 0,
            captured: Vec::new(),
        }
    }

    /// Returns the code and its captures.
    pub(super) fn finish(mut self) -> (Body, Vec<NameAccess>) {
        self.body.captured = self
            .captured
            .iter()
            .map(|(_, place, _)| place.local)
            .collect();
        (
            self.body,
            self.captured
                .into_iter()
                .map(|(_, _, access)| access)
                .collect(),
        )
    }

    pub(super) fn temporary(&mut self) -> u32 {
        self.body.locals += 1;
        self.body.locals - 1
    }

    pub(super) fn declare(&mut self, name: &str, is_cell: bool) -> LocalVariable {
        let place = LocalVariable {
            local: self.temporary(),
            is_cell: is_cell || self.shared.contains(name),
        };
        self.variables.push((name.to_owned(), place));
        place
    }

    pub(super) fn is_declared_here(&self, name: &str) -> bool {
        self.variables[self.scope..]
            .iter()
            .any(|(other, _)| other == name)
    }

    pub(super) fn find(&self, name: &str) -> Option<LocalVariable> {
        let captured = self.captured.iter().map(|(name, place, _)| (name, place));
        let own = self
            .variables
            .iter()
            .rev()
            .map(|(name, place)| (name, place));
        own.chain(captured)
            .find(|(other, _)| *other == name)
            .map(|(_, place)| *place)
    }

    pub(super) fn name_of(&self, local: u32) -> String {
        let variable = self
            .variables
            .iter()
            .find(|(_, place)| place.local == local);
        variable.expect("it is a variable").0.clone()
    }

    /// Begins a nested scope. Returns the argument for [`leave`](CodeScope::leave).
    pub(super) fn enter(&mut self) -> usize {
        std::mem::replace(&mut self.scope, self.variables.len())
    }

    pub(super) fn leave(&mut self, outer: usize) {
        self.variables.truncate(self.scope);
        self.scope = outer;
    }

    /// Removes all variables, since the parameters of an object are accessed as its fields from now on.
    pub(super) fn forget_all(&mut self) {
        self.variables.clear();
    }

    fn capture(&mut self, name: &str, is_cell: bool, access: NameAccess) -> LocalVariable {
        let place = LocalVariable {
            local: self.temporary(),
            is_cell,
        };
        self.captured.push((name.to_owned(), place, access));
        place
    }

    /// Whether a variable is a captured copy.
    pub(super) fn is_copy(&self, local: u32) -> bool {
        self.captured
            .iter()
            .any(|(_, place, _)| place.local == local)
    }
}

impl Compiler<'_> {
    /// Resolves a name in the code that is being compiled.
    pub(super) fn access(&mut self, name: &str) -> Option<NameAccess> {
        self.access_at(self.scopes.len() - 1, name)
    }

    fn access_at(&mut self, at: usize, name: &str) -> Option<NameAccess> {
        match &self.scopes[at] {
            Scope::Code(frame) => {
                if let Some(place) = frame.find(name) {
                    return Some(NameAccess::Local(place));
                }
                let is_block = frame.kind == BodyKind::Block;
                match self.access_at(at.checked_sub(1)?, name)? {
                    NameAccess::Local(outer) if is_block => {
                        let Scope::Code(frame) = &mut self.scopes[at] else {
                            unreachable!("it was a frame before")
                        };
                        Some(NameAccess::Local(frame.capture(
                            name,
                            outer.is_cell,
                            NameAccess::Local(outer),
                        )))
                    }
                    // `this` is the same in a block.
                    slot => Some(slot),
                }
            }
            Scope::Object {
                fields,
                is_closed,
                captures,
                ..
            } => {
                if let Some(slot) = fields.iter().position(|field| field == name) {
                    return Some(NameAccess::Slot {
                        holder: Hops::new(),
                        slot: slot as u32,
                        is_cell: false,
                    });
                }
                if *is_closed {
                    return None;
                }
                let wanted = Capture::Variable(name.to_owned());
                let known = captures
                    .iter()
                    .position(|(captured, _)| *captured == wanted);
                if let Some((at_capture, NameAccess::Local(place))) =
                    known.map(|k| (k, &captures[k].1))
                {
                    return Some(NameAccess::Slot {
                        holder: Hops::new(),
                        slot: (fields.len() + at_capture) as u32,
                        is_cell: place.is_cell,
                    });
                }
                match self.access_at(at.checked_sub(1)?, name)? {
                    NameAccess::Local(place) => Some(NameAccess::Slot {
                        holder: Hops::new(),
                        slot: self.capture_in_object(at, wanted, NameAccess::Local(place)),
                        is_cell: place.is_cell,
                    }),
                    NameAccess::Slot {
                        holder,
                        slot,
                        is_cell,
                    } => Some(NameAccess::Slot {
                        holder: self.through_object(at, holder),
                        slot,
                        is_cell,
                    }),
                    NameAccess::This => unreachable!("`this` has no name"),
                }
            }
        }
    }

    /// Returns the slot in which an object stores a capture.
    fn capture_in_object(&mut self, at: usize, what: Capture, access: NameAccess) -> u32 {
        let Scope::Object {
            fields, captures, ..
        } = &mut self.scopes[at]
        else {
            unreachable!("only objects have slots")
        };
        let known = captures.iter().position(|(captured, _)| *captured == what);
        let index = known.unwrap_or_else(|| {
            captures.push((what, access));
            captures.len() - 1
        });
        (fields.len() + index) as u32
    }

    /// Extends a path, which starts where the object at `at` is created, so that it starts at that object.
    fn through_object(&mut self, at: usize, mut rest: Hops) -> Hops {
        let outer = self.capture_in_object(at, Capture::This, NameAccess::This);
        rest.insert(0, outer);
        rest
    }

    /// Returns the path to the nearest enclosing object that has a method with this name.
    pub(super) fn holder_of_method(&mut self, name: &str) -> Option<Hops> {
        self.holder_at(self.scopes.len() - 1, name)
    }

    fn holder_at(&mut self, at: usize, name: &str) -> Option<Hops> {
        match &self.scopes[at] {
            Scope::Code(_) => self.holder_at(at.checked_sub(1)?, name),
            Scope::Object {
                methods, is_closed, ..
            } => {
                if methods.iter().any(|method| method == name) {
                    return Some(Hops::new());
                }
                if *is_closed {
                    return None;
                }
                let holder = self.holder_at(at.checked_sub(1)?, name)?;
                Some(self.through_object(at, holder))
            }
        }
    }

    pub(super) fn load_holder(&mut self, span: Span, holder: &Hops) {
        self.emit(span, Instruction::Local(0));
        for &slot in holder {
            self.emit(span, Instruction::Slot(slot));
        }
    }

    /// Pushes a captured value: for a variable in a cell, the cell.
    pub(super) fn load_captured(&mut self, span: Span, access: &NameAccess) {
        match access {
            NameAccess::Local(place) => self.emit(span, Instruction::Local(place.local)),
            NameAccess::Slot { holder, slot, .. } => {
                self.load_holder(span, holder);
                self.emit(span, Instruction::Slot(*slot));
            }
            NameAccess::This => self.emit(span, Instruction::Local(0)),
        }
    }

    /// Pushes the value of a variable.
    pub(super) fn variable(&mut self, span: Span, name: &str) -> Compiled {
        if name == "system" {
            self.emit(span, Instruction::Push(crate::at::value::Value::System));
            return Ok(());
        }
        let Some(access) = self.access(name) else {
            return Err(self.unknown(span, "variable", name));
        };
        self.load_captured(span, &access);
        if let NameAccess::Local(LocalVariable { is_cell: true, .. })
        | NameAccess::Slot { is_cell: true, .. } = access
        {
            self.emit(span, Instruction::Unbox);
        }
        Ok(())
    }

    pub(super) fn is_variable(&mut self, name: &str) -> bool {
        self.access(name).is_some()
    }

    /// Creates the error for an unknown name.
    pub(super) fn unknown(&self, span: Span, what: &str, name: &str) -> SyntaxError {
        let error = SyntaxError::new(span, format!("there is no {what} `{name}` here"));
        let mut is_visible = true;
        let mut similar = None;
        for outer in self.scopes.iter().rev() {
            let (names, closes): (Vec<&str>, bool) = match outer {
                Scope::Code(frame) => (
                    frame
                        .variables
                        .iter()
                        .map(|(name, _)| name.as_str())
                        .collect(),
                    false,
                ),
                Scope::Object {
                    fields,
                    methods,
                    is_closed,
                    ..
                } => (
                    fields.iter().chain(methods).map(String::as_str).collect(),
                    *is_closed,
                ),
            };
            if !is_visible && names.contains(&name) {
                return error.with_help(if what == "variable" {
                    format!("an actor or an isolate sees its parameters only: write `{{ |{name}| … }}` to pass it")
                } else {
                    format!("an actor or an isolate sees nothing of what is around it: define `{name}` within it")
                });
            }
            if is_visible && similar.is_none() {
                similar = names.into_iter().find(|other| is_similar(other, name));
            }
            is_visible &= !closes;
        }
        match similar {
            Some(other) => error.with_help(format!("there is `{other}`")),
            None => error,
        }
    }
}

/// Whether two names differ only in case, or by one letter that is added, missing or replaced.
fn is_similar(a: &str, b: &str) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = if a.len() < b.len() {
        (&a, &b)
    } else {
        (&b, &a)
    };
    let front = short
        .iter()
        .zip(long.iter())
        .take_while(|(x, y)| x == y)
        .count();
    let back = short
        .iter()
        .rev()
        .zip(long.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    long.len() > 2 && long.len() - short.len() <= 1 && front + back + 1 >= long.len()
}
