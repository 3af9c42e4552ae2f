//! What the service does for its customers.

use std::{
    borrow::Cow,
    collections::HashMap,
    time::{SystemTime, UNIX_EPOCH},
};

use reenact::{
    actor::FarRef,
    sync::{Mutex, mpsc},
};
use reenact_http::{Method, Request, Response, StatusCode, header};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    data::{Address, Booking, Customer, SEATS, route},
    database::{Database, Failure},
    sessions::{self, Sessions, SessionsSends},
};

/// The service.
pub(crate) struct Service {
    database: Database,
    sessions: FarRef<Sessions>,
    /// How many seats are taken on each flight.
    taken: Mutex<HashMap<String, u32>>,
    stop: Mutex<Option<mpsc::Sender<()>>>,
}

/// Why there is no answer.
enum Refusal {
    Status(StatusCode, &'static str),
    Failure(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        Refusal::Failure(failure)
    }
}

const UNKNOWN: Refusal = Refusal::Status(StatusCode::NOT_FOUND, "not found");
const FORBIDDEN: Refusal = Refusal::Status(StatusCode::FORBIDDEN, "log in first");
const INCOMPREHENSIBLE: Refusal = Refusal::Status(StatusCode::BAD_REQUEST, "what is this?");
const SOLD_OUT: Refusal = Refusal::Status(StatusCode::CONFLICT, "there is no seat left");

type Answer = Result<Response<String>, Refusal>;

impl Service {
    pub(crate) fn new(
        database: Database,
        sessions: FarRef<Sessions>,
        stop: mpsc::Sender<()>,
    ) -> Service {
        Service {
            database,
            sessions,
            taken: Mutex::new(HashMap::new()),
            stop: Mutex::new(Some(stop)),
        }
    }

    /// The response to a request.
    pub(crate) fn answer(&self, request: &Request) -> Response<String> {
        let (status, why) = match self.dispatch(request) {
            Ok(response) => return response,
            Err(Refusal::Status(status, why)) => (status, why.to_owned()),
            Err(Refusal::Failure(failure)) => {
                (StatusCode::INTERNAL_SERVER_ERROR, failure.to_string())
            }
        };
        let mut response = Response::new(why);
        *response.status_mut() = status;
        response
    }

    fn dispatch(&self, request: &Request) -> Answer {
        let path = request.path();
        match (request.method(), path) {
            (&Method::POST, "/rest/api/login") => return self.log_in(&Form::of(request)?),
            (&Method::POST, "/shutdown") => return self.stop(),
            _ => {}
        }
        let customer = self.customer_of(request)?;
        let own = |prefix| path.strip_prefix(prefix).filter(|id| *id == customer);
        match *request.method() {
            Method::POST => match path {
                "/rest/api/flights/queryflights" => self.query(&Form::of(request)?),
                "/rest/api/bookings/bookflights" => self.book(&customer, &Form::of(request)?),
                "/rest/api/bookings/cancelbooking" => self.cancel(&customer, &Form::of(request)?),
                _ if own(CUSTOMER).is_some() => self.update(&customer, request),
                _ => Err(UNKNOWN),
            },
            Method::GET if own(CUSTOMER).is_some() => self.profile(&customer),
            Method::GET if own(BOOKINGS).is_some() => {
                json_of(&self.database.bookings_of(&customer)?)
            }
            _ => Err(UNKNOWN),
        }
    }

    /// Who asks.
    fn customer_of(&self, request: &Request) -> Result<String, Refusal> {
        let number = sessions::number_of(request).ok_or(FORBIDDEN)?;
        let customer = self.sessions.customer(number).wait();
        customer.ok().flatten().ok_or(FORBIDDEN)
    }

    fn log_in(&self, form: &Form) -> Answer {
        let (login, password) = (form.field("login")?, form.field("password")?);
        let customer = self.database.customer(login)?.ok_or(FORBIDDEN)?;
        if customer.password != password {
            return Err(FORBIDDEN);
        }
        let number = self
            .sessions
            .open(customer.id)
            .wait()
            .map_err(|_| FORBIDDEN)?;
        let mut response = Response::new("logged in".to_owned());
        let cookie = sessions::cookie(number).try_into();
        let cookie = cookie.expect("a number is a header");
        response.headers_mut().insert(header::SET_COOKIE, cookie);
        Ok(response)
    }

    /// Flights there and, unless it is one way, back.
    fn query(&self, form: &Form) -> Answer {
        let (from, to) = (form.field("fromAirport")?, form.field("toAirport")?);
        let there = self
            .database
            .flights(&route(from, to, form.day("fromDate")?))?;
        let back = match form.field("oneWay")? {
            "true" => Vec::new(),
            _ => self
                .database
                .flights(&route(to, from, form.day("returnDate")?))?,
        };
        json_of(
            &json!({ "tripFlights": [{ "flightsOptions": there }, { "flightsOptions": back }] }),
        )
    }

    fn book(&self, customer: &str, form: &Form) -> Answer {
        let mut flights = vec![form.field("toFlightId")?];
        if form.field("oneWayFlight")? != "true" {
            flights.push(form.field("retFlightId")?);
        }
        self.take_seats(&flights)?;
        let bookings = flights.into_iter().map(|flight| Booking {
            booking_id: Uuid::new_v4().to_string(),
            customer_id: customer.to_owned(),
            flight_id: flight.to_owned(),
            date_of_booking: now_ms(),
        });
        let bookings: Vec<_> = bookings.collect();
        self.database.book(&bookings)?;
        let ids: Vec<_> = bookings.iter().map(|booking| &booking.booking_id).collect();
        json_of(&json!({ "bookingIds": ids }))
    }

    /// On all of these flights, or on none.
    fn take_seats(&self, flights: &[&str]) -> Result<(), Refusal> {
        let mut taken = self.taken.lock().expect("nobody panics with it");
        let full = |flight: &&str| taken.get(*flight).is_some_and(|&taken| taken >= SEATS);
        if flights.iter().any(full) {
            return Err(SOLD_OUT);
        }
        for flight in flights {
            *taken.entry((*flight).to_owned()).or_default() += 1;
        }
        Ok(())
    }

    fn cancel(&self, customer: &str, form: &Form) -> Answer {
        let cancelled = self.database.cancel(customer, form.field("number")?)?;
        let cancelled = cancelled.ok_or(UNKNOWN)?;
        let mut taken = self.taken.lock().expect("nobody panics with it");
        // A booking may be older than this process, which counts its own.
        if let Some(seats) = taken.get_mut(&cancelled.flight_id) {
            *seats = seats.saturating_sub(1);
        }
        drop(taken);
        Ok(Response::new(format!(
            "booking {} deleted",
            cancelled.booking_id
        )))
    }

    fn profile(&self, customer: &str) -> Answer {
        let mut customer = self.database.customer(customer)?.ok_or(UNKNOWN)?;
        customer.password.clear();
        json_of(&customer)
    }

    fn update(&self, customer: &str, request: &Request) -> Answer {
        /// What customers may change.
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Update {
            password: String,
            address: Address,
            phone_number: String,
        }
        let body = request.body().map_err(|_| INCOMPREHENSIBLE)?;
        let update: Update = serde_json::from_slice(&body).map_err(|_| INCOMPREHENSIBLE)?;
        let known = self.database.customer(customer)?.ok_or(UNKNOWN)?;
        if known.password != update.password {
            return Err(FORBIDDEN);
        }
        let mut customer = Customer {
            address: update.address,
            phone_number: update.phone_number,
            ..known
        };
        if !self.database.update_customer(&customer)? {
            return Err(UNKNOWN);
        }
        customer.password.clear();
        json_of(&customer)
    }

    fn stop(&self) -> Answer {
        let stop = self.stop.lock().expect("nobody panics with it").take();
        // Who was first has stopped it, and who waits for that is there.
        let is_first = stop.is_some_and(|stop| stop.send(()).is_ok());
        Ok(Response::new(format!("stopping: {is_first}")))
    }

    /// What it has come to.
    pub(crate) fn summary(&self) -> Result<String, Failure> {
        let (customers, bookings) = self.database.everything()?;
        let taken = self.taken.lock().expect("nobody panics with it");
        let seats: u32 = taken.values().sum();
        let mut taken: Vec<_> = taken.iter().collect();
        taken.sort();
        Ok(format!(
            "customers: {}, digest {:016x}\nbookings: {}, digest {:016x}\nseats: {seats} on {} flights, digest {:016x}",
            customers.len(),
            digest(&customers),
            bookings.len(),
            digest(&bookings),
            taken.len(),
            digest(&taken),
        ))
    }
}

const CUSTOMER: &str = "/rest/api/customer/byid/";
const BOOKINGS: &str = "/rest/api/bookings/byuser/";

fn json_of(value: &impl Serialize) -> Answer {
    let text = serde_json::to_string(value).expect("our own types are always JSON");
    let mut response = Response::new(text);
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}

fn digest(value: &impl Serialize) -> u64 {
    xxh3_64(&serde_json::to_vec(value).expect("our own types are always JSON"))
}

fn now_ms() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The fields of a form.
struct Form(Vec<(String, String)>);

impl Form {
    fn of(request: &Request) -> Result<Form, Refusal> {
        let body = request.body().map_err(|_| INCOMPREHENSIBLE)?;
        let fields = form_urlencoded::parse(&body);
        let owned = |(name, value): (Cow<'_, str>, Cow<'_, str>)| (name.into(), value.into());
        Ok(Form(fields.map(owned).collect()))
    }

    fn field(&self, name: &str) -> Result<&str, Refusal> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value).ok_or(INCOMPREHENSIBLE)
    }

    fn day(&self, name: &str) -> Result<u32, Refusal> {
        self.field(name)?.parse().map_err(|_| INCOMPREHENSIBLE)
    }
}
