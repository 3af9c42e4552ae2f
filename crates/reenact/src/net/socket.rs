//! What all sockets have in common.

use std::{fmt, io, net::SocketAddr};

use super::address::Address;
use crate::outside::{Handle, HandleName, SystemCall, ops};

/// Returns the name of a socket.
pub(super) fn name_of(address: SocketAddr) -> HandleName {
    HandleName::new("socket", address)
}

/// Binds a socket to an address.
#[track_caller]
pub(super) fn bind<S>(
    address: SocketAddr,
    bind: impl Fn(SocketAddr) -> io::Result<S>,
) -> io::Result<Handle<S>> {
    let mut inner = None;
    let name = name_of(address);
    SystemCall::on(ops::BIND, &name).done(|| {
        inner = Some(bind(address)?);
        Ok(())
    })?;
    Ok(Handle::new(inner, name))
}

/// Asks a socket for one of its addresses.
#[track_caller]
pub(super) fn address_of<S>(
    socket: &Handle<S>,
    which: &[u8],
    ask: impl Fn(&S) -> io::Result<SocketAddr>,
) -> io::Result<SocketAddr> {
    let address: Address = socket
        .call(ops::ADDRESS)
        .with(which)
        .value(|| ask(socket.real()?).map(Address::from))?;
    Ok(address.into())
}

/// Describes the change of an option, for comparison in a replay.
pub(super) fn option(which: &str, value: &dyn fmt::Debug) -> String {
    format!("{which} {value:?}")
}
