//! Options for opening a file.

use std::{fmt, io, os::unix::fs::OpenOptionsExt, path::Path};

use super::{File, bytes_of};
use crate::outside::{Name, Question, also, ops};

/// Options for opening a file: [`std::fs::OpenOptions`].
#[derive(Clone)]
pub struct OpenOptions {
    raw: std::fs::OpenOptions,
    writes: bool,
    /// One bit for each option, for comparison in a replay.
    chosen: u8,
}

/// The bits of [`OpenOptions::chosen`].
mod bit {
    pub(super) const READ: u8 = 1;
    pub(super) const WRITE: u8 = 1 << 1;
    pub(super) const APPEND: u8 = 1 << 2;
    pub(super) const TRUNCATE: u8 = 1 << 3;
    pub(super) const CREATE: u8 = 1 << 4;
    pub(super) const CREATE_NEW: u8 = 1 << 5;
}

impl OpenOptions {
    /// Returns options with nothing set.
    #[allow(clippy::new_without_default, reason = "as in std")]
    pub fn new() -> OpenOptions {
        OpenOptions {
            raw: std::fs::OpenOptions::new(),
            writes: false,
            chosen: 0,
        }
    }

    fn choose(&mut self, bit: u8, chosen: bool) -> &mut OpenOptions {
        self.chosen = if chosen {
            self.chosen | bit
        } else {
            self.chosen & !bit
        };
        self.writes = self.chosen & (bit::WRITE | bit::APPEND) != 0;
        self
    }

    /// Opens the file for reading.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.raw.read(read);
        self.choose(bit::READ, read)
    }

    /// Opens the file for writing.
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.raw.write(write);
        self.choose(bit::WRITE, write)
    }

    /// Opens the file for appending.
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.raw.append(append);
        self.choose(bit::APPEND, append)
    }

    /// Truncates the file.
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.raw.truncate(truncate);
        self.choose(bit::TRUNCATE, truncate)
    }

    /// Creates the file if it does not exist.
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.raw.create(create);
        self.choose(bit::CREATE, create)
    }

    /// Creates the file, which must not exist.
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.raw.create_new(create_new);
        self.choose(bit::CREATE_NEW, create_new)
    }

    /// Opens the file.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        self.open_path(path.as_ref())
    }

    #[track_caller]
    fn open_path(&self, path: &Path) -> io::Result<File> {
        let name = Name::new("file", path.display());
        let mut inner = None;
        Question::new(ops::OPEN, &name)
            .with_parts(&[bytes_of(path), &[self.chosen]])
            .done(|| {
                inner = Some(self.raw.open(path)?);
                Ok(())
            })?;
        if self.writes {
            inner = inner.or_else(|| also(|| self.raw.open(path)));
        }
        Ok(File::new(inner, name))
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
