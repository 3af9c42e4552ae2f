//! `UdpSocket`.

use std::{fmt, io, net::SocketAddr, time::Duration};

use super::{
    ToSocketAddrs,
    address::{Address, first_of},
};
use crate::outside::{Name, Question, also, blocking, ops, real};

/// A UDP socket: [`std::net::UdpSocket`], recorded.
pub struct UdpSocket {
    inner: Option<std::net::UdpSocket>,
    name: Name,
}

impl UdpSocket {
    /// Creates a socket at the first of these addresses that can be bound.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<UdpSocket> {
        first_of(addr, |address| {
            let mut inner = None;
            let name = Name::new("socket", address);
            Question::to(ops::BIND, &name).done(|| {
                inner = Some(std::net::UdpSocket::bind(address)?);
                Ok(())
            })?;
            let inner = inner.or_else(|| also(|| std::net::UdpSocket::bind(address)));
            Ok(UdpSocket { inner, name })
        })
    }

    /// Connects to this address: from now on it sends there, and receives only from there.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        first_of(addr, |address| {
            let name = address.to_string();
            Question::new(ops::CONNECT, &name)
                .with(name.as_bytes())
                .done(|| real(&self.inner)?.connect(address))?;
            also(|| real(&self.inner)?.connect(address));
            Ok(())
        })
    }

    /// Sends to the connected address.
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        let count = Question::to(ops::SEND, &self.name)
            .with(buf)
            .number(|| blocking(|| real(&self.inner)?.send(buf).map(|count| count as u64)))?;
        also(|| real(&self.inner)?.send(buf));
        Ok(count as usize)
    }

    /// Sends to the first of these addresses.
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addr: A) -> io::Result<usize> {
        let Some(address) = addr.to_socket_addrs()?.next() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "no addresses to send data to",
            ));
        };
        let name = address.to_string();
        let send = || real(&self.inner)?.send_to(buf, address);
        let count = Question::new(ops::SEND, &name)
            .with_parts(&[name.as_bytes(), buf])
            .number(|| blocking(send).map(|count| count as u64))?;
        also(send);
        Ok(count as usize)
    }

    /// Receives a datagram.
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        Question::to(ops::RECEIVE, &self.name)
            .fill(buf, |buf| blocking(|| real(&self.inner)?.recv(buf)))
    }

    /// Receives a datagram, and returns its sender.
    #[track_caller]
    pub fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive(ops::RECEIVE, buf, std::net::UdpSocket::recv_from)
    }

    /// Receives a datagram without removing it from the queue, and returns its sender.
    #[track_caller]
    pub fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive(ops::PEEK, buf, std::net::UdpSocket::peek_from)
    }

    /// Asks two questions, so that the bytes are written to the trace unchanged.
    #[track_caller]
    fn receive(
        &self,
        op: reenact_engine::Op,
        buf: &mut [u8],
        receive: impl Fn(&std::net::UdpSocket, &mut [u8]) -> io::Result<(usize, SocketAddr)>,
    ) -> io::Result<(usize, SocketAddr)> {
        let mut sender = None;
        let count = Question::to(op, &self.name).fill(buf, |buf| {
            let (count, from) = blocking(|| receive(real(&self.inner)?, buf))?;
            sender = Some(from);
            Ok(count)
        })?;
        let sender: Address = Question::to(ops::SENDER, &self.name).value(|| {
            let sender = sender.ok_or(io::ErrorKind::NotConnected)?;
            Ok(Address::from(sender))
        })?;
        Ok((count, sender.into()))
    }

    /// Returns the local address.
    #[track_caller]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.address(b"local", std::net::UdpSocket::local_addr)
    }

    /// Returns the connected address.
    #[track_caller]
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.address(b"peer", std::net::UdpSocket::peer_addr)
    }

    #[track_caller]
    fn address(
        &self,
        which: &[u8],
        ask: impl Fn(&std::net::UdpSocket) -> io::Result<SocketAddr>,
    ) -> io::Result<SocketAddr> {
        let address: Address = Question::to(ops::ADDRESS, &self.name)
            .with(which)
            .value(|| ask(real(&self.inner)?).map(Address::from))?;
        Ok(address.into())
    }

    /// Returns another handle to the same socket.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<UdpSocket> {
        let mut inner = None;
        Question::to(ops::CLONE, &self.name).done(|| {
            inner = Some(real(&self.inner)?.try_clone()?);
            Ok(())
        })?;
        Ok(UdpSocket {
            inner: inner.or_else(|| also(|| real(&self.inner)?.try_clone())),
            name: self.name.clone(),
        })
    }

    /// Sets the time limit of receives.
    #[track_caller]
    pub fn set_read_timeout(&self, dur: Option<Duration>) -> io::Result<()> {
        self.set("read timeout", &dur, |socket| socket.set_read_timeout(dur))
    }

    /// Sets the time limit of sends.
    #[track_caller]
    pub fn set_write_timeout(&self, dur: Option<Duration>) -> io::Result<()> {
        self.set("write timeout", &dur, |socket| {
            socket.set_write_timeout(dur)
        })
    }

    /// Sets whether operations return immediately instead of waiting.
    #[track_caller]
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.set("nonblocking", &nonblocking, |socket| {
            socket.set_nonblocking(nonblocking)
        })
    }

    /// Sets whether it may send to broadcast addresses.
    #[track_caller]
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.set("broadcast", &broadcast, |socket| {
            socket.set_broadcast(broadcast)
        })
    }

    #[track_caller]
    fn set(
        &self,
        which: &str,
        how: &dyn fmt::Debug,
        set: impl Fn(&std::net::UdpSocket) -> io::Result<()>,
    ) -> io::Result<()> {
        let text = format!("{which} {how:?}");
        Question::to(ops::SET_OPTION, &self.name)
            .with(text.as_bytes())
            .done(|| set(real(&self.inner)?))?;
        also(|| set(real(&self.inner)?));
        Ok(())
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpSocket")
            .field("addr", &self.name)
            .finish()
    }
}
