//! The directory of a trace that is grouped by activity: the catalog and the family, as bytes.
//!
//! It precedes the streams, in sections of its own, so that opening a trace reads it and nothing else. A section can be
//! decoded without those before it: its header contains the number and the offset in the streams at which it begins.

use crate::{
    catalog::{Catalog, Last, MAX_START},
    entry::{Malformed, take_byte, take_hash, take_number, take_start, take_u32},
    family::{Children, Family, kept_name},
    layout::{GROUPED_SECTION, kind},
    section::Section,
};

/// The first byte of an entry: a block of numbers for children, or activities, with bits for the fields that follow.
const BLOCK: u8 = 0x01;
const ENDED: u8 = 0x02;
const COUNTED: u8 = 0x04;
const START: u8 = 0x08;
const MANY: u8 = 0x10;
const LENGTH: u8 = 0x20;

/// The decoded contents of the sections of a directory.
#[derive(Default)]
pub(crate) struct Directory {
    pub(crate) catalog: Catalog,
    pub(crate) family: Family,
    pub(crate) children: Vec<Children>,
    /// The number after the last one so far.
    next: u64,
}

impl Directory {
    /// Decodes a section.
    pub(crate) fn read(&mut self, section: &Section, payload: &[u8]) -> Result<(), Malformed> {
        if u64::from(section.activity) < self.next || section.position < self.catalog.end() {
            return Err("activities of the directory are not in order");
        }
        if section.position > MAX_START {
            return Err(TOO_LONG);
        }
        if section.position > self.catalog.end() {
            self.catalog.skip_to(section.activity, section.position);
        }
        self.next = section.activity.into();
        let mut rest = payload;
        while !rest.is_empty() {
            self.read_entry(&mut rest)?;
        }
        Ok(())
    }

    fn read_entry(&mut self, bytes: &mut &[u8]) -> Result<(), Malformed> {
        let form = take_byte(bytes)?;
        if form == BLOCK {
            let (parent, first, count) = (take_u32(bytes)?, take_u32(bytes)?, take_u32(bytes)?);
            let children = Children::new(parent, first.into(), count.into());
            self.children
                .push(children.ok_or("numbers of children that cannot be")?);
            return Ok(());
        }
        let has = |bit| form & bit != 0;
        let known = ENDED | COUNTED | START | MANY | LENGTH;
        if form & !known != 0 || has(ENDED) && has(COUNTED) || has(MANY) && has(START | LENGTH) {
            return Err("an unknown kind of entry in the directory");
        }
        let first = self.next + u64::from(take_u32(bytes)?);
        let count = if has(MANY) { take_u32(bytes)? } else { 1 };
        self.next = first + u64::from(count);
        if count == 0 || self.next > 1 << 32 {
            return Err("an activity with a number that cannot be");
        }
        let first = first as u32;
        if has(START) {
            let (origin, index, name) = take_start(bytes)?;
            self.family.add_start(first, origin, index, name)?;
        }
        let last = if has(ENDED) {
            Last::Ended {
                operations: take_u32(bytes)?,
                hash: take_hash(bytes)?,
            }
        } else if has(COUNTED) {
            Last::Counted {
                counter: take_u32(bytes)?,
                hash: take_hash(bytes)?,
            }
        } else {
            Last::Nothing
        };
        let length = if has(LENGTH) { take_number(bytes)? } else { 0 };
        if length > MAX_START - self.catalog.end() {
            return Err(TOO_LONG);
        }
        self.catalog.push(first, count, last, length, has(START));
        Ok(())
    }
}

const TOO_LONG: Malformed = "streams that are longer than streams can be";

/// Encodes the sections of a directory: the blocks, then the catalog with the starts. There is always at least one,
/// since it identifies a trace that is grouped by activity.
pub(crate) fn sections(catalog: &Catalog, family: &Family, children: &[Children]) -> Vec<Vec<u8>> {
    let mut directory = DirectoryEncoder::default();
    for block in children {
        directory.payload.push(BLOCK);
        for number in [block.parent, block.first, block.count] {
            directory.number(number.into());
        }
        directory.end_if_full();
    }
    for (index, row) in catalog.rows().iter().enumerate() {
        let range = catalog.range(index);
        let start = family.start(row.first());
        directory.activities(
            row.first(),
            row.count(),
            start,
            row.last(),
            range.end - range.start,
        );
        directory.end_if_full();
    }
    directory.end_section();
    directory.sections
}

#[derive(Default)]
struct DirectoryEncoder {
    sections: Vec<Vec<u8>>,
    payload: Vec<u8>,
    /// The number after the last one so far, and its offset in the streams.
    next: u64,
    offset: u64,
    /// The same for the beginning of the current section.
    begin: (u64, u64),
}

impl DirectoryEncoder {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.payload.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.payload.push(value as u8);
    }

    fn activities(
        &mut self,
        first: u32,
        count: u32,
        start: Option<(u64, u64, &str)>,
        last: Last,
        length: u64,
    ) {
        let bit = |condition, bit| if condition { bit } else { 0 };
        let known = match last {
            Last::Nothing => 0,
            Last::Ended { .. } => ENDED,
            Last::Counted { .. } => COUNTED,
        };
        self.payload.push(
            known | bit(start.is_some(), START) | bit(count > 1, MANY) | bit(length > 0, LENGTH),
        );
        self.number(u64::from(first) - self.next);
        if count > 1 {
            self.number(count.into());
        }
        if let Some((origin, index, name)) = start {
            // A name that was not UTF-8 was converted, which may have made it longer.
            let name = kept_name(name);
            self.number(origin);
            self.number(index);
            self.number(name.len() as u64);
            self.payload.extend_from_slice(name.as_bytes());
        }
        match last {
            Last::Nothing => {}
            Last::Ended {
                operations: number,
                hash,
            }
            | Last::Counted {
                counter: number,
                hash,
            } => {
                self.number(number.into());
                self.payload.extend_from_slice(&hash.to_le_bytes());
            }
        }
        if length > 0 {
            self.number(length);
        }
        self.next = u64::from(first) + u64::from(count);
        self.offset += length;
    }

    fn end_if_full(&mut self) {
        if self.payload.len() >= GROUPED_SECTION {
            self.end_section();
        }
    }

    /// Ends the current section. No number follows 2³² − 1, so no section begins after it.
    fn end_section(&mut self) {
        if self.payload.is_empty() && !self.sections.is_empty() {
            return;
        }
        let section = Section {
            kind: kind::DIRECTORY,
            sequence: self.sections.len() as u64,
            activity: self.begin.0 as u32,
            position: self.begin.1,
            ..Section::default()
        };
        self.sections.push(section.to_bytes(&self.payload));
        self.payload.clear();
        self.begin = (self.next, self.offset);
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use reenact_testing::generated;

    use super::*;
    use crate::layout::SECTION_HEADER;

    fn lasts() -> impl Strategy<Value = Last> {
        prop_oneof![
            Just(Last::Nothing),
            (0..3u32, any::<u32>()).prop_map(|(operations, hash)| Last::Ended { operations, hash }),
            (0..3u32, 0..2u32).prop_map(|(counter, hash)| Last::Counted { counter, hash }),
        ]
    }

    /// The rows of a catalog as text.
    fn contents(catalog: &Catalog, family: &Family) -> Vec<String> {
        let row = |(index, row): (usize, &crate::catalog::Row)| {
            format!(
                "{}+{} {:?} {:?} {:?}",
                row.first(),
                row.count(),
                row.last(),
                catalog.range(index),
                family.info(row.first())
            )
        };
        catalog.rows().iter().enumerate().map(row).collect()
    }

    proptest! {
        #![proptest_config(generated::config(256))]

        #[test]
        fn what_is_written_is_read(
            rows in vec((0..300u32, prop_oneof![Just(1u32), 1..100_000u32], lasts(), prop_oneof![Just(0u64), any::<u32>().prop_map(u64::from)], any::<bool>()), 0..80),
            blocks in vec((0..9u32, 0..100u64, 1..9u64), 0..5),
        ) {
            let mut catalog = Catalog::default();
            let mut family = Family::default();
            let mut next = 0;
            for (skip, count, last, length, started) in rows {
                let single = started || length > 0;
                let count = if single { 1 } else { count };
                let first = next + skip;
                if started {
                    family.add_start(first, 2, first.into(), "nämé".as_bytes()).unwrap();
                }
                catalog.push(first, count, last, length, started);
                next = first + count;
            }
            let mut blocks: Vec<_> = blocks.into_iter().filter_map(|(parent, first, count)| Children::new(parent, first, count)).collect();
            blocks.sort_by_key(|block| block.parent);
            family.set_blocks(&blocks);

            let sections = sections(&catalog, &family, &blocks);
            let mut read = Directory::default();
            for (sequence, bytes) in (0..).zip(&sections) {
                let (header, payload) = bytes.split_first_chunk::<SECTION_HEADER>().unwrap();
                let section = Section::parse(header).unwrap();
                prop_assert_eq!((section.verify(payload), section.sequence), (Ok(()), sequence));
                read.read(&section, payload).unwrap();
            }
            read.family.set_blocks(&read.children);
            read.catalog.index();
            catalog.index();
            for (row, index) in catalog.rows().iter().zip(0..) {
                let last = row.first() + (row.count() - 1);
                for number in [row.first(), last, row.first().wrapping_sub(1), last.wrapping_add(1), u32::MAX] {
                    let within = (row.first()..=last).contains(&number);
                    let found = read.catalog.find(number);
                    prop_assert_eq!(found == Some(index), within);
                    prop_assert_eq!(catalog.find(number), found);
                }
            }
            prop_assert_eq!(contents(&catalog, &family), contents(&read.catalog, &read.family));
            prop_assert_eq!(catalog.len(), read.catalog.len());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..100), activity: u32, position: u64) {
            let section = Section { activity, position, ..Section::of(kind::DIRECTORY) };
            let _ = Directory::default().read(&section, &bytes);
        }
    }

    #[test]
    fn a_section_that_is_missing_takes_only_its_own_activities_along() {
        let mut catalog = Catalog::default();
        for number in 0..100_000 {
            let last = Last::Counted {
                counter: number,
                hash: number,
            };
            catalog.push(number, 1, last, 3, false);
        }
        let sections = sections(&catalog, &Family::default(), &[]);
        assert!(sections.len() > 2);
        let mut read = Directory::default();
        for bytes in [&sections[0], &sections[2]] {
            let (header, payload) = bytes.split_first_chunk::<SECTION_HEADER>().unwrap();
            read.read(&Section::parse(header).unwrap(), payload)
                .unwrap();
        }
        read.catalog.index();
        let mut missing = 0;
        for number in 0..100_000 {
            match read.catalog.find(number) {
                Some(row) => {
                    let start = 3 * u64::from(number);
                    assert_eq!(read.catalog.range(row), start..start + 3);
                }
                None => missing += 1,
            }
        }
        assert!((10_000..60_000).contains(&missing), "{missing}");
    }
}
