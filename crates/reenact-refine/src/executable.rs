//! An executable file: its code and its debug information.

use std::{
    borrow::Cow,
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use gimli::{EndianSlice, LittleEndian, SectionId};
use memmap2::Mmap;
use object::{Object, ObjectSection};

/// How the sections of the debug information are read.
pub(crate) type Reader<'a> = EndianSlice<'a, LittleEndian>;
pub(crate) type Unit<'a> = gimli::Unit<Reader<'a>>;
pub(crate) type Entry<'a> = gimli::DebuggingInformationEntry<Reader<'a>>;

/// Why an executable cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExecutableError {
    /// It cannot be read.
    #[error("cannot read the executable {path}: {error}", path = path.display())]
    Read {
        /// The executable.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// It is not a file of the expected format.
    #[error("{path} is no executable for x86-64 Linux: {why}", path = path.display())]
    Format {
        /// The executable.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Its debug information cannot be understood.
    #[error("the debug information of the executable cannot be read: {0}")]
    DebugInformation(#[from] gimli::Error),
}

/// The bytes of an executable file.
pub struct ExecutableFile {
    path: PathBuf,
    bytes: Mmap,
}

impl ExecutableFile {
    /// Opens an executable file.
    pub fn open(path: &Path) -> Result<ExecutableFile, ExecutableError> {
        let failed = |error| ExecutableError::Read {
            path: path.to_owned(),
            error,
        };
        let file = File::open(path).map_err(failed)?;
        // SAFETY: The mapping is only read. If another process truncates the file meanwhile, this process ends; the same
        // holds for the program that runs from it.
        let bytes = unsafe { Mmap::map(&file) }.map_err(failed)?;
        Ok(ExecutableFile {
            path: path.to_owned(),
            bytes,
        })
    }

    /// Reads the tables of the file.
    pub fn read(&self) -> Result<Executable<'_>, ExecutableError> {
        let format = |error: object::Error| ExecutableError::Format {
            path: self.path.clone(),
            why: error.to_string(),
        };
        let file = object::File::parse(&*self.bytes).map_err(format)?;
        if file.architecture() != object::Architecture::X86_64 {
            return Err(ExecutableError::Format {
                path: self.path.clone(),
                why: format!("it is for {:?}", file.architecture()),
            });
        }
        let section = |id: SectionId| -> Result<Reader<'_>, ExecutableError> {
            let bytes = match file.section_by_name(id.name()) {
                Some(section) => section.uncompressed_data().map_err(format)?,
                None => Cow::Borrowed(&[][..]),
            };
            Ok(EndianSlice::new(keep(bytes), LittleEndian))
        };
        let dwarf = Arc::new(gimli::Dwarf::load(section)?);
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            units.push(dwarf.unit(header)?);
        }
        let frames = section(SectionId::EhFrame)?;
        let address = |name| {
            file.section_by_name(name)
                .map_or(0, |section| section.address())
        };
        let bases = gimli::BaseAddresses::default()
            .set_eh_frame(address(".eh_frame"))
            .set_eh_frame_hdr(address(".eh_frame_hdr"))
            .set_text(address(".text"))
            .set_got(address(".got"));
        let roots = roots(&units);
        Ok(Executable {
            file,
            roots,
            lines: addr2line::Context::from_arc_dwarf(Arc::clone(&dwarf))?,
            dwarf,
            units,
            frames: gimli::EhFrame::new(frames.slice(), LittleEndian),
            bases,
        })
    }
}

/// Returns bytes for the rest of the process: decompressed sections live as long as the file, which is read once.
fn keep(bytes: Cow<'_, [u8]>) -> &[u8] {
    match bytes {
        Cow::Borrowed(bytes) => bytes,
        Cow::Owned(bytes) => Vec::leak(bytes),
    }
}

/// Returns the directories in which the compiler was given relative paths: of those, the program itself knows no others.
fn roots(units: &[Unit<'_>]) -> Vec<String> {
    let root = |unit: &Unit<'_>| {
        let name = unit.name?.to_string_lossy();
        let directory = unit.comp_dir?.to_string_lossy();
        (!name.starts_with('/')).then(|| directory.into_owned())
    };
    let mut roots: Vec<_> = units.iter().filter_map(root).collect();
    // Of two that fit, the longer one.
    roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
    roots.dedup();
    roots
}

/// The tables of an executable file.
pub struct Executable<'a> {
    file: object::File<'a>,
    pub(crate) dwarf: Arc<gimli::Dwarf<Reader<'a>>>,
    lines: addr2line::Context<Reader<'a>>,
    /// The directories that paths in the source are relative to.
    roots: Vec<String>,
    pub(crate) units: Vec<Unit<'a>>,
    frames: gimli::EhFrame<Reader<'a>>,
    bases: gimli::BaseAddresses,
}

impl<'a> Executable<'a> {
    /// Returns the code from an address on, up to a length.
    pub(crate) fn code(&self, address: u64, length: u64) -> Option<&'a [u8]> {
        self.file
            .sections()
            .find_map(|section| section.data_range(address, length).ok().flatten())
    }

    /// Returns where the caller's frame begins at an address of the code: a register, by its DWARF number, and the offset
    /// from its value.
    pub(crate) fn frame(&self, address: u64) -> Option<(u8, i64)> {
        use gimli::UnwindSection;
        let mut context = gimli::UnwindContext::new();
        let row = self
            .frames
            .unwind_info_for_address(
                &self.bases,
                &mut context,
                address,
                gimli::EhFrame::cie_from_offset,
            )
            .ok()?;
        match row.cfa() {
            gimli::CfaRule::RegisterAndOffset { register, offset } => {
                Some((u8::try_from(register.0).ok()?, *offset))
            }
            gimli::CfaRule::Expression(_) => None,
        }
    }

    /// Returns the line of the source to which the instruction before an address belongs, as in `src/main.rs:3:5`.
    pub fn line_before(&self, address: u64) -> Option<String> {
        let location = self.lines.find_location(address.checked_sub(1)?).ok()??;
        let (file, line) = (location.file?, location.line?);
        let within = |root: &String| file.strip_prefix(&**root)?.strip_prefix('/');
        let file = self.roots.iter().find_map(within).unwrap_or(file);
        Some(match location.column {
            Some(column) => format!("{file}:{line}:{column}"),
            None => format!("{file}:{line}"),
        })
    }

    /// Returns a string attribute.
    pub(crate) fn text(
        &self,
        unit: &Unit<'a>,
        entry: &Entry<'a>,
        name: gimli::DwAt,
    ) -> Option<String> {
        let value = entry.attr_value(name)?;
        let text = self.dwarf.attr_string(unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    }

    /// Returns what an attribute refers to: the index of a unit, and the offset of an entry there.
    pub(crate) fn reference(
        &self,
        unit: usize,
        entry: &Entry<'a>,
        name: gimli::DwAt,
    ) -> Option<EntryId> {
        match entry.attr_value(name)? {
            gimli::AttributeValue::UnitRef(offset) => Some(EntryId {
                unit,
                offset: offset.0,
            }),
            gimli::AttributeValue::DebugInfoRef(offset) => {
                let at = |unit: &Unit<'a>| unit.header.offset().0;
                let index = self.units.partition_point(|unit| at(unit) <= offset.0);
                let unit = index.checked_sub(1)?;
                Some(EntryId {
                    unit,
                    offset: offset.0 - at(&self.units[unit]),
                })
            }
            _ => None,
        }
    }

    /// Returns an entry.
    pub(crate) fn entry(&self, id: EntryId) -> Option<Entry<'a>> {
        let unit = self.units.get(id.unit)?;
        unit.entry(gimli::UnitOffset(id.offset)).ok()
    }
}

/// An entry of the debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EntryId {
    /// The index of its unit.
    pub(crate) unit: usize,
    /// Its offset there.
    pub(crate) offset: usize,
}
