//! The body of a request: the outside collects it, the program waits for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use reenact_engine::{raw::Parker, untracked};
use tokio::runtime::Handle;

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is longer than the server allows.
    #[error("the body is longer than the server allows")]
    TooLarge,
    /// The client disconnected before it had sent all of it, or the server stopped waiting for it.
    #[error("the client went before it had sent the whole body")]
    Incomplete,
    /// Its encoding violates HTTP.
    #[error("the body is malformed")]
    Malformed,
}

impl BodyError {
    const ALL: [BodyError; 3] = [
        BodyError::TooLarge,
        BodyError::Incomplete,
        BodyError::Malformed,
    ];

    /// Returns its number in a trace.
    pub(crate) fn code(self) -> u64 {
        self as u64
    }

    pub(crate) fn from_code(code: u64) -> Option<BodyError> {
        BodyError::ALL
            .into_iter()
            .find(|error| error.code() == code)
    }
}

/// Bodies up to this length are collected before the request is passed to the program.
const SHORT: u64 = 16 << 10;

/// The body of an arriving request.
pub(crate) enum IncomingBody {
    /// It has arrived, or failed.
    Arrived(Result<Bytes, BodyError>),
    /// It is collected when it is read.
    Later {
        incoming: Incoming,
        limit: usize,
        outside: Handle,
    },
}

impl IncomingBody {
    /// Whether its declared length exceeds `limit`.
    pub(crate) fn is_longer(incoming: &Incoming, limit: usize) -> bool {
        incoming.size_hint().lower() > limit as u64
    }

    /// Returns the body of a request that has just arrived: collected already if it is short.
    pub(crate) async fn of(incoming: Incoming, limit: usize) -> IncomingBody {
        match incoming.size_hint().exact() {
            Some(..=SHORT) => IncomingBody::Arrived(collect(incoming, limit).await),
            _ => IncomingBody::Later {
                incoming,
                limit,
                outside: Handle::current(),
            },
        }
    }

    /// Returns the whole body. Blocks the calling activity, not its worker, until it has arrived.
    pub(crate) fn whole(self) -> Result<Bytes, BodyError> {
        let (incoming, limit, outside) = match self {
            IncomingBody::Arrived(body) => return body,
            IncomingBody::Later {
                incoming,
                limit,
                outside,
            } => (incoming, limit, outside),
        };
        let arrival = Arc::new(Arrival::default());
        let promise = Promise(Arc::clone(&arrival));
        untracked(|| outside.spawn(async move { promise.keep(collect(incoming, limit).await) }));
        arrival.wait()
    }
}

async fn collect(incoming: Incoming, limit: usize) -> Result<Bytes, BodyError> {
    match Limited::new(incoming, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
        Err(error) => match error.downcast::<hyper::Error>() {
            Ok(error) if error.is_parse() => Err(BodyError::Malformed),
            _ => Err(BodyError::Incomplete),
        },
    }
}

/// Where a body is delivered to its reader.
#[derive(Default)]
struct Arrival {
    body: Mutex<Option<Result<Bytes, BodyError>>>,
    parker: Parker,
}

impl Arrival {
    fn body(&self) -> MutexGuard<'_, Option<Result<Bytes, BodyError>>> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) -> Result<Bytes, BodyError> {
        loop {
            if let Some(body) = self.body().take() {
                return body;
            }
            self.parker.park();
        }
    }
}

/// Guarantees that a body or an error is delivered, even if the outside ends first.
struct Promise(Arc<Arrival>);

impl Promise {
    fn keep(self, body: Result<Bytes, BodyError>) {
        *self.0.body() = Some(body);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.0.body().get_or_insert(Err(BodyError::Incomplete));
        self.0.parker.unpark();
    }
}
