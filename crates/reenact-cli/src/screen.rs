//! Where everything goes that the command prints: a terminal obeys nothing in it but our own colours.
//!
//! Text that comes from a trace or from a program is escaped where it is put into a sentence
//! ([`printable`](reenact_trace::printable)). This is the second line: whatever was missed there, of all control
//! sequences only those for colours and weight get through.

use std::io::{self, Write};

use reenact_trace::is_unprintable;
use serde::Serialize;

/// Standard output.
pub(crate) fn stdout() -> Screen<anstream::Stdout> {
    Screen::new(anstream::stdout())
}

/// Standard error.
pub(crate) fn stderr() -> Screen<anstream::Stderr> {
    Screen::new(anstream::stderr())
}

/// Serializes a value as JSON, with escapes for what a terminal obeys.
pub(crate) fn json(value: &impl Serialize) -> String {
    escape_json(&serde_json::to_string(value).expect("plain data"))
}

/// The same, for people.
pub(crate) fn pretty_json(value: &impl Serialize) -> String {
    escape_json(&serde_json::to_string_pretty(value).expect("plain data"))
}

/// Escapes characters that JSON allows in strings. Outside of strings there are none but line ends.
fn escape_json(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut units = [0; 2];
    for c in text.chars() {
        if c != '\n' && is_unprintable(c) {
            for unit in c.encode_utf16(&mut units) {
                result += &format!("\\u{unit:04x}");
            }
        } else {
            result.push(c);
        }
    }
    result
}

/// A writer that passes on text, line ends, tabs, and the sequences that select colours and weight.
pub(crate) struct Screen<W: Write> {
    inner: W,
    /// The beginning of a character or sequence whose rest has not been written yet.
    pending: Vec<u8>,
}

/// Maximum length of a sequence that selects a colour.
const LONGEST_SEQUENCE: usize = 32;

impl<W: Write> Screen<W> {
    fn new(inner: W) -> Screen<W> {
        Screen {
            inner,
            pending: Vec::new(),
        }
    }

    /// Writes what is known to be whole; with `all`, the rest too.
    fn pass_on(&mut self, all: bool) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.pending);
        let whole = match str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            Err(error) if error.error_len().is_none() && !all => error.valid_up_to(),
            Err(_) => bytes.len(),
        };
        let text = String::from_utf8_lossy(&bytes[..whole]);
        let mut rest = &*text;
        let mut safe = String::with_capacity(text.len());
        let mut kept = "";
        while let Some(c) = rest.chars().next() {
            match (c, colour(rest)) {
                ('\x1b', Sequence::Whole(length)) => {
                    safe += &rest[..length];
                    rest = &rest[length..];
                    continue;
                }
                ('\x1b', Sequence::Begun) if !all => {
                    kept = rest;
                    break;
                }
                ('\n' | '\t', _) => safe.push(c),
                (c, _) if is_unprintable(c) => safe.extend(c.escape_unicode()),
                (c, _) => safe.push(c),
            }
            rest = &rest[c.len_utf8()..];
        }
        self.pending = [kept.as_bytes(), &bytes[whole..]].concat();
        self.inner.write_all(safe.as_bytes())
    }
}

enum Sequence {
    Whole(usize),
    /// So far.
    Begun,
    Other,
}

/// Returns whether the text begins with a sequence that selects colours or weight: ESC, `[`, numbers, `m`.
fn colour(text: &str) -> Sequence {
    let bytes = text.as_bytes();
    match bytes {
        [0x1b] => return Sequence::Begun,
        [0x1b, b'[', ..] => {}
        _ => return Sequence::Other,
    }
    let parameters = &bytes[2..];
    let end = (parameters.iter()).position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'));
    match end {
        Some(end) if parameters[end] == b'm' => Sequence::Whole(2 + end + 1),
        None if bytes.len() < LONGEST_SEQUENCE => Sequence::Begun,
        _ => Sequence::Other,
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        self.pass_on(false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on(true)?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(parts: &[&[u8]]) -> String {
        let mut screen = Screen::new(Vec::new());
        for part in parts {
            screen.write_all(part).unwrap();
        }
        screen.flush().unwrap();
        String::from_utf8(screen.inner).unwrap()
    }

    #[test]
    fn colours_pass_and_nothing_else_that_a_terminal_obeys() {
        let bold = "\x1b[1mfat\x1b[0m \x1b[38;5;9mred\x1b[m\n\ttab";
        assert_eq!(shown(&[bold.as_bytes()]), bold);
        assert_eq!(
            shown(&[b"\x1b]0;title\x07\x1b[2J\x1b[8", b"\xe2\x80", b"\xaex\r"]),
            r"\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[8\u{202e}x\u{d}"
        );
    }

    #[test]
    fn what_comes_in_parts_is_the_same() {
        let text = "a\x1b[1mλ\u{202e}\x1b[0mb\x1b[31";
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(shown(&bytes), shown(&[text.as_bytes()]));
        assert_eq!(shown(&bytes), "a\x1b[1mλ\\u{202e}\x1b[0mb\\u{1b}[31");
    }

    #[test]
    fn json_says_the_same_after_it_was_escaped() {
        let text = "\x1b]0;\u{9b}\u{202e}\u{e0041}\u{7f}\nλ";
        let json = json(&text);
        assert!(json.chars().all(|c| !is_unprintable(c)), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
