//! Implements `Read` and `Write` for handles.

/// Implements `Read` for a handle and for a reference to it. The handle has methods `read_some` and `read_rest`.
macro_rules! readable {
    ($handle:ty) => {
        impl std::io::Read for &$handle {
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.read_some(buf)
            }

            #[track_caller]
            fn read_to_end(&mut self, buf: &mut Vec<u8>) -> std::io::Result<usize> {
                self.read_rest(buf)
            }

            #[track_caller]
            fn read_to_string(&mut self, buf: &mut String) -> std::io::Result<usize> {
                $crate::outside::read_to_string(buf, |bytes| self.read_rest(bytes))
            }
        }

        $crate::outside::forward!(Read for $handle);
    };
}

/// Implements `Write` for a handle and for a reference to it. The handle has a method `write_some`.
macro_rules! writable {
    ($handle:ty) => {
        impl std::io::Write for &$handle {
            #[track_caller]
            fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
                self.write_some(buf)
            }

            #[track_caller]
            fn write_all(&mut self, buf: &[u8]) -> std::io::Result<()> {
                $crate::outside::write_all(self, buf)
            }

            /// There is no buffer, so there is nothing to flush.
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        $crate::outside::forward!(Write for $handle);
    };
}

/// Implements `Read` or `Write` for a handle by its implementation for a reference to the handle.
macro_rules! forward {
    (Read for $handle:ty) => {
        impl std::io::Read for $handle {
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                (&*self).read(buf)
            }

            #[track_caller]
            fn read_to_end(&mut self, buf: &mut Vec<u8>) -> std::io::Result<usize> {
                (&*self).read_to_end(buf)
            }

            #[track_caller]
            fn read_to_string(&mut self, buf: &mut String) -> std::io::Result<usize> {
                (&*self).read_to_string(buf)
            }
        }
    };
    (Write for $handle:ty) => {
        impl std::io::Write for $handle {
            #[track_caller]
            fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
                (&*self).write(buf)
            }

            #[track_caller]
            fn write_all(&mut self, buf: &[u8]) -> std::io::Result<()> {
                (&*self).write_all(buf)
            }

            fn flush(&mut self) -> std::io::Result<()> {
                (&*self).flush()
            }
        }
    };
}

pub(crate) use {forward, readable, writable};
