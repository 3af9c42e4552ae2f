//! Counts the requests of a server that have no response yet.
//!
//! A replay has all requests of a recording at hand, and would deliver millions before the first is answered. So it
//! waits until there is *room*: until no more requests are unanswered than in the recording. When this request arrived
//! there, all earlier ones had arrived and at most that many were unanswered; so the replay reaches that point as well.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reenact_engine::Latch;

/// Initial number of requests for which there is room.
pub(crate) const ROOM: u64 = 64;

/// The requests without a response.
#[derive(Default)]
pub(crate) struct Unanswered {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    unanswered: u64,
    /// A waiter for fewer than this many unanswered requests.
    room: Option<(u64, Arc<Latch>)>,
    /// Established when no request is unanswered, once no more arrive.
    none: Option<Arc<Latch>>,
}

/// Counts a request as unanswered until it is answered or dropped.
pub(crate) struct UnansweredRequest(Arc<Unanswered>);

impl Unanswered {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(self: &Arc<Unanswered>) -> UnansweredRequest {
        self.state().unanswered += 1;
        UnansweredRequest(Arc::clone(self))
    }

    pub(crate) fn count(&self) -> u64 {
        self.state().unanswered
    }

    /// In a replay, waits until fewer than `room` requests are unanswered.
    pub(crate) fn wait_for_room(&self, room: u64) {
        let latch = Arc::new(Latch::new());
        {
            let mut state = self.state();
            if state.unanswered < room {
                return;
            }
            state.room = Some((room, Arc::clone(&latch)));
        }
        latch.wait_if_controlled(&|| format!("fewer than {room} requests without a response"));
    }

    /// Notes that no more requests arrive: `none` is established when all are answered.
    pub(crate) fn close(&self, none: Arc<Latch>) {
        let mut state = self.state();
        match state.unanswered {
            0 => none.establish(),
            _ => state.none = Some(none),
        }
    }
}

impl Drop for UnansweredRequest {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.unanswered -= 1;
        let unanswered = state.unanswered;
        let room = state.room.take_if(|(room, _)| unanswered < *room);
        let none = state.none.take_if(|_| unanswered == 0);
        drop(state);
        for latch in room.map(|(_, latch)| latch).into_iter().chain(none) {
            latch.establish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_left_when_the_last_one_goes_after_the_end() {
        let (unanswered, none) = (Arc::new(Unanswered::default()), Arc::new(Latch::new()));
        let places = [unanswered.enter(), unanswered.enter()];
        assert_eq!(unanswered.count(), 2);
        unanswered.close(Arc::clone(&none));
        let [first, last] = places;
        drop(first);
        assert!(!none.is_established());
        drop(last);
        assert!(none.is_established());

        let (unanswered, none) = (Arc::new(Unanswered::default()), Arc::new(Latch::new()));
        drop(unanswered.enter());
        unanswered.close(Arc::clone(&none));
        assert!(none.is_established());
    }
}
