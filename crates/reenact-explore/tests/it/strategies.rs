//! The strategies that draw executions at random.

use reenact_explore::RandomStrategy;

pub(crate) const ALL: [RandomStrategy; 6] = [
    RandomStrategy::Mixed,
    RandomStrategy::Walk,
    RandomStrategy::Urw,
    RandomStrategy::Pct { depth: 3 },
    RandomStrategy::Pctcp { depth: 3 },
    RandomStrategy::Pos,
];
