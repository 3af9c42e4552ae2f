//! The part of STAMP's Vacation that needs neither locks nor transactions: the tables of a travel agency, and what its
//! clients ask for.
//!
//! Sizes and mix are those of STAMP's high-contention run (`-n4 -q60 -u90 -r16384`): a request
//! makes up to four queries, over 60 % of the rows, and 90 % of the requests are reservations; the
//! others delete a customer or change the tables, half and half.

use std::collections::BTreeMap;

use crate::random::Random;

/// Rows in each table at the start.
pub const RELATIONS: u64 = 16_384;
const QUERIES: u64 = 4;
const QUERY_RANGE: u64 = RELATIONS * 60 / 100;
const RESERVATIONS_PER_CENT: u64 = 90;
/// By how much the tables are changed at a time.
const LOT: u64 = 100;

/// What can be reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A car.
    Car,
    /// A seat on a flight.
    Flight,
    /// A room.
    Room,
}

impl Kind {
    /// All kinds, in the order in which their tables are numbered.
    pub const ALL: [Self; 3] = [Self::Car, Self::Flight, Self::Room];
}

/// One row: so many of the same car, flight or hotel.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    used: u64,
    free: u64,
    price: u64,
}

impl Row {
    /// So many, none of them reserved.
    pub fn new(count: u64, price: u64) -> Self {
        Self {
            used: 0,
            free: count,
            price,
        }
    }

    /// A row as they are at the start.
    pub fn first(random: &mut Random) -> Self {
        Self::new((random.below(5) + 1) * LOT, price(random))
    }

    /// What one costs.
    pub fn price(&self) -> u64 {
        self.price
    }

    /// Adds `count`, at a new price.
    pub fn add(&mut self, count: u64, price: u64) {
        self.free += count;
        self.price = price;
    }

    /// Takes `count` from the free ones. Returns whether there were as many.
    pub fn remove(&mut self, count: u64) -> bool {
        let enough = self.free >= count;
        if enough {
            self.free -= count;
        }
        enough
    }

    /// Reserves one, if one is free, and returns its price.
    pub fn reserve(&mut self) -> Option<u64> {
        self.free = self.free.checked_sub(1)?;
        self.used += 1;
        Some(self.price)
    }

    /// Gives back one that was reserved. Returns whether one was.
    pub fn cancel(&mut self) -> bool {
        let reserved = self.used > 0;
        if reserved {
            self.used -= 1;
            self.free += 1;
        }
        reserved
    }

    /// How many are reserved.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// How many there are, reserved or not.
    pub fn total(&self) -> u64 {
        self.used + self.free
    }
}

/// A table of cars, flights or rooms.
#[derive(Debug, Default)]
pub struct Stock {
    rows: BTreeMap<u64, Row>,
}

impl Stock {
    /// A table with every row of [`RELATIONS`].
    pub fn filled(random: &mut Random) -> Self {
        let mut stock = Self::default();
        for id in 0..RELATIONS {
            stock.rows.insert(id, Row::first(random));
        }
        stock
    }

    /// The price of a row, if it exists.
    pub fn price(&self, id: u64) -> Option<u64> {
        self.rows.get(&id).map(Row::price)
    }

    /// Adds `count` to a row, at a new price.
    pub fn add(&mut self, id: u64, count: u64, price: u64) {
        let row = self.rows.entry(id).or_insert(Row::new(0, price));
        row.add(count, price);
    }

    /// Takes `count` from the free ones of a row, and the row away if it is empty then. Returns
    /// whether there were as many.
    pub fn remove(&mut self, id: u64, count: u64) -> bool {
        let Some(row) = self.rows.get_mut(&id) else {
            return false;
        };
        let removed = row.remove(count);
        if row.total() == 0 {
            self.rows.remove(&id);
        }
        removed
    }

    /// Reserves one, if one is free, and returns its price.
    pub fn reserve(&mut self, id: u64) -> Option<u64> {
        self.rows.get_mut(&id)?.reserve()
    }

    /// Gives back one that was reserved.
    pub fn cancel(&mut self, id: u64) {
        let row = self.rows.get_mut(&id);
        let row = row.expect("a row with reservations is never removed");
        assert!(row.cancel(), "what is given back was reserved");
    }

    /// How many there are, reserved or not.
    pub fn total(&self) -> u64 {
        self.rows.values().map(Row::total).sum()
    }

    /// How many of each row are reserved, where any are.
    pub fn reserved(&self) -> impl Iterator<Item = (u64, u64)> {
        let used = self.rows.iter().map(|(&id, row)| (id, row.used));
        used.filter(|&(_, used)| used > 0)
    }
}

/// What a customer has reserved, with the price at that time.
pub type Bookings = BTreeMap<(Kind, u64), u64>;

/// The table of customers.
#[derive(Debug)]
pub struct Customers {
    bookings: BTreeMap<u64, Bookings>,
}

impl Customers {
    /// A table with every customer of [`RELATIONS`], who have reserved nothing yet.
    pub fn filled() -> Self {
        let bookings = (0..RELATIONS).map(|id| (id, Bookings::new())).collect();
        Self { bookings }
    }

    /// Adds a customer, or leaves the one that exists.
    pub fn add(&mut self, id: u64) {
        self.bookings.entry(id).or_default();
    }

    /// The bookings of a customer, if they exist.
    pub fn bookings_mut(&mut self, id: u64) -> Option<&mut Bookings> {
        self.bookings.get_mut(&id)
    }

    /// Removes a customer, if they exist, and returns what they had reserved.
    pub fn remove(&mut self, id: u64) -> Option<Bookings> {
        self.bookings.remove(&id)
    }

    /// How often each row of a table is booked, where it is.
    pub fn booked(&self, kind: Kind) -> BTreeMap<u64, u64> {
        let mut booked = BTreeMap::new();
        for &(its_kind, id) in self.bookings.values().flat_map(Bookings::keys) {
            if its_kind == kind {
                *booked.entry(id).or_default() += 1;
            }
        }
        booked
    }
}

/// What a client asks the agency to do.
#[derive(Debug)]
pub enum Request {
    /// Ask the prices of these, then reserve the dearest of each kind.
    Reserve {
        /// For whom.
        customer: u64,
        /// What to ask for.
        queries: Vec<(Kind, u64)>,
    },
    /// Cancel whatever this customer has reserved, and forget them.
    Delete {
        /// Whom.
        customer: u64,
    },
    /// Change these rows.
    Update {
        /// Which rows, and how.
        changes: Vec<(Kind, u64, Change)>,
    },
}

/// A change of one row by a lot.
#[derive(Debug)]
pub enum Change {
    /// More of them, at a new price.
    Add {
        /// How many.
        count: u64,
        /// For how much.
        price: u64,
    },
    /// Fewer of them.
    Remove {
        /// How many.
        count: u64,
    },
}

impl Request {
    /// What a client asks for next.
    pub fn next(random: &mut Random) -> Self {
        let dice = random.below(100);
        if dice < RESERVATIONS_PER_CENT {
            let customer = random.below(QUERY_RANGE);
            let queries = (0..=random.below(QUERIES)).map(|_| row(random)).collect();
            Self::Reserve { customer, queries }
        } else if dice.is_multiple_of(2) {
            let customer = random.below(QUERY_RANGE);
            Self::Delete { customer }
        } else {
            let changes = (0..=random.below(QUERIES)).map(|_| change(random));
            let changes = changes.collect();
            Self::Update { changes }
        }
    }
}

fn row(random: &mut Random) -> (Kind, u64) {
    (
        Kind::ALL[random.below(3) as usize],
        random.below(QUERY_RANGE),
    )
}

fn change(random: &mut Random) -> (Kind, u64, Change) {
    let (kind, id) = row(random);
    let change = if random.below(2) == 0 {
        let price = price(random);
        Change::Add { count: LOT, price }
    } else {
        Change::Remove { count: LOT }
    };
    (kind, id, change)
}

fn price(random: &mut Random) -> u64 {
    random.below(5) * 10 + 50
}

#[cfg(test)]
mod tests {
    use super::{Random, Request, Stock};

    #[test]
    fn a_row_with_reservations_survives_the_removal_of_the_rest() {
        let mut stock = Stock::default();
        stock.add(7, 2, 50);
        assert_eq!(stock.reserve(7), Some(50));
        assert!(!stock.remove(7, 2));
        assert!(stock.remove(7, 1));
        assert_eq!(stock.reserve(7), None);
        stock.cancel(7);
        assert!(stock.remove(7, 1));
        assert_eq!(stock.price(7), None);
    }

    #[test]
    fn nine_in_ten_requests_are_reservations() {
        let mut random = Random::new(1);
        let requests = (0..10_000).map(|_| Request::next(&mut random));
        let reservations = requests
            .filter(|request| matches!(request, Request::Reserve { .. }))
            .count();
        assert!((8_800..9_200).contains(&reservations), "{reservations}");
    }
}
