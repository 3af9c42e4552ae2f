//! Collects errors, so that one compilation reports everything that is wrong with an actor.

use quote::ToTokens;
use syn::{Error, Result};

/// The errors that were found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// Adds an error that points to `tokens`.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, text: impl Into<String>) {
        self.push(Error::new_spanned(tokens, text.into()));
    }

    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the value of `result`, or adds its errors.
    pub(crate) fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns `value` if there was no error.
    pub(crate) fn finish<T>(self, value: T) -> Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}
