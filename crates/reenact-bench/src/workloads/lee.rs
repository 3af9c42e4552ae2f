//! Lee's circuit routing with locks: threads connect pads on one board without crossing.
//!
//! After LeeTM: a thread takes the next track from a shared queue, expands a wave from one pad to
//! the other on a private copy of the board, follows it back, and lays the track. Every region of
//! the board has a lock. The wave takes a region's lock for copying it when it gets there; laying
//! takes the locks of all regions on the way in their order, and if somebody has built there in the
//! meantime, the track is routed again. It stresses many locks with short critical sections, held
//! several at a time, between long stretches of work on private memory.

use std::convert::Infallible;

use super::{
    Measured, Setting,
    sync::{Arc, Mutex},
    thread,
};
use crate::circuit::{
    Cell, FREE, Net, REGION_CELLS, Shape, Track, Wave, board_of_pads, check, tracks,
};

const THREADS: usize = 4;
const SHAPE: Shape = Shape {
    regions_per_side: 16,
};
/// Tracks on a full board; more work is more boards.
const TRACKS: u64 = 600;

/// Routes boards until the number of tracks is reached.
pub(super) fn run(setting: &Setting) -> Measured {
    let threads = setting.threads_or(THREADS);
    let count = setting.times(TRACKS);
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
                    thread::spawn(move || Router::new(&board).run())
                })
                .collect();
            let results_of_board = routers.into_iter().map(|router| router.join().unwrap());
            let (laid, counts): (Vec<_>, Vec<_>) = results_of_board.unzip();
            ops += counts.iter().sum::<u64>();
            results.push(laid.concat());
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
    next: Mutex<usize>,
    regions: Vec<Mutex<[Net; REGION_CELLS]>>,
}

impl Board {
    /// A board on which only the pads are occupied, each by its own track.
    fn new(count: u64, seed: u64) -> Self {
        let tracks = tracks(SHAPE, count as usize, seed);
        let cells = board_of_pads(SHAPE, &tracks);
        let (regions, _) = cells.as_chunks();
        Self {
            next: Mutex::new(0),
            regions: regions.iter().copied().map(Mutex::new).collect(),
            tracks,
        }
    }

    fn next(&self) -> Option<&Track> {
        let mut next = self.next.lock().unwrap();
        let track = self.tracks.get(*next)?;
        *next += 1;
        Some(track)
    }

    /// Lays `track` along `way`, unless somebody has built there. Also returns how many locks it took.
    fn lay(&self, track: &Track, way: &[Cell]) -> (bool, u64) {
        let mut numbers: Vec<_> = way.iter().map(|cell| cell.region()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let locked = numbers.iter().map(|&n| self.regions[n].lock().unwrap());
        let mut locked: Vec<_> = locked.collect();
        let mut at = |cell: &Cell, net: Option<Net>| {
            let region = numbers.binary_search(&cell.region()).unwrap();
            let place = &mut locked[region][cell.in_region()];
            std::mem::replace(place, net.unwrap_or(*place))
        };
        let free = way
            .iter()
            .all(|cell| [FREE, track.net].contains(&at(cell, None)));
        if free {
            for cell in way {
                at(cell, Some(track.net));
            }
        }
        (free, numbers.len() as u64)
    }

    fn check(&self, laid: &[(Net, Vec<Cell>)]) {
        assert_eq!(*self.next.lock().unwrap(), self.tracks.len());
        let regions = self.regions.iter().map(|region| *region.lock().unwrap());
        let cells: Vec<_> = regions.flatten().collect();
        check(SHAPE, &self.tracks, laid, &cells);
    }
}

/// A thread's state.
struct Router<'a> {
    board: &'a Board,
    wave: Wave,
    laid: Vec<(Net, Vec<Cell>)>,
    ops: u64,
}

impl<'a> Router<'a> {
    fn new(board: &'a Board) -> Self {
        Self {
            board,
            wave: Wave::new(SHAPE),
            laid: Vec::new(),
            ops: 0,
        }
    }

    /// Works until the queue is empty; returns what it laid and how many locks it took.
    fn run(mut self) -> (Vec<(Net, Vec<Cell>)>, u64) {
        while let Some(track) = self.board.next() {
            self.ops += 1;
            self.connect(track);
        }
        (self.laid, self.ops + 1)
    }

    /// Tries until the track lies or there is no way left for it: the board only ever fills up.
    fn connect(&mut self, track: &Track) {
        loop {
            let ops = &mut self.ops;
            let board = self.board;
            let way = self.wave.route(track, |region, copy| {
                *ops += 1;
                copy.copy_from_slice(&*board.regions[region].lock().unwrap());
                Ok::<_, Infallible>(())
            });
            let Ok(Some(way)) = way else { return };
            let (laid, locks) = board.lay(track, &way);
            self.ops += locks;
            if laid {
                self.laid.push((track.net, way));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Setting, run};

    #[test]
    fn tracks_are_laid_without_crossing() {
        let setting = Setting {
            scale: 0.1,
            threads: None,
        };
        assert!(run(&setting).ops > 50);
    }
}
