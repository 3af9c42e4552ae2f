//! From texts to tokens to sales: as much of JSON as the input has, by two processes.

use reenact::csp::{Receiver, Sender};

use super::sale::{Sale, WEEKS};

/// A token, or what is between two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// One of `{}[]:,`.
    Sign(char),
    String(String),
    Number(u64),
    /// `true`, `false`, `null`.
    Word(String),
    /// What no JSON text has.
    Unknown(char),
    /// The text is over.
    End,
}

/// A text that tells of no sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// The tokens of a text, without its end.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let (token, length) = token(first, rest);
        rest = &rest[length..];
        Some(token)
    })
}

/// The token at the beginning of `text`, and its length there.
fn token(first: char, text: &str) -> (Token, usize) {
    let length = |goes_on: fn(char) -> bool| text.find(|c| !goes_on(c)).unwrap_or(text.len());
    match first {
        '{' | '}' | '[' | ']' | ':' | ',' => (Token::Sign(first), 1),
        '"' => match text[1..].find('"') {
            Some(end) => (Token::String(text[1..=end].to_owned()), end + 2),
            None => (Token::Unknown(first), text.len()),
        },
        '0'..='9' => {
            let length = length(|c| c.is_ascii_digit());
            let number = text[..length].parse();
            (number.map_or(Token::Unknown(first), Token::Number), length)
        }
        'a'..='z' => {
            let length = length(|c| c.is_ascii_lowercase());
            (Token::Word(text[..length].to_owned()), length)
        }
        _ => (Token::Unknown(first), first.len_utf8()),
    }
}

/// A process: takes texts apart until nobody sends any.
pub(super) fn tokenizer(texts: &Receiver<String>, to_parser: &Sender<Token>) {
    for text in texts.iter() {
        for token in tokens(&text).chain([Token::End]) {
            to_parser.send(token).expect("the parser is there");
        }
    }
}

/// A process: finds the sale in the tokens of each text, until nobody sends any. Returns how many it got.
pub(super) fn parser(tokens: &Receiver<Token>, to: &Sender<Result<Sale, Malformed>>) -> u64 {
    let mut parser = Parser {
        tokens,
        received: 0,
        over: false,
    };
    while let Some(sale) = parser.text() {
        to.send(sale).expect("the actor is there");
    }
    parser.received
}

struct Parser<'a> {
    tokens: &'a Receiver<Token>,
    received: u64,
    /// The end of the text has been seen.
    over: bool,
}

impl Parser<'_> {
    /// What the next text tells; `None` if there is none.
    fn text(&mut self) -> Option<Result<Sale, Malformed>> {
        let first = self.tokens.recv().ok()?;
        self.received += 1;
        self.over = first == Token::End;
        let mut sale = match first {
            Token::Sign('{') => self.sale(),
            _ => Err(Malformed),
        };
        // Nothing may follow, and after a mistake everything is skipped.
        while !self.over {
            if self.next() != Token::End {
                sale = Err(Malformed);
            }
        }
        Some(sale)
    }

    fn next(&mut self) -> Token {
        if self.over {
            return Token::End;
        }
        let token = self.tokens.recv().unwrap_or(Token::End);
        self.received += 1;
        self.over = token == Token::End;
        token
    }

    /// The rest of an object that tells of a sale.
    fn sale(&mut self) -> Result<Sale, Malformed> {
        let (mut project, mut week, mut price, mut quantity) = (None, None, None, None);
        loop {
            let Token::String(key) = self.next() else {
                return Err(Malformed);
            };
            self.expect(Token::Sign(':'))?;
            let value = self.next();
            match (key.as_str(), value) {
                ("project", Token::String(name)) => project = Sale::project(&name),
                ("week", Token::Number(number)) => week = Some(number as usize),
                ("price", Token::Number(number)) => price = Some(number),
                ("quantity", Token::Number(number)) => quantity = Some(number),
                (_, value) => self.skip(value)?,
            }
            match self.next() {
                Token::Sign(',') => {}
                Token::Sign('}') => break,
                _ => return Err(Malformed),
            }
        }
        Ok(Sale {
            project: project.ok_or(Malformed)?,
            week: week.filter(|&week| week < WEEKS).ok_or(Malformed)?,
            price: price.ok_or(Malformed)?,
            quantity: quantity.ok_or(Malformed)?,
        })
    }

    /// Passes over the rest of a value that begins with `first`.
    fn skip(&mut self, first: Token) -> Result<(), Malformed> {
        let mut depth = 0u32;
        let mut token = first;
        loop {
            match token {
                Token::Sign('{' | '[') => depth += 1,
                Token::Sign('}' | ']') => depth = depth.checked_sub(1).ok_or(Malformed)?,
                Token::Unknown(_) | Token::End => return Err(Malformed),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
            token = self.next();
        }
    }

    fn expect(&mut self, expected: Token) -> Result<(), Malformed> {
        if self.next() == expected {
            Ok(())
        } else {
            Err(Malformed)
        }
    }
}

#[cfg(test)]
mod tests {
    use reenact::csp;

    use super::{Malformed, Sale, Token, parser, tokenizer, tokens};

    const SALE: Sale = Sale {
        project: 2,
        week: 7,
        price: 3,
        quantity: 40,
    };

    /// What both processes make of these texts.
    fn parse(texts: &[&str]) -> Vec<Result<Sale, Malformed>> {
        let (to_tokenizer, from_main) = csp::channel();
        let (to_parser, from_tokenizer) = csp::channel();
        let (to_main, from_parser) = csp::channel();
        csp::spawn(move || tokenizer(&from_main, &to_parser));
        csp::spawn(move || parser(&from_tokenizer, &to_main));
        let parse = |text: &&str| {
            to_tokenizer.send((*text).to_owned()).unwrap();
            from_parser.recv().unwrap()
        };
        texts.iter().map(parse).collect()
    }

    #[test]
    fn a_text_is_signs_strings_numbers_and_words() {
        let found: Vec<_> = tokens(r#"{"a": [12, null]}"#).collect();
        let expected = [
            Token::Sign('{'),
            Token::String("a".into()),
            Token::Sign(':'),
            Token::Sign('['),
            Token::Number(12),
            Token::Sign(','),
            Token::Word("null".into()),
            Token::Sign(']'),
            Token::Sign('}'),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sale_is_found_among_other_things() {
        assert_eq!(parse(&[&SALE.to_json()]), [Ok(SALE)]);
    }

    #[test]
    fn a_malformed_text_does_not_spoil_the_next() {
        let sale = SALE.to_json();
        let texts = [
            "",
            "[]",
            "{",
            r#"{"week": 7"#,
            r#"{"week": }"#,
            r#"{"week": 7, "price": 3, "quantity": 40}"#,
            &sale.replace("banana", "cherry"),
            &sale.replace("7", "70"),
            &sale.replace("true", "!"),
            &sale.replace('"', ""),
            &format!("{sale}}}"),
        ];
        for text in texts {
            assert_eq!(parse(&[text, &sale]), [Err(Malformed), Ok(SALE)], "{text}");
        }
    }
}
