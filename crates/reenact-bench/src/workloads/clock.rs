//! Reading a clock, again and again: what capturing what comes from outside costs where that is cheapest.

use super::{Measured, Setting, time};

/// The clock that only goes forward.
pub(super) fn monotonic(setting: &Setting) -> Measured {
    read(libc::CLOCK_MONOTONIC, setting)
}

/// The time of day.
pub(super) fn of_day(setting: &Setting) -> Measured {
    read(libc::CLOCK_REALTIME, setting)
}

fn read(clock: libc::clockid_t, setting: &Setting) -> Measured {
    let count = setting.times(5_000_000);
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let measured =
        Measured::around(|| (0..count).filter(|_| time::read(clock, &mut now)).count() as u64);
    assert_eq!(measured.ops, count);
    measured
}

#[cfg(test)]
mod tests {
    use super::{Setting, monotonic, of_day};

    #[test]
    fn every_reading_counts() {
        assert_eq!(monotonic(&Setting::tiny()).ops, 10_000);
        assert_eq!(of_day(&Setting::tiny()).ops, 10_000);
    }
}
