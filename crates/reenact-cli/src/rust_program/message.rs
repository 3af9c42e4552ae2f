//! Messages between actors, as text and as values.

use reenact_engine::explore::protocol::{MessageReport, SourceLocation, UniverseReport};
use reenact_multiverse::{Activity, Observation};

use super::{site, value};

/// Returns the name of the method that it calls.
pub(super) fn name(message: &MessageReport) -> &str {
    match message.label.split_once('(') {
        Some((name, _)) => name,
        None => &message.label,
    }
}

/// Returns the name of the sender or receiver.
pub(super) fn peer(message: &MessageReport, report: &UniverseReport) -> String {
    match report.activity(Activity(message.peer)) {
        Some(activity) => activity.place.clone(),
        None => format!("activity {}", message.peer),
    }
}

/// Returns the label as it is written in a schedule. That of a message that is handled contains where it was sent.
pub(super) fn label(message: &MessageReport, report: &UniverseReport) -> String {
    let mut label = message.label.clone();
    if message.is_sent {
        label += &format!(" from {}", peer(message, report));
    }
    if let Some(location) = &message.sent_at {
        label += &format!(" at {location}");
    }
    label
}

/// Returns the operation on the message as text, such as `send double(4) to main.a0`.
pub(super) fn sentence(message: &MessageReport, report: &UniverseReport) -> String {
    let label = match &*message.label {
        "" => "a message",
        label => label,
    };
    let peer = peer(message, report);
    match message.is_sent {
        false => format!("send {label} to {peer}"),
        true => format!("handle {label} from {peer}"),
    }
}

/// Returns what can be observed of a message in an inbox.
pub(super) fn observe(message: &MessageReport, report: &UniverseReport, file: &str) -> Observation {
    let text = |text: &str| Observation::Text(text.to_owned());
    let mut fields = vec![("name".to_owned(), text(name(message)))];
    if let Some((_, arguments)) = message.label.split_once('(') {
        let arguments = arguments.strip_suffix(')').unwrap_or(arguments);
        fields.push(("args".to_owned(), value::parse(&format!("[{arguments}]"))));
    }
    fields.push(("from".to_owned(), text(&peer(message, report))));
    fields.extend(location(message.sent_at.as_ref(), file));
    Observation::Record(fields)
}

/// Returns the fields that show a source location; the file only if it is not `file`.
pub(super) fn location(
    location: Option<&SourceLocation>,
    file: &str,
) -> impl Iterator<Item = (String, Observation)> {
    let other = location.map(|location| &location.file);
    let other = other.filter(|other| *other != file);
    let other = other.map(|other| ("file".to_owned(), Observation::Text(other.clone())));
    let line = location.map(|location| Observation::Int(site(location).line.into()));
    other
        .into_iter()
        .chain(line.map(|line| ("line".to_owned(), line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_message_is_that_of_its_method() {
        for (label, expected) in [("double(12)", "double"), ("main::closure", "main::closure")] {
            let message = MessageReport {
                label: label.to_owned(),
                peer: 3,
                is_sent: false,
                sent_at: None,
            };
            assert_eq!(name(&message), expected);
        }
    }

    #[test]
    fn its_arguments_can_be_inspected() {
        let message = MessageReport {
            label: "set(Some(\"a, b\"), _)".to_owned(),
            peer: 3,
            is_sent: true,
            sent_at: Some(SourceLocation {
                file: "a.rs".to_owned(),
                line: 1,
                column: 2,
            }),
        };
        let seen = observe(&message, &UniverseReport::default(), "a.rs").to_string();
        assert_eq!(
            seen,
            r#"{name: "set", args: ["a, b", "_"], from: "activity 3", line: 1}"#
        );
    }
}
