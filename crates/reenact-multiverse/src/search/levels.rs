//! Breadth-first search without reduction: level by level, in the order of the numbers.
//!
//! States get their numbers in the order (parent, step). So the numbers of the next level follow those of this level,
//! and no queue is needed. A stretch of a level that is large enough is expanded by all workers as a
//! [block](super::block), with the same numbers as a result; near a bound, the sequential loop is used.

use std::{
    ops::Range,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use super::{
    Bound, WorkerCount,
    block::{self, Numbering, Phase, WorkerData},
    driver::{NextSteps, SearchDriver, next_steps},
    worker_pool::{RunningPool, WorkerPool},
};
use crate::{
    Semantics,
    graph::{chunks::Chunks, store::StateStatus},
};

/// A stretch that takes less time than this on one worker is not worth starting threads.
const WORTHWHILE: Duration = Duration::from_micros(400);
/// A stretch should not take more time than this, so that progress is reported often enough.
const LONGEST: Duration = Duration::from_millis(20);
/// The number of states in a stretch. It also limits how much is allocated twice.
const STRETCH: Range<usize> = 64..8192;

/// The memory that should be free for each state of a stretch.
const FREE_BYTES: usize = 4096;

/// Searches, and returns the first number of each level.
pub(super) fn walk<S: Semantics>(
    driver: &mut SearchDriver<'_, S>,
    roots: Vec<S::State>,
    workers: WorkerCount,
) -> Chunks<u32> {
    let mut levels = Chunks::default();
    let walked = driver.start(roots).and_then(|()| {
        if workers.count == 1 {
            return walk_levels(driver, &mut levels, expand);
        }
        let pool = WorkerPool::new((0..workers.count).map(|_| WorkerData::default()).collect());
        thread::scope(|scope| {
            let mut team = LazyPool {
                scope,
                pool: &pool,
                running: None,
                recent: Numbering::default(),
                at_any_price: workers.at_any_price,
                time_each: Duration::ZERO,
            };
            walk_levels(driver, &mut levels, |driver, level, depth| {
                team.expand(driver, level, depth)
            })
        })
    });
    if let Err(bound) = walked {
        driver.met(bound);
    }
    levels
}

fn walk_levels<'a, S: Semantics>(
    driver: &mut SearchDriver<'a, S>,
    levels: &mut Chunks<u32>,
    mut expand: impl FnMut(&mut SearchDriver<'a, S>, Range<usize>, u32) -> Result<(), Bound>,
) -> Result<(), Bound> {
    let mut level = 0..driver.store.len();
    let mut depth = 0;
    while !level.is_empty() {
        driver.make_room(levels.growth(1))?;
        levels.push(level.start as u32);
        driver.beside = levels.bytes();
        expand(driver, level.clone(), depth)?;
        level = level.end..driver.store.len();
        depth += 1;
    }
    Ok(())
}

/// Workers that are started when there is enough to do.
struct LazyPool<'s, 'e, 'a, S: Semantics> {
    scope: &'s Scope<'s, 'e>,
    pool: &'s WorkerPool<Phase<'a, S>>,
    running: Option<RunningPool<'s, Phase<'a, S>>>,
    recent: Numbering,
    at_any_price: bool,
    /// The time that a state takes on one worker.
    time_each: Duration,
}

impl<'a, S: Semantics> LazyPool<'_, '_, 'a, S> {
    fn expand(
        &mut self,
        driver: &mut SearchDriver<'a, S>,
        level: Range<usize>,
        depth: u32,
    ) -> Result<(), Bound> {
        let mut next = level.start;
        while next < level.end {
            let left = level.end - next;
            let stretch = next..next + left.min(self.stretch_len(driver));
            let began = Instant::now();
            let cores = if self.expand_together(driver, stretch.clone(), depth) {
                driver.look_up(driver.store.len() - stretch.end, depth)?;
                self.pool.len() as u32
            } else {
                expand(driver, stretch.clone(), depth)?;
                1
            };
            self.time_each = began.elapsed() * cores / stretch.len() as u32;
            next = stretch.end;
        }
        Ok(())
    }

    fn stretch_len(&self, driver: &SearchDriver<'a, S>) -> usize {
        let in_time = LONGEST.as_nanos().checked_div(self.time_each.as_nanos());
        let in_time = in_time.map_or(STRETCH.start, |states| states as usize);
        let in_memory = driver.free_bytes() / FREE_BYTES;
        in_time.min(in_memory).clamp(STRETCH.start, STRETCH.end)
    }

    /// Expands a stretch with all workers. Returns whether it did: it may not be worth it, or not be possible.
    fn expand_together(
        &mut self,
        driver: &mut SearchDriver<'a, S>,
        stretch: Range<usize>,
        depth: u32,
    ) -> bool {
        if !self.at_any_price && self.time_each * (stretch.len() as u32) < WORTHWHILE {
            return false;
        }
        let pool = self
            .running
            .get_or_insert_with(|| self.pool.start(self.scope));
        let is_done = block::expand(driver, pool, &mut self.recent, stretch, depth);
        if !is_done || driver.bounds.bytes.is_some() {
            block::forget(pool);
            self.recent = Numbering::default();
        }
        is_done
    }
}

/// The sequential loop.
fn expand<S: Semantics>(
    driver: &mut SearchDriver<'_, S>,
    stretch: Range<usize>,
    depth: u32,
) -> Result<(), Bound> {
    for id in stretch {
        driver.beat(driver.store.len() - id, depth)?;
        let id = id as u32;
        let state = driver.store.state(id);
        let steps = match next_steps(driver.semantics, driver.until, state) {
            NextSteps::Stop => {
                driver.store.set_mark(id, StateStatus::Stopped);
                continue;
            }
            NextSteps::End => {
                driver.store.set_mark(id, StateStatus::End);
                continue;
            }
            NextSteps::Steps(steps) => steps,
        };
        if let Some(bound) = driver.bounds.depth
            && depth >= bound
        {
            driver.met(Bound::Depth(bound));
            continue;
        }
        driver.make_room_for_edges(steps.len())?;
        let mut refused = None;
        for (number, step) in steps.iter().enumerate() {
            let next = driver.semantics.take(driver.store.state(id), step);
            match driver.intern(next, id, number) {
                Ok((to, _)) => driver.store.add_edge(number as u32, to),
                Err(bound) => {
                    refused = Some(bound);
                    break;
                }
            }
        }
        driver.store.end_run(id);
        match refused {
            Some(bound) => return Err(bound),
            None => driver.store.set_mark(id, StateStatus::Expanded),
        }
    }
    Ok(())
}
