//! The machine code of functions: where they return, and how an instruction is done elsewhere.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use reenact_engine::probes::plan::{Relocated, Resume};

/// Why there can be no breakpoint at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotMovable;

/// `jmp [rip]`, followed by the address.
const JUMP: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];
/// The size of such a jump.
const JUMP_SIZE: u8 = 14;

/// Returns what to do instead of the instruction at this address, of which `code` begins with the bytes.
pub(crate) fn resume(code: &[u8], address: u64) -> Result<Resume, NotMovable> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let bytes = &code[..instruction.len().min(code.len())];
    Ok(match instruction.flow_control() {
        FlowControl::Next | FlowControl::IndirectBranch => {
            let mut moved = moved(bytes, &decoder, &instruction);
            moved.jump_to(instruction.next_ip());
            Resume::Elsewhere(moved)
        }
        FlowControl::UnconditionalBranch => Resume::Elsewhere(jump(&instruction)),
        FlowControl::ConditionalBranch => {
            let mut branch = Relocated {
                code: vec![condition(bytes).ok_or(NotMovable)?, JUMP_SIZE],
                ..Relocated::default()
            };
            branch.jump_to(instruction.next_ip());
            branch.jump_to(instruction.near_branch_target());
            Resume::Elsewhere(branch)
        }
        FlowControl::Return => Resume::Return(match instruction.op0_kind() {
            OpKind::Immediate16 => instruction.immediate16(),
            _ => 0,
        }),
        FlowControl::Call => Resume::Call {
            length: bytes.len() as u8,
            jump: jump(&instruction),
        },
        FlowControl::IndirectCall => {
            // The stack pointer differs at the jump from what it was at the call.
            if instruction.memory_base() == Register::RSP
                || instruction.op0_register() == Register::RSP
            {
                return Err(NotMovable);
            }
            let mut jump = moved(bytes, &decoder, &instruction);
            let operand = operand_of_call(bytes).ok_or(NotMovable)?;
            // The same operand of the instruction that jumps.
            jump.code[operand] = jump.code[operand] & !0x38 | 0x20;
            Resume::Call {
                length: bytes.len() as u8,
                jump,
            }
        }
        _ => return Err(NotMovable),
    })
}

/// Returns a copy of an instruction in which what is relative to its address is left open.
fn moved(bytes: &[u8], decoder: &Decoder<'_>, instruction: &Instruction) -> Relocated {
    let mut relative = Vec::new();
    let mut code = bytes.to_vec();
    if instruction.is_ip_rel_memory_operand() {
        let at = decoder
            .get_constant_offsets(instruction)
            .displacement_offset();
        code[at..at + 4].fill(0);
        relative.push((
            at as u8,
            bytes.len() as u8,
            instruction.ip_rel_memory_address(),
        ));
    }
    Relocated {
        code,
        absolute: Vec::new(),
        relative,
    }
}

/// Returns a jump to where an instruction jumps or calls.
fn jump(instruction: &Instruction) -> Relocated {
    let mut jump = Relocated::default();
    jump.jump_to(instruction.near_branch_target());
    jump
}

trait JumpTo {
    fn jump_to(&mut self, address: u64);
}

impl JumpTo for Relocated {
    fn jump_to(&mut self, address: u64) {
        self.code.extend(JUMP);
        self.absolute.push((self.code.len() as u8, address));
        self.code.extend([0; 8]);
    }
}

/// Returns the opcode of the short form of a conditional jump.
fn condition(bytes: &[u8]) -> Option<u8> {
    match *bytes {
        [short @ (0x70..=0x7f | 0xe0..=0xe3), ..] => Some(short),
        [0x0f, near @ 0x80..=0x8f, ..] => Some(near - 0x10),
        _ => None,
    }
}

/// Returns where the operand of an indirect call is encoded.
fn operand_of_call(bytes: &[u8]) -> Option<usize> {
    let is_prefix = |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf2 | 0xf3);
    let opcode = bytes.iter().position(|byte| !is_prefix(byte))?;
    let operand = opcode + 1;
    (bytes[opcode] == 0xff && operand < bytes.len()).then_some(operand)
}

/// How a function is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// By this instruction, which returns to the caller.
    Return(u64),
    /// By this instruction, which goes on with another function in its place.
    Jump(u64),
}

/// Returns how a function may be left, of which `code` is a part. `is_inside` says which addresses belong to it.
pub(crate) fn exits(code: &[u8], address: u64, is_inside: impl Fn(u64) -> bool) -> Vec<Exit> {
    let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let exit = |instruction: Instruction| match instruction.flow_control() {
        FlowControl::Return => Some(Exit::Return(instruction.ip())),
        FlowControl::UnconditionalBranch
            if instruction.code() != Code::INVALID
                && !is_inside(instruction.near_branch_target()) =>
        {
            Some(Exit::Jump(instruction.ip()))
        }
        _ => None,
    };
    decoder.into_iter().filter_map(exit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x1000;

    fn elsewhere(code: &[u8]) -> Relocated {
        match resume(code, AT) {
            Ok(Resume::Elsewhere(moved)) => moved,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_instruction_is_followed_by_a_jump_behind_it() {
        // push rbp
        let moved = elsewhere(&[0x55]);
        assert_eq!(moved.code[..7], [0x55, 0xff, 0x25, 0, 0, 0, 0]);
        assert_eq!(moved.absolute, [(7, AT + 1)]);
        assert!(moved.relative.is_empty());
    }

    #[test]
    fn what_is_relative_is_left_open() {
        // mov rax, [rip+0x10]
        let moved = elsewhere(&[0x48, 0x8b, 0x05, 0x10, 0, 0, 0]);
        assert_eq!(moved.code[..7], [0x48, 0x8b, 0x05, 0, 0, 0, 0]);
        assert_eq!(moved.relative, [(3, 7, AT + 0x17)]);
    }

    #[test]
    fn a_branch_goes_either_way() {
        // je +0x20, in the long form
        let moved = elsewhere(&[0x0f, 0x84, 0x20, 0, 0, 0]);
        assert_eq!(moved.code[..2], [0x74, 14]);
        assert_eq!(moved.absolute, [(8, AT + 6), (22, AT + 0x26)]);
    }

    #[test]
    fn calls_and_returns_are_done_by_the_handler() {
        assert_eq!(resume(&[0xc3], AT), Ok(Resume::Return(0)));
        assert_eq!(resume(&[0xc2, 8, 0], AT), Ok(Resume::Return(8)));
        // call +0x10
        let Ok(Resume::Call { length: 5, jump }) = resume(&[0xe8, 0x10, 0, 0, 0], AT) else {
            panic!("not a call");
        };
        assert_eq!(jump.absolute, [(6, AT + 0x15)]);
        // call [rip+0x10], and its jump
        let Ok(Resume::Call { length: 6, jump }) = resume(&[0xff, 0x15, 0x10, 0, 0, 0], AT) else {
            panic!("not a call");
        };
        assert_eq!(jump.code, [0xff, 0x25, 0, 0, 0, 0]);
        assert_eq!(jump.relative, [(2, 6, AT + 0x16)]);
        // call [rsp+8]
        assert_eq!(resume(&[0xff, 0x54, 0x24, 8], AT), Err(NotMovable));
        // int3
        assert_eq!(resume(&[0xcc], AT), Err(NotMovable));
    }

    #[test]
    fn a_function_is_left_by_returns_and_by_jumps_to_others() {
        // jmp +0; ret; jmp +0x100
        let code = [0xeb, 0, 0xc3, 0xe9, 0, 1, 0, 0];
        let inside = |address| (AT..AT + 8).contains(&address);
        let all = exits(&code, AT, inside);
        assert_eq!(all, [Exit::Return(AT + 2), Exit::Jump(AT + 3)]);
    }
}
