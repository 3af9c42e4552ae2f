//! Handles can be moved, shared and shown as those of the standard library can.

use std::{
    fmt::Debug,
    io::{Read, Seek, Write},
    panic::{RefUnwindSafe, UnwindSafe},
};

use reenact::{fs, net, process, source::Source};

fn is_like_stds<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug>() {}
fn is_read<T: Read>() {}
fn is_written<T: Write>() {}
fn is_sought<T: Seek>() {}

#[test]
fn handles_are_sent_shared_and_shown() {
    is_like_stds::<fs::File>();
    is_like_stds::<fs::OpenOptions>();
    is_like_stds::<fs::Metadata>();
    is_like_stds::<fs::FileType>();
    is_like_stds::<fs::ReadDir>();
    is_like_stds::<fs::DirEntry>();
    is_like_stds::<fs::DirBuilder>();
    is_like_stds::<net::TcpStream>();
    is_like_stds::<net::TcpListener>();
    is_like_stds::<net::Incoming<'_>>();
    is_like_stds::<net::UdpSocket>();
    is_like_stds::<process::Child>();
    is_like_stds::<process::ChildStdin>();
    is_like_stds::<process::ChildStdout>();
    is_like_stds::<process::ChildStderr>();
    is_like_stds::<process::Stdio>();
}

#[test]
fn a_source_is_emitted_into_by_everybody() {
    fn is_shared<T: Send + Sync + Debug>() {}
    is_shared::<Source<Vec<u8>>>();
}

#[test]
fn who_borrows_a_handle_reads_and_writes() {
    is_read::<&fs::File>();
    is_written::<&fs::File>();
    is_sought::<&fs::File>();
    is_sought::<fs::File>();
    is_read::<&net::TcpStream>();
    is_written::<&net::TcpStream>();
    is_written::<&process::ChildStdin>();
    is_read::<process::ChildStdout>();
    is_read::<process::ChildStderr>();
}
