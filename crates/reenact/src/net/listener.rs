//! `TcpListener`.

use std::{fmt, io, net::SocketAddr};

use super::{
    TcpStream, ToSocketAddrs,
    address::{Address, first_of},
};
use crate::outside::{Name, Question, blocking, ops, real};

/// A TCP listener: [`std::net::TcpListener`], recorded.
pub struct TcpListener {
    inner: Option<std::net::TcpListener>,
    name: Name,
}

impl TcpListener {
    /// Listens at the first of these addresses that can be bound.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<TcpListener> {
        first_of(addr, |address| {
            let mut inner = None;
            let name = Name::new("socket", address);
            Question::to(ops::BIND, &name).done(|| {
                inner = Some(std::net::TcpListener::bind(address)?);
                Ok(())
            })?;
            Ok(TcpListener { inner, name })
        })
    }

    /// Returns the address that it listens at.
    #[track_caller]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let address: Address = Question::to(ops::ADDRESS, &self.name)
            .value(|| real(&self.inner)?.local_addr().map(Address::from))?;
        Ok(address.into())
    }

    /// Waits for a connection.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let mut inner = None;
        let peer: Address = Question::to(ops::ACCEPT, &self.name).value(|| {
            let (stream, peer) = blocking(|| real(&self.inner)?.accept())?;
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
        let mut inner = None;
        Question::to(ops::CLONE, &self.name).done(|| {
            inner = Some(real(&self.inner)?.try_clone()?);
            Ok(())
        })?;
        Ok(TcpListener {
            inner,
            name: self.name.clone(),
        })
    }

    /// Sets whether operations return immediately instead of waiting.
    #[track_caller]
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        Question::to(ops::SET_OPTION, &self.name)
            .with_parts(&[b"nonblocking", &[nonblocking.into()]])
            .done(|| real(&self.inner)?.set_nonblocking(nonblocking))
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpListener")
            .field("addr", &self.name)
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
