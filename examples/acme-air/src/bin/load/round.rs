//! What a customer does: the round that the workload of Acme-Air consists of.
//!
//! | step | how often in a round | share of all requests |
//! |---|---|---|
//! | log in | 1 | 9.3 % |
//! | view one's profile, then update it | each in a quarter of the rounds | 2.3 % each |
//! | query flights, there and back | 5 | 46.7 % |
//! | book, if the last query found flights in both directions | 3 in 4 | 7 % |
//! | list one's bookings | 1 | 9.3 % |
//! | cancel all bookings but two | in a quarter of the rounds | 14 %, as many as are booked |
//! | log out | 1 | 9.3 % |
//!
//! Shares are those that come out of it; the paper has 46.73 % for queries. Each client has customers of its own, so that no
//! two of them are the same person at a time.

use std::{collections::VecDeque, io};

use form_urlencoded::Serializer;
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::Deserialize;
use xxhash_rust::xxh3::Xxh3;

use crate::client::{Answer, Client};

const AIRPORTS: [&str; 14] = [
    "AMS", "BOM", "CDG", "DEL", "DXB", "FRA", "HKG", "IST", "JFK", "LHR", "NRT", "SIN", "SVO",
    "SYD",
];
const DAYS: u32 = 30;
const QUERIES: usize = 5;
/// Bookings that are kept.
const KEPT: usize = 2;

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    LogIn,
    Profile,
    Update,
    Query,
    Book,
    List,
    Cancel,
    LogOut,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::LogIn => "login",
            Kind::Profile => "view profile",
            Kind::Update => "update customer",
            Kind::Query => "query flights",
            Kind::Book => "book flights",
            Kind::List => "list bookings",
            Kind::Cancel => "cancel booking",
            Kind::LogOut => "logout",
        }
    }
}

enum Step {
    Plain(Kind),
    /// If there is something to book.
    MaybeBook,
    Cancel(String),
}

/// Somebody who uses the service.
pub(crate) struct Visitor {
    random: ChaCha8Rng,
    /// Whom it may be.
    customers: Vec<u32>,
    customer: String,
    steps: VecDeque<Step>,
    cookie: Option<String>,
    /// Flights there and back that were found last.
    found: Option<(String, String)>,
    /// Whether this round ends with cancelling.
    cancels: bool,
    digest: Xxh3,
}

impl Visitor {
    pub(crate) fn new(number: usize, seed: u64, customers: u32) -> Visitor {
        let number = number as u32;
        // A customer for each client, and a client for each customer.
        let own = (0..customers).filter(|customer| customer % 64 == number % 64);
        let own: Vec<_> = own.collect();
        Visitor {
            random: ChaCha8Rng::seed_from_u64(seed << 16 | u64::from(number)),
            customers: match own.is_empty() {
                true => vec![0],
                false => own,
            },
            customer: String::new(),
            steps: VecDeque::new(),
            cookie: None,
            found: None,
            cancels: false,
            digest: Xxh3::new(),
        }
    }

    fn begin_round(&mut self) {
        let which = self.random.random_range(0..self.customers.len());
        self.customer = format!("uid{}@email.com", self.customers[which]);
        self.cookie = None;
        self.found = None;
        self.steps.push_back(Step::Plain(Kind::LogIn));
        if self.random.random_ratio(1, 4) {
            self.steps
                .extend([Kind::Profile, Kind::Update].map(Step::Plain));
        }
        self.steps.extend([Kind::Query; QUERIES].map(Step::Plain));
        self.steps.push_back(Step::MaybeBook);
        self.steps.push_back(Step::Plain(Kind::List));
        self.cancels = self.random.random_ratio(1, 4);
        self.steps.push_back(Step::Plain(Kind::LogOut));
    }

    /// Sends the next request.
    pub(crate) fn send_next(&mut self, client: &mut Client) -> (Kind, io::Result<Answer>) {
        loop {
            let Some(step) = self.steps.pop_front() else {
                self.begin_round();
                continue;
            };
            return match step {
                Step::Plain(kind) => (kind, self.send(client, kind)),
                Step::Cancel(booking) => {
                    let fields = [("number", &*booking), ("userid", &*self.customer)];
                    let path = "/rest/api/bookings/cancelbooking";
                    (Kind::Cancel, self.post_form(client, path, &fields))
                }
                Step::MaybeBook => match self.found.take() {
                    None => continue,
                    Some((there, back)) => {
                        let fields = [
                            ("userid", &*self.customer),
                            ("toFlightId", &there),
                            ("retFlightId", &back),
                            ("oneWayFlight", "false"),
                        ];
                        let path = "/rest/api/bookings/bookflights";
                        (Kind::Book, self.post_form(client, path, &fields))
                    }
                },
            };
        }
    }

    fn send(&mut self, client: &mut Client, kind: Kind) -> io::Result<Answer> {
        let cookie = self.cookie.as_deref();
        let customer = &*self.customer;
        match kind {
            Kind::LogIn => {
                let fields = [("login", customer), ("password", "password")];
                self.post_form(client, "/rest/api/login", &fields)
            }
            Kind::Profile => client.get(&format!("/rest/api/customer/byid/{customer}"), cookie),
            Kind::Update => {
                let street = format!("{} Main St.", self.random.next_u32() % 1000);
                let path = format!("/rest/api/customer/byid/{customer}");
                let update = serde_json::json!({
                    "password": "password",
                    "phoneNumber": "919-123-4567",
                    "address": {
                        "street": street, "city": "Anytown", "stateProvince": "NC",
                        "country": "USA", "postalCode": "27617",
                    },
                });
                client.post(&path, cookie, "application/json", &update.to_string())
            }
            Kind::Query => {
                let from = self.random.random_range(0..AIRPORTS.len());
                let to = (from + self.random.random_range(1..AIRPORTS.len())) % AIRPORTS.len();
                let day = self.random.random_range(0..DAYS - 1);
                let back = self.random.random_range(day..DAYS);
                let fields = [
                    ("fromAirport", AIRPORTS[from]),
                    ("toAirport", AIRPORTS[to]),
                    ("fromDate", &day.to_string()),
                    ("returnDate", &back.to_string()),
                    ("oneWay", "false"),
                ];
                self.post_form(client, "/rest/api/flights/queryflights", &fields)
            }
            Kind::List => client.get(&format!("/rest/api/bookings/byuser/{customer}"), cookie),
            Kind::LogOut => {
                let path = format!("/rest/api/login/logout?login={customer}");
                client.get(&path, cookie)
            }
            Kind::Book | Kind::Cancel => unreachable!("these have steps of their own"),
        }
    }

    fn post_form(
        &self,
        client: &mut Client,
        path: &str,
        fields: &[(&str, &str)],
    ) -> io::Result<Answer> {
        let form = Serializer::new(String::new()).extend_pairs(fields).finish();
        let kind = "application/x-www-form-urlencoded";
        client.post(path, self.cookie.as_deref(), kind, &form)
    }

    /// Draws conclusions from an answer. Whether it was one.
    pub(crate) fn learn(&mut self, kind: Kind, answer: Answer) -> bool {
        self.digest.update(&answer.status.to_le_bytes());
        self.digest.update(answer.body.as_bytes());
        if answer.status != 200 {
            return false;
        }
        match kind {
            Kind::LogIn => {
                self.cookie = answer.cookie;
                self.cookie.is_some()
            }
            Kind::Query => match serde_json::from_str::<Found>(&answer.body) {
                Ok(found) => {
                    self.found = found.first();
                    true
                }
                Err(_) => false,
            },
            Kind::List => match serde_json::from_str::<Vec<Booking>>(&answer.body) {
                Ok(bookings) => {
                    self.cancel_some(bookings);
                    true
                }
                Err(_) => false,
            },
            _ => true,
        }
    }

    fn cancel_some(&mut self, bookings: Vec<Booking>) {
        if self.cancels {
            for booking in bookings.into_iter().skip(KEPT) {
                self.steps.push_front(Step::Cancel(booking.booking_id));
            }
        }
    }

    /// A number for all that came back.
    pub(crate) fn digest(&self) -> u64 {
        self.digest.digest()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    trip_flights: [Options; 2],
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Options {
    flights_options: Vec<Flight>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flight {
    flight_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Booking {
    booking_id: String,
}

impl Found {
    /// A flight in each direction.
    fn first(self) -> Option<(String, String)> {
        let [there, back] = self
            .trip_flights
            .map(|trip| trip.flights_options.into_iter().next());
        Some((there?.flight_id, back?.flight_id))
    }
}
