//! Reading a trace: an index of where each activity's events are, and streams over them.
//!
//! A trace that was grouped by activity has its index in it: the directory, which opening reads. What stays in memory is
//! 24 bytes per activity or less, and a stream holds a small part of its bytes. A trace in chunks is indexed when it is
//! opened, by the headers of sections and the inside of only those chunks that speak of several activities or hold data;
//! what stays in memory are 24 bytes per piece, and 32 per piece of data. One whose recording was cut off is read together
//! with its live file, without changing either.

mod data;
mod events;
mod grouped;
mod pieces;

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use events::EventStream;

use crate::{
    catalog::{Catalog, Last},
    contents::Contents,
    data::DataSummary,
    error::{Damage, TraceError},
    family::{ActivityInfo, Family},
    program::{Exit, Program, Stop},
};

use data::OrderedData;
use grouped::Streams;
use pieces::Pieces;

/// A trace that has been opened.
pub struct Trace {
    path: PathBuf,
    version: u16,
    file: File,
    program: Program,
    catalog: Catalog,
    family: Family,
    form: Form,
    exit: Option<Exit>,
    stop: Option<Stop>,
    complete: bool,
    damage: Option<Damage>,
    size: u64,
}

/// How the trace has what activities said.
enum Form {
    /// In the chunks that threads wrote. The catalog's ranges are of pieces.
    Chunks(Pieces),
    /// By activity. The catalog's ranges are of bytes.
    Grouped(Streams, OrderedData),
}

/// With more activities than this, the buffers of their streams are small.
const MANY: u64 = 1000;

impl Trace {
    /// Opens the trace at `path`, and what is left of its live file.
    pub fn open(path: &Path) -> Result<Trace, TraceError> {
        let mut contents = Contents::read(path)?;
        let (catalog, family, form) = match contents.grouped.take() {
            Some(grouped) => (
                grouped.directory.catalog,
                grouped.directory.family,
                Form::Grouped(
                    Streams::new(grouped.streams),
                    OrderedData::new(grouped.data),
                ),
            ),
            None => {
                let (pieces, catalog, family) = Pieces::index(path, &mut contents)?;
                (catalog, family, Form::Chunks(pieces))
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

    /// The file it was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The program that was recorded.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How the process ended, if someone was there to see it.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Why recording ended before the program, if it did.
    pub fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Whether everything that was recorded is here. If not, the file has been cut.
    pub fn is_complete(&self) -> bool {
        self.complete && self.damage.is_none()
    }

    /// Where the file stops making sense, if it does.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Bytes of the trace file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The activities, by number: those that said something, ended, or had a counter when the recording ended.
    pub fn activities(&self) -> impl ExactSizeIterator<Item = ActivityInfo> {
        Activities {
            trace: self,
            row: 0,
            nth: 0,
            left: self.catalog.len() as usize,
        }
    }

    /// The activity with this number.
    pub fn activity(&self, number: u32) -> Option<ActivityInfo> {
        self.catalog.find(number).map(|_| self.family.info(number))
    }

    /// The activity's place in the family tree, as in `main.2.a0`: the first child of main's third, and one whose number
    /// is from a block, which are counted by themselves. `?7` if nothing is known of where activity 7 comes from.
    pub fn family_name(&self, number: u32) -> String {
        self.family.name(number)
    }

    /// The events of an activity, from its first; nothing but [`Item::Cut`](crate::Item::Cut) for one that the trace does
    /// not know.
    pub fn events(self: &Arc<Self>, activity: u32) -> EventStream {
        let (range, last) = match self.catalog.find(activity) {
            Some(row) => (self.catalog.range(row), self.catalog.rows()[row].last()),
            None => (0..0, Last::Nothing),
        };
        EventStream::new(Arc::clone(self), range, last)
    }

    /// The data with this id, which an event has given.
    pub fn data(&self, id: u64) -> Result<Arc<[u8]>, TraceError> {
        let found = match &self.form {
            Form::Chunks(pieces) => pieces.read_data(self, id),
            Form::Grouped(_, data) => data.read(self, id),
        };
        match (found, &self.damage) {
            (Ok(Some(bytes)), _) => Ok(bytes.into()),
            // They may have been where something is wrong.
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

    /// How many data the trace has, and how long they are. Costs little.
    pub fn data_summary(&self) -> DataSummary {
        match &self.form {
            Form::Chunks(pieces) => pieces.data_summary(),
            Form::Grouped(_, data) => data.summary(),
        }
    }

    /// Verifies every checksum, decodes every event and puts all data together; the first thing that is wrong.
    pub fn check(self: &Arc<Self>, mut progress: impl FnMut(u64)) -> Result<(), TraceError> {
        if let Some(damage) = &self.damage {
            return Err(self.damaged(damage.clone()));
        }
        for (index, row) in self.catalog.rows().iter().enumerate() {
            // What is known of the others was checked on opening.
            if self.catalog.range(index).is_empty() {
                continue;
            }
            for item in self.events(row.first()) {
                item?;
                progress(1);
            }
        }
        match &self.form {
            // Opening has looked at all the data.
            Form::Chunks(_) => Ok(()),
            Form::Grouped(_, data) => data.check(self),
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

    /// How many bytes a stream may hold at a time.
    fn buffer_size(&self) -> usize {
        if self.catalog.len() > MANY {
            2 << 10
        } else {
            16 << 10
        }
    }
}

/// The activities of a trace, of which a row of the catalog may have many.
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
