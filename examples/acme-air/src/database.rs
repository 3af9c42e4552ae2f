//! Customers, flights and bookings, in an embedded database.
//!
//! A database is outside of the program: what it answers depends on a file. So every call is recorded with its answer, and in
//! a replay there is neither a file nor a database. What is recorded is what the database has, as it has it: making something
//! of that is the program's own business, and happens again by itself.

use std::{path::Path, sync::OnceLock};

use redb::{
    Durability, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};
use reenact::external;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::data::{self, Booking, Customer, Flight};

/// By their ids, as JSON.
const CUSTOMERS: TableDefinition<'_, &str, &str> = TableDefinition::new("customers");
/// All flights of a [route](data::route), as JSON.
const FLIGHTS: TableDefinition<'_, &str, &str> = TableDefinition::new("flights");
/// By customer and id, as JSON.
const BOOKINGS: TableDefinition<'_, (&str, &str), &str> = TableDefinition::new("bookings");

/// What went wrong, as far as it can be recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failure(String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the database says: {}", self.0)
    }
}

impl std::error::Error for Failure {}

impl<E: Into<redb::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.into().to_string())
    }
}

type Result<T, E = Failure> = std::result::Result<T, E>;

/// The database.
pub(crate) struct Database {
    /// Set when it is opened; never in a replay.
    file: OnceLock<redb::Database>,
    durability: Durability,
}

impl Database {
    /// Opens the database of this file, or makes one with everything that an airline needs.
    pub(crate) fn open(path: &Path, durable: bool, customers: u32) -> Result<Database> {
        let database = Database {
            file: OnceLock::new(),
            durability: match durable {
                true => Durability::Immediate,
                false => Durability::None,
            },
        };
        external("database: open", || {
            let is_new = !path.exists();
            let file = redb::Database::create(path)?;
            if is_new {
                fill(&file, customers)?;
            }
            let _first = database.file.set(file);
            Ok::<_, Failure>(())
        })?;
        Ok(database)
    }

    pub(crate) fn customer(&self, id: &str) -> Result<Option<Customer>> {
        let found = self.read("customer", |transaction| {
            let found = transaction.open_table(CUSTOMERS)?.get(id)?;
            Ok(found.map(|found| found.value().to_owned()))
        })?;
        Ok(found.as_deref().map(parsed))
    }

    /// Changes a customer, if there is one of this id.
    pub(crate) fn update_customer(&self, customer: &Customer) -> Result<bool> {
        self.write("update customer", |transaction| {
            let mut customers = transaction.open_table(CUSTOMERS)?;
            let is_known = customers.get(&*customer.id)?.is_some();
            if is_known {
                customers.insert(&*customer.id, &*json(customer))?;
            }
            Ok(is_known)
        })
    }

    /// The flights of a route.
    pub(crate) fn flights(&self, route: &str) -> Result<Vec<Flight>> {
        let found = self.read("flights", |transaction| {
            let found = transaction.open_table(FLIGHTS)?.get(route)?;
            Ok(found.map(|found| found.value().to_owned()))
        })?;
        Ok(found.as_deref().map_or_else(Vec::new, parsed))
    }

    pub(crate) fn book(&self, bookings: &[Booking]) -> Result<()> {
        self.write("book", |transaction| {
            let mut table = transaction.open_table(BOOKINGS)?;
            for booking in bookings {
                let key = (&*booking.customer_id, &*booking.booking_id);
                table.insert(key, &*json(booking))?;
            }
            Ok(())
        })
    }

    /// Cancels a booking; which one that was.
    pub(crate) fn cancel(&self, customer: &str, booking: &str) -> Result<Option<Booking>> {
        let cancelled = self.write("cancel", |transaction| {
            let mut bookings = transaction.open_table(BOOKINGS)?;
            let cancelled = bookings.remove((customer, booking))?;
            Ok(cancelled.map(|cancelled| cancelled.value().to_owned()))
        })?;
        Ok(cancelled.as_deref().map(parsed))
    }

    pub(crate) fn bookings_of(&self, customer: &str) -> Result<Vec<Booking>> {
        let found: Vec<String> = self.read("bookings", |transaction| {
            let bookings = transaction.open_table(BOOKINGS)?;
            // Nothing that is text comes after this.
            let range = bookings.range((customer, "")..=(customer, "\u{10ffff}"))?;
            range.map(|found| Ok(found?.1.value().to_owned())).collect()
        })?;
        Ok(found.iter().map(|found| parsed(found)).collect())
    }

    /// All customers and all bookings. From now on they are in the file.
    pub(crate) fn everything(&self) -> Result<(Vec<Customer>, Vec<Booking>)> {
        external("database: everything", || {
            let file = self.file();
            // One that waits for the disk takes those before along.
            file.begin_write()?.commit()?;
            let transaction = file.begin_read()?;
            let customers = transaction.open_table(CUSTOMERS)?;
            let bookings = transaction.open_table(BOOKINGS)?;
            let customers = customers.iter()?.map(|found| Ok(parsed(found?.1.value())));
            let bookings = bookings.iter()?.map(|found| Ok(parsed(found?.1.value())));
            Ok((
                customers.collect::<Result<_>>()?,
                bookings.collect::<Result<_>>()?,
            ))
        })
    }

    fn read<T: Serialize + DeserializeOwned>(
        &self,
        what: &str,
        read: impl FnOnce(&ReadTransaction) -> Result<T>,
    ) -> Result<T> {
        external(what, || read(&self.file().begin_read()?))
    }

    fn write<T: Serialize + DeserializeOwned>(
        &self,
        what: &str,
        write: impl FnOnce(&WriteTransaction) -> Result<T>,
    ) -> Result<T> {
        external(what, || {
            let mut transaction = self.file().begin_write()?;
            transaction.set_durability(self.durability)?;
            let written = write(&transaction)?;
            transaction.commit()?;
            Ok(written)
        })
    }

    fn file(&self) -> &redb::Database {
        self.file.get().expect("it was opened")
    }
}

fn fill(file: &redb::Database, number_of_customers: u32) -> Result<()> {
    let transaction = file.begin_write()?;
    {
        let mut customers = transaction.open_table(CUSTOMERS)?;
        for customer in data::customers(number_of_customers) {
            customers.insert(&*customer.id, &*json(&customer))?;
        }
        let mut flights = transaction.open_table(FLIGHTS)?;
        for (route, on_route) in data::flights() {
            flights.insert(&*route, &*json(&on_route))?;
        }
        transaction.open_table(BOOKINGS)?;
    }
    Ok(transaction.commit()?)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our own types are always JSON")
}

fn parsed<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("we have written it")
}
