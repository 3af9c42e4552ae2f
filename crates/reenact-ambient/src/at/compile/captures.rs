//! Determines which variables of a body have to be in cells: those that code within it captures and that are assigned.
//!
//! The analysis goes by name and does not distinguish variables with the same name: an unnecessary cell does no harm.

use std::collections::HashSet;

use crate::at::ast::{Expr, ExprKind, Method, Statement};

pub(super) fn shared_variables(body: &[Statement]) -> HashSet<String> {
    let mut found = Found::default();
    found.statements(body, false);
    found
        .assigned
        .intersection(&found.captured)
        .cloned()
        .collect()
}

#[derive(Default)]
struct Found {
    assigned: HashSet<String>,
    /// Used within a block, an object or a local function.
    captured: HashSet<String>,
}

impl Found {
    fn statements(&mut self, body: &[Statement], is_within: bool) {
        for statement in body {
            match statement {
                Statement::Def { value, .. } => {
                    if let Some(value) = value {
                        self.expr(value, is_within);
                    }
                }
                Statement::DefList { value, .. } => self.expr(value, is_within),
                Statement::Method(Method { body, .. }) => self.statements(body, true),
                Statement::Expr(expr) => self.expr(expr, is_within),
            }
        }
    }

    fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e Expr>, is_within: bool) {
        all.into_iter().for_each(|expr| self.expr(expr, is_within));
    }

    fn used(&mut self, name: &str, is_within: bool) {
        if is_within {
            self.captured.insert(name.to_owned());
        }
    }

    /// Visits a branch of a control structure. A literal block runs in place and captures nothing.
    fn branch(&mut self, expr: &Expr, is_within: bool) {
        match &expr.kind {
            ExprKind::Block(_, body) => self.statements(body, is_within),
            _ => self.expr(expr, is_within),
        }
    }

    fn expr(&mut self, expr: &Expr, is_within: bool) {
        match &expr.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::This => {}
            ExprKind::Variable(name) => self.used(name, is_within),
            ExprKind::Assign(name, value) => {
                self.assigned.insert(name.text.clone());
                self.used(&name.text, is_within);
                self.expr(value, is_within);
            }
            ExprKind::Field(object, _) => self.expr(object, is_within),
            ExprKind::AssignField(a, _, b) | ExprKind::Index(a, b) => {
                self.exprs([&**a, b], is_within)
            }
            ExprKind::AssignIndex(a, b, c) => self.exprs([&**a, b, c], is_within),
            ExprKind::Call(name, args) => {
                self.used(&name.text, is_within);
                self.exprs(args, is_within);
            }
            ExprKind::List(args) => self.exprs(args, is_within),
            ExprKind::Invoke(receiver, _, args) | ExprKind::Send { receiver, args, .. } => {
                self.expr(receiver, is_within);
                self.exprs(args, is_within);
            }
            ExprKind::Block(_, body) | ExprKind::Object(body) => self.statements(body, true),
            ExprKind::Isolate(params, _) | ExprKind::Actor(params, _) => {
                params
                    .iter()
                    .for_each(|param| self.used(&param.text, is_within));
            }
            ExprKind::If(condition, then, otherwise) => {
                self.expr(condition, is_within);
                self.branch(then, is_within);
                if let Some(otherwise) = otherwise {
                    self.branch(otherwise, is_within);
                }
            }
            ExprKind::While(a, b) | ExprKind::Try(a, b) => {
                self.branch(a, is_within);
                self.branch(b, is_within);
            }
            ExprKind::When {
                future,
                becomes,
                catch,
            } => self.exprs(
                [&**future, becomes].into_iter().chain(catch.as_deref()),
                is_within,
            ),
            ExprKind::Raise(error) => self.expr(error, is_within),
        }
    }
}
