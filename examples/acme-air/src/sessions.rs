//! Who is logged in: an actor.

use std::{
    collections::HashMap,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use reenact_http::{Request, Response, StatusCode, header};
use uuid::Uuid;
use xxhash_rust::xxh3::Xxh3;

/// A session that nobody uses for so long is over.
const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// The cookie that has the number of the session.
const COOKIE: &str = "sessionid=";

/// All sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    open: HashMap<Uuid, Session>,
    opened: u64,
    closed: u64,
}

struct Session {
    customer: String,
    since: u128,
    last_used: Instant,
}

#[reenact::actor]
impl Sessions {
    /// Opens a session for a customer who has shown who they are.
    pub(crate) fn open(&mut self, customer: String) -> Uuid {
        let number = Uuid::new_v4();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        self.open.insert(
            number,
            Session {
                customer,
                since: since.unwrap_or_default().as_millis(),
                last_used: Instant::now(),
            },
        );
        self.opened += 1;
        number
    }

    /// Whose session it is, if it is one.
    pub(crate) fn customer(&mut self, number: Uuid) -> Option<String> {
        let session = self.open.get_mut(&number)?;
        let now = Instant::now();
        if now.duration_since(session.last_used) > LIFETIME {
            self.open.remove(&number);
            return None;
        }
        session.last_used = now;
        Some(session.customer.clone())
    }

    /// Answers who wants to leave.
    pub(crate) fn log_out(&mut self, request: Request) {
        let closed = number_of(&request).and_then(|number| self.open.remove(&number));
        self.closed += u64::from(closed.is_some());
        let status = match closed {
            Some(_) => StatusCode::OK,
            None => StatusCode::FORBIDDEN,
        };
        let response = Response::builder()
            .status(status)
            .header(header::SET_COOKIE, "sessionid=; Path=/; Max-Age=0")
            .body("logged out");
        request.respond(response.expect("a status and a header"));
    }

    /// How many there were, and a number for those that are open.
    pub(crate) fn summary(&mut self) -> String {
        let mut open: Vec<_> = self.open.iter().collect();
        open.sort_by_key(|(number, _)| **number);
        let mut digest = Xxh3::new();
        for (number, session) in &open {
            digest.update(number.as_bytes());
            digest.update(session.customer.as_bytes());
            digest.update(&session.since.to_le_bytes());
        }
        let (opened, closed) = (self.opened, self.closed);
        format!(
            "sessions: {opened} opened, {closed} closed, {} open, digest {:016x}",
            open.len(),
            digest.digest()
        )
    }
}

/// The number of the session that a request belongs to.
pub(crate) fn number_of(request: &Request) -> Option<Uuid> {
    let cookies = request.header(header::COOKIE)?;
    let mut cookies = cookies.to_str().ok()?.split(';').map(str::trim);
    let number = cookies.find_map(|cookie| cookie.strip_prefix(COOKIE))?;
    Uuid::parse_str(number).ok()
}

/// The cookie that a client sends from now on.
pub(crate) fn cookie(number: Uuid) -> String {
    format!("{COOKIE}{number}; Path=/")
}
