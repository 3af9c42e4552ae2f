//! A bank: transfers between random accounts, and now and then an audit that reads all of them.
//!
//! A transfer reads two variables and writes both. Every audit must find the same total, whoever transfers meanwhile; an
//! audit that is overtaken by a transfer begins again, which is why there are neither many accounts nor many audits.

use std::sync::Arc;

use super::{Measured, Setting, StmResult, THREADS, TVar, Transaction, atomically, thread};
use crate::random::Random;

const ACCOUNTS: u64 = 64;
const BALANCE: i64 = 1_000;
const TRANSFERS: u64 = 4_000_000;
const TRANSFERS_PER_AUDIT: u64 = 1_000;

/// Every thread transfers and audits.
pub(super) fn run(setting: &Setting) -> Measured {
    let threads = setting.threads_or(THREADS);
    let each = setting.times(TRANSFERS / threads as u64);
    let bank = Arc::new(Bank::new());
    let measured = Measured::around(|| {
        let tellers: Vec<_> = (0..threads)
            .map(|number| {
                let bank = Arc::clone(&bank);
                thread::spawn(move || bank.work(number as u64, each))
            })
            .collect();
        let audits: u64 = tellers.into_iter().map(|t| t.join().unwrap()).sum();
        each * threads as u64 + audits
    });
    bank.audit();
    measured
}

struct Bank {
    accounts: Vec<TVar<i64>>,
}

impl Bank {
    fn new() -> Self {
        Self {
            accounts: (0..ACCOUNTS).map(|_| TVar::new(BALANCE)).collect(),
        }
    }

    /// Makes so many transfers; returns how many audits there were in between.
    fn work(&self, number: u64, transfers: u64) -> u64 {
        let mut random = Random::new(number);
        let mut audits = 0;
        for transfer in 1..=transfers {
            let from = &self.accounts[random.below(ACCOUNTS) as usize];
            let to = &self.accounts[random.below(ACCOUNTS) as usize];
            let amount = random.below(100) as i64;
            atomically(|tx| {
                let balance = from.read(tx)?;
                from.write(tx, balance - amount)?;
                let balance = to.read(tx)?;
                to.write(tx, balance + amount)
            });
            if transfer.is_multiple_of(TRANSFERS_PER_AUDIT) {
                self.audit();
                audits += 1;
            }
        }
        audits
    }

    fn audit(&self) {
        let total = atomically(|tx| self.total(tx));
        assert_eq!(total, ACCOUNTS as i64 * BALANCE);
    }

    fn total(&self, tx: &mut Transaction) -> StmResult<i64> {
        let mut total = 0;
        for account in &self.accounts {
            total += account.read(tx)?;
        }
        Ok(total)
    }
}
