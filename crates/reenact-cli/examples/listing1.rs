//! Listing 1 of "Multiverse Debugging" (Torres Lopez et al., ECOOP 2019) in Rust: client 1 has 12 doubled and asks for the result,
//! client 2 has 33 doubled in between, sometimes. The same in AmbientTalk is `examples/ambient/listing1.at`.

use reenact::actor::{self, Context, FarRef};

#[derive(Debug)]
struct Math {
    result: u32,
}

#[reenact::actor]
impl Math {
    pub(crate) fn double(&mut self, x: u32) {
        self.result = x + x;
    }

    pub(crate) fn get_result(&self) -> u32 {
        self.result
    }
}

struct Client1 {
    math: FarRef<Math>,
}

#[reenact::actor]
impl Client1 {
    pub(crate) fn start(&mut self, ctx: &mut Context<Self>) {
        self.math.double(12);
        let result = self.math.get_result();
        result.when(ctx, |_this, _ctx, result| println!("{result}"));
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

fn main() {
    let math = actor::spawn(Math { result: 0 });
    let client1 = actor::spawn(Client1 { math: math.clone() });
    let client2 = actor::spawn(Client2 { math });
    client1.start();
    client2.start();
    actor::System::current().wait_until_idle();
}
