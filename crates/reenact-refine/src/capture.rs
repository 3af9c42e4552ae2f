//! What to copy of a value at a stop, and the value that was copied.
//!
//! A value is copied in pieces: the bytes of the value itself, and of what it points to, as far as people want to see
//! it. What a pointer refers to is not known when the stop is planned, so the plan says which of the copied bytes are
//! pointers ([`Copy::Behind`], [`Copy::Elements`]).

use reenact_engine::probes::plan::Copy;

use crate::{
    location::{Piece, Place},
    types::{Field, Shape, Type, TypeId, Types},
};

/// The maximum size of a value, in bytes. Of a larger one, the beginning is copied.
const LARGEST: u64 = 512;
/// The maximum number of bytes of a text or of the elements of a vector.
const LONGEST: u16 = 256;
/// How many pointers are followed one after the other.
const DEPTH: u32 = 3;
/// The maximum number of pointers that are followed in one value.
const POINTERS: usize = 12;

/// The copies of a stop, in order.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pub(crate) all: Vec<Copy>,
    size: usize,
}

impl Copies {
    /// Adds a copy; returns the offset of its bytes in what is copied.
    fn add(&mut self, copy: Copy) -> Option<u16> {
        let at = u16::try_from(self.size + 1).ok()?;
        self.all.push(copy);
        self.size += copy.size();
        Some(at)
    }

    /// Adds a register.
    pub(crate) fn register(&mut self, register: u8) -> Option<u16> {
        self.add(Copy::Register(register))
    }

    /// Adds memory at an offset from a register.
    pub(crate) fn memory(&mut self, (register, offset): (u8, i64), length: u16) -> Option<u16> {
        self.add(Copy::Memory {
            register,
            offset,
            length,
        })
    }
}

/// How to put a value together from what was copied.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    pub(crate) ty: TypeId,
    parts: Vec<Part>,
    behind: Vec<Behind>,
}

/// A part of the value itself.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Where it is in the value.
    offset: u64,
    length: u64,
    from: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// What was copied, from this offset on.
    Copied(u16),
    Constant(u64),
    Nowhere,
}

/// Something that the value points to.
#[derive(Clone, Copy, Debug)]
struct Behind {
    /// Where the pointer was copied to.
    pointer: u16,
    /// Where what it points to was copied to, and how much.
    at: u16,
    length: u16,
    /// If it is several elements: where their number was copied to, and their size.
    elements: Option<(u16, u64)>,
}

impl Capture {
    /// Plans to copy a value of this type. `None` if there is too much to copy.
    pub(crate) fn plan(
        types: &Types<'_, '_>,
        ty: TypeId,
        pieces: &[Piece],
        copies: &mut Copies,
    ) -> Option<Capture> {
        let size = types.get(ty).size;
        let mut capture = Capture {
            ty,
            parts: Vec::new(),
            behind: Vec::new(),
        };
        let mut offset = 0;
        for piece in pieces {
            let whole = match piece.size {
                0 => size - offset.min(size),
                size => size,
            };
            let length = whole.min(LARGEST);
            let from = match piece.place {
                _ if length == 0 => Source::Nowhere,
                Place::Register(register) => Source::Copied(copies.register(register)?),
                Place::Memory { register, offset } => {
                    Source::Copied(copies.memory((register, offset), length as u16)?)
                }
                Place::Behind {
                    register,
                    pointer,
                    offset,
                } => {
                    let pointer = copies.memory((register, pointer), 8)?;
                    Source::Copied(copies.add(Copy::Behind {
                        pointer,
                        offset,
                        length: length as u16,
                    })?)
                }
                Place::Constant(value) => Source::Constant(value),
                Place::Nowhere => Source::Nowhere,
            };
            capture.parts.push(Part {
                offset,
                length,
                from,
            });
            offset += whole;
        }
        let parts = capture.parts.clone();
        let copied = move |at: u64, length: u64| {
            let part = parts
                .iter()
                .find(|part| part.offset <= at && at + length <= part.offset + part.length)?;
            match part.from {
                Source::Copied(from) => u16::try_from(u64::from(from) + at - part.offset).ok(),
                _ => None,
            }
        };
        capture.follow(types, ty, 0, &copied, DEPTH, copies);
        Some(capture)
    }

    /// Plans to copy what a part of the value points to. The part has this type and this offset; `copied` returns where
    /// bytes of the value have been copied to.
    fn follow(
        &mut self,
        types: &Types<'_, '_>,
        ty: TypeId,
        at: u64,
        copied: &dyn Fn(u64, u64) -> Option<u16>,
        depth: u32,
        copies: &mut Copies,
    ) {
        if depth == 0 || self.behind.len() >= POINTERS {
            return;
        }
        match Pointing::of(types, ty) {
            Some(Pointing::One { pointer, to }) => {
                let length = types.get(to).size.min(LARGEST) as u16;
                let Some(pointer) = copied(at + pointer, 8).filter(|_| length > 0) else {
                    return;
                };
                let copy = Copy::Behind {
                    pointer,
                    offset: 0,
                    length,
                };
                if let Some(start) = self.behind(pointer, copy, length, None, copies) {
                    let copied = within(start, length);
                    self.follow(types, to, 0, &copied, depth - 1, copies);
                }
            }
            Some(Pointing::Many {
                pointer,
                count,
                element,
            }) => {
                let size = types.get(element).size;
                let (Some(pointer), Some(count)) = (copied(at + pointer, 8), copied(at + count, 8))
                else {
                    return;
                };
                if size == 0 {
                    return;
                }
                // Whole elements only.
                let most = match size {
                    size if size > u64::from(LONGEST) => return,
                    size => LONGEST - LONGEST % size as u16,
                };
                let copy = Copy::Elements {
                    pointer,
                    count,
                    size: size as u32,
                    most,
                };
                let elements = Some((count, size));
                if let Some(start) = self.behind(pointer, copy, most, elements, copies)
                    && types.get(element).shape.may_point()
                {
                    let copied = within(start, most);
                    for index in 0..u64::from(most) / size {
                        self.follow(types, element, index * size, &copied, depth - 1, copies);
                    }
                }
            }
            None => {
                for Field { offset, ty, .. } in types.get(ty).parts() {
                    self.follow(types, ty, at + offset, copied, depth, copies);
                }
            }
        }
    }

    fn behind(
        &mut self,
        pointer: u16,
        copy: Copy,
        length: u16,
        elements: Option<(u16, u64)>,
        copies: &mut Copies,
    ) -> Option<u16> {
        let at = copies.add(copy)?;
        self.behind.push(Behind {
            pointer,
            at,
            length,
            elements,
        });
        Some(at)
    }

    /// Puts the value together; the error says why that is not possible.
    pub(crate) fn value(&self, types: &Types<'_, '_>, copied: &[u8]) -> Result<Value, Missing> {
        let size = types.get(self.ty).size.min(LARGEST) as usize;
        let mut bytes = vec![0; size];
        for part in &self.parts {
            let (start, length) = (part.offset as usize, part.length as usize);
            if length == 0 {
                continue;
            }
            let Some(to) = bytes.get_mut(start..(start + length).min(size)) else {
                continue;
            };
            match part.from {
                Source::Copied(at) => {
                    let from = taken(copied, at, to.len()).filter(|_| is_done(copied, at));
                    let from = from.ok_or(Missing::Unreadable)?;
                    to.copy_from_slice(from);
                }
                Source::Constant(value) => {
                    let value = value.to_le_bytes();
                    let length = to.len().min(8);
                    to[..length].copy_from_slice(&value[..length]);
                }
                Source::Nowhere => return Err(Missing::OptimisedAway),
            }
        }
        let region = |behind: &Behind| {
            let address = taken(copied, behind.pointer, 8)?;
            let length = match behind.elements {
                Some((count, size)) => number(taken(copied, count, 8)?).saturating_mul(size),
                None => u64::MAX,
            };
            let length = length.min(behind.length.into()) as usize;
            let bytes = taken(copied, behind.at, length);
            let bytes = bytes.filter(|_| is_done(copied, behind.at))?;
            Some((number(address), bytes.to_vec()))
        };
        Ok(Value {
            bytes,
            memory: self.behind.iter().filter_map(region).collect(),
        })
    }
}

/// Returns where bytes have been copied to that were copied together to `start`.
fn within(start: u16, length: u16) -> impl Fn(u64, u64) -> Option<u16> {
    move |at, size| {
        let is_inside = at + size <= length.into();
        is_inside.then(|| start + at as u16)
    }
}

/// Returns whether the copy that begins here could be made: the byte before it says so.
pub(crate) fn is_done(copied: &[u8], at: u16) -> bool {
    copied.get(usize::from(at) - 1) == Some(&1)
}

/// Returns copied bytes.
pub(crate) fn taken(copied: &[u8], at: u16, length: usize) -> Option<&[u8]> {
    let at = usize::from(at);
    copied.get(at..at + length)
}

/// Returns a number of up to eight bytes.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let length = bytes.len().min(8);
    word[..length].copy_from_slice(&bytes[..length]);
    u64::from_le_bytes(word)
}

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The compiler has removed it.
    OptimisedAway,
    /// The memory could not be read.
    Unreadable,
}

/// The bytes of a value, and of what it points to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    pub(crate) bytes: Vec<u8>,
    memory: Vec<(u64, Vec<u8>)>,
}

impl Value {
    /// Returns the bytes at an address, as many as were copied, up to a length.
    pub(crate) fn at(&self, address: u64, length: u64) -> &[u8] {
        let found = self.memory.iter().find_map(|(start, bytes)| {
            let offset = address.checked_sub(*start)?;
            bytes.get(usize::try_from(offset).ok()?..)
        });
        let bytes = found.unwrap_or_default();
        &bytes[..bytes.len().min(length as usize)]
    }
}

/// How a type points to other values.
pub(crate) enum Pointing {
    /// To one value: a reference, a `Box`, an `Rc` or an `Arc`.
    One { pointer: u64, to: TypeId },
    /// To several: a slice, a text, a `Vec` or a `String`.
    Many {
        pointer: u64,
        count: u64,
        element: TypeId,
    },
}

impl Pointing {
    /// Returns how a type points to other values, if people want to see those and not the pointer.
    pub(crate) fn of(types: &Types<'_, '_>, id: TypeId) -> Option<Pointing> {
        let ty = types.get(id);
        match &ty.shape {
            Shape::Pointer(Some(to)) if !ty.name.starts_with('*') => Some(Pointing::One {
                pointer: 0,
                to: *to,
            }),
            Shape::Struct(all) => {
                let field = |name: &str| all.fields.iter().find(|field| field.name == name);
                if let (Some(pointer), Some(length)) = (field("data_ptr"), field("length")) {
                    let Shape::Pointer(Some(element)) = types.get(pointer.ty).shape else {
                        return None;
                    };
                    return Some(Pointing::Many {
                        pointer: pointer.offset,
                        count: length.offset,
                        element,
                    });
                }
                if ty.name.starts_with("Vec<") {
                    let length = field("len")?;
                    let (pointer, _) = first_pointer(types, id)?;
                    return Some(Pointing::Many {
                        pointer,
                        count: length.offset,
                        element: *all.parameters.first()?,
                    });
                }
                if ty.name.starts_with("Rc<") || ty.name.starts_with("Arc<") {
                    let (pointer, to) = first_pointer(types, id)?;
                    return Some(Pointing::One { pointer, to });
                }
                None
            }
            _ => None,
        }
    }
}

/// Returns the first pointer in a value of a type: its offset, and what it points to.
fn first_pointer(types: &Types<'_, '_>, ty: TypeId) -> Option<(u64, TypeId)> {
    match &types.get(ty).shape {
        Shape::Pointer(to) => Some((0, (*to)?)),
        Shape::Struct(all) => all.fields.iter().find_map(|field| {
            let (offset, to) = first_pointer(types, field.ty)?;
            Some((field.offset + offset, to))
        }),
        _ => None,
    }
}

impl Type {
    /// Returns all fields that a value may have: those of all variants.
    pub(crate) fn parts(&self) -> Vec<Field> {
        match &self.shape {
            Shape::Struct(all) => all.fields.clone(),
            Shape::Enum(all) => all
                .variants
                .iter()
                .map(|variant| variant.field.clone())
                .collect(),
            _ => Vec::new(),
        }
    }
}

impl Shape {
    /// Whether a value may contain a pointer.
    fn may_point(&self) -> bool {
        matches!(self, Shape::Pointer(_) | Shape::Struct(_) | Shape::Enum(_))
    }
}
