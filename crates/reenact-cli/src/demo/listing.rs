//! Quotes the source of a program that the demo runs.

/// Returns the item that begins with `start` at the left margin, with its attributes.
pub(super) fn item_of(source: &str, start: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let found = lines.iter().position(|line| line.starts_with(start));
    let Some(first) = found else {
        return String::new();
    };
    let attributes = lines[..first]
        .iter()
        .rev()
        .take_while(|line| line.starts_with("#["))
        .count();
    let item = lines[first - attributes..]
        .iter()
        .take_while(|line| **line != "}");
    item.chain([&"}"]).map(|line| format!("{line}\n")).collect()
}

/// Returns the comment at the end of a line of the program.
pub(super) fn comment_of(source: &str, line: usize) -> Option<&str> {
    let text = source.lines().nth(line.checked_sub(1)?)?;
    Some(text.split_once("; // ")?.1.trim())
}

pub(super) fn indented(text: &str) -> String {
    text.lines()
        .map(|line| match line {
            "" => "\n".to_owned(),
            line => format!("    {line}\n"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
//! A program.
fn first() {
    one(); // says one
}

#[test]
fn second() {
}
";

    #[test]
    fn an_item_is_shown_to_its_end() {
        let expected = "fn first() {\n    one(); // says one\n}\n";
        assert_eq!(item_of(SOURCE, "fn first("), expected);
        let expected = "#[test]\nfn second() {\n}\n";
        assert_eq!(item_of(SOURCE, "fn second("), expected);
        assert_eq!(item_of(SOURCE, "fn third("), "");
    }

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!(comment_of(SOURCE, 3), Some("says one"));
        assert_eq!(comment_of(SOURCE, 2), None);
        assert_eq!(comment_of(SOURCE, 0), None);
    }
}
