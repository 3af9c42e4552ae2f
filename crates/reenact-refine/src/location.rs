//! Where the value of a variable is, at one address of the code.

use gimli::{AttributeValue, Expression, Operation};

use crate::executable::{Executable, Reader, Unit};

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Its size; 0 if it is the whole value.
    pub(crate) size: u64,
    pub(crate) place: Place,
}

/// Where a part of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a register, by its DWARF number.
    Register(u8),
    /// At an offset from the value of a register.
    Memory { register: u8, offset: i64 },
    /// At an offset from a pointer, which is at an offset from the value of a register.
    Behind {
        register: u8,
        pointer: i64,
        offset: i64,
    },
    /// Nowhere: it is this number.
    Constant(u64),
    /// The compiler has removed it.
    Nowhere,
}

/// What offsets are relative to at one address of the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The base that the function's variables refer to: a register and an offset.
    pub(crate) base: Option<(u8, i64)>,
    /// Where the caller's frame begins.
    pub(crate) caller: Option<(u8, i64)>,
}

/// Returns the parts of a value at this address; `None` if that cannot be said in these terms.
pub(crate) fn pieces(
    executable: &Executable<'_>,
    unit: &Unit<'_>,
    location: AttributeValue<Reader<'_>>,
    address: u64,
    frame: Frame,
) -> Option<Vec<Piece>> {
    let expression = match location {
        AttributeValue::Exprloc(expression) => expression,
        other => {
            let mut list = executable.dwarf.attr_locations(unit, other).ok()??;
            loop {
                match list.next().ok()? {
                    Some(entry) if (entry.range.begin..entry.range.end).contains(&address) => {
                        break entry.data;
                    }
                    Some(_) => {}
                    None => return Some(vec![nowhere()]),
                }
            }
        }
    };
    evaluate(expression, unit, frame)
}

fn nowhere() -> Piece {
    Piece {
        size: 0,
        place: Place::Nowhere,
    }
}

/// Returns the base of a function's frame.
pub(crate) fn base(
    location: AttributeValue<Reader<'_>>,
    unit: &Unit<'_>,
    caller: Option<(u8, i64)>,
) -> Option<(u8, i64)> {
    let AttributeValue::Exprloc(expression) = location else {
        return None;
    };
    let mut operations = expression.operations(unit.encoding());
    match operations.next().ok()?? {
        Operation::Register { register } => Some((u8::try_from(register.0).ok()?, 0)),
        Operation::CallFrameCFA => caller,
        _ => None,
    }
}

fn evaluate(
    expression: Expression<Reader<'_>>,
    unit: &Unit<'_>,
    frame: Frame,
) -> Option<Vec<Piece>> {
    let mut operations = expression.operations(unit.encoding());
    let mut pieces = Vec::new();
    let mut place = None;
    while let Some(operation) = operations.next().ok()? {
        match operation {
            Operation::Piece {
                size_in_bits,
                bit_offset: None,
            } if size_in_bits % 8 == 0 => pieces.push(Piece {
                size: size_in_bits / 8,
                place: place.take().unwrap_or(Place::Nowhere),
            }),
            operation => place = Some(after(operation, place, unit, frame)?),
        }
    }
    match (place, pieces.is_empty()) {
        (Some(place), true) => Some(vec![Piece { size: 0, place }]),
        (None, true) => Some(vec![nowhere()]),
        (None, false) => Some(pieces),
        (Some(_), false) => None,
    }
}

/// Returns the place after an operation, from the one before.
fn after(
    operation: Operation<Reader<'_>>,
    before: Option<Place>,
    unit: &Unit<'_>,
    frame: Frame,
) -> Option<Place> {
    let number = |register: gimli::Register| u8::try_from(register.0).ok().filter(|&n| n <= 32);
    let memory = |(register, from): (u8, i64), offset: i64| Place::Memory {
        register,
        offset: from.wrapping_add(offset),
    };
    Some(match (operation, before) {
        (Operation::Register { register }, None) => Place::Register(number(register)?),
        (
            Operation::RegisterOffset {
                register, offset, ..
            },
            None,
        ) => memory((number(register)?, 0), offset),
        (Operation::FrameOffset { offset }, None) => memory(frame.base?, offset),
        (Operation::CallFrameCFA, None) => memory(frame.caller?, 0),
        (Operation::UnsignedConstant { value }, None) => Place::Constant(value),
        (Operation::SignedConstant { value }, None) => Place::Constant(value as u64),
        (Operation::EntryValue { expression }, None) => {
            // This is asked only where a function begins: what was there then is there now.
            match evaluate(Expression(expression), unit, frame)?[..] {
                [Piece { place, .. }] => place,
                _ => return None,
            }
        }
        (Operation::PlusConstant { value }, Some(Place::Memory { register, offset })) => {
            memory((register, offset), value as i64)
        }
        (
            Operation::PlusConstant { value },
            Some(Place::Behind {
                register,
                pointer,
                offset,
            }),
        ) => Place::Behind {
            register,
            pointer,
            offset: offset.wrapping_add(value as i64),
        },
        (
            Operation::Deref {
                size: 8,
                space: false,
                ..
            },
            Some(Place::Memory { register, offset }),
        ) => Place::Behind {
            register,
            pointer: offset,
            offset: 0,
        },
        (Operation::StackValue, Some(value @ (Place::Constant(_) | Place::Register(_)))) => value,
        (
            Operation::StackValue,
            Some(Place::Memory {
                register,
                offset: 0,
            }),
        ) => Place::Register(register),
        _ => return None,
    })
}
