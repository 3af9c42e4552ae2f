//! Thread handles and parking.

use std::{
    cell::OnceCell,
    num::NonZero,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use reenact_engine::{
    Birth, current_number,
    explore::wakes_spuriously,
    is_active,
    thread::{self as engine, kept},
};

use crate::{
    ops,
    sync::{Condvar, Mutex},
};

/// A thread: [`std::thread::Thread`], recorded.
#[derive(Clone)]
pub struct Thread {
    /// The system's thread; none if the activity has no system thread of its own.
    raw: Option<std::thread::Thread>,
    name: Option<Arc<str>>,
    id: ThreadId,
    /// None if the activity has no system thread of its own: the engine then keeps it with the activity.
    parking: Option<Arc<Parking>>,
}

/// The identity of a thread. It is the same in a replay as in the recording.
#[derive(Eq, PartialEq, Clone, Copy, Hash, Debug)]
pub struct ThreadId(NonZero<u64>);

impl ThreadId {
    #[inline]
    fn new(activity: Option<u32>) -> ThreadId {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = match activity {
            Some(number) => u64::from(number),
            None => NEXT.fetch_add(1, Ordering::Relaxed),
        };
        ThreadId(NonZero::new(number + 1).expect("one more than something"))
    }

    /// Returns the number of the thread's activity, if it has one.
    fn number(self) -> u32 {
        (self.0.get() - 1) as u32
    }
}

/// Where a thread parks while recording is active: a token under a lock.
#[derive(Default)]
pub(super) struct Parking {
    token: Mutex<bool>,
    came: Condvar,
}

impl Parking {
    /// Takes the token, waiting for it. With a time limit it waits at most once, since parking may wake spuriously.
    #[track_caller]
    pub(super) fn park(&self, timeout: Option<Duration>) {
        let waits = [ops::WAIT_PARKED, ops::WAKE_PARKED];
        let token = self.token.lock_as(ops::PARK);
        let mut token = token.unwrap_or_else(PoisonError::into_inner);
        // To wake without a reason is the same as to wake because a time limit has expired.
        let timeout = match timeout {
            None if !*token => wakes_spuriously(ops::WAKE_SPURIOUSLY).then_some(Duration::ZERO),
            timeout => timeout,
        };
        match timeout {
            None => {
                while !*token {
                    let waited = self.came.wait_as(waits, token);
                    token = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
            Some(timeout) if !*token => {
                let waited = self.came.wait_timeout_as(waits, token, timeout);
                token = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            Some(_) => {}
        }
        *token = false;
    }

    #[track_caller]
    fn unpark(&self) {
        let token = self.token.lock_as(ops::UNPARK);
        *token.unwrap_or_else(PoisonError::into_inner) = true;
        self.came.notify_one_as(ops::WAKE_UP_PARKED);
    }
}

impl Thread {
    #[inline]
    pub(super) fn new(
        raw: Option<std::thread::Thread>,
        name: Option<String>,
        id: ThreadId,
        parking: Option<Arc<Parking>>,
    ) -> Thread {
        let name = name.filter(|_| raw.is_none()).map(Arc::from);
        Thread {
            raw,
            name,
            id,
            parking,
        }
    }

    pub(super) fn parking(&self) -> Arc<Parking> {
        let kept = || kept(self.id.number(), Arc::default);
        self.parking.clone().or_else(kept).unwrap_or_default()
    }

    /// Wakes the thread from its current or next [`park`](super::park).
    #[inline]
    #[track_caller]
    pub fn unpark(&self) {
        match &self.raw {
            Some(raw) if !is_active() => raw.unpark(),
            _ => self.parking().unpark(),
        }
    }

    /// Returns the thread's identity.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// Returns the thread's name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.raw {
            Some(raw) => raw.name(),
            None => self.name.as_deref(),
        }
    }
}

impl std::fmt::Debug for Thread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

thread_local! {
    static CURRENT: OnceCell<Thread> = const { OnceCell::new() };
}

/// Returns a handle to the calling thread.
#[must_use]
pub fn current() -> Thread {
    if let Some((number, name)) = engine::current() {
        return Thread::new(None, name, ThreadId::new(Some(number)), None);
    }
    let fresh = || {
        let id = ThreadId::new(current_number());
        Thread::new(Some(std::thread::current()), None, id, Some(Arc::default()))
    };
    CURRENT
        .try_with(|current| current.get_or_init(fresh).clone())
        .unwrap_or_else(|_| fresh())
}

/// A thread that is about to start, shared between its parent and itself.
pub(super) struct Newcomer {
    id: ThreadId,
    parking: Option<Arc<Parking>>,
}

impl Newcomer {
    #[inline]
    pub(super) fn new(birth: &Birth) -> Newcomer {
        Newcomer {
            id: ThreadId::new(birth.number()),
            // Otherwise the engine keeps the parking place under the activity's number.
            parking: engine::has_own().then(Arc::default),
        }
    }

    pub(super) fn id(&self) -> ThreadId {
        self.id
    }

    pub(super) fn parking(&self) -> Option<Arc<Parking>> {
        self.parking.clone()
    }

    /// Makes the calling thread the announced one, if that has a system thread of its own.
    #[inline]
    pub(super) fn arrive(self) {
        if self.parking.is_none() {
            return;
        }
        let Newcomer { id, parking } = self;
        let thread = Thread::new(Some(std::thread::current()), None, id, parking);
        CURRENT.with(|current| {
            let _ = current.set(thread);
        });
    }
}
