//! Queues with what is in them: channels, where they are explored.

use std::{
    collections::VecDeque,
    panic::Location,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    End,
    queue::{Patience, Possible, Queue},
};
use crate::{Fact, Op};

/// A queue with what is in it.
pub struct Channel<T> {
    queue: Queue,
    messages: Mutex<VecDeque<Entry<T>>>,
}

struct Entry<T> {
    message: T,
    /// The sender that waits until it is received.
    offer: Option<Arc<Offer<T>>>,
}

/// A message whose sender waits.
struct Offer<T> {
    /// It was received, or there is nobody who could.
    is_over: Fact,
    back: Mutex<Option<T>>,
}

/// What became of an attempt to send or receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It has happened.
    Done,
    /// There is nobody at the other end any more.
    Closed,
    /// Not in time.
    Late,
}

impl<T> Channel<T> {
    /// With room for so many messages, and nobody at its ends.
    pub fn new(capacity: usize) -> Channel<T> {
        Channel {
            queue: Queue::new(capacity),
            messages: Mutex::new(VecDeque::new()),
        }
    }

    /// As others select from it.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    fn messages(&self) -> MutexGuard<'_, VecDeque<Entry<T>>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends what is in `message`, or receives into it.
    #[inline]
    pub fn operate(
        &self,
        op: Op,
        end: End,
        patience: Patience,
        message: &mut Option<T>,
        site: &'static Location<'static>,
    ) -> Outcome {
        let possible = self.queue.operate(op, end, patience, site);
        let waits = patience == Patience::Forever && !self.queue.has_room();
        self.happen(end, possible, waits, message, site)
    }

    /// What is possible happens. For an offer, waits until it is accepted.
    pub fn happen(
        &self,
        end: End,
        possible: Option<Possible>,
        waits: bool,
        message: &mut Option<T>,
        site: &'static Location<'static>,
    ) -> Outcome {
        let place = match possible {
            None => return Outcome::Late,
            Some(Possible { place: None, .. }) => return Outcome::Closed,
            Some(Possible {
                place: Some(place), ..
            }) => place,
        };
        match end {
            End::Receiving => {
                let mut messages = self.messages();
                let entry = match place {
                    0 => messages.pop_front(),
                    _ => messages.remove(place),
                };
                drop(messages);
                if let Some(Entry {
                    message: sent,
                    offer,
                }) = entry
                {
                    *message = Some(sent);
                    if let Some(offer) = offer {
                        offer.is_over.establish();
                    }
                }
                Outcome::Done
            }
            End::Sending => {
                let Some(sent) = message.take() else {
                    return Outcome::Done;
                };
                let offer = waits.then(|| {
                    Arc::new(Offer {
                        is_over: Fact::new(),
                        back: Mutex::new(None),
                    })
                });
                self.messages().push_back(Entry {
                    message: sent,
                    offer: offer.clone(),
                });
                if let Some(offer) = offer {
                    offer
                        .is_over
                        .wait(&|| format!("somebody to receive what it sends at {site}"));
                    *message = offer
                        .back
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .take();
                    if message.is_some() {
                        return Outcome::Closed;
                    }
                }
                Outcome::Done
            }
        }
    }

    /// One more at this end.
    pub fn one_more(&self, end: End) {
        self.queue.one_more(end);
    }

    /// One less. With the last receiver, whatever is left is lost, or its sender's again.
    pub fn one_less(&self, op: Op, end: End, site: &'static Location<'static>) {
        if self.queue.one_less(op, end, site) && end == End::Receiving {
            let left = std::mem::take(&mut *self.messages());
            for Entry { message, offer } in left {
                match offer {
                    Some(offer) => {
                        let mut back = offer.back.lock().unwrap_or_else(PoisonError::into_inner);
                        *back = Some(message);
                        drop(back);
                        self.queue.because_gone(|| offer.is_over.establish());
                    }
                    None => drop(message),
                }
            }
        }
    }
}
