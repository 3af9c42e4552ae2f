//! Types implement the traits that std's do; and what has contents crosses threads if std's does, and only then.

use std::{
    fmt::{Debug, Display},
    marker::PhantomData,
    panic::{RefUnwindSafe, UnwindSafe},
};

/// What is not implemented.
trait Otherwise {
    const YES: bool = false;
}

impl<T: ?Sized> Otherwise for T {}

/// Whether a type implements a trait: the constant of the struct, if it is there, is found before the one above.
macro_rules! implements {
    ($type:ty: $trait:path) => {{
        #[allow(dead_code)]
        struct Probe<T: ?Sized>(PhantomData<T>);
        #[allow(dead_code)]
        impl<T: ?Sized + $trait> Probe<T> {
            const YES: bool = true;
        }
        <Probe<$type>>::YES
    }};
}

macro_rules! traits_of {
    ($type:ty) => {
        [
            ("Send", implements!($type: Send)),
            ("Sync", implements!($type: Sync)),
            ("Unpin", implements!($type: Unpin)),
            ("UnwindSafe", implements!($type: UnwindSafe)),
            ("RefUnwindSafe", implements!($type: RefUnwindSafe)),
            ("Debug", implements!($type: Debug)),
            ("Display", implements!($type: Display)),
            ("Default", implements!($type: Default)),
            ("Clone", implements!($type: Clone)),
            ("Copy", implements!($type: Copy)),
            ("PartialEq", implements!($type: PartialEq)),
            ("Eq", implements!($type: Eq)),
            ("PartialOrd", implements!($type: PartialOrd)),
            ("Hash", implements!($type: std::hash::Hash)),
            ("Iterator", implements!($type: Iterator)),
            ("IntoIterator", implements!($type: IntoIterator)),
            ("FusedIterator", implements!($type: std::iter::FusedIterator)),
            ("From<u8>", implements!($type: From<u8>)),
            ("Pointer", implements!($type: std::fmt::Pointer)),
            ("LowerHex", implements!($type: std::fmt::LowerHex)),
        ]
    };
}

/// A type that may be sent but not shared, and one that may be neither.
type SendOnly = std::cell::Cell<u8>;
type Neither = std::rc::Rc<u8>;

type Traits = [(&'static str, bool); 20];

/// Whatever std's type implements, ours does. More does no harm, except where it is about threads and contents.
#[track_caller]
fn compare(name: &str, of_std: Traits, of_reenact: Traits, has_contents: bool) {
    for ((what, of_std), (_, of_reenact)) in of_std.into_iter().zip(of_reenact) {
        assert!(of_reenact || !of_std, "{name} is not {what}");
        let is_of_threads = matches!(what, "Send" | "Sync");
        assert!(
            !(has_contents && is_of_threads) || of_std == of_reenact,
            "{name} is {what}"
        );
    }
}

macro_rules! the_same {
    ($has_contents:literal, $($type:ident $(:: $more:ident)* $(<$($argument:tt),*>)?),* $(,)?) => {$(
        compare(
            stringify!($type $(:: $more)* $(<$($argument),*>)?),
            traits_of!(std::$type $(:: $more)* $(<$($argument),*>)?),
            traits_of!(reenact::$type $(:: $more)* $(<$($argument),*>)?),
            $has_contents,
        );
    )*};
}

macro_rules! the_same_of_all_contents {
    ($($type:ident $(:: $more:ident)* $(<$lifetime:lifetime>)?),* $(,)?) => {$(
        the_same!(
            true,
            $type $(:: $more)* <$($lifetime,)? u8>,
            $type $(:: $more)* <$($lifetime,)? SendOnly>,
            $type $(:: $more)* <$($lifetime,)? Neither>,
        );
    )*};
}

#[test]
fn locks_have_the_traits_of_std() {
    the_same_of_all_contents!(
        sync::Mutex,
        sync::MutexGuard<'static>,
        sync::RwLock,
        sync::RwLockReadGuard<'static>,
        sync::RwLockWriteGuard<'static>,
        sync::OnceLock,
        sync::LazyLock,
    );
    the_same!(
        false,
        sync::Condvar,
        sync::WaitTimeoutResult,
        sync::Barrier,
        sync::BarrierWaitResult,
        sync::Once,
        sync::OnceState,
    );
}

#[test]
fn channels_have_the_traits_of_std() {
    the_same_of_all_contents!(
        sync::mpsc::Sender,
        sync::mpsc::SyncSender,
        sync::mpsc::Receiver,
        sync::mpsc::Iter<'static>,
        sync::mpsc::TryIter<'static>,
        sync::mpsc::IntoIter,
        sync::mpsc::SendError,
        sync::mpsc::TrySendError,
    );
    the_same!(
        false,
        sync::mpsc::RecvError,
        sync::mpsc::TryRecvError,
        sync::mpsc::RecvTimeoutError,
    );
}

#[test]
fn atomics_have_the_traits_of_std() {
    the_same!(
        false,
        sync::atomic::AtomicBool,
        sync::atomic::AtomicI8,
        sync::atomic::AtomicI16,
        sync::atomic::AtomicI32,
        sync::atomic::AtomicI64,
        sync::atomic::AtomicIsize,
        sync::atomic::AtomicU8,
        sync::atomic::AtomicU16,
        sync::atomic::AtomicU32,
        sync::atomic::AtomicU64,
        sync::atomic::AtomicUsize,
    );
    the_same_of_all_contents!(sync::atomic::AtomicPtr);
}

#[test]
fn threads_have_the_traits_of_std() {
    the_same_of_all_contents!(
        thread::JoinHandle,
        thread::ScopedJoinHandle<'static>,
        thread::LocalKey,
    );
    the_same!(
        false,
        thread::Thread,
        thread::ThreadId,
        thread::Builder,
        thread::Scope<'static, 'static>,
        thread::AccessError,
    );
}
