//! A crate of somebody strict: the attribute brings no warning with it, also where its author has turned one off. The
//! runtime is found without a path to it, as in any crate that depends on `reenact`.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    unused,
    deprecated,
    future_incompatible,
    missing_docs,
    nonstandard_style,
    private_bounds,
    private_interfaces,
    rust_2018_idioms,
    unnameable_types,
    unreachable_pub,
    unused_qualifications,
    unused_results,
    clippy::all,
    clippy::pedantic
)]

extern crate self as reenact;

#[path = "it/fake/actor.rs"]
#[allow(warnings, missing_docs, unused_results, clippy::all, clippy::pedantic)]
pub mod actor;

/// An actor for everybody.
pub mod open {
    use super::{Secret, actor::Context};

    /// An actor.
    #[derive(Debug)]
    pub struct Open(pub(crate) Vec<u8>);

    #[reenact_macros::actor]
    impl Open {
        /// Adds one. See [`Self::hidden`].
        pub fn push(&mut self, n: u8) {
            self.0.push(n);
        }

        /// How many there are.
        pub fn len(&mut self, _ctx: &mut Context<Self>) -> usize {
            self.hidden()
        }

        /// Carries what others cannot name.
        pub(crate) fn secret(&mut self, secret: Secret) -> Secret {
            self.0.push(secret.0);
            secret
        }

        /// Has gone out of use.
        #[deprecated(note = "push")]
        pub fn old(&mut self, n: u8) {
            self.push(n);
        }

        /// Does not look as it should.
        #[allow(non_snake_case)]
        #[expect(clippy::type_complexity)]
        pub fn Odd(
            &mut self,
            N: Vec<Option<Result<Vec<Option<Result<u8, Box<u16>>>>, Vec<Vec<Box<u8>>>>>>,
        ) {
            self.0.push(u8::from(N.into_iter().next().is_some()));
        }

        const fn hidden(&self) -> usize {
            self.0.len()
        }
    }
}

/// What only this crate sees.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Secret(u8);

/// An actor that only this crate sees. Its messages are public and nobody documented them, and so is the trait.
#[derive(Debug)]
struct Closed(Secret);

#[reenact_macros::actor]
#[allow(unreachable_pub)]
impl Closed {
    pub fn set(&mut self, _n: u8, secret: Secret) {
        self.0 = secret;
    }

    pub const fn get(&self) -> u8 {
        self.0.0
    }
}

#[test]
fn messages_arrive_here_too() {
    use actor::FarRef;
    use open::{Open, OpenSends as _};

    let open = FarRef::new(Open(vec![1]));
    open.push(2);
    assert_eq!(open.secret(Secret(3)).wait(), Secret(3));
    assert_eq!(open.len().wait(), 3);

    let closed = FarRef::new(Closed(Secret(0)));
    closed.set(0, Secret(4));
    assert_eq!(closed.get().wait(), 4);
}
