//! A read lock that only readers want: one thread takes it, reads and leaves.
//!
//! It stresses the bookkeeping of shared acquisitions, which is separate from the mutex's.

use super::{Measured, Setting, sync::RwLock};

/// One thread: read-lock, read, unlock.
pub(super) fn read(setting: &Setting) -> Measured {
    const VALUE: u64 = 3;
    let count = setting.times(4_000_000);
    let value = RwLock::new(VALUE);
    let mut sum = 0u64;
    let measured = Measured::around(|| {
        for _ in 0..count {
            sum += *value.read().unwrap();
        }
        count
    });
    assert_eq!(sum, VALUE * count);
    measured
}

#[cfg(test)]
mod tests {
    use super::{Setting, read};

    #[test]
    fn every_read_sees_the_value() {
        assert_eq!(read(&Setting::tiny()).ops, 8_000);
    }
}
