//! Transactions, for the suite `instructions`: does one operation many times.

#[path = "instructions/operation.rs"]
mod operation;

use std::process::ExitCode;

use reenact::stm::{TVar, atomically};

fn main() -> ExitCode {
    operation::run(&[("stm-read-write", read_write), ("stm-read", read)])
}

fn read_write(times: u64) {
    let counter = TVar::new(0);
    for _ in 0..times {
        atomically(|tx| {
            let count = counter.read(tx)?;
            counter.write(tx, count + 1)
        });
    }
    assert_eq!(counter.read_atomic(), times);
}

fn read(times: u64) {
    let value = TVar::new(1);
    let mut sum = 0;
    for _ in 0..times {
        sum += atomically(|tx| value.read(tx));
    }
    assert_eq!(sum, times);
}
