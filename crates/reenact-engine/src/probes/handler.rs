//! What happens when a thread reaches a probe.
//!
//! Everything here runs in a signal handler, at any instruction of the program: it allocates nothing, takes no lock and
//! makes its system calls itself.

use std::{
    arch::asm,
    cell::Cell,
    ffi::{c_int, c_void},
    io,
    sync::{
        OnceLock,
        atomic::{
            AtomicPtr,
            Ordering::{Acquire, Release},
        },
    },
};

use super::{
    patch::{Code, Slots},
    plan::{Copy, Probe, Resume},
    records::{self, Stop, Writer},
};
use crate::{
    activity::{Hot, NOBODY},
    mode,
};

/// The probes of this process.
pub(super) struct Placed {
    /// The address of each probe in this process, in ascending order.
    addresses: Vec<u64>,
    probes: Vec<Probe>,
    /// How much each probe copies.
    sizes: Vec<usize>,
    slots: Slots,
    output: Writer,
    code: Code,
    bias: u64,
    /// The real number of this process, not the recorded one.
    process: i64,
}

static PLACED: AtomicPtr<Placed> = AtomicPtr::new(std::ptr::null_mut());
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

thread_local! {
    /// Whether the thread is in the handler already: a probe in code that the handler uses.
    static IS_STOPPED: Cell<bool> = const { Cell::new(false) };
    /// The system's number of the thread; 0 if not known yet.
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

impl Placed {
    pub(super) fn new(
        probes: Vec<Probe>,
        bias: u64,
        process: i64,
        slots: Slots,
        output: Writer,
        code: Code,
    ) -> Result<Placed, String> {
        let sizes: Vec<_> = probes.iter().map(Probe::size).collect();
        let is_sorted = probes.is_sorted_by(|one, next| one.address < next.address);
        let fits = |probe: &Probe| {
            let mut before = 0;
            probe.copies.iter().all(|copy| {
                let fits = copy.needs() <= before;
                before += copy.size();
                fits && before <= records::MOST
            })
        };
        if !is_sorted || !probes.iter().all(fits) {
            return Err("the plan is damaged".to_owned());
        }
        Ok(Placed {
            addresses: probes
                .iter()
                .map(|probe| bias.wrapping_add(probe.address))
                .collect(),
            sizes,
            probes,
            slots,
            output,
            code,
            bias,
            process,
        })
    }
}

/// Returns the probes of this process, if it has any.
pub(super) fn placed<'a>() -> Option<&'a Placed> {
    // SAFETY: Set once, to something that is never freed.
    unsafe { PLACED.load(Acquire).as_ref() }
}

/// Returns the real number of this process.
pub(super) fn process() -> i64 {
    // SAFETY: The call has no arguments and no effects.
    unsafe { system_call([libc::SYS_getpid, 0, 0, 0, 0, 0, 0]) }
}

impl Copy {
    /// Returns how many bytes must have been copied before.
    fn needs(self) -> usize {
        match self {
            Copy::Register(0..=32)
            | Copy::Memory {
                register: 0..=16, ..
            } => 0,
            Copy::Behind { pointer, .. } => usize::from(pointer) + 8,
            Copy::Elements { pointer, count, .. } => usize::from(pointer.max(count)) + 8,
            _ => usize::MAX,
        }
    }
}

/// Places probes, and handles their breakpoints from now on. They stay until the process ends.
pub(super) fn start(placed: Placed) -> io::Result<()> {
    let placed = Box::leak(Box::new(placed));
    PLACED.store(placed, Release);
    // SAFETY: `on_trap` does only what a signal handler may do, and the actions are initialised.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let mut before: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_trap as *const () as usize;
        // A probe in code that the handler uses is a signal during a signal.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_NODEFER;
        libc::sigemptyset(&mut action.sa_mask);
        if libc::sigaction(libc::SIGTRAP, &action, &mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        let _ = BEFORE.set(before);
    }
    placed
        .code
        .place(&placed.probes, placed.bias)
        .map_err(io::Error::other)
}

extern "C" fn on_trap(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let placed = placed();
    // SAFETY: The kernel passes the state of the interrupted thread, which nobody else accesses meanwhile.
    let state = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let at = (state.uc_mcontext.gregs[libc::REG_RIP as usize] as u64).wrapping_sub(1);
    let found = placed.and_then(|placed| {
        let index = placed.addresses.binary_search(&at).ok()?;
        Some((placed, index))
    });
    let Some((placed, index)) = found else {
        return pass_on(signal, info, context);
    };
    // As it was before the instruction.
    state.uc_mcontext.gregs[libc::REG_RIP as usize] = at as i64;
    // A forked child has the probes, but is not the replayed process.
    if mode::is_controlled() && !IS_STOPPED.replace(true) {
        placed.look(index, state);
        IS_STOPPED.set(false);
    }
    placed.resume(index, state);
}

/// Handles a signal that is not from a probe as if there were no probes.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: The handler that was there before is called as the kernel would; without one, the signal has its default
    // effect once this handler has returned.
    unsafe {
        match BEFORE.get() {
            Some(before) if before.sa_sigaction == libc::SIG_IGN => {}
            Some(before) if before.sa_sigaction != libc::SIG_DFL => {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                        std::mem::transmute(before.sa_sigaction);
                    handler(signal, info, context);
                } else {
                    let handler: extern "C" fn(c_int) = std::mem::transmute(before.sa_sigaction);
                    handler(signal);
                }
            }
            _ => {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
    }
}

impl Placed {
    /// Returns the position of something that happens now in the order of all records.
    pub(super) fn moment(&self) -> u64 {
        self.output.moment()
    }

    /// Writes a record.
    fn look(&self, index: usize, state: &libc::ucontext_t) {
        if THREAD.get() == 0 {
            // SAFETY: The call has no arguments and no effects.
            THREAD.set(unsafe { system_call([libc::SYS_gettid, 0, 0, 0, 0, 0, 0]) } as u32);
        }
        let token = Hot::token();
        // SAFETY: The pointer is null or valid, as explained in `fast_path::take`.
        let operation = unsafe { Hot::fast_path().as_ref() }.map_or(0, |path| path.position());
        let stop = Stop {
            probe: index as u32,
            activity: if token == NOBODY { 0 } else { token },
            thread: THREAD.get(),
            operation,
            stack: register(state, 7),
        };
        self.output.append(&stop, self.sizes[index], |bytes| {
            let mut at = 0;
            for copy in &self.probes[index].copies {
                let (before, rest) = bytes.split_at_mut(at);
                let size = copy.size();
                self.copy(*copy, before, &mut rest[..size], state);
                at += size;
            }
        });
    }

    /// Copies a piece of the state. `before` is what has been copied already.
    fn copy(&self, copy: Copy, before: &[u8], to: &mut [u8], state: &libc::ucontext_t) {
        let (done, to) = to.split_first_mut().expect("a piece has at least one byte");
        let word = |at: u16| {
            let at = usize::from(at);
            let mut word = [0; 8];
            word.copy_from_slice(&before[at..at + 8]);
            u64::from_ne_bytes(word)
        };
        let is_done = match copy {
            Copy::Register(number @ 0..=16) => {
                to.copy_from_slice(&register(state, number).to_ne_bytes());
                true
            }
            Copy::Register(number) => vector(state, number - 17, to),
            Copy::Memory {
                register: number,
                offset,
                ..
            } => self.read(register(state, number).wrapping_add_signed(offset), to),
            Copy::Behind {
                pointer, offset, ..
            } => self.read(word(pointer).wrapping_add_signed(offset), to),
            Copy::Elements {
                pointer,
                count,
                size,
                ..
            } => {
                let length = word(count).saturating_mul(size.into());
                let length = (to.len() as u64).min(length) as usize;
                self.read(word(pointer), &mut to[..length])
            }
        };
        *done = is_done.into();
    }

    /// Reads memory that may not exist.
    fn read(&self, from: u64, to: &mut [u8]) -> bool {
        if to.is_empty() {
            return true;
        }
        let local = libc::iovec {
            iov_base: to.as_mut_ptr().cast(),
            iov_len: to.len(),
        };
        let remote = libc::iovec {
            iov_base: from as *mut c_void,
            iov_len: to.len(),
        };
        // SAFETY: The kernel copies within this process to `to`, and fails where there is no memory to read.
        let read = unsafe {
            system_call([
                libc::SYS_process_vm_readv,
                self.process,
                (&raw const local) as i64,
                1,
                (&raw const remote) as i64,
                1,
                0,
            ])
        };
        read == to.len() as i64
    }

    /// Makes the thread continue as if there were no probe.
    fn resume(&self, index: usize, state: &mut libc::ucontext_t) {
        let probe = &self.probes[index];
        let at = self.addresses[index];
        let registers = &mut state.uc_mcontext.gregs;
        let stack = registers[libc::REG_RSP as usize] as *mut u64;
        let next = match &probe.resume {
            Resume::Once => {
                self.code.restore(at, probe.replaced);
                at
            }
            Resume::Elsewhere(_) => self.slots.addresses[index],
            Resume::Call { length, .. } => {
                // SAFETY: The instruction would write there, and the kernel has left room below for its own frame.
                unsafe { stack.sub(1).write_unaligned(at + u64::from(*length)) };
                registers[libc::REG_RSP as usize] -= 8;
                self.slots.addresses[index]
            }
            Resume::Return(drop) => {
                registers[libc::REG_RSP as usize] += 8 + i64::from(*drop);
                // SAFETY: The instruction would read there.
                unsafe { stack.read_unaligned() }
            }
        };
        registers[libc::REG_RIP as usize] = next as i64;
    }
}

/// Returns a general register, by its DWARF number.
fn register(state: &libc::ucontext_t, number: u8) -> u64 {
    const ORDER: [c_int; 17] = [
        libc::REG_RAX,
        libc::REG_RDX,
        libc::REG_RCX,
        libc::REG_RBX,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_RBP,
        libc::REG_RSP,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
        libc::REG_RIP,
    ];
    let index = ORDER.get(usize::from(number)).copied();
    index.map_or(0, |index| state.uc_mcontext.gregs[index as usize] as u64)
}

/// Copies a vector register.
fn vector(state: &libc::ucontext_t, number: u8, to: &mut [u8]) -> bool {
    // SAFETY: The kernel sets it to the state of the vector registers, or to null.
    let Some(registers) = (unsafe { state.uc_mcontext.fpregs.as_ref() }) else {
        return false;
    };
    let Some(register) = registers._xmm.get(usize::from(number)) else {
        return false;
    };
    for (to, part) in to.chunks_mut(4).zip(register.element) {
        to.copy_from_slice(&part.to_ne_bytes());
    }
    true
}

/// Makes a system call without the C library: its number and six arguments. Returns a negative error number if it fails.
///
/// # Safety
///
/// The caller fulfils the conditions of the system call.
pub(super) unsafe fn system_call(words: [i64; 7]) -> i64 {
    let [number, a, b, c, d, e, f] = words;
    let result;
    // SAFETY: The instruction changes only the registers that are listed; the caller vouches for the call.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}
