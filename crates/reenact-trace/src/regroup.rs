//! Grouping a trace by activity, after recording has ended.
//!
//! Chunks contain the events of threads, so that reading one activity requires many chunks. Grouping writes a new file
//! in which every activity's items are contiguous, with a directory before them; the new file then replaces the old
//! one. It reads the chunks twice: once to compute the length of each stream, and once to copy the bytes. It keeps a
//! few words in memory for each activity and each piece of data.
//!
//! If it fails for any reason, the trace stays as it was: it can be read in chunks too.

mod data;
mod merge;
mod output;
mod speakers;

use std::{io, path::Path};

use crate::{
    catalog::{Catalog, Last, Spoken, in_order},
    contents::Contents,
    directory,
    entry::Run,
    family::{Children, Family},
    layout::GROUPED_SECTION,
    writer::beginning,
};

use data::OrderedData;
use merge::{Listener, Said, merge};
use output::Output;
use speakers::{Speaker, Speakers};

/// The trace stays in chunks. The reason does not matter: it is damaged, or there is no disk space for another file.
pub(crate) struct Unfit;

impl From<io::Error> for Unfit {
    fn from(_: io::Error) -> Unfit {
        Unfit
    }
}

/// Replaces the trace at `path` by one that is grouped by activity, of the same version. `end` returns its last
/// sections, given the number of those before. On failure, the trace is unchanged.
pub(crate) fn regroup(
    path: &Path,
    contents: &Contents,
    end: impl FnOnce(u64) -> Vec<u8>,
) -> Result<(), Unfit> {
    if contents.version == 1 || contents.damage.is_some() {
        return Err(Unfit);
    }
    let mut speakers = Speakers::default();
    let mut survey = Survey::default();
    merge(contents, &mut speakers, &mut survey)?;
    let catalog = survey.catalog(contents, &speakers)?;
    drop(speakers);

    // Starts again from the beginning. From here on, a speaker's mark is where its next items go.
    let mut speakers = Speakers::default();
    for (index, row) in catalog.rows().iter().enumerate() {
        let range = catalog.range(index);
        if !range.is_empty() {
            speakers.get(row.first()).mark = range.start;
        }
    }
    let data = OrderedData::survey(contents)?;
    let directory = directory::sections(&catalog, &survey.family, &survey.children);
    let before = [
        beginning(&contents.program, contents.version),
        directory.concat(),
    ]
    .concat();
    let first_streams = directory.len() as u64;
    let first_data = first_streams + catalog.end().div_ceil(GROUPED_SECTION as u64);
    let end = end(first_data + data.sections);
    let mut output = Output::create(path, &before, catalog.end(), data.length, &end)?;
    merge(contents, &mut speakers, &mut Placing(&mut output))?;
    data.place(contents, &mut output, first_data)?;
    output.finish(first_streams)?;
    Ok(())
}

/// The first pass. A speaker's mark is the length of its items in bytes.
#[derive(Default)]
struct Survey {
    family: Family,
    children: Vec<Children>,
    runs: Vec<(Run, ())>,
}

impl Listener for Survey {
    fn hear(&mut self, activity: u32, speaker: &mut Speaker, said: Said<'_>) -> Result<(), Unfit> {
        match said {
            Said::Items(bytes) => speaker.mark += bytes.len() as u64,
            Said::Start {
                origin,
                index,
                name,
            } => {
                // A name that is not UTF-8 would be changed by the directory.
                str::from_utf8(name).map_err(|_| Unfit)?;
                self.family
                    .add_start(activity, origin, index, name)
                    .map_err(|_| Unfit)?;
            }
            Said::Children(children) => self.children.push(children),
        }
        Ok(())
    }

    fn hear_run(&mut self, run: Run) -> Result<(), Unfit> {
        self.runs.push((run, ()));
        Ok(())
    }
}

impl Survey {
    fn catalog(&mut self, contents: &Contents, speakers: &Speakers) -> Result<Catalog, Unfit> {
        // The blocks of one parent were heard in its order; the sort is stable.
        self.children.sort_by_key(|children| children.parent);
        self.family.set_blocks(&self.children);
        let (runs, twice) = in_order(std::mem::take(&mut self.runs));
        if twice.is_some() {
            return Err(Unfit);
        }
        let spoken = speakers.in_order().map(|(activity, speaker)| Spoken {
            activity,
            length: speaker.mark,
            started: self.family.has_start(activity),
        });
        let catalog = Catalog::of(spoken, &contents.tails, &runs);
        // A quiet end must be the only item of an activity.
        let contradicts = |(index, row): (usize, &crate::catalog::Row)| {
            matches!(row.last(), Last::Ended { .. }) && !catalog.range(index).is_empty()
        };
        if catalog.rows().iter().enumerate().any(contradicts) {
            return Err(Unfit);
        }
        Ok(catalog)
    }
}

/// The second pass.
struct Placing<'a>(&'a mut Output);

impl Listener for Placing<'_> {
    fn hear(&mut self, _: u32, speaker: &mut Speaker, said: Said<'_>) -> Result<(), Unfit> {
        if let Said::Items(bytes) = said {
            self.0.put(speaker.mark, bytes)?;
            speaker.mark += bytes.len() as u64;
        }
        Ok(())
    }

    fn hear_run(&mut self, _: Run) -> Result<(), Unfit> {
        Ok(())
    }
}
