//! Scoped threads.
//!
//! They behave like std's, but are not built on them: the end of a scope waits for its threads, and the engine must
//! know of that wait, or a replay could not detect that all activities wait.

use std::{
    io,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use reenact_engine::{Birth, Lineage, pool::wait_aside, thread::Running, untracked};

use super::{Builder, Thread, finished, handle::Newcomer};

/// A scope to spawn threads in: [`std::thread::Scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    shared: Arc<Shared>,
    /// `'scope` and `'env` are both invariant: neither can be shortened nor extended.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// State shared by the threads of a scope.
#[derive(Default)]
struct Shared {
    /// Number of threads whose packet still exists.
    running: Mutex<usize>,
    none_running: Condvar,
    /// Whether a thread panicked that was not joined.
    panicked: AtomicBool,
    lineages: Mutex<Vec<Lineage>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// The result of a thread, which may borrow from the scope. While a packet exists, the scope does not end.
struct Packet<T> {
    shared: Arc<Shared>,
    result: Mutex<Option<super::Result<T>>>,
}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        let result = self
            .result
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(Err(_)) = result {
            self.shared.panicked.store(true, Ordering::Relaxed);
        }
        // Dropped before the scope may end, because the result may borrow from it.
        drop(result);
        let mut running = self
            .shared
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *running -= 1;
        if *running == 0 {
            self.shared.none_running.notify_all();
        }
    }
}

/// Runs `f` with a scope, and waits for all threads spawned in it.
///
/// # Panics
///
/// Panics if a thread of the scope panicked and was not joined.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope {
        shared: Arc::default(),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let shared = &scope.shared;
    // A thread that a scoped thread spawns is appended to the list before its parent ends.
    let mut next = 0;
    while let Some(lineage) = shared.lineage(next) {
        lineage.join();
        next += 1;
    }
    let running = || {
        let running = shared.running.lock();
        running.unwrap_or_else(PoisonError::into_inner)
    };
    wait_aside(|| *running() == 0);
    // For a controller all threads have ended: this does not wait for any of its decisions.
    untracked(|| {
        let none_running = shared
            .none_running
            .wait_while(running(), |running| *running > 0);
        drop(none_running.unwrap_or_else(PoisonError::into_inner));
    });
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(_) if shared.panicked.load(Ordering::Relaxed) => panic!("a scoped thread panicked"),
        Ok(result) => result,
    }
}

impl Shared {
    fn lineage(&self, index: usize) -> Option<Lineage> {
        let lineages = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        lineages.get(index).cloned()
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a thread in the scope.
    ///
    /// # Panics
    ///
    /// Panics if the system cannot start one; use [`Builder::spawn_scoped`] to handle the error.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.start(Builder::new(), f)
            .expect("failed to spawn thread")
    }

    #[track_caller]
    pub(super) fn start<F, T>(
        &'scope self,
        builder: Builder,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let birth = Birth::announce(builder.name.as_deref());
        let lineage = birth.lineage();
        let number = birth.number();
        let newcomer = Newcomer::new(&birth);
        let (id, parking) = (newcomer.id(), newcomer.parking());
        *self
            .shared
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += 1;
        let packet = Arc::new(Packet {
            shared: Arc::clone(&self.shared),
            result: Mutex::new(None),
        });
        let its_packet = Arc::clone(&packet);
        let main = move || {
            let life = birth.begin();
            newcomer.arrive();
            let result = catch_unwind(AssertUnwindSafe(f));
            *its_packet
                .result
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(result);
            drop(life);
            drop(its_packet);
        };
        // SAFETY: All that the closure borrows lives for `'scope`, and the scope does not end before the packet is
        // dropped, which the closure does last.
        let running = unsafe { Running::start(|| builder.raw(), number, main) }?;
        let mut lineages = self
            .shared
            .lineages
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        lineages.push(lineage.clone());
        drop(lineages);
        Ok(ScopedJoinHandle {
            thread: Thread::new(running.thread().cloned(), builder.name, id, parking),
            running,
            packet,
            lineage,
            scope: PhantomData,
        })
    }
}

/// A handle to join a scoped thread.
pub struct ScopedJoinHandle<'scope, T> {
    running: Running<()>,
    packet: Arc<Packet<T>>,
    thread: Thread,
    lineage: Lineage,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Returns the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Waits for the thread to end, and returns what it returned or panicked with.
    #[track_caller]
    pub fn join(self) -> super::Result<T> {
        self.lineage.join();
        wait_aside(|| self.running.is_finished());
        self.running.join()?;
        let mut result = self
            .packet
            .result
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        result.take().expect("a thread leaves its result")
    }

    /// Whether the thread's function has returned.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        finished(&self.lineage, || self.running.is_finished())
    }
}

impl<T> std::fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
