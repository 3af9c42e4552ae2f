//! Addresses: their form in the trace, and name resolution.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
    option, slice, vec,
};

use serde::{Deserialize, Serialize};

use crate::outside::{SystemCall, blocking, ops};

/// The form of an address in the trace, with all its parts.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum Address {
    V4([u8; 4], u16),
    V6([u8; 16], u16, u32, u32),
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Address {
        match address {
            SocketAddr::V4(v4) => Address::V4(v4.ip().octets(), v4.port()),
            SocketAddr::V6(v6) => {
                Address::V6(v6.ip().octets(), v6.port(), v6.flowinfo(), v6.scope_id())
            }
        }
    }
}

impl From<Address> for SocketAddr {
    fn from(address: Address) -> SocketAddr {
        match address {
            Address::V4(ip, port) => SocketAddrV4::new(ip.into(), port).into(),
            Address::V6(ip, port, flow, scope) => {
                SocketAddrV6::new(ip.into(), port, flow, scope).into()
            }
        }
    }
}

/// Returns the result of `attempt` for the first address for which it succeeds.
#[track_caller]
pub(super) fn first_of<A: ToSocketAddrs, R>(
    addresses: A,
    mut attempt: impl FnMut(SocketAddr) -> io::Result<R>,
) -> io::Result<R> {
    let mut failure = None;
    for address in addresses.to_socket_addrs()? {
        match attempt(address) {
            Ok(done) => return Ok(done),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "could not resolve to any addresses",
        )
    }))
}

/// Conversion to socket addresses: [`std::net::ToSocketAddrs`].
///
/// Name resolution is an answer from outside, and recorded.
pub trait ToSocketAddrs {
    /// Iterator over the addresses.
    type Iter: Iterator<Item = SocketAddr>;

    /// Converts this to addresses.
    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter>;
}

macro_rules! one_address {
    ($($kind:ty;)*) => {$(
        impl ToSocketAddrs for $kind {
            type Iter = option::IntoIter<SocketAddr>;

            fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
                Ok(Some(SocketAddr::from(*self)).into_iter())
            }
        }
    )*};
}

one_address! {
    SocketAddr;
    SocketAddrV4;
    SocketAddrV6;
    (IpAddr, u16);
    (Ipv4Addr, u16);
    (Ipv6Addr, u16);
}

impl ToSocketAddrs for (&str, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        match self.0.parse::<IpAddr>() {
            Ok(ip) => Ok(vec![SocketAddr::new(ip, self.1)].into_iter()),
            Err(_) => look_up(&format!("{}:{}", self.0, self.1)),
        }
    }
}

impl ToSocketAddrs for (String, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (&*self.0, self.1).to_socket_addrs()
    }
}

impl ToSocketAddrs for str {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        match self.parse() {
            Ok(address) => Ok(vec![address].into_iter()),
            Err(_) => look_up(self),
        }
    }
}

impl ToSocketAddrs for String {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (**self).to_socket_addrs()
    }
}

impl<'a> ToSocketAddrs for &'a [SocketAddr] {
    type Iter = std::iter::Cloned<slice::Iter<'a, SocketAddr>>;

    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        Ok(self.iter().cloned())
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    type Iter = T::Iter;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<T::Iter> {
        (**self).to_socket_addrs()
    }
}

/// Resolves a name and a port.
#[track_caller]
fn look_up(name: &str) -> io::Result<vec::IntoIter<SocketAddr>> {
    let addresses: Vec<Address> = SystemCall::new(ops::LOOK_UP, &name)
        .with(name.as_bytes())
        .value(|| {
            let found = blocking(|| std::net::ToSocketAddrs::to_socket_addrs(name))?;
            Ok(found.map(Address::from).collect())
        })?;
    let addresses: Vec<SocketAddr> = addresses.into_iter().map(SocketAddr::from).collect();
    Ok(addresses.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_after_being_written_down() {
        let addresses: [SocketAddr; 3] = [
            "192.0.2.7:80".parse().unwrap(),
            "[2001:db8::1]:8080".parse().unwrap(),
            SocketAddrV6::new(Ipv6Addr::LOCALHOST, 9, 7, 3).into(),
        ];
        for address in addresses {
            assert_eq!(SocketAddr::from(Address::from(address)), address);
        }
    }

    #[test]
    fn a_name_that_is_an_address_is_not_looked_up() {
        let addresses: Vec<_> = "127.0.0.1:7".to_socket_addrs().unwrap().collect();
        assert_eq!(addresses, ["127.0.0.1:7".parse().unwrap()]);
        let error = "no address".to_socket_addrs().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
