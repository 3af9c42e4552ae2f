//! STAMP's Vacation with locks: clients of a travel agency reserve cars, flights and rooms.
//!
//! Each of the four tables is an ordered map behind one mutex. A request takes a table's lock for
//! each step it does there; a reservation takes that of a table and that of the customers, in this
//! order. It stresses a few locks that everybody wants, with tree operations under them. What
//! clients get depends on who comes first, and the books must balance all the same.

use super::{
    Measured, Setting,
    sync::{Arc, Mutex},
    thread,
};
use crate::{
    random::Random,
    travel::{Change, Customers, Kind, Request, Stock},
};

const CLIENTS: usize = 4;
const REQUESTS: u64 = 350_000;

/// The clients make their requests, and then the books are balanced.
pub(super) fn run(setting: &Setting) -> Measured {
    let clients = setting.threads_or(CLIENTS);
    let each = setting.times(REQUESTS / clients as u64);
    let agency = Arc::new(Agency::new());
    let before = agency.totals();
    let mut changed = [0; 3];
    let measured = Measured::around(|| {
        let clients: Vec<_> = (0..clients)
            .map(|number| {
                let agency = Arc::clone(&agency);
                thread::spawn(move || Client::new(&agency, number as u64).run(each))
            })
            .collect();
        let mut ops = 0;
        for client in clients {
            let (its_changes, its_ops) = client.join().unwrap();
            for (sum, change) in changed.iter_mut().zip(its_changes) {
                *sum += change;
            }
            ops += its_ops;
        }
        ops
    });
    let expected = std::array::from_fn(|kind| before[kind] + changed[kind]);
    assert_eq!(agency.totals(), expected);
    agency.check();
    measured
}

struct Agency {
    /// One table for each [`Kind`].
    stocks: [Mutex<Stock>; 3],
    customers: Mutex<Customers>,
}

impl Agency {
    fn new() -> Self {
        let mut random = Random::new(16_384);
        Self {
            stocks: Kind::ALL.map(|_| Mutex::new(Stock::filled(&mut random))),
            customers: Mutex::new(Customers::filled()),
        }
    }

    fn totals(&self) -> [i64; 3] {
        Kind::ALL.map(|kind| self.stock(kind).lock().unwrap().total() as i64)
    }

    fn stock(&self, kind: Kind) -> &Mutex<Stock> {
        &self.stocks[kind as usize]
    }

    /// Checks that exactly what customers have booked is marked as reserved.
    fn check(&self) {
        let customers = self.customers.lock().unwrap();
        for kind in Kind::ALL {
            let stock = self.stock(kind).lock().unwrap();
            assert!(stock.reserved().eq(customers.booked(kind)), "{kind:?}");
        }
    }
}

struct Client<'a> {
    agency: &'a Agency,
    random: Random,
    /// By how much this client changed each table.
    changed: [i64; 3],
    ops: u64,
}

impl<'a> Client<'a> {
    fn new(agency: &'a Agency, number: u64) -> Self {
        Self {
            agency,
            random: Random::new(number),
            changed: [0; 3],
            ops: 0,
        }
    }

    fn run(mut self, requests: u64) -> ([i64; 3], u64) {
        for _ in 0..requests {
            match Request::next(&mut self.random) {
                Request::Reserve { customer, queries } => self.reserve(customer, &queries),
                Request::Delete { customer } => self.delete(customer),
                Request::Update { changes } => {
                    for (kind, id, change) in changes {
                        self.update(kind, id, change);
                    }
                }
            }
        }
        (self.changed, self.ops)
    }

    fn reserve(&mut self, customer: u64, queries: &[(Kind, u64)]) {
        let mut dearest: [Option<(u64, u64)>; 3] = [None; 3];
        for &(kind, id) in queries {
            let price = self.agency.stock(kind).lock().unwrap().price(id);
            self.ops += 1;
            let best = &mut dearest[kind as usize];
            *best = (*best).max(price.map(|price| (price, id)));
        }
        if dearest.iter().any(Option::is_some) {
            self.agency.customers.lock().unwrap().add(customer);
            self.ops += 1;
        }
        for (kind, best) in Kind::ALL.into_iter().zip(dearest) {
            if let Some((_, id)) = best {
                self.book(customer, kind, id);
            }
        }
    }

    /// Books one, if it is still to be had and the customer has not booked it already.
    fn book(&mut self, customer: u64, kind: Kind, id: u64) {
        let mut stock = self.agency.stock(kind).lock().unwrap();
        let mut customers = self.agency.customers.lock().unwrap();
        self.ops += 2;
        let Some(bookings) = customers.bookings_mut(customer) else {
            return;
        };
        if !bookings.contains_key(&(kind, id))
            && let Some(price) = stock.reserve(id)
        {
            bookings.insert((kind, id), price);
        }
    }

    fn delete(&mut self, customer: u64) {
        let bookings = self.agency.customers.lock().unwrap().remove(customer);
        self.ops += 1;
        for (kind, id) in bookings.unwrap_or_default().into_keys() {
            self.agency.stock(kind).lock().unwrap().cancel(id);
            self.ops += 1;
        }
    }

    fn update(&mut self, kind: Kind, id: u64, change: Change) {
        let mut stock = self.agency.stock(kind).lock().unwrap();
        self.ops += 1;
        self.changed[kind as usize] += match change {
            Change::Add { count, price } => {
                stock.add(id, count, price);
                count as i64
            }
            Change::Remove { count } if stock.remove(id, count) => -(count as i64),
            Change::Remove { .. } => 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{REQUESTS, Setting, run};

    #[test]
    fn the_books_balance() {
        let setting = Setting::tiny();
        assert!(run(&setting).ops > setting.times(REQUESTS));
    }
}
