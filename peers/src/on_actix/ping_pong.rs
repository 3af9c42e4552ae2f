//! PingPong: one message in flight.

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Arbiters, actors, next};

actors!(Pong);

#[derive(Message)]
#[rtype(result = "()")]
struct PingMessage;

#[derive(Message)]
#[rtype(result = "()")]
struct PongMessage;

/// How many pings were answered?
#[derive(Message)]
#[rtype(result = "()")]
struct Stop;

struct Ping {
    left: u64,
    pong: Addr<Pong>,
}

struct Pong {
    answered: u64,
    ping: Addr<Ping>,
    report: UnboundedSender<u64>,
}

impl Actor for Ping {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        self.pong.do_send(PingMessage);
    }
}

impl Handler<PongMessage> for Ping {
    type Result = ();

    fn handle(&mut self, _: PongMessage, _: &mut Context<Self>) {
        self.left -= 1;
        if self.left == 0 {
            self.pong.do_send(Stop);
        } else {
            self.pong.do_send(PingMessage);
        }
    }
}

impl Handler<PingMessage> for Pong {
    type Result = ();

    fn handle(&mut self, _: PingMessage, _: &mut Context<Self>) {
        self.answered += 1;
        self.ping.do_send(PongMessage);
    }
}

impl Handler<Stop> for Pong {
    type Result = ();

    fn handle(&mut self, _: Stop, _: &mut Context<Self>) {
        let _ = self.report.send(self.answered);
    }
}

pub(super) async fn run(arbiters: &Arbiters, pings: u64) {
    let (report, mut reports) = unbounded_channel();
    Ping::create(|context| {
        let pong = Pong {
            answered: 0,
            ping: context.address(),
            report,
        };
        Ping {
            left: pings,
            pong: arbiters.start_actor(1, 2, pong),
        }
    });
    assert_eq!(next(&mut reports).await, pings);
}
