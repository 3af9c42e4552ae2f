//! The environment variables that the program has read.
//!
//! Which ones these will be is not known when a recording begins. So they are data, like everything that comes from
//! outside; their ids are above those of all others, and no event refers to them.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
};

/// An environment variable that the recorded program has read, as it was when the recording began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: OsString,
    /// Its value.
    pub value: VariableValue,
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableValue {
    /// It was not set.
    Unset,
    /// It had this value.
    Value(OsString),
    /// It had a value, which is not in the trace.
    Withheld,
}

const UNSET: u8 = 0;
const VALUE: u8 = 1;
const WITHHELD: u8 = 2;

impl Variable {
    /// Encodes the variable: which kind of value it has (a byte), the name and, if there is a value, `=` and the value.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (kind, value) = match &self.value {
            VariableValue::Unset => (UNSET, None),
            VariableValue::Value(value) => (VALUE, Some(value)),
            VariableValue::Withheld => (WITHHELD, None),
        };
        let mut bytes = vec![kind];
        bytes.extend_from_slice(self.name.as_bytes());
        if let Some(value) = value {
            bytes.push(b'=');
            bytes.extend_from_slice(value.as_bytes());
        }
        bytes
    }

    /// Decodes a variable; `None` if these bytes are none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Variable> {
        let (&kind, rest) = bytes.split_first()?;
        let (name, value) = match kind {
            UNSET => (rest, VariableValue::Unset),
            WITHHELD => (rest, VariableValue::Withheld),
            VALUE => {
                let end = rest.iter().position(|&byte| byte == b'=')?;
                let value = OsString::from_vec(rest[end + 1..].to_vec());
                (&rest[..end], VariableValue::Value(value))
            }
            _ => return None,
        };
        let is_name = !name.is_empty() && !name.contains(&b'=') && !rest.contains(&0);
        is_name.then(|| Variable {
            name: OsStr::from_bytes(name).to_owned(),
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let values = [
            VariableValue::Unset,
            VariableValue::Withheld,
            VariableValue::Value("".into()),
            VariableValue::Value("a=b".into()),
        ];
        for value in values {
            let name = "NAME".into();
            let variable = Variable { name, value };
            assert_eq!(Variable::from_bytes(&variable.to_bytes()), Some(variable));
        }
    }

    #[test]
    fn bytes_that_are_no_variable_are_refused() {
        for bytes in [
            &b""[..],
            b"\0",
            b"\0A=B",
            b"\x01A",
            b"\x01=B",
            b"\x01A=\0",
            b"\x03A",
            b"\x02A\0B",
        ] {
            assert_eq!(Variable::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
