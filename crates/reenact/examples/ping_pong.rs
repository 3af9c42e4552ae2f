//! Two actors that send each other a ball.
//!
//! ```text
//! $ cargo run --example ping_pong
//! ```
//!
//! Each player has a far reference to the other, and sends the ball back in a turn of its own. Nobody blocks: main waits
//! for a promise that the player who lets the ball drop resolves.

use reenact::actor::{FarRef, Promise, Resolver, spawn};

#[derive(Default)]
struct Player {
    opponent: Option<FarRef<Player>>,
    hits: u32,
}

/// What the players send each other. It is in one mailbox or the other, never in both.
struct Ball {
    /// How many more hits it can take.
    left: u32,
    dropped: Resolver<&'static str>,
}

#[reenact::actor]
impl Player {
    /// The other player. Not known when the first of two is made, so it is a message.
    pub(crate) fn meet(&mut self, opponent: FarRef<Player>) {
        self.opponent = Some(opponent);
    }

    pub(crate) fn hit(&mut self, ball: Ball) {
        self.hits += 1;
        match &self.opponent {
            Some(opponent) if ball.left > 0 => opponent.hit(Ball {
                left: ball.left - 1,
                ..ball
            }),
            _ => {
                ball.dropped.resolve("the ball is on the floor");
            }
        }
    }

    pub(crate) fn hits(&self) -> u32 {
        self.hits
    }

    /// Far references keep their actors alive, and these two refer to each other.
    pub(crate) fn leave(&mut self) {
        self.opponent = None;
    }
}

fn play(hits: u32) -> (u32, u32) {
    let ping = spawn(Player::default());
    let pong = spawn(Player::default());
    ping.meet(pong.clone());
    pong.meet(ping.clone());
    let (floor, dropped) = Promise::pair();
    ping.hit(Ball {
        left: hits - 1,
        dropped,
    });
    println!("{}", floor.wait().expect("every ball drops"));
    let of = |player: &FarRef<Player>| player.hits().wait().expect("a player counts");
    let hits = (of(&ping), of(&pong));
    ping.leave();
    hits
}

fn main() {
    let (ping, pong) = play(100_001);
    println!("ping hit it {ping} times, pong {pong} times");
}

#[test]
fn the_players_take_turns() {
    assert_eq!(play(1), (1, 0));
    assert_eq!(play(2), (1, 1));
    assert_eq!(play(1001), (501, 500));
}
