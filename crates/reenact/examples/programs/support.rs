//! What several programs share.

mod acknowledged;
mod actors;
mod jitter;
mod parsed;
mod poison;
mod seen;
mod workers;

pub(crate) use self::{
    acknowledged::{Acknowledged, PARTIES, SharedNumbers},
    actors::build_actor,
    jitter::{Dice, jitter},
    parsed::parse_and_interpret,
    poison::poison_and_clear,
    seen::Seen,
    workers::{join_all, panic_quietly, run_workers, start_workers},
};
