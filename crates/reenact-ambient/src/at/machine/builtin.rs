//! The built-in methods of numbers, booleans, texts, lists and `system`, and printing of values.

use super::{Evaluated, MAX_LENGTH, Machine};
use crate::at::{
    actor::HeapEntry,
    code::{ClassId, SiteId},
    value::{FarKind, Value},
};

/// Maximum depth to which lists are compared and printed.
const MAX_DEPTH: u32 = 8;

/// Maximum number of elements that are compared.
const MAX_COMPARED: usize = 1_000_000;

impl Machine<'_> {
    /// Returns the library class of a value, if it has one.
    pub(super) fn library_class(&self, value: Value) -> Option<ClassId> {
        let library = self.code.library;
        match (value, self.actor.entry(value)) {
            (Value::Int(_) | Value::Float(_), _) => Some(library.number),
            (Value::Bool(_), _) => Some(library.bool),
            (_, Some(HeapEntry::List(_))) => Some(library.list),
            _ => None,
        }
    }

    /// Calls a built-in method. Returns `None` if there is no such method.
    pub(super) fn builtin(
        &mut self,
        receiver: Value,
        name: &str,
        args: &[Value],
        site: SiteId,
    ) -> Evaluated<Option<Value>> {
        let value = match (receiver, name, args) {
            (_, "==", &[other]) => Value::Bool(self.is_equal(receiver, &[other], site)?),
            (_, "!=", &[other]) => Value::Bool(!self.is_equal(receiver, &[other], site)?),
            (Value::System, "println", &[value]) => {
                let text = self.show(value);
                self.charge(text.len());
                self.actor.printed.push(self.texts.id(&text));
                Value::Null
            }
            (Value::Bool(value), "not", []) => Value::Bool(!value),
            (Value::Int(a), "negate", []) => match a.checked_neg() {
                Some(number) => Value::Int(number),
                None => return Err(self.error(site, "the number is too large")),
            },
            (Value::Float(a), "negate", []) => Value::float(-f64::from_bits(a)),
            (Value::Int(a), _, &[Value::Int(b)]) => return self.whole(a, name, b, site),
            (Value::Int(_) | Value::Float(_), _, &[other @ (Value::Int(_) | Value::Float(_))]) => {
                return Ok(floating(number(receiver), name, number(other)));
            }
            (Value::Text(_), "+", &[other]) | (_, "+", &[other @ Value::Text(_)]) => {
                let text = self.show(receiver) + &self.show(other);
                if text.len() > MAX_LENGTH {
                    return Err(self.error(site, "the text is too long"));
                }
                self.charge(text.len());
                Value::Text(self.texts.id(&text))
            }
            (Value::Text(a), "<", &[Value::Text(b)]) => {
                Value::Bool(self.texts.get(a) < self.texts.get(b))
            }
            (Value::Text(a), "length", []) => Value::Int(self.texts.get(a).chars().count() as i64),
            _ => return self.of_list(receiver, name, args, site),
        };
        Ok(Some(value))
    }

    fn of_list(
        &mut self,
        receiver: Value,
        name: &str,
        args: &[Value],
        site: SiteId,
    ) -> Evaluated<Option<Value>> {
        let Some(HeapEntry::List(values)) = self.actor.entry(receiver) else {
            return Ok(None);
        };
        Ok(Some(match (name, args) {
            ("length", []) => Value::Int(values.len() as i64),
            ("isEmpty", []) => Value::Bool(values.is_empty()),
            ("rest", []) => {
                let rest = values.get(1..).unwrap_or_default().to_vec();
                self.charge(rest.len());
                self.actor.alloc(HeapEntry::List(rest))
            }
            ("contains", &[value]) => {
                let values = values.clone();
                Value::Bool(self.is_equal(value, &values, site)?)
            }
            ("+", &[other]) => {
                let Some(HeapEntry::List(more)) = self.actor.entry(other) else {
                    return Ok(None);
                };
                let joined: Vec<Value> = values.iter().chain(more).copied().collect();
                if joined.len() > MAX_LENGTH {
                    return Err(self.error(site, "the list is too long"));
                }
                self.charge(joined.len());
                self.actor.alloc(HeapEntry::List(joined))
            }
            _ => return Ok(None),
        }))
    }

    fn whole(&self, a: i64, name: &str, b: i64, site: SiteId) -> Evaluated<Option<Value>> {
        let result = match name {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "/" | "%" if b == 0 => return Err(self.error(site, "division by zero")),
            "/" if a.checked_rem(b) != Some(0) => return Ok(floating(a as f64, "/", b as f64)),
            "/" => a.checked_div(b),
            "%" => a.checked_rem_euclid(b),
            "max" => Some(a.max(b)),
            "min" => Some(a.min(b)),
            "<" => return Ok(Some(Value::Bool(a < b))),
            "<=" => return Ok(Some(Value::Bool(a <= b))),
            ">" => return Ok(Some(Value::Bool(a > b))),
            ">=" => return Ok(Some(Value::Bool(a >= b))),
            _ => return Ok(None),
        };
        match result {
            Some(number) => Ok(Some(Value::Int(number))),
            None => Err(self.error(site, "the number is too large")),
        }
    }

    /// Whether a value equals one of these. Numbers are compared by value, lists by their elements, everything else by
    /// identity.
    fn is_equal(&mut self, value: Value, these: &[Value], site: SiteId) -> Evaluated<bool> {
        let mut left = MAX_COMPARED;
        for &one in these {
            match self.compare(value, one, 0, &mut left) {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => return Err(self.error(site, "these lists are too large to be compared")),
            }
        }
        self.charge(MAX_COMPARED - left);
        Ok(false)
    }

    /// Returns `None` if it takes more than `left` comparisons.
    fn compare(&self, a: Value, b: Value, depth: u32, left: &mut usize) -> Option<bool> {
        *left = left.checked_sub(1)?;
        Some(match (a, b) {
            (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) if a != b => {
                number(a) == number(b)
            }
            _ => match (self.actor.entry(a), self.actor.entry(b)) {
                (Some(HeapEntry::List(x)), Some(HeapEntry::List(y)))
                    if a != b && depth < MAX_DEPTH =>
                {
                    if x.len() != y.len() {
                        return Some(false);
                    }
                    for (&x, &y) in x.iter().zip(y) {
                        if !self.compare(x, y, depth + 1, left)? {
                            return Some(false);
                        }
                    }
                    true
                }
                _ => a == b,
            },
        })
    }

    /// Returns a value as it is printed.
    pub(crate) fn show(&self, value: Value) -> String {
        let mut text = String::new();
        self.print(value, 0, &mut text);
        text
    }

    fn print(&self, value: Value, depth: u32, out: &mut String) {
        use std::fmt::Write;
        let entry = self.actor.entry(value);
        let result = match (value, entry) {
            (Value::Bool(value), _) => write!(out, "{value}"),
            (Value::Int(number), _) => write!(out, "{number}"),
            (Value::Float(bits), _) => write!(out, "{}", f64::from_bits(bits)),
            (Value::Text(text), _) => write!(out, "{}", self.texts.get(text)),
            (_, Some(HeapEntry::Object { class, .. })) => {
                write!(out, "the {}", self.code.class(*class).name)
            }
            (_, Some(HeapEntry::List(values))) => {
                out.push('[');
                for (at, &one) in values.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    if depth >= MAX_DEPTH || out.len() > MAX_LENGTH / 2 {
                        out.push('…');
                        break;
                    }
                    self.print(one, depth + 1, out);
                }
                out.push(']');
                Ok(())
            }
            _ => write!(out, "{}", plain_name(value, entry)),
        };
        result.expect("writing into a text does not fail");
    }
}

/// Returns how to print a value that has no text of its own.
pub(crate) fn plain_name(value: Value, entry: Option<&HeapEntry>) -> &'static str {
    match (value, entry) {
        (Value::System, _) => "system",
        (Value::Far(far), _) => match far.kind {
            FarKind::Object => "a far reference",
            FarKind::Future => "a far future",
            FarKind::Resolver => "a far resolver",
        },
        (_, Some(HeapEntry::Block { .. })) => "a block",
        (_, Some(HeapEntry::Future(_))) => "a future",
        (_, Some(HeapEntry::Resolver(_))) => "a resolver",
        _ => "null",
    }
}

fn number(value: Value) -> f64 {
    match value {
        Value::Int(number) => number as f64,
        Value::Float(bits) => f64::from_bits(bits),
        other => unreachable!("{other:?} is no number"),
    }
}

fn floating(a: f64, name: &str, b: f64) -> Option<Value> {
    Some(match name {
        "+" => Value::float(a + b),
        "-" => Value::float(a - b),
        "*" => Value::float(a * b),
        "/" => Value::float(a / b),
        "%" => Value::float(a.rem_euclid(b)),
        "max" => Value::float(a.max(b)),
        "min" => Value::float(a.min(b)),
        "<" => Value::Bool(a < b),
        "<=" => Value::Bool(a <= b),
        ">" => Value::Bool(a > b),
        ">=" => Value::Bool(a >= b),
        _ => return None,
    })
}
