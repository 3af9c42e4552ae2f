//! Pseudorandom numbers: splitmix64, which takes two multiplications per number and has no state worth setting up.

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A pseudorandom number generator.
pub(super) struct Random(u64);

impl Random {
    /// The generator for one of many executions. Generators of neighbouring numbers are unrelated.
    pub(super) fn of(seed: u64, number: u64) -> Self {
        Random(mix(seed.wrapping_add(mix(number.wrapping_add(GAMMA)))))
    }

    /// Returns any number.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// Returns a number below `end`. The bias, at most one occurrence in 2^64 too many, is not worth a division.
    #[inline]
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

#[inline]
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
