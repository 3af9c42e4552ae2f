//! How an answer is written.

use std::{
    io::{self, Write},
    os::unix::net::UnixStream,
};

use crate::explore::event::{Event, How, NOTHING};

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
        NOTHING => word(touch.how).to_owned(),
        thing => format!("{}:{thing}", word(touch.how)),
    });
    all.collect::<Vec<_>>().join(",")
}

fn word(how: How) -> &'static str {
    match how {
        How::Take => "take",
        How::Look => "look",
        How::TryTake => "try-take",
        How::TryLook => "try-look",
        How::Release => "release",
        How::Read => "read",
        How::Write => "write",
        How::Send => "send",
        How::Receive => "receive",
        How::TrySend => "try-send",
        How::TryReceive => "try-receive",
        How::StopSending => "stop-sending",
        How::StopReceiving => "stop-receiving",
        How::Wait => "wait",
        How::Wake { .. } => "wake",
        How::Notify => "notify",
        How::Transact => "transact",
        How::Ask => "ask",
        How::Choose => "choose",
        How::Arrive => "arrive",
    }
}
