//! The same with the attribute.

struct List(Vec<u32>);

#[reenact::actor]
impl List {
    pub fn first(&self) -> Option<&u32> {
        self.0.first()
    }
}

fn main() {}
