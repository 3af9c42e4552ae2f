//! `std::net`, recorded: sockets that block.
//!
//! Names and signatures are those of the standard library. In a replay there is no network: what was received comes from
//! the trace, errors and addresses included, and what the program sends is compared with what it sent then.
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
//! A replay that is told to really write (`REENACT_REALLY_WRITE`) also connects to where the program connected, and sends
//! what it sends. Whom it accepted then is not there any more: to those nothing is sent.
//!
//! An actor or a light process that waits for a socket keeps its thread, and another one runs what else there is to do. For
//! thousands that wait at the same time, let a [source](crate::source) bring what comes.
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: who connects and when, what is received and in which pieces, whether it is in time;
//!   what a name stands for, which port is free.
//! - *What is recorded*: every answer. Bytes that were received are kept; of bytes that are sent, their length and a hash,
//!   and how many were taken.
//! - *What replay waits for*: nothing but the activity's own order. That a message had been sent before it was received,
//!   where both ends are in this program, is not enforced.
//! - *What exploration branches on*: nothing; the answers stay those of the recording, or of the world.
//! - *What is dependent*: nothing that the program can see other than through the answers.

mod address;
mod listener;
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
