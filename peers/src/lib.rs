#![doc = include_str!("../README.md")]

pub mod csp;
mod framework;
#[path = "../../crates/reenact-bench/src/measured.rs"]
mod measured;
mod on_actix;
mod on_kameo;
mod on_ractor;
mod on_tokio;
mod runtime;
pub mod sizes;
pub mod work;

pub use framework::{Framework, versions};
pub use measured::Measured;
