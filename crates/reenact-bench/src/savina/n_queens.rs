//! NQueens: workers place queens on a board, and the master counts the solutions.
//!
//! Down to a depth each placement is work for another worker, below it a worker searches alone. A piece of work
//! has three messages, its way by the master and the end of it; a solution has one.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use crate::{Measured, Setting};

const WORKERS: usize = 20;
/// How many ways there are to place nine queens.
const SOLUTIONS: u64 = 352;
const ROUNDS: u64 = 480;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    Measured::rounds(setting.times(ROUNDS), |_| {
        let (found, report) = Promise::pair();
        let master = system.spawn(Master {
            workers: Vec::new(),
            next_worker: 0,
            sent: 0,
            completed: 0,
            solutions: 0,
            report,
        });
        master.start();
        let (solutions, pieces) = found.wait().unwrap();
        assert_eq!(solutions, SOLUTIONS);
        // The first piece is the master's own.
        3 * pieces - 1 + solutions
    })
}

/// The column of the queen in each of the rows that have one.
type Board = Vec<u8>;

/// Whether the last queen is safe from the others.
fn is_valid(board: &[u8]) -> bool {
    let Some((last, others)) = board.split_last() else {
        return true;
    };
    (1..)
        .zip(others.iter().rev())
        .all(|(rows, other)| other != last && other.abs_diff(*last) != rows)
}

struct Master {
    workers: Vec<FarRef<Worker>>,
    next_worker: usize,
    sent: u64,
    completed: u64,
    solutions: u64,
    report: Resolver<(u64, u64)>,
}

#[reenact::actor]
impl Master {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>) {
        let worker = || Worker { master: ctx.me() };
        self.workers = (0..WORKERS).map(|_| ctx.spawn(worker())).collect();
        self.work(Vec::new());
    }

    pub(super) fn work(&mut self, board: Board) {
        self.workers[self.next_worker].work(board);
        self.next_worker = (self.next_worker + 1) % self.workers.len();
        self.sent += 1;
    }

    /// A solution.
    pub(super) fn result(&mut self) {
        self.solutions += 1;
    }

    pub(super) fn done(&mut self) {
        self.completed += 1;
        if self.completed == self.sent {
            self.workers.clear();
            self.report.resolve((self.solutions, self.completed));
        }
    }
}

const SIZE: usize = 9;
const THRESHOLD: usize = 4;

struct Worker {
    master: FarRef<Master>,
}

#[reenact::actor]
impl Worker {
    pub(super) fn work(&mut self, mut board: Board) {
        if board.len() >= THRESHOLD {
            self.search(&mut board);
        } else {
            for column in 0..SIZE as u8 {
                let mut next = board.clone();
                next.push(column);
                if is_valid(&next) {
                    self.master.work(next);
                }
            }
        }
        self.master.done();
    }

    fn search(&self, board: &mut Board) {
        if board.len() == SIZE {
            self.master.result();
            return;
        }
        for column in 0..SIZE as u8 {
            board.push(column);
            if is_valid(board) {
                self.search(board);
            }
            board.pop();
        }
    }
}
