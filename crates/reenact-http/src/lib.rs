//! An HTTP server whose requests come from the trace in a replay.
//!
//! hyper and tokio provide connections, their threads and the protocol; these are not part of the program and not
//! recorded. What the program sees is recorded: that a request arrived, and what it reads of its headers and body. A
//! replay needs no network and opens no socket.
//!
//! It is for services whose handlers are threads or actors of Reenact. It is not a framework: no routes, no middleware,
//! no TLS, HTTP/1.1 only; put a proxy in front of it.
//!
//! Threads can handle requests:
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
//! or an actor, which may answer later and elsewhere: a [`Request`] can be kept and sent.
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
//! # What the server handles itself
//!
//! - It answers what is not HTTP with 400, headers longer than [`Builder::max_headers`] with 431, and a body whose
//!   declared length exceeds [`Builder::max_body`] with 413. A longer body without a declared length is an error of
//!   [`Request::body`].
//! - It waits for a short body (up to 16 KiB) before it passes the request to the program, so that slow clients do not
//!   keep handlers waiting. If such a client disconnects before its body has arrived, the program does not see the
//!   request.
//! - Whether a client got its response is not reported. Responding to a client that has disconnected succeeds.
//! - It answers a request that is dropped without a response with 500.
//!
//! # Nondeterminism
//!
//! - **What can go more than one way:** which requests arrive, in which order, and their content; whether a body
//!   arrives completely; the address of the server, or the error of binding it; whether all requests were answered when
//!   the server stopped.
//! - **What is recorded:** of each request its method and target when it arrives, by the server's source, which is an
//!   activity of its own; each header when it is first read, all of them where all are read; the body, or its error,
//!   when it is first read; of a response its length and a hash. What is not read is not recorded. Headers that are
//!   [withheld](reenact_engine::is_withheld) can be read by the program but are not written to the trace.
//! - **What replay waits for:** nothing from outside. The source delivers the recorded requests as fast as the program
//!   takes them; the recorded order of the actors or of the channel determines which handler gets which request and
//!   when. A response that differs from the recorded one ends the replay with a report.
//! - **What exploration branches on:** nothing of its own: the input from outside stays the same.
//! - **What is dependent:** nothing here; the messages that the source sends are dependent as all messages are.

#![forbid(unsafe_code)]

mod body;
mod call;
mod listener;
mod ops;
mod request;
mod server;
mod unanswered;
mod wire;

pub use bytes::Bytes;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri, header};

pub use self::{
    body::BodyError,
    request::Request,
    server::{Builder, Server, Serving},
};
