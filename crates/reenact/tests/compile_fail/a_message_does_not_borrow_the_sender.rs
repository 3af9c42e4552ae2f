//! A message outlives the turn that sends it, so it cannot borrow from the sender's state.

use reenact::actor::{FarRef, Target};

struct Sender {
    name: String,
    friend: FarRef<String>,
}

impl Sender {
    fn introduce(&mut self) {
        let name = &self.name;
        self.friend.send(move |friend, _| friend.push_str(name));
    }
}

fn main() {}
