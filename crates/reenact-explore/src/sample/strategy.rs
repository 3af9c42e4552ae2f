//! The random strategies and their distributions.

/// How executions are drawn. Each choice of a step always has the same probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RandomStrategy {
    /// Alternates: two executions by [`Urw`](RandomStrategy::Urw), then one by [`Pct`](RandomStrategy::Pct) of depth 3.
    /// What one rarely finds is often easy for the other, and neither slows the other down much. Recommended as the
    /// first strategy to try.
    #[default]
    Mixed,
    /// Each enabled activity has the same probability. A weak guarantee: the more steps precede some point, the less
    /// likely is anything but an even interleaving.
    Walk,
    /// Each interleaving has the same probability, as far as earlier executions predict the number of steps of each
    /// activity.
    Urw,
    /// Priorities that change at few points. With n activities and k steps, an execution hits a failure that needs
    /// `depth` events in a certain order with a probability of at least 1/(n·k^(depth−1)).
    Pct {
        /// At least 1. Few failures need more than 3.
        depth: u32,
    },
    /// Like [`Pct`](RandomStrategy::Pct), with n the number of chains of successive activities, for programs with many
    /// activities that do little each.
    Pctcp {
        /// See [`RandomStrategy::Pct`].
        depth: u32,
    },
    /// A priority for each operation, drawn again for those that race with the operation that goes first. Which of
    /// several racing operations goes first is decided afresh each time, and little randomness is spent on the order of
    /// independent operations.
    Pos,
}
