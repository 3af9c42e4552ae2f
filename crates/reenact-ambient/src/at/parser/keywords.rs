//! Parses messages with keywords, including the control structures.
//!
//! A control structure is recognised by all of its keywords. A message that begins like one but continues differently
//! is an error, even though it could be a function of the program, because it usually is a mistake.

use super::{Parsed, Parser};
use crate::{
    SyntaxError,
    at::{
        ast::{Expr, ExprKind, Name},
        lexer::TokenKind,
    },
};

/// The control structures.
const CONTROLS: &[&str] = &[
    "if:then:",
    "if:then:else:",
    "while:do:",
    "when:becomes:",
    "when:becomes:catch:",
    "try:catch:",
    "raise:",
    "actor:",
    "object:",
    "isolate:",
];

impl Parser<'_> {
    /// Parses a message with keywords and without a receiver.
    pub(super) fn keywords(&mut self) -> Parsed<Expr> {
        let start = self.token.span;
        let (name, args) = self.keyword_arguments()?;
        self.grow(self.height)?;
        let kind = self.control(name, args)?;
        Ok(self.node(start, kind))
    }

    /// Parses keywords with one argument each, as many as there are.
    pub(super) fn keyword_arguments(&mut self) -> Parsed<(Name, Vec<Expr>)> {
        let span = self.token.span;
        let mut text = String::new();
        let mut args = Vec::new();
        let mut height = 0;
        while let TokenKind::Keyword(keyword) = self.token.kind {
            text.push_str(keyword);
            self.advance()?;
            args.push(self.argument()?);
            height = height.max(self.height);
        }
        self.height = height;
        Ok((Name { text, span }, args))
    }

    /// Creates the control structure with this name, or a call.
    fn control(&self, name: Name, args: Vec<Expr>) -> Parsed<ExprKind> {
        let mut boxed = args.into_iter().map(Box::new);
        let mut next = || boxed.next().expect("each keyword has an argument");
        Ok(match name.text.as_str() {
            "if:then:" => ExprKind::If(next(), next(), None),
            "if:then:else:" => ExprKind::If(next(), next(), Some(next())),
            "while:do:" => ExprKind::While(next(), next()),
            "when:becomes:" => ExprKind::When {
                future: next(),
                becomes: next(),
                catch: None,
            },
            "when:becomes:catch:" => ExprKind::When {
                future: next(),
                becomes: next(),
                catch: Some(next()),
            },
            "try:catch:" => ExprKind::Try(next(), next()),
            "raise:" => ExprKind::Raise(next()),
            "actor:" | "isolate:" | "object:" => definition(&name, *next())?,
            _ => {
                self.check_not_like_control(&name)?;
                ExprKind::Call(name, boxed.map(|expr| *expr).collect())
            }
        })
    }

    fn check_not_like_control(&self, name: &Name) -> Parsed<()> {
        let first = self.lexer.slice(name.span);
        let alike: Vec<_> = CONTROLS
            .iter()
            .filter(|control| control.starts_with(first))
            .map(|control| format!("`{control}`"))
            .collect();
        if alike.is_empty() {
            return Ok(());
        }
        // The user may have meant to continue the message.
        if let TokenKind::Sign("@" | "(" | ":=") = self.token.kind {
            return Err(self.unexpected("a keyword"));
        }
        let help = if name.text.ends_with("catch:using:") {
            "exceptions have no types here, and all of them are caught: `catch: { |e| … }`"
                .to_owned()
        } else {
            format!(
                "there is {}; an argument that has keywords itself takes all that follow, \
                 unless it is in parentheses",
                alike.join(", ")
            )
        };
        Err(SyntaxError::new(name.span, format!("there is no `{}`", name.text)).with_help(help))
    }
}

/// Creates the expression for `actor: { … }` and the like, which are not messages: their block is never a value.
fn definition(name: &Name, block: Expr) -> Parsed<ExprKind> {
    let text = &name.text;
    let ExprKind::Block(params, body) = block.kind else {
        return Err(
            SyntaxError::new(block.span, format!("expected a block after `{text}`")).with_help(
                format!(
                    "to go on with what it makes, put it into parentheses: `({text} {{ … }}).m()`"
                ),
            ),
        );
    };
    match text.as_str() {
        "actor:" => Ok(ExprKind::Actor(params, body)),
        "isolate:" => Ok(ExprKind::Isolate(params, body)),
        _ => match params.first() {
            None => Ok(ExprKind::Object(body)),
            Some(param) => Err(
                SyntaxError::new(param.span, "an object takes no parameters")
                    .with_help("it sees the variables around it; an actor and an isolate do not"),
            ),
        },
    }
}
