//! The activities of a trace, where their events are, and what is known of their last operations.
//!
//! There may be millions, most of which have no events: those with consecutive numbers and the same properties are one
//! row. A row takes 24 bytes, and about two more for the index: a binary search of all rows would touch many distant
//! places in memory.

use std::ops::Range;

use crate::entry::Run;

/// What is known of an activity besides its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    Nothing,
    /// It ended as part of a run. The end is then the first item of its stream, and its counter is irrelevant.
    Ended {
        operations: u32,
        hash: u32,
    },
    /// It had not ended; this was its counter.
    Counted {
        counter: u32,
        hash: u32,
    },
}

/// A counter that was found in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) activity: u32,
    pub(crate) counter: u32,
    pub(crate) hash: u32,
}

/// Activities with consecutive numbers and the same properties.
pub(crate) struct Row {
    /// Where their items begin; they end where those of the next row begin. The upper two bits say which variant `last`
    /// is.
    start: u64,
    first: u32,
    count: u32,
    counter: u32,
    hash: u32,
}

const ENDED: u64 = 1 << 62;
const COUNTED: u64 = 2 << 62;
/// Maximum value of `start` without the upper bits.
pub(crate) const MAX_START: u64 = ENDED - 1;

impl Row {
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    fn start(&self) -> u64 {
        self.start & MAX_START
    }

    pub(crate) fn last(&self) -> Last {
        let (number, hash) = (self.counter, self.hash);
        match self.start & !MAX_START {
            ENDED => Last::Ended {
                operations: number,
                hash,
            },
            COUNTED => Last::Counted {
                counter: number,
                hash,
            },
            _ => Last::Nothing,
        }
    }
}

/// The rows, ordered by number.
#[derive(Default)]
pub(crate) struct Catalog {
    rows: Vec<Row>,
    /// Where the items of the next row would begin.
    end: u64,
    activities: u64,
    /// Whether further activities may be merged into the last row.
    is_open: bool,
    /// How many rows begin below each multiple of a power of two.
    below: Vec<u32>,
    /// The exponent of that power.
    shift: u32,
}

/// Approximate number of rows for each entry of the index.
const ROWS_PER_STEP: usize = 2;

/// An activity that has items, and how long they are: in pieces or bytes.
pub(crate) struct StreamLength {
    pub(crate) activity: u32,
    pub(crate) length: u64,
    /// Whether its start is among them.
    pub(crate) started: bool,
}

impl Catalog {
    /// Merges activities that have items, counters or ends in runs, ordered by number.
    pub(crate) fn of(
        streams: impl Iterator<Item = StreamLength>,
        tails: &[Tail],
        runs: &[Run],
    ) -> Catalog {
        let mut catalog = Catalog::default();
        let mut streams = streams.peekable();
        let mut tails = tails.iter().peekable();
        let mut runs = runs.iter().copied();
        let mut run = runs.next();
        loop {
            let with_items = streams.peek().map(|streams| streams.activity);
            let counter = tails.peek().map(|tail| tail.activity);
            let next = with_items.into_iter().chain(counter).min();
            // The part of a run before the next activity that has something else is one row.
            if let Some(ended) = run
                && next.is_none_or(|next| ended.first < next)
            {
                let end = ended.end().min(next.map_or(u64::MAX, u64::from));
                let count = (end - u64::from(ended.first)) as u32;
                catalog.push(ended.first, count, ended_by(&ended), 0, false);
                run = after(ended, count).or_else(|| runs.next());
                continue;
            }
            let Some(activity) = next else {
                catalog.index();
                return catalog;
            };
            let stream = streams.next_if(|streams| streams.activity == activity);
            let tail = tails.next_if(|tail| tail.activity == activity);
            let last = if let Some(ended) = run.filter(|run| run.first == activity) {
                run = after(ended, 1).or_else(|| runs.next());
                ended_by(&ended)
            } else {
                tail.map_or(Last::Nothing, |tail| Last::Counted {
                    counter: tail.counter,
                    hash: tail.hash,
                })
            };
            let (length, started) =
                stream.map_or((0, false), |stream| (stream.length, stream.started));
            catalog.push(activity, 1, last, length, started);
        }
    }

    /// Adds activities with numbers above all others. Their items follow those of the others.
    pub(crate) fn push(&mut self, first: u32, count: u32, last: Last, length: u64, started: bool) {
        self.activities += u64::from(count);
        let joins = length == 0 && !started;
        if joins
            && self.is_open
            && let Some(row) = self.rows.last_mut()
            && u64::from(row.first) + u64::from(row.count) == first.into()
            && row.last() == last
            && let Some(sum) = row.count.checked_add(count)
        {
            row.count = sum;
            return;
        }
        let (flag, counter, hash) = match last {
            Last::Nothing => (0, 0, 0),
            Last::Ended { operations, hash } => (ENDED, operations, hash),
            Last::Counted { counter, hash } => (COUNTED, counter, hash),
        };
        self.rows.push(Row {
            start: self.end | flag,
            first,
            count,
            counter,
            hash,
        });
        self.end += length;
        self.is_open = joins;
    }

    /// Ends the items of the rows so far; those of further rows begin at `start`. No activity is known for the bytes in
    /// between.
    pub(crate) fn skip_to(&mut self, first: u32, start: u64) {
        self.push(first, 0, Last::Nothing, 0, true);
        self.end = start;
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// How many activities there are.
    pub(crate) fn len(&self) -> u64 {
        self.activities
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns where the items of this row are.
    pub(crate) fn range(&self, row: usize) -> Range<u64> {
        let end = self.rows.get(row + 1).map_or(self.end, Row::start);
        // After the last item there may be a gap.
        self.rows[row].start()..end
    }

    /// Builds the index for [`Catalog::find`]. No more rows are added afterwards.
    pub(crate) fn index(&mut self) {
        self.rows.shrink_to_fit();
        let highest = self.rows.last().map_or(0, |row| row.first);
        let steps = (self.rows.len() / ROWS_PER_STEP + 1) as u64;
        self.shift = (0..32)
            .find(|shift| u64::from(highest >> shift) < steps)
            .unwrap_or(31);
        self.below
            .reserve_exact((highest >> self.shift) as usize + 2);
        for (index, row) in (0..).zip(&self.rows) {
            let step = (row.first >> self.shift) as usize;
            while self.below.len() <= step {
                self.below.push(index);
            }
        }
        self.below.push(self.rows.len() as u32);
    }

    /// Returns the row of an activity.
    pub(crate) fn find(&self, activity: u32) -> Option<usize> {
        let step = (activity >> self.shift) as usize;
        let end = *self.below.get(step + 1).or(self.below.last())? as usize;
        let begin = self.below.get(step).map_or(end, |&begin| begin as usize);
        let row = begin + self.rows[begin..end].partition_point(|row| row.first <= activity);
        let row = row.checked_sub(1)?;
        (activity - self.rows[row].first < self.rows[row].count).then_some(row)
    }
}

fn ended_by(run: &Run) -> Last {
    Last::Ended {
        operations: run.operations,
        hash: run.hash,
    }
}

/// Returns the rest of a run after its first `count` activities.
fn after(run: Run, count: u32) -> Option<Run> {
    (count < run.count).then(|| Run {
        first: run.first + count,
        count: run.count - count,
        ..run
    })
}

/// Sorts the runs of many chunks and merges neighbours that ended alike. An activity that ended twice is an error: the
/// second part of the result is the place of the run that says so again.
pub(crate) fn in_order<P: Copy + Ord>(mut runs: Vec<(Run, P)>) -> (Vec<Run>, Option<P>) {
    runs.sort_by_key(|(run, place)| (run.first, *place));
    let mut sorted: Vec<Run> = Vec::new();
    let mut twice = None;
    for (mut run, place) in runs {
        if let Some(last) = sorted.last_mut() {
            if last.end() > run.first.into() {
                twice.get_or_insert(place);
                let known = (last.end() - u64::from(run.first)) as u32;
                match after(run, known) {
                    Some(rest) => run = rest,
                    None => continue,
                }
            }
            let alike = (last.operations, last.hash) == (run.operations, run.hash);
            if alike
                && last.end() == run.first.into()
                && let Some(sum) = last.count.checked_add(run.count)
            {
                last.count = sum;
                continue;
            }
        }
        sorted.push(run);
    }
    (sorted, twice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u32, count: u32, operations: u32) -> Run {
        Run {
            first,
            count,
            operations,
            hash: 7,
        }
    }

    /// The rows as text: numbers, range, what is known.
    fn rows(catalog: &Catalog) -> Vec<String> {
        (0..catalog.rows.len())
            .map(|row| {
                let Row { first, count, .. } = catalog.rows[row];
                let last = match catalog.rows[row].last() {
                    Last::Nothing => "nothing".to_owned(),
                    Last::Ended { operations, .. } => format!("ended {operations}"),
                    Last::Counted { counter, .. } => format!("counted {counter}"),
                };
                format!("{first}+{count} {:?} {last}", catalog.range(row))
            })
            .collect()
    }

    #[test]
    fn whoever_has_more_to_be_said_of_divides_a_run() {
        let streams = [(3, 10, true), (12, 5, false), (13, 0, true)];
        let streams = streams.map(|(activity, length, started)| StreamLength {
            activity,
            length,
            started,
        });
        let tails = [(12, 4), (20, 0), (21, 0), (22, 1)].map(|(activity, counter)| Tail {
            activity,
            counter,
            hash: 0,
        });
        let catalog = Catalog::of(
            streams.into_iter(),
            &tails,
            &[run(2, 9, 1), run(13, 1, 2), run(14, 3, 2)],
        );
        assert_eq!(
            rows(&catalog),
            [
                "2+1 0..0 ended 1",
                "3+1 0..10 ended 1",
                "4+7 10..10 ended 1",
                "12+1 10..15 counted 4",
                "13+1 15..15 ended 2",
                "14+3 15..15 ended 2",
                "20+2 15..15 counted 0",
                "22+1 15..15 counted 1",
            ]
        );
        assert_eq!(catalog.len(), 17);
        for (activity, row) in [
            (2, Some(0)),
            (10, Some(2)),
            (11, None),
            (21, Some(6)),
            (0, None),
        ] {
            assert_eq!(catalog.find(activity), row, "{activity}");
        }
        assert_eq!(catalog.find(u32::MAX), None);
    }

    #[test]
    fn neighbours_that_ended_alike_are_one_run() {
        let runs = vec![(run(10, 5, 1), 0), (run(0, 10, 1), 1), (run(15, 1, 2), 2)];
        assert_eq!(in_order(runs), (vec![run(0, 15, 1), run(15, 1, 2)], None));
    }

    #[test]
    fn an_activity_that_ended_twice_is_noticed() {
        let runs = vec![(run(0, 10, 1), 0), (run(8, 5, 2), 1), (run(3, 2, 2), 2)];
        assert_eq!(
            in_order(runs),
            (vec![run(0, 10, 1), run(10, 3, 2)], Some(2))
        );
    }
}
