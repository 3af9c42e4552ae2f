//! The log of a replay as a path: the steps of each activity, and the order in which they have to be.

use std::{
    collections::{HashMap, VecDeque},
    path::Path as File,
};

use crate::{Access, Arrival, Selected, life, log::is_definition};

/// What a replayed run did.
#[derive(Default)]
pub(in crate::explore) struct RecordedPath {
    pub(super) lines: Vec<RecordedOperation>,
    /// The activities by name, with the indices of their lines.
    pub(super) activities: Vec<(String, Vec<usize>)>,
    /// For each object, its operations in their order.
    pub(super) orders: Vec<Vec<usize>>,
    /// The messages that are handled, by mailbox.
    pub(super) mailboxes: HashMap<u64, Handled>,
}

/// The messages that an activity handles, in their order.
#[derive(Default)]
pub(super) struct Handled {
    pub(super) count: usize,
    /// For each message key: the positions of the messages that have it.
    turns: HashMap<String, VecDeque<usize>>,
}

impl Handled {
    /// Returns the position of the message with this key; of the first, if several have it.
    pub(super) fn turn_of(&self, message: &str) -> Option<usize> {
        self.turns.get(message)?.front().copied()
    }
}

/// An operation that is a step, or may be one.
pub(super) struct RecordedOperation {
    /// The number of the operation in the log, from 1.
    pub(super) number: usize,
    pub(super) who: usize,
    pub(super) what: String,
    pub(super) site: String,
    /// The source location that announced it, which distinguishes it from others.
    pub(super) announced_at: String,
    pub(super) access: Access,
    /// The objects that it accesses, by their numbers in the log.
    pub(super) objects: Vec<u64>,
    pub(super) sequence: Option<usize>,
    pub(super) goes: Goes,
    pub(super) meets: Meets,
    /// Whether it may be part of another step: a release, leaving a channel, what is done while a panic unwinds.
    pub(super) is_optional: bool,
    /// Whether it was done while a panic unwound.
    pub(super) is_panicking: bool,
    /// Number of changes of the object before it.
    place: Option<u64>,
}

impl RecordedOperation {
    /// Returns the first object that it accesses; 0 if there is none.
    pub(super) fn object(&self) -> u64 {
        self.objects.first().copied().unwrap_or(0)
    }

    /// Returns whether its place in the order of its object is known.
    pub(super) fn has_place(&self) -> bool {
        self.place.is_some()
    }

    /// Returns whether it sends a message, or tries to.
    pub(super) fn sends(&self) -> bool {
        matches!(self.access, Access::Send | Access::TrySend)
    }

    pub(super) fn receives(&self) -> bool {
        matches!(self.access, Access::Receive | Access::TryReceive)
    }
}

/// How an operation went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goes {
    /// In any way.
    Anyhow,
    Succeeds,
    /// A try failed, a wait timed out, or the other end of a channel was gone.
    Fails,
    /// The index of the one of several operations that happened, if any did.
    Case(Option<usize>),
    /// Whether the answer to a question is the usual one.
    Answer(bool),
}

/// The kind of object that an operation accesses, where it matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meets {
    Anything,
    /// A message is sent: its position among those that are handled there, if it is handled; and the capacity.
    Mailbox(Option<usize>, usize),
    /// A message is handled.
    OwnMailbox,
    /// A promise that several activities may settle, or that is waited for with a time limit.
    Promise,
    /// One or several ends of channels.
    Channel,
    /// An activity, if it is known, of which is asked whether it has ended.
    Activity(Option<usize>),
}

/// A line of the log.
struct Fields<'a> {
    who: &'a str,
    what: &'a str,
    site: &'a str,
    announced_at: &'a str,
    access: Option<Access>,
    objects: Vec<u64>,
    /// The object in whose order its place is recorded; empty if it is not recorded.
    sequence: &'a str,
    result: &'a str,
    place: Option<u64>,
    room: usize,
    message: &'a str,
    traits: &'a str,
}

impl<'a> Fields<'a> {
    fn of(line: &'a str) -> Fields<'a> {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (who, _name, what) = (next(), next(), next());
        let (_object, site, _note) = (next(), next(), next());
        let access = Access::from_name(next());
        let objects = next().split(' ');
        Fields {
            who,
            what,
            site,
            access,
            objects: objects.filter_map(|object| object.parse().ok()).collect(),
            sequence: next(),
            result: next(),
            place: next().parse().ok(),
            room: next().parse().unwrap_or(usize::MAX),
            message: next(),
            traits: next(),
            announced_at: next(),
        }
    }

    fn is(&self, what: &str) -> bool {
        self.traits.split(' ').any(|has| has == what)
    }

    fn answer(&self) -> Option<u64> {
        let answer = self.result.strip_prefix('=')?;
        answer.split(' ').next()?.parse().ok()
    }

    fn has_object(&self) -> bool {
        !self.sequence.is_empty()
    }

    fn is_at_channel(&self, access: Access) -> bool {
        let is_end = matches!(
            access,
            Access::Send | Access::Receive | Access::TrySend | Access::TryReceive
        );
        // A send to a bounded mailbox is recorded as a question whether there is room.
        let is_bounded = self.is("asked") && self.what == SEND_BOUNDED;
        is_end && (self.has_object() || self.is("asked")) && !is_bounded
    }

    /// Returns how it went, and the kind of object.
    fn how(&self, access: Access) -> (Goes, Meets) {
        let goes = match self.result {
            "decline" => Goes::Fails,
            "go" => Goes::Succeeds,
            _ => Goes::Anyhow,
        };
        let usual = Goes::Answer(self.is("usual"));
        match access {
            _ if self.is_at_channel(access) && self.is("asked") => {
                let case = self.answer().and_then(Selected::case);
                let is_declined = self.result.ends_with(" decline");
                let goes = match (self.is("several"), case) {
                    (true, case) => Goes::Case(case),
                    (false, Some(_)) if is_declined => Goes::Fails,
                    // It waits until it happens.
                    (false, Some(_)) => Goes::Succeeds,
                    (false, None) => Goes::Fails,
                };
                (goes, Meets::Channel)
            }
            _ if self.is_at_channel(access) => (goes, Meets::Channel),
            Access::TrySend if self.is("asked") => (usual, Meets::Mailbox(None, self.room)),
            Access::Read | Access::Write if self.is("asked") => (usual, Meets::Promise),
            Access::Ask => (usual, Meets::Activity(None)),
            _ if self.is("asked") => (usual, Meets::Anything),
            Access::Send if !self.has_object() => (Goes::Anyhow, Meets::Mailbox(None, self.room)),
            Access::Receive if !self.has_object() => (Goes::Anyhow, Meets::OwnMailbox),
            _ => (goes, Meets::Anything),
        }
    }
}

/// The operation that sends a message to a mailbox that may be full.
const SEND_BOUNDED: &str = "send to a bounded mailbox";

impl RecordedPath {
    /// Reads a log.
    pub(in crate::explore) fn read(file: &File) -> Result<RecordedPath, String> {
        let text = std::fs::read(file);
        let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Ok(Reader::default().read(&String::from_utf8_lossy(&text)))
    }
}

/// A path while it is being read.
#[derive(Default)]
struct Reader<'a> {
    path: RecordedPath,
    activities: HashMap<&'a str, usize>,
    sequences: HashMap<&'a str, usize>,
    /// The messages that were sent: the line, the mailbox and the key.
    sent: Vec<(usize, u64, String)>,
    /// The questions whether an activity has ended: the line and the activity.
    asked: Vec<(usize, &'a str)>,
}

impl<'a> Reader<'a> {
    fn read(mut self, text: &'a str) -> RecordedPath {
        let operations = text.lines().filter(|line| !is_definition(line));
        for (number, line) in (1..).zip(operations) {
            let fields = Fields::of(line);
            // The end of an activity is a step where another activity asks whether it has ended.
            let is_step = fields.is("step") || fields.what == life::END.name();
            if let Some(access) = fields.access.filter(|_| is_step) {
                self.operation(number, access, fields);
            }
        }
        self.assign_messages();
        self.assign_questions();
        self.sort();
        self.path
    }

    fn operation(&mut self, number: usize, access: Access, fields: Fields<'a>) {
        let is_of_promise = access == Access::Write && !fields.has_object() && !fields.is("asked");
        let is_passed_on = access == Access::Send && fields.is("numbered");
        if is_of_promise || is_passed_on {
            // Not recorded: a promise is forwarded by the activity that settles it or by the one that asks for its
            // value, whichever comes later.
            return;
        }
        let index = self.path.lines.len();
        let (goes, meets) = fields.how(access);
        self.message(index, &fields, goes, meets);
        if meets == Meets::Activity(None) {
            self.asked.push((index, fields.message));
        }
        let is_selection = meets == Meets::Channel && fields.is("asked");
        let line = RecordedOperation {
            number,
            who: self.activity(fields.who),
            what: fields.what.to_owned(),
            site: fields.site.to_owned(),
            announced_at: fields.announced_at.to_owned(),
            access,
            sequence: self.sequence(fields.sequence),
            goes,
            meets,
            // It is not recorded which activity has the last of several references to an end of a channel.
            is_optional: matches!(
                access,
                Access::Release
                    | Access::Queue
                    | Access::DropSender
                    | Access::DropReceiver
                    | Access::Own
            ) || fields.is("panicking"),
            is_panicking: fields.is("panicking"),
            place: fields.place,
            objects: fields.objects.clone(),
        };
        self.push(line);
        if is_selection && fields.is("timed") && !fields.is("several") {
            self.end_of_wait(index);
        }
    }

    fn push(&mut self, line: RecordedOperation) {
        let index = self.path.lines.len();
        self.path.activities[line.who].1.push(index);
        self.path.lines.push(line);
    }

    fn activity(&mut self, name: &'a str) -> usize {
        let activities = &mut self.path.activities;
        *self.activities.entry(name).or_insert_with(|| {
            activities.push((name.to_owned(), Vec::new()));
            activities.len() - 1
        })
    }

    fn sequence(&mut self, name: &'a str) -> Option<usize> {
        let next = self.sequences.len();
        (!name.is_empty()).then(|| *self.sequences.entry(name).or_insert(next))
    }

    /// Adds the end of a timed wait at a channel without capacity. It is a step of its own that a replay does not have.
    fn end_of_wait(&mut self, selection: usize) {
        let line = &mut self.path.lines[selection];
        let goes = std::mem::replace(&mut line.goes, Goes::Anyhow);
        let end = RecordedOperation {
            number: line.number,
            who: line.who,
            what: String::new(),
            site: line.site.clone(),
            announced_at: line.announced_at.clone(),
            access: match line.access {
                Access::Send => Access::SendTimeout,
                _ => Access::ReceiveTimeout,
            },
            objects: line.objects.clone(),
            sequence: None,
            // If it timed out, the other end must not have arrived; otherwise it must have.
            goes: Goes::Answer(goes == Goes::Fails),
            meets: Meets::Anything,
            is_optional: true,
            is_panicking: false,
            place: None,
        };
        self.push(end);
    }

    /// Notes a message that is sent or handled.
    fn message(&mut self, line: usize, fields: &Fields<'_>, goes: Goes, meets: Meets) {
        let Some(&mailbox) = fields.objects.first() else {
            return;
        };
        match meets {
            Meets::OwnMailbox => {
                let handled = self.path.mailboxes.entry(mailbox).or_default();
                let turns = handled.turns.entry(fields.message.to_owned());
                turns.or_default().push_back(handled.count);
                handled.count += 1;
            }
            Meets::Mailbox(..) if goes != Goes::Answer(false) => {
                let position = fields.answer().filter(|_| !fields.is("asked"));
                let message = match position {
                    Some(position) => Arrival::key_of_position(position),
                    None => fields.message.to_owned(),
                };
                self.sent.push((line, mailbox, message));
            }
            _ => {}
        }
    }

    /// Finds the position of each sent message among those that are handled. Those of one sender are in their order.
    fn assign_messages(&mut self) {
        for (line, mailbox, message) in self.sent.drain(..) {
            let handled = self.path.mailboxes.get_mut(&mailbox);
            let turns = handled.and_then(|handled| handled.turns.get_mut(&message));
            let turn = turns.and_then(VecDeque::pop_front);
            if let Meets::Mailbox(place, _) = &mut self.path.lines[line].meets {
                *place = turn;
            }
        }
    }

    /// Finds the activity of each question. A question about a lock names its own activity.
    fn assign_questions(&mut self) {
        for (line, name) in self.asked.drain(..) {
            let line = &mut self.path.lines[line];
            let who = self.activities.get(name).copied();
            line.meets = Meets::Activity(who.filter(|who| *who != line.who));
        }
    }

    /// Puts the operations of each object in order.
    fn sort(&mut self) {
        let RecordedPath { lines, orders, .. } = &mut self.path;
        orders.resize_with(self.sequences.len(), Vec::new);
        for (index, line) in lines.iter().enumerate() {
            if let (Some(sequence), Some(_)) = (line.sequence, line.place) {
                orders[sequence].push(index);
            }
        }
        for order in orders {
            // Reads come before the change of what they have read.
            order.sort_by_key(|&index| {
                let line = &lines[index];
                let changes = !matches!(
                    line.access,
                    Access::Read | Access::Look | Access::TryLook | Access::Transact
                );
                (line.place, changes, index)
            });
        }
    }
}
