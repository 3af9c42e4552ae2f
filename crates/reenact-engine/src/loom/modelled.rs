//! loom's atomics and locks, with what `std`'s have besides.
//!
//! They can be made in a constant, because the engine's are. So the object that loom knows is made by the first access
//! in an execution. loom wants all other accesses to happen after that one: a model makes its atomics by `default`, which
//! accesses them, or loads them before it starts threads.
//!
//! loom treats a sequentially consistent access like `AcqRel`, but knows what a sequentially consistent fence is. So
//! there is one before each such access, which is how processors without such accesses do them.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    sync::{
        LockResult, PoisonError,
        atomic::{AtomicU64 as RealAtomicU64, Ordering},
    },
};

pub(crate) use ::loom::{
    sync::atomic::fence,
    thread::{spawn, yield_now},
};

/// What spins does so a few times at most, and loom runs other threads in between anyway.
pub(crate) fn spin_loop() {}

/// The number of the current execution. Each model is in a process of its own, as nextest runs tests.
static EXECUTION: RealAtomicU64 = RealAtomicU64::new(0);

/// Runs `body` in every way that its threads can be interleaved.
pub(crate) fn model(body: impl Fn() + Send + Sync + 'static) {
    model_bounded(None, body);
}

/// Like [`model`], with at most this many preemptions in an execution.
pub(crate) fn model_bounded(preemptions: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = ::loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(preemptions);
    builder.check(move || {
        EXECUTION.fetch_add(1, Ordering::Relaxed);
        body();
    });
}

/// An object of loom's, one in each execution.
struct Modelled<T>(std::sync::Mutex<Option<(u64, Box<T>)>>);

impl<T> Modelled<T> {
    const fn new() -> Modelled<T> {
        Modelled(std::sync::Mutex::new(None))
    }

    fn get(&self, make: impl FnOnce() -> T) -> &T {
        let now = EXECUTION.load(Ordering::Relaxed);
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_none_or(|(of, _)| *of != now) {
            *current = Some((now, Box::new(make())));
        }
        let (_, object) = current.as_ref().expect("it has just been made");
        // SAFETY: The box is dropped with `self`, which is borrowed, or in another execution, whose threads have no
        // reference from this one.
        unsafe { &*std::ptr::from_ref(&**object) }
    }
}

macro_rules! atomic {
    ($visible:vis $name:ident, $value:ty, $($method:ident),*) => {
        $visible struct $name {
            initial: $value,
            modelled: Modelled<::loom::sync::atomic::$name>,
        }

        impl $name {
            pub(crate) const fn new(initial: $value) -> $name {
                $name { initial, modelled: Modelled::new() }
            }

            fn get(&self, order: Ordering) -> &::loom::sync::atomic::$name {
                if order == Ordering::SeqCst {
                    fence(Ordering::SeqCst);
                }
                self.modelled.get(|| ::loom::sync::atomic::$name::new(self.initial))
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.get(order).load(order)
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.get(order).store(value, order);
            }

            $(pub(crate) fn $method(&self, value: $value, order: Ordering) -> $value {
                self.get(order).$method(value, order)
            })*
        }

        impl Default for $name {
            fn default() -> $name {
                let atomic = $name::new(<$value>::default());
                atomic.get(Ordering::Relaxed);
                atomic
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

atomic!(pub(crate) AtomicBool, bool, swap);
atomic!(pub(crate) AtomicU32, u32, swap, fetch_add, fetch_sub, fetch_and, fetch_or);
atomic!(pub AtomicU64, u64, fetch_add);

macro_rules! compare_exchange {
    ($name:ident, $value:ty, $($method:ident),*) => {
        impl $name {
            $(pub(crate) fn $method(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.get(success).$method(current, new, success, failure)
            })*
        }
    };
}

compare_exchange!(AtomicU32, u32, compare_exchange, compare_exchange_weak);
compare_exchange!(AtomicU64, u64, compare_exchange, compare_exchange_weak);

impl AtomicU32 {
    /// Returns an address, which is all that a futex is to the model of the kernel.
    pub(crate) const fn as_ptr(&self) -> *mut u32 {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

impl AtomicU64 {
    pub(crate) fn fetch_update(
        &self,
        success: Ordering,
        failure: Ordering,
        update: impl FnMut(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        self.get(success).fetch_update(success, failure, update)
    }
}

pub(crate) struct Mutex<T> {
    lock: Modelled<::loom::sync::Mutex<()>>,
    data: std::cell::UnsafeCell<T>,
}

// SAFETY: `data` is accessed only through a guard, which has the lock.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    pub(crate) const fn new(data: T) -> Mutex<T> {
        Mutex {
            lock: Modelled::new(),
            data: std::cell::UnsafeCell::new(data),
        }
    }

    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let lock = self.lock.get(|| ::loom::sync::Mutex::new(()));
        let _locked = lock.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(MutexGuard {
            _locked,
            data: self.data.get(),
        })
    }
}

pub(crate) struct MutexGuard<'a, T> {
    _locked: ::loom::sync::MutexGuard<'a, ()>,
    data: *mut T,
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: The lock is held, and the mutex is borrowed.
        unsafe { &*self.data }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: The lock is held, the mutex is borrowed, and so is this guard, exclusively.
        unsafe { &mut *self.data }
    }
}
