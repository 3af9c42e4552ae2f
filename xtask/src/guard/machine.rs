//! Finds out how busy the machine is.

use std::{fs, thread};

/// The least speed that is assumed: a test that hangs has to end even where the load is high for good.
const SLOWEST: f64 = 1.0 / 16.0;

/// Returns how fast a thread gets on, compared with an idle machine: the share of the processors that it gets if all who
/// want to run get the same.
pub(super) fn speed() -> f64 {
    let cores = thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    let load = fs::read_to_string("/proc/loadavg");
    let load = load.ok().and_then(|text| load_of(&text));
    speed_of(cores, load.unwrap_or(0.0))
}

/// Returns the load during the last minute: the number of threads that ran or wanted to run.
fn load_of(loadavg: &str) -> Option<f64> {
    loadavg.split(' ').next()?.parse().ok()
}

fn speed_of(cores: f64, load: f64) -> f64 {
    (cores / load.max(cores)).max(SLOWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_less_where_more_threads_want_to_run_than_can() {
        let speed = |loadavg| speed_of(2.0, load_of(loadavg).unwrap());
        assert_eq!(speed("0.08 0.30 0.22 1/170 9121"), 1.0);
        assert_eq!(speed("2.00 1.00 1.00 2/170 9121"), 1.0);
        assert_eq!(speed("8.00 1.00 1.00 9/170 9121"), 0.25);
        assert_eq!(speed("400.00 1.00 1.00 9/170 9121"), SLOWEST);
        assert_eq!(load_of("nothing"), None);
    }
}
