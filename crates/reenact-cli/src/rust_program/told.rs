//! What a program tells of one of its universes.

use reenact::explore::Line;
use reenact_engine::{Access, ObjectName};
use reenact_multiverse::{OperationKind, Site};

use super::message::Message;

/// A universe, as it was told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) fingerprint: u128,
    /// In the order of their numbers.
    pub(super) activities: Vec<Acting>,
    /// What things are called.
    pub(super) objects: Vec<(u32, ObjectName)>,
    /// What is held, by whom, and since where.
    pub(super) holds: Vec<(u32, u32, String)>,
    /// What is shared, and by whom.
    pub(super) shares: Vec<(u32, u32)>,
    /// What is watched, by name.
    pub(super) watched: Vec<(String, String)>,
    pub(super) printed: Vec<String>,
    pub(super) failures: Vec<String>,
    pub(super) is_deadlock: bool,
    pub(super) exit: Option<End>,
    /// Why nothing was told.
    pub(super) error: Option<String>,
}

/// How a program has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Status(i32),
    Signal(i32),
}

#[derive(Debug)]
pub(super) struct Acting {
    pub(super) number: u32,
    /// Its place in the family tree, as in `main.2.0`.
    pub(super) place: String,
    /// What the program calls it, if it does.
    pub(super) name: String,
    pub(super) stands: Stands,
    /// Its last panic.
    pub(super) panic: Option<String>,
    /// What was sent to it and not handled, and what it handles now.
    pub(super) inbox: Vec<Message>,
    pub(super) turn: Option<Message>,
    /// What could be seen of it when it was in no turn.
    pub(super) state: Option<String>,
}

impl Acting {
    /// Whether it is an actor, a process or a task, which may have nothing to do for a while: `main.a0`.
    pub(super) fn is_light(&self) -> bool {
        let last = self.place.rsplit('.').next().unwrap_or_default();
        self.place != "main" && last.starts_with(|first: char| first.is_ascii_alphabetic())
    }
}

#[derive(Debug)]
pub(super) enum Stands {
    Does(Doing),
    /// Waits for something that is no operation.
    Waits(String),
    Ended,
}

/// An operation that is about to be done.
#[derive(Debug)]
pub(super) struct Doing {
    /// Its own name: what comes after "to".
    pub(super) operation: String,
    pub(super) kind: OperationKind,
    /// What it is about, a noun.
    pub(super) object: String,
    pub(super) is_enabled: bool,
    pub(super) ways: u32,
    pub(super) file: String,
    site: Site,
    /// The other party, and its place in the family tree: who is joined, or created.
    pub(super) with: Option<(u32, String)>,
    /// How it meets what.
    pub(super) touches: Vec<(Access, Option<u32>)>,
    /// The message that is sent or handled.
    pub(super) message: Option<Message>,
}

impl Doing {
    /// Where it is in the source of the program, if that is known.
    pub(super) fn site(&self) -> Option<Site> {
        Some(self.site).filter(|_| !self.file.is_empty())
    }

    /// The same as text, which is empty if it is not known.
    pub(super) fn place(&self) -> String {
        let site = self.site();
        site.map_or_else(String::new, |site| format!("{}:{site}", self.file))
    }

    /// What it does, as a schedule has it, and where.
    pub(super) fn describe(&self, told: &Told) -> (String, String) {
        match &self.message {
            Some(message) => {
                let (label, place) = message.line(told);
                let what = Line::labelled(&self.operation, &label);
                (what, place.unwrap_or_else(|| self.place()))
            }
            None => (self.operation.clone(), self.place()),
        }
    }

    /// What it is about.
    pub(super) fn thing(&self) -> Option<u32> {
        self.touches.first()?.1
    }
}

impl Told {
    /// Nothing, and why.
    pub(super) fn error(error: impl Into<String>) -> Told {
        Told {
            error: Some(error.into()),
            ..Told::default()
        }
    }

    pub(super) fn activity(&self, number: u32) -> Option<&Acting> {
        let all = &self.activities;
        let at = all.binary_search_by_key(&number, |acting| acting.number);
        at.ok().map(|at| &all[at])
    }

    /// What the object is called that an operation is about.
    pub(super) fn object(&self, doing: &Doing) -> Option<&ObjectName> {
        let thing = doing.thing()?;
        let mut all = self.objects.iter();
        all.find_map(|(number, name)| (*number == thing).then_some(name))
    }

    /// Reads an answer.
    pub(super) fn read(lines: &[String]) -> Told {
        let mut told = Told::default();
        for line in lines {
            if told.line(line).is_none() {
                return Told::error(format!("the program says `{line}`, which makes no sense"));
            }
        }
        told.activities.sort_by_key(|acting| acting.number);
        told
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
                stands: Stands::Ended,
                panic: None,
                inbox: Vec::new(),
                turn: None,
                state: None,
            }),
            ["about", who, ref message @ ..] => {
                if let Stands::Does(doing) = &mut self.find(number(who)?)?.stands {
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
                self.stands(number(who)?, Stands::Waits(what.to_owned()))?;
            }
            ["panicked", who, how] => self.find(number(who)?)?.panic = Some(on_one_line(how)),
            ["ended", who] => self.stands(number(who)?, Stands::Ended)?,
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
                self.stands(number(who)?, Stands::Does(doing))?;
            }
            ["object", thing, noun, file, line, ordinal] => {
                let object = ObjectName {
                    noun: noun.to_owned(),
                    file: file.to_owned(),
                    line: number(line)?,
                    ordinal: number(ordinal)?,
                };
                self.objects.push((number(thing)?, object));
            }
            ["holds", thing, who, since] => {
                let held = (number(thing)?, number(who)?, since.to_owned());
                self.holds.push(held);
            }
            ["looks", thing, who] => self.shares.push((number(thing)?, number(who)?)),
            // Who waits for a signal is about to wake up.
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

    fn stands(&mut self, who: u32, stands: Stands) -> Option<()> {
        self.find(who)?.stands = stands;
        Some(())
    }

    fn find(&mut self, who: u32) -> Option<&mut Acting> {
        let mut all = self.activities.iter_mut();
        all.find(|acting| acting.number == who)
    }
}

fn touch(text: &str) -> Option<(Access, Option<u32>)> {
    match text.split_once(':') {
        Some((access, thing)) => Some((Access::from_name(access)?, Some(thing.parse().ok()?))),
        None => Some((Access::from_name(text)?, None)),
    }
}

fn on_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ")
}

/// A field as it was before it was written into a line.
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

    fn read(text: &str) -> Told {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        Told::read(&lines)
    }

    #[test]
    fn an_answer_is_read() {
        let told = read(
            "fingerprint\tff\nactivity\t1\tmain.0\talice\ndoes\t1\tlock\tlock\tmutex\t1\t2\tbank.rs\t12\t9\ttake:3,write\t\t\nholds\t3\t1\tbank.rs:12:9\nwatched\tnote\ta\\tb\\\\n",
        );
        assert_eq!(told.error, None);
        assert_eq!(told.fingerprint, 255);
        assert_eq!(told.watched[0].1, "a\tb\\n");
        let Stands::Does(doing) = &told.activity(1).unwrap().stands else {
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
            let told = read(text);
            assert_eq!(told.error.is_some(), !text.is_empty(), "{text}");
        }
    }
}
