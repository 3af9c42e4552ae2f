//! How an answer is written.

use std::{
    io::{self, Write},
    os::unix::net::UnixStream,
};

use crate::explore::event::{Event, NOTHING};

/// The lines of an answer.
#[derive(Default)]
pub(super) struct Answer {
    text: String,
}

impl Answer {
    pub(super) fn of_error(error: &str) -> Answer {
        let mut answer = Answer::default();
        answer.line("error", &[error]);
        answer
    }

    pub(super) fn line(&mut self, what: &str, values: &[&str]) {
        self.text.push_str(what);
        for value in values {
            self.text.push('\t');
            for letter in value.chars() {
                match letter {
                    '\\' => self.text.push_str("\\\\"),
                    '\n' => self.text.push_str("\\n"),
                    '\t' => self.text.push_str("\\t"),
                    other => self.text.push(other),
                }
            }
        }
        self.text.push('\n');
    }

    pub(super) fn send(mut self, stream: &mut UnixStream) -> io::Result<()> {
        self.text.push_str("end\n");
        stream.write_all(self.text.as_bytes())
    }
}

/// How an event meets what.
pub(super) fn touches(event: &Event) -> String {
    let all = event.touches().map(|touch| match touch.thing {
        NOTHING => touch.access.name().to_owned(),
        thing => format!("{}:{thing}", touch.access.name()),
    });
    all.collect::<Vec<_>>().join(",")
}
