//! STAMP's Vacation with transactions: clients of a travel agency reserve cars, flights and rooms.
//!
//! Every row of a table and every customer is a variable, and a request is one transaction, as in STAMP. It stresses
//! transactions of a middling size that seldom conflict. What clients get depends on who comes first, and the books must
//! balance all the same.

use std::{collections::BTreeMap, sync::Arc};

use super::{Measured, Setting, StmResult, THREADS, TVar, Transaction, atomically, thread};
use crate::{
    random::Random,
    travel::{Change, Kind, RELATIONS, Request, Row},
};

const REQUESTS: u64 = 350_000;

/// The clients make their requests, and then the books are balanced.
pub(super) fn run(setting: &Setting) -> Measured {
    let clients = setting.threads_or(THREADS);
    let each = setting.times(REQUESTS / clients as u64);
    let agency = Arc::new(Agency::new());
    let before = agency.totals();
    let mut changed = [0; 3];
    let measured = Measured::around(|| {
        let clients: Vec<_> = (0..clients)
            .map(|number| {
                let agency = Arc::clone(&agency);
                thread::spawn(move || agency.serve(number as u64, each))
            })
            .collect();
        let transactions = each * clients.len() as u64;
        for client in clients {
            let its_changes = client.join().unwrap();
            for (sum, change) in changed.iter_mut().zip(its_changes) {
                *sum += change;
            }
        }
        transactions
    });
    let expected: [i64; 3] = std::array::from_fn(|kind| before[kind] + changed[kind]);
    assert_eq!(agency.totals(), expected);
    agency.check();
    measured
}

/// What a customer has reserved, with the price at that time. A list, because it is copied when it grows.
type Bookings = Arc<Vec<(Kind, u64, u64)>>;

struct Agency {
    /// One table for each [`Kind`], with a place for every row that there may be.
    stocks: [Vec<TVar<Option<Row>>>; 3],
    customers: Vec<TVar<Option<Bookings>>>,
}

impl Agency {
    fn new() -> Self {
        let mut random = Random::new(16_384);
        let mut row = |_| TVar::new(Some(Row::first(&mut random)));
        Self {
            stocks: Kind::ALL.map(|_| (0..RELATIONS).map(&mut row).collect()),
            customers: (0..RELATIONS)
                .map(|_| TVar::new(Some(Bookings::default())))
                .collect(),
        }
    }

    fn row(&self, kind: Kind, id: u64) -> &TVar<Option<Row>> {
        &self.stocks[kind as usize][id as usize]
    }

    /// Serves a client; returns by how much each table was changed.
    fn serve(&self, client: u64, requests: u64) -> [i64; 3] {
        let mut random = Random::new(client);
        let mut changed = [0; 3];
        for _ in 0..requests {
            match Request::next(&mut random) {
                Request::Reserve { customer, queries } => {
                    atomically(|tx| self.reserve(tx, customer, &queries));
                }
                Request::Delete { customer } => atomically(|tx| self.delete(tx, customer)),
                Request::Update { changes } => {
                    let by = atomically(|tx| self.update(tx, &changes));
                    for (sum, change) in changed.iter_mut().zip(by) {
                        *sum += change;
                    }
                }
            }
        }
        changed
    }

    fn reserve(
        &self,
        tx: &mut Transaction,
        customer: u64,
        queries: &[(Kind, u64)],
    ) -> StmResult<()> {
        let mut dearest: [Option<(u64, u64)>; 3] = [None; 3];
        for &(kind, id) in queries {
            let row = self.row(kind, id).read(tx)?;
            let best = &mut dearest[kind as usize];
            *best = (*best).max(row.map(|row| (row.price(), id)));
        }
        if dearest.iter().all(Option::is_none) {
            return Ok(());
        }
        let customer = &self.customers[customer as usize];
        let before = customer.read(tx)?;
        let mut bookings = before.clone().unwrap_or_default();
        let mut booked = false;
        for (kind, best) in Kind::ALL.into_iter().zip(dearest) {
            if let Some((_, id)) = best
                && let Some(price) = self.book(tx, &bookings, kind, id)?
            {
                Arc::make_mut(&mut bookings).push((kind, id, price));
                booked = true;
            }
        }
        if booked || before.is_none() {
            customer.write(tx, Some(bookings))?;
        }
        Ok(())
    }

    /// Books one, if it is to be had and is not among `bookings` already; returns its price.
    fn book(
        &self,
        tx: &mut Transaction,
        bookings: &Bookings,
        kind: Kind,
        id: u64,
    ) -> StmResult<Option<u64>> {
        if bookings.iter().any(|&(k, i, _)| (k, i) == (kind, id)) {
            return Ok(None);
        }
        let place = self.row(kind, id);
        let Some(mut row) = place.read(tx)? else {
            return Ok(None);
        };
        let price = row.reserve();
        if price.is_some() {
            place.write(tx, Some(row))?;
        }
        Ok(price)
    }

    fn delete(&self, tx: &mut Transaction, customer: u64) -> StmResult<()> {
        let customer = &self.customers[customer as usize];
        let Some(bookings) = customer.read(tx)? else {
            return Ok(());
        };
        customer.write(tx, None)?;
        for &(kind, id, _) in bookings.iter() {
            let place = self.row(kind, id);
            // What is booked is reserved, except in a state that never was.
            if let Some(mut row) = place.read(tx)?
                && row.cancel()
            {
                place.write(tx, Some(row))?;
            }
        }
        Ok(())
    }

    /// Changes rows; returns by how much that changed each table.
    fn update(&self, tx: &mut Transaction, changes: &[(Kind, u64, Change)]) -> StmResult<[i64; 3]> {
        let mut changed = [0; 3];
        for (kind, id, change) in changes {
            let place = self.row(*kind, *id);
            let row = place.read(tx)?;
            let (row, by) = match *change {
                Change::Add { count, price } => {
                    let mut row = row.unwrap_or(Row::new(0, price));
                    row.add(count, price);
                    (row, count as i64)
                }
                Change::Remove { count } => {
                    let Some(mut row) = row else { continue };
                    if !row.remove(count) {
                        continue;
                    }
                    (row, -(count as i64))
                }
            };
            place.write(tx, (row.total() > 0).then_some(row))?;
            changed[*kind as usize] += by;
        }
        Ok(changed)
    }

    fn totals(&self) -> [i64; 3] {
        Kind::ALL.map(|kind| {
            let rows = self.stocks[kind as usize].iter();
            let total = |row: &TVar<Option<Row>>| read(row).map_or(0, |row| row.total() as i64);
            rows.map(total).sum()
        })
    }

    /// Checks that exactly what customers have booked is marked as reserved.
    fn check(&self) {
        let mut booked = BTreeMap::new();
        for bookings in self.customers.iter().filter_map(read) {
            for &(kind, id, _) in bookings.iter() {
                *booked.entry((kind, id)).or_default() += 1;
            }
        }
        let mut reserved = BTreeMap::new();
        for kind in Kind::ALL {
            for (id, place) in (0..).zip(&self.stocks[kind as usize]) {
                let used = read(place).map_or(0, |row| row.used());
                if used > 0 {
                    reserved.insert((kind, id), used);
                }
            }
        }
        assert_eq!(booked, reserved);
    }
}

/// What a variable holds when the clients have gone.
fn read<T: Clone + Send + Sync + 'static>(variable: &TVar<T>) -> T {
    atomically(|tx| variable.read(tx))
}
