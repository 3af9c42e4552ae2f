//! Parses statements: definitions and expressions.

use super::{Parsed, Parser, Span};
use crate::at::{
    ast::{Method, Name, Statement},
    lexer::TokenKind,
};

/// The words that cannot be names.
const RESERVED: &[&str] = &["def", "true", "false", "null", "nil", "this", "self"];

impl Parser<'_> {
    /// Parses statements up to the brace that closes the one at `open`, or to the end. Does not consume that brace.
    pub(super) fn body(&mut self, open: Option<Span>) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        let mut height = 0;
        loop {
            while self.eat(";")? {}
            match (&self.token.kind, open) {
                (TokenKind::End, None) | (TokenKind::Sign("}"), Some(_)) => break,
                (TokenKind::End, Some(open)) => return Err(self.unclosed("`}`", open)),
                (TokenKind::Sign(")" | "]" | "}"), _) => return Err(self.unopened("a statement")),
                _ => {}
            }
            let statement = self.statement()?;
            height = height.max(self.height);
            let is_method = matches!(statement, Statement::Method(_));
            statements.push(statement);
            let is_over = matches!(self.token.kind, TokenKind::End | TokenKind::Sign(";" | "}"));
            if !is_over && !is_method {
                return Err(self.not_separated());
            }
        }
        self.height = height;
        Ok(statements)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.token.span;
        if !self.eat_word("def")? {
            return Ok(Statement::Expr(self.expression()?));
        }
        match self.token.kind {
            TokenKind::Sign("[") => return self.list_definition(),
            TokenKind::Keyword(_) => return self.keyword_method(start),
            TokenKind::Sign(":=") => {
                return Err(self
                    .unexpected("a name after `def`")
                    .with_help("a variable is written `def x := 1`"));
            }
            _ => {}
        }
        let name = self.name("a name after `def`")?;
        let help = match self.token.kind {
            TokenKind::Sign("(") => {
                let open = self.token.span;
                self.advance()?;
                let params = self.names(")", open)?;
                return self.method(start, name, params);
            }
            TokenKind::Sign("{") => "a method without parameters is written `def m() { … }`",
            TokenKind::Sign(".") => "a field is defined in the braces of its object",
            _ => return self.variable(name),
        };
        Err(self.unexpected("`(` or `:=`").with_help(help))
    }

    /// Parses `:= value`, after `def x`, if it is there.
    fn variable(&mut self, name: Name) -> Parsed<Statement> {
        self.height = 0;
        let value = match self.eat(":=")? {
            true => Some(self.expression()?),
            false => None,
        };
        Ok(Statement::Def { name, value })
    }

    /// Parses `def [a, b] := value`, after `def`.
    fn list_definition(&mut self) -> Parsed<Statement> {
        let open = self.token.span;
        self.advance()?;
        let names = self.names("]", open)?;
        self.expect(":=", "`:=` and a list")?;
        let value = self.expression()?;
        Ok(Statement::DefList { names, value })
    }

    /// Parses `def at: a put: b { … }`, after `def`.
    fn keyword_method(&mut self, start: Span) -> Parsed<Statement> {
        let span = self.token.span;
        let mut text = String::new();
        let mut params = Vec::new();
        while let TokenKind::Keyword(keyword) = self.token.kind {
            text.push_str(keyword);
            self.advance()?;
            params.push(self.name("the name of a parameter")?);
        }
        self.method(start, Name { text, span }, params)
    }

    /// Parses the body `{ … }` of a method.
    fn method(&mut self, start: Span, name: Name, params: Vec<Name>) -> Parsed<Statement> {
        let open = self.expect("{", "`{` and what the method does")?;
        self.enter()?;
        let body = self.body(Some(open))?;
        self.leave();
        self.grow(self.height)?;
        self.advance()?;
        Ok(Statement::Method(Method {
            name,
            params,
            body,
            span: start.to(self.last),
        }))
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.token.kind {
            TokenKind::Word(word) if RESERVED.contains(&word) => Err(self
                .unexpected(what)
                .with_help(format!("`{word}` has a meaning of its own"))),
            TokenKind::Word(word) => {
                self.advance()?;
                Ok(Name {
                    text: word.to_owned(),
                    span: self.last,
                })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Parses names and the sign that closes them.
    pub(super) fn names(&mut self, close: &'static str, open: Span) -> Parsed<Vec<Name>> {
        let mut names = Vec::new();
        if self.eat(close)? {
            return Ok(names);
        }
        loop {
            names.push(self.name("a name")?);
            if self.eat(close)? {
                return Ok(names);
            }
            if !self.eat(",")? {
                return Err(self.unclosed(&format!("`,` or `{close}`"), open));
            }
        }
    }
}
