//! Promises that are resolved with other promises, and cycles of them.
//!
//! A promise follows at most one other: the one it was resolved with, or the one whose continuation it stands for.
//! Before a promise is made to follow another, this module walks the chain from that one; if the chain leads back,
//! nothing would ever settle any of them.

use std::{
    fmt::Write,
    panic::Location,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::{Broken, Promise, Shared};

/// A promise of any type.
pub(super) trait Link: Send + Sync {
    /// Returns the promise that it follows.
    fn source(&self) -> Option<Arc<dyn Link>>;

    /// Returns what it is a promise of, and where it was created.
    fn described(&self) -> (&'static str, &'static Location<'static>);
}

impl<R: Send + 'static> Link for Shared<R> {
    fn source(&self) -> Option<Arc<dyn Link>> {
        self.state().source.as_ref()?.upgrade()
    }

    fn described(&self) -> (&'static str, &'static Location<'static>) {
        (std::any::type_name::<R>(), self.made_at)
    }
}

impl<R: Send + 'static> Shared<R> {
    /// Notes that this promise is settled when `source` is.
    pub(super) fn follow<S: Send + 'static>(&self, source: &Arc<Shared<S>>) {
        let source: Weak<Shared<S>> = Arc::downgrade(source);
        self.state().source = Some(source);
    }

    /// Makes a promise that the caller has claimed follow the other. If the other waits for this one, breaks this one.
    pub(super) fn follow_to_the_end(this: &Arc<Shared<R>>, other: Promise<R>) {
        /// Serializes the check, so that two calls that close a cycle from both ends see each other.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(circle) = circle(this, &other) {
            drop(one);
            this.notify(Err(Broken::circle(circle)));
            return;
        }
        this.follow(&other.shared);
        drop(one);
        let this = Arc::clone(this);
        other
            .shared
            .subscribe(Box::new(move |outcome| this.notify(outcome)));
    }
}

/// Returns the promises through which `other` waits for `this`, as text.
fn circle<R: Send + 'static>(this: &Arc<Shared<R>>, other: &Promise<R>) -> Option<String> {
    let is_this = |link: &Arc<dyn Link>| std::ptr::addr_eq(Arc::as_ptr(link), Arc::as_ptr(this));
    let mut link: Arc<dyn Link> = Arc::<Shared<R>>::clone(&other.shared);
    let mut circle = String::new();
    loop {
        let (what, place) = link.described();
        let _ = write!(circle, "a promise of {what} made at {place}");
        if is_this(&link) {
            return Some(circle);
        }
        circle.push_str(", which waits for ");
        link = link.source()?;
    }
}
