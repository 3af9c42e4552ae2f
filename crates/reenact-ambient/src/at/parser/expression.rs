//! Parses expressions other than control structures.

use super::{PLACES, Parsed, Parser};
use crate::{
    Span, SyntaxError,
    at::{
        ast::{Expr, ExprKind, Name, Statement},
        lexer::TokenKind,
    },
    source::shown,
};

/// The annotations of a send, and whether they make it two-way.
const ANNOTATIONS: &[(&str, bool)] = &[
    ("FutureMessage", true),
    ("TwoWayMessage", true),
    ("OneWayMessage", false),
];

/// Returns how tightly an operator binds.
fn precedence(operator: &str) -> Option<u32> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => 3,
        "+" | "-" => 4,
        "*" | "/" | "%" => 5,
        _ => return None,
    })
}

impl Parser<'_> {
    /// Parses any expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.enter()?;
        let expr = match self.token.kind {
            TokenKind::Keyword(_) => self.keywords()?,
            _ => self.assignment()?,
        };
        self.leave();
        Ok(expr)
    }

    /// Parses an argument after a keyword.
    pub(super) fn argument(&mut self) -> Parsed<Expr> {
        self.enter()?;
        let expr = match self.token.kind {
            TokenKind::Keyword(_) => self.keywords()?,
            _ => self.operation(1)?,
        };
        self.leave();
        Ok(expr)
    }

    fn assignment(&mut self) -> Parsed<Expr> {
        let start = self.token.span;
        let place = self.operation(1)?;
        if !self.is(":=") {
            return Ok(place);
        }
        if !matches!(
            place.kind,
            ExprKind::Variable(_) | ExprKind::Field(..) | ExprKind::Index(..)
        ) {
            let text = shown(self.lexer.slice(place.span));
            let error = SyntaxError::new(place.span, format!("`{text}` cannot be assigned"));
            return Err(error.with_help(PLACES));
        }
        let height = self.height;
        self.advance()?;
        let value = Box::new(self.expression()?);
        self.grow(height.max(self.height))?;
        let kind = match place.kind {
            ExprKind::Variable(text) => {
                let span = place.span;
                ExprKind::Assign(Name { text, span }, value)
            }
            ExprKind::Field(object, name) => ExprKind::AssignField(object, name, value),
            ExprKind::Index(list, index) => ExprKind::AssignIndex(list, index, value),
            _ => unreachable!("nothing else can be assigned"),
        };
        Ok(self.node(start, kind))
    }

    /// Parses operators that bind at least this tightly, and their operands.
    pub(super) fn operation(&mut self, tightness: u32) -> Parsed<Expr> {
        let start = self.token.span;
        let mut left = self.unary()?;
        let mut height = self.height;
        while let TokenKind::Sign(operator) = self.token.kind
            && let Some(precedence) = precedence(operator)
            && precedence >= tightness
        {
            self.advance()?;
            let sign = self.last;
            let right = self.operation(precedence + 1)?;
            self.grow(height.max(self.height))?;
            let kind = match operator {
                "&&" | "||" => {
                    self.grow(self.height)?;
                    short_cut(operator, sign, left, right)
                }
                _ => {
                    let name = Name {
                        text: operator.to_owned(),
                        span: sign,
                    };
                    ExprKind::Invoke(Box::new(left), name, vec![right])
                }
            };
            left = self.node(start, kind);
            height = self.height;
        }
        self.height = height;
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.token.span;
        let name = match self.token.kind {
            TokenKind::Sign("!") => "not",
            TokenKind::Sign("-") => "negate",
            _ => {
                let primary = self.primary()?;
                return self.postfix(start, primary);
            }
        };
        self.advance()?;
        self.enter()?;
        let operand = match self.token.kind {
            TokenKind::Int(_) | TokenKind::Float(_) if name == "negate" => {
                let span = self.token.span;
                let number = self.advance()?;
                if !matches!(self.token.kind, TokenKind::Sign("." | "<-" | "[")) {
                    self.leave();
                    self.height = 1;
                    return negative(number, start.to(span));
                }
                let number = literal(number, span)?;
                self.height = 1;
                self.postfix(span, number)?
            }
            _ => self.unary()?,
        };
        self.leave();
        self.grow(self.height)?;
        let name = Name {
            text: name.to_owned(),
            span: start,
        };
        Ok(self.node(start, ExprKind::Invoke(Box::new(operand), name, Vec::new())))
    }

    /// Parses messages to `receiver`, which begins at `start`, and accesses to its elements.
    fn postfix(&mut self, start: Span, receiver: Expr) -> Parsed<Expr> {
        let mut expr = receiver;
        loop {
            let height = self.height;
            let kind = match self.token.kind {
                TokenKind::Sign(".") => {
                    self.advance()?;
                    match self.selector("a name after `.`")? {
                        (name, Some(args)) => ExprKind::Invoke(Box::new(expr), name, args),
                        (name, None) => ExprKind::Field(Box::new(expr), name),
                    }
                }
                TokenKind::Sign("<-") => {
                    self.advance()?;
                    self.send(expr)?
                }
                TokenKind::Sign("[") => {
                    let open = self.token.span;
                    self.advance()?;
                    let index = self.expression()?;
                    if !self.eat("]")? {
                        return Err(self.unclosed("`]`", open));
                    }
                    ExprKind::Index(Box::new(expr), Box::new(index))
                }
                _ => return Ok(expr),
            };
            self.grow(height.max(self.height))?;
            expr = self.node(start, kind);
        }
    }

    /// Parses `m(a)`, after `<-`.
    fn send(&mut self, receiver: Expr) -> Parsed<ExprKind> {
        if let TokenKind::Int(_) | TokenKind::Float(_) | TokenKind::Sign("(") = self.token.kind {
            return Err(self
                .unexpected("the name of a message after `<-`")
                .with_help("to compare with what is negative, write `< -`"));
        }
        let (name, args) = self.selector("the name of a message after `<-`")?;
        let Some(args) = args else {
            return Err(self
                .unexpected("`(` after the name of a message")
                .with_help(format!(
                    "a message without arguments is sent with `<-{}()`",
                    name.text
                )));
        };
        let mut is_two_way = false;
        if self.eat("@")? {
            let annotation = match self.token.kind {
                TokenKind::Word(word) => ANNOTATIONS.iter().find(|(name, _)| *name == word),
                _ => return Err(self.unexpected("the name of an annotation after `@`")),
            };
            let Some(&(_, two_way)) = annotation else {
                let known = ANNOTATIONS.iter().map(|(name, _)| format!("`@{name}`"));
                let known: Vec<_> = known.collect();
                return Err(SyntaxError::new(
                    self.token.span,
                    format!("there is no annotation {}", self.found()),
                )
                .with_help(format!("there are {}", known.join(", "))));
            };
            is_two_way = two_way;
            self.advance()?;
        }
        Ok(ExprKind::Send {
            receiver: Box::new(receiver),
            name,
            args,
            is_two_way,
        })
    }

    /// Parses the name of a message and its arguments, if it has a list of them.
    fn selector(&mut self, what: &str) -> Parsed<(Name, Option<Vec<Expr>>)> {
        self.height = 0;
        if let TokenKind::Keyword(_) = self.token.kind {
            let (name, args) = self.keyword_arguments()?;
            return Ok((name, Some(args)));
        }
        let name = self.name(what)?;
        if !self.is("(") {
            return Ok((name, None));
        }
        Ok((name, Some(self.list(")")?)))
    }

    /// Parses a list of expressions, including the opening and closing signs.
    fn list(&mut self, close: &'static str) -> Parsed<Vec<Expr>> {
        let open = self.token.span;
        self.advance()?;
        let mut exprs = Vec::new();
        let mut height = 0;
        if !self.is(close) {
            loop {
                exprs.push(self.expression()?);
                height = height.max(self.height);
                if !self.eat(",")? {
                    break;
                }
            }
        }
        if !self.eat(close)? {
            return Err(self.unclosed(&format!("`,` or `{close}`"), open));
        }
        self.height = height;
        Ok(exprs)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let span = self.token.span;
        self.height = 0;
        let kind = match self.token.kind {
            TokenKind::Sign("(") => {
                self.advance()?;
                let inner = self.expression()?;
                if !self.eat(")")? {
                    return Err(self.unclosed("`)`", span));
                }
                return Ok(inner);
            }
            TokenKind::Sign("[") => ExprKind::List(self.list("]")?),
            TokenKind::Sign("{") => self.block()?,
            TokenKind::Int(_) | TokenKind::Float(_) => return literal(self.advance()?, span),
            TokenKind::Text(_) => match self.advance()? {
                TokenKind::Text(text) => ExprKind::Text(text),
                _ => unreachable!("the token is a text"),
            },
            TokenKind::Word(word) => self.word(word)?,
            _ => return Err(self.unexpected("an expression")),
        };
        self.grow(self.height)?;
        Ok(self.node(span, kind))
    }

    /// Parses what begins with a word, including its arguments if it has any.
    fn word(&mut self, word: &str) -> Parsed<ExprKind> {
        if word == "def" {
            return Err(self.unexpected("an expression").with_help(
                "a definition is a statement; in the place of a value, write `{ def … }`",
            ));
        }
        self.advance()?;
        Ok(match word {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "null" | "nil" => ExprKind::Null,
            "this" | "self" => ExprKind::This,
            _ if self.is("(") => {
                let name = Name {
                    text: word.to_owned(),
                    span: self.last,
                };
                ExprKind::Call(name, self.list(")")?)
            }
            _ => ExprKind::Variable(word.to_owned()),
        })
    }

    fn block(&mut self) -> Parsed<ExprKind> {
        let open = self.token.span;
        self.advance()?;
        let mut params = Vec::new();
        if self.is("|") {
            let bar = self.token.span;
            self.advance()?;
            params = self.names("|", bar)?;
        } else {
            // `{ || … }` has no parameters either; this is not ambiguous because no expression begins with the
            // operator.
            self.eat("||")?;
        }
        let body = self.body(Some(open))?;
        self.advance()?;
        Ok(ExprKind::Block(params, body))
    }

    /// Creates an expression that extends from `start` to the last token.
    pub(super) fn node(&self, start: Span, kind: ExprKind) -> Expr {
        Expr {
            kind,
            span: start.to(self.last),
        }
    }
}

/// Desugars `a && b` to `if: a then: { b } else: { false }`, and `a || b` to `if: a then: { true } else: { b }`.
fn short_cut(operator: &str, sign: Span, left: Expr, right: Expr) -> ExprKind {
    let block = |expr: Expr| {
        let span = expr.span;
        let kind = ExprKind::Block(Vec::new(), vec![Statement::Expr(expr)]);
        Box::new(Expr { kind, span })
    };
    let constant = |value| Expr {
        kind: ExprKind::Bool(value),
        span: sign,
    };
    match operator {
        "&&" => ExprKind::If(Box::new(left), block(right), Some(block(constant(false)))),
        _ => ExprKind::If(Box::new(left), block(constant(true)), Some(block(right))),
    }
}

fn literal(number: TokenKind<'_>, span: Span) -> Parsed<Expr> {
    let kind = match number {
        TokenKind::Float(float) => ExprKind::Float(float),
        TokenKind::Int(int) => match i64::try_from(int) {
            Ok(int) => ExprKind::Int(int),
            Err(_) => return Err(SyntaxError::too_large(span, false)),
        },
        _ => unreachable!("the token is a number"),
    };
    Ok(Expr { kind, span })
}

/// Creates a negative number. It is not a negated literal, because the smallest number has no positive counterpart.
fn negative(number: TokenKind<'_>, span: Span) -> Parsed<Expr> {
    let kind = match number {
        TokenKind::Float(float) => ExprKind::Float(-float),
        TokenKind::Int(int) => match 0i64.checked_sub_unsigned(int) {
            Some(int) => ExprKind::Int(int),
            None => return Err(SyntaxError::too_large(span, false)),
        },
        _ => unreachable!("the token is a number"),
    };
    Ok(Expr { kind, span })
}
