//! The order of messages in a replay: which one a light activity is to handle next.
//!
//! Nobody waits here. An activity that is to have a message which has not come stays idle until it comes, and keeps what
//! came too early; its worker runs others meanwhile.

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use reenact_trace::{Event, Kind};

use super::{
    Replay, Runner,
    cursor::{Cursor, Next},
};
use crate::{
    Arrival, NextArrival,
    activity::HOT,
    arrivals::{Arrivals, CONTINUATION, DIRECT, NUMBERED, Source, source_of, unzigzag},
    entity::tag,
    mode,
    record::{LIGHT_BIRTH, token_of},
    seat::SEND,
};

/// What is known of the messages of a light activity.
pub(super) struct Reception {
    /// The activity's own token.
    own: Source,
    /// Where the first was expected to come from.
    first: Source,
    /// None as long as all have come from there.
    arrivals: Option<Box<Arrivals>>,
    /// Messages so far whose senders recorded them.
    direct: u64,
}

impl Reception {
    fn prediction(&self) -> Arrival {
        match &self.arrivals {
            Some(arrivals) => arrivals.predicted(),
            None => Arrival::from(self.first),
        }
    }

    /// What is predicted, as the mailbox knows it.
    #[inline]
    pub(super) fn predicted(&self) -> Arrival {
        self.outside(self.prediction())
    }

    /// That has come.
    #[inline]
    pub(super) fn as_predicted(&mut self) {
        if self.prediction().source == DIRECT {
            self.direct += 1;
        }
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.came(arrivals.predicted());
        }
    }

    fn arrivals(&mut self) -> &mut Arrivals {
        self.arrivals
            .get_or_insert_with(|| Box::new(Arrivals::new(self.first)))
    }

    /// This has come.
    fn came(&mut self, arrival: Arrival) {
        let arrival = match arrival.source == DIRECT | NUMBERED {
            true => Arrival::from(DIRECT),
            false => arrival,
        };
        if arrival.source == DIRECT {
            self.direct += 1;
        }
        self.arrivals().came(arrival);
    }

    /// As the mailbox knows it: where senders record, messages have positions.
    fn outside(&self, arrival: Arrival) -> Arrival {
        match arrival.source {
            DIRECT => Arrival {
                source: DIRECT | NUMBERED,
                number: self.direct,
            },
            _ => arrival,
        }
    }

    /// Which message an event speaks of; none if it is no such event, or does not make sense.
    fn named(&mut self, event: Event) -> Option<Arrival> {
        let ahead = match event.kind {
            Kind::RECEIVE => 0,
            Kind::PIPELINED => unzigzag(event.second),
            _ => return None,
        };
        let source = source_of(event.number, self.own, mode::with_sender())?;
        let arrivals = self.arrivals();
        let number = match source & NUMBERED {
            0 => 0,
            _ => arrivals.number_from(source).wrapping_add(ahead),
        };
        Some(Arrival { source, number })
    }
}

impl Replay {
    /// A light child of this activity: its number.
    pub(super) fn light_birth(&self, runner: &Runner) -> u32 {
        let mut cursor = runner.cursor();
        let doing = || "an actor or a process is made".to_owned();
        let event = self.expect(runner, &mut cursor, &doing);
        match event {
            None => cursor.count_down(),
            Some(event) if event.kind == Kind::CHILDREN => {
                cursor
                    .block
                    .refill(event.number as u32, event.second as u32);
            }
            Some(_) => self.diverge(runner, &cursor, &cursor.describe(), &doing()),
        }
        let Some(number) = cursor.block.take() else {
            self.diverge(runner, &cursor, "no more children", &doing())
        };
        cursor.count(tag(0, LIGHT_BIRTH));
        if event.is_some() {
            self.load(runner, &mut cursor);
        }
        number
    }

    /// A light activity does something for the first time.
    pub(super) fn begin_light(&self, number: u32, first: Source) {
        let known = self
            .unborn
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(number);
        let reception = Reception {
            own: token_of(number),
            first,
            arrivals: None,
            direct: 0,
        };
        let cursor = Cursor::light(self.trace.events(number), reception);
        let runner = Arc::new(Runner {
            number,
            family: OnceLock::new(),
            cursor: Mutex::new(cursor),
            parker: OnceLock::new(),
            ended: AtomicBool::new(false),
            consumed: AtomicBool::new(!known),
            is_foreign: false,
            is_stranger: AtomicBool::new(false),
            is_light: true,
            receives: AtomicBool::new(false),
            is_known: known,
            waiting: Mutex::new(None),
            unwritten: Mutex::new(None),
        });
        self.load(&runner, &mut runner.cursor());
        self.runners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, runner);
    }

    /// A light activity has ended.
    pub(super) fn end_light(&self, runner: &Runner) {
        let mut cursor = runner.cursor();
        let doing = "the activity ended";
        self.settle(runner, &mut cursor, doing);
        match cursor.next {
            Next::End { .. } if cursor.exits() => {
                self.diverge(runner, &cursor, &cursor.describe(), doing)
            }
            Next::End { .. } => self.load(runner, &mut cursor),
            _ => {}
        }
        drop(cursor);
        runner.ended.store(true, SeqCst);
        self.consumed(runner);
        self.runners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&runner.number);
    }

    /// Which message a light activity is to have next. For who runs it, or where nobody can move.
    pub(super) fn next_for(&self, runner: &Runner) -> NextArrival {
        let mut cursor = runner.cursor();
        HOT.with(|hot| hot.quiet.set(cursor.quiet()));
        loop {
            // SAFETY: The caller's.
            let reception = unsafe { cursor.quiet().reception() };
            if cursor.silent_left() > 0 {
                return NextArrival::This(reception.predicted());
            }
            self.check(runner, &cursor, &|| "a turn ended".to_owned());
            match cursor.next {
                Next::Event(event) => {
                    return match reception.named(event) {
                        Some(arrival) => NextArrival::This(reception.outside(arrival)),
                        None => NextArrival::None(false),
                    };
                }
                Next::Tick { .. } => self.load(runner, &mut cursor),
                Next::End { .. } => return NextArrival::None(false),
                Next::Cut { .. } => {
                    self.consumed(runner);
                    return NextArrival::None(true);
                }
            }
        }
    }

    /// A light activity has the message that it was to have. For who runs it.
    pub(super) fn receive(&self, runner: &Runner, arrival: Arrival, tag: u64) {
        let mut cursor = runner.cursor();
        // SAFETY: The caller's.
        let reception = unsafe { cursor.quiet().reception() };
        if cursor.silent_left() > 0 {
            reception.as_predicted();
            cursor.count_down();
            cursor.count(tag);
        } else {
            reception.came(arrival);
            cursor.count(tag);
            self.load(runner, &mut cursor);
        }
    }

    /// A message came that the trace does not have.
    pub(super) fn unexpected_arrival(&self, runner: &Runner, arrival: Arrival) -> ! {
        let cursor = runner.cursor();
        let did = format!("handles {}", self.describe_arrival(arrival));
        self.diverge(runner, &cursor, &cursor.describe(), &did)
    }

    /// Where in its receiver's order a message is that this activity is about to send.
    pub(super) fn position_of(&self, runner: &Runner, key: u64) -> u64 {
        let mut cursor = runner.cursor();
        let doing = || "a message is sent".to_owned();
        let event = self.expect(runner, &mut cursor, &doing);
        let expected = cursor.views.get(key).unwrap_or(0);
        let position = match event {
            None => {
                cursor.count_down();
                expected
            }
            Some(event) if event.kind == Kind::TAKE => expected.wrapping_add(event.number),
            Some(_) => self.diverge(runner, &cursor, &cursor.describe(), &doing()),
        };
        cursor.views.set(key, position.wrapping_add(1));
        cursor.count(tag(key, SEND));
        if event.is_some() {
            self.load(runner, &mut cursor);
        }
        position
    }

    /// What an idle light activity waits for, for people.
    pub(super) fn awaited(&self, runner: &Runner) -> String {
        match self.next_for(runner) {
            NextArrival::This(arrival) => format!("waits for {}", self.describe_arrival(arrival)),
            NextArrival::None(true) => "is at the end of its recording".to_owned(),
            _ => "has handled all messages that it had".to_owned(),
        }
    }

    pub(super) fn describe_arrival(&self, arrival: Arrival) -> String {
        if arrival == Arrival::CLOSING {
            return "the end of its system".to_owned();
        }
        let number = arrival.number;
        match arrival.source {
            CONTINUATION => format!("continuation {number} of its own"),
            source if source == DIRECT | NUMBERED => {
                format!("message {number} of those sent to it")
            }
            source => {
                let sender = self
                    .trace
                    .family_name((source & !NUMBERED).saturating_sub(1));
                match source & NUMBERED {
                    0 => format!("a message from {sender}"),
                    _ => format!("message {number} that {sender} sent to a promise"),
                }
            }
        }
    }
}
