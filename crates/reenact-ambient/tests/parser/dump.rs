//! A tree as a short text without places, the same for the same program and different for different ones.

use reenact_ambient::at::ast::{Expr, ExprKind, Name, Statement};

/// Statements in braces.
pub(crate) fn body(statements: &[Statement]) -> String {
    format!("{{{}}}", join(statements, statement))
}

/// One statement.
pub(crate) fn statement(statement: &Statement) -> String {
    match statement {
        Statement::Def { name, value: None } => format!("(def {})", name.text),
        Statement::Def {
            name,
            value: Some(value),
        } => format!("(def {} {})", name.text, expr(value)),
        Statement::DefList { names, value } => {
            format!("(def [{}] {})", join_names(names), expr(value))
        }
        Statement::Method(method) => format!(
            "(def {}({}) {})",
            method.name.text,
            join_names(&method.params),
            body(&method.body)
        ),
        Statement::Expr(value) => expr(value),
    }
}

/// One expression.
pub(crate) fn expr(expr_: &Expr) -> String {
    let one = |e: &Expr| expr(e);
    match &expr_.kind {
        ExprKind::Null => "null".to_owned(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}f"),
        ExprKind::Text(value) => format!("{value:?}"),
        ExprKind::List(items) => format!("[{}]", join(items, one)),
        ExprKind::This => "this".to_owned(),
        ExprKind::Variable(name) => name.clone(),
        ExprKind::Assign(name, value) => format!("(:= {} {})", name.text, one(value)),
        ExprKind::Field(object, name) => format!("(. {} {})", one(object), name.text),
        ExprKind::AssignField(object, name, value) => {
            format!("(.:= {} {} {})", one(object), name.text, one(value))
        }
        ExprKind::Index(list, index) => format!("(at {} {})", one(list), one(index)),
        ExprKind::AssignIndex(list, index, value) => {
            format!("(at:= {} {} {})", one(list), one(index), one(value))
        }
        ExprKind::Call(name, args) => format!("{}({})", name.text, join(args, one)),
        ExprKind::Invoke(receiver, name, args) => {
            format!("(.{} {} [{}])", name.text, one(receiver), join(args, one))
        }
        ExprKind::Send {
            receiver,
            name,
            args,
            is_two_way,
        } => {
            let arrow = if *is_two_way { "<->" } else { "<-" };
            let (receiver, args) = (one(receiver), join(args, one));
            format!("({arrow}{} {receiver} [{args}])", name.text)
        }
        ExprKind::Block(params, statements) => made("block", params, statements),
        ExprKind::Object(statements) => made("object", &[], statements),
        ExprKind::Isolate(params, statements) => made("isolate", params, statements),
        ExprKind::Actor(params, statements) => made("actor", params, statements),
        ExprKind::If(condition, then, otherwise) => {
            let otherwise = otherwise
                .as_ref()
                .map_or(String::new(), |e| format!(" {}", one(e)));
            format!("(if {} {}{otherwise})", one(condition), one(then))
        }
        ExprKind::While(condition, repeated) => {
            format!("(while {} {})", one(condition), one(repeated))
        }
        ExprKind::When {
            future,
            becomes,
            catch,
        } => {
            let catch = catch
                .as_ref()
                .map_or(String::new(), |e| format!(" {}", one(e)));
            format!("(when {} {}{catch})", one(future), one(becomes))
        }
        ExprKind::Try(tried, catch) => format!("(try {} {})", one(tried), one(catch)),
        ExprKind::Raise(exception) => format!("(raise {})", one(exception)),
    }
}

fn made(what: &str, params: &[Name], statements: &[Statement]) -> String {
    format!("({what} |{}| {})", join_names(params), body(statements))
}

fn join<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join("; ")
}

fn join_names(names: &[Name]) -> String {
    join(names, |name| name.text.clone())
}
