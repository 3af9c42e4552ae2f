//! How executions are drawn: what each strategy is fair about.

/// How executions are drawn. Of the ways in which a step can go, each is always as likely as the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// In turns: two by [`Urw`](Strategy::Urw), one by [`Pct`](Strategy::Pct) of depth 3. What the one seldom meets is often easy for
    /// the other, and neither makes the other much slower. The one to begin with.
    #[default]
    Mixed,
    /// Each activity that can go on is as likely as the others. Says little: the more steps come before some point, the
    /// less likely is anything but a fair mixture.
    Walk,
    /// Each interleaving is as likely as the others, as far as earlier executions tell how many steps an activity has.
    Urw,
    /// Priorities that change at few points. With n activities and k steps, a failure that needs `depth` events in a
    /// certain order is met by an execution with a probability of at least 1/(n·k^(depth−1)).
    Pct {
        /// At least 1. Few failures need more than 3.
        depth: u32,
    },
    /// The same with chains of activities that come one after the other in place of n, for programs in which many
    /// activities do little each.
    Pctcp {
        /// See [`Strategy::Pct`].
        depth: u32,
    },
    /// A priority for each operation, drawn again for those that race with the one that goes first. Which of those that
    /// race goes first is open again each time, and little chance is spent on the order of those that do not.
    Pos,
}
