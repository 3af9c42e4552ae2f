//! The format of answers.

use std::{
    io::{self, Write},
    os::unix::net::UnixStream,
};

use crate::{
    explore::event::{About, Event, NOTHING},
    site::Site,
};

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

/// Returns the accesses of an event and their objects.
pub(super) fn touches(event: &Event) -> String {
    let all = event.touches().map(|touch| match touch.object {
        NOTHING => touch.access.name().to_owned(),
        object => format!("{}:{object}", touch.access.name()),
    });
    all.collect::<Vec<_>>().join(",")
}

/// Writes a message, its sender or receiver, and where it was sent.
pub(super) fn message(answer: &mut Answer, what: &str, who: &str, about: &About) {
    let peer = about.peer.to_string();
    match about.sent_at {
        None => answer.line(what, &[who, &about.label, &peer]),
        Some(site) => {
            let (file, line, column) = fields_of(site.copied());
            let (line, column) = (line.to_string(), column.to_string());
            answer.line(what, &[who, &about.label, &peer, file, &line, &column]);
        }
    }
}

/// Returns the fields of a source location. An unknown one has no file.
pub(super) fn fields_of(site: Option<Site>) -> (&'static str, u32, u32) {
    site.map_or(("", 0, 0), |site| (site.file, site.line, site.column))
}
