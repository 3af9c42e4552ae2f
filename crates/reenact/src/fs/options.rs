//! Options for opening a file.

use std::{fmt, io, os::unix::fs::OpenOptionsExt, path::Path};

use super::{File, bytes_of, open};
use crate::outside::ops;

/// Options for opening a file: [`std::fs::OpenOptions`].
#[derive(Clone)]
pub struct OpenOptions {
    raw: std::fs::OpenOptions,
    /// One bit for each option, for comparison in a replay.
    chosen: u8,
}

macro_rules! options {
    ($($(#[$doc:meta])* $option:ident = $bit:expr;)*) => {
        impl OpenOptions {$(
            $(#[$doc])*
            pub fn $option(&mut self, $option: bool) -> &mut OpenOptions {
                self.raw.$option($option);
                self.choose($bit, $option)
            }
        )*}
    };
}

options! {
    /// Opens the file for reading.
    read = 1;
    /// Opens the file for writing.
    write = WRITE;
    /// Opens the file for appending.
    append = APPEND;
    /// Truncates the file.
    truncate = 1 << 3;
    /// Creates the file if it does not exist.
    create = 1 << 4;
    /// Creates the file, which must not exist.
    create_new = 1 << 5;
}

const WRITE: u8 = 1 << 1;
const APPEND: u8 = 1 << 2;

impl OpenOptions {
    /// Returns options with nothing set.
    #[allow(clippy::new_without_default, reason = "as in std")]
    pub fn new() -> OpenOptions {
        OpenOptions {
            raw: std::fs::OpenOptions::new(),
            chosen: 0,
        }
    }

    fn choose(&mut self, bit: u8, chosen: bool) -> &mut OpenOptions {
        self.chosen = if chosen {
            self.chosen | bit
        } else {
            self.chosen & !bit
        };
        self
    }

    /// Opens the file.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        self.open_path(path.as_ref())
    }

    #[track_caller]
    fn open_path(&self, path: &Path) -> io::Result<File> {
        let parts = [bytes_of(path), &[self.chosen]];
        let mut handle = open(ops::OPEN, path, &parts, || self.raw.open(path))?;
        if self.chosen & (WRITE | APPEND) != 0 {
            handle.open_in_replay(|| self.raw.open(path));
        }
        Ok(File::new(handle))
    }
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, mode: u32) -> &mut Self {
        self.raw.mode(mode);
        self
    }

    fn custom_flags(&mut self, flags: i32) -> &mut Self {
        self.raw.custom_flags(flags);
        self
    }
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}
