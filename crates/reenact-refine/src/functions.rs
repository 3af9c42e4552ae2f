//! The functions of an executable, as far as its debug information describes them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use gimli::{
    AttributeValue, DW_AT_abstract_origin, DW_AT_decl_file, DW_AT_decl_line, DW_AT_frame_base,
    DW_AT_linkage_name, DW_AT_location, DW_AT_low_pc, DW_AT_name, DW_AT_ranges,
    DW_AT_specification, DW_TAG_formal_parameter, DW_TAG_inlined_subroutine, DW_TAG_namespace,
    DW_TAG_subprogram,
};

use crate::{
    executable::{Entry, EntryId, Executable},
    location::{self, Frame, Piece},
    types::{TypeId, Types, children, number},
};

/// A function, as the source declares it.
#[derive(Clone, Debug)]
struct Declaration {
    id: EntryId,
    name: String,
    line: Option<(String, u64)>,
}

/// A function that exists in the executable.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The file and the line of its declaration.
    pub(crate) line: Option<(String, u64)>,
    /// The addresses of its code.
    pub(crate) ranges: Vec<(u64, u64)>,
    /// Where it begins, and its parameters can be read.
    pub(crate) entry: u64,
    /// The caller's frame at its entry.
    pub(crate) caller: Option<(u8, i64)>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: TypeId,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) ty: TypeId,
    /// Where its value is at the entry; `None` if the location is of an unknown kind.
    pub(crate) pieces: Option<Vec<Piece>>,
}

/// The functions that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    pub(crate) all: Vec<Function>,
    /// How many copies of such functions are part of others, where they cannot be told apart.
    pub(crate) inlined: usize,
    /// Whether the debug information describes parameters at all.
    pub(crate) has_parameters: bool,
    /// The crates of the executable.
    pub(crate) crates: BTreeSet<String>,
}

/// Finds the functions whose paths begin with one of these, such as `my_crate` or `my_crate::parser`.
pub(crate) fn find<'a>(
    executable: &Executable<'a>,
    types: &mut Types<'a, '_>,
    paths: &[String],
) -> Result<Functions, gimli::Error> {
    let mut found = Functions::default();
    let declared = declarations(executable, paths, &mut found.crates)?;
    for (unit, _) in executable.units.iter().enumerate() {
        let mut concrete = Vec::new();
        let mut cursor = executable.units[unit].entries();
        while let Some(entry) = cursor.next_dfs()? {
            let is_function = entry.tag() == DW_TAG_subprogram;
            if !is_function && entry.tag() != DW_TAG_inlined_subroutine {
                continue;
            }
            let Some(declaration) = declaration_of(executable, unit, entry, &declared) else {
                continue;
            };
            match is_function {
                true if entry.has_attr(DW_AT_low_pc) || entry.has_attr(DW_AT_ranges) => {
                    concrete.push((entry.clone(), declaration));
                }
                true => {}
                false => found.inlined += 1,
            }
        }
        if concrete.is_empty() {
            continue;
        }
        let prologues = prologues(executable, unit)?;
        for (entry, declaration) in concrete {
            let function = read(executable, types, unit, &entry, declaration, &prologues)?;
            if let Some(function) = function {
                found.has_parameters |= !function.parameters.is_empty();
                found.all.push(function);
            }
        }
    }
    // Identical functions may share their code.
    let mut entries = HashSet::new();
    found
        .all
        .sort_by(|a, b| (a.entry, &a.name).cmp(&(b.entry, &b.name)));
    found.all.retain(|function| entries.insert(function.entry));
    Ok(found)
}

/// Returns the declarations of the functions with these paths, and notes the crates that there are.
fn declarations(
    executable: &Executable<'_>,
    paths: &[String],
    crates: &mut BTreeSet<String>,
) -> Result<HashMap<EntryId, Declaration>, gimli::Error> {
    let mut all = HashMap::new();
    for (index, unit) in executable.units.iter().enumerate() {
        // The names of the entries around the current one, with their depths.
        let mut around: Vec<(isize, String)> = Vec::new();
        let mut files = BTreeMap::new();
        let mut cursor = unit.entries();
        while let Some(entry) = cursor.next_dfs()? {
            let depth = entry.depth();
            while around.last().is_some_and(|(outer, _)| *outer >= depth) {
                around.pop();
            }
            let is_function = entry.tag() == DW_TAG_subprogram;
            let name = match entry.has_children() || is_function {
                true => executable.text(unit, entry, DW_AT_name),
                false => None,
            };
            let Some(name) = name else { continue };
            if around.is_empty() && entry.tag() == DW_TAG_namespace {
                crates.insert(name.clone());
            }
            if is_function && !around.is_empty() {
                let mut path = String::new();
                for (_, name) in &around {
                    path += name;
                    path += "::";
                }
                path += &name;
                if paths.iter().any(|wanted| is_below(&path, wanted)) {
                    let id = EntryId {
                        unit: index,
                        offset: entry.offset().0,
                    };
                    let linkage = executable.text(unit, entry, DW_AT_linkage_name);
                    let name = linkage.map(|name| format!("{:#}", rustc_demangle::demangle(&name)));
                    let file = number(entry, DW_AT_decl_file);
                    let file = file.and_then(|file| {
                        let known = files
                            .entry(file)
                            .or_insert_with(|| file_name(executable, index, file));
                        known.clone()
                    });
                    let declaration = Declaration {
                        id,
                        name: name.unwrap_or(path),
                        line: file.zip(number(entry, DW_AT_decl_line)),
                    };
                    all.insert(id, declaration);
                }
            }
            // The unit itself is no part of a path.
            if depth > 0 && entry.has_children() {
                around.push((depth, name));
            }
        }
    }
    Ok(all)
}

/// Whether a path is the wanted one or below it.
fn is_below(path: &str, wanted: &str) -> bool {
    let rest = path.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::") || rest.starts_with('<'))
}

/// Returns the declaration that a function or an inlined copy refers to, directly or not.
fn declaration_of<'d>(
    executable: &Executable<'_>,
    unit: usize,
    entry: &Entry<'_>,
    declared: &'d HashMap<EntryId, Declaration>,
) -> Option<&'d Declaration> {
    let mut id = EntryId {
        unit,
        offset: entry.offset().0,
    };
    for _ in 0..4 {
        if let Some(declaration) = declared.get(&id) {
            return Some(declaration);
        }
        let entry = executable.entry(id)?;
        let reference = |name| executable.reference(id.unit, &entry, name);
        id = reference(DW_AT_abstract_origin).or_else(|| reference(DW_AT_specification))?;
    }
    None
}

/// Returns the path of a source file.
fn file_name(executable: &Executable<'_>, unit: usize, file: u64) -> Option<String> {
    let unit = &executable.units[unit];
    let program = unit.line_program.as_ref()?;
    let header = program.header();
    let entry = header.file(file)?;
    let text = |value: AttributeValue<_>| {
        let text = executable.dwarf.attr_string(unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    };
    let name = text(entry.path_name())?;
    match entry.directory(header).and_then(text) {
        Some(directory) if entry.directory_index() != 0 && !name.starts_with('/') => {
            Some(format!("{directory}/{name}"))
        }
        _ => Some(name),
    }
}

/// Returns the addresses at which functions have set up their frames.
fn prologues(executable: &Executable<'_>, unit: usize) -> Result<BTreeSet<u64>, gimli::Error> {
    let mut all = BTreeSet::new();
    if let Some(program) = executable.units[unit].line_program.clone() {
        let mut rows = program.rows();
        while let Some((_, row)) = rows.next_row()? {
            if row.prologue_end() {
                all.insert(row.address());
            }
        }
    }
    Ok(all)
}

fn read<'a>(
    executable: &Executable<'a>,
    types: &mut Types<'a, '_>,
    unit: usize,
    entry: &Entry<'a>,
    declaration: &Declaration,
    prologues: &BTreeSet<u64>,
) -> Result<Option<Function>, gimli::Error> {
    let this = &executable.units[unit];
    let mut ranges = Vec::new();
    let mut all = executable.dwarf.die_ranges(this, entry)?;
    while let Some(range) = all.next()? {
        ranges.push((range.begin, range.end));
    }
    let Some(&(begin, end)) = ranges.first() else {
        return Ok(None);
    };
    if begin == 0 {
        // Code that the linker has left out.
        return Ok(None);
    }
    let id = EntryId {
        unit,
        offset: entry.offset().0,
    };
    let parameters: Vec<_> = children(executable, id)
        .into_iter()
        .filter(|child| child.tag() == DW_TAG_formal_parameter)
        .collect();
    // Code that is not optimised stores its parameters first, and describes only where they are then.
    let is_stored = |entry: &Entry<'a>| {
        matches!(
            entry.attr_value(DW_AT_location),
            Some(AttributeValue::Exprloc(_))
        )
    };
    let entry_point = match parameters.iter().any(is_stored) {
        true => prologues
            .range(begin + 1..end)
            .next()
            .copied()
            .unwrap_or(begin),
        false => begin,
    };
    let caller = executable.frame(entry_point);
    let base = entry
        .attr_value(DW_AT_frame_base)
        .and_then(|location| location::base(location, this, caller));
    let frame = Frame { base, caller };
    let origin = |entry: &Entry<'a>| {
        let id = executable.reference(unit, entry, DW_AT_abstract_origin)?;
        Some((id, executable.entry(id)?))
    };
    let parameters = parameters.into_iter().map(|parameter| {
        let (described_in, described) = match origin(&parameter) {
            Some((id, entry)) => (id.unit, entry),
            None => (unit, parameter.clone()),
        };
        let name = executable.text(&executable.units[described_in], &described, DW_AT_name);
        let location = parameter.attr_value(DW_AT_location);
        Parameter {
            name: name.unwrap_or_else(|| "_".to_owned()),
            ty: types.of(described_in, &described),
            pieces: match location {
                Some(location) => location::pieces(executable, this, location, entry_point, frame),
                None => Some(vec![Piece {
                    size: 0,
                    place: location::Place::Nowhere,
                }]),
            },
        }
    });
    let parameters = parameters.collect();
    let declared = executable.entry(declaration.id);
    let result = match declared {
        Some(declared) => types.of(declaration.id.unit, &declared),
        None => Types::UNIT,
    };
    Ok(Some(Function {
        name: declaration.name.clone(),
        line: declaration.line.clone(),
        ranges,
        entry: entry_point,
        caller,
        parameters,
        result,
    }))
}
