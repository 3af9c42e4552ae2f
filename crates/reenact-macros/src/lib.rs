//! The attributes `#[reenact::actor]`, which makes messages of an actor's methods, and `#[reenact::test]`, which makes a test
//! that is explored.
//!
//! This crate is for the crate `reenact`, which exports them; use them from there. It knows how messages look
//! and nothing of how they travel: that is `reenact::actor`.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

mod answer;
mod attributes;
mod borrows;
mod call_at;
mod errors;
mod expand;
mod message;
mod options;
mod parameter;
mod receiver;
mod self_type;
mod senders;
mod test;
#[cfg(test)]
mod tests;
mod visibility;

/// Makes messages of an actor's methods.
///
/// Write the actor as an ordinary type with ordinary methods. The attribute leaves the `impl` block as it is and puts a
/// trait beside it, here `MathSends`, through which a far reference has the same methods. Calling one there sends a
/// message, which the actor takes in a turn of its own:
///
/// ```standalone_crate
/// # #![allow(dead_code)]
/// # extern crate self as reenact;
/// # pub mod actor { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fake/actor.rs")); }
/// # pub use reenact_macros::actor;
/// # fn main() { example::main() }
/// # mod example {
/// use reenact::actor::{Context, FarRef, Promise};
///
/// pub struct Math {
///     result: u64,
/// }
///
/// #[reenact::actor]
/// impl Math {
///     // No receiver: not a message.
///     pub fn new() -> Math {
///         Math { result: 0 }
///     }
///
///     /// No return type: sent, and not answered.
///     pub fn double(&mut self, n: u64) {
///         self.result = 2 * n;
///     }
///
///     /// A return type: answered by a promise.
///     pub fn get_result(&self) -> u64 {
///         self.result
///     }
///
///     /// Returns a promise: the sender has a `Promise<u64>` of it, not a promise of a promise.
///     pub fn forward(&mut self, _ctx: &mut Context<Self>, to: FarRef<Math>) -> Promise<u64> {
///         to.get_result()
///     }
///
///     // Private: not a message.
///     fn helper(&self) {}
/// }
///
/// # pub(super) fn main() {
/// # let math = FarRef::new(Math::new());
/// # let other = FarRef::new(Math::new());
/// // `math` and `other` are a `FarRef<Math>` each.
/// math.double(21);
/// let answer: Promise<u64> = other.forward(math.clone());
/// # assert_eq!(answer.wait(), 42);
/// # }
/// # }
/// ```
///
/// # What is a message
///
/// - Every method with `&mut self` or `&self` that is not private.
/// - Its parameters are what the message carries. They are owned (`Send + 'static`): a message outlives the turn that
///   sent it.
/// - A first parameter `&mut Context<Self>` is not carried; the runtime supplies it.
/// - Without a return type it is sent one way. With one, `-> ()` included, it is answered by a promise. A return type
///   written as `Promise<…>` is flattened into that promise.
/// - Generic actors and generic methods stay generic.
///
/// The trait is implemented for everything that messages can be sent to: `FarRef<Math>`, and `Promise<FarRef<Math>>` for
/// sending to an actor that is still to come. It is as visible as the most visible message, and with it all the messages
/// are. Its methods have the documentation, the `#[cfg]` and the `#[allow]` of the actor's methods, and no other
/// attribute of them. A message whose name far references have for themselves (`clone`) is sent with
/// `MathSends::clone(&math)`.
///
/// # What is shown
///
/// The debugger, failing schedules and the log of a replay call a message by its method, with those arguments that are `Debug`:
/// `double(21)`, or `double(_)`. The debugger shows the state of an actor that is `Debug`. Of a type parameter that is only known if
/// it is required. Nobody pays for that elsewhere.
///
/// # Options
///
/// - `#[reenact::actor(trait = Name)]` names the trait. Needed for a second block of the same actor.
/// - `#[reenact::actor(crate = path)]` says where the crate `reenact` is, if it is not `::reenact`.
///
/// # What is refused
///
/// Whatever could not be a message: `async fn` (a turn runs to its end), `unsafe fn`, `self` by value, lifetimes and
/// borrows other than `'static` in what is carried or answered, `-> impl Trait`, and `impl Trait for Actor` blocks. A
/// private method may be any of these.
#[proc_macro_attribute]
pub fn actor(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(options.into(), item.into()).into()
}

/// Makes a test that is explored: run under one schedule after the other until one fails or all have been tried.
///
/// ```text
/// #[reenact::test]
/// fn no_update_is_lost() { … }
///
/// #[reenact::test(way = "pct 3", executions = 5000)]
/// fn no_update_is_lost_in_a_large_program() { … }
/// ```
///
/// It is a test like any other, for `cargo test` and for others that run tests. A schedule that makes it fail is kept in the directory `schedules` of
/// the package, and tried first from then on.
///
/// # Options
///
/// - `way = "…"`: which executions. `portfolio` (some at random, then one of each class), `exhaustive` (one of each
///   class), at random by `mixed`, `urw`, `walk`, `pct N`, `pctcp N` or `pos`, or all with at most `preemptions N` or `delays N`.
/// - `executions = N`, `seconds = N`: how many, and for how long at most.
/// - `steps = N`: how many steps an execution may have.
/// - `seed = N`: what chance goes by.
/// - `cores = N`: how many threads explore, 1 if nothing is said, since tests run beside each other already.
/// - `crate = path`: where the crate `reenact` is, if it is not `::reenact`.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(options.into(), item.into()).into()
}

/// Makes `name.method()` of `at name method`, at the line of `at`: for the macros of the crate `reenact`.
#[doc(hidden)]
#[proc_macro]
pub fn call_at(tokens: TokenStream) -> TokenStream {
    call_at::call_at(tokens)
}
