//! Text for actors and messages, for types that implement `Debug`.
//!
//! Whether a type implements `Debug` is known where it is named, which is in the code that the attribute
//! [`actor`](macro@crate::actor) generates. So that code passes along how to show the actor, with every message; it is
//! registered here by type when a message is labelled.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError},
};

/// Maximum length of a text.
const LONGEST: usize = 500;

/// How to show an actor of some type.
type Inspector<A> = Box<dyn Fn(&A) -> Option<String> + Send + Sync>;

static INSPECTORS: Mutex<BTreeMap<TypeId, Box<dyn Any + Send + Sync>>> =
    Mutex::new(BTreeMap::new());

/// Registers how to show an actor of this type.
pub(super) fn register<A: 'static>(state: impl Fn(&A) -> Option<String> + Send + Sync + 'static) {
    let mut inspectors = INSPECTORS.lock().unwrap_or_else(PoisonError::into_inner);
    inspectors.entry(TypeId::of::<A>()).or_insert_with(|| {
        let inspector: Inspector<A> = Box::new(state);
        Box::new(inspector)
    });
}

/// Returns the text of an actor's state, if it is registered how to show it.
pub(super) fn state_of<A: 'static>(actor: &A) -> Option<String> {
    let inspectors = INSPECTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let inspector = inspectors.get(&TypeId::of::<A>())?;
    inspector.downcast_ref::<Inspector<A>>()?(actor)
}

/// A value that may have text: if it is `Debug`, the inherent method below takes precedence over that of [`Hidden`].
#[doc(hidden)]
pub struct Shown<'a, T: ?Sized>(pub &'a T);

impl<T: fmt::Debug + ?Sized> Shown<'_, T> {
    /// Returns the value's text.
    pub fn reenact_text(&self) -> Option<String> {
        let text = || {
            let mut text = Short(String::new());
            // An error means that the text was cut because it was too long.
            let _ = write!(text, "{:?}", self.0);
            text.0
        };
        // A panic in `Debug` must not affect the program.
        catch_unwind(AssertUnwindSafe(text)).ok()
    }
}

/// A value that is not `Debug`.
#[doc(hidden)]
pub trait Hidden {
    /// Returns `None`.
    fn reenact_text(&self) -> Option<String> {
        None
    }
}

impl<T: ?Sized> Hidden for Shown<'_, T> {}

/// Returns the label of a call.
#[doc(hidden)]
pub fn call(method: &str, arguments: &[Option<String>]) -> String {
    let arguments: Vec<_> = arguments
        .iter()
        .map(|argument| argument.as_deref().unwrap_or("_"))
        .collect();
    format!("{method}({})", arguments.join(", "))
}

/// A text of limited length.
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = LONGEST.saturating_sub(self.0.len());
        if more.len() <= room {
            self.0.push_str(more);
            return Ok(());
        }
        let end = (0..=room).rev().find(|&end| more.is_char_boundary(end));
        self.0.push_str(&more[..end.unwrap_or(0)]);
        self.0.push('…');
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Opaque;

    fn generic<T>(value: &T) -> Option<String> {
        Shown(value).reenact_text()
    }

    #[test]
    fn what_is_debug_is_shown() {
        assert_eq!(Shown(&12).reenact_text().as_deref(), Some("12"));
        assert_eq!(Shown(&Opaque).reenact_text(), None);
        // The type parameter has no `Debug` bound, so the type is not known to implement it.
        assert_eq!(generic(&12), None);
        let labels = [Shown(&"a").reenact_text(), Shown(&Opaque).reenact_text()];
        assert_eq!(call("set", &labels), "set(\"a\", _)");
    }

    #[test]
    fn what_is_long_is_cut() {
        let text = Shown(&"ä".repeat(LONGEST)).reenact_text().unwrap();
        assert!(text.len() <= LONGEST + '…'.len_utf8());
        assert!(text.ends_with('…'));
    }

    #[test]
    fn an_actor_is_shown_once_it_is_known_how() {
        struct Actor(u32);
        assert_eq!(state_of(&Actor(1)), None);
        register(|actor: &Actor| Some(actor.0.to_string()));
        assert_eq!(state_of(&Actor(2)).as_deref(), Some("2"));
    }
}
