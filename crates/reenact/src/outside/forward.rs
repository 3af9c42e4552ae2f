//! Implements `Read` and `Write` for a handle by its implementations for a reference to the handle.

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

pub(crate) use forward;
