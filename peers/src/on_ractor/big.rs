//! Big: everybody pings random others, one ping at a time.

use std::sync::Arc;

use ractor::{Actor, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Handled, next, send, spawn, spawn_all, starts_with};
use crate::work::XorShift;

type Workers = Arc<[ActorRef<ToWorker>]>;

enum ToWorker {
    /// Comes to everybody before anybody starts: a ping may be quicker than one's own start.
    Introduce(Workers),
    Start,
    Ping {
        from: usize,
    },
    Pong {
        from: usize,
    },
    /// Everybody is done: how many pings has this worker answered?
    Exit,
}

enum ToSink {
    Start(Workers),
    Done,
    Answered(u64),
}

struct Worker {
    index: usize,
    sink: ActorRef<ToSink>,
}

struct WorkerState {
    index: usize,
    workers: Workers,
    random: XorShift,
    left: u64,
    answered: u64,
    /// Who must answer next.
    pinged: usize,
}

struct Sink {
    report: UnboundedSender<u64>,
}

#[derive(Default)]
struct SinkState {
    workers: Workers,
    busy: usize,
    present: usize,
    sum: u64,
}

impl WorkerState {
    fn ping(&mut self) {
        let from = self.index;
        self.pinged = self.random.other_than(from, self.workers.len());
        send(&self.workers[self.pinged], ToWorker::Ping { from });
    }
}

impl Actor for Worker {
    starts_with!(WorkerState, handles ToWorker);

    async fn handle(
        &self,
        myself: ActorRef<ToWorker>,
        message: ToWorker,
        state: &mut WorkerState,
    ) -> Handled {
        match message {
            ToWorker::Introduce(workers) => state.workers = workers,
            ToWorker::Start => state.ping(),
            ToWorker::Ping { from } => {
                state.answered += 1;
                let pong = ToWorker::Pong { from: self.index };
                send(&state.workers[from], pong);
            }
            ToWorker::Pong { from } => {
                assert_eq!(from, state.pinged);
                state.left -= 1;
                if state.left == 0 {
                    send(&self.sink, ToSink::Done);
                } else {
                    state.ping();
                }
            }
            ToWorker::Exit => {
                send(&self.sink, ToSink::Answered(state.answered));
                myself.stop(None);
            }
        }
        Ok(())
    }
}

impl Actor for Sink {
    starts_with!(SinkState, handles ToSink);

    async fn handle(&self, _: ActorRef<ToSink>, message: ToSink, state: &mut SinkState) -> Handled {
        match message {
            ToSink::Start(workers) => {
                (state.busy, state.present) = (workers.len(), workers.len());
                state.workers = workers;
            }
            ToSink::Done => {
                state.busy -= 1;
                if state.busy == 0 {
                    for worker in state.workers.iter() {
                        send(worker, ToWorker::Exit);
                    }
                }
            }
            ToSink::Answered(answered) => {
                state.sum += answered;
                state.present -= 1;
                if state.present == 0 {
                    let _ = self.report.send(state.sum);
                }
            }
        }
        Ok(())
    }
}

pub(super) async fn run(actors: usize, pings: u64) {
    let (report, mut reports) = unbounded_channel();
    let sink = spawn(Sink { report }, SinkState::default()).await;
    let worker = |index| {
        let sink = sink.clone();
        let state = WorkerState {
            index,
            workers: Workers::default(),
            random: XorShift::of_actor(index),
            left: pings,
            answered: 0,
            pinged: index,
        };
        (Worker { index, sink }, state)
    };
    let addresses = spawn_all(actors, worker).await;
    let workers: Workers = addresses.into();
    send(&sink, ToSink::Start(Arc::clone(&workers)));
    for worker in workers.iter() {
        send(worker, ToWorker::Introduce(Arc::clone(&workers)));
    }
    for worker in workers.iter() {
        send(worker, ToWorker::Start);
    }
    assert_eq!(next(&mut reports).await, actors as u64 * pings);
}
