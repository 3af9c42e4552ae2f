//! Generated programs, explored and tried in every way: see [`oracle`](crate::oracle).

mod actors;
mod channels;
mod locks;
mod mixed;
mod processes;
mod transactions;
