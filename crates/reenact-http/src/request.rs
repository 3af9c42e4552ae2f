//! A request as the program sees it: each part is recorded when it is first read.

use std::{
    cell::{OnceCell, RefCell},
    io,
    net::SocketAddr,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, Uri};
use http_body_util::Full;
use reenact_engine::{Asked, Reply, is_active, is_withheld};
use tokio::sync::oneshot;

use crate::{
    body::{BodyError, IncomingBody},
    call::call,
    ops,
    unanswered::UnansweredRequest,
    wire,
    wire::RequestLine,
};

/// A request. It can be kept, sent to other activities, and answered once.
///
/// Its method and target are available at once. Headers and body are recorded when they are read; what is not read is
/// not in the trace. If it is dropped without a response, the client gets status 500.
pub struct Request {
    // One word, so that a message that contains a request is small.
    inner: Box<Inner>,
}

struct Inner {
    line: RequestLine,
    /// The client's side; none in a replay.
    exchange: Option<Exchange>,
    /// All headers, once they have been read.
    headers: OnceCell<HeaderMap>,
    /// Single headers that have been read.
    read: RefCell<Vec<(HeaderName, Option<HeaderValue>)>>,
    body: OnceCell<Result<Bytes, BodyError>>,
    peer: OnceCell<SocketAddr>,
    _place: UnansweredRequest,
}

/// The client's side of a request.
pub(crate) struct Exchange {
    pub(crate) headers: HeaderMap,
    /// Taken when it is read.
    pub(crate) body: RefCell<Option<IncomingBody>>,
    pub(crate) peer: SocketAddr,
    pub(crate) reply: oneshot::Sender<Response<Full<Bytes>>>,
}

impl Request {
    pub(crate) fn new(
        line: RequestLine,
        exchange: Option<Exchange>,
        place: UnansweredRequest,
    ) -> Request {
        Request {
            inner: Box::new(Inner {
                line,
                exchange,
                headers: OnceCell::new(),
                read: RefCell::new(Vec::new()),
                body: OnceCell::new(),
                peer: OnceCell::new(),
                _place: place,
            }),
        }
    }

    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.inner.line.method
    }

    /// Returns the target, with path and query.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.inner.line.uri
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &str {
        self.uri().path()
    }

    /// Returns the part after the question mark, if there is one.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.uri().query()
    }

    /// Returns the first header of this name. Only this one is recorded, once.
    ///
    /// # Panics
    ///
    /// Panics if `name` is not a valid header name.
    #[track_caller]
    pub fn header(&self, name: impl TryInto<HeaderName>) -> Option<HeaderValue> {
        let Ok(name) = name.try_into() else {
            panic!("there is no header of such a name");
        };
        if let Some(headers) = self.inner.headers.get() {
            return headers.get(&name).cloned();
        }
        let mut read = self.inner.read.borrow_mut();
        if let Some((_, value)) = read.iter().find(|(known, _)| *known == name) {
            return value.clone();
        }
        let value = self.ask_for_header(&name);
        read.push((name, value.clone()));
        value
    }

    #[track_caller]
    fn ask_for_header(&self, name: &HeaderName) -> Option<HeaderValue> {
        call(
            ops::HEADER,
            || format!("header {name} of {}", self.inner.line),
            Asked::bytes(name.as_str().as_bytes()),
            || self.client().headers.get(name).cloned(),
            |value: &Option<HeaderValue>| match value {
                None => Reply::Number(0),
                Some(_) if is_withheld("header", name.as_str()) => Reply::Withheld,
                Some(value) => Reply::Bytes(value.as_bytes().into()),
            },
            |reply: Reply<'_>| match reply {
                Reply::Number(0) => Some(None),
                Reply::Bytes(value) => HeaderValue::from_bytes(&value).ok().map(Some),
                _ => None,
            },
        )
    }

    /// Returns all headers. They are recorded together, once; if one of them is withheld, none is recorded.
    #[track_caller]
    pub fn headers(&self) -> &HeaderMap {
        // Not `get_or_init`, because reports contain the location of the call.
        if self.inner.headers.get().is_none() {
            let headers = self.ask_for_headers();
            let _first = self.inner.headers.set(headers);
        }
        self.inner.headers.get().expect("it was just set")
    }

    #[track_caller]
    fn ask_for_headers(&self) -> HeaderMap {
        call(
            ops::HEADERS,
            || format!("headers of {}", self.inner.line),
            Asked::NOTHING,
            || self.client().headers.clone(),
            |headers: &HeaderMap| {
                let mut names = headers.keys();
                match names.any(|name| is_withheld("header", name.as_str())) {
                    true => Reply::Withheld,
                    false => Reply::Bytes(wire::headers_to_bytes(headers).into()),
                }
            },
            |reply: Reply<'_>| match reply {
                Reply::Bytes(bytes) => wire::headers_from_bytes(&bytes),
                _ => None,
            },
        )
    }

    /// Returns the whole body. Waits for it the first time, and records it or its error then. Other activities on the
    /// caller's worker run meanwhile.
    #[track_caller]
    pub fn body(&self) -> Result<Bytes, BodyError> {
        match self.inner.body.get() {
            Some(body) => body.clone(),
            None => {
                let body = self.ask_for_body();
                let _first = self.inner.body.set(body.clone());
                body
            }
        }
    }

    #[track_caller]
    fn ask_for_body(&self) -> Result<Bytes, BodyError> {
        // Waiting is not part of the call: while a task waits, its thread runs other parts of the program.
        let came = self.inner.exchange.as_ref().map(|exchange| {
            let coming = exchange.body.borrow_mut().take();
            coming.map_or(Err(BodyError::Incomplete), IncomingBody::whole)
        });
        call(
            ops::BODY,
            || format!("body of {}", self.inner.line),
            Asked::NOTHING,
            || came.expect(NO_CLIENT),
            |body: &Result<Bytes, BodyError>| match body {
                Ok(_) if is_withheld("body", self.path()) => Reply::Withheld,
                Ok(body) => Reply::Bytes(body[..].into()),
                Err(error) => Reply::Number(error.code()),
            },
            |reply: Reply<'_>| match reply {
                Reply::Bytes(body) => Some(Ok(Bytes::from(body.into_owned()))),
                Reply::Number(code) => BodyError::from_code(code).map(Err),
                _ => None,
            },
        )
    }

    /// Returns the address of the client, or of the proxy in front of this server.
    #[track_caller]
    pub fn peer_addr(&self) -> SocketAddr {
        if let Some(peer) = self.inner.peer.get() {
            return *peer;
        }
        let peer = call(
            ops::PEER,
            || format!("address of who sent {}", self.inner.line),
            Asked::NOTHING,
            || Ok(self.client().peer),
            |peer: &io::Result<SocketAddr>| Reply::Bytes(wire::address_to_bytes(peer).into()),
            |reply: Reply<'_>| match reply {
                Reply::Bytes(bytes) => wire::address_from_bytes(&bytes),
                _ => None,
            },
        )
        .expect("who has sent something has an address");
        *self.inner.peer.get_or_init(|| peer)
    }

    /// Answers the request. A replay reports a response that differs from the recorded one.
    #[track_caller]
    pub fn respond<B: Into<Bytes>>(mut self, response: Response<B>) {
        let (parts, body) = response.into_parts();
        let body = body.into();
        // Computed only if it is compared, because it hashes the whole response.
        let asked = match is_active() {
            true => asked(&parts, &body),
            false => Asked::NOTHING,
        };
        let reply = self.inner.exchange.take().map(|exchange| exchange.reply);
        let line = &self.inner.line;
        call(
            ops::RESPOND,
            || format!("response to {line}"),
            asked,
            move || {
                if let Some(reply) = reply {
                    // That the client has disconnected does not concern the program.
                    let _ = reply.send(Response::from_parts(parts, Full::new(body)));
                }
            },
            |(): &()| Reply::Number(0),
            |reply: Reply<'_>| (reply == Reply::Number(0)).then_some(()),
        );
    }

    /// Returns the client's side, for asking the outside.
    fn client(&self) -> &Exchange {
        self.inner.exchange.as_ref().expect(NO_CLIENT)
    }
}

/// Returns what a replay compares of a response.
fn asked(parts: &http::response::Parts, body: &[u8]) -> Asked {
    let status = parts.status.as_u16().to_le_bytes();
    let headers = parts.headers.iter();
    let headers = headers.flat_map(|(name, value)| [name.as_str().as_bytes(), value.as_bytes()]);
    Asked::parts(std::iter::once(&status[..]).chain(headers).chain([body]))
}

/// The invariant that is violated if there is no client.
const NO_CLIENT: &str = "the outside is asked only where there is one";

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Request({})", self.inner.line)
    }
}
