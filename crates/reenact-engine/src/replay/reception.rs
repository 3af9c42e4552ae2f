//! The order of messages in a replay: which message a light activity handles next.
//!
//! Nothing blocks here. An activity whose next message has not arrived stays idle until it does, and keeps messages
//! that arrive too early; its worker runs other activities meanwhile.

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
    activity_slot::SEND,
    arrivals::{Arrivals, CONTINUATION, DIRECT, NUMBERED, SourceId, source_of, unzigzag},
    mode,
    object::tag,
    record::{LIGHT_BIRTH, token_of},
};

/// The order of a light activity's messages.
pub(super) struct MessageOrder {
    /// The activity's own token.
    own: SourceId,
    /// The expected source of the first message.
    first: SourceId,
    /// `None` as long as all messages have come from `first`.
    arrivals: Option<Box<Arrivals>>,
    /// How many messages have arrived whose senders recorded them.
    direct: u64,
}

impl MessageOrder {
    fn prediction(&self) -> Arrival {
        match &self.arrivals {
            Some(arrivals) => arrivals.predicted(),
            None => Arrival::from(self.first),
        }
    }

    /// Returns the predicted message, as the mailbox identifies it.
    #[inline]
    pub(super) fn predicted(&self) -> Arrival {
        self.outside(self.prediction())
    }

    /// Counts the arrival of the predicted message.
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

    /// Counts the arrival of this message.
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

    /// Converts to the mailbox's identification: if senders record, messages have positions.
    fn outside(&self, arrival: Arrival) -> Arrival {
        match arrival.source {
            DIRECT => Arrival {
                source: DIRECT | NUMBERED,
                number: self.direct,
            },
            _ => arrival,
        }
    }

    /// Returns the message that an event names; `None` if it is not a reception, or invalid.
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
    /// Returns the number of a new light child of this activity.
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

    /// Creates the runner of a light activity before its first operation.
    pub(super) fn begin_light(&self, number: u32, first: SourceId) {
        let known = self
            .not_started
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(number);
        let reception = MessageOrder {
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
            last_operation: OnceLock::new(),
            waiting: Mutex::new(None),
            unwritten: Mutex::new(None),
        });
        self.load(&runner, &mut runner.cursor());
        self.runners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, runner);
    }

    /// Checks the end of a light activity and removes its runner.
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

    /// Returns the message that a light activity handles next. Called by the thread that runs it, or while no activity
    /// can move.
    pub(super) fn next_for(&self, runner: &Runner) -> NextArrival {
        let mut cursor = runner.cursor();
        HOT.with(|hot| hot.fast_path.set(cursor.fast_path()));
        self.resolve_doubt(runner, &mut cursor);
        self.skip_library(runner, &mut cursor, &|| "a turn ended".to_owned());
        loop {
            // SAFETY: The caller runs the activity, or no activity can move; the reference is not used after the next
            // iteration begins.
            let reception = unsafe { cursor.fast_path().reception() };
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

    /// Handles the message that [`Replay::next_for`] returned. Called by the thread that runs the activity.
    pub(super) fn receive(&self, runner: &Runner, arrival: Arrival, tag: u64) {
        let mut cursor = runner.cursor();
        // SAFETY: The caller runs the activity, and this is the only reference.
        let reception = unsafe { cursor.fast_path().reception() };
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

    /// Diverges because of a message that the trace does not have.
    pub(super) fn unexpected_arrival(&self, runner: &Runner, arrival: Arrival) -> ! {
        let cursor = runner.cursor();
        let did = format!("handles {}", self.describe_arrival(arrival));
        self.diverge(runner, &cursor, &cursor.describe(), &did)
    }

    /// Returns the position, in its receiver's order, of a message that this activity is about to send.
    pub(super) fn position_of(&self, runner: &Runner, key: u64) -> u64 {
        let mut cursor = runner.cursor();
        let doing = || "a message is sent".to_owned();
        let event = self.expect(runner, &mut cursor, &doing);
        let expected = cursor.deltas.get(key).unwrap_or(0);
        let position = match event {
            None => {
                cursor.count_down();
                expected
            }
            Some(event) if event.kind == Kind::TAKE => expected.wrapping_add(event.number),
            Some(_) => self.diverge(runner, &cursor, &cursor.describe(), &doing()),
        };
        cursor.deltas.set(key, position.wrapping_add(1));
        cursor.count(tag(key, SEND));
        if event.is_some() {
            self.load(runner, &mut cursor);
        }
        position
    }

    /// Describes what an idle light activity waits for.
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
