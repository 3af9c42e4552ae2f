//! The program: a bank account that two people withdraw from at the same time.
//!
//! The demo uses the comments at the ends of lines to describe these lines.

use std::sync::OnceLock;

use reenact::{
    sync::{Arc, Mutex},
    thread,
};

/// How many iterations it takes to print a receipt.
static WORK: OnceLock<u64> = OnceLock::new();

pub(in crate::demo) fn main(work: u64) {
    WORK.get_or_init(|| work);
    let account = Arc::new(Mutex::new(100));
    let customers = ["alice", "bob"].map(|name| {
        let account = Arc::clone(&account);
        thread::Builder::new()
            .name(name.into())
            .spawn(move || withdraw(&account, 100))
            .expect("there is room for two threads")
    });
    for customer in customers {
        customer.join().expect("withdrawing does not panic");
    }
    let balance = *account.lock().unwrap(); // checks what is left
    assert!(balance >= 0, "the account is overdrawn: {balance}");
}

fn withdraw(account: &Mutex<i64>, amount: i64) {
    let balance = *account.lock().unwrap(); // is there enough?
    if balance >= amount {
        print_receipt(amount);
        *account.lock().unwrap() -= amount; // takes the money
    }
}

/// Simulates a slow printer.
fn print_receipt(amount: i64) {
    for dot in 0..*WORK.get().unwrap_or(&0) {
        std::hint::black_box(amount + dot as i64);
    }
}
