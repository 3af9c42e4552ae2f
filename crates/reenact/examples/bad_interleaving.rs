//! A bad interleaving of messages, and the three ways this program can go.
//!
//! ```text
//! $ cargo build --example bad_interleaving
//! $ while reenact record -- target/debug/examples/bad_interleaving; do :; done
//! $ reenact replay bad_interleaving.reenact --times 10
//! ```
//!
//! This is Listing 1 of "Multiverse Debugging: Non-deterministic Debugging for Non-deterministic Programs" (Torres Lopez
//! et al., ECOOP 2019), in Rust. No turn of any actor is wrong, and there is no data race: actors share nothing. What is
//! wrong is that the first client sends two messages and takes for granted that nobody else's comes in between.
//!
//! ```text
//!  client1      math       client2        what math has in its mailbox       client1 reads   in the end
//!     │ double(12)│           │           double 12, get, double 33              24             66
//!     ├──────────▶│ double(33)│           double 33, double 12, get              24             24
//!     │           │◀──────────┤           double 12, double 33, get              66             66   ← the bug
//!     │get_result │           │
//!     ├──────────▶│           │
//! ```

use reenact::actor::{Context, FarRef, Promise, spawn};

struct Math {
    result: u64,
}

#[reenact::actor]
impl Math {
    pub(crate) fn double(&mut self, x: u64) {
        self.result = x + x;
    }

    pub(crate) fn get_result(&self) -> u64 {
        self.result
    }
}

struct Client1 {
    math: FarRef<Math>,
}

#[reenact::actor]
impl Client1 {
    pub(crate) fn start(&mut self, ctx: &mut Context<Self>) -> Promise<u64> {
        self.math.double(12);
        self.math.get_result().when(ctx, |_, _, result| {
            println!("client 1 doubled 12 and got {result}");
            result
        })
    }
}

struct Client2 {
    math: FarRef<Math>,
}

#[reenact::actor]
impl Client2 {
    // The `-> ()` makes it a message with an answer, for main to know when the client is done.
    #[allow(clippy::unused_unit)]
    pub(crate) fn start(&mut self) -> () {
        self.math.double(33);
    }
}

/// What client 1 reads, and what the result is in the end.
fn run() -> (u64, u64) {
    let math = spawn(Math { result: 0 });
    let client1 = spawn(Client1 { math: math.clone() });
    let client2 = spawn(Client2 { math: math.clone() });
    let read = client1.start();
    let done = client2.start();
    let read = read.wait().expect("client 1 is answered");
    done.wait().expect("client 2 comes to its end");
    let last = math.get_result().wait().expect("math answers");
    (read, last)
}

fn main() {
    let (read, last) = run();
    println!("in the end, the result is {last}");
    assert_eq!(read, 24, "client 1 got somebody else's result");
}

#[test]
fn there_are_three_ways_and_no_other() {
    for _ in 0..1000 {
        let outcome = run();
        assert!(
            [(24, 66), (24, 24), (66, 66)].contains(&outcome),
            "{outcome:?}"
        );
    }
}
