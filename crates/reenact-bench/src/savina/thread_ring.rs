//! ThreadRing: a token goes around a ring of actors.
//!
//! It measures what it costs to go from one actor to the next.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

pub(super) fn run(system: System, actors: usize, hops: u64) {
    let (last, report) = Promise::pair();
    let member = |index| Member {
        index,
        next: None,
        last: report.clone(),
    };
    let ring: Vec<_> = (0..actors)
        .map(|index| system.spawn(member(index)))
        .collect();
    for (index, member) in ring.iter().enumerate() {
        member.meet(ring[(index + 1) % actors].clone());
    }
    ring[0].token(hops);
    assert_eq!(last.wait().unwrap() as u64, hops % actors as u64);
    for member in &ring {
        member.exit();
    }
}

struct Member {
    index: usize,
    next: Option<FarRef<Member>>,
    last: Resolver<usize>,
}

#[reenact::actor]
impl Member {
    pub(super) fn meet(&mut self, next: FarRef<Member>) {
        self.next = Some(next);
    }

    /// The token, with the number of hops that it has left.
    pub(super) fn token(&mut self, left: u64) {
        if left == 0 {
            self.last.resolve(self.index);
        } else if let Some(next) = &self.next {
            next.token(left - 1);
        }
    }

    pub(super) fn exit(&mut self, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}
