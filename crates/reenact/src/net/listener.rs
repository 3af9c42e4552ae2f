//! `TcpListener`.

use std::{fmt, io, net::SocketAddr};

use super::{
    TcpStream, ToSocketAddrs,
    address::{Address, first_of},
    socket,
};
use crate::outside::{Handle, blocking, ops};

/// A TCP listener: [`std::net::TcpListener`], recorded.
pub struct TcpListener(Handle<std::net::TcpListener>);

impl TcpListener {
    /// Listens at the first of these addresses that can be bound.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<TcpListener> {
        first_of(addr, |address| {
            socket::bind(address, std::net::TcpListener::bind).map(TcpListener)
        })
    }

    /// Returns the address that it listens at.
    #[track_caller]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let address: Address = self
            .0
            .call(ops::ADDRESS)
            .value(|| self.0.real()?.local_addr().map(Address::from))?;
        Ok(address.into())
    }

    /// Waits for a connection.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let mut inner = None;
        let peer: Address = self.0.call(ops::ACCEPT).value(|| {
            let (stream, peer) = blocking(|| self.0.real()?.accept())?;
            inner = Some(stream);
            Ok(peer.into())
        })?;
        let peer = SocketAddr::from(peer);
        Ok((TcpStream::new(inner, peer), peer))
    }

    /// Iterates over incoming connections, without end.
    #[must_use]
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }

    /// Returns another handle to the same listener.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<TcpListener> {
        let clone = self.0.try_clone(std::net::TcpListener::try_clone);
        clone.map(TcpListener)
    }

    /// Sets whether operations return immediately instead of waiting.
    #[track_caller]
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.0
            .call(ops::SET_OPTION)
            .with_parts(&[b"nonblocking", &[nonblocking.into()]])
            .done(|| self.0.real()?.set_nonblocking(nonblocking))
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpListener")
            .field("addr", self.0.name())
            .finish()
    }
}

/// Iterator over incoming connections: [`std::net::Incoming`].
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<TcpStream>> {
        Some(self.listener.accept().map(|(stream, _)| stream))
    }
}

impl std::iter::FusedIterator for Incoming<'_> {}
