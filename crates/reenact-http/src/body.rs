//! The body of a request: collected by the outside, waited for by the program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use reenact_engine::{apart, raw::Parker};
use tokio::runtime::Handle;

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is longer than the server allows.
    #[error("the body is longer than the server allows")]
    TooLarge,
    /// The client went before it had sent all of it, or the server stopped waiting for it.
    #[error("the client went before it had sent the whole body")]
    Incomplete,
    /// Its parts are not what HTTP asks for.
    #[error("the body is malformed")]
    Malformed,
}

impl BodyError {
    const ALL: [BodyError; 3] = [
        BodyError::TooLarge,
        BodyError::Incomplete,
        BodyError::Malformed,
    ];

    /// The number that a trace has for it.
    pub(crate) fn code(self) -> u64 {
        self as u64
    }

    pub(crate) fn from_code(code: u64) -> Option<BodyError> {
        BodyError::ALL
            .into_iter()
            .find(|error| error.code() == code)
    }
}

/// Bodies up to this length are collected before the program hears of the request.
const SHORT: u64 = 16 << 10;

/// A body that comes.
pub(crate) enum Coming {
    /// It is here, or will not be.
    Here(Result<Bytes, BodyError>),
    /// It comes as it is read.
    Later {
        incoming: Incoming,
        limit: usize,
        outside: Handle,
    },
}

impl Coming {
    /// Whether it says that it is longer than this.
    pub(crate) fn is_longer(incoming: &Incoming, limit: usize) -> bool {
        incoming.size_hint().lower() > limit as u64
    }

    /// A body of a request that has just come: here already if it is short.
    pub(crate) async fn of(incoming: Incoming, limit: usize) -> Coming {
        match incoming.size_hint().exact() {
            Some(..=SHORT) => Coming::Here(collect(incoming, limit).await),
            _ => Coming::Later {
                incoming,
                limit,
                outside: Handle::current(),
            },
        }
    }

    /// The whole body. Blocks the calling activity, not its worker, until it is here.
    pub(crate) fn whole(self) -> Result<Bytes, BodyError> {
        let (incoming, limit, outside) = match self {
            Coming::Here(body) => return body,
            Coming::Later {
                incoming,
                limit,
                outside,
            } => (incoming, limit, outside),
        };
        let arrival = Arc::new(Arrival::default());
        let promise = Promise(Arc::clone(&arrival));
        apart(|| outside.spawn(async move { promise.keep(collect(incoming, limit).await) }));
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

/// Where a body arrives.
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

/// That there will be a body, or an error: also where the outside ends first.
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
