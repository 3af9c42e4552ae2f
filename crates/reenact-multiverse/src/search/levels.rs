//! Breadth first, not reduced: level by level, in the order of the numbers.
//!
//! States get their numbers in the order (parent, step). This makes the level after this one the numbers after this
//! level's, and needs no queue. A stretch of a level that is worth it is done by all cores as a [block](super::block),
//! with the same numbers as a result; where a bound is near, it never is.

use std::{
    ops::Range,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use super::{
    Bound, Workers,
    block::{self, Recent, Slot, Task},
    course::{Course, Outlook, look},
    crew::{Crew, Hired},
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
    let walked = course.start(roots).and_then(|()| {
        if workers.count == 1 {
            return walk_levels(course, &mut levels, expand);
        }
        let crew = Crew::new((0..workers.count).map(|_| Slot::default()).collect());
        thread::scope(|scope| {
            let mut team = Team {
                scope,
                crew: &crew,
                hired: None,
                recent: Recent::default(),
                at_any_price: workers.at_any_price,
                pace: Duration::ZERO,
            };
            walk_levels(course, &mut levels, |course, level, depth| {
                team.expand(course, level, depth)
            })
        })
    });
    if let Err(bound) = walked {
        course.met(bound);
    }
    levels
}

fn walk_levels<'a, S: Semantics>(
    course: &mut Course<'a, S>,
    levels: &mut Chunks<u32>,
    mut expand: impl FnMut(&mut Course<'a, S>, Range<usize>, u32) -> Result<(), Bound>,
) -> Result<(), Bound> {
    let mut level = 0..course.store.len();
    let mut depth = 0;
    while !level.is_empty() {
        course.make_room(levels.growth(1))?;
        levels.push(level.start as u32);
        course.beside = levels.bytes();
        expand(course, level.clone(), depth)?;
        level = level.end..course.store.len();
        depth += 1;
    }
    Ok(())
}

/// Cores that are called when there is enough to do.
struct Team<'s, 'e, 'a, S: Semantics> {
    scope: &'s Scope<'s, 'e>,
    crew: &'s Crew<Task<'a, S>>,
    hired: Option<Hired<'s, Task<'a, S>>>,
    recent: Recent,
    at_any_price: bool,
    /// How long a state has taken, on one core.
    pace: Duration,
}

impl<'a, S: Semantics> Team<'_, '_, 'a, S> {
    fn expand(
        &mut self,
        course: &mut Course<'a, S>,
        level: Range<usize>,
        depth: u32,
    ) -> Result<(), Bound> {
        let mut next = level.start;
        while next < level.end {
            let left = level.end - next;
            let stretch = next..next + left.min(self.stretch_len(course));
            let began = Instant::now();
            let cores = if self.expand_together(course, stretch.clone(), depth) {
                course.look_up(course.store.len() - stretch.end, depth)?;
                self.crew.len() as u32
            } else {
                expand(course, stretch.clone(), depth)?;
                1
            };
            self.pace = began.elapsed() * cores / stretch.len() as u32;
            next = stretch.end;
        }
        Ok(())
    }

    fn stretch_len(&self, course: &Course<'a, S>) -> usize {
        let in_time = LONGEST.as_nanos().checked_div(self.pace.as_nanos());
        let in_time = in_time.map_or(STRETCH.start, |states| states as usize);
        let in_memory = course.free_bytes() / FREE_BYTES;
        in_time.min(in_memory).clamp(STRETCH.start, STRETCH.end)
    }

    /// Tells whether it was done: it may not be worth it, or not be possible.
    fn expand_together(
        &mut self,
        course: &mut Course<'a, S>,
        stretch: Range<usize>,
        depth: u32,
    ) -> bool {
        if !self.at_any_price && self.pace * (stretch.len() as u32) < WORTHWHILE {
            return false;
        }
        let crew = self.hired.get_or_insert_with(|| self.crew.hire(self.scope));
        let is_done = block::expand(course, crew, &mut self.recent, stretch, depth);
        if !is_done || course.bounds.bytes.is_some() {
            block::forget(crew);
            self.recent = Recent::default();
        }
        is_done
    }
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
        let steps = match look(course.semantics, course.until, state) {
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
