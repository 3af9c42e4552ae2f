//! Schedules as text, one step a line, to be kept with a test and followed again.
//!
//! ```text
//! reenact schedule 1
//! ; lost update: assertion failed
//! main.0  load (atomic@src/counter.rs:5)   src/counter.rs:12:9
//! main.1  load (atomic@src/counter.rs:5)   src/counter.rs:12:9
//! main.1  store (atomic@src/counter.rs:5)  src/counter.rs:13:9
//! main.0  store (atomic@src/counter.rs:5)  src/counter.rs:13:9
//! ```
//!
//! A line consists of an activity by its place in the family tree, its operation, the source location, and the choice
//! if it is not the first (`way 2`). The parts are separated by two or more spaces or a tab. A schedule is followed by
//! activity and operation, because source locations change. The rest of the operation is for display: an object
//! (`lock (mutex@src/main.rs:12)`), a message (`send a message: double(12)`), a value
//! (`load (atomic@src/main.rs:12): 3`).

use std::{collections::HashMap, fmt, str::FromStr};

use crate::{ObjectName, third_person, with_object};

/// The first line.
const HEAD: &str = "reenact schedule 1";
/// Begins a remark.
const REMARK: char = ';';
/// Maximum number of steps that are read.
const MOST: usize = 10_000_000;

/// A sequence of steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Remarks for the reader.
    pub remarks: Vec<String>,
    /// The steps.
    pub lines: Vec<Line>,
}

/// A step of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The activity: its place in the family tree.
    pub who: String,
    /// The operation and, for display, the name of the object in parentheses and the message or the value after a
    /// colon.
    pub what: String,
    /// The source location.
    pub site: String,
    /// Which of the possible ways the operation goes, from 0.
    pub choice: u32,
}

/// The operation by which an activity chooses whether its wait may end without a reason.
pub(super) const WAKE_SPURIOUSLY: &str = "decide whether to wake spuriously";

/// Separates an operation from a message or a value.
const MORE: &str = ": ";

/// Enclose the name of the object of an operation.
const OBJECT: (&str, char) = (" (", ')');

impl Line {
    /// Returns the operation, without object, message or value.
    pub fn operation(&self) -> &str {
        self.parts().0
    }

    /// Returns the operation, its object, and the message or the value.
    fn parts(&self) -> (&str, Option<&str>, Option<&str>) {
        let (rest, more) = match self.what.split_once(MORE) {
            Some((rest, more)) => (rest, Some(more)),
            None => (&*self.what, None),
        };
        let inner = rest.strip_suffix(OBJECT.1);
        match inner.and_then(|inner| inner.split_once(OBJECT.0)) {
            Some((operation, object)) => (operation, Some(object), more),
            None => (rest, None, more),
        }
    }

    /// Returns what it does and where, as a sentence without its subject:
    /// `loads atomic@src/main.rs:12 at src/main.rs:20:5: 3`.
    pub fn sentence(&self) -> String {
        let (operation, object, more) = self.parts();
        let mut sentence = third_person(&match object {
            Some(object) => {
                let noun = object.split(['@', '#']).next().unwrap_or_default();
                with_object(operation, noun, object)
            }
            None => operation.to_owned(),
        });
        let at = match &*self.site {
            "" => String::new(),
            site => format!(" at {site}"),
        };
        let more = more.map_or_else(String::new, |more| format!("{MORE}{more}"));
        // A message belongs to the operation; a value is its result.
        sentence += &match object {
            Some(_) => at + &more,
            None => more + &at,
        };
        sentence
    }

    /// Sets the object of the operation.
    pub fn set_object(&mut self, object: &ObjectName) {
        let (operation, _, more) = self.parts();
        let mut what = format!("{operation}{}{object}{}", OBJECT.0, OBJECT.1);
        if let Some(more) = more {
            what = what + MORE + more;
        }
        self.what = what;
    }

    /// Returns whether it is the same step. Objects, messages and values are for display, and are ignored.
    pub fn is_same(&self, other: &Line) -> bool {
        (&self.who, self.operation(), &self.site, self.choice)
            == (&other.who, other.operation(), &other.site, other.choice)
    }

    /// Returns an operation with a message or value, such as `handle a message: double(12)`, as it is written in a
    /// line.
    pub fn labelled(operation: &str, label: &str) -> String {
        let words: Vec<_> = label.split_whitespace().collect();
        format!("{operation}{MORE}{}", words.join(" "))
    }
}

/// Why a text is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSchedule {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for NoSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for NoSchedule {}

impl Schedule {
    /// Returns how many waits of each activity may end without a reason, if the schedule tells: an activity that has used
    /// them all is not asked any more.
    pub(super) fn spurious_wakeups(&self) -> Option<u32> {
        let mut used = HashMap::new();
        let asked = self.lines.iter();
        let asked = asked.filter(|line| line.operation() == WAKE_SPURIOUSLY);
        asked
            .map(|line| {
                let used: &mut u32 = used.entry(&line.who).or_default();
                let before = *used;
                *used += u32::from(line.choice > 0);
                before + 1
            })
            .max()
    }

    /// Returns how often a step belongs to another activity than the one before it.
    pub fn switches(&self) -> usize {
        let pairs = self.lines.windows(2);
        pairs.filter(|pair| pair[0].who != pair[1].who).count()
    }

    /// Returns the steps in order, each part with how often it is repeated at once. Only what comes at least three times
    /// is folded.
    pub(super) fn folded(&self) -> Vec<(&[Line], usize)> {
        let mut parts = Vec::new();
        let (mut rest, mut plain) = (&self.lines[..], 0);
        while plain < rest.len() {
            let longest = (1..=LONGEST_CYCLE)
                .map(|length| (length, repetitions(&rest[plain..], length)))
                .max_by_key(|&(length, count)| (count * length, std::cmp::Reverse(length)));
            match longest {
                Some((length, count)) if count >= 3 => {
                    let (before, cycle) = rest.split_at(plain);
                    if !before.is_empty() {
                        parts.push((before, 1));
                    }
                    parts.push((&cycle[..length], count));
                    (rest, plain) = (&cycle[length * count..], 0);
                }
                _ => plain += 1,
            }
        }
        if !rest.is_empty() {
            parts.push((rest, 1));
        }
        parts
    }
}

/// Maximum number of steps that are recognised as a cycle.
const LONGEST_CYCLE: usize = 32;

/// Returns how often the first `length` lines come at once at the beginning of `lines`, if they come more than once.
fn repetitions(lines: &[Line], length: usize) -> usize {
    let Some(first) = lines.get(..length) else {
        return 0;
    };
    let mut parts = lines.chunks_exact(length);
    match parts.by_ref().take_while(|part| *part == first).count() {
        1 => 0,
        count => count,
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        for remark in self.remarks.iter().flat_map(|remark| remark.lines()) {
            writeln!(f, "{REMARK} {remark}")?;
        }
        let width = |part: fn(&Line) -> &str| {
            let widths = self.lines.iter().map(|line| part(line).chars().count());
            widths.max().unwrap_or(0).min(60)
        };
        let (who, what) = (width(|line| &line.who), width(|line| &line.what));
        for line in &self.lines {
            write!(f, "{:who$}  {:what$}  {}", line.who, line.what, line.site)?;
            if line.choice > 0 {
                write!(f, "  way {}", line.choice)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = NoSchedule;

    fn from_str(text: &str) -> Result<Schedule, NoSchedule> {
        let mut lines = (1..).zip(text.lines());
        let wrong = |line, what: &str| NoSchedule {
            line,
            what: what.to_owned(),
        };
        match lines.next() {
            Some((_, head)) if head.trim() == HEAD => {}
            Some((_, head)) if head.starts_with("reenact schedule ") => {
                return Err(wrong(
                    1,
                    "a schedule of a later version than this reenact knows",
                ));
            }
            _ => return Err(wrong(1, &format!("a schedule begins with `{HEAD}`"))),
        }
        let mut schedule = Schedule::default();
        for (number, line) in lines {
            let line = line.trim();
            if let Some(remark) = line.strip_prefix(REMARK) {
                schedule.remarks.push(remark.trim().to_owned());
            } else if !line.is_empty() {
                if schedule.lines.len() == MOST {
                    return Err(wrong(number, "more steps than a schedule may have"));
                }
                schedule
                    .lines
                    .push(parse(line).map_err(|what| wrong(number, &what))?);
            }
        }
        Ok(schedule)
    }
}

fn parse(line: &str) -> Result<Line, String> {
    let mut parts = line.split('\t').flat_map(|part| part.split("  "));
    let mut next = || parts.by_ref().map(str::trim).find(|part| !part.is_empty());
    let who = next().unwrap_or_default();
    // The name of a foreign thread, which the program created without Reenact, may be anything.
    let place = match who.strip_prefix("foreign") {
        Some(rest) => format!("main{}", rest.rsplit_once(')').map_or("", |(_, rest)| rest)),
        None => who.to_owned(),
    };
    if !place
        .split('.')
        .enumerate()
        .all(|(depth, part)| match depth {
            0 => part == "main",
            _ => part
                .strip_prefix('a')
                .unwrap_or(part)
                .parse::<u32>()
                .is_ok(),
        })
    {
        return Err(format!(
            "`{who}` is not the name of an activity, such as `main.2.0`"
        ));
    }
    let Some(what) = next() else {
        return Err(format!(
            "the operation of {who} is missing: it comes after two spaces or a tab"
        ));
    };
    let mut site = "";
    let mut choice = 0;
    while let Some(part) = next() {
        match part.strip_prefix("way ") {
            Some(way) => {
                choice = way
                    .parse()
                    .map_err(|_| format!("`{way}` is not a number"))?
            }
            None => site = part,
        }
    }
    Ok(Line {
        who: who.to_owned(),
        what: what.to_owned(),
        site: site.to_owned(),
        choice,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(who: &str, what: &str, site: &str, choice: u32) -> Line {
        Line {
            who: who.to_owned(),
            what: what.to_owned(),
            site: site.to_owned(),
            choice,
        }
    }

    #[test]
    fn a_schedule_is_the_same_after_having_been_text() {
        let schedule = Schedule {
            remarks: vec!["two".to_owned(), "remarks".to_owned()],
            lines: vec![
                line("main", "lock", "src/a.rs:1:2", 0),
                line("main.10.3", "read the clock", "src/a b.rs:1:2", 2),
                line("main.0", "lock", "", 0),
            ],
        };
        assert_eq!(schedule.to_string().parse(), Ok(schedule.clone()));
        assert_eq!(schedule.switches(), 2);
    }

    #[test]
    fn what_an_operation_is_about_is_for_people() {
        let what = Line::labelled("send a message", "print(\"a  b\",\n 1)");
        let line = line("main.a0", &what, "src/a.rs:1:2", 0);
        assert_eq!(line.what, "send a message: print(\"a b\", 1)");
        assert_eq!(line.operation(), "send a message");
        let other = Line {
            what: "send a message: print(0x12)".to_owned(),
            ..line.clone()
        };
        assert!(line.is_same(&other));
        let schedule = Schedule {
            remarks: Vec::new(),
            lines: vec![line],
        };
        assert_eq!(schedule.to_string().parse(), Ok(schedule.clone()));
    }

    #[test]
    fn the_object_of_an_operation_is_for_people() {
        let mut line = line("main.0", "try to lock a mutex", "src/a.rs:9:2", 0);
        assert_eq!(line.sentence(), "tries to lock a mutex at src/a.rs:9:2");
        line.set_object(&ObjectName {
            noun: "mutex".to_owned(),
            file: "src/a.rs".to_owned(),
            line: 5,
            ordinal: 2,
        });
        assert_eq!(line.operation(), "try to lock a mutex");
        assert_eq!(
            line.sentence(),
            "tries to lock mutex@src/a.rs:5#2 at src/a.rs:9:2"
        );
        line.what = Line::labelled(&line.what, "poisoned");
        assert_eq!(line.operation(), "try to lock a mutex");
        assert_eq!(
            line.sentence(),
            "tries to lock mutex@src/a.rs:5#2 at src/a.rs:9:2: poisoned"
        );
        let schedule = Schedule {
            remarks: Vec::new(),
            lines: vec![line],
        };
        assert_eq!(schedule.to_string().parse(), Ok(schedule.clone()));
    }

    #[test]
    fn what_is_no_schedule_is_reported_with_its_line() {
        let error = |text: &str| text.parse::<Schedule>().unwrap_err().to_string();
        assert_eq!(
            error(""),
            "line 1: a schedule begins with `reenact schedule 1`"
        );
        assert_eq!(
            error("reenact schedule 2\n"),
            "line 1: a schedule of a later version than this reenact knows"
        );
        assert_eq!(
            error("reenact schedule 1\n\nmain.x  lock"),
            "line 3: `main.x` is not the name of an activity, such as `main.2.0`"
        );
        assert_eq!(
            error("reenact schedule 1\nmain.1 lock"),
            "line 2: `main.1 lock` is not the name of an activity, such as `main.2.0`"
        );
        assert_eq!(
            error("reenact schedule 1\nmain"),
            "line 2: the operation of main is missing: it comes after two spaces or a tab"
        );
        assert_eq!(
            error("reenact schedule 1\nmain  choose  way x"),
            "line 2: `x` is not a number"
        );
    }
}
