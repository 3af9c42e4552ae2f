//! What the airline has: airports, flights, customers, bookings.

use serde::{Deserialize, Serialize};

/// The airports, by their codes.
pub(crate) const AIRPORTS: [&str; 14] = [
    "AMS", "BOM", "CDG", "DEL", "DXB", "FRA", "HKG", "IST", "JFK", "LHR", "NRT", "SIN", "SVO",
    "SYD",
];
/// For so many days there are flights.
pub(crate) const DAYS: u32 = 30;
/// How many people fit into a plane.
pub(crate) const SEATS: u32 = 200;

/// A flight on a day.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Flight {
    pub(crate) flight_id: String,
    pub(crate) segment: String,
    pub(crate) origin: String,
    pub(crate) destination: String,
    pub(crate) miles: u32,
    pub(crate) day: u32,
    pub(crate) departs_at: String,
    pub(crate) arrives_at: String,
    pub(crate) economy_class_cost: u32,
    pub(crate) first_class_cost: u32,
    pub(crate) airplane: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Customer {
    pub(crate) id: String,
    pub(crate) password: String,
    pub(crate) status: String,
    pub(crate) total_miles: u32,
    pub(crate) miles_ytd: u32,
    pub(crate) address: Address,
    pub(crate) phone_number: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Address {
    pub(crate) street: String,
    pub(crate) city: String,
    pub(crate) state_province: String,
    pub(crate) country: String,
    pub(crate) postal_code: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Booking {
    pub(crate) booking_id: String,
    pub(crate) customer_id: String,
    pub(crate) flight_id: String,
    pub(crate) date_of_booking: u64,
}

/// By what flights between two places on a day are found.
pub(crate) fn route(from: &str, to: &str, day: u32) -> String {
    format!("{from} {to} {day}")
}

/// The flights of a new database, with their routes. Of all pairs of airports, one in four is not served.
pub(crate) fn flights() -> impl Iterator<Item = (String, Vec<Flight>)> {
    let pairs = (0..AIRPORTS.len()).flat_map(|from| (0..AIRPORTS.len()).map(move |to| (from, to)));
    let served = pairs.filter(|(from, to)| from != to && !(from + to).is_multiple_of(4));
    served.flat_map(|(from, to)| (0..DAYS).map(move |day| on_day(from, to, day)))
}

fn on_day(from: usize, to: usize, day: u32) -> (String, Vec<Flight>) {
    let (origin, destination) = (AIRPORTS[from], AIRPORTS[to]);
    let miles = 600 + 350 * from.abs_diff(to) as u32;
    let number = from * AIRPORTS.len() + to;
    let flight = |hour: usize| Flight {
        flight_id: format!("AA{number:03}-{day:02}-{hour:02}"),
        segment: format!("AA{number:03}"),
        origin: origin.to_owned(),
        destination: destination.to_owned(),
        miles,
        day,
        departs_at: format!("{hour:02}:00"),
        arrives_at: format!("{:02}:30", (hour + 1 + miles as usize / 600) % 24),
        economy_class_cost: 50 + miles / 10,
        first_class_cost: 300 + miles / 4,
        airplane: "B747".to_owned(),
    };
    let flights = [6, 17].map(flight).into();
    (route(origin, destination, day), flights)
}

/// The customers of a new database.
pub(crate) fn customers(number: u32) -> impl Iterator<Item = Customer> {
    (0..number).map(|number| Customer {
        id: format!("uid{number}@email.com"),
        password: "password".to_owned(),
        status: "GOLD".to_owned(),
        total_miles: 1_000_000,
        miles_ytd: 1000,
        address: Address {
            street: "123 Main St.".to_owned(),
            city: "Anytown".to_owned(),
            state_province: "NC".to_owned(),
            country: "USA".to_owned(),
            postal_code: "27617".to_owned(),
        },
        phone_number: "919-123-4567".to_owned(),
    })
}
