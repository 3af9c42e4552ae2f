//! Compiles expressions. Each leaves its value on the stack.

use super::{
    Compiled, Compiler,
    scope::{BodyKind, LocalVariable, NameAccess, Scope},
};
use crate::{
    Span,
    at::{
        ast::{Expr, ExprKind, Name, Statement},
        code::{ClassKind, Instruction},
        value::Value,
    },
};

impl Compiler<'_> {
    pub(super) fn exprs(&mut self, all: &[Expr]) -> Compiled {
        all.iter().try_for_each(|expr| self.expr(expr))
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Compiled {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Null => self.emit(span, Instruction::Push(Value::Null)),
            ExprKind::Bool(value) => self.emit(span, Instruction::Push(Value::Bool(*value))),
            ExprKind::Int(value) => self.emit(span, Instruction::Push(Value::Int(*value))),
            ExprKind::Float(value) => self.emit(span, Instruction::Push(Value::float(*value))),
            ExprKind::Text(text) => {
                let text = self.texts.id(text);
                self.emit(span, Instruction::Push(Value::Text(text)));
            }
            ExprKind::List(values) => {
                self.exprs(values)?;
                self.emit(span, Instruction::List(values.len() as u32));
            }
            ExprKind::This => self.emit(span, Instruction::Local(0)),
            ExprKind::Variable(name) => self.variable(span, name)?,
            ExprKind::Assign(name, value) => self.assign(name, value)?,
            ExprKind::Field(object, name) => {
                self.expr(object)?;
                let selector = self.selector(&name.text);
                self.emit(name.span, Instruction::Field(selector));
            }
            ExprKind::AssignField(object, name, value) => {
                self.expr(object)?;
                self.expr(value)?;
                let selector = self.selector(&name.text);
                self.emit(name.span, Instruction::SetField(selector));
            }
            ExprKind::Index(list, index) => {
                self.expr(list)?;
                self.expr(index)?;
                self.emit(span, Instruction::Index);
            }
            ExprKind::AssignIndex(list, index, value) => {
                self.expr(list)?;
                self.expr(index)?;
                self.expr(value)?;
                self.emit(span, Instruction::SetIndex);
            }
            ExprKind::Call(name, args) => self.call(name, args)?,
            ExprKind::Invoke(object, name, args) => {
                self.expr(object)?;
                self.exprs(args)?;
                let selector = self.selector(&name.text);
                self.emit(name.span, Instruction::Invoke(selector, args.len() as u32));
            }
            ExprKind::Send {
                receiver,
                name,
                args,
                is_two_way,
            } => {
                self.expr(receiver)?;
                self.exprs(args)?;
                if *is_two_way {
                    self.emit(span, Instruction::MakeFuture);
                }
                let send = Instruction::Send {
                    selector: self.selector(&name.text),
                    args: args.len() as u32,
                    is_two_way: *is_two_way,
                };
                self.emit(span, send);
            }
            ExprKind::Block(params, body) => self.block("block", span, params, body)?,
            ExprKind::Object(body) => self.object(span, ClassKind::Object, &[], body)?,
            ExprKind::Isolate(params, body) => {
                self.object(span, ClassKind::Isolate, params, body)?
            }
            ExprKind::Actor(params, body) => self.object(span, ClassKind::Actor, params, body)?,
            ExprKind::If(condition, then, otherwise) => {
                self.expr(condition)?;
                let to_else = self.jump(condition.span, Instruction::JumpUnless);
                self.branch(then)?;
                let to_end = self.jump(then.span, Instruction::Jump);
                self.land(to_else);
                match otherwise {
                    Some(otherwise) => self.branch(otherwise)?,
                    None => self.emit(span, Instruction::Push(Value::Null)),
                }
                self.land(to_end);
            }
            ExprKind::While(condition, body) => {
                let begin = self.here();
                self.branch(condition)?;
                let to_end = self.jump(condition.span, Instruction::JumpUnless);
                self.branch(body)?;
                self.emit(body.span, Instruction::Pop);
                self.emit(span, Instruction::Jump(begin));
                self.land(to_end);
                self.emit(span, Instruction::Push(Value::Null));
            }
            ExprKind::When {
                future,
                becomes,
                catch,
            } => {
                self.expr(future)?;
                self.expr(becomes)?;
                match catch {
                    Some(catch) => self.expr(catch)?,
                    None => self.emit(span, Instruction::Push(Value::Null)),
                }
                self.emit(span, Instruction::MakeFuture);
                self.emit(span, Instruction::Register);
            }
            ExprKind::Try(body, catch) => {
                let to_catch = self.jump(span, Instruction::Catch);
                self.branch(body)?;
                self.emit(span, Instruction::EndCatch);
                let to_end = self.jump(span, Instruction::Jump);
                self.land(to_catch);
                self.handler(catch)?;
                self.land(to_end);
            }
            ExprKind::Raise(error) => {
                self.expr(error)?;
                self.emit(span, Instruction::Raise);
            }
        }
        Ok(())
    }

    /// Compiles a branch of a control structure: a literal block in place, any other expression as a call of its value.
    fn branch(&mut self, branch: &Expr) -> Compiled {
        if let ExprKind::Block(params, body) = &branch.kind
            && params.is_empty()
        {
            return self.statements(branch.span, body);
        }
        self.expr(branch)?;
        self.emit(branch.span, Instruction::Apply(0));
        Ok(())
    }

    /// Compiles the handler for the error on the stack.
    fn handler(&mut self, handler: &Expr) -> Compiled {
        if let ExprKind::Block(params, body) = &handler.kind
            && params.len() <= 1
        {
            let outer = self.frame().enter();
            match params.first() {
                Some(param) => self.define(param)?,
                None => self.emit(handler.span, Instruction::Pop),
            }
            self.statements(handler.span, body)?;
            self.frame().leave(outer);
            return Ok(());
        }
        let error = self.frame().temporary();
        self.emit(handler.span, Instruction::SetLocal(error));
        self.expr(handler)?;
        self.emit(handler.span, Instruction::Local(error));
        self.emit(handler.span, Instruction::Apply(1));
        Ok(())
    }

    fn object(
        &mut self,
        span: Span,
        kind: ClassKind,
        params: &[Name],
        body: &[Statement],
    ) -> Compiled {
        let name = self.name_around();
        let (class, captures) = self.class(&name, kind, params, body)?;
        for access in &captures {
            self.load_captured(span, access);
        }
        for param in params {
            self.variable(param.span, &param.text)?;
        }
        let params = params.len() as u32;
        let instruction = match kind {
            ClassKind::Actor => Instruction::Actor { class, params },
            ClassKind::Object | ClassKind::Isolate => Instruction::Object {
                class,
                captured: captures.len() as u32,
                params,
            },
        };
        self.emit(span, instruction);
        Ok(())
    }

    /// Returns the name of an object that is created here: `makeMath` creates a math.
    fn name_around(&self) -> String {
        let around = self.scopes.iter().rev().find_map(|outer| match outer {
            Scope::Code(frame) if frame.kind == BodyKind::Method => Some(frame.body.name.as_str()),
            _ => None,
        });
        let name = around.unwrap_or("object");
        let name = ["make", "create", "new"]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))
            .filter(|rest| rest.starts_with(char::is_uppercase))
            .unwrap_or(name);
        let mut letters = name.chars();
        match letters.next() {
            Some(first) => first.to_lowercase().chain(letters).collect(),
            None => String::new(),
        }
    }

    fn call(&mut self, name: &Name, args: &[Expr]) -> Compiled {
        let (span, count) = (name.span, args.len() as u32);
        if self.is_variable(&name.text) {
            self.variable(span, &name.text)?;
            self.exprs(args)?;
            self.emit(span, Instruction::Apply(count));
            return Ok(());
        }
        if let Some(holder) = self.holder_of_method(&name.text) {
            self.load_holder(span, &holder);
            self.exprs(args)?;
            let selector = self.selector(&name.text);
            self.emit(span, Instruction::Invoke(selector, count));
            return Ok(());
        }
        match (name.text.as_str(), args) {
            ("makeFuture", []) => {
                self.emit(span, Instruction::MakeFuture);
                self.emit(span, Instruction::List(2));
                Ok(())
            }
            ("foreach:in:", [block, list]) => {
                self.expr(list)?;
                self.expr(block)?;
                let selector = self.selector("each:");
                self.emit(span, Instruction::Invoke(selector, 1));
                Ok(())
            }
            (text, _) => Err(self.unknown(span, "method or function", text)),
        }
    }

    fn assign(&mut self, name: &Name, value: &Expr) -> Compiled {
        let span = name.span;
        let Some(access) = self.access(&name.text) else {
            return Err(self.unknown(span, "variable", &name.text));
        };
        match access {
            NameAccess::Local(LocalVariable {
                local,
                is_cell: false,
            }) => {
                if self.frame().is_copy(local) {
                    unreachable!("a captured variable that is assigned is in a cell");
                }
                self.expr(value)?;
                self.emit(span, Instruction::Dup);
                self.emit(span, Instruction::SetLocal(local));
            }
            NameAccess::Slot {
                holder,
                slot,
                is_cell: false,
            } => {
                self.load_holder(span, &holder);
                self.expr(value)?;
                self.emit(span, Instruction::SetSlot(slot));
            }
            cell => {
                self.load_captured(span, &cell);
                self.expr(value)?;
                self.emit(span, Instruction::SetBox);
            }
        }
        Ok(())
    }
}
