//! Sends a view of an execution to the exploring process.

use std::io;

use super::{
    watch,
    wire::{
        Message, read_about, read_failures, read_panic, too_short, write_about, write_failures,
        write_panic,
    },
};
use crate::explore::{
    Execution,
    view::{Acting, Held, Stands, View},
};

impl Execution {
    /// Returns the state of the execution for display, while all activities wait.
    pub(super) fn view(&self) -> View {
        View {
            watched: watch::seen(),
            ..self.state().view()
        }
    }
}

pub(super) fn write_view(message: &mut Message, view: &View) {
    message.word(view.activities.len() as u64);
    for Acting {
        name,
        stands,
        panic,
        with,
        inbox,
        turn,
        shown,
    } in &view.activities
    {
        message.word(inbox.len() as u64);
        for sent in inbox {
            write_about(message, Some(sent));
        }
        write_about(message, turn.as_deref());
        message.optional(shown.as_deref());
        message.text(name);
        write_panic(message, panic.as_ref());
        message.word(with.map_or(0, |with| u64::from(with) + 1));
        message.word(match stands {
            Stands::NotStarted => 0,
            Stands::Pending => 1,
            Stands::Waits(_) => 2,
            Stands::Ended => 3,
        });
        if let Stands::Waits(what) = stands {
            message.text(what);
        }
    }
    message.word(view.objects.len() as u64);
    for held in &view.objects {
        message.word(held.object.into());
        let holder = held.holder.as_ref();
        message.word(holder.map_or(0, |(who, _)| u64::from(*who) + 1));
        message.text(holder.map_or("", |(_, at)| at));
        for who in [&held.lookers, &held.waiters] {
            message.word(who.len() as u64);
            who.iter().for_each(|&who| message.word(who.into()));
        }
    }
    message.word(view.watched.len() as u64);
    for (name, value) in &view.watched {
        message.text(name);
        message.text(value);
    }
    write_failures(message, &view.failures);
}

pub(super) fn read_view(message: &mut Message) -> io::Result<View> {
    let mut view = View::default();
    for _ in 0..message.count()? {
        let mut inbox = Vec::new();
        for _ in 0..message.count()? {
            inbox.extend(read_about(message)?);
        }
        view.activities.push(Acting {
            inbox,
            turn: read_about(message)?,
            shown: message.read_optional()?,
            name: message.read_text()?,
            panic: read_panic(message)?,
            with: message.read()?.checked_sub(1).map(|with| with as u32),
            stands: match message.read()? {
                0 => Stands::NotStarted,
                1 => Stands::Pending,
                2 => Stands::Waits(message.read_text()?),
                3 => Stands::Ended,
                _ => return Err(too_short()),
            },
        });
    }
    for _ in 0..message.count()? {
        let object = message.small()?;
        let holder = message.small()?.checked_sub(1);
        let at = message.read_text()?;
        view.objects.push(Held {
            object,
            holder: holder.map(|who| (who, at)),
            lookers: read_numbers(message)?,
            waiters: read_numbers(message)?,
        });
    }
    for _ in 0..message.count()? {
        view.watched
            .push((message.read_text()?, message.read_text()?));
    }
    view.failures = read_failures(message)?;
    Ok(view)
}

fn read_numbers(message: &mut Message) -> io::Result<Vec<u32>> {
    (0..message.count()?).map(|_| message.small()).collect()
}
