//! Text of a trace on a terminal.
//!
//! A trace may come from a stranger. A terminal obeys control characters: they set its title, move the cursor, hide text,
//! or answer as if the user had typed. Characters that change the direction of text, and those that are invisible, make a
//! command look like another one.

use std::{borrow::Cow, fmt::Write};

/// Returns the text with everything escaped that a terminal obeys or does not show: `\u{1b}`, `\n`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The same for text of several lines, whose line ends and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, may_stay: impl Fn(char) -> bool) -> Cow<'_, str> {
    let must_go = |c: char| is_unprintable(c) && !may_stay(c);
    if !text.chars().any(must_go) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        let _ = match c {
            c if !must_go(c) => result.write_char(c),
            '\n' | '\r' | '\t' => write!(result, "{}", c.escape_default()),
            c => write!(result, "{}", c.escape_unicode()),
        };
    }
    Cow::Owned(result)
}

/// Returns whether a terminal obeys this character, or does not show it.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Arabic letter mark; marks, embeddings, overrides and isolates of the bidirectional algorithm.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Line and paragraph separators.
            | '\u{2028}' | '\u{2029}'
            // Invisible: zero-width characters, the soft hyphen, fillers, annotations, tags.
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{ad}'
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{180e}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_nothing_else() {
        for text in ["", "main.0 (wörker) λ → 'x'", "a\\b"] {
            assert!(matches!(printable(text), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(printable("\x1b]0;title\x07"), r"\u{1b}]0;title\u{7}");
        assert_eq!(
            printable("\u{202e}txt.exe\u{9b}2J"),
            r"\u{202e}txt.exe\u{9b}2J"
        );
        assert_eq!(printable("a\nb\tc\rd"), r"a\nb\tc\rd");
        assert_eq!(printable_lines("a\nb\tc\rd\x7f"), "a\nb\tc\\rd\\u{7f}");
    }
}
