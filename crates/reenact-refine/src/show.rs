//! Shows values as `{:?}` does.

use std::fmt::Write;

use crate::{
    capture::{Pointing, Value, number},
    types::{Enum, Field, Shape, Struct, TypeId, Types},
};

/// How deeply values in values are shown.
const DEPTH: u32 = 8;

/// Shows a value of a type.
pub(crate) fn show(types: &Types<'_, '_>, ty: TypeId, value: &Value) -> String {
    let mut shown = Shown {
        types,
        value,
        text: String::new(),
    };
    shown.value(ty, &value.bytes, DEPTH);
    shown.text
}

/// What stands for something that was not copied.
const MORE: &str = "…";

struct Shown<'t, 'a, 'e> {
    types: &'t Types<'a, 'e>,
    value: &'t Value,
    text: String,
}

impl Shown<'_, '_, '_> {
    fn value(&mut self, id: TypeId, bytes: &[u8], depth: u32) {
        let types = self.types;
        let ty = types.get(id);
        if depth == 0 || (bytes.len() as u64) < ty.size.min(8) {
            return self.text.push_str(MORE);
        }
        if let Some(pointing) = Pointing::of(types, id) {
            return self.pointing(&ty.name, pointing, bytes, depth);
        }
        match &ty.shape {
            Shape::Base(encoding) => self.base(*encoding, ty.size, bytes),
            Shape::Pointer(_) => {
                let _ = write!(self.text, "{:#x}", number(bytes));
            }
            Shape::Struct(all) => self.structure(&ty.name, all, bytes, depth),
            Shape::Enum(all) => self.variant(all, bytes, depth),
            Shape::Names(names) => {
                let value = number(&bytes[..(ty.size as usize).min(bytes.len())]);
                let mask = u64::MAX >> (64 - 8 * ty.size.clamp(1, 8));
                let name = names.iter().find(|(number, _)| number & mask == value);
                match name {
                    Some((_, name)) => self.text.push_str(name),
                    None => {
                        let _ = write!(self.text, "{value}");
                    }
                }
            }
            Shape::Array { element, count } => {
                self.elements(*element, *count, bytes, depth);
            }
            Shape::Union | Shape::Unknown => self.text.push_str(MORE),
        }
    }

    fn base(&mut self, encoding: gimli::DwAte, size: u64, bytes: &[u8]) {
        let bytes = &bytes[..(size as usize).min(bytes.len())];
        let mut wide = [0; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        let unsigned = u128::from_le_bytes(wide);
        let shift = 128 - 8 * bytes.len() as u32;
        let text = &mut self.text;
        let _ = match (encoding, size) {
            (gimli::DW_ATE_boolean, _) => write!(text, "{}", unsigned != 0),
            (gimli::DW_ATE_float, 4) => write!(text, "{:?}", f32::from_bits(unsigned as u32)),
            (gimli::DW_ATE_float, 8) => write!(text, "{:?}", f64::from_bits(unsigned as u64)),
            (gimli::DW_ATE_UTF, _) => match char::from_u32(unsigned as u32) {
                Some(letter) => write!(text, "{letter:?}"),
                None => write!(text, "{unsigned:#x}"),
            },
            (gimli::DW_ATE_signed | gimli::DW_ATE_signed_char, 1..) => {
                write!(text, "{}", (unsigned << shift) as i128 >> shift)
            }
            _ => write!(text, "{unsigned}"),
        };
    }

    fn pointing(&mut self, name: &str, pointing: Pointing, bytes: &[u8], depth: u32) {
        let word = |at: u64| number(bytes.get(at as usize..).unwrap_or_default());
        match pointing {
            Pointing::One { pointer, to } => {
                let target = self.types.get(to);
                let copied = self.value.at(word(pointer), target.size);
                // What `Rc` and `Arc` point to has counters before the data.
                let data = match &target.shape {
                    Shape::Struct(all) if is_counted(&target.name) => {
                        field(all, &["data", "value"])
                    }
                    _ => None,
                };
                match data {
                    Some(data) => {
                        let bytes = copied.get(data.offset as usize..).unwrap_or_default();
                        self.value(data.ty, bytes, depth - 1);
                    }
                    None => self.value(to, copied, depth - 1),
                }
            }
            Pointing::Many {
                pointer,
                count,
                element,
            } => {
                let (address, count) = (word(pointer), word(count));
                let size = self.types.get(element).size;
                let copied = self.value.at(address, size.saturating_mul(count));
                match name.contains("str") && size == 1 && !name.contains('[') {
                    true => self.text_of(copied, count),
                    false => self.elements(element, count, copied, depth),
                }
            }
        }
    }

    /// Shows a text of this length, of which the beginning was copied.
    fn text_of(&mut self, bytes: &[u8], length: u64) {
        let text = String::from_utf8_lossy(bytes);
        let is_whole = bytes.len() as u64 == length;
        let text = match is_whole {
            true => &*text,
            // A letter that was cut in two.
            false => text.trim_end_matches('\u{fffd}'),
        };
        let _ = write!(self.text, "{text:?}");
        if !is_whole {
            self.text.push_str(MORE);
        }
    }

    fn elements(&mut self, element: TypeId, count: u64, bytes: &[u8], depth: u32) {
        let size = self.types.get(element).size as usize;
        self.text.push('[');
        for index in 0..count {
            if index > 0 {
                self.text.push_str(", ");
            }
            let start = index as usize * size;
            match bytes.get(start..start + size) {
                Some(bytes) if index < 64 => self.value(element, bytes, depth - 1),
                _ => {
                    let _ = write!(self.text, "{MORE} {count} in all");
                    break;
                }
            }
        }
        self.text.push(']');
    }

    fn structure(&mut self, name: &str, all: &Struct, bytes: &[u8], depth: u32) {
        let part = |field: &Field| bytes.get(field.offset as usize..).unwrap_or_default();
        if name == "String" {
            // A vector of bytes.
            if let [field] = &all.fields[..]
                && let Some(Pointing::Many { pointer, count, .. }) =
                    Pointing::of(self.types, field.ty)
            {
                let bytes = part(field);
                let word = |at: u64| number(bytes.get(at as usize..).unwrap_or_default());
                let (address, count) = (word(pointer), word(count));
                let copied = self.value.at(address, count);
                return self.text_of(copied, count);
            }
        }
        let name = short(name);
        let only = match &all.fields[..] {
            [field] => Some(field),
            _ => None,
        };
        match (name, only) {
            // As `Debug` shows them: what they contain.
            (
                "UnsafeCell" | "ManuallyDrop" | "MaybeUninit" | "NonZero" | "NonZeroInner",
                Some(field),
            ) => {
                return self.value(field.ty, part(field), depth);
            }
            (name, _) if name.starts_with("Atomic") || name.starts_with("NonZero") => {
                if let Some(field) = all.fields.first() {
                    return self.value(field.ty, part(field), depth);
                }
            }
            ("Mutex" | "RwLock" | "ReentrantLock", _) => {
                if let Some(data) = field(all, &["data"]) {
                    let _ = write!(self.text, "{name} {{ data: ");
                    self.value(data.ty, part(data), depth - 1);
                    return self.text.push_str(", .. }");
                }
            }
            _ => {}
        }
        let is_tuple = all.fields.iter().all(|field| field.name.starts_with("__"));
        match (all.fields.is_empty(), is_tuple) {
            (true, _) if name.is_empty() || name == "()" => self.text.push_str("()"),
            (true, _) => self.text.push_str(name),
            (false, true) => {
                if !name.starts_with('(') {
                    self.text.push_str(name);
                }
                self.text.push('(');
                for (index, field) in all.fields.iter().enumerate() {
                    if index > 0 {
                        self.text.push_str(", ");
                    }
                    self.value(field.ty, part(field), depth - 1);
                }
                if name.starts_with('(') && all.fields.len() == 1 {
                    self.text.push(',');
                }
                self.text.push(')');
            }
            (false, false) => {
                let _ = write!(self.text, "{name} {{ ");
                for (index, field) in all.fields.iter().enumerate() {
                    if index > 0 {
                        self.text.push_str(", ");
                    }
                    let _ = write!(self.text, "{}: ", field.name);
                    self.value(field.ty, part(field), depth - 1);
                }
                self.text.push_str(" }");
            }
        }
    }

    fn variant(&mut self, all: &Enum, bytes: &[u8], depth: u32) {
        let tag = all.tag.as_ref().map(|tag| {
            let size = self.types.get(tag.ty).size as usize;
            let start = tag.offset as usize;
            number(bytes.get(start..start + size).unwrap_or_default())
        });
        let of_tag = all.variants.iter().find(|variant| {
            let mask = all.tag.as_ref().map_or(u64::MAX, |tag| {
                u64::MAX >> (64 - 8 * self.types.get(tag.ty).size.clamp(1, 8))
            });
            tag.is_some() && variant.tag.map(|value| value & mask) == tag
        });
        let of_others = || all.variants.iter().find(|variant| variant.tag.is_none());
        let Some(variant) = of_tag.or_else(of_others) else {
            return self.text.push_str(MORE);
        };
        let field = &variant.field;
        let rest = bytes.get(field.offset as usize..).unwrap_or_default();
        match &self.types.get(field.ty).shape {
            Shape::Struct(all) => {
                let all = all.clone();
                self.structure(&field.name, &all, rest, depth);
            }
            _ => self.value(field.ty, rest, depth),
        }
    }
}

/// Whether a type is what `Rc` or `Arc` points to.
fn is_counted(name: &str) -> bool {
    name.starts_with("ArcInner<") || name.starts_with("RcBox<") || name.starts_with("RcInner<")
}

/// Returns the first field that has one of these names.
fn field<'s>(all: &'s Struct, names: &[&str]) -> Option<&'s Field> {
    all.fields
        .iter()
        .find(|field| names.contains(&&*field.name))
}

/// Returns the name of a type without its parameters.
fn short(name: &str) -> &str {
    match name.starts_with('(') {
        true => name,
        false => name.split('<').next().unwrap_or(name),
    }
}
