//! The program that a trace is of, and how its run ended.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::Xxh3;

use crate::open::open_regular;

/// The recorded program: enough to start it again in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// The executable.
    pub executable: PathBuf,
    /// The result of [`identify`] for the executable; 0 if it could not be read.
    pub build_id: u64,
    /// Arguments, including the name that it was called by.
    pub arguments: Vec<OsString>,
    /// Working directory.
    pub directory: PathBuf,
    /// The variables of the environment that are recorded whether the program reads them or not.
    pub environment: Vec<(OsString, OsString)>,
    /// What was to be kept out of the trace, such as `env:TOKEN` or `header:authorization`.
    pub withheld: Vec<String>,
}

/// Returns a hash of the executable's bytes, which changes when the executable does. It is not 0.
pub fn identify(executable: &Path) -> io::Result<u64> {
    identify_file(&open_regular(executable)?)
}

/// Returns the same for an open file, from where it is read next.
pub fn identify_file(mut file: &File) -> io::Result<u64> {
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.digest().max(1)),
            read => hasher.update(&buffer[..read]),
        }
    }
}

impl Program {
    /// Returns the running program.
    pub fn current() -> Program {
        let executable = std::env::current_exe().unwrap_or_default();
        Program {
            build_id: identify(Path::new("/proc/self/exe")).unwrap_or(0),
            executable,
            arguments: std::env::args_os().collect(),
            directory: std::env::current_dir().unwrap_or_default(),
            environment: std::env::vars_os().collect(),
            withheld: Vec::new(),
        }
    }

    /// Encodes the program as length-prefixed strings: executable, directory, build id, the arguments, the environment,
    /// and since version 3 what is withheld.
    pub(crate) fn to_bytes(&self, version: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, self.executable.as_os_str());
        put(&mut bytes, self.directory.as_os_str());
        bytes.extend_from_slice(&self.build_id.to_le_bytes());
        put_count(&mut bytes, self.arguments.len());
        for argument in &self.arguments {
            put(&mut bytes, argument);
        }
        put_count(&mut bytes, self.environment.len());
        for (name, value) in &self.environment {
            put(&mut bytes, name);
            put(&mut bytes, value);
        }
        if version > 2 {
            put_count(&mut bytes, self.withheld.len());
            for what in &self.withheld {
                put(&mut bytes, OsStr::new(what));
            }
        }
        bytes
    }

    pub(crate) fn from_bytes(mut bytes: &[u8], version: u16) -> Option<Program> {
        let bytes = &mut bytes;
        let executable = get(bytes)?.into();
        let directory = get(bytes)?.into();
        let build_id = u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?);
        let arguments = (0..get_count(bytes)?)
            .map(|_| get(bytes))
            .collect::<Option<_>>()?;
        let environment = (0..get_count(bytes)?)
            .map(|_| Some((get(bytes)?, get(bytes)?)))
            .collect::<Option<_>>()?;
        let withheld = match version {
            ..=2 => Vec::new(),
            _ => (0..get_count(bytes)?)
                .map(|_| get(bytes)?.into_string().ok())
                .collect::<Option<_>>()?,
        };
        // Otherwise this is of another version, or not a program at all. Nothing else in a file distinguishes versions.
        bytes.is_empty().then_some(())?;
        Some(Program {
            executable,
            build_id,
            arguments,
            directory,
            environment,
            withheld,
        })
    }
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend_from_slice(&(count as u32).to_le_bytes());
}

fn put(bytes: &mut Vec<u8>, text: &OsStr) {
    put_count(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(head)
}

fn get_count(bytes: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(bytes, 4)?.try_into().ok()?))
}

fn get(bytes: &mut &[u8]) -> Option<OsString> {
    let length = get_count(bytes)? as usize;
    Some(OsString::from_vec(take(bytes, length)?.to_vec()))
}

/// How the recorded process ended, as its parent saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Status(i32),
    /// It was ended by this signal.
    Signal(i32),
}

impl Exit {
    pub(crate) fn to_bytes(self) -> [u8; 8] {
        let (what, number) = match self {
            Exit::Status(status) => (0u32, status),
            Exit::Signal(signal) => (1, signal),
        };
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&what.to_le_bytes());
        bytes[4..].copy_from_slice(&number.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Exit> {
        let number = i32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
        match bytes.get(..4)? {
            [0, 0, 0, 0] => Some(Exit::Status(number)),
            [1, 0, 0, 0] => Some(Exit::Signal(number)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Status(status) => write!(f, "exited with status {status}"),
            Exit::Signal(signal) => {
                write!(f, "was ended by signal {signal}{}", signal_name(*signal))
            }
        }
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGILL => " (SIGILL)",
        libc::SIGINT => " (SIGINT)",
        libc::SIGKILL => " (SIGKILL)",
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGTERM => " (SIGTERM)",
        _ => "",
    }
}

/// Why recording ended before the program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The trace could not be written: the operating system's error number.
    Storage(i32),
    /// More threads or activities at once than a live file has room for, or a disk that is far slower than the program.
    NoRoom,
    /// Recording was ended through the API while activities were still running.
    Asked,
    /// Somebody truncated the live file.
    Truncated,
}

impl StopReason {
    pub(crate) fn to_code(self) -> (u32, u32) {
        match self {
            StopReason::Storage(errno) => (1, errno as u32),
            StopReason::NoRoom => (2, 0),
            StopReason::Asked => (3, 0),
            StopReason::Truncated => (4, 0),
        }
    }

    pub(crate) fn from_code(code: u32, errno: u32) -> Option<StopReason> {
        match code {
            1 => Some(StopReason::Storage(errno as i32)),
            2 => Some(StopReason::NoRoom),
            3 => Some(StopReason::Asked),
            4 => Some(StopReason::Truncated),
            _ => None,
        }
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StopReason::Storage(errno) => write!(
                f,
                "the trace could not be written: {}",
                io::Error::from_raw_os_error(*errno)
            ),
            StopReason::NoRoom => f.write_str(
                "more threads were recording at once than a trace has room for, or the disk was too slow",
            ),
            StopReason::Asked => f.write_str("recording was ended by the program"),
            StopReason::Truncated => {
                f.write_str("the live file was truncated while the program was recording")
            }
        }
    }
}
