//! What a transaction does that has lost against others: wait a little, and in the end have them wait.

use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};

/// After so many failures a transaction gives way to other threads before it tries again.
const YIELDS: u32 = 6;
/// After so many it has others wait.
const INSISTS: u32 = 24;

/// Closed by a transaction that has failed too often: others do not begin to commit until it has. Those that have begun
/// may fail it once more each, and then nobody can.
///
/// # State
///
/// | value | meaning | set by | cleared by |
/// |---|---|---|---|
/// | false | whoever likes commits | | |
/// | true | who closed it commits; all others wait before they lock anything | `failed` | who set it, when it has committed, sleeps or unwinds |
static CLOSED: AtomicBool = AtomicBool::new(false);

/// How a transaction fares.
#[derive(Default)]
pub(super) struct Contention {
    failures: u32,
    insists: bool,
}

impl Contention {
    /// An attempt has failed.
    #[cold]
    pub(super) fn failed(&mut self) {
        self.failures += 1;
        if self.failures < YIELDS {
            (0..1 << self.failures).for_each(|_| std::hint::spin_loop());
        } else {
            std::thread::yield_now();
        }
        if self.failures >= INSISTS && !self.insists {
            // Acquire: what the one before wrote is there for us. Pairs with the Release in `relent`.
            self.insists = CLOSED
                .compare_exchange(false, true, Acquire, Relaxed)
                .is_ok();
        }
    }

    /// Waits while another insists. Nothing depends on seeing that at once.
    #[inline(always)]
    pub(super) fn give_way(&self) {
        if CLOSED.load(Relaxed) {
            self.wait_for_opening();
        }
    }

    #[cold]
    fn wait_for_opening(&self) {
        while !self.insists && CLOSED.load(Relaxed) {
            std::thread::yield_now();
        }
    }

    /// Begins anew.
    #[inline(always)]
    pub(super) fn relent(&mut self) {
        if self.insists {
            CLOSED.store(false, Release);
        }
        self.failures = 0;
        self.insists = false;
    }
}

impl Drop for Contention {
    #[inline(always)]
    fn drop(&mut self) {
        self.relent();
    }
}

/// How long to look at a variable that somebody is about to write: its commit is short.
pub(super) struct Patience {
    looks: u32,
    yields: u32,
}

impl Patience {
    /// For who has nothing that others may wait for.
    pub(super) fn long() -> Patience {
        Patience {
            looks: 100,
            yields: 10,
        }
    }

    /// For who may be waited for by those it waits for.
    pub(super) fn short() -> Patience {
        Patience {
            looks: 20,
            yields: 0,
        }
    }

    /// Passes some time. False if that has happened too often.
    #[cold]
    pub(super) fn lasts(&mut self) -> bool {
        if self.looks > 0 {
            self.looks -= 1;
            std::hint::spin_loop();
        } else if self.yields > 0 {
            self.yields -= 1;
            std::thread::yield_now();
        } else {
            return false;
        }
        true
    }
}
