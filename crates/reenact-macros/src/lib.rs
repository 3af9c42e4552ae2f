//! The attributes `#[reenact::actor]`, which turns an actor's methods into messages, and `#[reenact::test]`, which
//! makes a test explored.
//!
//! The crate `reenact` exports them; use them from there. This crate knows the form of messages but not how they are
//! delivered: that is `reenact::actor`.

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
#[cfg_attr(not(feature = "explore"), path = "test_absent.rs")]
mod test;
#[cfg(test)]
mod tests;
mod visibility;

/// Turns an actor's methods into messages.
///
/// Write the actor as an ordinary type with ordinary methods. The attribute leaves the `impl` block as it is and adds a
/// trait, here `MathSends`, which gives a far reference the same methods. Calling one there sends a message, which the
/// actor handles in a turn of its own:
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
/// - Every method with `&mut self` or `&self` that is not private is a message.
/// - The message carries the method's parameters. They are owned (`Send + 'static`): a message outlives the turn that
///   sent it.
/// - A first parameter `&mut Context<Self>` is not carried; the runtime supplies it.
/// - A method without a return type is sent one way. With one, `-> ()` included, it is answered by a promise. A return
///   type written as `Promise<…>` is flattened into that promise.
/// - Generic actors and generic methods stay generic.
///
/// The trait is implemented for everything that messages can be sent to: `FarRef<Math>`, and `Promise<FarRef<Math>>`
/// for an actor that is not known yet. The trait, and with it all messages, is as visible as the most visible message.
/// Its methods have the documentation, the `#[cfg]` and the `#[allow]` of the actor's methods, and none of their other
/// attributes. To send a message whose name is also a method of far references (`clone`), write
/// `MathSends::clone(&math)`.
///
/// # What is shown
///
/// The debugger, failing schedules and the log of a replay show a message as its method, with those arguments that are
/// `Debug`: `double(21)`, or `double(_)`. The debugger shows the state of an actor that is `Debug`. A type parameter
/// counts as `Debug` only if a bound requires it. This costs nothing where messages are not shown.
///
/// # Options
///
/// - `#[reenact::actor(trait = Name)]` names the trait. A second block of the same actor needs it.
/// - `#[reenact::actor(crate = path)]` gives the path of the crate `reenact`, if it is not `::reenact`.
///
/// # What is refused
///
/// Everything that cannot be a message: `async fn` (a turn runs to its end), `unsafe fn`, `self` by value, lifetimes
/// and borrows other than `'static` in what is carried or answered, `-> impl Trait`, and `impl Trait for Actor` blocks.
/// A private method may be any of these.
#[proc_macro_attribute]
pub fn actor(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(options.into(), item.into()).into()
}

/// Makes a test explored: it runs under one schedule after the other until one fails or all have been tried.
///
/// ```text
/// #[reenact::test]
/// fn no_update_is_lost() { … }
///
/// #[reenact::test(strategy = "pct 3", executions = 5000)]
/// fn no_update_is_lost_in_a_large_program() { … }
/// ```
///
/// It works with `cargo test` and other test runners, like any test. A failing schedule is kept in the directory
/// `schedules` of the package, and tried first from then on.
///
/// # Options
///
/// - `strategy = "…"`: how to choose executions. `portfolio` (some at random, then one of each class), `exhaustive`
///   (one of each class), at random by `mixed`, `urw`, `walk`, `pct N`, `pctcp N` or `pos`, or all with at most
///   `preemptions N` or `delays N`.
/// - `executions = N`, `seconds = N`: maximum number of executions, and maximum duration.
/// - `steps = N`: maximum number of steps of an execution.
/// - `seed = N`: seed of the random strategies.
/// - `cores = N`: number of threads that explore; 1 by default, since tests already run in parallel.
/// - `crate = path`: path of the crate `reenact`, if it is not `::reenact`.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(options.into(), item.into()).into()
}

/// Turns `at name method` into `name.method()` with the source location of `at`: for the macros of the crate `reenact`.
#[doc(hidden)]
#[proc_macro]
pub fn call_at(tokens: TokenStream) -> TokenStream {
    call_at::call_at(tokens)
}
