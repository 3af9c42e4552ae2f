//! What is private to an actor is not for others to ask for.

struct Safe;

#[reenact::actor]
impl Safe {
    pub fn knock(&mut self) {}

    fn open(&mut self) {}
}

fn main() {
    let safe = reenact::actor::spawn(Safe);
    safe.knock();
    safe.open();
}
