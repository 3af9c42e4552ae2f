//! Generated trees: what is printed is read as the same tree, and every part of it says where it is.
//!
//! `cargo xtask hunt` tries other programs; `REENACT_CASES=5000` for more of them.

use proptest::{collection::vec, option, prelude::*};
use reenact_ambient::{
    Source, Span,
    at::{
        ast::{Expr, ExprKind, Method, Name, Statement},
        parse,
    },
};
use reenact_testing::generated;

use crate::{dump, printer};

const WORDS: &[&str] = &[
    "x", "y", "foo", "isEmpty?", "größe", "e3", "_a", "if", "then", "define", "not",
];

const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="];

fn name() -> impl Strategy<Value = Name> {
    proptest::sample::select(WORDS).prop_map(named)
}

fn named(text: impl Into<String>) -> Name {
    Name {
        text: text.into(),
        span: Span::default(),
    }
}

fn expr_of(kind: ExprKind) -> Expr {
    Expr {
        kind,
        span: Span::default(),
    }
}

/// A message with as many arguments as it has keywords, or any number of them if it has none.
fn message<T: std::fmt::Debug>(
    arg: impl Strategy<Value = T>,
) -> impl Strategy<Value = (Name, Vec<T>)> {
    let keywords = proptest::sample::subsequence(vec!["at:", "put:", "do?:", "x:"], 0..=3);
    (name(), keywords, vec(arg, 0..4)).prop_map(|(name, keywords, mut args)| {
        args.truncate(keywords.len().max(if keywords.is_empty() { 4 } else { 0 }));
        match keywords.is_empty() || args.is_empty() {
            true => (name, args),
            false => (named(keywords[..args.len()].concat()), args),
        }
    })
}

fn operator() -> impl Strategy<Value = Name> {
    proptest::sample::select(OPERATORS).prop_map(named)
}

fn statement(expr: BoxedStrategy<Expr>) -> impl Strategy<Value = Statement> {
    let params = vec(name(), 0..3);
    prop_oneof![
        4 => expr.clone().prop_map(Statement::Expr),
        2 => (name(), option::of(expr.clone()))
            .prop_map(|(name, value)| Statement::Def { name, value }),
        1 => (params, expr.clone()).prop_map(|(names, value)| Statement::DefList { names, value }),
        1 => (message(name()), vec(expr.prop_map(Statement::Expr), 0..3)).prop_map(
            |((name, params), body)| {
                let span = Span::default();
                Statement::Method(Method { name, params, body, span })
            }
        ),
    ]
}

fn expr() -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        Just(ExprKind::Null),
        any::<bool>().prop_map(ExprKind::Bool),
        any::<i64>().prop_map(ExprKind::Int),
        (-3..3i64).prop_map(ExprKind::Int),
        any::<f64>()
            .prop_filter("finite", |float| float.is_finite())
            .prop_map(ExprKind::Float),
        any::<String>().prop_map(ExprKind::Text),
        Just(ExprKind::This),
        name().prop_map(|name| ExprKind::Variable(name.text)),
    ];
    let tree = leaf.prop_map(expr_of).prop_recursive(5, 40, 4, |expr| {
        let expr = expr.boxed();
        let boxed = || expr.clone().prop_map(Box::new);
        let body = || vec(statement(expr.clone()), 0..4);
        let params = || vec(name(), 0..3);
        let branch = || {
            let block = (params(), body()).prop_map(|(params, body)| ExprKind::Block(params, body));
            block.prop_map(|kind| Box::new(expr_of(kind)))
        };
        let data = prop_oneof![
            vec(expr.clone(), 0..4).prop_map(ExprKind::List),
            (name(), boxed()).prop_map(|(name, value)| ExprKind::Assign(name, value)),
            (boxed(), name()).prop_map(|(object, name)| ExprKind::Field(object, name)),
            (boxed(), name(), boxed())
                .prop_map(|(object, name, value)| ExprKind::AssignField(object, name, value)),
            (boxed(), boxed()).prop_map(|(list, index)| ExprKind::Index(list, index)),
            (boxed(), boxed(), boxed())
                .prop_map(|(list, index, value)| ExprKind::AssignIndex(list, index, value)),
        ];
        let messages =
            prop_oneof![
                message(expr.clone()).prop_map(|(name, args)| ExprKind::Call(name, args)),
                (boxed(), message(expr.clone()))
                    .prop_map(|(receiver, (name, args))| ExprKind::Invoke(receiver, name, args)),
                (boxed(), operator(), expr.clone())
                    .prop_map(|(left, name, right)| ExprKind::Invoke(left, name, vec![right])),
                (boxed(), message(expr.clone()), any::<bool>()).prop_map(
                    |(receiver, (name, args), is_two_way)| ExprKind::Send {
                        receiver,
                        name,
                        args,
                        is_two_way,
                    }
                ),
            ];
        let control = prop_oneof![
            (params(), body()).prop_map(|(params, body)| ExprKind::Block(params, body)),
            body().prop_map(ExprKind::Object),
            (params(), body()).prop_map(|(params, body)| ExprKind::Isolate(params, body)),
            (params(), body()).prop_map(|(params, body)| ExprKind::Actor(params, body)),
            (boxed(), branch(), option::of(boxed()))
                .prop_map(|(condition, then, other)| ExprKind::If(condition, then, other)),
            (branch(), branch()).prop_map(|(condition, body)| ExprKind::While(condition, body)),
            (boxed(), branch(), option::of(branch())).prop_map(|(future, becomes, catch)| {
                ExprKind::When {
                    future,
                    becomes,
                    catch,
                }
            }),
            (branch(), boxed()).prop_map(|(tried, catch)| ExprKind::Try(tried, catch)),
            boxed().prop_map(ExprKind::Raise),
        ];
        prop_oneof![data, messages, control].prop_map(expr_of)
    });
    tree.boxed()
}

/// Calls `see` with every expression.
fn walk(statements: &[Statement], see: &mut dyn FnMut(&Expr)) {
    for statement in statements {
        match statement {
            Statement::Def { value: None, .. } => {}
            Statement::Def {
                value: Some(value), ..
            }
            | Statement::DefList { value, .. }
            | Statement::Expr(value) => walk_expr(value, see),
            Statement::Method(method) => walk(&method.body, see),
        }
    }
}

fn walk_expr(expr: &Expr, see: &mut dyn FnMut(&Expr)) {
    see(expr);
    let mut all = |exprs: &[&Expr]| exprs.iter().for_each(|expr| walk_expr(expr, see));
    match &expr.kind {
        ExprKind::List(items) | ExprKind::Call(_, items) => {
            items.iter().for_each(|item| all(&[item]));
        }
        ExprKind::Assign(_, value) | ExprKind::Raise(value) | ExprKind::Field(value, _) => {
            all(&[value]);
        }
        ExprKind::AssignField(a, _, b)
        | ExprKind::Index(a, b)
        | ExprKind::While(a, b)
        | ExprKind::Try(a, b)
        | ExprKind::If(a, b, None) => all(&[a, b]),
        ExprKind::AssignIndex(a, b, c) | ExprKind::If(a, b, Some(c)) => all(&[a, b, c]),
        ExprKind::Invoke(receiver, _, args) | ExprKind::Send { receiver, args, .. } => {
            all(&[receiver]);
            args.iter().for_each(|arg| all(&[arg]));
        }
        ExprKind::When {
            future,
            becomes,
            catch,
        } => {
            all(&[future, becomes]);
            catch.iter().for_each(|catch| all(&[catch]));
        }
        ExprKind::Block(_, body)
        | ExprKind::Object(body)
        | ExprKind::Isolate(_, body)
        | ExprKind::Actor(_, body) => walk(body, see),
        _ => {}
    }
}

proptest! {
    #![proptest_config(generated::config(256))]

    #[test]
    fn what_is_printed_is_read_as_the_same(statements in vec(statement(expr()), 0..4)) {
        let text = printer::body(&statements);
        let parsed = parse(&Source::new("printed", text.as_str()));
        let parsed = parsed.map_err(|error| TestCaseError::fail(format!("{text}\n{error:?}")))?;
        prop_assert_eq!(dump::body(&parsed), dump::body(&statements), "{}", text);
    }

    #[test]
    fn the_text_of_an_expression_is_that_expression(statements in vec(statement(expr()), 0..4)) {
        let text = printer::body(&statements);
        let parsed = parse(&Source::new("printed", text.as_str())).unwrap();
        let mut different = None;
        walk(&parsed, &mut |expr| {
            let there = &text[expr.span.start as usize..expr.span.end as usize];
            let again = parse(&Source::new("part", there)).unwrap_or_default();
            if dump::body(&again) != format!("{{{}}}", dump::expr(expr)) {
                different.get_or_insert_with(|| (there.to_owned(), dump::expr(expr)));
            }
        });
        prop_assert_eq!(different, None);
    }
}
