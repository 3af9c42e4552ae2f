//! Why a promise will never have a value.

use std::{any::Any, error::Error, fmt, sync::Arc};

/// Why a promise will never have a value. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Broken {
    reason: Arc<Reason>,
}

#[derive(Debug)]
enum Reason {
    Panicked(String),
    Stopped,
    Full,
    Abandoned,
    Circle(String),
    Error(Box<dyn Error + Send + Sync>),
}

impl Broken {
    fn because(reason: Reason) -> Broken {
        Broken {
            reason: Arc::new(reason),
        }
    }

    /// Returns a reason that wraps an error of the program.
    pub fn by(error: impl Error + Send + Sync + 'static) -> Broken {
        Broken::because(Reason::Error(Box::new(error)))
    }

    pub(super) fn panicked(panic: &(dyn Any + Send)) -> Broken {
        let message = panic
            .downcast_ref::<&str>()
            .map(|message| (*message).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned());
        Broken::because(Reason::Panicked(message.unwrap_or_default()))
    }

    pub(super) fn stopped() -> Broken {
        Broken::because(Reason::Stopped)
    }

    pub(super) fn full() -> Broken {
        Broken::because(Reason::Full)
    }

    pub(super) fn abandoned() -> Broken {
        Broken::because(Reason::Abandoned)
    }

    pub(super) fn circle(of: String) -> Broken {
        Broken::because(Reason::Circle(of))
    }

    /// Returns the message of the panic, if the turn that was to give the value panicked.
    pub fn panic_message(&self) -> Option<&str> {
        match &*self.reason {
            Reason::Panicked(message) => Some(message),
            _ => None,
        }
    }

    /// Whether the asked actor has stopped.
    pub fn is_stopped(&self) -> bool {
        matches!(*self.reason, Reason::Stopped)
    }

    /// Whether the mailbox of the asked actor was full.
    pub fn is_full(&self) -> bool {
        matches!(*self.reason, Reason::Full)
    }

    /// Whether the promise is resolved with itself, directly or through others.
    pub fn is_circular(&self) -> bool {
        matches!(*self.reason, Reason::Circle(_))
    }

    /// Returns the program's own error, if it is the reason.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        match &*self.reason {
            Reason::Error(error) => error.downcast_ref(),
            _ => None,
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.reason {
            Reason::Panicked(message) if message.is_empty() => {
                f.write_str("the turn that was to give the value panicked")
            }
            Reason::Panicked(message) => {
                write!(f, "the turn that was to give the value panicked: {message}")
            }
            Reason::Stopped => f.write_str("the actor has stopped"),
            Reason::Full => f.write_str("the actor's mailbox is full"),
            Reason::Abandoned => {
                f.write_str("nobody can resolve the promise any more: its resolver is gone")
            }
            Reason::Circle(of) => write!(f, "a circle of promises that wait for each other: {of}"),
            Reason::Error(error) => error.fmt(f),
        }
    }
}

impl Error for Broken {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &*self.reason {
            Reason::Error(error) => error.source(),
            _ => None,
        }
    }
}
