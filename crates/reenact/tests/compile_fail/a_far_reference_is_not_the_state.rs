//! Through a far reference messages are sent, and nothing else: no field, and no method that is not a message.

use reenact::actor::FarRef;

struct Account {
    balance: u32,
}

impl Account {
    fn audit(&self) {}
}

fn look(account: &FarRef<Account>) {
    account.audit();
    let _ = account.balance;
}

fn main() {}
