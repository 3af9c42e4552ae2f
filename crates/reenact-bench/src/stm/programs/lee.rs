//! Lee's circuit routing with transactions: threads connect pads on one board without crossing.
//!
//! After LeeTM: every cell of the board is a variable, and laying a track is one transaction, which expands a wave from one
//! pad to the other and writes the cells of the way back. It reads thousands of variables, all cells of the regions that
//! the wave gets to, and conflicts with every track that is laid there meanwhile. The board is about as large as in the
//! papers (100 by 100 cells in two layers) and smaller than that of the program with locks, which copies cells by the
//! region.

use std::{cell::RefCell, sync::Arc};

use super::{Measured, Setting, StmResult, THREADS, TVar, Transaction, atomically, thread};
use crate::circuit::{Cell, Net, REGION_CELLS, Shape, Track, Wave, board_of_pads, check, tracks};

const SHAPE: Shape = Shape {
    regions_per_side: 6,
};
/// Tracks on a full board; more work is more boards.
const TRACKS: u64 = 80;
const BOARDS: u64 = 25;

/// Tracks that lie, with their ways.
type Laid = Vec<(Net, Vec<Cell>)>;

/// Routes boards until the number of tracks is reached.
pub(super) fn run(setting: &Setting) -> Measured {
    let threads = setting.threads_or(THREADS);
    let count = setting.times(TRACKS * BOARDS);
    let boards: Vec<_> = (0..count.div_ceil(TRACKS))
        .map(|seed| Arc::new(Board::new((count - seed * TRACKS).min(TRACKS), seed)))
        .collect();
    let mut results = Vec::new();
    let measured = Measured::around(|| {
        let mut ops = 0;
        for board in &boards {
            let routers: Vec<_> = (0..threads)
                .map(|_| {
                    let board = Arc::clone(board);
                    thread::spawn(move || board.work())
                })
                .collect();
            let laid: Laid = routers
                .into_iter()
                .flat_map(|r| r.join().unwrap())
                .collect();
            // Everybody finds once that there is nothing left.
            ops += 2 * board.tracks.len() as u64 + threads as u64;
            results.push(laid);
        }
        ops
    });
    for (board, laid) in boards.iter().zip(&results) {
        board.check(laid);
    }
    measured
}

struct Board {
    tracks: Vec<Track>,
    /// The next track to route.
    next: TVar<usize>,
    cells: Vec<TVar<Net>>,
}

impl Board {
    /// A board on which only the pads are occupied, each by its own track.
    fn new(count: u64, seed: u64) -> Self {
        let tracks = tracks(SHAPE, count as usize, seed);
        let cells = board_of_pads(SHAPE, &tracks);
        Self {
            next: TVar::new(0),
            cells: cells.into_iter().map(TVar::new).collect(),
            tracks,
        }
    }

    /// Lays tracks until there are none left.
    fn work(&self) -> Laid {
        let wave = RefCell::new(Wave::new(SHAPE));
        let mut laid = Vec::new();
        while let Some(track) = self.next() {
            if let Some(way) = atomically(|tx| self.connect(tx, track, &wave)) {
                laid.push((track.net, way));
            }
        }
        laid
    }

    fn next(&self) -> Option<&Track> {
        let next = atomically(|tx| {
            let next = self.next.read(tx)?;
            if next < self.tracks.len() {
                self.next.write(tx, next + 1)?;
            }
            Ok(next)
        });
        self.tracks.get(next)
    }

    /// Lays `track` if there is a way for it.
    fn connect(
        &self,
        tx: &mut Transaction,
        track: &Track,
        wave: &RefCell<Wave>,
    ) -> StmResult<Option<Vec<Cell>>> {
        let way = wave.borrow_mut().route(track, |region, copy| {
            let first = region * REGION_CELLS;
            for (copy, cell) in copy.iter_mut().zip(&self.cells[first..]) {
                *copy = cell.read(tx)?;
            }
            Ok(())
        })?;
        for cell in way.iter().flatten() {
            self.cells[cell.index()].write(tx, track.net)?;
        }
        Ok(way)
    }

    fn check(&self, laid: &Laid) {
        assert_eq!(atomically(|tx| self.next.read(tx)), self.tracks.len());
        let read = |cell: &TVar<Net>| atomically(|tx| cell.read(tx));
        let cells: Vec<_> = self.cells.iter().map(read).collect();
        check(SHAPE, &self.tracks, laid, &cells);
    }
}
