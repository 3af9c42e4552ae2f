//! ThreadRing: one token, many actors.

use actix::{Addr, Context, Handler, Message};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Arbiters, actors, next};

actors!(Member);

/// Who comes next in the ring.
#[derive(Message)]
#[rtype(result = "()")]
struct Next(Addr<Member>);

/// The token, with the number of hops that it has left.
#[derive(Message)]
#[rtype(result = "()")]
struct Token(u64);

struct Member {
    index: usize,
    next: Option<Addr<Member>>,
    last: UnboundedSender<usize>,
}

impl Handler<Next> for Member {
    type Result = ();

    fn handle(&mut self, Next(next): Next, _: &mut Context<Self>) {
        self.next = Some(next);
    }
}

impl Handler<Token> for Member {
    type Result = ();

    fn handle(&mut self, Token(left): Token, _: &mut Context<Self>) {
        if left == 0 {
            let _ = self.last.send(self.index);
        } else {
            let next = self.next.as_ref().expect("the ring was closed before");
            next.do_send(Token(left - 1));
        }
    }
}

pub(super) async fn run(arbiters: &Arbiters, actors: usize, hops: u64) {
    let (last, mut lasts) = unbounded_channel();
    let member = |index| Member {
        index,
        next: None,
        last: last.clone(),
    };
    let ring: Vec<_> = arbiters.start_all(actors, member).collect();
    for (index, member) in ring.iter().enumerate() {
        member.do_send(Next(ring[(index + 1) % actors].clone()));
    }
    ring[0].do_send(Token(hops));
    assert_eq!(next(&mut lasts).await as u64, hops % actors as u64);
}
