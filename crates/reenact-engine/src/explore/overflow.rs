//! Stacks that are used up.
//!
//! A fiber's stack has a page below it that must not be touched. Who recurses too deep touches it, and is ended there
//! and then: the fiber returns as if it were done, whatever is on its stack stays as it is, and the execution has failed. Anywhere
//! else a fault is none of our business.

use std::{cell::Cell, ffi::c_int, mem::MaybeUninit, sync::OnceLock};

use corosensei::trap::CoroutineTrapHandler;

use super::fiber::{Fiber, Pause};

thread_local! {
    /// The fiber that runs on this thread.
    static RUNNING: Cell<*const Fiber> = const { Cell::new(std::ptr::null()) };
}

/// What was done about faults before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// This fiber runs on the calling thread from now on, or none. Which one did before.
#[inline]
pub(super) fn watch(fiber: *const Fiber) -> *const Fiber {
    RUNNING.replace(fiber)
}

/// Sees to it that who uses up its stack is ended. The standard library has given each of its threads another stack for that.
pub(super) fn catch() {
    BEFORE.get_or_init(|| {
        let mut before = MaybeUninit::uninit();
        // SAFETY: A handler that does what a handler may, and a place for what was there before.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(libc::SIGSEGV, &action, before.as_mut_ptr());
            before.assume_init()
        }
    });
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: What the kernel gives a handler.
    let (info_of, machine) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
    let running = RUNNING.get();
    // SAFETY: It is there as long as it runs.
    if let Some(fiber) = (!running.is_null()).then(|| unsafe { (*running).trap })
        // SAFETY: It is a fault.
        && fiber.stack_ptr_in_bounds(unsafe { info_of.si_addr() }.addr())
        && end(fiber, machine)
    {
        return;
    }
    pass_on(signal, info, context);
}

/// Makes the fiber return, when the handler does.
#[cfg(target_arch = "x86_64")]
fn end(fiber: CoroutineTrapHandler<Pause>, machine: &mut libc::ucontext_t) -> bool {
    let registers = &mut machine.uc_mcontext.gregs;
    if !fiber.stack_ptr_in_bounds(registers[libc::REG_RSP as usize] as usize) {
        return false;
    }
    // SAFETY: The fiber runs on this thread. What it was doing to anything else is not looked at any more: the execution ends.
    let set = unsafe { fiber.setup_trap_handler(|| Pause::Overflowed) };
    let corosensei::trap::TrapHandlerRegs {
        rip,
        rsp,
        rbp,
        rdi,
        rsi,
    } = set;
    for (register, value) in [
        (libc::REG_RIP, rip),
        (libc::REG_RSP, rsp),
        (libc::REG_RBP, rbp),
        (libc::REG_RDI, rdi),
        (libc::REG_RSI, rsi),
    ] {
        registers[register as usize] = value as i64;
    }
    true
}

/// The same.
#[cfg(target_arch = "aarch64")]
fn end(fiber: CoroutineTrapHandler<Pause>, machine: &mut libc::ucontext_t) -> bool {
    let registers = &mut machine.uc_mcontext;
    if !fiber.stack_ptr_in_bounds(registers.sp as usize) {
        return false;
    }
    // SAFETY: As above.
    let set = unsafe { fiber.setup_trap_handler(|| Pause::Overflowed) };
    registers.pc = set.pc;
    registers.sp = set.sp;
    for (register, value) in [(29, set.x29), (30, set.lr), (0, set.x0), (1, set.x1)] {
        registers.regs[register] = value;
    }
    true
}

/// Elsewhere it is a fault like any other.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn end(_fiber: CoroutineTrapHandler<Pause>, _machine: &mut libc::ucontext_t) -> bool {
    false
}

/// Does what was done about it before.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get();
    // SAFETY: A handler that was there before is called as the kernel would; where there was none, the fault happens again
    // when this one returns, and ends the process.
    unsafe {
        match before {
            Some(before) if before.sa_sigaction > libc::SIG_IGN => {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                        std::mem::transmute(before.sa_sigaction);
                    handler(signal, info, context);
                } else {
                    let handler: extern "C" fn(c_int) = std::mem::transmute(before.sa_sigaction);
                    handler(signal);
                }
            }
            _ => {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
}
