//! Reading a trace: an index of where each activity's events are, and streams over them.
//!
//! A trace that was grouped by activity contains its index: the directory, which opening reads. At most 24 bytes per
//! activity stay in memory, and a stream buffers a small part of its bytes. A trace in chunks is indexed when it is
//! opened, from the headers of sections and the payload of only those chunks that contain several activities or data;
//! 24 bytes per piece of a stream stay in memory, and 32 per piece of data. A trace whose recording was cut off is read
//! together with its live file, without changing either.

mod crowds;
mod data;
mod events;
mod grouped;
mod pieces;

use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use crowds::Crowd;
pub use events::EventStream;

use crate::{
    catalog::{Catalog, Last},
    contents::{Contents, LazySection},
    data::DataSummary,
    error::{Damage, TraceError},
    family::{ActivityInfo, Family},
    layout::{FIRST_NOTE, FIRST_VARIABLE},
    program::{Exit, Program, StopReason},
    variables::Variable,
};

use data::OrderedData;
use grouped::Streams;
use pieces::Pieces;

/// An open trace.
pub struct Trace {
    path: PathBuf,
    version: u16,
    file: File,
    program: Program,
    catalog: Catalog,
    family: Family,
    form: EventStorage,
    exit: Option<Exit>,
    stop: Option<StopReason>,
    complete: bool,
    damage: Option<Damage>,
    size: u64,
}

/// How the trace stores the events of activities.
enum EventStorage {
    /// In the chunks that threads wrote. The catalog's ranges are indices of pieces.
    Chunks(Pieces),
    /// Grouped by activity. The catalog's ranges are offsets of bytes.
    Grouped(Streams, OrderedData),
}

/// With more activities than this, streams have small buffers.
const MANY: u64 = 1000;

impl Trace {
    /// Opens the trace at `path`, and what is left of its live file.
    pub fn open(path: &Path) -> Result<Trace, TraceError> {
        let mut contents = Contents::read(path)?;
        let (catalog, family, form) = match contents.grouped.take() {
            Some(grouped) => (
                grouped.directory.catalog,
                grouped.directory.family,
                EventStorage::Grouped(
                    Streams::new(grouped.streams),
                    OrderedData::new(grouped.data),
                ),
            ),
            None => {
                let (pieces, catalog, family) = Pieces::index(path, &mut contents)?;
                (catalog, family, EventStorage::Chunks(pieces))
            }
        };
        Ok(Trace {
            path: path.to_owned(),
            version: contents.version,
            file: contents.file,
            program: contents.program,
            catalog,
            family,
            form,
            exit: contents.exit,
            stop: contents.stop,
            complete: contents.complete,
            damage: contents.damage,
            size: contents.size,
        })
    }

    /// Returns the path of the trace file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the program that was recorded.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns how the process ended, if that was observed.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Returns why recording ended before the program, if it did.
    pub fn stop(&self) -> Option<StopReason> {
        self.stop
    }

    /// Returns whether the trace contains everything that was recorded. If not, the file is truncated or damaged.
    pub fn is_complete(&self) -> bool {
        self.complete && self.damage.is_none()
    }

    /// Returns where the file is damaged, if it is.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Returns the size of the trace file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the activities by number: those that have events, ended, or had a counter when the recording ended.
    pub fn activities(&self) -> impl ExactSizeIterator<Item = ActivityInfo> {
        Activities {
            trace: self,
            row: 0,
            nth: 0,
            left: self.catalog.len() as usize,
        }
    }

    /// Returns the activity with this number.
    pub fn activity(&self, number: u32) -> Option<ActivityInfo> {
        self.catalog.find(number).map(|_| self.family.info(number))
    }

    /// Returns the lowest number from this one on that no activity of the trace has, and that is in no block of children:
    /// a child whose number is from a block may have started although the trace has nothing of it.
    pub fn free_number(&self, from: u32) -> Option<u32> {
        let mut number = from;
        loop {
            let in_catalog = self.catalog.find(number).map(|row| {
                let row = &self.catalog.rows()[row];
                u64::from(row.first()) + u64::from(row.count())
            });
            match in_catalog.or_else(|| self.family.block_end(number)) {
                Some(end) => number = u32::try_from(end).ok()?,
                None => return Some(number),
            }
        }
    }

    /// Returns the activity's place in the family tree, such as `main.2.a0`: the first child of main's third, with a
    /// number from a block; such children are counted separately. `?7` if the origin of activity 7 is unknown.
    pub fn family_name(&self, number: u32) -> String {
        self.family.name(number)
    }

    /// Returns the number of the n-th child of an activity whose number is from a block, counted from 0.
    pub fn child_in_block(&self, parent: u32, index: u64) -> Option<u32> {
        let number = self.family.child_in_block(parent, index)?;
        self.activity(number).map(|info| info.number)
    }

    /// Returns the events of an activity from its first; only [`Item::Cut`](crate::Item::Cut) for one that is not in
    /// the trace.
    pub fn events(self: &Arc<Self>, activity: u32) -> EventStream {
        let (range, last) = match self.catalog.find(activity) {
            Some(row) => (self.catalog.range(row), self.catalog.rows()[row].last()),
            None => (0..0, Last::Nothing),
        };
        EventStream::new(Arc::clone(self), range, last)
    }

    /// Returns the data with this id, which is the number of an event.
    pub fn data(&self, id: u64) -> Result<Arc<[u8]>, TraceError> {
        let found = match &self.form {
            EventStorage::Chunks(pieces) => pieces.read_data(self, id),
            EventStorage::Grouped(_, data) => data.read(self, id),
        };
        match (found, &self.damage) {
            (Ok(Some(bytes)), _) => Ok(bytes.into()),
            // The damaged part may have contained them.
            (Ok(None), Some(damage)) => Err(self.broken_data(id, damage.clone())),
            (Ok(None), None) if !self.complete => {
                let damage = Damage {
                    offset: self.size,
                    what: "the end of the trace is missing",
                };
                Err(self.broken_data(id, damage))
            }
            (Ok(None), None) => Err(TraceError::NoData {
                path: self.path.clone(),
                id,
            }),
            (Err(TraceError::Damaged { damage, .. }), _) => Err(self.broken_data(id, damage)),
            (Err(error), _) => Err(error),
        }
    }

    /// Returns the environment variables that the program has read, in the order in which it read them first.
    pub fn variables(&self) -> Vec<Variable> {
        self.data_from(FIRST_VARIABLE)
            .filter_map(|bytes| Variable::from_bytes(&bytes))
            .collect()
    }

    /// Returns the notes about the recording, in the order in which they were stored. Of a damaged trace, those before
    /// the first one that is missing.
    pub fn notes(&self) -> Vec<Arc<[u8]>> {
        self.data_from(FIRST_NOTE).collect()
    }

    /// Returns the data with this id and the next ones, before the first that is missing.
    fn data_from(&self, first: u64) -> impl Iterator<Item = Arc<[u8]>> {
        (first..).map_while(|id| self.data(id).ok())
    }

    /// Returns the number of data in the trace and their length, without notes and variables. Cheap.
    pub fn data_summary(&self) -> DataSummary {
        let all = match &self.form {
            EventStorage::Chunks(pieces) => pieces.data_summary(),
            EventStorage::Grouped(_, data) => data.summary(),
        };
        let others = self
            .data_from(FIRST_NOTE)
            .chain(self.data_from(FIRST_VARIABLE));
        others.fold(all, |all, other| DataSummary {
            count: all.count.saturating_sub(1),
            bytes: all.bytes.saturating_sub(other.len() as u64),
        })
    }

    /// Verifies every checksum, decodes every event and assembles all data; returns the first error.
    pub fn check(self: &Arc<Self>, mut progress: impl FnMut(u64)) -> Result<(), TraceError> {
        if let Some(damage) = &self.damage {
            return Err(self.damaged(damage.clone()));
        }
        for (index, row) in self.catalog.rows().iter().enumerate() {
            // Activities without a range were checked on opening.
            if self.catalog.range(index).is_empty() {
                continue;
            }
            for item in self.events(row.first()) {
                item?;
                progress(1);
            }
        }
        match &self.form {
            // Opening has checked all data.
            EventStorage::Chunks(_) => Ok(()),
            EventStorage::Grouped(_, data) => data.check(self),
        }
    }

    fn broken_data(&self, id: u64, damage: Damage) -> TraceError {
        TraceError::BrokenData {
            path: self.path.clone(),
            id,
            damage,
        }
    }

    fn damaged(&self, damage: Damage) -> TraceError {
        TraceError::Damaged {
            path: self.path.clone(),
            damage,
        }
    }

    /// Reads and verifies a section.
    fn read_section(&self, lazy: &LazySection) -> Result<Vec<u8>, TraceError> {
        let LazySection { offset, section } = lazy;
        let mut payload = vec![0; section.length as usize];
        self.file
            .read_exact_at(&mut payload, *offset)
            .map_err(|error| TraceError::io("cannot read", &self.path)(error))?;
        section.verify(&payload).map_err(|what| {
            self.damaged(Damage {
                offset: *offset,
                what,
            })
        })?;
        Ok(payload)
    }

    /// Maximum number of bytes that a stream buffers.
    fn buffer_size(&self) -> usize {
        if self.catalog.len() > MANY {
            2 << 10
        } else {
            16 << 10
        }
    }
}

/// Iterates over the activities of a trace; a row of the catalog may contain many.
struct Activities<'a> {
    trace: &'a Trace,
    row: usize,
    nth: u32,
    left: usize,
}

impl Iterator for Activities<'_> {
    type Item = ActivityInfo;

    fn next(&mut self) -> Option<ActivityInfo> {
        loop {
            let row = self.trace.catalog.rows().get(self.row)?;
            if self.nth < row.count() {
                let number = row.first() + self.nth;
                self.nth += 1;
                self.left -= 1;
                return Some(self.trace.family.info(number));
            }
            self.row += 1;
            self.nth = 0;
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Activities<'_> {}
