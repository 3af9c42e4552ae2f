//! `Once`: a flag whose changes are recorded, and a recorded lock for threads that arrive before it is set.
//!
//! To the outside it is one object with operations of its own: [`Ops`].

use std::{
    fmt,
    mem::offset_of,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::atomic::{
        AtomicU8,
        Ordering::{Acquire, Release},
    },
};

use reenact_engine::{
    Access, Object, Op,
    raw::{RawCondvar, RawMutex},
};

/// Runs a closure once: [`std::sync::Once`], recorded.
///
/// # State
///
/// `state` is written only under `lock`: new → done, or new → poisoned (→ done by force). The holder of the lock reads
/// it directly; others read it in the order of `flag`.
///
/// | field | what it orders |
/// |---|---|
/// | `flag` | changes of `state`, and reads of it without the lock |
/// | `running` | acquisitions of `lock` |
/// | `changed` | nothing: it identifies waiting for, and announcing, a change of `state` |
pub struct Once {
    state: AtomicU8,
    flag: Object,
    lock: RawMutex,
    running: Object,
    signal: RawCondvar,
    changed: Object,
}

const NEW: u8 = 0;
const POISONED: u8 = 1;
const DONE: u8 = 2;

/// The operations of a type that runs something once, named after that type.
pub(super) struct Ops {
    check: Op,
    run: Op,
    complete: Op,
    poison: Op,
    leave: Op,
    wait: Op,
    wake: Op,
    notify: Op,
}

/// Their codes are those of the lock, atomic and condition variable operations that they consist of.
macro_rules! once {
    ($($name:ident = $noun:literal;)*) => {$(
        pub(super) const $name: Ops = {
            macro_rules! op {
                ($code:literal $kind:ident [$words:expr] $part:ident) => {{
                    const INFO: reenact_engine::OpInfo = reenact_engine::OpInfo {
                        code: $code,
                        name: concat!($words, " a ", $noun),
                        kind: reenact_engine::OperationKind::$kind,
                        object: $noun,
                        values: reenact_engine::Values::Hidden,
                        part: Some(offset_of!(Once, $part) as isize - offset_of!(Once, flag) as isize),
                    };
                    Op::new(&INFO)
                }};
            }
            Ops {
                check: op!(9 AtomicRead ["check"] flag),
                run: op!(1 Lock ["run"] running),
                complete: op!(10 AtomicWrite ["complete"] flag),
                poison: op!(10 AtomicWrite ["poison"] flag),
                leave: op!(2 Unlock ["leave"] running),
                wait: op!(7 Wait ["wait for"] changed),
                wake: op!(7 Wake ["go on after"] changed),
                notify: op!(8 Notify ["wake those who wait for"] changed),
            }
        };
    )*};
}

once! {
    ONCE = "once";
    ONCE_LOCK = "once-lock";
    LAZY_LOCK = "lazy-lock";
}

/// The state that [`Once::call_once_force`] passes to its closure.
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Whether an earlier initialisation panicked.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState")
            .field("poisoned", &self.is_poisoned())
            .finish()
    }
}

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

impl Once {
    /// Creates a `Once` that has not run anything yet.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "std's has none")]
    #[track_caller]
    pub const fn new() -> Once {
        Once {
            state: AtomicU8::new(NEW),
            flag: Object::new(),
            lock: RawMutex::new(),
            running: Object::new(),
            signal: RawCondvar::new(),
            changed: Object::new(),
        }
    }

    /// Runs `f` unless a closure has already completed; waits for one that is running.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if !self.is_completed() {
            self.run(&ONCE, false, |_| f());
        }
    }

    /// Runs `f` as [`Once::call_once`] does, even if an earlier closure panicked.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        self.call_once_force_as(&ONCE, f);
    }

    /// Does the same for types that are built on `Once` and have operations of their own.
    #[inline]
    #[track_caller]
    pub(super) fn call_once_force_as<F: FnOnce(&OnceState)>(&self, ops: &'static Ops, f: F) {
        if !self.is_completed_as(ops) {
            self.run(ops, true, f);
        }
    }

    /// Whether a closure has completed.
    #[inline]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.is_completed_as(&ONCE)
    }

    #[inline]
    #[track_caller]
    pub(super) fn is_completed_as(&self, ops: &'static Ops) -> bool {
        let state = || self.state.load(Acquire).into();
        self.flag.observe(ops.check, state) == u64::from(DONE)
    }

    /// Waits until a closure has completed.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_as(&ONCE, false);
    }

    /// Waits as [`Once::wait`] does, ignoring panics.
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_as(&ONCE, true);
    }

    #[track_caller]
    pub(super) fn wait_as(&self, ops: &'static Ops, force: bool) {
        if self.is_completed_as(ops) {
            return;
        }
        let locked = self.lock(ops);
        loop {
            match self.state.load(Acquire) {
                DONE => return,
                POISONED if !force => panic!("Once instance has previously been poisoned"),
                _ => locked.wait(),
            }
        }
    }

    #[cold]
    #[track_caller]
    fn run(&self, ops: &'static Ops, force: bool, f: impl FnOnce(&OnceState)) {
        let _locked = self.lock(ops);
        let state = self.state.load(Acquire);
        if state == DONE {
            return;
        }
        let poisoned = state == POISONED;
        if poisoned && !force {
            panic!("Once instance has previously been poisoned");
        }
        let mut completion = Completion {
            once: self,
            ops,
            state: POISONED,
        };
        f(&OnceState { poisoned });
        completion.state = DONE;
    }

    #[track_caller]
    fn lock(&self, ops: &'static Ops) -> RunPermit<'_> {
        self.running.take(
            ops.run,
            || self.lock.try_lock().then_some(()),
            || self.lock.lock(),
            |()| self.lock.unlock(),
        );
        RunPermit { once: self, ops }
    }
}

/// Holds the lock: permission to run a closure and to change the state.
struct RunPermit<'a> {
    once: &'a Once,
    ops: &'static Ops,
}

impl RunPermit<'_> {
    /// Waits until a change of the state is announced. Other threads may run a closure meanwhile.
    #[track_caller]
    fn wait(&self) {
        let Once {
            lock,
            running,
            signal,
            changed,
            ..
        } = self.once;
        running.wait(
            [self.ops.wait, self.ops.wake],
            changed,
            false,
            || signal.wait(lock, None),
            || lock.unlock(),
            || lock.lock(),
        );
    }
}

impl Drop for RunPermit<'_> {
    fn drop(&mut self) {
        let Once { lock, running, .. } = self.once;
        running.leave(self.ops.leave, Access::Take, || lock.unlock());
    }
}

/// Publishes the outcome of the closure when it returns or panics.
struct Completion<'a> {
    once: &'a Once,
    ops: &'static Ops,
    state: u8,
}

impl Drop for Completion<'_> {
    fn drop(&mut self) {
        let Completion { once, ops, state } = *self;
        let op = match state {
            DONE => ops.complete,
            _ => ops.poison,
        };
        once.flag
            .update(op, || (once.state.store(state, Release), u64::from(state)));
        once.changed
            .announce(ops.notify, Access::Notify { all: true });
        once.signal.notify_all();
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
