//! PingPong: one message in flight.

use tokio::sync::mpsc::unbounded_channel;

use super::{next, send};

struct Ping;
struct Pong;

pub(super) async fn run(pings: u64) {
    let (to_ping, mut pongs) = unbounded_channel();
    let (to_pong, mut pings_to_answer) = unbounded_channel();
    let ping = tokio::spawn(async move {
        for _ in 0..pings {
            send(&to_pong, Ping);
            let Pong = next(&mut pongs).await;
        }
    });
    let pong = tokio::spawn(async move {
        let mut answered = 0;
        while let Some(Ping) = pings_to_answer.recv().await {
            answered += 1;
            send(&to_ping, Pong);
        }
        answered
    });
    ping.await.unwrap();
    assert_eq!(pong.await.unwrap(), pings);
}
