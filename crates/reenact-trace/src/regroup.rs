//! Grouping a trace by activity, after recording has ended.
//!
//! Chunks contain the events of threads, so that reading one activity requires many chunks. Grouping writes a new file
//! in which every activity's items are contiguous, with a directory before them; the new file then replaces the old
//! one. It reads the chunks twice: once to compute the length of each stream, and once to copy the bytes. It keeps a
//! few words in memory for each activity and each piece of data.
//!
//! If it fails for any reason, the trace stays as it was: it can be read in chunks too.

mod activities;
mod data;
mod merge;
mod output;

use std::{io, path::Path};

use crate::{
    catalog::{Catalog, Last, StreamLength, in_order},
    contents::Contents,
    directory,
    entry::Run,
    family::{Children, Family},
    layout::GROUPED_SECTION,
    writer::beginning,
};

use activities::{Activities, Activity};
use data::UnorderedData;
use merge::{Content, Visitor, merge};
use output::RegroupedFile;

/// The trace stays in chunks. The reason does not matter: it is damaged, or there is no disk space for another file.
pub(crate) struct NotRegrouped;

impl From<io::Error> for NotRegrouped {
    fn from(_: io::Error) -> NotRegrouped {
        NotRegrouped
    }
}

/// Replaces the trace at `path` by one that is grouped by activity, of the same version. `end` returns its last
/// sections, given the number of those before. On failure, the trace is unchanged.
pub(crate) fn regroup(
    path: &Path,
    contents: &Contents,
    end: impl FnOnce(u64) -> Vec<u8>,
) -> Result<(), NotRegrouped> {
    if contents.version == 1 || contents.damage.is_some() {
        return Err(NotRegrouped);
    }
    let mut activities = Activities::default();
    let mut survey = Measure::default();
    merge(contents, &mut activities, &mut survey)?;
    let catalog = survey.catalog(contents, &activities)?;
    drop(activities);

    // Starts again from the beginning. From here on, an activity's mark is where its next items go.
    let mut activities = Activities::default();
    for (index, row) in catalog.rows().iter().enumerate() {
        let range = catalog.range(index);
        if !range.is_empty() {
            activities.get(row.first()).mark = range.start;
        }
    }
    let data = UnorderedData::survey(contents)?;
    let directory = directory::sections(&catalog, &survey.family, &survey.children);
    let before = [
        beginning(&contents.program, contents.version),
        directory.concat(),
    ]
    .concat();
    let first_streams = directory.len() as u64;
    let first_data = first_streams + catalog.end().div_ceil(GROUPED_SECTION as u64);
    let end = end(first_data + data.sections);
    let mut output = RegroupedFile::create(path, &before, catalog.end(), data.length, &end)?;
    merge(contents, &mut activities, &mut Copy(&mut output))?;
    data.place(contents, &mut output, first_data)?;
    output.finish(first_streams)?;
    Ok(())
}

/// The first pass. An activity's mark is the length of its items in bytes.
#[derive(Default)]
struct Measure {
    family: Family,
    children: Vec<Children>,
    runs: Vec<(Run, ())>,
}

impl Visitor for Measure {
    fn visit(
        &mut self,
        activity: u32,
        state: &mut Activity,
        content: Content<'_>,
    ) -> Result<(), NotRegrouped> {
        match content {
            Content::Items(bytes) => state.mark += bytes.len() as u64,
            Content::Start {
                origin,
                index,
                name,
            } => {
                // A name that is not UTF-8 would be changed by the directory.
                str::from_utf8(name).map_err(|_| NotRegrouped)?;
                self.family
                    .add_start(activity, origin, index, name)
                    .map_err(|_| NotRegrouped)?;
            }
            Content::Children(children) => self.children.push(children),
        }
        Ok(())
    }

    fn visit_run(&mut self, run: Run) -> Result<(), NotRegrouped> {
        self.runs.push((run, ()));
        Ok(())
    }
}

impl Measure {
    fn catalog(
        &mut self,
        contents: &Contents,
        activities: &Activities,
    ) -> Result<Catalog, NotRegrouped> {
        // The blocks of one parent were heard in its order; the sort is stable.
        self.children.sort_by_key(|children| children.parent);
        self.family.set_blocks(&self.children);
        let (runs, twice) = in_order(std::mem::take(&mut self.runs));
        if twice.is_some() {
            return Err(NotRegrouped);
        }
        let streams = activities.in_order().map(|(activity, state)| StreamLength {
            activity,
            length: state.mark,
            started: self.family.has_start(activity),
        });
        let catalog = Catalog::of(streams, &contents.tails, &runs);
        // A quiet end must be the only item of an activity.
        let contradicts = |(index, row): (usize, &crate::catalog::Row)| {
            matches!(row.last(), Last::Ended { .. }) && !catalog.range(index).is_empty()
        };
        if catalog.rows().iter().enumerate().any(contradicts) {
            return Err(NotRegrouped);
        }
        Ok(catalog)
    }
}

/// The second pass.
struct Copy<'a>(&'a mut RegroupedFile);

impl Visitor for Copy<'_> {
    fn visit(
        &mut self,
        _: u32,
        state: &mut Activity,
        content: Content<'_>,
    ) -> Result<(), NotRegrouped> {
        if let Content::Items(bytes) = content {
            self.0.put(state.mark, bytes)?;
            state.mark += bytes.len() as u64;
        }
        Ok(())
    }

    fn visit_run(&mut self, _: Run) -> Result<(), NotRegrouped> {
        Ok(())
    }
}
