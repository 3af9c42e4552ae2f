//! Parses a text to an [`ast`](super::ast), by recursive descent.
//!
//! # Grammar
//!
//! ```text
//! program    = body
//! body       = [ statement ] { ";" [ statement ] }      the ";" may be missing after a method
//! statement  = definition | expression
//! definition = "def" name [ ":=" expression ]
//!            | "def" "[" [ name { "," name } ] "]" ":=" expression
//!            | "def" name "(" [ name { "," name } ] ")" "{" body "}"
//!            | "def" keyword name { keyword name } "{" body "}"
//!
//! expression = keywords
//!            | place ":=" expression                    x, o.x, l[i]
//!            | operation
//! keywords   = keyword argument { keyword argument }
//! argument   = keywords | operation
//! operation  = || , && , == != < <= > >= , + - , * / % , ! -    from loose to tight, all of them to the left
//! postfix    = primary { "." selector | "." name | "<-" selector [ "@" annotation ] | "[" expression "]" }
//! selector   = name "(" [ expression { "," expression } ] ")" | keywords
//! primary    = number | text | "true" | "false" | "null" | "nil" | "this" | "self"
//!            | name | name "(" [ expression { "," expression } ] ")"
//!            | "[" [ expression { "," expression } ] "]"
//!            | "{" [ "|" [ name { "," name } ] "|" ] body "}"
//!            | "(" expression ")"
//! ```
//!
//! A keyword is a name with a colon right after it. Keywords without a receiver are a control structure or a function
//! call, see `keywords.rs`.
//!
//! # Which message a keyword belongs to
//!
//! A keyword belongs to the message that began last, and a message with keywords extends as far to the right as
//! possible: in `if: list.at: 1 then: { … }`, `then:` belongs to `list.at:`, so that `if:` is incomplete, which is an
//! error; the program must say `if: (list.at: 1) then: { … }`. A message with keywords therefore needs no parentheses
//! if it is the last argument. An annotation belongs to the send that precedes it, the innermost one if there are
//! several: `a<-at: 1 put: b<-c()@FutureMessage` waits for `c`.
//!
//! # Depth
//!
//! Trees are traversed and dropped recursively. Therefore the nesting of a program is [limited](MAX_DEPTH), both in the
//! text (`depth`, on the way down) and in the tree (`height`, on the way up: `1+1+1+…` is a deep tree in a text without
//! parentheses).

mod expression;
mod keywords;
mod statement;

use super::{
    ast::Statement,
    lexer::{Lexer, Token, TokenKind},
};
use crate::{Source, Span, SyntaxError, source::shown};

/// Maximum nesting depth of a program. A level takes up to 12 KiB of stack in a build without optimizations, and a
/// thread has 2 MiB.
const MAX_DEPTH: u32 = 100;

/// The help for a wrong `:=`.
const PLACES: &str = "what can be assigned is a variable `x`, a field `o.x`, an element `l[i]`";

/// Parses a program.
///
/// # Errors
///
/// Returns the first syntax error, with its position in `source`.
pub fn parse(source: &Source) -> Result<Vec<Statement>, SyntaxError> {
    let parsed = Parser::new(source).and_then(|mut parser| parser.body(None));
    parsed.map_err(|error| error.with_source(source))
}

type Parsed<T> = Result<T, SyntaxError>;

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token.
    token: Token<'a>,
    /// The span of the token before it.
    last: Span,
    /// The current nesting depth in the text.
    depth: u32,
    /// The height of the tree that was built last.
    height: u32,
}

impl<'a> Parser<'a> {
    fn new(source: &'a Source) -> Parsed<Parser<'a>> {
        let mut lexer = Lexer::new(source)?;
        Ok(Parser {
            token: lexer.next()?,
            lexer,
            last: Span::default(),
            depth: 0,
            height: 0,
        })
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.token.kind, TokenKind::Sign(found) if found == sign)
    }

    fn advance(&mut self) -> Parsed<TokenKind<'a>> {
        let next = self.lexer.next()?;
        let token = std::mem::replace(&mut self.token, next);
        self.last = token.span;
        Ok(token.kind)
    }

    fn eat(&mut self, sign: &str) -> Parsed<bool> {
        let is_there = self.is(sign);
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    fn eat_word(&mut self, word: &str) -> Parsed<bool> {
        let is_there = self.token.kind == TokenKind::Word(word);
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    /// Consumes a sign that is required. `what` describes it in the error.
    fn expect(&mut self, sign: &str, what: &str) -> Parsed<Span> {
        match self.eat(sign)? {
            true => Ok(self.last),
            false => Err(self.unexpected(what)),
        }
    }

    /// Enters a nesting level of the text.
    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        self.check_depth(self.depth)
    }

    /// Leaves a nesting level of the text.
    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Sets the height of a tree whose subtrees have the height `parts`.
    fn grow(&mut self, parts: u32) -> Parsed<()> {
        self.height = parts + 1;
        self.check_depth(self.height)
    }

    fn check_depth(&self, depth: u32) -> Parsed<()> {
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        Err(SyntaxError::new(
            self.token.span,
            format!("the program is nested more than {MAX_DEPTH} levels deep here"),
        )
        .with_help("give a part of it a name with `def`"))
    }

    /// Describes the next token in an error message.
    fn found(&self) -> String {
        match &self.token.kind {
            TokenKind::End => "the end of the program".to_owned(),
            TokenKind::Text(_) => "a text".to_owned(),
            _ => format!("`{}`", shown(self.lexer.slice(self.token.span))),
        }
    }

    /// Creates the error for an unexpected token.
    fn unexpected(&self, wanted: &str) -> SyntaxError {
        let (span, help) = match self.token.kind {
            // The end of the text may be many empty lines away.
            TokenKind::End => (self.last.after(), None),
            TokenKind::Keyword(_) => (
                self.token.span,
                Some(
                    "a message with keywords has a `.` or `<-` before it, or is alone, or in parentheses",
                ),
            ),
            TokenKind::Sign(sign) => (self.token.span, help_with_sign(sign)),
            _ => (self.token.span, None),
        };
        let error = SyntaxError::new(span, format!("expected {wanted}, found {}", self.found()));
        match help {
            Some(help) => error.with_help(help),
            None => error,
        }
    }

    /// Creates the error for a token that should have closed `open`.
    fn unclosed(&self, wanted: &str, open: Span) -> SyntaxError {
        let error = self
            .unexpected(wanted)
            .with_related(open, "what is not closed begins here");
        let sign = self.lexer.slice(open);
        match self.token.kind {
            TokenKind::End => error.with_help(format!("nothing closes this `{sign}`")),
            TokenKind::Sign("}" | ")" | "]") => {
                error.with_help(format!("the `{sign}` has to be closed before"))
            }
            _ => error,
        }
    }

    /// Creates the error for a closing sign without an opening one.
    fn unopened(&self, wanted: &str) -> SyntaxError {
        self.unexpected(wanted)
            .with_help("nothing is open here that this closes")
    }

    /// Creates the error for a token that cannot continue a statement.
    fn not_separated(&self) -> SyntaxError {
        let error = self.unexpected("`;`");
        match self.token.kind {
            TokenKind::Sign(")" | "]") => self.unopened("`;`"),
            TokenKind::Sign(_) | TokenKind::Keyword(_) => error,
            _ => error
                .with_help("statements are separated by `;`")
                .with_related(self.last, "a `;` is missing after this"),
        }
    }
}

/// Returns help for a sign in a place where it cannot be.
fn help_with_sign(sign: &str) -> Option<&'static str> {
    Some(match sign {
        ":=" => PLACES,
        "@" => "an annotation comes right after a message that is sent: `o<-m()@FutureMessage`",
        "(" => "what is called has a name; a block is called with `.apply(…)`",
        "|" => {
            "a block begins with its parameters: `{ |x| … }`; one of two conditions is written `||`"
        }
        _ => return None,
    })
}
