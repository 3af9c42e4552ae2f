//! The requests of a server that have no response yet: how many there are, and that there are none any more.
//!
//! A replay has all requests of a recording at hand, and would hand on millions before the first is answered. So it waits
//! until there is *room*: until no more are unanswered than might have been then. In the recording there were at most so
//! many, when this request came, though all those before it had come; so the replay comes to that point as well.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reenact_engine::Fact;

/// At first there is room for so many.
pub(crate) const ROOM: u64 = 64;

/// The requests without a response.
#[derive(Default)]
pub(crate) struct Crowd {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    unanswered: u64,
    /// Somebody waits until there are fewer than so many.
    room: Option<(u64, Arc<Fact>)>,
    /// Established when there are none, once no more come.
    none: Option<Arc<Fact>>,
}

/// The place of a request in the crowd, until it is answered or gone.
pub(crate) struct Place(Arc<Crowd>);

impl Crowd {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(self: &Arc<Crowd>) -> Place {
        self.state().unanswered += 1;
        Place(Arc::clone(self))
    }

    pub(crate) fn unanswered(&self) -> u64 {
        self.state().unanswered
    }

    /// In a replay: waits until fewer than so many are unanswered.
    pub(crate) fn wait_for_room(&self, room: u64) {
        let fact = Arc::new(Fact::new());
        {
            let mut state = self.state();
            if state.unanswered < room {
                return;
            }
            state.room = Some((room, Arc::clone(&fact)));
        }
        fact.wait_if_controlled(&|| format!("fewer than {room} requests without a response"));
    }

    /// No more come: establishes `none` when all are answered.
    pub(crate) fn close(&self, none: Arc<Fact>) {
        let mut state = self.state();
        match state.unanswered {
            0 => none.establish(),
            _ => state.none = Some(none),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.unanswered -= 1;
        let unanswered = state.unanswered;
        let room = state.room.take_if(|(room, _)| unanswered < *room);
        let none = state.none.take_if(|_| unanswered == 0);
        drop(state);
        for fact in room.map(|(_, fact)| fact).into_iter().chain(none) {
            fact.establish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_left_when_the_last_one_goes_after_the_end() {
        let (crowd, none) = (Arc::new(Crowd::default()), Arc::new(Fact::new()));
        let places = [crowd.enter(), crowd.enter()];
        assert_eq!(crowd.unanswered(), 2);
        crowd.close(Arc::clone(&none));
        let [first, last] = places;
        drop(first);
        assert!(!none.is_established());
        drop(last);
        assert!(none.is_established());

        let (crowd, none) = (Arc::new(Crowd::default()), Arc::new(Fact::new()));
        drop(crowd.enter());
        crowd.close(Arc::clone(&none));
        assert!(none.is_established());
    }
}
