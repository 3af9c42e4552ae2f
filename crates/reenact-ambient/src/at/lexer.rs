//! Splits a text into tokens, one at a time.
//!
//! Tokens are produced when the parser asks for them, so that the first error in the text is the one that is reported.

use crate::{Source, Span, SyntaxError, source::shown};

/// A token with its position.
#[derive(Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind<'a>,
    pub(super) span: Span,
}

#[derive(Debug, PartialEq)]
pub(super) enum TokenKind<'a> {
    /// `x`, `def`, `true`
    Word(&'a str),
    /// `at:`, with its colon.
    Keyword(&'a str),
    /// Without a sign, and therefore one bit longer than the numbers of the language.
    Int(u64),
    Float(f64),
    Text(String),
    /// One of [`SIGNS`].
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// All signs. A sign that is a prefix of another one comes after it.
const SIGNS: &[&str] = &[
    ":=", "<-", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "{", "}", "[", "]", ",", ";", ".",
    "|", "@", "<", ">", "+", "-", "*", "/", "%", "!",
];

/// Mistakes of users who know another language: the sign, what is wrong with it, and what to write instead.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "===",
        "there is no operator `===`",
        "two values are compared with `==`",
    ),
    (
        "->",
        "there is no operator `->`",
        "a message is sent with `<-`: `receiver<-message()`",
    ),
    (
        "=>",
        "there is no operator `=>`",
        "at least is written `>=`, a block `{ |x| … }`",
    ),
    (
        "=",
        "`=` neither assigns nor compares",
        "did you mean `:=` or `==`?",
    ),
    (
        ":",
        "found a `:` on its own",
        "a keyword and its colon belong together: `if: c then: { … }`; a value is assigned with `:=`",
    ),
    (
        "&",
        "there is no operator `&`",
        "both of two conditions is written `&&`",
    ),
    (
        "'",
        "found a single quote",
        "a text is written in double quotes: \"text\"",
    ),
    (
        "#",
        "found a `#`",
        "a comment is written `// …` or `/* … */`",
    ),
];

/// A position in the text.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a Source) -> Result<Lexer<'a>, SyntaxError> {
        let text = source.readable()?;
        Ok(Lexer { text, at: 0 })
    }

    /// Returns the text of a span.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span {
            start: start as u32,
            end: self.at as u32,
        }
    }

    /// Consumes characters as long as they are `wanted`.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Returns the next token, or [`TokenKind::End`] at the end of the text and whenever it is called afterwards.
    pub(super) fn next(&mut self) -> Result<Token<'a>, SyntaxError> {
        self.skip_blanks()?;
        let start = self.at;
        let kind = match self.rest().chars().next() {
            None => TokenKind::End,
            Some(c) if c.is_alphabetic() || c == '_' => self.word(),
            Some(c) if c.is_ascii_digit() => self.number()?,
            Some('"') => self.quoted()?,
            Some(c) => self.sign(c)?,
        };
        Ok(Token {
            kind,
            span: self.span(start),
        })
    }

    fn skip_blanks(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest().starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                let Some(length) = self.rest()[2..].find("*/") else {
                    let start = self.at;
                    self.at += 2;
                    return Err(
                        SyntaxError::new(self.span(start), "this comment is not closed")
                            .with_help("a comment that begins with `/*` ends with `*/`"),
                    );
                };
                self.at += 2 + length + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> TokenKind<'a> {
        let start = self.at;
        self.take_while(|c| c.is_alphanumeric() || c == '_');
        if self.rest().starts_with('?') {
            self.at += 1;
        }
        if self.rest().starts_with(':') && !self.rest().starts_with(":=") {
            self.at += 1;
            TokenKind::Keyword(&self.text[start..self.at])
        } else {
            TokenKind::Word(&self.text[start..self.at])
        }
    }

    fn number(&mut self) -> Result<TokenKind<'a>, SyntaxError> {
        let start = self.at;
        let digits = |c: char| c.is_ascii_digit();
        self.take_while(digits);
        let mut is_float = false;
        // A point without a digit after it belongs to a message.
        if let Some(fraction) = self.rest().strip_prefix('.')
            && fraction.starts_with(digits)
        {
            is_float = true;
            self.at += 1;
            self.take_while(digits);
        }
        if let Some(exponent) = self.rest().strip_prefix(['e', 'E'])
            && let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent)
            && unsigned.starts_with(digits)
        {
            is_float = true;
            self.at = self.text.len() - unsigned.len();
            self.take_while(digits);
        }
        let written = &self.text[start..self.at];
        let tail = self.take_while(|c| c.is_alphanumeric() || c == '_');
        if !tail.is_empty() {
            return Err(SyntaxError::new(
                self.span(start),
                format!("the number `{written}` goes on with `{}`", shown(tail)),
            )
            .with_help("a name begins with a letter or `_`"));
        }
        let number = if is_float {
            let float = written.parse().ok().filter(|float: &f64| float.is_finite());
            float.map(TokenKind::Float)
        } else {
            written.parse().ok().map(TokenKind::Int)
        };
        number.ok_or_else(|| SyntaxError::too_large(self.span(start), is_float))
    }

    fn quoted(&mut self) -> Result<TokenKind<'a>, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            text.push_str(self.take_while(|c| !matches!(c, '"' | '\\' | '\n')));
            let escape = self.at;
            let mut rest = self.rest().chars();
            match (rest.next(), rest.next()) {
                (Some('"'), _) => {
                    self.at += 1;
                    return Ok(TokenKind::Text(text));
                }
                (Some('\\'), Some(c)) if c != '\n' => {
                    self.at += 1 + c.len_utf8();
                    text.push(match c {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        '"' | '\\' => c,
                        _ => {
                            return Err(SyntaxError::new(
                                self.span(escape),
                                format!("`\\{}` means nothing in a text", c.escape_debug()),
                            )
                            .with_help(r#"there are `\n`, `\t`, `\r`, `\"` and `\\`"#));
                        }
                    });
                }
                _ => {
                    return Err(
                        SyntaxError::new(self.span(start), "this text is not closed").with_help(
                            "a text ends with `\"` on the line on which it begins; \
                             a new line in it is written `\\n`",
                        ),
                    );
                }
            }
        }
    }

    fn sign(&mut self, first: char) -> Result<TokenKind<'a>, SyntaxError> {
        let start = self.at;
        let rest = self.rest();
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        let mistake = MISTAKES.iter().find(|(sign, ..)| rest.starts_with(sign));
        match (sign, mistake) {
            (sign, Some(&(wrong, message, help)))
                if sign.is_none_or(|sign| sign.len() < wrong.len()) =>
            {
                self.at += wrong.len();
                Err(SyntaxError::new(self.span(start), message).with_help(help))
            }
            (Some(sign), _) => {
                self.at += sign.len();
                Ok(TokenKind::Sign(sign))
            }
            (None, _) => {
                self.at += first.len_utf8();
                Err(SyntaxError::new(
                    self.span(start),
                    format!("`{}` means nothing here", first.escape_debug()),
                ))
            }
        }
    }
}
