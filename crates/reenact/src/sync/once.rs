//! `Once`: a flag of which changes are recorded, and a recorded lock for those who come before it is set.
//!
//! To others it is one object with operations of its own, whatever it is made of: [`Ops`].

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
    Access, Entity, Op,
    raw::{RawCondvar, RawMutex},
};

/// Runs something once: [`std::sync::Once`], recorded.
///
/// # State
///
/// `state` is written only with `lock`: new → done, or new → poisoned (→ done by force). Who has the lock reads it as it is; who has
/// not, in the order of `flag`.
///
/// | field | what it is the order of |
/// |---|---|
/// | `flag` | changes of `state`, and looks at it without the lock |
/// | `running` | who has `lock` |
/// | `changed` | nothing: who waits until `state` changes, and who says that it has, are known by it |
pub struct Once {
    state: AtomicU8,
    flag: Entity,
    lock: RawMutex,
    running: Entity,
    signal: RawCondvar,
    changed: Entity,
}

const NEW: u8 = 0;
const POISONED: u8 = 1;
const DONE: u8 = 2;

/// The operations of something that is done once, by the words of what it is.
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

/// They have the codes of what they are made of: of locks, atomics and conditions.
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

/// What [`Once::call_once_force`] tells the closure.
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
    /// Nothing has run yet.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "std's has none")]
    #[track_caller]
    pub const fn new() -> Once {
        Once {
            state: AtomicU8::new(NEW),
            flag: Entity::new(),
            lock: RawMutex::new(),
            running: Entity::new(),
            signal: RawCondvar::new(),
            changed: Entity::new(),
        }
    }

    /// Runs `f` unless some closure has been run to its end before; waits for one that is running.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if !self.is_completed() {
            self.run(&ONCE, false, |_| f());
        }
    }

    /// As [`Once::call_once`], but after a panic too.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        self.call_once_force_as(&ONCE, f);
    }

    /// The same for what is built on it and has operations of its own.
    #[inline]
    #[track_caller]
    pub(super) fn call_once_force_as<F: FnOnce(&OnceState)>(&self, ops: &'static Ops, f: F) {
        if !self.is_completed_as(ops) {
            self.run(ops, true, f);
        }
    }

    /// Whether some closure has been run to its end.
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

    /// Waits until some closure has been run to its end.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_as(&ONCE, false);
    }

    /// As [`Once::wait`], ignoring panics.
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
        let mut outcome = Outcome {
            once: self,
            ops,
            state: POISONED,
        };
        f(&OnceState { poisoned });
        outcome.state = DONE;
    }

    #[track_caller]
    fn lock(&self, ops: &'static Ops) -> Locked<'_> {
        self.running.take(
            ops.run,
            || self.lock.try_lock().then_some(()),
            || self.lock.lock(),
            |()| self.lock.unlock(),
        );
        Locked { once: self, ops }
    }
}

/// Who may run a closure, and change the state.
struct Locked<'a> {
    once: &'a Once,
    ops: &'static Ops,
}

impl Locked<'_> {
    /// Waits until somebody says that the state has changed. Others may run a closure meanwhile.
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

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let Once { lock, running, .. } = self.once;
        running.leave(self.ops.leave, Access::Take, || lock.unlock());
    }
}

/// Says what became of the closure, when it returns or panics.
struct Outcome<'a> {
    once: &'a Once,
    ops: &'static Ops,
    state: u8,
}

impl Drop for Outcome<'_> {
    fn drop(&mut self) {
        let Outcome { once, ops, state } = *self;
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
