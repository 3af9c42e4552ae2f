//! The part of Lee's circuit routing that needs neither locks nor transactions: the board's geometry, a generated set of
//! tracks, and the search for a way on a private copy.
//!
//! The board is a grid of cells in two layers, divided into square regions that reach through the
//! layers. A cell's number has its region in the upper bits, so that a region is contiguous both on
//! the shared board and in the private copies, and copying it is one `memcpy`.

use std::collections::BTreeSet;

use crate::random::Random;

/// Cells along one side of a region.
const REGION_SIDE: u32 = 16;
/// Layers of the board.
const LAYERS: u32 = 2;
/// Cells in a region.
pub const REGION_CELLS: usize = (REGION_SIDE * REGION_SIDE * LAYERS) as usize;

const ROW: u32 = REGION_SIDE;
const LAYER: u32 = REGION_SIDE * REGION_SIDE;
const REGION: u32 = REGION_CELLS as u32;

/// What occupies a cell: a track's number from 1, or [`FREE`].
pub type Net = u16;

/// Nothing lies here.
pub const FREE: Net = 0;

/// A place on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell(u32);

impl Cell {
    /// The region that the cell is in.
    pub fn region(self) -> usize {
        self.0 as usize / REGION_CELLS
    }

    /// The cell's place in its region.
    pub fn in_region(self) -> usize {
        self.0 as usize % REGION_CELLS
    }

    /// The cell's place on the board.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The dimensions of a square board.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Regions along one side.
    pub regions_per_side: u32,
}

impl Shape {
    /// Number of regions.
    pub fn regions(self) -> usize {
        (self.regions_per_side * self.regions_per_side) as usize
    }

    /// Cells along one side.
    fn side(self) -> u32 {
        self.regions_per_side * REGION_SIDE
    }

    /// The cell of the top layer at a position.
    fn at(self, x: u32, y: u32) -> Cell {
        let region = y / REGION_SIDE * self.regions_per_side + x / REGION_SIDE;
        Cell(region * REGION + y % REGION_SIDE * ROW + x % REGION_SIDE)
    }

    /// The cells next to `cell`: four on its layer, one through the board.
    fn neighbours(self, cell: Cell) -> impl Iterator<Item = Cell> {
        let per_side = self.regions_per_side;
        let Cell(c) = cell;
        let (x, y, region) = (c % ROW, c / ROW % REGION_SIDE, c / REGION);
        let (column, row) = (region % per_side, region / per_side);
        let last = REGION_SIDE - 1;
        let step = |inside: bool, next: bool, near: u32, far: u32| {
            if inside {
                Some(c.wrapping_add(near))
            } else {
                next.then(|| c.wrapping_add(far))
            }
        };
        let up = REGION * per_side - last * ROW;
        let across = REGION - last;
        [
            step(x < last, column + 1 < per_side, 1, across),
            step(
                x > 0,
                column > 0,
                1u32.wrapping_neg(),
                across.wrapping_neg(),
            ),
            step(y < last, row + 1 < per_side, ROW, up),
            step(y > 0, row > 0, ROW.wrapping_neg(), up.wrapping_neg()),
            Some(c ^ LAYER),
        ]
        .into_iter()
        .flatten()
        .map(Cell)
    }

    /// Whether `a` and `b` touch.
    pub fn adjacent(self, a: Cell, b: Cell) -> bool {
        self.neighbours(a).any(|cell| cell == b)
    }
}

/// Two pads to be connected.
#[derive(Clone, Copy, Debug)]
pub struct Track {
    /// What its cells will carry.
    pub net: Net,
    /// One end.
    pub from: Cell,
    /// The other end.
    pub to: Cell,
}

/// Generates tracks between pads of the top layer, no two of which share a pad.
///
/// Most tracks are local, some cross the board; they are sorted from short to long, as in LeeTM,
/// because a long track laid early walls in the short ones.
pub fn tracks(shape: Shape, count: usize, seed: u64) -> Vec<Track> {
    let mut random = Random::new(seed);
    let mut pads = BTreeSet::new();
    let mut ends = Vec::with_capacity(count);
    let side = u64::from(shape.side());
    while ends.len() < count {
        let (x, y) = (random.below(side), random.below(side));
        let reach = if random.below(100) < 70 { 24 } else { side };
        let mut near = |from: u64| {
            let low = from.saturating_sub(reach);
            low + random.below((from + reach + 1).min(side) - low)
        };
        let (to_x, to_y) = (near(x), near(y));
        let (from, to) = (
            shape.at(x as u32, y as u32),
            shape.at(to_x as u32, to_y as u32),
        );
        if from == to || pads.contains(&from) || pads.contains(&to) {
            continue;
        }
        pads.extend([from, to]);
        ends.push((x.abs_diff(to_x) + y.abs_diff(to_y), from, to));
    }
    ends.sort();
    (1..)
        .zip(ends)
        .map(|(net, (_, from, to))| Track { net, from, to })
        .collect()
}

/// A thread's private copy of the board, and the wave that searches it.
pub struct Wave {
    shape: Shape,
    nets: Vec<Net>,
    /// Steps from the start of the track; [`UNREACHED`] where the wave has not been.
    distance: Vec<u16>,
    /// The attempt for which each region was copied last.
    copied: Vec<u32>,
    attempt: u32,
    front: Vec<Cell>,
    next: Vec<Cell>,
}

const UNREACHED: u16 = u16::MAX;

impl Wave {
    /// A wave for boards of this shape.
    pub fn new(shape: Shape) -> Self {
        let cells = shape.regions() * REGION_CELLS;
        Self {
            shape,
            nets: vec![FREE; cells],
            distance: vec![UNREACHED; cells],
            copied: vec![0; shape.regions()],
            attempt: 0,
            front: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Finds a shortest way for `track`, from its end to its start, if there is one.
    ///
    /// `copy` is called for each region that the wave enters, to fill the private copy with what
    /// the board has there at that moment. If that fails, so does the search.
    pub fn route<E>(
        &mut self,
        track: &Track,
        mut copy: impl FnMut(usize, &mut [Net]) -> Result<(), E>,
    ) -> Result<Option<Vec<Cell>>, E> {
        self.attempt += 1;
        self.enter(track.from, &mut copy)?;
        self.distance[track.from.index()] = 0;
        self.next.clear();
        self.front.clear();
        self.front.push(track.from);
        let mut steps = 0;
        while !self.front.is_empty() {
            steps += 1;
            let mut front = std::mem::take(&mut self.front);
            for &cell in &front {
                for near in self.shape.neighbours(cell) {
                    self.enter(near, &mut copy)?;
                    let net = self.nets[near.index()];
                    if (net != FREE && net != track.net) || self.distance[near.index()] != UNREACHED
                    {
                        continue;
                    }
                    self.distance[near.index()] = steps;
                    if near == track.to {
                        self.front = front;
                        return Ok(Some(self.backtrack(track)));
                    }
                    self.next.push(near);
                }
            }
            front.clear();
            self.front = std::mem::replace(&mut self.next, front);
        }
        Ok(None)
    }

    fn enter<E>(
        &mut self,
        cell: Cell,
        copy: &mut impl FnMut(usize, &mut [Net]) -> Result<(), E>,
    ) -> Result<(), E> {
        let region = cell.region();
        if self.copied[region] != self.attempt {
            self.copied[region] = self.attempt;
            let cells = region * REGION_CELLS..(region + 1) * REGION_CELLS;
            copy(region, &mut self.nets[cells.clone()])?;
            self.distance[cells].fill(UNREACHED);
        }
        Ok(())
    }

    fn backtrack(&self, track: &Track) -> Vec<Cell> {
        let mut cell = track.to;
        let mut way = vec![cell];
        while cell != track.from {
            let closer = self.distance[cell.index()] - 1;
            cell = self
                .shape
                .neighbours(cell)
                .find(|&near| {
                    self.copied[near.region()] == self.attempt
                        && self.distance[near.index()] == closer
                })
                .expect("the wave came to this cell from one that is closer to its start");
            way.push(cell);
        }
        way
    }
}

/// A board on which only the pads are occupied, each by its own track: what is in each cell.
pub fn board_of_pads(shape: Shape, tracks: &[Track]) -> Vec<Net> {
    let mut board = vec![FREE; shape.regions() * REGION_CELLS];
    for track in tracks {
        for pad in [track.from, track.to] {
            board[pad.index()] = track.net;
        }
    }
    board
}

/// Checks that the tracks that were laid connect their pads, that nothing else is on the board, and that there are
/// enough of them.
pub fn check(shape: Shape, tracks: &[Track], laid: &[(Net, Vec<Cell>)], board: &[Net]) {
    let mut expected = board_of_pads(shape, tracks);
    for (net, way) in laid {
        let track = &tracks[usize::from(*net) - 1];
        assert_eq!((way[0], way[way.len() - 1]), (track.to, track.from));
        assert!(way.windows(2).all(|w| shape.adjacent(w[0], w[1])));
        for cell in way {
            let place = &mut expected[cell.index()];
            assert!([FREE, *net].contains(place), "two tracks cross");
            *place = *net;
        }
    }
    assert_eq!(expected, board);
    assert!(
        laid.len() * 10 >= tracks.len() * 9,
        "only {} of {} tracks found a way",
        laid.len(),
        tracks.len()
    );
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::{Cell, FREE, Net, Shape, Track, Wave, tracks};

    const SHAPE: Shape = Shape {
        regions_per_side: 3,
    };

    fn track(from: (u32, u32), to: (u32, u32)) -> Track {
        Track {
            net: 1,
            from: SHAPE.at(from.0, from.1),
            to: SHAPE.at(to.0, to.1),
        }
    }

    /// A way for `track` on a board that nobody else uses.
    fn way(track: &Track, mut copy: impl FnMut(usize, &mut [Net])) -> Option<Vec<Cell>> {
        let copy = |region, cells: &mut [Net]| {
            copy(region, cells);
            Ok::<_, Infallible>(())
        };
        Wave::new(SHAPE).route(track, copy).unwrap()
    }

    #[test]
    fn neighbours_are_symmetric_also_across_regions() {
        for (x, y) in [(0, 0), (15, 15), (16, 15), (47, 47), (31, 0), (20, 32)] {
            let cell = SHAPE.at(x, y);
            let mut expected = 5;
            expected -= u32::from(x == 0 || x == 47) + u32::from(y == 0 || y == 47);
            assert_eq!(SHAPE.neighbours(cell).count() as u32, expected);
            assert!(SHAPE.neighbours(cell).all(|n| SHAPE.adjacent(n, cell)));
        }
    }

    #[test]
    fn the_way_on_an_empty_board_has_manhattan_length() {
        let track = track((3, 40), (44, 1));
        let way = way(&track, |_, region| region.fill(FREE)).unwrap();
        assert_eq!(way.len(), 41 + 39 + 1);
        assert_eq!((way[0], *way.last().unwrap()), (track.to, track.from));
        assert!(way.windows(2).all(|w| SHAPE.adjacent(w[0], w[1])));
    }

    #[test]
    fn a_wall_through_both_layers_has_no_way_around() {
        let track = track((3, 3), (44, 3));
        let way = way(&track, |region, cells| {
            cells.fill(if region % 3 == 1 { 2 } else { FREE });
        });
        assert!(way.is_none());
    }

    #[test]
    fn a_search_that_failed_leaves_nothing_behind() {
        let track = track((3, 40), (44, 1));
        let mut wave = Wave::new(SHAPE);
        let mut left = 4;
        let failed = wave.route(&track, |_, region| {
            region.fill(FREE);
            left -= 1;
            if left == 0 { Err(()) } else { Ok(()) }
        });
        assert_eq!(failed, Err(()));
        let again = wave.route(&track, |_, region| {
            region.fill(FREE);
            Ok::<_, Infallible>(())
        });
        assert_eq!(again.unwrap().unwrap().len(), 41 + 39 + 1);
    }

    #[test]
    fn generated_tracks_share_no_pad() {
        let tracks = tracks(SHAPE, 100, 1);
        let mut pads: Vec<_> = tracks.iter().flat_map(|t| [t.from, t.to]).collect();
        pads.sort();
        pads.dedup();
        assert_eq!(pads.len(), 200);
    }
}
