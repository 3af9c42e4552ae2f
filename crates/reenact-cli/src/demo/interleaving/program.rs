//! The program: an actor that does sums, and two clients that use it at the same time.

use std::sync::OnceLock;

use reenact::actor::{FarRef, Promise, System};

/// How many iterations it takes to write a line to the log.
static WORK: OnceLock<u64> = OnceLock::new();

pub(in crate::demo) fn main(work: u64) {
    WORK.get_or_init(|| work);
    // Two workers, however few cores there are: a single one would run the clients one after the other.
    let system = System::new(2);
    let math = system.spawn(Math { result: 0 });
    let client1 = system.spawn(Client1 { math: math.clone() });
    let client2 = system.spawn(Client2 { math });
    let result = client1.start();
    client2.start();
    let result = result.wait().expect("math answers");
    assert!(result == 24, "client 1 doubled 12 and got {result}");
}

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
    pub(crate) fn start(&mut self) -> Promise<u64> {
        self.math.double(12);
        log("12 is being doubled");
        self.math.get_result()
    }
}

struct Client2 {
    math: FarRef<Math>,
}

#[reenact::actor]
impl Client2 {
    pub(crate) fn start(&mut self) {
        self.math.double(33);
    }
}

/// Simulates a slow log.
fn log(line: &str) {
    for _ in 0..*WORK.get().unwrap_or(&0) {
        std::hint::black_box(line);
    }
}
