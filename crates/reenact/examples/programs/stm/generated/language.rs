//! The language of generated programs of transactions: how many variables, and a line of transactions for each thread.
//!
//! ```text
//! 3
//! r0w1 d d m2t0
//! e1 k5r0 o
//! ```
//!
//! A transaction is a word, each action of which is a letter and a number. Numbers too large wrap around, so that whatever
//! can be read can be run.

use std::{fmt, str::FromStr};

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) variables: usize,
    pub(crate) threads: Vec<Vec<Transaction>>,
}

/// What is done together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transaction(pub(crate) Vec<Action>);

/// What is done to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) verb: Verb,
    pub(crate) number: usize,
}

macro_rules! verbs {
    ($($verb:ident = $letter:literal $what:literal;)*) => {
        /// What can be done.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Verb { $(#[doc = $what] $verb,)* }

        impl Verb {
            #[allow(dead_code, reason = "used where programs are made")]
            pub(crate) const ALL: &'static [Verb] = &[$(Verb::$verb),*];

            fn letter(self) -> char {
                match self { $(Verb::$verb => $letter,)* }
            }

            fn of(letter: char) -> Option<Verb> {
                match letter { $($letter => Some(Verb::$verb),)* _ => None }
            }
        }
    };
}

verbs! {
    Read = 'r' "Reads a number.";
    Write = 'w' "Writes one.";
    Modify = 'm' "Reads and writes it.";
    Move = 'v' "Moves it to the next one.";
    All = 'a' "Reads all of them.";
    Text = 't' "Changes a text, which is behind a pointer.";
    Length = 'l' "Reads one in place.";
    Either = 'e' "Takes one of two alternatives.";
    Abort = 'x' "Fails if the number is odd.";
    Panic = 'p' "Panics for some numbers.";
    Done = 'd' "Counts what this thread has done.";
    Wait = 'k' "Waits for another thread to have done something.";
    Lock = 'o' "Takes a lock before the transaction.";
    Add = 'i' "Uses an atomic before the transaction.";
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.variables)?;
        for thread in &self.threads {
            let words: Vec<_> = thread.iter().map(Transaction::to_string).collect();
            write!(f, "\n{}", words.join(" "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|action| write!(f, "{}{}", action.verb.letter(), action.number))
    }
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Program, String> {
        let mut lines = text.lines();
        let variables = lines.next().unwrap_or_default();
        let threads = lines
            .map(|line| line.split_whitespace().map(str::parse).collect())
            .collect::<Result<_, _>>()?;
        Ok(Program {
            variables: variables.parse().map_err(|_| "how many variables?")?,
            threads,
        })
    }
}

impl FromStr for Transaction {
    type Err = String;

    fn from_str(word: &str) -> Result<Transaction, String> {
        let mut actions = Vec::new();
        for letter in word.chars() {
            match (letter.to_digit(10), Verb::of(letter)) {
                (None, Some(verb)) => actions.push(Action { verb, number: 0 }),
                (Some(digit), _) => {
                    let action = actions.last_mut().ok_or("a number of what?")?;
                    action.number = action.number * 10 % 1_000_000 + digit as usize;
                }
                (None, None) => return Err(format!("{letter}: what is that?")),
            }
        }
        Ok(Transaction(actions))
    }
}
