//! Where functions return their results: the calling convention of Rust functions on x86-64, which debug information
//! does not describe.

use gimli::DW_ATE_float;

use crate::{
    location::{Piece, Place},
    types::{Shape, TypeId, Types},
};

const RAX: u8 = 0;
const RDX: u8 = 1;
const XMM0: u8 = 17;
const XMM1: u8 = 18;

/// A value that fits into a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scalar {
    offset: u64,
    size: u64,
    is_float: bool,
}

/// How a type is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    Nothing,
    Scalar(Scalar),
    Pair(Scalar, Scalar),
    Memory,
}

/// Returns where the result of a function is when it returns.
pub(crate) fn pieces(types: &Types<'_, '_>, ty: TypeId) -> Vec<Piece> {
    let size = types.get(ty).size;
    let piece = |size, register| Piece {
        size,
        place: Place::Register(register),
    };
    match passed(types, ty) {
        Passed::Nothing => Vec::new(),
        Passed::Scalar(scalar) if scalar.is_float => vec![piece(0, XMM0)],
        Passed::Scalar(scalar) if scalar.size > 8 => vec![piece(8, RAX), piece(8, RDX)],
        Passed::Scalar(_) => vec![piece(0, RAX)],
        Passed::Pair(first, second) => {
            let (one, two) = match (first.is_float, second.is_float) {
                (false, false) => (RAX, RDX),
                (false, true) => (RAX, XMM0),
                (true, false) => (XMM0, RAX),
                (true, true) => (XMM0, XMM1),
            };
            let between = second.offset - first.offset - first.size;
            let mut pieces = vec![piece(first.size, one)];
            if between > 0 {
                // What is between the two has no meaning.
                pieces.push(Piece {
                    size: between,
                    place: Place::Constant(0),
                });
            }
            pieces.push(piece(second.size, two));
            pieces
        }
        Passed::Memory if size <= 8 => vec![piece(0, RAX)],
        Passed::Memory => vec![Piece {
            size: 0,
            place: Place::Memory {
                register: RAX,
                offset: 0,
            },
        }],
    }
}

fn passed(types: &Types<'_, '_>, id: TypeId) -> Passed {
    let ty = types.get(id);
    let scalar = |is_float| {
        Passed::Scalar(Scalar {
            offset: 0,
            size: ty.size,
            is_float,
        })
    };
    if ty.size == 0 {
        return Passed::Nothing;
    }
    match &ty.shape {
        Shape::Base(encoding) => scalar(*encoding == DW_ATE_float),
        Shape::Pointer(_) | Shape::Names(_) => scalar(false),
        Shape::Struct(all) => {
            let parts = all.fields.iter().map(|field| {
                let passed = passed(types, field.ty);
                passed.shifted(field.offset)
            });
            together(parts)
        }
        Shape::Enum(all) => {
            let variants = all
                .variants
                .iter()
                .map(|variant| passed(types, variant.field.ty).shifted(variant.field.offset));
            let Some(tag) = &all.tag else {
                return together(variants);
            };
            let tag = Scalar {
                offset: tag.offset,
                size: types.get(tag.ty).size,
                is_float: false,
            };
            let mut common = Passed::Nothing;
            for variant in variants {
                common = match (common, variant) {
                    (common, Passed::Nothing) => common,
                    (Passed::Nothing, variant) => variant,
                    (common, variant) if common == variant => common,
                    _ => return Passed::Memory,
                };
            }
            match common {
                Passed::Nothing => Passed::Scalar(tag),
                // The tag is one of the values of the data that are otherwise not possible.
                Passed::Scalar(data) if data.offset == tag.offset => common,
                Passed::Scalar(data) if data.offset > tag.offset => Passed::Pair(tag, data),
                Passed::Scalar(data) => Passed::Pair(data, tag),
                Passed::Pair(one, two) if [one.offset, two.offset].contains(&tag.offset) => common,
                _ => Passed::Memory,
            }
        }
        Shape::Array { .. } | Shape::Union | Shape::Unknown => Passed::Memory,
    }
}

/// Returns how a value is passed that has these parts.
fn together(parts: impl Iterator<Item = Passed>) -> Passed {
    let mut parts: Vec<_> = parts.filter(|part| *part != Passed::Nothing).collect();
    match (parts.pop(), parts.pop(), parts.pop()) {
        (None, ..) => Passed::Nothing,
        (Some(only), None, _) => only,
        (Some(Passed::Scalar(one)), Some(Passed::Scalar(two)), None) => {
            match one.offset < two.offset {
                true => Passed::Pair(one, two),
                false => Passed::Pair(two, one),
            }
        }
        _ => Passed::Memory,
    }
}

impl Passed {
    fn shifted(self, by: u64) -> Passed {
        let shift = |scalar: Scalar| Scalar {
            offset: scalar.offset + by,
            ..scalar
        };
        match self {
            Passed::Scalar(scalar) => Passed::Scalar(shift(scalar)),
            Passed::Pair(one, two) => Passed::Pair(shift(one), shift(two)),
            other => other,
        }
    }
}
