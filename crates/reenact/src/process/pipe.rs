//! Pipes to a started program.

use std::{
    fmt,
    io::{self, Read, Write},
};

use crate::outside::{
    Handle, HandleName, SystemCall, blocking, ops, read_to_end, read_to_string, writable,
};

macro_rules! pipe {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name(Handle<std::process::$name>);

        impl $name {
            pub(super) fn new(inner: Option<std::process::$name>, name: &HandleName) -> $name {
                $name(Handle::new(inner, name.clone()))
            }

            pub(super) fn into_inner(mut self) -> Option<std::process::$name> {
                self.0.take_real()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

macro_rules! output {
    ($name:ident, $which:literal) => {
        impl Read for $name {
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let (name, mut pipe) = self.0.split();
                SystemCall::on(ops::READ_PIPE, name)
                    .with($which)
                    .fill(buf, |buf| blocking(|| pipe.get()?.read(buf)))
            }

            #[track_caller]
            fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
                let (name, mut pipe) = self.0.split();
                let call = || SystemCall::on(ops::READ_PIPE, name).with($which);
                read_to_end(call, buf, |buf| blocking(|| pipe.get()?.read_to_end(buf)))
            }

            #[track_caller]
            fn read_to_string(&mut self, buf: &mut String) -> io::Result<usize> {
                read_to_string(buf, |bytes| self.read_to_end(bytes))
            }
        }
    };
}

pipe! {
    /// The standard input of a program: [`std::process::ChildStdin`].
    ChildStdin
}
pipe! {
    /// The standard output of a program: [`std::process::ChildStdout`].
    ChildStdout
}
pipe! {
    /// The standard error of a program: [`std::process::ChildStderr`].
    ChildStderr
}

output!(ChildStdout, b"stdout");
output!(ChildStderr, b"stderr");

impl ChildStdin {
    #[track_caller]
    fn write_some(&self, buf: &[u8]) -> io::Result<usize> {
        let count = self
            .0
            .call(ops::WRITE_PIPE)
            .with(buf)
            .number(|| blocking(|| self.0.real()?.write(buf).map(|count| count as u64)))?;
        Ok(buf.len().min(count as usize))
    }
}

writable!(ChildStdin);
