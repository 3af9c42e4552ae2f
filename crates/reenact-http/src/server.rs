//! A server: from an address to the handlers of the program.

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
use reenact_engine::{Asked, Fact, Reply, Source, apart, is_active, is_played, outside};

use crate::{
    call::call,
    crowd::{Crowd, ROOM},
    ops,
    outside::{Inlet, Outside, Running},
    request::{Exchange, Request},
    wire::{self, Line},
};

/// What a server is to be like.
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
    /// The most bytes of a body; 2 MiB.
    pub fn max_body(self, bytes: usize) -> Builder {
        Builder {
            max_body: bytes,
            ..self
        }
    }

    /// The most bytes of the line and the headers of a request; 64 KiB, and at least 8 KiB.
    pub fn max_headers(self, bytes: usize) -> Builder {
        const LEAST: usize = 8 << 10;
        Builder {
            max_headers: bytes.max(LEAST),
            ..self
        }
    }

    /// The most connections at a time; 10,000. Others wait until one of them ends.
    pub fn max_connections(self, connections: usize) -> Builder {
        Builder {
            max_connections: connections.max(1),
            ..self
        }
    }

    /// How many threads look after connections; one for every two cores. They are no part of the program.
    pub fn workers(self, workers: NonZeroUsize) -> Builder {
        Builder {
            workers: Some(workers),
            ..self
        }
    }

    /// How long a server that stops waits for what is under way; 30 seconds.
    pub fn grace(self, grace: Duration) -> Builder {
        Builder { grace, ..self }
    }

    /// A server at this address. Nobody is served yet, but clients may connect.
    #[track_caller]
    pub fn bind(self, address: impl ToSocketAddrs) -> io::Result<Server> {
        let mut bound = None;
        let address = call(
            ops::BIND,
            || "bind of a server".to_owned(),
            Asked::NOTHING,
            || {
                let listener = std::net::TcpListener::bind(address)?;
                let (outside, address) = Outside::new(listener, &self)?;
                bound = Some(outside);
                Ok(address)
            },
            |address: &io::Result<SocketAddr>| Reply::Bytes(wire::address_to_bytes(address).into()),
            |reply: Reply<'_>| match reply {
                Reply::Bytes(bytes) => wire::address_from_bytes(&bytes),
                _ => None,
            },
        )?;
        Ok(Server {
            outside: bound,
            address,
            grace: self.grace,
        })
    }
}

/// A server that has an address and does not serve yet.
pub struct Server {
    /// None in a replay.
    outside: Option<Outside>,
    address: SocketAddr,
    grace: Duration,
}

impl Server {
    /// A server at this address, with nothing special about it.
    #[track_caller]
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Server> {
        Server::builder().bind(address)
    }

    /// A server that differs from others in some respect.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Its address; in a replay, the one it had then.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves: every request is passed to `hand_on`, which passes it to an actor or a channel.
    ///
    /// It is called as the server's source, on whichever thread the request came, one request at a time: it should send a
    /// message and do nothing else, because other requests wait.
    #[track_caller]
    pub fn deliver(self, hand_on: impl FnMut(Request) + Send + 'static) -> Serving {
        self.start(hand_on, Vec::new())
    }

    /// Serves by so many threads of the program: each takes a request, has `handler` make a response, and takes the next.
    ///
    /// Where the handler panics, its client is told (500) and the thread goes on.
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
            // Without handlers there is nobody to answer, and dropping it says so.
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
        let over = Arc::new(Fact::new());
        let answered = Arc::new(Fact::new());
        let crowd = Arc::new(Crowd::default());
        let source = Arc::new(Source::new(Delivery {
            hand_on: Some(Box::new(hand_on)),
            crowd: Arc::clone(&crowd),
            over: Arc::clone(&over),
            answered: Arc::clone(&answered),
        }));
        let mut room = ROOM;
        let is_played = source
            .play(
                ops::ARRIVAL,
                "a request",
                hear,
                move |delivery, came| match came {
                    Came::Request(line) => {
                        delivery.crowd.wait_for_room(room);
                        delivery.request(line, None);
                    }
                    Came::Room(more) => room = more,
                },
            )
            .expect("a thread for what comes from the trace");
        let outside = self.outside.filter(|_| !is_played);
        let entrance = Arc::new(Entrance {
            source,
            crowd,
            room: Mutex::new(ROOM),
        });
        Serving {
            running: apart(|| outside.map(|outside| outside.serve(entrance))),
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
        // Who asks after a panic sees what a lock that is poisoned says of it, as in any program with threads.
        if let Ok(response) = catch_unwind(AssertUnwindSafe(|| handler(&request))) {
            request.respond(response);
        }
    }
}

/// What the source hands requests to, until no more come.
struct Delivery {
    /// None only while it is dropped.
    hand_on: Option<Box<dyn FnMut(Request) + Send>>,
    crowd: Arc<Crowd>,
    over: Arc<Fact>,
    answered: Arc<Fact>,
}

impl Delivery {
    fn request(&mut self, line: Line, exchange: Option<Exchange>) {
        let request = Request::new(line, exchange, self.crowd.enter());
        if let Some(hand_on) = &mut self.hand_on {
            // The thread is not the program's, and has others to serve. The request is gone, and its client told.
            let _ = catch_unwind(AssertUnwindSafe(|| hand_on(request)));
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        // First, so that whoever hears that it is over finds it gone.
        self.hand_on = None;
        self.crowd.close(Arc::clone(&self.answered));
        self.over.establish();
    }
}

/// What comes, in the trace: the first line of a request, or the number of requests for which there is room from now on.
enum Came {
    Request(Line),
    Room(u64),
}

fn hear(reply: Reply<'_>) -> Option<Came> {
    match reply {
        Reply::Bytes(bytes) => Line::from_bytes(&bytes).map(Came::Request),
        Reply::Number(room) => Some(Came::Room(room)),
        _ => None,
    }
}

/// Where the outside brings things into the program.
struct Entrance {
    source: Arc<Source<Delivery>>,
    crowd: Arc<Crowd>,
    /// For how many requests there is room in a replay. Also for counting and bringing to be one.
    room: Mutex<u64>,
}

impl Inlet for Entrance {
    fn request(&self, line: Line, exchange: Exchange) {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if self.crowd.unanswered() >= *room {
            *room *= 2;
            self.source
                .bring(ops::ARRIVAL, Reply::Number(*room), |_delivery| {});
        }
        // Nobody looks at it when off.
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

/// A server that serves. It stops when this is dropped.
pub struct Serving {
    /// None in a replay.
    running: Option<Running>,
    address: SocketAddr,
    grace: Duration,
    /// That no more requests come.
    over: Arc<Fact>,
    /// That moreover there is none without a response.
    answered: Arc<Fact>,
    handlers: Vec<thread::JoinHandle<()>>,
}

impl Serving {
    /// The server's address; in a replay, the one it had then.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more requests, and waits until those that have come are answered: not longer than [`Builder::grace`] for
    /// clients, and once more for handlers. Handler threads have ended then, unless they needed longer.
    ///
    /// A handler that stops its own server waits in vain, because it has a request itself. It tells somebody else.
    #[track_caller]
    pub fn stop(mut self) {
        self.stop_serving();
    }

    #[track_caller]
    fn stop_serving(&mut self) {
        let running = self.running.take();
        if let Some(running) = &running {
            apart(|| running.stop());
        }
        self.over.wait(&|| "the end of a server".to_owned());
        let in_time = !is_played() && {
            let deadline = apart(Instant::now) + self.grace;
            self.answered.wait_until(deadline)
        };
        apart(|| drop(running));
        if outside(ops::STOP, || in_time.into()) == 0 {
            return;
        }
        self.answered
            .wait_if_controlled(&|| "the last response of a server".to_owned());
        for handler in self.handlers.drain(..) {
            // Handlers do not panic: what they call does, and that is caught.
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
