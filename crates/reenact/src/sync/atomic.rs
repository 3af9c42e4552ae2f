//! `std::sync::atomic`, recorded.
//!
//! Every atomic has its own order of the operations that change it. A load is recorded only when another thread has
//! changed the value since this thread last saw it, so polling a flag writes nothing until the flag changes. The memory
//! orderings that the program asks for are used as they are; a replay reproduces the values, not the absence of
//! ordering.

use std::{fmt, panic::RefUnwindSafe, sync::atomic as std_atomic};

pub use std_atomic::{Ordering, compiler_fence, fence};

use reenact_engine::{Change, Object, Op, OpInfo, Values};

use crate::ops;

/// Returns the given operation with this name and this kind of values.
macro_rules! named {
    ($op:expr, $name:expr, $values:ident) => {{
        const INFO: OpInfo = OpInfo {
            name: $name,
            values: Values::$values,
            ..*$op.info()
        };
        const { Op::new(&INFO) }
    }};
}

/// Defines an atomic and the methods that all atomics have. `$to` turns a value into the 64 bits by which the engine
/// knows it, which are `$values`, and `$from` turns them back.
macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident $(<$generic:ident>)?, $value:ty, $values:ident, $to:expr, $from:expr) => {
        $(#[$doc])*
        pub struct $name $(<$generic>)? {
            object: Object,
            inner: std_atomic::$name $(<$generic>)?,
        }

        impl $(<$generic>)? $name $(<$generic>)? {
            /// Creates an atomic with this value.
            #[must_use]
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                Self { object: Object::new(), inner: std_atomic::$name::new(value) }
            }

            /// Returns the value, to which a mutable reference gives access without synchronisation.
            pub fn get_mut(&mut self) -> &mut $value {
                // Changes through the reference are not operations, but a replay knows values from operations: so this
                // is another atomic from here on.
                self.object = self.object.another();
                self.inner.get_mut()
            }

            /// Consumes the atomic and returns its value.
            pub fn into_inner(self) -> $value {
                self.inner.into_inner()
            }

            /// Returns a pointer to the value. Accesses through the pointer are not recorded.
            pub const fn as_ptr(&self) -> *mut $value {
                self.inner.as_ptr()
            }

            /// Loads the value.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                if matches!(order, Ordering::Release | Ordering::AcqRel) {
                    // Panics, before there is an operation.
                    return self.inner.load(order);
                }
                #[allow(clippy::redundant_closure_call)]
                $from(self.object.observe(named!(ops::LOAD, "load", $values), || $to(self.inner.load(order))))
            }

            /// Stores a value.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                if matches!(order, Ordering::Acquire | Ordering::AcqRel) {
                    return self.inner.store(value, order);
                }
                let op = named!(ops::STORE, "store", $values);
                self.object.update(op, || (self.inner.store(value, order), $to(value)));
            }

            /// Stores a value and returns the previous one.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.object.update(named!(ops::MODIFY, "swap", $values), || {
                    let was = self.inner.swap(value, order);
                    (was, Change::from_to($to(was), $to(value)))
                })
            }

            /// Stores `new` if the value is `current`. Returns the previous value, as `Ok` if it was `current`.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(&self, current: $value, new: $value, success: Ordering, failure: Ordering)
                -> Result<$value, $value>
            {
                if matches!(failure, Ordering::Release | Ordering::AcqRel) {
                    return self.inner.compare_exchange(current, new, success, failure);
                }
                let is_due = || self.inner.load(Ordering::Relaxed) == current;
                self.object.update_if(named!(ops::MODIFY, "compare_exchange", $values), is_due, || {
                    let result = self.inner.compare_exchange(current, new, success, failure);
                    (result, match result {
                        Ok(was) => Change::from_to($to(was), $to(new)),
                        Err(now) => Change::refused($to(now)),
                    })
                })
            }

            /// Stores `new` if the value is `current`. Returns the previous value.
            #[deprecated(note = "use `compare_exchange` or `compare_exchange_weak` instead")]
            #[inline]
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let failure = match order {
                    Ordering::AcqRel => Ordering::Acquire,
                    Ordering::Release => Ordering::Relaxed,
                    order => order,
                };
                match self.compare_exchange(current, new, order, failure) {
                    Ok(was) | Err(was) => was,
                }
            }

            /// Like [`compare_exchange`](Self::compare_exchange), but may fail spuriously; when recording it does not.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(&self, current: $value, new: $value, success: Ordering, failure: Ordering)
                -> Result<$value, $value>
            {
                self.compare_exchange(current, new, success, failure)
            }

            /// Updates the value to `f` of it, unless that is `None`. Returns the previous value, as `Ok` if it was
            /// updated.
            #[inline]
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut now = self.load(fetch_order);
                while let Some(next) = f(now) {
                    match self.compare_exchange_weak(now, next, set_order, fetch_order) {
                        was @ Ok(_) => return was,
                        Err(changed) => now = changed,
                    }
                }
                Err(now)
            }

            /// Updates the value to `f` of it and returns the previous value.
            #[inline]
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> $value,
            ) -> $value {
                match self.try_update(set_order, fetch_order, |value| Some(f(value))) {
                    Ok(was) | Err(was) => was,
                }
            }

            /// The older name of [`try_update`](Self::try_update).
            #[inline]
            #[track_caller]
            pub fn fetch_update<F>(&self, set_order: Ordering, fetch_order: Ordering, f: F) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                self.try_update(set_order, fetch_order, f)
            }
        }

        impl $(<$generic>)? RefUnwindSafe for $name $(<$generic>)? {}

        impl $(<$generic>)? From<$value> for $name $(<$generic>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl $(<$generic>)? fmt::Debug for $name $(<$generic>)? {
            /// Shows the value. This is for debugging: it is not an operation, and not recorded.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }
    };
}

/// Operations that change the value by a function of it and return the previous value.
macro_rules! fetch {
    ($name:ident, $value:ty, $values:ident, $to:expr, $($doc:literal $method:ident = $new:expr;)*) => {
        impl $name {
            $(
                #[doc = $doc]
                #[inline]
                #[track_caller]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    self.object.update(named!(ops::MODIFY, stringify!($method), $values), || {
                        let was = self.inner.$method(value, order);
                        let new: fn($value, $value) -> $value = $new;
                        (was, Change::from_to($to(was), $to(new(was, value))))
                    })
                }
            )*
        }
    };
}

macro_rules! integer {
    ($values:ident: $($name:ident $value:ident;)*) => {$(
        atomic! {
            #[doc = concat!("An integer that threads can share: [`std::sync::atomic::", stringify!($name), "`], recorded.")]
            $name, $value, $values, |value: $value| value as u64, |bits: u64| bits as $value
        }

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }

        fetch! { $name, $value, $values, |value: $value| value as u64,
            "Adds, wrapping around; what the value was." fetch_add = |was, value| was.wrapping_add(value);
            "Subtracts, wrapping around; what the value was." fetch_sub = |was, value| was.wrapping_sub(value);
            "Bitwise and; what the value was." fetch_and = |was, value| was & value;
            "Bitwise nand; what the value was." fetch_nand = |was, value| !(was & value);
            "Bitwise or; what the value was." fetch_or = |was, value| was | value;
            "Bitwise xor; what the value was." fetch_xor = |was, value| was ^ value;
            "Maximum; what the value was." fetch_max = |was, value| was.max(value);
            "Minimum; what the value was." fetch_min = |was, value| was.min(value);
        }
    )*};
}

integer! {
    Signed: AtomicI8 i8; AtomicI16 i16; AtomicI32 i32; AtomicI64 i64; AtomicIsize isize;
}

integer! {
    Unsigned: AtomicU8 u8; AtomicU16 u16; AtomicU32 u32; AtomicU64 u64; AtomicUsize usize;
}

atomic! {
    /// A boolean that threads can share: [`std::sync::atomic::AtomicBool`], recorded.
    AtomicBool, bool, Bool, |value: bool| u64::from(value), |bits: u64| bits != 0
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}

fetch! { AtomicBool, bool, Bool, |value: bool| u64::from(value),
    "Logical and; what the value was." fetch_and = |was, value| was & value;
    "Logical nand; what the value was." fetch_nand = |was, value| !(was & value);
    "Logical or; what the value was." fetch_or = |was, value| was | value;
    "Logical xor; what the value was." fetch_xor = |was, value| was ^ value;
}

impl AtomicBool {
    /// Logical not; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

atomic! {
    /// A pointer that threads can share: [`std::sync::atomic::AtomicPtr`], recorded.
    AtomicPtr<T>, *mut T, Address, |value: *mut T| value.expose_provenance() as u64, |bits: u64| std::ptr::with_exposed_provenance_mut(bits as usize)
}

/// Arithmetic on the address, in steps of `T`, of bytes or of bits; each returns the previous pointer.
macro_rules! pointer_arithmetic {
    ($($doc:literal $method:ident = $new:expr;)*) => {
        impl<T> AtomicPtr<T> {
            $(
                #[doc = $doc]
                #[inline]
                #[track_caller]
                pub fn $method(&self, value: usize, order: Ordering) -> *mut T {
                    self.object.update(named!(ops::MODIFY, stringify!($method), Address), || {
                        let was = self.inner.$method(value, order);
                        let new: fn(*mut T, usize) -> *mut T = $new;
                        let now = new(was, value).expose_provenance();
                        (was, Change::from_to(was.addr() as u64, now as u64))
                    })
                }
            )*
        }
    };
}

pointer_arithmetic! {
    "Moves the pointer forward by `value` elements; what it was." fetch_ptr_add = <*mut T>::wrapping_add;
    "Moves the pointer back by `value` elements; what it was." fetch_ptr_sub = <*mut T>::wrapping_sub;
    "Moves the pointer forward by `value` bytes; what it was." fetch_byte_add = <*mut T>::wrapping_byte_add;
    "Moves the pointer back by `value` bytes; what it was." fetch_byte_sub = <*mut T>::wrapping_byte_sub;
    "Bitwise and with the address; what the pointer was." fetch_and = |was, value| was.map_addr(|bits| bits & value);
    "Bitwise or with the address; what the pointer was." fetch_or = |was, value| was.map_addr(|bits| bits | value);
    "Bitwise xor with the address; what the pointer was." fetch_xor = |was, value| was.map_addr(|bits| bits ^ value);
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    /// Shows the address. This is for debugging: it is not an operation, and not recorded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.inner, f)
    }
}
