//! What happens if somebody truncates the live file while a program records.
//!
//! A store to a page beyond the end of the file raises SIGBUS, which would end the program. The handler here puts
//! private memory in the place of the slab, notes that recording has ended, and lets the store happen again. Any other
//! SIGBUS is the program's: it goes to the handler that was there before, or to the one that the program has set since
//! ([`set_program_action`]).
//!
//! A thread that blocks SIGBUS cannot be helped: the system then ends the process without calling a handler.

use std::{
    cell::UnsafeCell,
    ffi::{c_int, c_void},
    ptr,
    sync::{
        Once,
        atomic::{
            AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
        },
    },
};

use crate::{
    layout::{LIVE_HEADER, MAX_SLABS, live},
    program::StopReason,
};

/// A range of memory that is mapped from a live file.
struct Mapping {
    /// 0 if there is none.
    start: AtomicUsize,
    length: AtomicUsize,
    is_replaced: AtomicBool,
}

/// The mappings of one live file, and what the handler does. It is never freed, since the handler may look at it at any
/// time, but is used again.
pub(crate) struct Guard {
    next: AtomicPtr<Guard>,
    is_used: AtomicBool,
    /// Set once, when recording has stopped early.
    stopped: AtomicBool,
    file: AtomicI32,
    on_stop: AtomicPtr<c_void>,
    mappings: [Mapping; MAX_SLABS + 1],
}

static GUARDS: AtomicPtr<Guard> = AtomicPtr::new(ptr::null_mut());

impl Guard {
    /// Returns a guard for the live file with this descriptor. `on_stop` may be called by a signal handler.
    pub(crate) fn new(file: c_int, on_stop: fn(StopReason)) -> &'static Guard {
        install();
        let guard = Guard::unused().unwrap_or_else(Guard::make);
        guard.stopped.store(false, Relaxed);
        guard.file.store(file, Relaxed);
        guard.on_stop.store(on_stop as *mut c_void, Release);
        guard
    }

    fn all() -> impl Iterator<Item = &'static Guard> {
        // SAFETY: Every pointer in the list is that of a guard that is never freed.
        let mut next = unsafe { GUARDS.load(Acquire).as_ref() };
        std::iter::from_fn(move || {
            let guard = next?;
            // SAFETY: As above.
            next = unsafe { guard.next.load(Acquire).as_ref() };
            Some(guard)
        })
    }

    fn unused() -> Option<&'static Guard> {
        Guard::all().find(|guard| !guard.is_used.swap(true, SeqCst))
    }

    fn make() -> &'static Guard {
        let guard = Box::leak(Box::new(Guard {
            next: AtomicPtr::default(),
            is_used: AtomicBool::new(true),
            stopped: AtomicBool::default(),
            file: AtomicI32::new(-1),
            on_stop: AtomicPtr::default(),
            mappings: [const {
                Mapping {
                    start: AtomicUsize::new(0),
                    length: AtomicUsize::new(0),
                    is_replaced: AtomicBool::new(false),
                }
            }; MAX_SLABS + 1],
        }));
        let mut first = GUARDS.load(Acquire);
        loop {
            guard.next.store(first, Relaxed);
            match GUARDS.compare_exchange(first, guard, SeqCst, Acquire) {
                Ok(_) => return guard,
                Err(now) => first = now,
            }
        }
    }

    /// Protects a mapping from now on. Mappings are numbered.
    pub(crate) fn add(&self, number: usize, start: *mut u8, length: usize) {
        let mapping = &self.mappings[number];
        mapping.is_replaced.store(false, Relaxed);
        mapping.length.store(length, Relaxed);
        mapping.start.store(start.addr(), Release);
    }

    /// Ends the protection of all mappings, which are about to be unmapped.
    pub(crate) fn release(&self) {
        for mapping in &self.mappings {
            mapping.start.store(0, SeqCst);
        }
        self.is_used.store(false, SeqCst);
    }

    /// Returns whether recording has stopped early.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.load(Acquire)
    }

    /// Notes that recording has stopped. Returns whether it had not.
    pub(crate) fn stop(&self) -> bool {
        !self.stopped.swap(true, SeqCst)
    }

    /// Handles a fault at this address. Returns whether it was in a mapping of the file.
    fn handle(&self, address: usize) -> bool {
        let mapping = self.mappings.iter().find(|mapping| {
            let start = mapping.start.load(Acquire);
            start != 0 && (start..start + mapping.length.load(Relaxed)).contains(&address)
        });
        let Some(mapping) = mapping else {
            return false;
        };
        // Before the contents go: whoever sees them gone, sees that recording has stopped.
        let is_first = self.stop();
        if !mapping.is_replaced.swap(true, SeqCst) {
            let start = ptr::with_exposed_provenance_mut(mapping.start.load(Acquire));
            // SAFETY: The range is a mapping of ours, which exists as long as it is in this list. All of what refers to
            // it are addresses; what they refer to remains readable and writable, and recording has ended.
            let replaced = unsafe {
                libc::mmap(
                    start,
                    mapping.length.load(Relaxed),
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
            if replaced == libc::MAP_FAILED {
                return false;
            }
        }
        if is_first {
            self.mark();
            let on_stop = self.on_stop.load(Acquire);
            // SAFETY: Only functions of this type are stored there.
            let on_stop: fn(StopReason) = unsafe { std::mem::transmute(on_stop) };
            on_stop(StopReason::Truncated);
        }
        true
    }

    /// Stores the mark in the file, if its header is still there. A store to a mapping could fault again.
    pub(crate) fn mark(&self) {
        let file = self.file.load(Relaxed);
        // SAFETY: The file is open as long as the mappings exist; the place for its status is on this stack.
        let length = unsafe {
            let mut status: libc::stat = std::mem::zeroed();
            match libc::fstat(file, &mut status) {
                0 => status.st_size,
                _ => 0,
            }
        };
        if length < LIVE_HEADER as i64 {
            return;
        }
        let (code, errno) = StopReason::Truncated.to_code();
        for (at, value) in [(live::ERRNO, errno), (live::STOP, code)] {
            let bytes = value.to_le_bytes();
            // SAFETY: The bytes are on this stack.
            unsafe { libc::pwrite(file, bytes.as_ptr().cast(), bytes.len(), at as i64) };
        }
    }
}

/// The action for the signals that are not ours. Written under a lock, read by the handler: the number is odd while it
/// is being written.
struct ProgramAction {
    version: AtomicU32,
    action: UnsafeCell<libc::sigaction>,
}

// SAFETY: Writers take turns, and readers check that there was no writer.
unsafe impl Sync for ProgramAction {}

static PROGRAM_ACTION: ProgramAction = ProgramAction {
    version: AtomicU32::new(0),
    // SAFETY: Zero is a valid value of each of its fields: the default action.
    action: UnsafeCell::new(unsafe { std::mem::zeroed() }),
};

impl ProgramAction {
    fn get(&self) -> libc::sigaction {
        loop {
            let before = self.version.load(SeqCst);
            // SAFETY: The value is used only if nobody has written to it meanwhile.
            let action = unsafe { self.action.get().read_volatile() };
            if before.is_multiple_of(2) && self.version.load(SeqCst) == before {
                return action;
            }
            std::hint::spin_loop();
        }
    }

    fn set(&self, action: libc::sigaction) {
        loop {
            let before = self.version.load(SeqCst) & !1;
            let begun = self
                .version
                .compare_exchange(before, before + 1, SeqCst, SeqCst);
            if begun.is_ok() {
                // SAFETY: There is no other writer until the number is even again.
                unsafe { self.action.get().write_volatile(action) };
                self.version.store(before.wrapping_add(2), SeqCst);
                return;
            }
            std::hint::spin_loop();
        }
    }
}

/// Whether our handler is the one that the system calls.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Returns whether SIGBUS is handled here, so that a program that sets its own action must use [`set_program_action`].
pub fn is_handled() -> bool {
    IS_INSTALLED.load(Acquire)
}

/// Sets what is done about a SIGBUS that has nothing to do with the trace, and returns what was done before. Like
/// `sigaction`, which would take the place of our handler.
pub fn set_program_action(action: Option<libc::sigaction>) -> libc::sigaction {
    let before = PROGRAM_ACTION.get();
    if let Some(action) = action {
        PROGRAM_ACTION.set(action);
    }
    before
}

/// Installs the handler, unless it is installed.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: The handler does only what a signal handler may do. The places are on this stack.
        unsafe {
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = on_bus_error as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigemptyset(&mut ours.sa_mask);
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, ptr::null(), &mut before) == 0 {
                PROGRAM_ACTION.set(before);
                if libc::sigaction(libc::SIGBUS, &ours, ptr::null_mut()) == 0 {
                    IS_INSTALLED.store(true, SeqCst);
                }
            }
        }
    });
}

/// The handler of SIGBUS.
extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: The system passes this, and the location of the thread's `errno` is always valid.
    unsafe {
        let errno = *libc::__errno_location();
        // Only if the system has raised it is there an address.
        let is_fault = (*info).si_code > 0;
        if !(is_fault && Guard::all().any(|guard| guard.handle((*info).si_addr().addr()))) {
            pass_on(signal, info, context, is_fault);
        }
        *libc::__errno_location() = errno;
    }
}

/// Does what the program has arranged for this signal.
///
/// # Safety
///
/// Called by a handler of the signal, with its arguments.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void, is_fault: bool) {
    let action = PROGRAM_ACTION.get();
    match action.sa_sigaction {
        libc::SIG_IGN if !is_fault => {}
        // A fault cannot be ignored: the system ends the process then.
        libc::SIG_DFL | libc::SIG_IGN => {
            IS_INSTALLED.store(false, SeqCst);
            // SAFETY: The default action; the signal comes again once this handler has returned.
            unsafe {
                let mut default: libc::sigaction = std::mem::zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &default, ptr::null_mut());
                if !is_fault {
                    libc::raise(signal);
                }
            }
        }
        handler => {
            if action.sa_flags & libc::SA_RESETHAND != 0 {
                // SAFETY: Zero is a valid value of each of its fields: the default action.
                PROGRAM_ACTION.set(unsafe { std::mem::zeroed() });
            }
            // SAFETY: The program has set this handler, of the type that the flag says. The mask is restored when ours
            // returns.
            unsafe {
                libc::pthread_sigmask(libc::SIG_BLOCK, &action.sa_mask, ptr::null_mut());
                match action.sa_flags & libc::SA_SIGINFO {
                    0 => {
                        let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                        handler(signal);
                    }
                    _ => {
                        type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
                        let handler: Handler = std::mem::transmute(handler);
                        handler(signal, info, context);
                    }
                }
            }
        }
    }
}
