//! Parses what a program reports about one of its universes.

use reenact::explore::Line;
use reenact_engine::{Access, ObjectName};
use reenact_multiverse::{OperationKind, Site};

use super::message::Message;

/// The reported state of a universe.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) fingerprint: u128,
    /// Sorted by number.
    pub(super) activities: Vec<Acting>,
    /// The names of objects.
    pub(super) objects: Vec<(u32, ObjectName)>,
    /// The objects that are held: the object, its holder, and where it was acquired.
    pub(super) holds: Vec<(u32, u32, String)>,
    /// The objects that are shared: the object, and one of its holders.
    pub(super) shares: Vec<(u32, u32)>,
    /// The watched values, by name.
    pub(super) watched: Vec<(String, String)>,
    pub(super) printed: Vec<String>,
    pub(super) failures: Vec<String>,
    pub(super) is_deadlock: bool,
    pub(super) exit: Option<End>,
    /// Why there is no answer.
    pub(super) error: Option<String>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Status(i32),
    Signal(i32),
}

#[derive(Debug)]
pub(super) struct Acting {
    pub(super) number: u32,
    /// Its position in the family tree, such as `main.2.0`.
    pub(super) place: String,
    /// Its name in the program, or empty.
    pub(super) name: String,
    pub(super) status: ActivityStatus,
    /// Its last panic.
    pub(super) panic: Option<String>,
    /// The messages that it has not handled yet. `turn` is the message that it is handling.
    pub(super) inbox: Vec<Message>,
    pub(super) turn: Option<Message>,
    /// Its state when it was last between turns.
    pub(super) state: Option<String>,
}

impl Acting {
    /// Whether it is an actor, a process or a task, which can be idle without having ended, such as `main.a0`.
    pub(super) fn is_light(&self) -> bool {
        let last = self.place.rsplit('.').next().unwrap_or_default();
        self.place != "main" && last.starts_with(|first: char| first.is_ascii_alphabetic())
    }
}

#[derive(Debug)]
pub(super) enum ActivityStatus {
    Does(Doing),
    /// Waits for something that is not an operation.
    Waits(String),
    Ended,
}

/// An operation that is about to happen.
#[derive(Debug)]
pub(super) struct Doing {
    /// Its name, as in "to lock".
    pub(super) operation: String,
    pub(super) kind: OperationKind,
    /// The noun for its object.
    pub(super) object: String,
    pub(super) is_enabled: bool,
    pub(super) ways: u32,
    pub(super) file: String,
    site: Site,
    /// The activity that is joined or created, and its position in the family tree.
    pub(super) with: Option<(u32, String)>,
    /// The objects that it touches, and how.
    pub(super) touches: Vec<(Access, Option<u32>)>,
    /// The message that is sent or handled.
    pub(super) message: Option<Message>,
}

impl Doing {
    /// Returns its position in the source of the program, if known.
    pub(super) fn site(&self) -> Option<Site> {
        Some(self.site).filter(|_| !self.file.is_empty())
    }

    /// Returns the position as text, or an empty string if it is not known.
    pub(super) fn place(&self) -> String {
        let site = self.site();
        site.map_or_else(String::new, |site| format!("{}:{site}", self.file))
    }

    /// Returns the operation and its position as they are written in a schedule.
    pub(super) fn describe(&self, answer: &Answer) -> (String, String) {
        match &self.message {
            Some(message) => {
                let (label, place) = message.line(answer);
                let what = Line::labelled(&self.operation, &label);
                (what, place.unwrap_or_else(|| self.place()))
            }
            None => (self.operation.clone(), self.place()),
        }
    }

    /// Returns the object that it operates on.
    pub(super) fn object(&self) -> Option<u32> {
        self.touches.first()?.1
    }
}

impl Answer {
    /// Creates an answer that contains only an error.
    pub(super) fn error(error: impl Into<String>) -> Answer {
        Answer {
            error: Some(error.into()),
            ..Answer::default()
        }
    }

    pub(super) fn activity(&self, number: u32) -> Option<&Acting> {
        let all = &self.activities;
        let at = all.binary_search_by_key(&number, |acting| acting.number);
        at.ok().map(|at| &all[at])
    }

    /// Returns the name of the object of an operation.
    pub(super) fn object(&self, doing: &Doing) -> Option<&ObjectName> {
        let object = doing.object()?;
        let mut all = self.objects.iter();
        all.find_map(|(number, name)| (*number == object).then_some(name))
    }

    /// Parses an answer.
    pub(super) fn read(lines: &[String]) -> Answer {
        let mut answer = Answer::default();
        for line in lines {
            if answer.line(line).is_none() {
                return Answer::error(format!("the program says `{line}`, which makes no sense"));
            }
        }
        answer.activities.sort_by_key(|acting| acting.number);
        answer
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let fields: Vec<String> = line.split('\t').map(plain).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let number = |text: &str| text.parse::<u32>().ok();
        match *fields.as_slice() {
            ["error", error] => self.error = Some(error.to_owned()),
            ["fingerprint", text] => self.fingerprint = u128::from_str_radix(text, 16).ok()?,
            ["activity", who, place, name] => self.activities.push(Acting {
                number: number(who)?,
                place: place.to_owned(),
                name: name.to_owned(),
                status: ActivityStatus::Ended,
                panic: None,
                inbox: Vec::new(),
                turn: None,
                state: None,
            }),
            ["about", who, ref message @ ..] => {
                if let ActivityStatus::Does(doing) = &mut self.find(number(who)?)?.status {
                    doing.message = Some(Message::read(message)?);
                }
            }
            ["inbox", who, ref message @ ..] => {
                let inbox = &mut self.find(number(who)?)?.inbox;
                inbox.push(Message::read(message)?);
            }
            ["turn", who, ref message @ ..] => {
                self.find(number(who)?)?.turn = Some(Message::read(message)?);
            }
            ["state", who, state] => self.find(number(who)?)?.state = Some(state.to_owned()),
            ["waits", who, what] => {
                self.status(number(who)?, ActivityStatus::Waits(what.to_owned()))?;
            }
            ["panicked", who, how] => self.find(number(who)?)?.panic = Some(on_one_line(how)),
            ["ended", who] => self.status(number(who)?, ActivityStatus::Ended)?,
            [
                "does",
                who,
                operation,
                kind,
                object,
                is_enabled,
                ways,
                file,
                line,
                column,
                touches,
                with,
                place,
            ] => {
                let doing = Doing {
                    operation: operation.to_owned(),
                    kind: OperationKind::from_name(kind)?,
                    object: object.to_owned(),
                    is_enabled: is_enabled == "1",
                    ways: number(ways)?,
                    file: file.to_owned(),
                    site: Site {
                        line: number(line)?,
                        column: number(column)?,
                    },
                    touches: touches.split(',').map(touch).collect::<Option<_>>()?,
                    with: match with {
                        "" => None,
                        with => Some((number(with)?, place.to_owned())),
                    },
                    message: None,
                };
                self.status(number(who)?, ActivityStatus::Does(doing))?;
            }
            ["object", object, noun, file, line, ordinal] => {
                let name = ObjectName {
                    noun: noun.to_owned(),
                    file: file.to_owned(),
                    line: number(line)?,
                    ordinal: number(ordinal)?,
                };
                self.objects.push((number(object)?, name));
            }
            ["holds", object, who, since] => {
                let held = (number(object)?, number(who)?, since.to_owned());
                self.holds.push(held);
            }
            ["looks", object, who] => self.shares.push((number(object)?, number(who)?)),
            // Ignored: an activity that waits for a signal is reported as about to wake up.
            ["awaits", _, _] => {}
            ["watched", name, value] => self.watched.push((name.to_owned(), value.to_owned())),
            ["printed", line] => self.printed.push(line.to_owned()),
            ["failure", failure] => self.failures.push(failure.to_owned()),
            ["deadlock"] => self.is_deadlock = true,
            ["exit", "status", status] => self.exit = Some(End::Status(status.parse().ok()?)),
            ["exit", "signal", signal] => self.exit = Some(End::Signal(signal.parse().ok()?)),
            _ => return None,
        }
        Some(())
    }

    fn status(&mut self, who: u32, status: ActivityStatus) -> Option<()> {
        self.find(who)?.status = status;
        Some(())
    }

    fn find(&mut self, who: u32) -> Option<&mut Acting> {
        let mut all = self.activities.iter_mut();
        all.find(|acting| acting.number == who)
    }
}

fn touch(text: &str) -> Option<(Access, Option<u32>)> {
    match text.split_once(':') {
        Some((access, object)) => Some((Access::from_name(access)?, Some(object.parse().ok()?))),
        None => Some((Access::from_name(text)?, None)),
    }
}

fn on_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ")
}

/// Unescapes a field.
fn plain(field: &str) -> String {
    let mut plain = String::new();
    let mut letters = field.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Answer {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        Answer::read(&lines)
    }

    #[test]
    fn an_answer_is_read() {
        let answer = read(
            "fingerprint\tff\nactivity\t1\tmain.0\talice\ndoes\t1\tlock\tlock\tmutex\t1\t2\tbank.rs\t12\t9\ttake:3,write\t\t\nholds\t3\t1\tbank.rs:12:9\nwatched\tnote\ta\\tb\\\\n",
        );
        assert_eq!(answer.error, None);
        assert_eq!(answer.fingerprint, 255);
        assert_eq!(answer.watched[0].1, "a\tb\\n");
        let ActivityStatus::Does(doing) = &answer.activity(1).unwrap().status else {
            panic!("it does something");
        };
        assert_eq!(
            doing.touches,
            [(Access::Take, Some(3)), (Access::Write, None)]
        );
        assert_eq!(doing.kind, OperationKind::Lock);
        assert_eq!((doing.ways, doing.site().unwrap().line), (2, 12));
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for text in [
            "nonsense",
            "",
            "fingerprint\tz",
            "does\t1\tlock",
            "activity\t1\tmain.0\t\ndoes\t1\tlock\tborrow\tmutex\t1\t2\tbank.rs\t12\t9\ttake:3\t\t",
            "activity\t1\tmain.0\t\ndoes\t1\tlock\tlock\tmutex\t1\t2\tbank.rs\t12\t9\tborrow:3\t\t",
            "ended\t4",
            "fingerprint\tff\nactivity\t-1\tmain\t",
            "exit\tstatus\tx",
        ] {
            let answer = read(text);
            assert_eq!(answer.error.is_some(), !text.is_empty(), "{text}");
        }
    }
}
