//! ThreadRing: one token, many actors.

use ractor::{Actor, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Handled, next, send, spawn_all, starts_with};

enum ToMember {
    /// Who comes next in the ring.
    Next(ActorRef<ToMember>),
    /// The token, with the number of hops that it has left.
    Token(u64),
}

/// Its state: its successor, once known.
struct Member {
    index: usize,
    last: UnboundedSender<usize>,
}

impl Actor for Member {
    starts_with!(Option<ActorRef<ToMember>>, handles ToMember);

    async fn handle(
        &self,
        _: ActorRef<ToMember>,
        message: ToMember,
        next: &mut Self::State,
    ) -> Handled {
        match message {
            ToMember::Next(successor) => *next = Some(successor),
            ToMember::Token(0) => {
                let _ = self.last.send(self.index);
            }
            ToMember::Token(left) => {
                let next = next.as_ref().expect("the ring was closed before");
                send(next, ToMember::Token(left - 1));
            }
        }
        Ok(())
    }
}

pub(super) async fn run(actors: usize, hops: u64) {
    let (last, mut lasts) = unbounded_channel();
    let member = |index| {
        let last = last.clone();
        (Member { index, last }, None)
    };
    let ring = spawn_all(actors, member).await;
    for (index, member) in ring.iter().enumerate() {
        let successor = ring[(index + 1) % actors].clone();
        send(member, ToMember::Next(successor));
    }
    send(&ring[0], ToMember::Token(hops));
    assert_eq!(next(&mut lasts).await as u64, hops % actors as u64);
}
