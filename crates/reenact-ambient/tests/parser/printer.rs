//! A tree as a program again.

use reenact_ambient::at::ast::{Expr, ExprKind, Name, Statement};

/// The text of a body, without braces.
pub(crate) fn body(statements: &[Statement]) -> String {
    let statements: Vec<_> = statements.iter().map(statement).collect();
    statements.join("; ")
}

fn statement(statement: &Statement) -> String {
    match statement {
        Statement::Def { name, value: None } => format!("def {}", name.text),
        Statement::Def {
            name,
            value: Some(value),
        } => format!("def {} := {}", name.text, expr(value)),
        Statement::DefList { names, value } => {
            format!("def [{}] := {}", join_names(names), expr(value))
        }
        Statement::Method(method) => {
            let params = method.params.iter().map(|param| param.text.clone());
            let head = message(&method.name, params.collect());
            format!("def {head} {{ {} }}", body(&method.body))
        }
        Statement::Expr(value) => expr(value),
    }
}

fn expr(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Null => "null".to_owned(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Text(text) => quoted(text),
        ExprKind::List(items) => format!("[{}]", join(items)),
        ExprKind::This => "this".to_owned(),
        ExprKind::Variable(name) => name.clone(),
        ExprKind::Assign(name, value) => format!("{} := {}", name.text, expr(value)),
        ExprKind::Field(object, name) => format!("{}.{}", tight(object), name.text),
        ExprKind::AssignField(object, name, value) => {
            format!("{}.{} := {}", tight(object), name.text, expr(value))
        }
        ExprKind::Index(list, index) => format!("{}[{}]", tight(list), expr(index)),
        ExprKind::AssignIndex(list, index, value) => {
            format!("{}[{}] := {}", tight(list), expr(index), expr(value))
        }
        ExprKind::Call(name, args) => message(name, arguments(name, args)),
        ExprKind::Invoke(receiver, name, args) if is_operator(name) => {
            format!("{} {} {}", tight(receiver), name.text, tight(&args[0]))
        }
        ExprKind::Invoke(receiver, name, args) => {
            format!(
                "{}.{}",
                tight(receiver),
                message(name, arguments(name, args))
            )
        }
        ExprKind::Send {
            receiver,
            name,
            args,
            is_two_way,
        } => {
            let annotation = if *is_two_way { "@FutureMessage" } else { "" };
            let sent = message(name, arguments(name, args));
            format!("{}<-{sent}{annotation}", tight(receiver))
        }
        ExprKind::Block(params, statements) => block(params, statements),
        ExprKind::Object(statements) => format!("object: {}", block(&[], statements)),
        ExprKind::Isolate(params, statements) => format!("isolate: {}", block(params, statements)),
        ExprKind::Actor(params, statements) => format!("actor: {}", block(params, statements)),
        ExprKind::If(condition, then, None) => {
            format!("if: {} then: {}", tight(condition), tight(then))
        }
        ExprKind::If(condition, then, Some(otherwise)) => {
            let (condition, then) = (tight(condition), tight(then));
            format!("if: {condition} then: {then} else: {}", tight(otherwise))
        }
        ExprKind::While(condition, repeated) => {
            format!("while: {} do: {}", tight(condition), tight(repeated))
        }
        ExprKind::When {
            future,
            becomes,
            catch,
        } => {
            let catch = catch
                .as_ref()
                .map(|catch| format!(" catch: {}", tight(catch)));
            let (future, becomes) = (tight(future), tight(becomes));
            format!(
                "when: {future} becomes: {becomes}{}",
                catch.unwrap_or_default()
            )
        }
        ExprKind::Try(tried, catch) => format!("try: {} catch: {}", tight(tried), tight(catch)),
        ExprKind::Raise(exception) => format!("raise: {}", tight(exception)),
    }
}

/// In parentheses unless it can have a message after it.
fn tight(value: &Expr) -> String {
    let is_tight = match &value.kind {
        ExprKind::Int(value) => *value >= 0,
        ExprKind::Float(value) => value.is_sign_positive(),
        ExprKind::Call(name, _) | ExprKind::Send { name, .. } => !is_keyword(name),
        ExprKind::Invoke(_, name, _) => !is_keyword(name) && !is_operator(name),
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Text(_)
        | ExprKind::List(_)
        | ExprKind::This
        | ExprKind::Variable(_)
        | ExprKind::Field(..)
        | ExprKind::Index(..)
        | ExprKind::Block(..) => true,
        _ => false,
    };
    match is_tight {
        true => expr(value),
        false => format!("({})", expr(value)),
    }
}

fn arguments(name: &Name, args: &[Expr]) -> Vec<String> {
    let one = |arg: &Expr| match arg.kind {
        _ if !is_keyword(name) => expr(arg),
        // An annotation after it would be its own.
        ExprKind::Send { .. } => format!("({})", expr(arg)),
        _ => tight(arg),
    };
    args.iter().map(one).collect()
}

/// `m(a, b)` or `at: a put: b`.
fn message(name: &Name, args: Vec<String>) -> String {
    if !is_keyword(name) {
        return format!("{}({})", name.text, args.join(", "));
    }
    let keywords = name.text.split_inclusive(':').zip(args);
    let keywords: Vec<_> = keywords
        .map(|(keyword, arg)| format!("{keyword} {arg}"))
        .collect();
    keywords.join(" ")
}

fn block(params: &[Name], statements: &[Statement]) -> String {
    match params {
        [] => format!("{{ {} }}", body(statements)),
        _ => format!("{{ |{}| {} }}", join_names(params), body(statements)),
    }
}

fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{}\"", escaped.replace('\t', "\\t").replace('\r', "\\r"))
}

fn is_keyword(name: &Name) -> bool {
    name.text.ends_with(':')
}

fn is_operator(name: &Name) -> bool {
    !name
        .text
        .starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn join(items: &[Expr]) -> String {
    items.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn join_names(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| name.text.as_str()).collect();
    names.join(", ")
}
