//! Breadth first, not reduced: level by level, in the order of the numbers.
//!
//! States get their numbers in the order (parent, step). This makes the level after this one the numbers after this
//! level's, and needs no queue. A stretch of a level that is worth it is done by all cores as a [block](super::block),
//! with the same numbers as a result; where a bound is near, it never is.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use super::{
    Bound, Workers,
    block::{self, Scratch},
    course::{Course, Outlook, look},
};
use crate::{
    Semantics,
    graph::{chunks::Chunks, store::Mark},
};

/// A stretch that takes less on one core is not worth a thread.
const WORTHWHILE: Duration = Duration::from_micros(400);
/// Nor should one take more, for the sake of whoever listens.
const LONGEST: Duration = Duration::from_millis(20);
/// States in a stretch. It also bounds what is there twice.
const STRETCH: Range<usize> = 64..8192;

/// For each of them, this much memory should be free.
const FREE_BYTES: usize = 4096;

/// Searches, and returns the first number of each level.
pub(super) fn walk<S: Semantics>(
    course: &mut Course<'_, S>,
    roots: Vec<S::State>,
    workers: Workers,
) -> Chunks<u32> {
    let mut levels = Chunks::default();
    let walked = course
        .start(roots)
        .and_then(|()| walk_levels(course, &mut levels, workers));
    if let Err(bound) = walked {
        course.met(bound);
    }
    levels
}

fn walk_levels<S: Semantics>(
    course: &mut Course<'_, S>,
    levels: &mut Chunks<u32>,
    workers: Workers,
) -> Result<(), Bound> {
    let mut level = 0..course.store.len();
    let mut depth = 0;
    // How long a state has taken, on one core.
    let mut pace = Duration::ZERO;
    let mut scratch = Scratch::new(workers.count);
    while !level.is_empty() {
        course.make_room(levels.growth(1))?;
        levels.push(level.start as u32);
        course.beside = levels.bytes();
        let mut next = level.start;
        while next < level.end {
            let left = level.end - next;
            let wanted = match LONGEST.as_nanos().checked_div(pace.as_nanos()) {
                Some(states) => (states as usize).clamp(STRETCH.start, STRETCH.end),
                None => STRETCH.start,
            };
            let wanted = wanted.min(course.free_bytes() / FREE_BYTES);
            let wanted = wanted.max(STRETCH.start);
            let stretch = next..next + left.min(if workers.count > 1 { wanted } else { left });
            let began = Instant::now();
            let is_worth_it = workers.at_any_price || pace * stretch.len() as u32 >= WORTHWHILE;
            let is_done = workers.count > 1
                && is_worth_it
                && block::expand(course, &mut scratch, stretch.clone(), depth);
            if workers.count > 1 && (!is_done || course.bounds.bytes.is_some()) {
                scratch = Scratch::new(workers.count);
            }
            if is_done {
                course.look_up(course.store.len() - stretch.end, depth)?;
            } else {
                expand(course, stretch.clone(), depth)?;
            }
            if workers.count > 1 {
                let cores = if is_done { workers.count as u32 } else { 1 };
                pace = began.elapsed() * cores / stretch.len() as u32;
            }
            next = stretch.end;
        }
        level = level.end..course.store.len();
        depth += 1;
    }
    Ok(())
}

/// The plain loop.
fn expand<S: Semantics>(
    course: &mut Course<'_, S>,
    stretch: Range<usize>,
    depth: u32,
) -> Result<(), Bound> {
    for id in stretch {
        course.beat(course.store.len() - id, depth)?;
        let id = id as u32;
        let state = course.store.state(id);
        let steps = match look(course.semantics, course.until.as_deref(), state) {
            Outlook::Stop => {
                course.store.set_mark(id, Mark::Stopped);
                continue;
            }
            Outlook::End => {
                course.store.set_mark(id, Mark::End);
                continue;
            }
            Outlook::Steps(steps) => steps,
        };
        if let Some(bound) = course.bounds.depth
            && depth >= bound
        {
            course.met(Bound::Depth(bound));
            continue;
        }
        course.make_room_for_edges(steps.len())?;
        let mut refused = None;
        for (number, step) in steps.iter().enumerate() {
            let next = course.semantics.take(course.store.state(id), step);
            match course.intern(next, id, number) {
                Ok((to, _)) => course.store.add_edge(number as u32, to),
                Err(bound) => {
                    refused = Some(bound);
                    break;
                }
            }
        }
        course.store.end_run(id);
        match refused {
            Some(bound) => return Err(bound),
            None => course.store.set_mark(id, Mark::Expanded),
        }
    }
    Ok(())
}
