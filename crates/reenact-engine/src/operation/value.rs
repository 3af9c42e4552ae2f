//! The values that objects guard, formatted for people.

use std::fmt;

/// How to interpret the 64 bits that the engine keeps of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Values {
    /// Not shown.
    #[default]
    Hidden,
    /// An unsigned number.
    Unsigned,
    /// A signed number.
    Signed,
    /// A boolean.
    Bool,
    /// An address.
    Address,
}

/// The result of reading or changing a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The value now.
    pub now: u64,
    /// The value before, where it is known and was not simply overwritten.
    pub was: Option<u64>,
    /// Whether a conditional change was not made because of the current value.
    pub is_refused: bool,
}

impl From<u64> for Change {
    fn from(now: u64) -> Change {
        Change {
            now,
            was: None,
            is_refused: false,
        }
    }
}

impl Change {
    /// A change from one value to another.
    #[inline]
    pub fn from_to(was: u64, now: u64) -> Change {
        Change {
            was: Some(was),
            ..Change::from(now)
        }
    }

    /// A conditional change that was not made; this is the current value.
    #[inline]
    pub fn refused(now: u64) -> Change {
        Change {
            is_refused: true,
            ..Change::from(now)
        }
    }

    /// Formats it for people; none if the value is not shown.
    pub(crate) fn text(self, values: Values) -> Option<String> {
        let shown = |bits| Shown(bits, values);
        Some(match self {
            _ if values == Values::Hidden => return None,
            Change {
                now,
                is_refused: true,
                ..
            } => format!("failed: it is {}", shown(now)),
            Change {
                now,
                was: Some(was),
                ..
            } => format!("{} -> {}", shown(was), shown(now)),
            Change { now, was: None, .. } => shown(now).to_string(),
        })
    }
}

struct Shown(u64, Values);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(bits, values) = *self;
        match values {
            Values::Hidden => Ok(()),
            Values::Unsigned => write!(f, "{bits}"),
            Values::Signed => write!(f, "{}", bits.cast_signed()),
            Values::Bool => write!(f, "{}", bits != 0),
            Values::Address => write!(f, "{bits:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_as_what_it_is() {
        let text = |change: Change, values| change.text(values).unwrap_or_default();
        assert_eq!(text(3.into(), Values::Unsigned), "3");
        assert_eq!(text((-3i64 as u64).into(), Values::Signed), "-3");
        assert_eq!(text(Change::from_to(0, 1), Values::Bool), "false -> true");
        assert_eq!(text(16.into(), Values::Address), "0x10");
        assert_eq!(
            text(Change::refused(7), Values::Unsigned),
            "failed: it is 7"
        );
        assert_eq!(text(7.into(), Values::Hidden), "");
    }
}
