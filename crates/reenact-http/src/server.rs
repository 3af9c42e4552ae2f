//! A server: passes requests from an address to the handlers of the program.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::Response;
use reenact::{csp, thread};
use reenact_engine::{Asked, Latch, Reply, Source, is_active, is_played, outside, untracked};

use crate::{
    call::call,
    listener::{HttpListener, Inlet, Running},
    ops,
    request::{Exchange, Request},
    unanswered::{ROOM, Unanswered},
    wire::{self, RequestLine},
};

/// Configures a server.
#[derive(Clone, Debug)]
#[must_use = "nothing is there before `bind`"]
pub struct Builder {
    pub(crate) max_body: usize,
    pub(crate) max_headers: usize,
    pub(crate) max_connections: usize,
    pub(crate) workers: Option<NonZeroUsize>,
    pub(crate) grace: Duration,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            max_body: 2 << 20,
            max_headers: 64 << 10,
            max_connections: 10_000,
            workers: None,
            grace: Duration::from_secs(30),
        }
    }
}

impl Builder {
    /// Sets the maximum length of a body in bytes; the default is 2 MiB.
    pub fn max_body(self, bytes: usize) -> Builder {
        Builder {
            max_body: bytes,
            ..self
        }
    }

    /// Sets the maximum length of a request's first line and headers in bytes; the default is 64 KiB, the minimum 8
    /// KiB.
    pub fn max_headers(self, bytes: usize) -> Builder {
        const LEAST: usize = 8 << 10;
        Builder {
            max_headers: bytes.max(LEAST),
            ..self
        }
    }

    /// Sets the maximum number of simultaneous connections; the default is 10,000. Others wait until one of them ends.
    pub fn max_connections(self, connections: usize) -> Builder {
        Builder {
            max_connections: connections.max(1),
            ..self
        }
    }

    /// Sets the number of threads that serve connections; the default is one for every two cores. They are not part of
    /// the program.
    pub fn workers(self, workers: NonZeroUsize) -> Builder {
        Builder {
            workers: Some(workers),
            ..self
        }
    }

    /// Sets how long a stopping server waits for requests in progress; the default is 30 seconds.
    pub fn grace(self, grace: Duration) -> Builder {
        Builder { grace, ..self }
    }

    /// Binds a server to this address. It does not serve yet, but clients can connect.
    #[track_caller]
    pub fn bind(self, address: impl ToSocketAddrs) -> io::Result<Server> {
        let mut bound = None;
        let address = call(
            ops::BIND,
            || "bind of a server".to_owned(),
            Asked::NOTHING,
            || {
                let listener = std::net::TcpListener::bind(address)?;
                let (listening, address) = HttpListener::new(listener, &self)?;
                bound = Some(listening);
                Ok(address)
            },
            |address: &io::Result<SocketAddr>| Reply::Bytes(wire::address_to_bytes(address).into()),
            |reply: Reply<'_>| match reply {
                Reply::Bytes(bytes) => wire::address_from_bytes(&bytes),
                _ => None,
            },
        )?;
        Ok(Server {
            listener: bound,
            address,
            grace: self.grace,
        })
    }
}

/// A server that is bound to an address and does not serve yet.
pub struct Server {
    /// None in a replay.
    listener: Option<HttpListener>,
    address: SocketAddr,
    grace: Duration,
}

impl Server {
    /// Binds a server with the default configuration to this address.
    #[track_caller]
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Server> {
        Server::builder().bind(address)
    }

    /// Returns a builder to configure a server.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Returns its address; in a replay, the recorded one.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves: passes every request to `hand_on`, which passes it on to an actor or a channel.
    ///
    /// `hand_on` is called by the server's source, on the thread on which the request arrived, for one request at a
    /// time: it should send a message and do nothing else, because other requests wait.
    #[track_caller]
    pub fn deliver(self, hand_on: impl FnMut(Request) + Send + 'static) -> Serving {
        self.start(hand_on, Vec::new())
    }

    /// Serves with this many threads of the program: each takes a request, responds with the result of `handler`, and
    /// takes the next.
    ///
    /// If the handler panics, its client gets status 500 and the thread continues.
    #[track_caller]
    pub fn threads<B: Into<Bytes>>(
        self,
        threads: usize,
        handler: impl Fn(&Request) -> Response<B> + Send + Sync + 'static,
    ) -> io::Result<Serving> {
        let (sender, requests) = csp::unbounded::<Request>();
        let handler = Arc::new(handler);
        let handlers: io::Result<Vec<_>> = (0..threads)
            .map(|number| {
                let (requests, handler) = (requests.clone(), Arc::clone(&handler));
                thread::Builder::new()
                    .name(format!("http-{number}"))
                    .spawn(move || handle_all(&requests, &*handler))
            })
            .collect();
        let hand_on = move |request| {
            // Without handlers the request is dropped, which answers it with 500.
            let _ = sender.send(request);
        };
        Ok(self.start(hand_on, handlers?))
    }

    #[track_caller]
    fn start(
        self,
        hand_on: impl FnMut(Request) + Send + 'static,
        handlers: Vec<thread::JoinHandle<()>>,
    ) -> Serving {
        let over = Arc::new(Latch::new());
        let answered = Arc::new(Latch::new());
        let unanswered = Arc::new(Unanswered::default());
        let source = Arc::new(Source::new(Delivery {
            hand_on: Some(Box::new(hand_on)),
            unanswered: Arc::clone(&unanswered),
            over: Arc::clone(&over),
            answered: Arc::clone(&answered),
        }));
        let mut room = ROOM;
        let is_played = source
            .play(
                ops::ARRIVAL,
                "a request",
                hear,
                move |delivery, item| match item {
                    TraceItem::Request(line) => {
                        delivery.unanswered.wait_for_room(room);
                        delivery.request(line, None);
                    }
                    TraceItem::Room(more) => room = more,
                },
            )
            .expect("a thread for what comes from the trace");
        let listener = self.listener.filter(|_| !is_played);
        let inlet = Arc::new(SourceInlet {
            source,
            unanswered,
            room: Mutex::new(ROOM),
        });
        Serving {
            running: untracked(|| listener.map(|listener| listener.serve(inlet))),
            address: self.address,
            grace: self.grace,
            over,
            answered,
            handlers,
        }
    }
}

fn handle_all<B: Into<Bytes>>(
    requests: &csp::Receiver<Request>,
    handler: &impl Fn(&Request) -> Response<B>,
) {
    for request in requests {
        // Later requests see the effects of a panic, such as poisoned locks, as in any program with threads.
        if let Ok(response) = catch_unwind(AssertUnwindSafe(|| handler(&request))) {
            request.respond(response);
        }
    }
}

/// Where the source delivers requests, until no more arrive.
struct Delivery {
    /// None only while it is being dropped.
    hand_on: Option<Box<dyn FnMut(Request) + Send>>,
    unanswered: Arc<Unanswered>,
    over: Arc<Latch>,
    answered: Arc<Latch>,
}

impl Delivery {
    fn request(&mut self, line: RequestLine, exchange: Option<Exchange>) {
        let request = Request::new(line, exchange, self.unanswered.enter());
        if let Some(hand_on) = &mut self.hand_on {
            // The thread is not the program's, and has other requests to serve. The panic drops the request, which
            // answers its client.
            let _ = catch_unwind(AssertUnwindSafe(|| hand_on(request)));
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        // First, so that it is gone before `over` is established.
        self.hand_on = None;
        self.unanswered.close(Arc::clone(&self.answered));
        self.over.establish();
    }
}

/// A record in the trace: the first line of a request, or the number of requests for which there is room from now on.
enum TraceItem {
    Request(RequestLine),
    Room(u64),
}

fn hear(reply: Reply<'_>) -> Option<TraceItem> {
    match reply {
        Reply::Bytes(bytes) => RequestLine::from_bytes(&bytes).map(TraceItem::Request),
        Reply::Number(room) => Some(TraceItem::Room(room)),
        _ => None,
    }
}

/// Brings requests from outside into the program.
struct SourceInlet {
    source: Arc<Source<Delivery>>,
    unanswered: Arc<Unanswered>,
    /// The number of requests for which there is room in a replay. The lock also makes counting and delivering atomic.
    room: Mutex<u64>,
}

impl Inlet for SourceInlet {
    fn request(&self, line: RequestLine, exchange: Exchange) {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if self.unanswered.count() >= *room {
            *room *= 2;
            self.source
                .bring(ops::ARRIVAL, Reply::Number(*room), |_delivery| {});
        }
        // Not recorded, so it need not be encoded.
        let item = match is_active() {
            true => line.to_bytes(),
            false => Vec::new(),
        };
        self.source
            .bring(ops::ARRIVAL, Reply::Bytes(item.into()), |delivery| {
                delivery.request(line, Some(exchange));
            });
    }

    fn end(&self) {
        self.source.end(ops::ARRIVAL);
    }
}

/// A serving server. It stops when this is dropped.
pub struct Serving {
    /// None in a replay.
    running: Option<Running>,
    address: SocketAddr,
    grace: Duration,
    /// Established when no more requests arrive.
    over: Arc<Latch>,
    /// Established when, moreover, all requests are answered.
    answered: Arc<Latch>,
    handlers: Vec<thread::JoinHandle<()>>,
}

impl Serving {
    /// Returns the server's address; in a replay, the recorded one.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more requests, and waits until those that have arrived are answered: at most [`Builder::grace`] for
    /// clients, and the same again for handlers. Handler threads have ended then, unless they needed longer.
    ///
    /// A handler must not stop its own server: it would wait in vain for the request that it is handling. Let another
    /// activity do it.
    #[track_caller]
    pub fn stop(mut self) {
        self.stop_serving();
    }

    #[track_caller]
    fn stop_serving(&mut self) {
        let running = self.running.take();
        if let Some(running) = &running {
            untracked(|| running.stop());
        }
        self.over.wait(&|| "the end of a server".to_owned());
        let in_time = !is_played() && {
            let deadline = untracked(Instant::now) + self.grace;
            self.answered.wait_until(deadline)
        };
        untracked(|| drop(running));
        if outside(ops::STOP, || in_time.into()) == 0 {
            return;
        }
        self.answered
            .wait_if_controlled(&|| "the last response of a server".to_owned());
        for handler in self.handlers.drain(..) {
            // Handlers do not panic: panics of the closure that they call are caught.
            let _ = handler.join();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if !self.over.is_established() || !self.handlers.is_empty() {
            self.stop_serving();
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server({})", self.address)
    }
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Serving({})", self.address)
    }
}
