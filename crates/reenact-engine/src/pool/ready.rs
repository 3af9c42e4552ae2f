//! The queue of carriers that are ready, first in, first out.

use std::cell::Cell;

use super::carrier::Carrier;

/// Ready carriers of one worker; only the worker accesses it.
#[derive(Default)]
pub(super) struct Ready {
    first: Cell<Option<&'static Carrier>>,
    last: Cell<Option<&'static Carrier>>,
}

impl Ready {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    #[inline]
    pub(super) fn push(&self, carrier: &'static Carrier) {
        carrier.set_next(None);
        match self.last.replace(Some(carrier)) {
            Some(last) => last.set_next(Some(carrier)),
            None => self.first.set(Some(carrier)),
        }
    }

    #[inline]
    pub(super) fn pop(&self) -> Option<&'static Carrier> {
        let first = self.first.get()?;
        let next = first.next();
        self.first.set(next);
        if next.is_none() {
            self.last.set(None);
        }
        Some(first)
    }
}
