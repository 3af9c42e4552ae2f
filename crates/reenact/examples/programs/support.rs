//! What several programs share.

mod acknowledged;
mod jitter;
mod parsed;
mod seen;
mod workers;

pub(crate) use self::{
    acknowledged::{Acknowledged, PARTIES, SharedNumbers},
    jitter::{Dice, jitter},
    parsed::parse_and_interpret,
    seen::Seen,
    workers::{panic_quietly, run_workers},
};
