//! `TcpStream`.

use std::{
    fmt,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr},
    time::Duration,
};

use super::{ToSocketAddrs, address::first_of, socket};
use crate::outside::{Handle, SystemCall, also, blocking, ops, read_to_end, readable, writable};

/// A TCP connection: [`std::net::TcpStream`], recorded.
pub struct TcpStream(Handle<std::net::TcpStream>);

/// How long a replay that really sends waits for a peer, to connect and for each write.
const PATIENCE: Duration = Duration::from_secs(5);

impl TcpStream {
    /// Creates a connection to this peer; `inner` is none in a replay.
    pub(super) fn new(inner: Option<std::net::TcpStream>, peer: SocketAddr) -> TcpStream {
        TcpStream(Handle::new(inner, socket::name_of(peer)))
    }

    /// Connects to the first of these addresses that accepts.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<TcpStream> {
        first_of(addr, |address| {
            TcpStream::connect_to(address, b"", || std::net::TcpStream::connect(address))
        })
    }

    /// Connects to this address, if it accepts in time.
    #[track_caller]
    pub fn connect_timeout(addr: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        let nanos = timeout.as_nanos().to_le_bytes();
        TcpStream::connect_to(*addr, &nanos, || {
            std::net::TcpStream::connect_timeout(addr, timeout)
        })
    }

    #[track_caller]
    fn connect_to(
        address: SocketAddr,
        how: &[u8],
        connect: impl Fn() -> io::Result<std::net::TcpStream>,
    ) -> io::Result<TcpStream> {
        let mut inner = None;
        let name = address.to_string();
        SystemCall::new(ops::CONNECT, &name)
            .with_parts(&[name.as_bytes(), how])
            .done(|| {
                inner = Some(blocking(&connect)?);
                Ok(())
            })?;
        let inner = inner.or_else(|| {
            also(|| {
                let real = std::net::TcpStream::connect_timeout(&address, PATIENCE)?;
                real.set_write_timeout(Some(PATIENCE))?;
                Ok(real)
            })
        });
        Ok(TcpStream::new(inner, address))
    }

    /// Returns the address of the peer.
    #[track_caller]
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        socket::address_of(&self.0, b"peer", std::net::TcpStream::peer_addr)
    }

    /// Returns the local address.
    #[track_caller]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        socket::address_of(&self.0, b"local", std::net::TcpStream::local_addr)
    }

    /// Shuts down one direction, or both.
    #[track_caller]
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let text = format!("{how:?}");
        self.0
            .call(ops::SHUTDOWN)
            .with(text.as_bytes())
            .done(|| self.0.real()?.shutdown(how))?;
        also(|| self.0.real()?.shutdown(how));
        Ok(())
    }

    /// Returns another handle to the same connection.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<TcpStream> {
        self.0
            .try_clone(std::net::TcpStream::try_clone)
            .map(TcpStream)
    }

    /// Reads without removing the bytes from the queue.
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0
            .call(ops::PEEK)
            .fill(buf, |buf| blocking(|| self.0.real()?.peek(buf)))
    }

    /// Returns the pending error, if there is one.
    #[track_caller]
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        let code = self.ask(b"error", |stream| {
            let code = stream.take_error()?.and_then(|error| error.raw_os_error());
            Ok(code.unwrap_or(0).cast_unsigned().into())
        })?;
        Ok((code != 0).then(|| io::Error::from_raw_os_error(code as i32)))
    }

    /// Whether `TCP_NODELAY` is set.
    #[track_caller]
    pub fn nodelay(&self) -> io::Result<bool> {
        let answer = self.ask(b"nodelay", |stream| stream.nodelay().map(u64::from))?;
        Ok(answer != 0)
    }

    /// Returns the time to live (`IP_TTL`) of sent packets.
    #[track_caller]
    pub fn ttl(&self) -> io::Result<u32> {
        let answer = self.ask(b"ttl", |stream| stream.ttl().map(u64::from))?;
        Ok(answer as u32)
    }

    /// Returns the time limit of reads.
    #[track_caller]
    pub fn read_timeout(&self) -> io::Result<Option<Duration>> {
        self.0
            .call(ops::OPTION)
            .with(b"read timeout")
            .value(|| self.0.real()?.read_timeout())
    }

    /// Returns the time limit of writes.
    #[track_caller]
    pub fn write_timeout(&self) -> io::Result<Option<Duration>> {
        self.0
            .call(ops::OPTION)
            .with(b"write timeout")
            .value(|| self.0.real()?.write_timeout())
    }

    /// Sets whether small packets are sent at once (`TCP_NODELAY`).
    #[track_caller]
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.set("nodelay", &nodelay, |stream| stream.set_nodelay(nodelay))
    }

    /// Sets the time to live (`IP_TTL`) of sent packets.
    #[track_caller]
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.set("ttl", &ttl, |stream| stream.set_ttl(ttl))
    }

    /// Sets the time limit of reads.
    #[track_caller]
    pub fn set_read_timeout(&self, dur: Option<Duration>) -> io::Result<()> {
        self.set("read timeout", &dur, |stream| stream.set_read_timeout(dur))
    }

    /// Sets the time limit of writes.
    #[track_caller]
    pub fn set_write_timeout(&self, dur: Option<Duration>) -> io::Result<()> {
        self.set("write timeout", &dur, |stream| {
            stream.set_write_timeout(dur)
        })
    }

    /// Sets whether operations return immediately instead of waiting.
    #[track_caller]
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.set("nonblocking", &nonblocking, |stream| {
            stream.set_nonblocking(nonblocking)
        })
    }

    #[track_caller]
    fn ask(
        &self,
        which: &[u8],
        ask: impl Fn(&std::net::TcpStream) -> io::Result<u64>,
    ) -> io::Result<u64> {
        self.0
            .call(ops::OPTION)
            .with(which)
            .number(|| ask(self.0.real()?))
    }

    #[track_caller]
    fn set(
        &self,
        which: &str,
        how: &dyn fmt::Debug,
        set: impl Fn(&std::net::TcpStream) -> io::Result<()>,
    ) -> io::Result<()> {
        self.0
            .call(ops::SET_OPTION)
            .with(socket::option(which, how).as_bytes())
            .done(|| set(self.0.real()?))
    }

    #[track_caller]
    fn read_some(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0
            .call(ops::RECEIVE)
            .fill(buf, |buf| blocking(|| self.0.real()?.read(buf)))
    }

    #[track_caller]
    fn read_rest(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let call = || self.0.call(ops::RECEIVE);
        read_to_end(call, buf, |buf| {
            blocking(|| self.0.real()?.read_to_end(buf))
        })
    }

    #[track_caller]
    fn write_some(&self, buf: &[u8]) -> io::Result<usize> {
        let count = self
            .0
            .call(ops::SEND)
            .with(buf)
            .number(|| blocking(|| self.0.real()?.write(buf).map(|count| count as u64)))?;
        let count = buf.len().min(count as usize);
        also(|| blocking(|| self.0.real()?.write_all(&buf[..count])));
        Ok(count)
    }
}

readable!(TcpStream);
writable!(TcpStream);

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpStream")
            .field("peer", self.0.name())
            .finish()
    }
}
