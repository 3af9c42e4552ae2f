//! `TcpStream`.

use std::{
    fmt,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr},
    time::Duration,
};

use reenact_engine::Op;

use super::{
    ToSocketAddrs,
    address::{Address, first_of},
};
use crate::outside::{
    Name, Question, also, blocking, forward, ops, read_to_end, read_to_string, real, write_all,
};

/// A TCP connection: [`std::net::TcpStream`], recorded.
pub struct TcpStream {
    inner: Option<std::net::TcpStream>,
    name: Name,
}

/// How long a replay that really sends waits for a peer, to connect and for each write.
const PATIENCE: Duration = Duration::from_secs(5);

impl TcpStream {
    /// Creates a connection to this peer; `inner` is none in a replay.
    pub(super) fn new(inner: Option<std::net::TcpStream>, peer: SocketAddr) -> TcpStream {
        TcpStream {
            inner,
            name: Name::new("socket", peer),
        }
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
        let mut stream = TcpStream::new(None, address);
        let name = address.to_string();
        Question::new(ops::CONNECT, &name)
            .with_parts(&[name.as_bytes(), how])
            .done(|| {
                stream.inner = Some(blocking(&connect)?);
                Ok(())
            })?;
        stream.inner = stream.inner.take().or_else(|| {
            also(|| {
                let real = std::net::TcpStream::connect_timeout(&address, PATIENCE)?;
                real.set_write_timeout(Some(PATIENCE))?;
                Ok(real)
            })
        });
        Ok(stream)
    }

    /// Returns the address of the peer.
    #[track_caller]
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.address(b"peer", std::net::TcpStream::peer_addr)
    }

    /// Returns the local address.
    #[track_caller]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.address(b"local", std::net::TcpStream::local_addr)
    }

    #[track_caller]
    fn address(
        &self,
        which: &[u8],
        ask: impl Fn(&std::net::TcpStream) -> io::Result<SocketAddr>,
    ) -> io::Result<SocketAddr> {
        let address: Address = Question::to(ops::ADDRESS, &self.name)
            .with(which)
            .value(|| ask(real(&self.inner)?).map(Address::from))?;
        Ok(address.into())
    }

    /// Shuts down one direction, or both.
    #[track_caller]
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let text = format!("{how:?}");
        Question::to(ops::SHUTDOWN, &self.name)
            .with(text.as_bytes())
            .done(|| real(&self.inner)?.shutdown(how))?;
        also(|| real(&self.inner)?.shutdown(how));
        Ok(())
    }

    /// Returns another handle to the same connection.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<TcpStream> {
        let mut inner = None;
        Question::to(ops::CLONE, &self.name).done(|| {
            inner = Some(real(&self.inner)?.try_clone()?);
            Ok(())
        })?;
        Ok(TcpStream {
            inner: inner.or_else(|| also(|| real(&self.inner)?.try_clone())),
            name: self.name.clone(),
        })
    }

    /// Reads without removing the bytes from the queue.
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        Question::to(ops::PEEK, &self.name)
            .fill(buf, |buf| blocking(|| real(&self.inner)?.peek(buf)))
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
        Question::to(ops::OPTION, &self.name)
            .with(b"read timeout")
            .value(|| real(&self.inner)?.read_timeout())
    }

    /// Returns the time limit of writes.
    #[track_caller]
    pub fn write_timeout(&self) -> io::Result<Option<Duration>> {
        Question::to(ops::OPTION, &self.name)
            .with(b"write timeout")
            .value(|| real(&self.inner)?.write_timeout())
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
        Question::to(ops::OPTION, &self.name)
            .with(which)
            .number(|| ask(real(&self.inner)?))
    }

    #[track_caller]
    fn set(
        &self,
        which: &str,
        how: &dyn fmt::Debug,
        set: impl Fn(&std::net::TcpStream) -> io::Result<()>,
    ) -> io::Result<()> {
        let text = format!("{which} {how:?}");
        Question::to(ops::SET_OPTION, &self.name)
            .with(text.as_bytes())
            .done(|| set(real(&self.inner)?))
    }

    fn question(&self, op: Op) -> Question<'_> {
        Question::to(op, &self.name)
    }
}

impl Read for &TcpStream {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.question(ops::RECEIVE)
            .fill(buf, |buf| blocking(|| real(&self.inner)?.read(buf)))
    }

    #[track_caller]
    fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let question = || self.question(ops::RECEIVE);
        read_to_end(question, buf, |buf| {
            blocking(|| real(&self.inner)?.read_to_end(buf))
        })
    }

    #[track_caller]
    fn read_to_string(&mut self, buf: &mut String) -> io::Result<usize> {
        read_to_string(buf, |bytes| self.read_to_end(bytes))
    }
}

impl Write for &TcpStream {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let count = self
            .question(ops::SEND)
            .with(buf)
            .number(|| blocking(|| real(&self.inner)?.write(buf).map(|count| count as u64)))?;
        let count = buf.len().min(count as usize);
        also(|| blocking(|| real(&self.inner)?.write_all(&buf[..count])));
        Ok(count)
    }

    #[track_caller]
    fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
        write_all(self, buf)
    }

    /// There is no buffer, so there is nothing to flush.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

forward!(Read for TcpStream);
forward!(Write for TcpStream);

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpStream")
            .field("peer", &self.name)
            .finish()
    }
}
