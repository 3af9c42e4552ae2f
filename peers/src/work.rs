//! What the actors compute, the same on every library.
//!
//! Like `sizes.rs` this file depends on nothing, so that other implementations can include it.

use std::hint::black_box;

/// Savina's computation for its fork-join programs.
///
/// Its argument is hidden from the compiler, which would otherwise compute it once and for all.
#[inline]
pub fn tiny_computation() -> f64 {
    let sine = black_box(37.2_f64).sin();
    sine * sine
}

/// Marsaglia's xorshift64: each actor's own source of random neighbours.
#[derive(Clone, Debug)]
pub struct XorShift {
    state: u64,
}

impl XorShift {
    /// The sequence of the actor with this index.
    pub fn of_actor(index: usize) -> Self {
        // Zero is the one state that xorshift never leaves, and small seeds start out alike.
        let state = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { state }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// An index below `count` other than `own`. There must be at least two.
    #[inline]
    pub fn other_than(&mut self, own: usize, count: usize) -> usize {
        let others = count as u64 - 1;
        let other = ((u128::from(self.next_u64()) * u128::from(others)) >> 64) as usize;
        if other < own { other } else { other + 1 }
    }
}

/// The colour of a chameneos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// One of the three.
    Blue,
    /// One of the three.
    Red,
    /// One of the three.
    Yellow,
}

impl Colour {
    /// The colour with which the creature of this index is born.
    pub fn of_creature(index: usize) -> Self {
        [Self::Yellow, Self::Blue, Self::Red][index % 3]
    }

    /// What a creature of this colour becomes by meeting one of `other`: the third colour, or its
    /// own if both have the same.
    #[inline]
    pub fn after_meeting(self, other: Self) -> Self {
        match (self, other) {
            (Self::Blue, Self::Red) | (Self::Red, Self::Blue) => Self::Yellow,
            (Self::Blue, Self::Yellow) | (Self::Yellow, Self::Blue) => Self::Red,
            (Self::Red, Self::Yellow) | (Self::Yellow, Self::Red) => Self::Blue,
            (same, _) => same,
        }
    }
}

/// The table of the dining philosophers, as the arbitrator sees it.
#[derive(Clone, Debug)]
pub struct Forks {
    taken: Vec<bool>,
}

impl Forks {
    /// As many free forks as philosophers.
    pub fn new(philosophers: usize) -> Self {
        Self {
            taken: vec![false; philosophers],
        }
    }

    /// Takes both forks beside this seat, or neither.
    #[inline]
    pub fn take(&mut self, seat: usize) -> bool {
        let (left, right) = self.beside(seat);
        if self.taken[left] || self.taken[right] {
            return false;
        }
        self.taken[left] = true;
        self.taken[right] = true;
        true
    }

    /// Puts back both forks beside this seat.
    #[inline]
    pub fn put_back(&mut self, seat: usize) {
        let (left, right) = self.beside(seat);
        self.taken[left] = false;
        self.taken[right] = false;
    }

    /// Whether nobody has a fork.
    pub fn all_free(&self) -> bool {
        self.taken.iter().all(|taken| !taken)
    }

    fn beside(&self, seat: usize) -> (usize, usize) {
        let right = seat + 1;
        (seat, if right == self.taken.len() { 0 } else { right })
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour, Forks, XorShift};

    #[test]
    fn an_actor_never_pings_itself() {
        for own in 0..5 {
            let mut random = XorShift::of_actor(own);
            let mut seen = [false; 5];
            for _ in 0..200 {
                seen[random.other_than(own, 5)] = true;
            }
            let everybody_else: Vec<_> = (0..5).map(|index| index != own).collect();
            assert_eq!(seen.to_vec(), everybody_else);
        }
    }

    #[test]
    fn two_colours_make_the_third() {
        assert_eq!(Colour::Blue.after_meeting(Colour::Red), Colour::Yellow);
        assert_eq!(Colour::Blue.after_meeting(Colour::Blue), Colour::Blue);
    }

    #[test]
    fn neighbours_cannot_eat_at_once() {
        let mut forks = Forks::new(4);
        assert!(forks.take(3));
        assert!(!forks.take(0));
        assert!(!forks.take(2));
        assert!(forks.take(1));
        forks.put_back(3);
        forks.put_back(1);
        assert!(forks.all_free());
    }
}
