//! The protocol between the exploring process and an execution: messages of 64-bit words, preceded by their length.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    panic::Location,
    sync::Arc,
};

use reenact_explore::{Activity, Link, Links, Moment, Step};

use crate::{
    Access, Arrival, Op, OpInfo,
    explore::{
        event::{About, Event, Touched},
        failure::{Failure, Panic, Waiting},
        names::{Met, Place},
        subject::Granularity,
    },
    site::{Found, Site},
};

/// Maximum length of a message.
const MOST: u32 = 64 << 20;

/// A command to an execution.
pub(super) enum Command {
    /// Takes this step; at this moment, if the strategy tracks dependences.
    Step(Step, Option<Moment>),
    /// Returns what the pending step of this activity would come after.
    Links(Activity),
    /// Makes steps at least this fine from now on.
    Refine(Granularity),
    /// Returns what went wrong.
    Failures,
    /// Returns a view of the execution.
    View,
    /// Ends the execution: no activity continues. A program that has reached its end is allowed to exit.
    End,
}

/// The state of an execution while all activities wait.
#[derive(Default)]
pub(super) struct Snapshot {
    /// The activities that were created, by parent and index, in this order.
    pub(super) births: Vec<(u32, u32)>,
    /// The names of threads that the program created without Reenact.
    pub(super) foreign: Vec<(u32, String)>,
    /// The objects that were accessed, in this order.
    pub(super) met: Vec<Met>,
    /// The pending operation of each activity, if it has one.
    pub(super) pending: Vec<Option<Next>>,
    /// The event of the step.
    pub(super) performed: Option<Event>,
    /// Whether there is a deadlock, if no activity can continue.
    pub(super) is_deadlock: bool,
    pub(super) needs_finer_steps: bool,
    /// How fine steps have turned out to have to be.
    pub(super) learned: Granularity,
    /// Whether the main activity has ended, and the program is about to.
    pub(super) has_ended: bool,
    /// The last panic of the main activity.
    pub(super) panic: Option<Panic>,
    /// The source locations of the program that were found on stacks.
    pub(super) found: Vec<Found>,
    /// The result of the step, for display.
    pub(super) came_of: Option<String>,
}

/// A pending operation.
pub(super) struct Next {
    pub(super) event: Event,
    /// Whether it is enabled, the number of its choices, and how it would go (`State::prospect`).
    pub(super) is_enabled: bool,
    pub(super) choices: u32,
    pub(super) prospect: u64,
    /// The message that it sends, if it is identified by more than its sender.
    pub(super) message: Option<Arrival>,
}

/// A message that is written or read.
#[derive(Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
    at: usize,
}

impl Message {
    pub(super) fn send(&self, stream: &mut UnixStream) -> io::Result<()> {
        let length = (self.bytes.len() as u32).to_le_bytes();
        stream.write_all(&[&length[..], &self.bytes].concat())
    }

    pub(super) fn receive(stream: &mut UnixStream) -> io::Result<Message> {
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > MOST {
            return Err(io::Error::other("a message of an execution is too long"));
        }
        let mut bytes = vec![0; length as usize];
        stream.read_exact(&mut bytes)?;
        Ok(Message { bytes, at: 0 })
    }

    pub(super) fn word(&mut self, word: u64) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    pub(super) fn read(&mut self) -> io::Result<u64> {
        let end = self.at + 8;
        let word = self.bytes.get(self.at..end).ok_or_else(too_short)?;
        self.at = end;
        Ok(u64::from_le_bytes(word.try_into().expect("8 bytes")))
    }

    pub(super) fn small(&mut self) -> io::Result<u32> {
        self.read()?.try_into().map_err(|_| too_short())
    }

    /// Reads the number of items that follow.
    pub(super) fn count(&mut self) -> io::Result<usize> {
        let count = self.read()? as usize;
        match count <= self.bytes.len() - self.at {
            true => Ok(count),
            false => Err(too_short()),
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn read_text(&mut self) -> io::Result<String> {
        let length = self.count()?;
        let text = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    pub(super) fn optional(&mut self, text: Option<&str>) {
        self.word(text.is_some().into());
        self.text(text.unwrap_or_default());
    }

    pub(super) fn read_optional(&mut self) -> io::Result<Option<String>> {
        let is_some = self.read()? != 0;
        Ok(Some(self.read_text()?).filter(|_| is_some))
    }
}

pub(super) fn too_short() -> io::Error {
    io::Error::other("a message of an execution makes no sense")
}

impl Command {
    pub(super) fn write(&self) -> Message {
        let mut message = Message::default();
        let words = match *self {
            Command::Step(step, moment) => [
                0,
                step.activity.0.into(),
                step.choice.into(),
                moment.map_or(0, |moment| u64::from(moment.0) + 1),
            ],
            Command::Links(activity) => [1, activity.0.into(), 0, 0],
            Command::Failures => [2, 0, 0, 0],
            Command::Refine(granularity) => [5, granularity.code(), 0, 0],
            Command::View => [4, 0, 0, 0],
            Command::End => [3, 0, 0, 0],
        };
        words.into_iter().for_each(|word| message.word(word));
        message
    }

    pub(super) fn read(message: &mut Message) -> io::Result<Command> {
        let kind = message.read()?;
        let activity = Activity(message.small()?);
        let choice = message.small()?;
        let moment = message.read()?.checked_sub(1);
        Ok(match kind {
            0 => Command::Step(
                Step { activity, choice },
                moment.map(|moment| Moment(moment as u32)),
            ),
            1 => Command::Links(activity),
            2 => Command::Failures,
            5 => Command::Refine(Granularity::from_code(activity.0.into())),
            4 => Command::View,
            3 => Command::End,
            _ => return Err(too_short()),
        })
    }
}

fn write_event(message: &mut Message, event: &Event) {
    message.word(event.op.info() as *const OpInfo as u64);
    message.word(std::ptr::from_ref(event.site) as u64);
    write_site(message, event.behind);
    let more = event.more.as_deref();
    message.word(event.touches().count() as u64 + 1);
    message.word(more.is_some().into());
    for touch in event.touches() {
        message.word(u64::from(touch.access.code()) << 32 | u64::from(touch.object));
    }
    write_about(message, event.about.as_deref());
}

pub(super) fn write_about(message: &mut Message, about: Option<&About>) {
    message.word(about.is_some().into());
    if let Some(about) = about {
        message.text(&about.label);
        message.word(about.peer.into());
        message.word(about.sent_at.is_some().into());
        write_site(message, about.sent_at.flatten());
    }
}

fn write_site(message: &mut Message, site: Option<&Site>) {
    message.word(site.map_or(0, |site| u64::from(site.line)));
    if let Some(site) = site {
        message.word(site.column.into());
        message.text(site.file);
    }
}

fn read_site(message: &mut Message) -> io::Result<Option<&'static Site>> {
    Ok(match message.small()? {
        0 => None,
        line => {
            let column = message.small()?;
            Some(Site::kept(&message.read_text()?, line, column))
        }
    })
}

pub(super) fn read_about(message: &mut Message) -> io::Result<Option<Arc<About>>> {
    if message.read()? == 0 {
        return Ok(None);
    }
    Ok(Some(Arc::new(About {
        label: message.read_text()?,
        peer: message.small()?,
        sent_at: {
            let was_sent = message.read()? != 0;
            let site = read_site(message)?;
            was_sent.then_some(site)
        },
    })))
}

fn read_event(message: &mut Message) -> io::Result<Event> {
    // SAFETY: The sender is a child of this process created by `fork`, so statics of the sender are at the same
    // addresses here.
    let (op, site) = unsafe {
        let op = &*(message.read()? as *const OpInfo);
        (Op::new(op), &*(message.read()? as *const Location<'static>))
    };
    let behind = read_site(message)?;
    let touches = message.count()?.saturating_sub(1);
    let has_more = message.read()? != 0;
    let mut touches = (0..touches).map(|_| {
        let word = message.read()?;
        let access = Access::from_code((word >> 32) as u8).ok_or_else(too_short)?;
        let object = word as u32;
        Ok(Touched { access, object })
    });
    let touch = touches.next().ok_or_else(too_short)??;
    let more: Vec<Touched> = touches.collect::<io::Result<_>>()?;
    Ok(Event {
        op,
        site,
        behind,
        touch,
        more: has_more.then(|| Arc::from(more)),
        about: read_about(message)?,
    })
}

pub(super) fn write_links(message: &mut Message, links: &Links) {
    message.word(links.iter().count() as u64);
    for link in links.iter() {
        let (kind, begin, end) = match link {
            Link::After(moment) => (0, moment, None),
            Link::Follows(moment) => (1, moment, None),
            Link::Races(moment) => (2, moment, None),
            Link::Outside(begin, end) => (3, begin, end),
            Link::Barred(begin, end) => (4, begin, end),
            Link::RacesIfSeen(moment) => (5, moment, None),
            Link::RacesIfPossible(moment) => (7, moment, None),
            Link::Needs(way, moment) => (8, Moment(way), moment),
            // It carries no information.
            Link::Void => (6, Moment(0), None),
        };
        message.word(kind << 32 | u64::from(begin.0));
        message.word(end.map_or(0, |end| u64::from(end.0) + 1));
    }
}

pub(super) fn read_links(message: &mut Message, links: &mut Links) -> io::Result<()> {
    for _ in 0..message.count()? {
        let (word, end) = (message.read()?, message.read()?);
        let begin = Moment(word as u32);
        let end = end.checked_sub(1).map(|end| Moment(end as u32));
        links.push(match (word >> 32, end) {
            (0, _) => Link::After(begin),
            (1, _) => Link::Follows(begin),
            (2, _) => Link::Races(begin),
            (4, end) => Link::Barred(begin, end),
            (7, _) => Link::RacesIfPossible(begin),
            (8, end) => Link::Needs(word as u32, end),
            (5, _) => Link::RacesIfSeen(begin),
            (6, _) => Link::Void,
            _ => Link::Outside(begin, end),
        });
    }
    Ok(())
}

impl Snapshot {
    pub(super) fn write(&self, message: &mut Message) {
        message.word(self.births.len() as u64);
        for &(parent, index) in &self.births {
            message.word(u64::from(parent) << 32 | u64::from(index));
        }
        message.word(self.foreign.len() as u64);
        for (number, name) in &self.foreign {
            message.word((*number).into());
            message.text(name);
        }
        message.word(self.met.len() as u64);
        for met in &self.met {
            message.word(u64::from(met.activity) << 32 | u64::from(met.operation));
            message.word(met.known.map_or(0, |known| u64::from(known) + 1));
            let code = met.place.code();
            code.into_iter().for_each(|code| message.word(code));
        }
        message.word(self.pending.len() as u64);
        for pending in &self.pending {
            message.word(pending.is_some().into());
            if let Some(next) = pending {
                write_event(message, &next.event);
                message.word(next.is_enabled.into());
                message.word(next.choices.into());
                message.word(next.prospect);
                let sent = next
                    .message
                    .map_or((0, 0), |sent| (sent.source, sent.number));
                message.word(sent.0.into());
                message.word(sent.1);
            }
        }
        message.word(self.performed.is_some().into());
        if let Some(event) = &self.performed {
            write_event(message, event);
        }
        message.word(self.is_deadlock.into());
        message.word(self.needs_finer_steps.into());
        message.word(self.learned.code());
        message.word(self.has_ended.into());
        write_panic(message, self.panic.as_ref());
        message.word(self.found.len() as u64);
        for &(key, site) in &self.found {
            message.word(key);
            write_site(message, site);
        }
        message.optional(self.came_of.as_deref());
    }

    pub(super) fn read(message: &mut Message) -> io::Result<Snapshot> {
        let mut snapshot = Snapshot::default();
        for _ in 0..message.count()? {
            let word = message.read()?;
            snapshot.births.push(((word >> 32) as u32, word as u32));
        }
        for _ in 0..message.count()? {
            let named = (message.small()?, message.read_text()?);
            snapshot.foreign.push(named);
        }
        for _ in 0..message.count()? {
            let (who, known) = (message.read()?, message.read()?);
            snapshot.met.push(Met {
                activity: (who >> 32) as u32,
                operation: who as u32,
                known: known.checked_sub(1).map(|known| known as u32),
                // SAFETY: The sender is a child of this process created by `fork`, so the numbers are those of a place
                // in such a child.
                place: unsafe { Place::from_code([message.read()?, message.read()?]) },
            });
        }
        for _ in 0..message.count()? {
            let pending = match message.read()? {
                0 => None,
                _ => Some(Next {
                    event: read_event(message)?,
                    is_enabled: message.read()? != 0,
                    choices: message.small()?,
                    prospect: message.read()?,
                    message: {
                        let (source, number) = (message.small()?, message.read()?);
                        (source != 0).then_some(Arrival { source, number })
                    },
                }),
            };
            snapshot.pending.push(pending);
        }
        if message.read()? != 0 {
            snapshot.performed = Some(read_event(message)?);
        }
        snapshot.is_deadlock = message.read()? != 0;
        snapshot.needs_finer_steps = message.read()? != 0;
        snapshot.learned = Granularity::from_code(message.read()?);
        snapshot.has_ended = message.read()? != 0;
        snapshot.panic = read_panic(message)?;
        for _ in 0..message.count()? {
            snapshot.found.push((message.read()?, read_site(message)?));
        }
        snapshot.came_of = message.read_optional()?;
        Ok(snapshot)
    }
}

pub(super) fn write_panic(message: &mut Message, panic: Option<&Panic>) {
    message.optional(panic.map(|panic| &*panic.message));
    message.optional(panic.and_then(|panic| panic.place.as_deref()));
}

pub(super) fn read_panic(message: &mut Message) -> io::Result<Option<Panic>> {
    let (text, place) = (message.read_optional()?, message.read_optional()?);
    Ok(text.map(|message| Panic { message, place }))
}

pub(super) fn write_failures(message: &mut Message, failures: &[Failure]) {
    for failure in failures {
        match failure {
            Failure::Panic(who, panic) => {
                message.word(1);
                message.text(who);
                message.text(&panic.message);
                message.optional(panic.place.as_deref());
            }
            Failure::Deadlock(waiting) => {
                message.word(2);
                message.word(waiting.len() as u64);
                for waiting in waiting {
                    message.text(&waiting.who);
                    message.text(&waiting.what);
                    message.optional(waiting.site.as_deref());
                    let holder = waiting.holder.as_ref();
                    message.optional(holder.map(|(who, _)| &**who));
                    message.optional(holder.map(|(_, site)| &**site));
                }
            }
            // The exploring process finds the others itself.
            _ => {}
        }
    }
    message.word(0);
}

pub(super) fn read_failures(message: &mut Message) -> io::Result<Vec<Failure>> {
    let mut failures = Vec::new();
    loop {
        failures.push(match message.read()? {
            0 => return Ok(failures),
            1 => Failure::Panic(
                message.read_text()?,
                Panic {
                    message: message.read_text()?,
                    place: message.read_optional()?,
                },
            ),
            _ => {
                let mut waiting = Vec::new();
                for _ in 0..message.count()? {
                    waiting.push(Waiting {
                        who: message.read_text()?,
                        what: message.read_text()?,
                        site: message.read_optional()?,
                        holder: message.read_optional()?.zip(message.read_optional()?),
                    });
                }
                Failure::Deadlock(waiting)
            }
        });
    }
}
