//! A message between actors, as reported by the program.

use reenact_multiverse::{Observation, Site};

use super::{answer::Answer, value};

/// A message that is about to be sent, waits in an inbox, or is being handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Its text, such as `double(12)`, or the name of a closure.
    pub(super) label: String,
    /// The receiver if it is about to be sent, otherwise the sender.
    pub(super) peer: u32,
    /// The file and position where it was sent, if it has been sent.
    sent_at: Option<(String, Site)>,
}

impl Message {
    /// Parses the fields of a message: its label, its peer and, if it has been sent, where.
    pub(super) fn read(fields: &[&str]) -> Option<Message> {
        let (label, peer, sent_at) = match *fields {
            [label, peer] => (label, peer, None),
            [label, peer, file, line, column] => {
                let site = Site {
                    line: line.parse().ok()?,
                    column: column.parse().ok()?,
                };
                (label, peer, Some((file.to_owned(), site)))
            }
            _ => return None,
        };
        Some(Message {
            label: label.to_owned(),
            peer: peer.parse().ok()?,
            sent_at,
        })
    }

    /// Returns the name of the method that it calls.
    pub(super) fn name(&self) -> &str {
        match self.label.split_once('(') {
            Some((name, _)) => name,
            None => &self.label,
        }
    }

    /// Returns where it was sent, if that is known.
    pub(super) fn site(&self) -> Option<Site> {
        let (file, site) = self.sent_at.as_ref()?;
        Some(*site).filter(|_| !file.is_empty())
    }

    /// Returns the name of the sender or receiver.
    pub(super) fn peer(&self, answer: &Answer) -> String {
        match answer.activity(self.peer) {
            Some(acting) => acting.place.clone(),
            None => format!("activity {}", self.peer),
        }
    }

    /// Returns the label as it is written in a schedule, and the position to use instead of that of the operation. For
    /// a message that is handled, the label contains where it was sent, and the position is empty.
    pub(super) fn line(&self, answer: &Answer) -> (String, Option<String>) {
        let label = &self.label;
        match &self.sent_at {
            None => (label.clone(), None),
            Some((file, site)) => {
                let mut label = format!("{label} from {}", self.peer(answer));
                if !file.is_empty() {
                    label += &format!(" at {file}:{site}");
                }
                (label, Some(String::new()))
            }
        }
    }

    /// Returns the operation on the message as text, such as `send double(4) to main.a0`.
    pub(super) fn sentence(&self, answer: &Answer) -> String {
        let label = match &*self.label {
            "" => "a message",
            label => label,
        };
        let peer = self.peer(answer);
        match self.sent_at {
            None => format!("send {label} to {peer}"),
            Some(_) => format!("handle {label} from {peer}"),
        }
    }

    /// Returns what can be observed of a message in an inbox.
    pub(super) fn observe(&self, answer: &Answer, file: &str) -> Observation {
        let text = |text: &str| Observation::Text(text.to_owned());
        let mut fields = vec![("name".to_owned(), text(self.name()))];
        if let Some((_, arguments)) = self.label.split_once('(') {
            let arguments = arguments.strip_suffix(')').unwrap_or(arguments);
            fields.push(("args".to_owned(), value::parse(&format!("[{arguments}]"))));
        }
        fields.push(("from".to_owned(), text(&self.peer(answer))));
        if let (Some(site), Some((sent_in, _))) = (self.site(), &self.sent_at) {
            if sent_in != file {
                fields.push(("file".to_owned(), text(sent_in)));
            }
            fields.push(("line".to_owned(), Observation::Int(site.line.into())));
        }
        Observation::Record(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read() {
        let sent = Message::read(&["double(12)", "3"]).unwrap();
        assert_eq!((sent.name(), sent.peer, sent.site()), ("double", 3, None));
        let handled = Message::read(&["main::closure", "3", "src/main.rs", "12", "9"]).unwrap();
        assert_eq!(handled.name(), "main::closure");
        assert_eq!(handled.site().unwrap().line, 12);
        assert_eq!(Message::read(&["double(12)"]), None);
        assert_eq!(Message::read(&["double(12)", "x"]), None);
    }

    #[test]
    fn what_it_carries_can_be_looked_into() {
        let message = Message::read(&["set(Some(\"a, b\"), _)", "3", "a.rs", "1", "2"]).unwrap();
        let seen = message.observe(&Answer::default(), "a.rs").to_string();
        assert_eq!(
            seen,
            r#"{name: "set", args: ["a, b", "_"], from: "activity 3", line: 1}"#
        );
    }
}
