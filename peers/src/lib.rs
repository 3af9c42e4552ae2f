#![doc = include_str!("../README.md")]

#[path = "../../crates/reenact-bench/src/circuit.rs"]
pub mod circuit;
pub mod csp;
pub mod explore;
mod framework;
#[path = "../../crates/reenact-bench/src/measured.rs"]
mod measured;
mod on_actix;
mod on_kameo;
mod on_ractor;
mod on_tokio;
#[path = "../../crates/reenact-bench/src/random.rs"]
pub mod random;
mod runtime;
#[path = "../../crates/reenact-bench/src/setting.rs"]
mod setting;
pub mod sizes;
pub mod stm;
#[path = "../../crates/reenact-bench/src/travel.rs"]
pub mod travel;
pub mod work;

pub use framework::{Framework, Round, versions};
pub use measured::Measured;
pub use setting::Setting;
