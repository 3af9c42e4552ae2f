//! How large a run is.
//!
//! This file names nothing but std, so that the package `peers` can include it: programs that are compiled against other
//! libraries there are sized in the same way.

/// How large a run is.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Multiplies the amount of work; 1 is the size of a full benchmark run.
    pub scale: f64,
    /// Overrides the number of threads of a program that has one to choose; for a program of actors, the number of
    /// workers, which is otherwise that of the cores.
    pub threads: Option<usize>,
}

impl Setting {
    /// `base` pieces of work at this scale, at least one.
    pub fn times(&self, base: u64) -> u64 {
        ((base as f64 * self.scale).round() as u64).max(1)
    }

    /// The number of threads, where the program itself would take `default`.
    pub fn threads_or(&self, default: usize) -> usize {
        self.threads.unwrap_or(default).max(1)
    }

    /// The smallest setting, for tests.
    #[cfg(test)]
    pub(crate) fn tiny() -> Self {
        Self {
            scale: 0.002,
            threads: None,
        }
    }
}
