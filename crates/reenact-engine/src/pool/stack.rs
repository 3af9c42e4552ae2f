//! Stacks for what may be interrupted.
//!
//! There may be a million of them, which rules out the usual ways: a mapping each, with a page that cannot be touched
//! below it, makes two areas in the kernel's books, of which a process may have some sixty thousand. So they come in
//! slabs, one mapping for many, and the page below each is made untouchable by a mark in the page table, which costs no
//! area (Linux 6.13 and later). Where the kernel does not know that, the page is protected in the old way, and there can
//! be as many as the kernel allows.
//!
//! A stack is address space; memory is what has been touched of it. One that is given back returns its memory to the
//! system, and its place is used again.

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

/// Address space for one, its guard included. Half of what a thread has: an actor's turn should not notice.
const SIZE: usize = 1 << 20;
/// How far from the upper end of its place the stack of a place begins, times one of so many numbers.
const COLOUR: usize = 7 << 6;
const COLOURS: usize = 9;
/// What must not be touched, at the lower end.
const GUARD: usize = 1 << 12;
/// How many are mapped at once.
const PER_SLAB: usize = 64;

/// Lower ends of those that nobody uses, all of them guarded.
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// A stack, until it is dropped.
pub(crate) struct Stack {
    bottom: usize,
    base: StackPointer,
}

impl Stack {
    /// How much of one can be used.
    pub(crate) const USABLE: usize = SIZE - GUARD - COLOURS * COLOUR;

    pub(crate) fn new() -> io::Result<Stack> {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bottom) = free.pop() {
            return Ok(Stack::at(bottom));
        }
        // SAFETY: A new mapping, wherever there is room.
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
                // The rest of the slab stays unused: there will be no more stacks anyway.
                return free.pop().map(Stack::at).ok_or(error);
            }
            free.push(bottom);
        }
        let bottom = free.pop().expect("a slab has stacks");
        Ok(Stack::at(bottom))
    }

    /// Not at the very end of its place, and for each of its neighbours elsewhere: what is at the same place of a page, or of all
    /// stacks, is at the same place of the processor's caches.
    fn at(bottom: usize) -> Stack {
        let colour = bottom / SIZE % COLOURS * COLOUR;
        let base = NonZeroUsize::new(bottom + SIZE - colour);
        Stack {
            bottom,
            base: base.expect("not at the beginning of memory"),
        }
    }
}

/// Makes the lowest page of a stack untouchable.
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
    // SAFETY: As above.
    unsafe { mprotect(page, GUARD, MprotectFlags::empty()) }?;
    Ok(())
}

impl Drop for Stack {
    fn drop(&mut self) {
        let usable = std::ptr::with_exposed_provenance_mut(self.bottom + GUARD);
        // SAFETY: Nobody uses it any more.
        let _ = unsafe { madvise(usable, SIZE - GUARD, Advice::LinuxDontNeed) };
        FREE.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self.bottom);
    }
}

// SAFETY: The memory between the two is the owner's, and a guard page is at its lower end.
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
        // SAFETY: Ours.
        unsafe { top.write_volatile(7) };
        let bottom = first.bottom;
        drop(first);
        let others: Vec<_> = std::iter::repeat_with(|| Stack::new().unwrap())
            .take(2 * PER_SLAB)
            .collect();
        let again = others.iter().find(|stack| stack.bottom == bottom);
        if again.is_some() {
            // SAFETY: Ours, unless another test has it.
            assert_eq!(unsafe { top.read_volatile() }, 0);
        }
    }
}
