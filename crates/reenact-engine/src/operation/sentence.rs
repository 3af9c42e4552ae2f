//! Describes operations in sentences: which activity does what to which object.
//!
//! An operation's name is a verb phrase that fits after "to": `lock`, `send to a channel`.

/// Puts the object's name into the operation: in place of "a channel" if it contains that, otherwise at its end.
pub fn with_object(operation: &str, object: &str, name: &str) -> String {
    for article in ["a", "an"] {
        let general = format!("{article} {object}");
        if let Some((before, after)) = operation.split_once(&general) {
            return format!("{before}{name}{after}");
        }
    }
    match operation.contains(' ') {
        true => format!("{operation} ({name})"),
        false => format!("{operation} {name}"),
    }
}

/// Turns `try to lock` into `tries to lock`.
pub fn third_person(operation: &str) -> String {
    let (verb, rest) = match operation.find(' ') {
        Some(at) => operation.split_at(at),
        None => (operation, ""),
    };
    let is_vowel = |letter: char| "aeiou".contains(letter);
    match verb.strip_suffix('y') {
        Some(stem) if !stem.ends_with(is_vowel) => format!("{stem}ies{rest}"),
        _ if ["s", "x", "z", "ch", "sh", "o"]
            .iter()
            .any(|end| verb.ends_with(end)) =>
        {
            format!("{verb}es{rest}")
        }
        _ => format!("{verb}s{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_becomes_a_sentence() {
        for (operation, object, sentence) in [
            ("lock", "mutex", "locks it"),
            ("try to lock a mutex", "mutex", "tries to lock it"),
            ("arrive at a phaser", "phaser", "arrives at it"),
            ("read an rwlock", "rwlock", "reads it"),
            ("pass a barrier", "barrier", "passes it"),
            (
                "send to a channel, for some time",
                "channel",
                "sends to it, for some time",
            ),
            ("handle a message", "mailbox", "handles a message (it)"),
            ("unpark", "parking", "unparks it"),
            ("relay", "channel", "relays it"),
            ("notify", "condvar", "notifies it"),
        ] {
            assert_eq!(
                third_person(&with_object(operation, object, "it")),
                sentence
            );
        }
    }
}
