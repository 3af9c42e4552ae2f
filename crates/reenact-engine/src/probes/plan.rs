//! What to look at, where. Written by `reenact refine`, read by the replayed process.

use serde::{Deserialize, Serialize};

/// All probes of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// In ascending order of their addresses, each of which occurs once.
    pub probes: Vec<Probe>,
    /// The maximum size of what they copy, in bytes.
    pub room: u64,
}

/// A breakpoint, and what to copy there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The address of an instruction, as in the executable file.
    pub address: u64,
    /// The first byte of the instruction.
    pub replaced: u8,
    /// What to do instead of the instruction.
    pub resume: Resume,
    /// What to copy, in this order.
    pub copies: Vec<Copy>,
}

/// How a thread continues after a stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resume {
    /// The instruction is put back and executed: the thread stops here once.
    Once,
    /// The thread continues with this code instead.
    Elsewhere(Relocated),
    /// The thread calls a function: its return address is pushed, and it continues with this code, which jumps to the
    /// function.
    Call {
        /// The length of the instruction.
        length: u8,
        /// A jump to the function.
        jump: Relocated,
    },
    /// The thread returns from a function and drops this many bytes of arguments.
    Return(u16),
}

/// Code that does the same wherever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocated {
    /// The code, with zeros where addresses are missing.
    pub code: Vec<u8>,
    /// Where an absolute address of eight bytes is missing, and which one, as in the executable file.
    pub absolute: Vec<(u8, u64)>,
    /// Where a displacement of four bytes is missing, the offset of the end of its instruction, and which address it
    /// refers to, as in the executable file.
    pub relative: Vec<(u8, u8, u64)>,
}

/// A piece of the state of a stopped thread. Each piece has a fixed [size](Copy::size), and begins with a byte that is
/// 1 if it could be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Copy {
    /// A register, by its DWARF number: 0 to 16 are 8 bytes, 17 to 32 (vector registers) are 16.
    Register(u8),
    /// Memory at an offset from the value of a register.
    Memory {
        /// The register, by its DWARF number.
        register: u8,
        /// The offset from its value.
        offset: i64,
        /// The number of bytes.
        length: u16,
    },
    /// Memory that something already copied points to.
    Behind {
        /// The offset, in what this probe has copied, of the eight bytes of the pointer.
        pointer: u16,
        /// The offset from the pointer.
        offset: i64,
        /// The number of bytes.
        length: u16,
    },
    /// Elements that something already copied points to.
    Elements {
        /// The offset, in what this probe has copied, of the eight bytes of the pointer.
        pointer: u16,
        /// The offset, in what this probe has copied, of the eight bytes of the number of elements.
        count: u16,
        /// The size of an element.
        size: u32,
        /// The maximum number of bytes.
        most: u16,
    },
}

impl Copy {
    /// Returns the size of what is copied, including the byte that says whether it was possible.
    pub fn size(self) -> usize {
        1 + match self {
            Copy::Register(0..=16) => 8,
            Copy::Register(_) => 16,
            Copy::Memory { length, .. } | Copy::Behind { length, .. } => length.into(),
            Copy::Elements { most, .. } => most.into(),
        }
    }
}

impl Probe {
    /// Returns the size of everything it copies.
    pub fn size(&self) -> usize {
        self.copies.iter().map(|copy| copy.size()).sum()
    }
}
