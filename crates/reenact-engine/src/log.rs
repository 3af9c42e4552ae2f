//! Reads the log of a replay: every operation in the order in which they happened.
//!
//! The replayed program writes it line by line, and may be killed at any time; the name of an object is known only once
//! all of its users are ([`ObjectName`]). So a log is read twice: first for the names, then for the operations.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use crate::ObjectName;

/// In a line of a log: encloses the number of an object.
pub(crate) const MARK: char = '\u{1f}';

/// An operation of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The activity's place in the family tree, as in `main.0`.
    pub activity: String,
    /// The name of its thread, if it has one.
    pub thread: Option<String>,
    /// What it did: `lock`, `unlock`, `wait`.
    pub operation: String,
    /// The object: `mutex@src/main.rs:12`, or another activity; `-` if there is none.
    pub object: String,
    /// The line of the program: file, line and column; empty if it is not known.
    pub source: String,
    /// A note; often empty.
    pub note: String,
    /// How many operations the activity had done, this one included. Some lines, such as that of a release, belong to an
    /// operation that was counted before.
    pub ordinal: Option<u64>,
    /// When it happened, in the order of what probes have seen; `None` if there were no probes.
    pub moment: Option<u64>,
}

impl Operation {
    /// Parses a line; missing fields are empty.
    fn parse(line: &str, names: &Names) -> Operation {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        Operation {
            activity: next().to_owned(),
            thread: Some(next().to_owned()).filter(|name| !name.is_empty() && name != "-"),
            operation: next().to_owned(),
            object: names.put_into(next()),
            source: next().to_owned(),
            note: names.put_into(next()),
            ordinal: fields.nth(9).and_then(|text| text.parse().ok()),
            moment: fields.next().and_then(|text| text.parse().ok()),
        }
    }

    /// Returns the file and the line in the program.
    pub fn place(&self) -> Option<(&str, usize)> {
        let (head, last) = self.source.rsplit_once(':')?;
        let last = last.parse().ok()?;
        let with_column = head
            .rsplit_once(':')
            .and_then(|(file, line)| Some((file, line.parse().ok()?)));
        Some(with_column.unwrap_or((head, last)))
    }

    /// Returns the name of the activity for people.
    pub fn who(&self) -> &str {
        self.thread.as_deref().unwrap_or(&self.activity)
    }
}

/// A log whose names are known.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    names: Names,
}

impl Log {
    /// Opens the log in this file.
    pub fn open(path: &Path) -> io::Result<Log> {
        let mut users = Users::default();
        for line in lines(path)? {
            users.read(&line);
        }
        Ok(Log {
            path: path.to_owned(),
            names: users.name_all(),
        })
    }

    /// Returns its operations.
    pub fn operations(&self) -> io::Result<impl Iterator<Item = Operation>> {
        let all = lines(&self.path)?.filter(|line| !is_definition(line));
        Ok(all.map(|line| Operation::parse(&line, &self.names)))
    }
}

fn lines(path: &Path) -> io::Result<impl Iterator<Item = String> + use<>> {
    let lines = BufReader::new(File::open(path)?).split(b'\n');
    Ok(lines
        .map_while(Result::ok)
        .map(|line| String::from_utf8_lossy(&line).into_owned()))
}

/// Returns whether a line defines a name, rather than an operation.
pub(crate) fn is_definition(line: &str) -> bool {
    line.starts_with('\t')
}

/// The names of objects, by number.
#[derive(Debug, Default)]
struct Names(HashMap<u64, String>);

impl Names {
    /// Returns the text with the numbers of objects replaced by their names.
    fn put_into(&self, text: &str) -> String {
        let mut parts = text.split(MARK);
        let mut result = parts.next().unwrap_or_default().to_owned();
        // Numbers and other text alternate.
        while let Some(number) = parts.next() {
            let name = number
                .parse()
                .ok()
                .and_then(|number: u64| self.0.get(&number));
            result += name.map_or("object", String::as_str);
            result += parts.next().unwrap_or_default();
        }
        result
    }
}

/// Objects and their users.
#[derive(Default)]
struct Users {
    /// The name of each, and the column where it was created.
    objects: HashMap<u64, (ObjectName, u32)>,
    /// The number of operations of each activity at each line.
    counts: HashMap<(String, String), usize>,
    /// The least user of each object: the activity, and the index of its operation at a line.
    least: HashMap<u64, (Rank, usize)>,
}

/// The position of an activity in the order of the family tree: threads, light activities and foreign threads count
/// separately.
type Rank = Vec<(u8, u64, String)>;

impl Users {
    fn read(&mut self, line: &str) {
        let fields: Vec<&str> = line.split('\t').collect();
        match *fields {
            ["", "object", number, noun, file, line, column] => {
                let name = ObjectName {
                    noun: noun.to_owned(),
                    file: file.to_owned(),
                    line: line.parse().unwrap_or(0),
                    ordinal: 1,
                };
                let column = column.parse().unwrap_or(0);
                if let Ok(number) = number.parse() {
                    self.objects.insert(number, (name, column));
                }
            }
            [who, _, _, _, site, _, _, objects, order, ..] if !who.is_empty() => {
                let key = (who.to_owned(), site.to_owned());
                let count = self.counts.entry(key).or_default();
                let user = (rank(who), *count);
                *count += 1;
                let met = objects.split(' ').chain([order]);
                for object in met.filter_map(|object| object.parse().ok()) {
                    let least = self.least.entry(object).or_insert_with(|| user.clone());
                    if user < *least {
                        least.clone_from(&user);
                    }
                }
            }
            _ => {}
        }
    }

    /// Numbers the objects that are created at one line in the order of their least users.
    fn name_all(mut self) -> Names {
        let mut all: Vec<_> = self.objects.into_iter().collect();
        all.sort_by_cached_key(|(number, (name, column))| {
            (name.clone(), *column, self.least.remove(number), *number)
        });
        let mut names = HashMap::new();
        let mut last: Option<ObjectName> = None;
        for (number, (mut name, _)) in all {
            if let Some(last) = last.filter(|last| last.is_like(&name)) {
                name.ordinal = last.ordinal + 1;
            }
            names.insert(number, name.to_string());
            last = Some(name);
        }
        Names(names)
    }
}

/// Parses a place in the family tree, such as `main.2.a0`.
fn rank(family: &str) -> Rank {
    // The name of a foreign thread may contain any character.
    let (first, rest) = match family.rsplit_once(')') {
        Some((first, rest)) => (first, rest),
        None => family.split_at(family.find('.').unwrap_or(family.len())),
    };
    let first = match first {
        "main" => (0, 0, String::new()),
        foreign => (2, 0, foreign.to_owned()),
    };
    let parts = rest.split('.').filter(|part| !part.is_empty());
    let parts = parts.map(|part| match part.strip_prefix('a') {
        Some(light) => (1, light.parse().unwrap_or(0), String::new()),
        None => (0, part.parse().unwrap_or(0), String::new()),
    });
    [first].into_iter().chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(log: &str) -> Vec<String> {
        let mut users = Users::default();
        log.lines().for_each(|line| users.read(line));
        let names = users.name_all();
        let operations = log.lines().filter(|line| !is_definition(line));
        operations
            .map(|line| Operation::parse(line, &names).object)
            .collect()
    }

    fn met(who: &str, number: u64) -> String {
        format!("{who}\t-\tlock\t{MARK}{number}{MARK}\ta.rs:9:1\t\ttake\t\t{number}\tgo")
    }

    fn made(number: u64, line: u32) -> String {
        format!("\tobject\t{number}\tmutex\ta.rs\t{line}\t5")
    }

    #[test]
    fn a_name_does_not_depend_on_who_comes_first() {
        // One line creates two locks; each of two threads takes its own first, then the other's.
        let one = [made(1, 3), met("main.0", 1), made(2, 3), met("main.1", 2)];
        assert_eq!(
            names_of(&one.join("\n")),
            ["mutex@a.rs:3", "mutex@a.rs:3#2"]
        );
        let other = [made(1, 3), met("main.1", 1), made(2, 3), met("main.0", 2)];
        assert_eq!(
            names_of(&other.join("\n")),
            ["mutex@a.rs:3#2", "mutex@a.rs:3"]
        );
    }

    #[test]
    fn the_only_one_of_a_line_has_no_number() {
        let log = [made(1, 3), made(2, 4), met("main", 2), met("main", 1)];
        assert_eq!(names_of(&log.join("\n")), ["mutex@a.rs:4", "mutex@a.rs:3"]);
    }

    #[test]
    fn what_is_not_defined_has_no_name() {
        assert_eq!(names_of(&met("main", 7)), ["object"]);
        assert_eq!(names_of("main\t-\tjoin\tmain.0\ta.rs:1:1\t"), ["main.0"]);
    }

    #[test]
    fn activities_are_in_the_order_of_the_family_tree() {
        let names = [
            "main",
            "main.2",
            "main.2.0",
            "main.2.a0",
            "main.10",
            "main.a1",
            "foreign0(a.b).1",
        ];
        assert!(names.map(rank).is_sorted());
    }
}
