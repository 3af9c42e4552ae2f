//! The data of a trace that is grouped by activity, ordered by id.
//!
//! The header of each section contains its first id, so data are found by a search over the headers and a read of one
//! section. Data that are requested one after the other, by whatever threads, were mostly stored together and are in
//! the same section: the sections that were read last are cached.

use std::sync::{Arc, Mutex, PoisonError};

use super::Trace;
use crate::{
    contents::LazySection,
    data::{DataHeader, DataSummary},
    error::{Damage, TraceError},
};

pub(super) struct OrderedData {
    /// Ordered by the first id in them.
    sections: Vec<LazySection>,
    /// The sections that were read last, the latest at the end.
    recent: Mutex<Vec<Arc<VerifiedSection>>>,
}

/// Maximum number of cached sections.
const RECENT: usize = 4;

/// A section that has been verified.
struct VerifiedSection {
    index: usize,
    payload: Vec<u8>,
    /// In order, each with the offset of its bytes in the payload. There is at least one.
    pieces: Vec<(DataHeader, usize)>,
}

impl VerifiedSection {
    /// Returns the pieces of these data.
    fn find(&self, id: u64) -> &[(DataHeader, usize)] {
        let from = self.pieces.partition_point(|(piece, _)| piece.id < id);
        let after = &self.pieces[from..];
        &after[..after.partition_point(|(piece, _)| piece.id == id)]
    }
}

impl OrderedData {
    pub(super) fn new(sections: Vec<LazySection>) -> OrderedData {
        OrderedData {
            sections,
            recent: Mutex::default(),
        }
    }

    /// Returns the summary, computed from the headers.
    pub(super) fn summary(&self) -> DataSummary {
        let mut summary = DataSummary::default();
        for LazySection { section, .. } in &self.sections {
            summary.count += u64::from(section.activity);
            summary.bytes += u64::from(section.thread);
        }
        summary
    }

    /// Reads data; `None` if there are none with this id.
    pub(super) fn read(&self, trace: &Trace, id: u64) -> Result<Option<Vec<u8>>, TraceError> {
        let Some(start) = self.section_with(trace, id)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let mut total = None;
        let mut end = self.sections[start].offset;
        for (index, lazy) in self.sections.iter().enumerate().skip(start) {
            if lazy.section.position > id {
                break;
            }
            let section = self.open(trace, index)?;
            for &(piece, from) in section.find(id) {
                let is_next = piece.offset == bytes.len() as u64;
                if !is_next || *total.get_or_insert(piece.total) != piece.total {
                    return Err(trace.damaged(Damage {
                        offset: lazy.offset + from as u64,
                        what: MISSING,
                    }));
                }
                bytes.extend_from_slice(&section.payload[from..][..piece.length]);
                end = lazy.offset + (from + piece.length) as u64;
            }
            if total == Some(bytes.len() as u64) {
                return Ok(Some(bytes));
            }
        }
        match total {
            None => Ok(None),
            Some(_) => Err(trace.damaged(Damage {
                offset: end,
                what: MISSING,
            })),
        }
    }

    /// Returns the section in which these data begin, if they exist. Avoids opening the section before if possible: it
    /// may be damaged while these data are whole.
    fn section_with(&self, trace: &Trace, id: u64) -> Result<Option<usize>, TraceError> {
        let index = self
            .sections
            .partition_point(|lazy| lazy.section.position < id);
        let begins_with = self
            .sections
            .get(index)
            .is_some_and(|lazy| lazy.section.position == id);
        if begins_with && self.open(trace, index)?.pieces[0].0.offset == 0 {
            return Ok(Some(index));
        }
        Ok(index.checked_sub(1).or(begins_with.then_some(index)))
    }

    fn open(&self, trace: &Trace, index: usize) -> Result<Arc<VerifiedSection>, TraceError> {
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(section) = recent().iter().find(|section| section.index == index) {
            return Ok(Arc::clone(section));
        }
        let LazySection { offset, section } = &self.sections[index];
        let payload = trace.read_section(&self.sections[index])?;
        let damaged = |at: usize, what| {
            trace.damaged(Damage {
                offset: offset + at as u64,
                what,
            })
        };
        let pieces = pieces(&payload).map_err(|(at, what)| damaged(at, what))?;
        let begun = pieces.iter().filter(|(piece, _)| piece.offset == 0).count();
        let length: usize = pieces.iter().map(|(piece, _)| piece.length).sum();
        if pieces.first().map(|(piece, _)| piece.id) != Some(section.position)
            || (begun, length) != (section.activity as usize, section.thread as usize)
        {
            return Err(damaged(0, "a section of data has other data than it says"));
        }
        let section = Arc::new(VerifiedSection {
            index,
            payload,
            pieces,
        });
        // A section with a single piece is not cached: it will not be read again.
        if section.pieces.len() > 1 {
            let mut recent = recent();
            if recent.len() == RECENT {
                recent.remove(0);
            }
            recent.push(Arc::clone(&section));
        }
        Ok(section)
    }

    /// Verifies all sections, and that all data are whole.
    pub(super) fn check(&self, trace: &Trace) -> Result<(), TraceError> {
        // The id after the last whole data, and the last piece of data that are not yet whole.
        let mut next = 0;
        let mut begun: Option<DataHeader> = None;
        for (index, lazy) in self.sections.iter().enumerate() {
            for &(piece, from) in &self.open(trace, index)?.pieces {
                let is_next = match begun {
                    None => piece.offset == 0 && piece.id >= next,
                    Some(before) => {
                        let end = before.offset + before.length as u64;
                        (piece.id, piece.total, piece.offset) == (before.id, before.total, end)
                    }
                };
                if !is_next {
                    return Err(trace.damaged(Damage {
                        offset: lazy.offset + from as u64,
                        what: MISSING,
                    }));
                }
                let is_last = piece.offset + piece.length as u64 == piece.total;
                begun = (!is_last).then_some(piece);
                next = piece.id.saturating_add(is_last.into());
            }
        }
        match (begun, self.sections.last()) {
            (Some(_), Some(lazy)) => Err(trace.damaged(Damage {
                offset: lazy.offset + u64::from(lazy.section.length),
                what: MISSING,
            })),
            _ => Ok(()),
        }
    }
}

const MISSING: &str = "a piece of data is missing or repeated";

/// Decodes the pieces in the payload of a section, with the offsets of their bytes; or returns where it is malformed.
fn pieces(payload: &[u8]) -> Result<Vec<(DataHeader, usize)>, (usize, &'static str)> {
    let mut pieces: Vec<(DataHeader, usize)> = Vec::new();
    let mut rest = payload;
    while !rest.is_empty() {
        let at = payload.len() - rest.len();
        let (piece, content) = DataHeader::take(&mut rest).map_err(|what| (at, what))?;
        if let Some((last, _)) = pieces.last()
            && (piece.id, piece.offset) <= (last.id, last.offset)
        {
            return Err((at, "pieces of data are not in order"));
        }
        pieces.push((piece, payload.len() - rest.len() - content.len()));
    }
    Ok(pieces)
}
