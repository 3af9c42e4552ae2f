//! An HTTP server whose requests come from the trace in a replay.
//!
//! Connections, their threads and the protocol are hyper's and tokio's, and no part of the program: nothing of them is
//! recorded. What is recorded is what the program gets to see: that a request came, and of its headers and its body what
//! it reads. A replay needs no network and opens no socket.
//!
//! It is for services whose handlers are threads or actors of Reenact. It is not a framework: no routes, no middleware, no
//! TLS, HTTP/1.1 only; put a proxy before it.
//!
//! Requests go to threads:
//!
//! ```
//! use std::{io::{Read, Write}, net::TcpStream};
//!
//! use reenact_http::{Response, Server};
//!
//! let server = Server::bind("127.0.0.1:0")?;
//! let address = server.local_addr();
//! let serving = server.threads(4, |request| match request.path() {
//!     "/greet" => Response::new(format!("hello {}", request.query().unwrap_or("you"))),
//!     _ => Response::builder().status(404).body("no such thing".to_owned()).unwrap(),
//! })?;
//!
//! let mut client = TcpStream::connect(address)?;
//! client.write_all(b"GET /greet?world HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("hello world"));
//! serving.stop();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! or to an actor, which may answer later and elsewhere: a [`Request`] can be kept and sent.
//!
//! ```
//! use reenact::actor::spawn;
//! use reenact_http::{Request, Response, Server};
//!
//! struct Counter(u64);
//!
//! #[reenact::actor]
//! impl Counter {
//!     pub fn handle(&mut self, request: Request) {
//!         self.0 += 1;
//!         request.respond(Response::new(format!("{} so far", self.0)));
//!     }
//! }
//!
//! let counter = spawn(Counter(0));
//! let serving = Server::bind("127.0.0.1:0")?.deliver(move |request| counter.handle(request));
//! serving.stop();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What the program is not bothered with
//!
//! - What is no HTTP is answered with 400, headers past [`Builder::max_headers`] with 431, a body that says it is longer than
//!   [`Builder::max_body`] with 413. One that does not say, and is, is an error of [`Request::body`].
//! - A short body (16 KiB) is waited for before the program hears of the request, so that slow clients do not keep handlers
//!   waiting. If such a client goes before its body has come, nobody hears of it.
//! - Whether a client got its response. One that has gone is answered all the same.
//! - A request that is dropped without a response is answered with 500.
//!
//! # Nondeterminism
//!
//! - **What can go more than one way:** which requests come, in which order, and what is in them; whether a body comes
//!   whole; the address of the server, or why it could not have it; whether all was answered when the server stopped.
//! - **What is recorded:** of each request its method and target when it comes, by the server's source, which is an activity
//!   of its own; each header when it is first read, all of them where all are; the body, or why there is none, when it is
//!   first read; of a response its length and a hash. What is not read is not written. Headers that are
//!   [withheld](reenact_engine::is_withheld) are read by the program but not written.
//! - **What replay waits for:** nothing from outside. The source hands on the recorded requests as fast as the program takes
//!   them; who handles which and when is up to the records of the actors or of the channel. A response that differs from
//!   the recorded one ends the replay, with a report.
//! - **What exploration branches on:** nothing of its own: the outside is what it was.
//! - **What is dependent:** nothing here; the messages that the source sends are, as all messages are.

#![forbid(unsafe_code)]

mod body;
mod call;
mod crowd;
mod ops;
mod outside;
mod request;
mod server;
mod wire;

pub use bytes::Bytes;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri, header};

pub use self::{
    body::BodyError,
    request::Request,
    server::{Builder, Server, Serving},
};
