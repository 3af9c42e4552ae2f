//! PingPong: two actors exchange a ping for a pong, with one message in flight.
//!
//! It measures the latency of a message.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

pub(super) fn run(system: System, pings: u64) {
    let (answered, report) = Promise::pair();
    let pong = system.spawn(Pong {
        answered: 0,
        ping: None,
        report,
    });
    let ping = system.spawn(Ping { left: pings, pong });
    ping.start();
    assert_eq!(answered.wait().unwrap(), pings);
}

struct Ping {
    left: u64,
    pong: FarRef<Pong>,
}

#[reenact::actor]
impl Ping {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>) {
        self.pong.meet(ctx.me());
        self.pong.ping();
    }

    pub(super) fn pong(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.pong.stop();
        } else {
            self.pong.ping();
        }
    }
}

struct Pong {
    answered: u64,
    ping: Option<FarRef<Ping>>,
    report: Resolver<u64>,
}

#[reenact::actor]
impl Pong {
    pub(super) fn meet(&mut self, ping: FarRef<Ping>) {
        self.ping = Some(ping);
    }

    pub(super) fn ping(&mut self) {
        self.answered += 1;
        if let Some(ping) = &self.ping {
            ping.pong();
        }
    }

    pub(super) fn stop(&mut self) {
        self.ping = None;
        self.report.resolve(self.answered);
    }
}
