//! The protocol between the exploring process and an execution.
//!
//! Both ends are processes of the same program, one created from the other by `fork`, so statics of the program are at
//! the same addresses in both: operations and source locations are sent as addresses.

use std::{panic::Location, sync::Arc};

use reenact_explore::{Activity, Links, Moment, Step};
use serde::{Deserialize, Serialize};

use crate::{
    Arrival, Op,
    explore::{
        event::{About, Event, Touched},
        failure::Panic,
        gap::Notes,
        names::Met,
        subject::Granularity,
    },
    site::{FoundSite, Site},
};

/// A command to an execution.
#[derive(Serialize, Deserialize)]
pub(super) enum Command {
    /// Takes this step; at this moment, if the strategy tracks dependences. Returns a [`Snapshot`].
    Step(Step, Option<Moment>),
    /// Returns what the pending step of this activity would come after: [`Links`].
    Links(Activity),
    /// Makes steps at least this fine from now on. Returns nothing.
    Refine(Granularity),
    /// Returns what went wrong: a list of [`Failure`](crate::explore::Failure)s.
    Failures,
    /// Returns a [`View`](crate::explore::view::View) of the execution.
    View,
    /// Ends the execution: no activity continues. A program that has reached its end is allowed to exit. There is no
    /// reply.
    End,
}

/// The state of an execution while all activities wait.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Snapshot {
    /// The activities that were created, by parent and index, in this order.
    pub(super) births: Vec<(u32, u32)>,
    /// The names of threads that the program created without Reenact.
    pub(super) foreign: Vec<(u32, String)>,
    /// The objects that were accessed, in this order.
    pub(super) met: Vec<Met>,
    /// The pending operation of each activity, if it has one.
    pub(super) pending: Vec<Option<PendingOperation>>,
    /// The event of the step, and what it comes after, if the strategy tracks dependences.
    pub(super) performed: Option<Performed>,
    /// Whether there is a deadlock, if no activity can continue.
    pub(super) is_deadlock: bool,
    /// How fine steps have turned out to have to be.
    pub(super) learned: Granularity,
    /// Whether the main activity has ended, and the program is about to.
    pub(super) has_ended: bool,
    /// The last panic of the main activity, after the one that caused it.
    pub(super) panics: Vec<(u32, Panic)>,
    /// Whether the execution cannot be continued.
    pub(super) is_interrupted: bool,
    /// What has been noted so far, if something new is among it.
    pub(super) notes: Option<Notes>,
    /// The source locations of the program that were found on stacks.
    pub(super) found: Vec<FoundSite>,
    /// The result of the step, for display.
    pub(super) step_result: Option<String>,
}

/// A pending operation.
#[derive(Serialize, Deserialize)]
pub(super) struct PendingOperation {
    #[serde(with = "EventFields")]
    pub(super) event: Event,
    /// Whether it is enabled, the number of its choices, and how it would go (`State::prospect`).
    pub(super) is_enabled: bool,
    pub(super) choices: u32,
    pub(super) prospect: u64,
    /// The message that it sends, if it is identified by more than its sender.
    pub(super) message: Option<Arrival>,
}

/// A step that was taken.
#[derive(Serialize, Deserialize)]
pub(super) struct Performed {
    #[serde(with = "EventFields")]
    pub(super) event: Event,
    pub(super) links: Links,
}

/// The fields of an [`Event`]. An event is public, so it does not implement `Deserialize` itself: only the messages of
/// this protocol may contain addresses.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Event")]
struct EventFields {
    #[serde(with = "operation")]
    op: Op,
    #[serde(with = "address")]
    site: &'static Location<'static>,
    behind: Option<&'static Site>,
    touch: Touched,
    more: Option<Arc<[Touched]>>,
    about: Option<Arc<About>>,
}

/// Statics of the program, sent as addresses.
pub(in crate::explore) mod address {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(in crate::explore) fn serialize<T, S: Serializer>(
        value: &&'static T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        std::ptr::from_ref(*value)
            .expose_provenance()
            .serialize(serializer)
    }

    pub(in crate::explore) fn deserialize<'de, T, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<&'static T, D::Error> {
        let address = std::ptr::with_exposed_provenance::<T>(usize::deserialize(deserializer)?);
        if address.is_null() || !address.is_aligned() {
            return Err(D::Error::custom("this is the address of nothing"));
        }
        // SAFETY: Only messages of this protocol contain addresses, and both ends of its sockets are created by
        // `fork`ing this program (`Forked::fork`): the sender is this program, with its statics at the same addresses,
        // and has written the address of a static of this type.
        Ok(unsafe { &*address })
    }
}

/// An operation, sent as the address of its description.
mod operation {
    use serde::{Deserializer, Serializer};

    use super::address;
    use crate::Op;

    pub(super) fn serialize<S: Serializer>(op: &Op, serializer: S) -> Result<S::Ok, S::Error> {
        address::serialize(&op.info(), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Op, D::Error> {
        address::deserialize(deserializer).map(Op::new)
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::net::UnixStream};

    use serde::de::DeserializeOwned;

    use super::*;
    use crate::{
        Access,
        explore::{
            BlockedActivity, Failure,
            message::{receive, send},
            names::ObjectSite,
            view::{ActivityPhase, ActivityView, Held, View},
        },
    };

    fn event() -> Event {
        let site = Site::kept("src/main.rs", 3, 5);
        Event {
            behind: Some(site),
            more: Some(Arc::from([Touched::nothing(Access::Wake { timed: true })])),
            about: Some(Arc::new(About {
                label: "double(12)".to_owned(),
                peer: 2,
                sent_at: Some(Some(site)),
            })),
            ..Event::nothing()
        }
    }

    fn snapshot() -> Snapshot {
        let mut links = Links::default();
        links.outside(Moment(3), None);
        links.needs(1, Some(Moment(7)));
        Snapshot {
            births: vec![(0, 1)],
            foreign: vec![(3, "timer".to_owned())],
            met: vec![Met {
                activity: 1,
                operation: 2,
                place: ObjectSite::new(Location::caller(), 1, Location::caller()),
                known: Some(300),
            }],
            pending: vec![
                None,
                Some(PendingOperation {
                    event: event(),
                    is_enabled: true,
                    choices: 2,
                    prospect: u64::MAX,
                    message: Some(Arrival::CLOSING),
                }),
            ],
            performed: Some(Performed {
                event: event(),
                links,
            }),
            found: vec![(7, Some(Site::kept("src/main.rs", 3, 5)))],
            step_result: Some("5".to_owned()),
            learned: Granularity::FINEST,
            ..Snapshot::default()
        }
    }

    fn view() -> View {
        View {
            activities: vec![ActivityView {
                name: "alice".to_owned(),
                status: ActivityPhase::Waits("a signal".to_owned()),
                panic: Some(Panic {
                    message: "no money".to_owned(),
                    place: None,
                }),
                with: Some(2),
                inbox: event().about.into_iter().collect(),
                turn: None,
                shown: Some("Math".to_owned()),
            }],
            objects: vec![Held {
                object: 4,
                holder: Some((1, "src/main.rs:3:5".to_owned())),
                sharers: vec![2],
                waiters: vec![0],
            }],
            watched: vec![("balance".to_owned(), "100".to_owned())],
            failures: vec![Failure::Deadlock(vec![BlockedActivity {
                who: "main".to_owned(),
                what: "lock".to_owned(),
                site: None,
                holder: Some(("main.0".to_owned(), String::new())),
            }])],
        }
    }

    /// Sends a message and what it has become, and checks that no beginning of it is a message.
    fn check<T: Serialize + DeserializeOwned>(message: &T) {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        send(&mut ours, message).unwrap();
        let received: T = receive(&mut theirs).unwrap();
        let bytes = postcard::to_stdvec(message).unwrap();
        assert_eq!(postcard::to_stdvec(&received).unwrap(), bytes);
        for length in 0..bytes.len() {
            assert!(postcard::from_bytes::<T>(&bytes[..length]).is_err());
        }
    }

    #[test]
    fn a_message_arrives_as_it_was_sent() {
        check(&snapshot());
        check(&view());
        let step = Step {
            activity: Activity(3),
            choice: 1,
        };
        check(&Command::Step(step, Some(Moment(0))));
        check(&Command::Refine(Granularity::FINEST));
        let received = postcard::to_stdvec(&snapshot()).unwrap();
        let received: Snapshot = postcard::from_bytes(&received).unwrap();
        let performed = received.performed.unwrap().event;
        assert_eq!(performed, event());
        assert_eq!(performed.line(), event().line());
    }

    #[test]
    fn malformed_messages_are_errors() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        ours.write_all(&u32::MAX.to_le_bytes()).unwrap();
        assert!(receive::<Command>(&mut theirs).is_err());
        // Neither a command nor a list is decoded from these, and no list makes the reader allocate what is not there.
        for byte in [0x80, 0xff] {
            assert!(postcard::from_bytes::<Command>(&[byte; 64]).is_err());
            assert!(postcard::from_bytes::<Snapshot>(&[byte; 64]).is_err());
            assert!(postcard::from_bytes::<View>(&[byte; 64]).is_err());
        }
        // An address that is none.
        assert!(postcard::from_bytes::<Performed>(&[0; 64]).is_err());
    }
}
