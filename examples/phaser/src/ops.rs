//! The operations of the model, by name.

use reenact_engine::operations;

operations! {
    pub(crate) REGISTER = 1 Barrier "register with a phaser" of "phaser";
    pub(crate) ARRIVE = 2 Barrier "arrive at a phaser" of "phaser";
    pub(crate) LEAVE = 3 Barrier "leave a phaser" of "phaser";
    pub(crate) IS_OVER = 4 Question "wait for a phase, for some time" of "phaser";
}
