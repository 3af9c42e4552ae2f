//! Stacks for carriers.
//!
//! There may be a million of them, which rules out one mapping for each: with a guard page below it, a stack would need
//! two memory areas of the kernel, of which a process may have some sixty thousand. So one mapping, a slab, contains
//! many stacks, and the guard page below each is a mark in the page table, which needs no area (Linux 6.13 and later).
//! On older kernels, the page is protected with `mprotect`, and the number of stacks is limited by the number of areas.
//!
//! A stack is address space; only pages that have been touched use memory. Dropping a stack returns its memory to the
//! system, and its address range is reused.

use std::{
    io,
    num::NonZeroUsize,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use corosensei::stack::{Stack as IsStack, StackPointer};
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect};

/// Address space of one stack, including its guard. Half of what a thread has, which is enough for an actor's turn.
const SIZE: usize = 1 << 20;
/// Stacks begin below the upper end of their range by a multiple of this, with one of `COLOURS` factors.
const COLOUR: usize = 7 << 6;
const COLOURS: usize = 9;
/// Size of the guard page, at the lower end.
const GUARD: usize = 1 << 12;
/// How many stacks a slab contains.
const PER_SLAB: usize = 64;

/// Lower ends of unused stacks, all of them guarded.
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// A stack, until it is dropped.
pub(crate) struct Stack {
    bottom: usize,
    base: StackPointer,
}

impl Stack {
    /// How many bytes of a stack can be used at least.
    #[cfg(feature = "explore")]
    pub(crate) const USABLE: usize = SIZE - GUARD - COLOURS * COLOUR;

    pub(crate) fn new() -> io::Result<Stack> {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bottom) = free.pop() {
            return Ok(Stack::at(bottom));
        }
        // SAFETY: Creates a new mapping, at an address that the kernel chooses.
        let slab = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                SIZE * PER_SLAB,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )?
        };
        for number in (0..PER_SLAB).rev() {
            let bottom = slab.addr() + number * SIZE;
            if let Err(error) = guard(bottom) {
                // The rest of the slab stays unused: no more stacks can be guarded anyway.
                return free.pop().map(Stack::at).ok_or(error);
            }
            free.push(bottom);
        }
        let bottom = free.pop().expect("a slab has stacks");
        Ok(Stack::at(bottom))
    }

    /// Starts the stack a little below the upper end of its range, at a different distance than its neighbours:
    /// addresses at the same offset of a page, or of all stacks, compete for the same lines of the processor's caches.
    fn at(bottom: usize) -> Stack {
        let colour = bottom / SIZE % COLOURS * COLOUR;
        let base = NonZeroUsize::new(bottom + SIZE - colour);
        Stack {
            bottom,
            base: base.expect("not at the beginning of memory"),
        }
    }
}

/// Makes the lowest page of a stack inaccessible.
fn guard(bottom: usize) -> io::Result<()> {
    static MARKS_ARE_UNKNOWN: AtomicBool = AtomicBool::new(false);
    let page = std::ptr::with_exposed_provenance_mut(bottom);
    if !MARKS_ARE_UNKNOWN.load(Relaxed) {
        /// `MADV_GUARD_INSTALL`.
        const INSTALL_GUARD: libc::c_int = 102;
        // SAFETY: The page is part of our mapping, and nothing is in it.
        if unsafe { libc::madvise(page, GUARD, INSTALL_GUARD) } == 0 {
            return Ok(());
        }
        MARKS_ARE_UNKNOWN.store(true, Relaxed);
    }
    // SAFETY: The page is part of our mapping, and nothing is in it.
    unsafe { mprotect(page, GUARD, MprotectFlags::empty()) }?;
    Ok(())
}

impl Drop for Stack {
    fn drop(&mut self) {
        let usable = std::ptr::with_exposed_provenance_mut(self.bottom + GUARD);
        // SAFETY: The stack is being dropped, so nothing uses the memory.
        let _ = unsafe { madvise(usable, SIZE - GUARD, Advice::LinuxDontNeed) };
        FREE.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self.bottom);
    }
}

// SAFETY: The memory between `limit` and `base` belongs to the owner, and a guard page is at its lower end.
unsafe impl IsStack for Stack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.bottom).expect("not at the beginning of memory")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_that_was_given_back_is_used_again_and_empty() {
        let first = Stack::new().unwrap();
        let top = std::ptr::with_exposed_provenance_mut::<u64>(first.base().get() - 8);
        // SAFETY: `top` is in the stack that this test owns.
        unsafe { top.write_volatile(7) };
        let bottom = first.bottom;
        drop(first);
        let others: Vec<_> = std::iter::repeat_with(|| Stack::new().unwrap())
            .take(2 * PER_SLAB)
            .collect();
        let again = others.iter().find(|stack| stack.bottom == bottom);
        if again.is_some() {
            // SAFETY: `top` is in a stack that this test owns, unless another test has it.
            assert_eq!(unsafe { top.read_volatile() }, 0);
        }
    }
}
