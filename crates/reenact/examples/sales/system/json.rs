//! As much of JSON as there is in the events: a tokenizer that needs no parser, and a parser that needs only tokens.

use std::{iter::Peekable, str::Chars};

use super::Sale;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// One of `{}[],:`.
    Mark(char),
    Text(String),
    Number(u64),
    /// `true`, `false` or `null`.
    Word,
    /// Something else.
    Other,
    /// The end of an event.
    End,
}

/// Why an event was not understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Malformed;

/// Takes an event apart, with [`Token::End`] at its end.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let mut characters = text.chars().peekable();
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let token = next_token(&mut characters);
        is_over = token == Token::End;
        Some(token)
    })
}

fn next_token(characters: &mut Peekable<Chars<'_>>) -> Token {
    while characters.next_if(|c| c.is_whitespace()).is_some() {}
    match characters.next() {
        None => Token::End,
        Some(mark @ ('{' | '}' | '[' | ']' | ',' | ':')) => Token::Mark(mark),
        Some('"') => text(characters),
        Some(first) if first.is_ascii_digit() => {
            let mut digits = String::from(first);
            while let Some(digit) = characters.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            digits.parse().map_or(Token::Other, Token::Number)
        }
        Some(first) => {
            let mut word = String::from(first);
            while let Some(letter) = characters.next_if(char::is_ascii_lowercase) {
                word.push(letter);
            }
            match &*word {
                "true" | "false" | "null" => Token::Word,
                _ => Token::Other,
            }
        }
    }
}

fn text(characters: &mut Peekable<Chars<'_>>) -> Token {
    let mut text = String::new();
    loop {
        match characters.next() {
            Some('"') => return Token::Text(text),
            Some('\\') => text.extend(characters.next()),
            Some(other) => text.push(other),
            None => return Token::Other,
        }
    }
}

/// Understands events, of which it has one token at a time.
pub(super) struct Parser<I> {
    tokens: I,
    /// Whether the last token was the end of an event.
    at_end: bool,
    /// How many tokens there were.
    pub(super) count: u64,
}

impl<I: Iterator<Item = Token>> Parser<I> {
    pub(super) fn new(tokens: I) -> Parser<I> {
        Parser {
            tokens,
            at_end: false,
            count: 0,
        }
    }

    /// The sales of the next event; none if there is none.
    pub(super) fn event(&mut self) -> Option<Result<Vec<Sale>, Malformed>> {
        let first = self.tokens.next()?;
        self.count += 1;
        self.at_end = first == Token::End;
        let mut sales = Vec::new();
        let result = self.object(first, &mut |this, key, value| match key {
            "sales" => this.sales(value, &mut sales),
            _ => this.skip(value),
        });
        let is_whole = result.is_ok() && self.next() == Token::End;
        while !self.at_end {
            self.next();
        }
        Some(if is_whole { Ok(sales) } else { Err(Malformed) })
    }

    fn next(&mut self) -> Token {
        if self.at_end {
            return Token::End;
        }
        let token = self.tokens.next().unwrap_or(Token::End);
        self.count += 1;
        self.at_end = token == Token::End;
        token
    }

    /// An object, of which `first` is the first token. Each key is given to `member`, with the first token of its value.
    fn object(
        &mut self,
        first: Token,
        member: &mut dyn FnMut(&mut Self, &str, Token) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.list(first, ('{', '}'), &mut |this, key| {
            let Token::Text(key) = key else {
                return Err(Malformed);
            };
            match this.next() {
                Token::Mark(':') => {
                    let value = this.next();
                    member(this, &key, value)
                }
                _ => Err(Malformed),
            }
        })
    }

    /// What is between two marks and has commas in between. Each item is given to `item`, by its first token.
    fn list(
        &mut self,
        first: Token,
        (open, close): (char, char),
        item: &mut dyn FnMut(&mut Self, Token) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if first != Token::Mark(open) {
            return Err(Malformed);
        }
        let mut next = self.next();
        if next == Token::Mark(close) {
            return Ok(());
        }
        loop {
            item(self, next)?;
            next = match self.next() {
                Token::Mark(',') => self.next(),
                Token::Mark(mark) if mark == close => return Ok(()),
                _ => return Err(Malformed),
            };
        }
    }

    /// What nobody wants to know.
    fn skip(&mut self, first: Token) -> Result<(), Malformed> {
        match first {
            Token::Text(_) | Token::Number(_) | Token::Word => Ok(()),
            Token::Mark('{') => self.object(first, &mut |this, _, value| this.skip(value)),
            Token::Mark('[') => self.list(first, ('[', ']'), &mut |this, value| this.skip(value)),
            _ => Err(Malformed),
        }
    }

    fn sales(&mut self, first: Token, sales: &mut Vec<Sale>) -> Result<(), Malformed> {
        self.list(first, ('[', ']'), &mut |this, first| {
            let [mut project, mut month, mut amount] = [None; 3];
            this.object(first, &mut |this, key, value| {
                let field = match key {
                    "project" => &mut project,
                    "month" => &mut month,
                    "amount" => &mut amount,
                    _ => return this.skip(value),
                };
                match value {
                    Token::Number(number) => *field = Some(number),
                    _ => return Err(Malformed),
                }
                Ok(())
            })?;
            match (project, month, amount) {
                (Some(project), Some(month), Some(amount)) => {
                    sales.push(Sale {
                        project: project as usize,
                        month: month as usize,
                        amount,
                    });
                    Ok(())
                }
                _ => Err(Malformed),
            }
        })
    }
}

#[test]
fn sales_are_found_among_other_values() {
    let parse = |texts: &[&str]| {
        let mut parser = Parser::new(texts.iter().flat_map(|text| tokens(text)));
        std::iter::from_fn(|| parser.event()).collect::<Vec<_>>()
    };
    let sale = Sale {
        project: 1,
        month: 2,
        amount: 30,
    };
    let found = parse(&[
        r#"{"a": [1, {}, [true]], "sales": [{"month": 2, "x": "\"]", "amount": 30, "project": 1}]}"#,
        r#"{"sales": []}"#,
        "{}",
    ]);
    assert_eq!(found, [Ok(vec![sale]), Ok(vec![]), Ok(vec![])]);
    let malformed = [
        "",
        "{",
        r#"{"sales": [{"month": 2}]}"#,
        r#"{"sales": {}}"#,
        r#"{"a" 1}"#,
        r#"{"a": "#,
        r#"{"a": "1}"#,
        r#"{"a": 1,}"#,
        r#"{"a": 1} }"#,
        r#"{"a": what}"#,
        r#"{"sales": [{"project": "1", "month": 2, "amount": 30}]}"#,
    ];
    for text in malformed {
        let found = parse(&[text, "{}"]);
        assert_eq!(found, [Err(Malformed), Ok(vec![])], "{text}");
    }
}
