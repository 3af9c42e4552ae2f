//! Parses the `Debug` output of a value, so that its parts can be inspected and compared.
//!
//! Derived `Debug` implementations and those of std use a few forms: structs, tuples, lists, maps, strings, numbers.
//! Any other output remains a string. A lock is represented by the value that it holds.

use reenact_multiverse::Observation;

/// Maximum depth of nested values.
const DEPTH: usize = 32;

/// Returns the value that a text represents.
pub(super) fn parse(text: &str) -> Observation {
    let mut parser = Parser {
        rest: text.trim(),
        depth: 0,
    };
    match parser.value() {
        Some(value) if parser.rest.trim_start().is_empty() => value,
        _ => Observation::Text(text.to_owned()),
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn skip(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self) -> Option<Observation> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        self.rest = self.rest.trim_start();
        let value = match self.rest.chars().next()? {
            '"' => Some(Observation::Text(self.quoted()?)),
            '[' => self.items("[", "]").map(Observation::List),
            '(' => self.items("(", ")").map(Observation::List),
            '{' => self.map(),
            '<' => self
                .word('>')
                .map(|word| Observation::Text(format!("<{word}>"))),
            '-' | '0'..='9' => self.number(),
            first if first.is_alphabetic() || first == '_' => self.named(),
            _ => None,
        };
        self.depth -= 1;
        value
    }

    /// Reads up to `end`, without the first character.
    fn word(&mut self, end: char) -> Option<&'a str> {
        let (word, rest) = self.rest.get(1..)?.split_once(end)?;
        self.rest = rest;
        Some(word)
    }

    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        loop {
            match letters.next()? {
                (at, '"') => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                (_, '\\') => text.push(match letters.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '0' => '\0',
                    other => other,
                }),
                (_, letter) => text.push(letter),
            }
        }
    }

    fn number(&mut self) -> Option<Observation> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "+-._".contains(letter);
        let end = self.rest.find(|letter| !is_part(letter));
        // Without the dots after the last field.
        let word = &self.rest[..end.unwrap_or(self.rest.len())];
        let value = match word.parse::<i64>() {
            Ok(value) => Observation::Int(value),
            Err(_) => match word.parse::<f64>() {
                Ok(value) => Observation::Float(value),
                // A duration: a number with its unit.
                Err(_) => Observation::Text(word.to_owned()),
            },
        };
        self.rest = &self.rest[word.len()..];
        Some(value)
    }

    fn items(&mut self, open: &str, close: &str) -> Option<Vec<Observation>> {
        let mut items = Vec::new();
        self.skip(open);
        while !self.skip(close) {
            items.push(self.value()?);
            if !self.skip(",") {
                return self.skip(close).then_some(items);
            }
        }
        Some(items)
    }

    /// Reads a map or a set.
    fn map(&mut self) -> Option<Observation> {
        let (mut items, mut fields) = (Vec::new(), Vec::new());
        self.skip("{");
        while !self.skip("}") {
            let key = self.value()?;
            match self.skip(":") {
                true => {
                    let name = match key {
                        Observation::Text(text) => text,
                        other => other.to_string(),
                    };
                    fields.push((name, self.value()?));
                }
                false => items.push(key),
            }
            if !self.skip(",") && !self.rest.trim_start().starts_with('}') {
                return None;
            }
        }
        Some(match items.is_empty() {
            true => Observation::Record(fields),
            false => Observation::List(items),
        })
    }

    /// `true`, `None`, `Some(3)`, `Point { x: 1 }`.
    fn named(&mut self) -> Option<Observation> {
        let is_part = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
        let end = self.rest.find(|letter| !is_part(letter));
        let name = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = &self.rest[name.len()..];
        if self.rest.starts_with('(') {
            let mut items = self.items("(", ")")?;
            return Some(match (name, items.len()) {
                ("Some", 1) => items.remove(0),
                (_, 1) => Observation::Record(vec![(name.to_owned(), items.remove(0))]),
                _ => Observation::Record(vec![(name.to_owned(), Observation::List(items))]),
            });
        }
        if self.rest.starts_with(" {") {
            return self.fields();
        }
        Some(match name {
            "true" => Observation::Bool(true),
            "false" => Observation::Bool(false),
            "None" => Observation::Null,
            other => Observation::Text(other.to_owned()),
        })
    }

    fn fields(&mut self) -> Option<Observation> {
        let mut fields = Vec::new();
        self.skip("{");
        while !self.skip("}") {
            if self.skip("..") {
                continue;
            }
            self.rest = self.rest.trim_start();
            let (name, rest) = self.rest.split_once(':')?;
            self.rest = rest;
            fields.push((name.to_owned(), self.value()?));
            self.skip(",");
        }
        let is_lock = matches!(&fields[..], [(data, _), (poisoned, _)] if data == "data" && poisoned == "poisoned");
        Some(match is_lock {
            true => fields.swap_remove(0).1,
            false => Observation::Record(fields),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, BTreeSet},
        sync::{Mutex, atomic::AtomicU32},
        time::Duration,
    };

    use super::*;

    #[derive(Debug)]
    #[expect(dead_code, reason = "they are looked at by Debug")]
    struct Account {
        owner: &'static str,
        balance: Mutex<i64>,
        limit: Option<f64>,
        history: Vec<(u8, bool)>,
        kind: Kind,
    }

    #[derive(Debug)]
    #[expect(dead_code, reason = "they are looked at by Debug")]
    enum Kind {
        Savings,
        Joint(u8, u8),
        Numbered(u32),
    }

    fn check(value: impl std::fmt::Debug, expected: &str) {
        let text = format!("{value:?}");
        assert_eq!(parse(&text).to_string(), expected, "{text}");
        let pretty = format!("{value:#?}");
        assert_eq!(parse(&pretty).to_string(), expected, "{pretty}");
    }

    #[test]
    fn what_derives_debug_is_a_tree() {
        check(
            Account {
                owner: "a \"b\"",
                balance: Mutex::new(-3),
                limit: Some(1.5),
                history: vec![(1, true), (2, false)],
                kind: Kind::Savings,
            },
            r#"{owner: "a \"b\"", balance: -3, limit: 1.5, history: [[1, true], [2, false]], kind: "Savings"}"#,
        );
        check(Kind::Joint(1, 2), "{Joint: [1, 2]}");
        check(Kind::Numbered(1), "{Numbered: 1}");
    }

    #[test]
    fn a_lock_is_what_it_holds_unless_somebody_has_it() {
        let lock = Mutex::new(vec![1, 2]);
        check(&lock, "[1, 2]");
        let guard = lock.lock().unwrap();
        check(&lock, "\"<locked>\"");
        drop(guard);
        check(AtomicU32::new(7), "7");
    }

    #[test]
    fn maps_and_sets_and_nothing() {
        check(BTreeMap::from([(1, "a"), (2, "b")]), r#"{1: "a", 2: "b"}"#);
        check(BTreeSet::from([3, 4]), "[3, 4]");
        check(None::<u8>, "null");
        check((), "[]");
        check(Duration::from_millis(15), "\"15ms\"");
    }

    #[test]
    fn what_cannot_be_read_stays_a_text() {
        for text in [
            "",
            "=>",
            "[1, 2",
            "Point { x",
            "\"open",
            "{1: }",
            "a b",
            "<",
        ] {
            assert_eq!(parse(text), Observation::Text(text.to_owned()));
        }
        let deep = "[".repeat(100_000);
        assert_eq!(parse(&deep), Observation::Text(deep.clone()));
    }
}
