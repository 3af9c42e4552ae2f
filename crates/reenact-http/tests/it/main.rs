//! Servers with clients: off, recorded, replayed without any network, killed.

mod bodies;
mod client;
mod connections;
mod headers;
mod replayed;
mod stage;
