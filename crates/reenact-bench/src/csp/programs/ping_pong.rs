//! PingPong: two processes exchange a ping for a pong over two channels.
//!
//! It measures the latency of a rendezvous. Nothing about it can go more than one way.

use super::{Measured, Receiver, Sender, channel, spawn};

enum Ping {
    Ping,
    Stop,
}

struct Pong;

pub(super) fn run(pings: u64) -> Measured {
    Measured::around(|| {
        let (to_pong, from_ping) = channel();
        let (to_ping, from_pong) = channel();
        let ping = spawn(move || ping(pings, &to_pong, &from_pong));
        let pong = spawn(move || pong(&to_ping, &from_ping));
        ping.join().unwrap();
        assert_eq!(pong.join().unwrap(), pings);
        2 * pings + 1
    })
}

fn ping(pings: u64, to_pong: &Sender<Ping>, from_pong: &Receiver<Pong>) {
    for _ in 0..pings {
        to_pong.send(Ping::Ping).unwrap();
        let Pong = from_pong.recv().unwrap();
    }
    to_pong.send(Ping::Stop).unwrap();
}

/// Answers until a stop message arrives; returns how often.
fn pong(to_ping: &Sender<Pong>, from_ping: &Receiver<Ping>) -> u64 {
    let mut answered = 0;
    while let Ping::Ping = from_ping.recv().unwrap() {
        to_ping.send(Pong).unwrap();
        answered += 1;
    }
    answered
}
