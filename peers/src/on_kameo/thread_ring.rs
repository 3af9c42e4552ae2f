//! ThreadRing: one token, many actors.

use kameo::{
    Actor,
    actor::ActorRef,
    message::{Context, Message},
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{next, prepare_all, send};

/// The token, with the number of hops that it has left.
struct Token(u64);

#[derive(Actor)]
struct Member {
    index: usize,
    next: ActorRef<Member>,
    last: UnboundedSender<usize>,
}

impl Message<Token> for Member {
    type Reply = ();

    async fn handle(&mut self, Token(left): Token, _: &mut Context<Self, ()>) {
        if left == 0 {
            let _ = self.last.send(self.index);
        } else {
            send(&self.next, Token(left - 1));
        }
    }
}

pub(super) async fn run(actors: usize, hops: u64) {
    let (members, ring) = prepare_all::<Member>(actors);
    let (last, mut lasts) = unbounded_channel();
    for (index, member) in members.into_iter().enumerate() {
        member.spawn(Member {
            index,
            next: ring[(index + 1) % actors].clone(),
            last: last.clone(),
        });
    }
    send(&ring[0], Token(hops));
    assert_eq!(next(&mut lasts).await as u64, hops % actors as u64);
}
