//! Detection of stack overflows.
//!
//! A fiber's stack has a guard page below it. Code that recurses too deep touches it and is ended there: the fiber
//! returns as if it were done, what is on its stack is left as it is, and the execution has failed. Faults anywhere
//! else are passed on.

use std::{cell::Cell, ffi::c_int, mem::MaybeUninit, sync::OnceLock};

use corosensei::trap::CoroutineTrapHandler;

use super::fiber::{Fiber, Pause};

thread_local! {
    /// The fiber that runs on this thread.
    static RUNNING: Cell<*const Fiber> = const { Cell::new(std::ptr::null()) };
}

/// The previous action for `SIGSEGV`.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Sets the fiber that runs on the calling thread, or null. Returns the previous one.
#[inline]
pub(super) fn watch(fiber: *const Fiber) -> *const Fiber {
    RUNNING.replace(fiber)
}

/// Installs the handler that ends code that overflows its stack. The standard library has given each of its threads an
/// alternate signal stack.
pub(super) fn catch() {
    BEFORE.get_or_init(|| {
        let mut before = MaybeUninit::uninit();
        // SAFETY: `on_fault` does only what a signal handler may do, `action` is initialised, and `before` is a valid
        // place for the previous action.
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
    // SAFETY: The kernel passes valid pointers to a handler with `SA_SIGINFO`.
    let (info_of, machine) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
    let running = RUNNING.get();
    // SAFETY: A fiber is alive as long as it runs.
    if let Some(fiber) = (!running.is_null()).then(|| unsafe { (*running).trap })
        // SAFETY: The signal is a fault, for which `si_addr` is set.
        && fiber.stack_ptr_in_bounds(unsafe { info_of.si_addr() }.addr())
        && end(fiber, machine)
    {
        return;
    }
    pass_on(signal, info, context);
}

/// Makes the fiber return when the handler does.
#[cfg(target_arch = "x86_64")]
fn end(fiber: CoroutineTrapHandler<Pause>, machine: &mut libc::ucontext_t) -> bool {
    let registers = &mut machine.uc_mcontext.gregs;
    if !fiber.stack_ptr_in_bounds(registers[libc::REG_RSP as usize] as usize) {
        return false;
    }
    // SAFETY: The fiber runs on this thread. Anything that its code left inconsistent is not used any more, because the
    // execution ends.
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

/// Makes the fiber return when the handler does.
#[cfg(target_arch = "aarch64")]
fn end(fiber: CoroutineTrapHandler<Pause>, machine: &mut libc::ucontext_t) -> bool {
    let registers = &mut machine.uc_mcontext;
    if !fiber.stack_ptr_in_bounds(registers.sp as usize) {
        return false;
    }
    // SAFETY: The fiber runs on this thread. Anything that its code left inconsistent is not used any more, because the
    // execution ends.
    let set = unsafe { fiber.setup_trap_handler(|| Pause::Overflowed) };
    registers.pc = set.pc;
    registers.sp = set.sp;
    for (register, value) in [(29, set.x29), (30, set.lr), (0, set.x0), (1, set.x1)] {
        registers.regs[register] = value;
    }
    true
}

/// On other architectures, an overflow is a fault like any other.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn end(_fiber: CoroutineTrapHandler<Pause>, _machine: &mut libc::ucontext_t) -> bool {
    false
}

/// Performs the previous action for the signal.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get();
    // SAFETY: A previous handler is called as the kernel would call it. If there was none, the fault happens again when
    // this handler returns, and ends the process.
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
