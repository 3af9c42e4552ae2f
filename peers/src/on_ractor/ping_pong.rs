//! PingPong: one message in flight.

use ractor::{Actor, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Handled, Started, next, send, spawn, starts_with};

enum ToPing {
    Start,
    Pong,
}

enum ToPong {
    Ping,
    /// How many pings were answered?
    Stop,
}

/// Its state: the number of pings left, and the partner, whom it starts.
struct Ping;

/// Its state: the number of pings answered.
struct Pong {
    ping: ActorRef<ToPing>,
    report: UnboundedSender<u64>,
}

impl Actor for Ping {
    type Msg = ToPing;
    type State = (u64, ActorRef<ToPong>);
    type Arguments = (u64, UnboundedSender<u64>);

    async fn pre_start(
        &self,
        ping: ActorRef<ToPing>,
        (pings, report): Self::Arguments,
    ) -> Started<Self::State> {
        Ok((pings, spawn(Pong { ping, report }, 0).await))
    }

    async fn handle(
        &self,
        _: ActorRef<ToPing>,
        message: ToPing,
        (left, pong): &mut Self::State,
    ) -> Handled {
        if let ToPing::Pong = message {
            *left -= 1;
        }
        send(
            pong,
            if *left == 0 {
                ToPong::Stop
            } else {
                ToPong::Ping
            },
        );
        Ok(())
    }
}

impl Actor for Pong {
    starts_with!(u64, handles ToPong);

    async fn handle(&self, _: ActorRef<ToPong>, message: ToPong, answered: &mut u64) -> Handled {
        match message {
            ToPong::Ping => {
                *answered += 1;
                send(&self.ping, ToPing::Pong);
            }
            ToPong::Stop => {
                let _ = self.report.send(*answered);
            }
        }
        Ok(())
    }
}

pub(super) async fn run(pings: u64) {
    let (report, mut reports) = unbounded_channel();
    let ping = spawn(Ping, (pings, report)).await;
    send(&ping, ToPing::Start);
    assert_eq!(next(&mut reports).await, pings);
}
