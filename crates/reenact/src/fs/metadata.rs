//! Metadata of a file.
//!
//! The standard library's own types cannot be constructed, so these have the same methods.

use std::{
    io,
    os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

use super::Permissions;

/// Metadata of a file: [`std::fs::Metadata`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metadata {
    file_type: FileType,
    mode: u32,
    size: u64,
    dev: u64,
    ino: u64,
    nlink: u64,
    uid: u32,
    gid: u32,
    rdev: u64,
    blksize: u64,
    blocks: u64,
    accessed: Moment,
    modified: Moment,
    changed: Moment,
    created: Option<Moment>,
}

/// Seconds and nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Moment {
    seconds: i64,
    nanos: i64,
}

impl Moment {
    fn new(seconds: i64, nanos: i64) -> Moment {
        Moment { seconds, nanos }
    }

    fn of(time: SystemTime) -> Moment {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => Moment::new(since.as_secs() as i64, since.subsec_nanos().into()),
            Err(error) => {
                let before = error.duration();
                Moment::new(
                    -(before.as_secs() as i64),
                    -i64::from(before.subsec_nanos()),
                )
            }
        }
    }

    fn time(self) -> Option<SystemTime> {
        let add = |time: SystemTime, amount: i64, unit: fn(u64) -> Duration| {
            let change = unit(amount.unsigned_abs());
            match amount {
                0.. => time.checked_add(change),
                _ => time.checked_sub(change),
            }
        };
        let seconds = add(SystemTime::UNIX_EPOCH, self.seconds, Duration::from_secs)?;
        add(seconds, self.nanos, Duration::from_nanos)
    }
}

impl Metadata {
    pub(super) fn of(raw: std::fs::Metadata) -> Metadata {
        Metadata {
            file_type: FileType::of(raw.file_type()),
            mode: raw.mode(),
            size: raw.size(),
            dev: raw.dev(),
            ino: raw.ino(),
            nlink: raw.nlink(),
            uid: raw.uid(),
            gid: raw.gid(),
            rdev: raw.rdev(),
            blksize: raw.blksize(),
            blocks: raw.blocks(),
            accessed: Moment::new(raw.atime(), raw.atime_nsec()),
            modified: Moment::new(raw.mtime(), raw.mtime_nsec()),
            changed: Moment::new(raw.ctime(), raw.ctime_nsec()),
            created: raw.created().ok().map(Moment::of),
        }
    }

    /// Returns the file type.
    #[must_use]
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// Whether it is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.file_type.is_dir()
    }

    /// Whether it is a regular file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.file_type.is_file()
    }

    /// Whether it is a symbolic link.
    #[must_use]
    pub fn is_symlink(&self) -> bool {
        self.file_type.is_symlink()
    }

    /// Returns the size in bytes.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "as in std")]
    pub fn len(&self) -> u64 {
        self.size
    }

    /// Returns the permissions.
    #[must_use]
    pub fn permissions(&self) -> Permissions {
        Permissions::from_mode(self.mode)
    }

    /// Returns the time of the last modification.
    pub fn modified(&self) -> io::Result<SystemTime> {
        time(Some(self.modified))
    }

    /// Returns the time of the last access.
    pub fn accessed(&self) -> io::Result<SystemTime> {
        time(Some(self.accessed))
    }

    /// Returns the time of creation, if the file system records it.
    pub fn created(&self) -> io::Result<SystemTime> {
        time(self.created)
    }
}

fn time(moment: Option<Moment>) -> io::Result<SystemTime> {
    moment.and_then(Moment::time).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "the time is not available for this file",
        )
    })
}

macro_rules! metadata_ext {
    ($($method:ident: $type:ty = $($field:tt).+;)*) => {
        impl MetadataExt for Metadata {$(
            fn $method(&self) -> $type {
                self.$($field).+
            }
        )*}
    };
}

metadata_ext! {
    dev: u64 = dev;
    ino: u64 = ino;
    mode: u32 = mode;
    nlink: u64 = nlink;
    uid: u32 = uid;
    gid: u32 = gid;
    rdev: u64 = rdev;
    size: u64 = size;
    atime: i64 = accessed.seconds;
    atime_nsec: i64 = accessed.nanos;
    mtime: i64 = modified.seconds;
    mtime_nsec: i64 = modified.nanos;
    ctime: i64 = changed.seconds;
    ctime_nsec: i64 = changed.nanos;
    blksize: u64 = blksize;
    blocks: u64 = blocks;
}

/// A file type: [`std::fs::FileType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileType(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Kind {
    File,
    Dir,
    Symlink,
    Fifo,
    Socket,
    BlockDevice,
    CharDevice,
    Unknown,
}

impl FileType {
    pub(super) fn of(raw: std::fs::FileType) -> FileType {
        let kinds = [
            (raw.is_file(), Kind::File),
            (raw.is_dir(), Kind::Dir),
            (raw.is_symlink(), Kind::Symlink),
            (raw.is_fifo(), Kind::Fifo),
            (raw.is_socket(), Kind::Socket),
            (raw.is_block_device(), Kind::BlockDevice),
            (raw.is_char_device(), Kind::CharDevice),
        ];
        let kind = kinds.into_iter().find(|(is_it, _)| *is_it);
        FileType(kind.map_or(Kind::Unknown, |(_, kind)| kind))
    }
}

macro_rules! file_types {
    ($($(#[$doc:meta])* $method:ident = $kind:ident;)*) => {
        impl FileType {$(
            $(#[$doc])*
            #[must_use]
            pub fn $method(&self) -> bool {
                self.0 == Kind::$kind
            }
        )*}
    };
}

file_types! {
    /// Whether it is a directory.
    is_dir = Dir;
    /// Whether it is a regular file.
    is_file = File;
    /// Whether it is a symbolic link.
    is_symlink = Symlink;
    /// Whether it is a named pipe.
    is_fifo = Fifo;
    /// Whether it is a socket.
    is_socket = Socket;
    /// Whether it is a block device.
    is_block_device = BlockDevice;
    /// Whether it is a character device.
    is_char_device = CharDevice;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_same_time_again() {
        let times = [
            SystemTime::UNIX_EPOCH,
            SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789),
            SystemTime::UNIX_EPOCH - Duration::new(5, 250),
        ];
        for time in times {
            assert_eq!(Moment::of(time).time(), Some(time));
        }
        // As the system writes it: nanoseconds are never negative.
        let before = SystemTime::UNIX_EPOCH - Duration::from_millis(500);
        assert_eq!(Moment::new(-1, 500_000_000).time(), Some(before));
    }
}
