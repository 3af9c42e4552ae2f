//! `File`.

use std::{
    fmt,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    time::SystemTime,
};

use super::{FileTimes, Metadata, OpenOptions, Permissions};
use crate::outside::{Handle, also, ops, read_to_end, readable, writable};

/// An open file: [`std::fs::File`], recorded.
///
/// In a replay there is no real file behind it, unless the replay [really writes](crate::fs).
pub struct File(Handle<std::fs::File>);

impl File {
    pub(super) fn new(handle: Handle<std::fs::File>) -> File {
        File(handle)
    }

    /// Returns the real file, if there is one.
    pub(crate) fn into_inner(mut self) -> Option<std::fs::File> {
        self.0.take_real()
    }

    /// Opens a file for reading.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(path: P) -> io::Result<File> {
        OpenOptions::new().read(true).open(path)
    }

    /// Opens a file for writing. Creates it if it does not exist, and truncates it if it does.
    #[track_caller]
    pub fn create<P: AsRef<Path>>(path: P) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).open(path)
    }

    /// Creates a file for reading and writing, which must not exist.
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(path: P) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).open(path)
    }

    /// Returns options for opening a file.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Syncs all data and metadata to disk.
    #[track_caller]
    pub fn sync_all(&self) -> io::Result<()> {
        self.done(ops::SYNC, &[b"all"], std::fs::File::sync_all)
    }

    /// Syncs the file's content to disk.
    #[track_caller]
    pub fn sync_data(&self) -> io::Result<()> {
        self.done(ops::SYNC, &[b"data"], std::fs::File::sync_data)
    }

    /// Truncates or extends the file.
    #[track_caller]
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        let length = size.to_le_bytes();
        self.done(ops::SET_LENGTH, &[&length], |file| file.set_len(size))
    }

    /// Returns the file's metadata.
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.0
            .call(ops::METADATA)
            .value(|| self.0.real()?.metadata().map(Metadata::of))
    }

    /// Returns another handle to the same open file.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<File> {
        self.0.try_clone(std::fs::File::try_clone).map(File)
    }

    /// Changes the file's permissions.
    #[track_caller]
    pub fn set_permissions(&self, perm: Permissions) -> io::Result<()> {
        let text = format!("{perm:?}");
        self.done(ops::SET_ATTRIBUTES, &[text.as_bytes()], |file| {
            file.set_permissions(perm.clone())
        })
    }

    /// Changes the file's timestamps.
    #[track_caller]
    pub fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let text = format!("{times:?}");
        self.done(ops::SET_ATTRIBUTES, &[text.as_bytes()], |file| {
            file.set_times(times)
        })
    }

    /// Changes the file's modification time.
    #[track_caller]
    pub fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time))
    }

    /// Asks for an operation on the file.
    #[track_caller]
    fn done(
        &self,
        op: reenact_engine::Op,
        how: &[&[u8]],
        action: impl Fn(&std::fs::File) -> io::Result<()>,
    ) -> io::Result<()> {
        self.0
            .call(op)
            .with_parts(how)
            .change(|| action(self.0.real()?))
    }

    #[track_caller]
    fn read_some(&self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self
            .0
            .call(ops::READ_FILE)
            .fill(buf, |buf| self.0.real()?.read(buf))?;
        self.skip(count);
        Ok(count)
    }

    #[track_caller]
    fn read_rest(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let call = || self.0.call(ops::READ_FILE);
        let count = read_to_end(call, buf, |buf| self.0.real()?.read_to_end(buf))?;
        self.skip(count);
        Ok(count)
    }

    /// Skips what was read, so that a replay that really writes does so at the right position.
    fn skip(&self, count: usize) {
        also(|| self.0.real()?.seek(SeekFrom::Current(count as i64)));
    }

    #[track_caller]
    fn write_some(&self, buf: &[u8]) -> io::Result<usize> {
        let count = self
            .0
            .call(ops::WRITE_FILE)
            .with(buf)
            .number(|| self.0.real()?.write(buf).map(|count| count as u64))?;
        let count = buf.len().min(count as usize);
        also(|| self.0.real()?.write_all(&buf[..count]));
        Ok(count)
    }
}

readable!(File);
writable!(File);

impl Seek for &File {
    #[track_caller]
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        let (whence, offset) = match pos {
            SeekFrom::Start(offset) => (0, offset),
            SeekFrom::End(offset) => (1, offset.cast_unsigned()),
            SeekFrom::Current(offset) => (2, offset.cast_unsigned()),
        };
        let position = self
            .0
            .call(ops::SEEK)
            .with_parts(&[&[whence], &offset.to_le_bytes()])
            .number(|| self.0.real()?.seek(pos))?;
        also(|| self.0.real()?.seek(SeekFrom::Start(position)));
        Ok(position)
    }
}

impl Seek for File {
    #[track_caller]
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        (&*self).seek(pos)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("path", self.0.name()).finish()
    }
}
