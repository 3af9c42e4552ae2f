//! BankTransaction: a teller moves money between accounts, by requests that are answered.
//!
//! The teller asks the source account for a credit, which asks the destination for a debit; both answers are promises.
//! A transfer has four messages: the two requests, and the turns that the two answers cause.

use std::sync::Arc;

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use crate::{Measured, Setting, random::Random};

const ACCOUNTS: u64 = 1_000;
/// Transfers of a round, which the teller starts without waiting in between.
const TRANSFERS: u64 = 50_000;
const ROUNDS: u64 = 2;
const OPENING_BALANCE: i64 = 1_000_000;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    // A small run has smaller rounds instead of fewer.
    let transfers = TRANSFERS.min(setting.times(TRANSFERS * ROUNDS));
    Measured::rounds(setting.times(ROUNDS), |seed| {
        let (balances, report) = Promise::pair();
        let teller = system.spawn(Teller {
            random: Random::new(seed),
            accounts: (0..ACCOUNTS)
                .map(|_| system.spawn(Account::new()))
                .collect(),
            left: transfers,
            report,
        });
        teller.start();
        let balances = balances.wait().unwrap();
        assert_eq!(balances, expected(seed, transfers));
        // At the end of a round the balances are asked for.
        4 * transfers + 2 * ACCOUNTS
    })
}

/// A transfer, from an account to a later one, and how much.
fn transfer(random: &mut Random) -> (usize, usize, i64) {
    let from = random.below(ACCOUNTS / 10 * 8);
    let to = from + 1 + random.below(ACCOUNTS - from - 1);
    (from as usize, to as usize, random.below(1_000) as i64)
}

/// The balances after a round, one transfer after the other.
fn expected(seed: u64, transfers: u64) -> Vec<i64> {
    let mut random = Random::new(seed);
    let mut balances = vec![OPENING_BALANCE; ACCOUNTS as usize];
    for _ in 0..transfers {
        let (from, to, amount) = transfer(&mut random);
        balances[from] -= amount;
        balances[to] += amount;
    }
    balances
}

struct Teller {
    random: Random,
    accounts: Arc<[FarRef<Account>]>,
    left: u64,
    report: Resolver<Vec<i64>>,
}

#[reenact::actor]
impl Teller {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>) {
        for _ in 0..self.left {
            let (from, to, amount) = transfer(&mut self.random);
            let to = self.accounts[to].clone();
            self.accounts[from]
                .credit(amount, to)
                .when(ctx, |this, ctx, Reply| this.completed(ctx));
        }
    }

    fn completed(&mut self, ctx: &mut Context<Self>) {
        self.left -= 1;
        if self.left == 0 {
            self.collect(ctx, Vec::new());
        }
    }

    /// Asks one account after the other for its balance.
    fn collect(&mut self, ctx: &mut Context<Self>, mut balances: Vec<i64>) {
        let Some(account) = self.accounts.get(balances.len()) else {
            self.report.resolve(balances);
            return;
        };
        account.balance().when(ctx, |this, ctx, balance| {
            balances.push(balance);
            this.collect(ctx, balances);
        });
    }
}

/// It is done.
struct Reply;

struct Account {
    balance: i64,
}

#[reenact::actor]
impl Account {
    pub(super) fn new() -> Account {
        Account {
            balance: OPENING_BALANCE,
        }
    }

    /// Gives money to another account; answered when that has it.
    pub(super) fn credit(
        &mut self,
        ctx: &mut Context<Self>,
        amount: i64,
        to: FarRef<Account>,
    ) -> Promise<Reply> {
        to.debit(amount).when(ctx, move |this, _, Reply| {
            this.balance -= amount;
            Reply
        })
    }

    /// Takes money.
    pub(super) fn debit(&mut self, amount: i64) -> Reply {
        self.balance += amount;
        Reply
    }

    pub(super) fn balance(&self) -> i64 {
        self.balance
    }
}
