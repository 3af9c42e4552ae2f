//! The scanner for the texts that users type: conditions and breakpoints.
//!
//! Both are parsed from left to right with one token of look-ahead, and are so short that they are scanned while they
//! are parsed. An error states its position, what was found and what was expected.

use std::{fmt, ops::Range};

/// A syntax error and its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    /// The byte range of the error.
    pub span: Range<usize>,
    /// The column of its first byte, in characters, from 1.
    pub column: usize,
    /// The error message.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "column {}: {}", self.column, self.message)
    }
}

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Word(String),
    /// A name in backquotes: never a keyword.
    Name(String),
    Int(i64),
    Float(f64),
    Text(String),
    Sign(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) | Token::Name(word) => write!(out, "`{word}`"),
            Token::Int(number) => write!(out, "`{number}`"),
            Token::Float(number) => write!(out, "`{number}`"),
            Token::Text(text) => write!(out, "the text {text:?}"),
            Token::Sign(sign) => write!(out, "`{sign}`"),
            Token::End => out.write_str("the end"),
        }
    }
}

/// The characters of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordLetters {
    /// Letters, digits and `_`; a token that begins with a digit is a number.
    Identifiers,
    /// Also `-`, `:`, `.`, `#`, `@`, `$`, so that names of activities and methods need no quotes.
    Names,
}

const SIGNS: [&str; 22] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "(", ")", "[", "]",
    ".", ",", "|", "?",
];

/// A position in a text.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    words: WordLetters,
    at: usize,
    token: Token,
    span: Range<usize>,
    /// How deep the parser is in nested parts.
    depth: usize,
}

impl<'a> Scanner<'a> {
    /// Begins at byte `at`, so that spans refer to the whole text.
    pub(crate) fn new(text: &'a str, at: usize, words: WordLetters) -> Result<Self, SyntaxError> {
        let mut scanner = Self {
            text,
            words,
            at,
            token: Token::End,
            span: at..at,
            depth: 0,
        };
        scanner.advance()?;
        Ok(scanner)
    }

    /// The next token.
    pub(crate) fn peek(&self) -> &Token {
        &self.token
    }

    /// The start of the next token.
    pub(crate) fn start(&self) -> usize {
        self.span.start
    }

    /// The end of the next token.
    pub(crate) fn rest(&self) -> usize {
        self.span.end
    }

    /// Consumes the next token.
    pub(crate) fn next(&mut self) -> Result<Token, SyntaxError> {
        let token = std::mem::replace(&mut self.token, Token::End);
        self.advance()?;
        Ok(token)
    }

    /// Consumes the next token if it is this sign.
    pub(crate) fn sign(&mut self, sign: &str) -> Result<bool, SyntaxError> {
        let is_it = matches!(self.token, Token::Sign(next) if next == sign);
        if is_it {
            self.advance()?;
        }
        Ok(is_it)
    }

    /// Consumes the next token if it is this word.
    pub(crate) fn word(&mut self, word: &str) -> Result<bool, SyntaxError> {
        let is_it = self.is_word(word);
        if is_it {
            self.advance()?;
        }
        Ok(is_it)
    }

    /// Returns whether the next token is this word.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(next) if next == word)
    }

    /// Consumes this sign, or returns an error.
    pub(crate) fn expect(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.sign(sign)? {
            return Ok(());
        }
        Err(self.expected(&format!("`{sign}`")))
    }

    /// An error that something else was expected instead of the next token.
    pub(crate) fn expected(&self, what: &str) -> SyntaxError {
        self.error(format!("found {}, expected {what}", self.token))
    }

    /// Another error at the next token.
    pub(crate) fn error(&self, message: String) -> SyntaxError {
        error(self.text, self.span.clone(), message)
    }

    /// Enters a nested part. Returns an error if that is deeper than the limit of `what`.
    pub(crate) fn descend(&mut self, limit: usize, what: &str) -> Result<(), SyntaxError> {
        self.depth += 1;
        match self.depth <= limit {
            true => Ok(()),
            false => Err(self.error(format!("{what} can be nested {limit} deep at most"))),
        }
    }

    /// Leaves a nested part.
    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    fn advance(&mut self) -> Result<(), SyntaxError> {
        let text = self.text;
        let rest = &text[self.at..];
        let start = text.len() - rest.trim_start().len();
        let rest = &text[start..];
        let (token, length) = match rest.chars().next() {
            None => (Token::End, 0),
            Some(quote @ ('"' | '\'' | '`')) => {
                let (content, length) = quoted(rest, quote)
                    .ok_or_else(|| error(text, start..text.len(), format!("no closing {quote}")))?;
                let token = match quote {
                    '`' => Token::Name(content),
                    _ => Token::Text(content),
                };
                (token, length)
            }
            Some(first) if self.words == WordLetters::Identifiers && first.is_ascii_digit() => {
                let length = number(rest);
                let digits = &rest[..length];
                let token = match (digits.parse(), digits.parse()) {
                    (Ok(int), _) => Token::Int(int),
                    (_, Ok(float)) => Token::Float(float),
                    _ => return Err(error(text, start..start + length, "no number".into())),
                };
                (token, length)
            }
            Some(first) if self.is_of_word(first) => {
                let length = rest
                    .find(|next| !self.is_of_word(next))
                    .unwrap_or(rest.len());
                (Token::Word(rest[..length].to_owned()), length)
            }
            Some(first) => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Token::Sign(sign), sign.len()),
                None => {
                    let span = start..start + first.len_utf8();
                    let message = match first {
                        '=' => "`=` means nothing here, equal is `==`".to_owned(),
                        '&' => "`&` means nothing here, and is `&&`".to_owned(),
                        _ => format!("`{first}` means nothing here"),
                    };
                    return Err(error(text, span, message));
                }
            },
        };
        self.token = token;
        self.span = start..start + length;
        self.at = start + length;
        Ok(())
    }

    fn is_of_word(&self, next: char) -> bool {
        match self.words {
            WordLetters::Identifiers => next.is_alphanumeric() || next == '_',
            WordLetters::Names => is_of_name(next),
        }
    }
}

/// Returns whether a name can be written without quotes.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_of_name)
}

/// Returns whether a name can be written without backquotes in a path.
pub(crate) fn is_identifier(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name
            .chars()
            .all(|next| next.is_alphanumeric() || next == '_')
}

/// Quotes a name, as the scanner reads it.
pub(crate) fn quote(name: &str, quote: char) -> String {
    let mut out = String::from(quote);
    for next in name.chars() {
        if next == quote || next == '\\' {
            out.push('\\');
        }
        out.push(next);
    }
    out.push(quote);
    out
}

fn is_of_name(next: char) -> bool {
    next.is_alphanumeric() || "_-:.#@$".contains(next)
}

fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, next)) = chars.next() {
        match next {
            '\\' => content.push(chars.next()?.1),
            _ if next == quote => return Some((content, at + 1)),
            _ => content.push(next),
        }
    }
    None
}

fn number(text: &str) -> usize {
    let digits = |from: usize| {
        text[from..]
            .find(|next: char| !next.is_ascii_digit())
            .map_or(text.len(), |at| from + at)
    };
    let whole = digits(0);
    match text[whole..].strip_prefix('.') {
        Some(rest) if rest.starts_with(|next: char| next.is_ascii_digit()) => digits(whole + 1),
        _ => whole,
    }
}

/// An error for a part of a text.
pub(crate) fn error(text: &str, span: Range<usize>, message: String) -> SyntaxError {
    SyntaxError {
        column: text[..span.start].chars().count() + 1,
        span,
        message,
    }
}
