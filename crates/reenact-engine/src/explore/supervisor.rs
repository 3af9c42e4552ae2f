//! What all executions of a search share: its time limit, and what they note.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use super::gap::{Gap, Notes, Reads};

/// Interrupts the executions of a search when its time is up, and collects their notes.
///
/// # State
///
/// | field | set by | read by |
/// |---|---|---|
/// | `is_interrupted` | the thread that waits for the search | executions, before each step |
/// | `until` | the search | the thread that waits for it; executions in processes of their own |
/// | `notes` | executions | the search |
/// | `threads` | each thread that explores | the thread that waits for the search |
///
/// Relaxed suffices for the flag: no data is published through it.
#[derive(Default)]
pub struct Supervisor {
    is_interrupted: AtomicBool,
    until: Mutex<Option<Instant>>,
    notes: Mutex<Notes>,
    has_news: AtomicBool,
    threads: Mutex<Vec<libc::pid_t>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Supervisor {
    /// Returns whether executions are to end before their next step.
    #[inline]
    pub(super) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Relaxed)
    }

    /// Limits executions, including the current ones, to the time before this instant.
    pub(super) fn limit_time(&self, limit: Option<Instant>) {
        let mut until = lock(&self.until);
        *until = limit;
        self.is_interrupted.store(false, Relaxed);
    }

    pub(super) fn until(&self) -> Option<Instant> {
        *lock(&self.until)
    }

    /// Returns whether the time is up.
    pub(super) fn is_late(&self) -> bool {
        self.until().is_some_and(|until| Instant::now() >= until)
    }

    /// Interrupts the executions if their time is up.
    pub(super) fn interrupt_if_late(&self) {
        let until = lock(&self.until);
        if until.is_some_and(|until| Instant::now() >= until) {
            self.is_interrupted.store(true, Relaxed);
        }
    }

    pub(super) fn note(&self, gap: Gap) {
        lock(&self.notes).add(gap);
        self.has_news.store(true, Relaxed);
    }

    pub(super) fn note_read(&self, reads: Reads) {
        let mut notes = lock(&self.notes);
        if !notes.reads.has(reads) {
            notes.reads = notes.reads.or(reads);
            self.has_news.store(true, Relaxed);
        }
    }

    pub(super) fn add(&self, notes: Notes) {
        lock(&self.notes).add_all(notes);
    }

    pub(super) fn notes(&self) -> Notes {
        lock(&self.notes).clone()
    }

    /// Returns the notes if there are new ones since the last call.
    pub(super) fn news(&self) -> Option<Notes> {
        self.has_news.swap(false, Relaxed).then(|| self.notes())
    }

    /// Notes that the calling thread explores.
    pub(super) fn enter(&self) {
        lock(&self.threads).push(current_thread());
    }

    /// Notes that the calling thread does not explore any more.
    pub(super) fn leave(&self) {
        let mut threads = lock(&self.threads);
        let this = current_thread();
        if let Some(at) = threads.iter().position(|&thread| thread == this) {
            threads.swap_remove(at);
        }
    }

    /// Returns the threads that explore.
    pub(super) fn threads(&self) -> Vec<libc::pid_t> {
        lock(&self.threads).clone()
    }
}

fn current_thread() -> libc::pid_t {
    rustix::thread::gettid().as_raw_nonzero().get()
}
