//! PingPong: one message in flight.

use kameo::{
    Actor,
    actor::ActorRef,
    message::{Context, Message},
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{next, prepare, send};

struct Start;
struct PingMessage;
struct PongMessage;

/// How many pings were answered?
struct Stop;

#[derive(Actor)]
struct Ping {
    left: u64,
    pong: ActorRef<Pong>,
}

#[derive(Actor)]
struct Pong {
    answered: u64,
    ping: ActorRef<Ping>,
    report: UnboundedSender<u64>,
}

impl Message<Start> for Ping {
    type Reply = ();

    async fn handle(&mut self, _: Start, _: &mut Context<Self, ()>) {
        send(&self.pong, PingMessage);
    }
}

impl Message<PongMessage> for Ping {
    type Reply = ();

    async fn handle(&mut self, _: PongMessage, _: &mut Context<Self, ()>) {
        self.left -= 1;
        if self.left == 0 {
            send(&self.pong, Stop);
        } else {
            send(&self.pong, PingMessage);
        }
    }
}

impl Message<PingMessage> for Pong {
    type Reply = ();

    async fn handle(&mut self, _: PingMessage, _: &mut Context<Self, ()>) {
        self.answered += 1;
        send(&self.ping, PongMessage);
    }
}

impl Message<Stop> for Pong {
    type Reply = ();

    async fn handle(&mut self, _: Stop, _: &mut Context<Self, ()>) {
        let _ = self.report.send(self.answered);
    }
}

pub(super) async fn run(pings: u64) {
    let (report, mut reports) = unbounded_channel();
    let (ping, pong) = (prepare::<Ping>(), prepare::<Pong>());
    let (to_ping, to_pong) = (ping.actor_ref().clone(), pong.actor_ref().clone());
    ping.spawn(Ping {
        left: pings,
        pong: to_pong,
    });
    pong.spawn(Pong {
        answered: 0,
        ping: to_ping.clone(),
        report,
    });
    send(&to_ping, Start);
    assert_eq!(next(&mut reports).await, pings);
}
