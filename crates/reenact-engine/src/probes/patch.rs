//! The code of the process: where it is, how it is changed, and where replaced instructions run.

use std::{
    ffi::{c_int, c_void},
    fs::File,
    io,
    os::{
        fd::{IntoRawFd, RawFd},
        unix::fs::FileExt,
    },
};

use super::{
    handler::system_call,
    plan::{Probe, Relocated, Resume},
};

/// The instruction `int3`.
pub(super) const BREAK: u8 = 0xcc;

/// Returns the difference between the addresses of this process and those in the executable file.
pub(super) fn bias() -> u64 {
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        result: *mut c_void,
    ) -> c_int {
        // SAFETY: The C library passes a valid description of a loaded file, and the caller a place for the result.
        unsafe { *result.cast::<u64>() = (*info).dlpi_addr };
        // Not 0: the executable is the first file, and the only one of interest.
        1
    }
    let mut bias = 0_u64;
    // SAFETY: `first` writes to `bias`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut bias).cast()) };
    bias
}

/// The code of this process, which may be changed although it is mapped read-only.
pub(super) struct Code {
    memory: RawFd,
}

impl Code {
    pub(super) fn open() -> io::Result<Code> {
        let memory = File::options()
            .read(true)
            .write(true)
            .open("/proc/self/mem")?;
        Ok(Code {
            memory: memory.into_raw_fd(),
        })
    }

    /// Replaces the first byte of the instruction of each probe; fails without a change if one is not what the plan
    /// says. Probes are in ascending order.
    pub(super) fn place(&self, probes: &[Probe], bias: u64) -> Result<(), String> {
        /// Probes closer than this are written together.
        const NEAR: u64 = 1 << 16;
        let memory = self.borrow();
        let mut rest = probes;
        let mut pieces = Vec::new();
        while let Some(first) = rest.first() {
            let count = rest.partition_point(|probe| probe.address - first.address < NEAR);
            let (near, further) = rest.split_at(count);
            let last = near.last().unwrap_or(first);
            let mut bytes = vec![0; (last.address - first.address) as usize + 1];
            let at = bias.wrapping_add(first.address);
            let failed = |error| format!("the code at {:#x}: {error}", first.address);
            memory.read_exact_at(&mut bytes, at).map_err(failed)?;
            for probe in near {
                let byte = &mut bytes[(probe.address - first.address) as usize];
                if *byte != probe.replaced {
                    return Err(format!(
                        "the code at {:#x} is not that of the executable that was planned for",
                        probe.address
                    ));
                }
                *byte = BREAK;
            }
            pieces.push((at, bytes));
            rest = further;
        }
        for (at, bytes) in pieces {
            let failed = |error| format!("cannot change the code at {at:#x}: {error}");
            memory.write_all_at(&bytes, at).map_err(failed)?;
        }
        Ok(())
    }

    /// Puts a byte back. Runs in a signal handler.
    pub(super) fn restore(&self, at: u64, byte: u8) {
        // SAFETY: The call writes a byte of this process's code back that `place` has replaced.
        unsafe {
            system_call([
                libc::SYS_pwrite64,
                self.memory.into(),
                (&raw const byte) as i64,
                1,
                at as i64,
                0,
                0,
            ])
        };
    }

    /// Returns the file without closing it afterwards.
    fn borrow(&self) -> std::mem::ManuallyDrop<File> {
        use std::os::fd::FromRawFd;
        // SAFETY: The descriptor is open until the process ends, and is not closed here.
        std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(self.memory) })
    }
}

/// Where replaced instructions run: executable memory close enough to the code that they can refer to its data.
pub(super) struct Slots {
    /// The address of each probe's code; 0 for one that needs none.
    pub(super) addresses: Vec<u64>,
}

impl Slots {
    pub(super) fn new(probes: &[Probe], bias: u64) -> Result<Slots, String> {
        let relocated = |probe: &Probe| match &probe.resume {
            Resume::Elsewhere(code) | Resume::Call { jump: code, .. } => Some(code.clone()),
            Resume::Once | Resume::Return(_) => None,
        };
        let all: Vec<Option<Relocated>> = probes.iter().map(relocated).collect();
        let size = all.iter().flatten().map(|code| code.code.len()).sum();
        if size == 0 {
            return Ok(Slots {
                addresses: vec![0; probes.len()],
            });
        }
        let memory = near(bias, size).map_err(|error| error.to_string())?;
        let mut bytes = Vec::with_capacity(size);
        let mut addresses = Vec::with_capacity(probes.len());
        for code in all {
            let Some(code) = code else {
                addresses.push(0);
                continue;
            };
            let at = memory + bytes.len() as u64;
            addresses.push(at);
            bytes.extend(code.placed(at, bias)?);
        }
        // SAFETY: The mapping is ours, has this size and is not executable yet.
        let result = unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory as *mut u8, bytes.len());
            libc::mprotect(
                memory as *mut c_void,
                size,
                libc::PROT_READ | libc::PROT_EXEC,
            )
        };
        match result {
            0 => Ok(Slots { addresses }),
            _ => Err(io::Error::last_os_error().to_string()),
        }
    }
}

impl Relocated {
    /// Returns the code for this address.
    fn placed(&self, at: u64, bias: u64) -> Result<Vec<u8>, String> {
        let mut code = self.code.clone();
        let damaged = || "the plan is damaged".to_owned();
        for &(offset, address) in &self.absolute {
            let offset = usize::from(offset);
            let place = code.get_mut(offset..offset + 8).ok_or_else(damaged)?;
            place.copy_from_slice(&bias.wrapping_add(address).to_le_bytes());
        }
        for &(offset, end, address) in &self.relative {
            let from = at + u64::from(end);
            let distance = bias.wrapping_add(address).wrapping_sub(from) as i64;
            let distance = i32::try_from(distance)
                .map_err(|_| "no memory near enough to the code is free".to_owned())?;
            let offset = usize::from(offset);
            let place = code.get_mut(offset..offset + 4).ok_or_else(damaged)?;
            place.copy_from_slice(&distance.to_le_bytes());
        }
        Ok(code)
    }
}

/// Maps memory of this size below the executable, where it is within reach of 32-bit displacements.
fn near(bias: u64, size: usize) -> io::Result<u64> {
    const STEP: u64 = 1 << 24;
    const STEPS: u64 = 64;
    // An executable at a fixed address has a bias of 0.
    let base = (&raw const BREAK_ANCHOR as u64).max(bias) & !(STEP - 1);
    for distance in 1..STEPS {
        let below = base.checked_sub(distance * STEP + size.next_multiple_of(4096) as u64);
        let places = [below, base.checked_add(distance * STEP + (1 << 28))];
        for place in places.into_iter().flatten() {
            // SAFETY: The mapping replaces no other.
            let memory = unsafe {
                libc::mmap(
                    (place & !4095) as *mut c_void,
                    size,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                    -1,
                    0,
                )
            };
            if memory != libc::MAP_FAILED {
                return Ok(memory as u64);
            }
        }
    }
    Err(io::Error::last_os_error())
}

/// Something in the executable.
static BREAK_ANCHOR: u8 = BREAK;
