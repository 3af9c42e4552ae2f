//! `File`.

use std::{
    fmt,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    time::SystemTime,
};

use super::{FileTimes, Metadata, OpenOptions, Permissions};
use crate::outside::{
    Name, Question, also, forward, ops, read_to_end, read_to_string, real, write_all,
};

/// An open file: [`std::fs::File`], recorded.
///
/// In a replay there is no real file behind it, unless the replay [really writes](crate::fs).
pub struct File {
    inner: Option<std::fs::File>,
    name: Name,
}

impl File {
    pub(super) fn new(inner: Option<std::fs::File>, name: Name) -> File {
        File { inner, name }
    }

    /// Returns the real file, if there is one.
    pub(crate) fn into_inner(self) -> Option<std::fs::File> {
        self.inner
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
        Question::to(ops::METADATA, &self.name)
            .value(|| real(&self.inner)?.metadata().map(Metadata::of))
    }

    /// Returns another handle to the same open file.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<File> {
        let mut inner = None;
        Question::to(ops::CLONE, &self.name).done(|| {
            inner = Some(real(&self.inner)?.try_clone()?);
            Ok(())
        })?;
        let inner = inner.or_else(|| also(|| real(&self.inner)?.try_clone()));
        Ok(File::new(inner, self.name.clone()))
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
        Question::to(op, &self.name)
            .with_parts(how)
            .done(|| action(real(&self.inner)?))?;
        also(|| action(real(&self.inner)?));
        Ok(())
    }
}

impl Read for &File {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = Question::to(ops::READ_FILE, &self.name)
            .fill(buf, |buf| real(&self.inner)?.read(buf))?;
        self.skip(count);
        Ok(count)
    }

    #[track_caller]
    fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let question = || Question::to(ops::READ_FILE, &self.name);
        let count = read_to_end(question, buf, |buf| real(&self.inner)?.read_to_end(buf))?;
        self.skip(count);
        Ok(count)
    }

    #[track_caller]
    fn read_to_string(&mut self, buf: &mut String) -> io::Result<usize> {
        read_to_string(buf, |bytes| self.read_to_end(bytes))
    }
}

impl File {
    /// Skips what was read, so that a replay that really writes does so at the right position.
    fn skip(&self, count: usize) {
        also(|| real(&self.inner)?.seek(SeekFrom::Current(count as i64)));
    }
}

impl Write for &File {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let count = Question::to(ops::WRITE_FILE, &self.name)
            .with(buf)
            .number(|| real(&self.inner)?.write(buf).map(|count| count as u64))?;
        let count = buf.len().min(count as usize);
        also(|| real(&self.inner)?.write_all(&buf[..count]));
        Ok(count)
    }

    #[track_caller]
    fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
        write_all(self, buf)
    }

    /// There is no buffer, so there is nothing to flush.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &File {
    #[track_caller]
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        let (whence, offset) = match pos {
            SeekFrom::Start(offset) => (0, offset),
            SeekFrom::End(offset) => (1, offset.cast_unsigned()),
            SeekFrom::Current(offset) => (2, offset.cast_unsigned()),
        };
        let position = Question::to(ops::SEEK, &self.name)
            .with_parts(&[&[whence], &offset.to_le_bytes()])
            .number(|| real(&self.inner)?.seek(pos))?;
        also(|| real(&self.inner)?.seek(SeekFrom::Start(position)));
        Ok(position)
    }
}

forward!(Read for File);
forward!(Write for File);

impl Seek for File {
    #[track_caller]
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        (&*self).seek(pos)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("path", &self.name).finish()
    }
}
