//! The activities of a trace, those that are alike at once.
//!
//! A few bytes of a trace can stand for four billion activities. Whoever goes through a trace by crowds needs time and
//! memory for those bytes, not for what they claim.

use super::Trace;
use crate::family::ActivityInfo;

/// Activities with consecutive numbers whose streams of events are equal. Their origins are the same, and their indices
/// consecutive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crowd {
    /// The first of them.
    pub first: ActivityInfo,
    /// How many there are.
    pub count: u32,
}

impl Trace {
    /// Returns all activities by number.
    pub fn crowds(&self) -> impl Iterator<Item = Crowd> {
        self.catalog.rows().iter().flat_map(move |row| {
            let end = u64::from(row.first()) + u64::from(row.count());
            let mut next = u64::from(row.first());
            std::iter::from_fn(move || {
                let number = u32::try_from(next).ok().filter(|_| next < end)?;
                let until = self.family.alike_until(number).min(end);
                let crowd = Crowd {
                    first: self.family.info(number),
                    count: (until - next) as u32,
                };
                next = until;
                Some(crowd)
            })
        })
    }
}
