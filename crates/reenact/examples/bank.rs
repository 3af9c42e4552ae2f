//! Accounts that are actors, and transfers that are chains of promises.
//!
//! ```text
//! $ cargo run --example bank
//! ```
//!
//! An account handles one message at a time, so that looking at the balance and changing it is one step without any
//! lock. A transfer is two steps at two accounts, which is where an order could go wrong: the money is taken first, and
//! given only where it was there. Whatever the order of transfers, the total stays what it was.

use std::{error::Error, fmt};

use reenact::actor::{Broken, Context, FarRef, Promise, Resolver, spawn};

struct Account {
    balance: u64,
}

/// Why money was not taken.
#[derive(Debug, PartialEq, Eq)]
struct Overdraft {
    asked: u64,
    balance: u64,
}

impl fmt::Display for Overdraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overdraft { asked, balance } = self;
        write!(f, "{asked} asked for, {balance} there")
    }
}

impl Error for Overdraft {}

#[reenact::actor]
impl Account {
    pub(crate) fn deposit(&mut self, amount: u64) {
        self.balance += amount;
    }

    /// Takes money. An overdraft is an answer that callers expect, so it is in the type of the answer.
    pub(crate) fn withdraw(&mut self, amount: u64) -> Result<u64, Overdraft> {
        if amount > self.balance {
            return Err(Overdraft {
                asked: amount,
                balance: self.balance,
            });
        }
        self.balance -= amount;
        Ok(amount)
    }

    pub(crate) fn balance(&self) -> u64 {
        self.balance
    }
}

/// Carries money from account to account.
struct Teller {
    transfers: u64,
}

#[reenact::actor]
impl Teller {
    /// Resolved when the money is on its way to `to`; broken with an [`Overdraft`] if there was too little.
    pub(crate) fn transfer(
        &mut self,
        ctx: &mut Context<Self>,
        from: FarRef<Account>,
        to: FarRef<Account>,
        amount: u64,
    ) -> Promise<u64> {
        let (done, resolver) = Promise::pair();
        from.withdraw(amount)
            .when(ctx, move |this: &mut Teller, _, taken| {
                this.carry(taken, &to, &resolver);
            });
        done
    }

    pub(crate) fn transfers(&self) -> u64 {
        self.transfers
    }

    /// Private, therefore not a message.
    fn carry(
        &mut self,
        taken: Result<u64, Overdraft>,
        to: &FarRef<Account>,
        resolver: &Resolver<u64>,
    ) {
        match taken {
            Ok(money) => {
                to.deposit(money);
                self.transfers += 1;
                resolver.resolve(money);
            }
            Err(overdraft) => {
                resolver.break_with(overdraft);
            }
        }
    }
}

struct Outcome {
    done: u64,
    refused: u64,
    total: u64,
}

/// Several tellers carry money around a circle of accounts, all at once.
fn business(accounts: usize, tellers: usize, transfers: usize) -> Outcome {
    let accounts: Vec<_> = (0..accounts)
        .map(|_| spawn(Account { balance: 100 }))
        .collect();
    let tellers: Vec<_> = (0..tellers)
        .map(|_| spawn(Teller { transfers: 0 }))
        .collect();
    let promises: Vec<Promise<u64>> = (0..transfers)
        .map(|number| {
            let from = &accounts[number % accounts.len()];
            let to = &accounts[(number * 7 + 1) % accounts.len()];
            let amount = (number as u64 * 13) % 90;
            tellers[number % tellers.len()].transfer(from.clone(), to.clone(), amount)
        })
        .collect();
    let outcomes: Vec<Result<u64, Broken>> = promises.into_iter().map(Promise::wait).collect();
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    Outcome {
        refused: refused
            .inspect(|broken| assert!(broken.downcast_ref::<Overdraft>().is_some(), "{broken}"))
            .count() as u64,
        done: sum(&tellers, |teller| teller.transfers()),
        // Each deposit was sent before the promise of its transfer was resolved, and so arrives before this question.
        total: sum(&accounts, |account| account.balance()),
    }
}

fn sum<A: Send + 'static>(actors: &[FarRef<A>], ask: impl Fn(&FarRef<A>) -> Promise<u64>) -> u64 {
    // All are asked before anybody waits.
    let answers: Vec<_> = actors.iter().map(ask).collect();
    let answers = answers.into_iter().map(Promise::wait);
    answers.map(|answer| answer.expect("it answers")).sum()
}

fn main() {
    let Outcome {
        done,
        refused,
        total,
    } = business(10, 4, 10_000);
    println!("{done} transfers done, {refused} refused, {total} in all accounts");
}

#[test]
fn no_money_is_made_or_lost() {
    let outcome = business(10, 4, 2000);
    assert_eq!(outcome.total, 1000);
    assert_eq!(outcome.done + outcome.refused, 2000);
}

#[test]
fn too_much_is_refused_with_the_reason() {
    let teller = spawn(Teller { transfers: 0 });
    let [poor, rich] = [5, 500].map(|balance| spawn(Account { balance }));
    let broken = teller
        .transfer(poor.clone(), rich.clone(), 6)
        .wait()
        .expect_err("there is too little");
    let expected = Overdraft {
        asked: 6,
        balance: 5,
    };
    assert_eq!(broken.downcast_ref(), Some(&expected));
    assert_eq!(broken.to_string(), "6 asked for, 5 there");
    assert_eq!(teller.transfer(rich, poor.clone(), 6).wait().ok(), Some(6));
    assert_eq!(poor.balance().wait().ok(), Some(11));
}
