//! `std::net`, recorded: blocking sockets.
//!
//! Names and signatures are those of the standard library. A replay uses no network: what was received comes from the
//! trace, errors and addresses included, and what the program sends is compared with what it sent in the recording.
//!
//! ```
//! use std::io::{Read, Write};
//!
//! use reenact::{net::{TcpListener, TcpStream}, thread};
//!
//! # fn main() -> std::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let address = listener.local_addr()?;
//! let server = thread::spawn(move || -> std::io::Result<()> {
//!     let (mut stream, _) = listener.accept()?;
//!     stream.write_all(b"good morning")
//! });
//! let mut greeting = String::new();
//! TcpStream::connect(address)?.read_to_string(&mut greeting)?;
//! assert_eq!(greeting, "good morning");
//! server.join().unwrap()?;
//! # Ok(())
//! # }
//! ```
//!
//! With `REENACT_REALLY_WRITE`, a replay also connects where the program connected, and sends what it sends. The peers
//! whose connections it accepted no longer exist: nothing is sent to those.
//!
//! An actor or a process that waits for a socket blocks its thread, and another thread runs the remaining work. To wait
//! for thousands of connections at the same time, let a [source](crate::source) deliver what arrives.
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: which peer connects and when, what is received and in which pieces, whether it
//!   arrives in time; what a name resolves to, which port is free.
//! - *What is recorded*: every answer. Bytes that were received are stored; of bytes that are sent, their length and a
//!   hash, and how many were accepted.
//! - *What replay waits for*: only the activity's own order. Where both ends are in this program, replay does not
//!   enforce that a message was sent before it is received.
//! - *What exploration branches on*: nothing; the answers are those of the recording or of the system.
//! - *What is dependent*: nothing that the program can observe other than through the answers.

mod address;
mod listener;
mod socket;
mod stream;
mod udp;

pub use std::net::{
    AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, SocketAddrV4, SocketAddrV6,
};

pub use self::{
    address::ToSocketAddrs,
    listener::{Incoming, TcpListener},
    stream::TcpStream,
    udp::UdpSocket,
};
