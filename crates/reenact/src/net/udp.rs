//! `UdpSocket`.

use std::{fmt, io, net::SocketAddr, time::Duration};

use super::{
    ToSocketAddrs,
    address::{Address, first_of},
    socket,
};
use crate::outside::{Handle, SystemCall, also, blocking, ops};

/// A UDP socket: [`std::net::UdpSocket`], recorded.
pub struct UdpSocket(Handle<std::net::UdpSocket>);

impl UdpSocket {
    /// Creates a socket at the first of these addresses that can be bound.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<UdpSocket> {
        first_of(addr, |address| {
            let mut socket = socket::bind(address, std::net::UdpSocket::bind)?;
            socket.open_in_replay(|| std::net::UdpSocket::bind(address));
            Ok(UdpSocket(socket))
        })
    }

    /// Connects to this address: from now on it sends there, and receives only from there.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        first_of(addr, |address| {
            let name = address.to_string();
            SystemCall::new(ops::CONNECT, &name)
                .with(name.as_bytes())
                .change(|| self.0.real()?.connect(address))
        })
    }

    /// Sends to the connected address.
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        let count = self
            .0
            .call(ops::SEND)
            .with(buf)
            .number(|| blocking(|| self.0.real()?.send(buf).map(|count| count as u64)))?;
        also(|| self.0.real()?.send(buf));
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
        let send = || self.0.real()?.send_to(buf, address);
        let count = SystemCall::new(ops::SEND, &name)
            .with_parts(&[name.as_bytes(), buf])
            .number(|| blocking(send).map(|count| count as u64))?;
        also(send);
        Ok(count as usize)
    }

    /// Receives a datagram.
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0
            .call(ops::RECEIVE)
            .fill(buf, |buf| blocking(|| self.0.real()?.recv(buf)))
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
        let count = self.0.call(op).fill(buf, |buf| {
            let (count, from) = blocking(|| receive(self.0.real()?, buf))?;
            sender = Some(from);
            Ok(count)
        })?;
        let sender: Address = self.0.call(ops::SENDER).value(|| {
            let sender = sender.ok_or(io::ErrorKind::NotConnected)?;
            Ok(Address::from(sender))
        })?;
        Ok((count, sender.into()))
    }

    /// Returns the local address.
    #[track_caller]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        socket::address_of(&self.0, b"local", std::net::UdpSocket::local_addr)
    }

    /// Returns the connected address.
    #[track_caller]
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        socket::address_of(&self.0, b"peer", std::net::UdpSocket::peer_addr)
    }

    /// Returns another handle to the same socket.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<UdpSocket> {
        self.0
            .try_clone(std::net::UdpSocket::try_clone)
            .map(UdpSocket)
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
        let text = socket::option(which, how);
        self.0
            .call(ops::SET_OPTION)
            .with(text.as_bytes())
            .change(|| set(self.0.real()?))
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpSocket")
            .field("addr", self.0.name())
            .finish()
    }
}
