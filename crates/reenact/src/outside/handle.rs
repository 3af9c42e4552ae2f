//! Handles to things outside: files, sockets, pipes, directories.

use std::{fmt, io, sync::Arc};

use reenact_engine::{Asked, Op, is_withheld};

use super::{SystemCall, also, ops};

/// What the system returned when something was opened, and its name. A handle that a replay opened has nothing of the
/// system behind it, unless the replay really writes.
pub(crate) struct Handle<T> {
    inner: Option<T>,
    name: HandleName,
}

impl<T> Handle<T> {
    pub(crate) fn new(inner: Option<T>, name: HandleName) -> Handle<T> {
        Handle { inner, name }
    }

    pub(crate) fn name(&self) -> &HandleName {
        &self.name
    }

    /// Returns the system's object.
    pub(crate) fn real(&self) -> io::Result<&T> {
        self.inner.as_ref().ok_or_else(nothing_real)
    }

    /// Returns the name, for calls, and the system's object.
    pub(crate) fn split(&mut self) -> (&HandleName, RealMut<'_, T>) {
        (&self.name, RealMut(self.inner.as_mut()))
    }

    /// Returns a call on this handle, and the system's object.
    pub(crate) fn call_mut(&mut self, op: Op) -> (SystemCall<'_>, RealMut<'_, T>) {
        let (name, real) = self.split();
        (SystemCall::on(op, name), real)
    }

    /// Opens the real object if this is a replay that really writes.
    pub(crate) fn open_in_replay(&mut self, open: impl FnOnce() -> io::Result<T>) {
        if self.inner.is_none() {
            self.inner = also(open);
        }
    }

    /// Takes the system's object, if there is one.
    pub(crate) fn take_real(&mut self) -> Option<T> {
        self.inner.take()
    }

    /// Returns a call on this handle.
    pub(crate) fn call(&self, op: Op) -> SystemCall<'_> {
        SystemCall::on(op, &self.name)
    }

    /// Asks for another handle to the same object.
    #[track_caller]
    pub(crate) fn try_clone(&self, clone: impl Fn(&T) -> io::Result<T>) -> io::Result<Handle<T>> {
        let mut inner = None;
        self.call(ops::CLONE).done(|| {
            inner = Some(clone(self.real()?)?);
            Ok(())
        })?;
        let mut cloned = Handle::new(inner, self.name.clone());
        cloned.open_in_replay(|| clone(self.real()?));
        Ok(cloned)
    }
}

/// The error of a replay where the real object is needed.
pub(crate) fn nothing_real() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "this was opened by a replay, which does not touch the world",
    )
}

/// The system's object behind a handle, for changing it.
pub(crate) struct RealMut<'a, T>(Option<&'a mut T>);

impl<T> RealMut<'_, T> {
    pub(crate) fn get(&mut self) -> io::Result<&mut T> {
        self.0.as_deref_mut().ok_or_else(nothing_real)
    }
}

/// The name of a handle: the path of a file, the address of a peer.
///
/// It is used in messages, and compared in a replay: what was read from one file must be read from a file of the same
/// name.
#[derive(Clone)]
pub(crate) struct HandleName {
    text: Arc<str>,
    asked: Asked,
    withheld: bool,
}

impl HandleName {
    /// Creates the name `text` of a resource of this kind.
    pub(crate) fn new(kind: &str, text: impl fmt::Display) -> HandleName {
        let text: Arc<str> = text.to_string().into();
        HandleName {
            asked: Asked::bytes(text.as_bytes()),
            withheld: is_withheld(kind, &text),
            text,
        }
    }

    /// Returns the name in the form that a replay compares.
    pub(crate) fn asked(&self) -> Asked {
        self.asked
    }

    /// Whether data read from there must be kept out of the trace.
    pub(crate) fn is_withheld(&self) -> bool {
        self.withheld
    }
}

impl fmt::Display for HandleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for HandleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}
