//! The streams of a trace that is grouped by activity: one sequence of bytes, in sections.
//!
//! A section is verified once, when it is first read. There is no lock: two threads that read it at the same time both
//! verify it.

use std::{
    ops::Range,
    os::unix::fs::FileExt,
    sync::atomic::{AtomicBool, Ordering},
};

use super::Trace;
use crate::{
    contents::LazySection,
    error::{Damage, TraceError},
};

pub(super) struct Streams {
    /// Ordered by place; a damaged trace may have gaps between them.
    sections: Vec<LazySection>,
    /// Whether each section has been verified. Relaxed: it does not protect other memory.
    verified: Vec<AtomicBool>,
}

impl Streams {
    pub(super) fn new(sections: Vec<LazySection>) -> Streams {
        let verified = sections.iter().map(|_| AtomicBool::new(false)).collect();
        Streams { sections, verified }
    }

    /// Returns the section that contains the byte at this place.
    fn find(&self, place: u64) -> Option<usize> {
        let index = self
            .sections
            .partition_point(|section| section.begin() <= place)
            .checked_sub(1)?;
        (place < self.sections[index].end()).then_some(index)
    }

    /// Returns where in the file the byte at this place is, or would be.
    pub(super) fn offset_of(&self, place: u64) -> u64 {
        match self.find(place) {
            Some(index) => {
                let section = &self.sections[index];
                section.offset + (place - section.begin())
            }
            None => self.sections.last().map_or(0, |section| {
                section.offset + u64::from(section.section.length)
            }),
        }
    }

    /// Appends the bytes in this range of places to a buffer, but only of one section; returns the end of what was
    /// read.
    pub(super) fn read(
        &self,
        trace: &Trace,
        range: Range<u64>,
        buffer: &mut Vec<u8>,
    ) -> Result<u64, TraceError> {
        let place = range.start;
        let index = self.find(place).ok_or_else(|| {
            trace.damaged(Damage {
                offset: self.offset_of(place),
                what: "events of an activity are missing: the section with them is",
            })
        })?;
        self.verify(trace, index)?;
        // Reserves the exact length: a short stream gets no larger buffer than it needs, and no second one.
        buffer.reserve_exact((range.end - place) as usize);
        let end = range.end.min(self.sections[index].end());
        let filled = buffer.len();
        buffer.resize(filled + (end - place) as usize, 0);
        trace
            .file
            .read_exact_at(&mut buffer[filled..], self.offset_of(place))
            .inspect_err(|_| buffer.truncate(filled))
            .map_err(|error| TraceError::io("cannot read", &trace.path)(error))?;
        Ok(end)
    }

    fn verify(&self, trace: &Trace, index: usize) -> Result<(), TraceError> {
        if self.verified[index].load(Ordering::Relaxed) {
            return Ok(());
        }
        trace.read_section(&self.sections[index])?;
        self.verified[index].store(true, Ordering::Relaxed);
        Ok(())
    }
}
