//! Pipes to a started program.

use std::{
    fmt,
    io::{self, Read, Write},
};

use crate::outside::{
    Name, Question, blocking, forward, ops, read_to_end, read_to_string, real, write_all,
};

macro_rules! pipe {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name {
            pub(super) inner: Option<std::process::$name>,
            name: Name,
        }

        impl $name {
            pub(super) fn new(inner: Option<std::process::$name>, name: &Name) -> $name {
                let name = name.clone();
                $name { inner, name }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

macro_rules! readable {
    ($name:ident, $which:literal) => {
        impl Read for $name {
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                Question::to(ops::READ_PIPE, &self.name)
                    .with($which)
                    .fill(buf, |buf| {
                        blocking(|| crate::outside::real_mut(&mut self.inner)?.read(buf))
                    })
            }

            #[track_caller]
            fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
                let $name { inner, name } = self;
                let question = || Question::to(ops::READ_PIPE, name).with($which);
                read_to_end(question, buf, |buf| {
                    blocking(|| crate::outside::real_mut(inner)?.read_to_end(buf))
                })
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

readable!(ChildStdout, b"stdout");
readable!(ChildStderr, b"stderr");

impl Write for &ChildStdin {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let count = Question::to(ops::WRITE_PIPE, &self.name)
            .with(buf)
            .number(|| blocking(|| real(&self.inner)?.write(buf).map(|count| count as u64)))?;
        Ok(buf.len().min(count as usize))
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

forward!(Write for ChildStdin);
