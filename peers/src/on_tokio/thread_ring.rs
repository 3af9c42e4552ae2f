//! ThreadRing: one token, many tasks.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{mailboxes, next, send};

/// The token, with the number of hops that it has left.
struct Token(u64);

struct Member {
    index: usize,
    next: UnboundedSender<Token>,
    last: UnboundedSender<usize>,
}

impl Member {
    async fn live(self, mut mailbox: UnboundedReceiver<Token>) {
        while let Some(Token(left)) = mailbox.recv().await {
            if left == 0 {
                send(&self.last, self.index);
            } else {
                send(&self.next, Token(left - 1));
            }
        }
    }
}

pub(super) async fn run(actors: usize, hops: u64) {
    let (ring, mailboxes) = mailboxes(actors);
    let (last, mut lasts) = unbounded_channel();
    for (index, mailbox) in mailboxes.into_iter().enumerate() {
        let member = Member {
            index,
            next: ring[(index + 1) % actors].clone(),
            last: last.clone(),
        };
        tokio::spawn(member.live(mailbox));
    }
    send(&ring[0], Token(hops));
    assert_eq!(next(&mut lasts).await as u64, hops % actors as u64);
}
