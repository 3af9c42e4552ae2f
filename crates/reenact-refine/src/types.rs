//! The types of values, as the debug information describes them.

use std::collections::HashMap;

use gimli::{
    AttributeValue, DW_AT_byte_size, DW_AT_const_value, DW_AT_count, DW_AT_data_member_location,
    DW_AT_discr, DW_AT_discr_value, DW_AT_encoding, DW_AT_name, DW_AT_type, DW_AT_upper_bound,
    DW_TAG_enumerator, DW_TAG_member, DW_TAG_subrange_type, DW_TAG_variant,
};

use crate::executable::{Entry, EntryId, Executable};

/// A type, by its index in [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TypeId(usize);

/// What a type is.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    /// As in `alloc::vec::Vec<u32, alloc::alloc::Global>`, without the path of a type that is not a parameter.
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) shape: Shape,
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A number, a `bool` or a `char`.
    Base(gimli::DwAte),
    /// A reference or a pointer.
    Pointer(Option<TypeId>),
    Struct(Struct),
    /// A `union`.
    Union,
    /// An enum whose variants have data.
    Enum(Enum),
    /// An enum whose variants have no data: values and names.
    Names(Vec<(u64, String)>),
    Array {
        element: TypeId,
        count: u64,
    },
    /// Something that is not described.
    Unknown,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Struct {
    pub(crate) fields: Vec<Field>,
    /// The type parameters.
    pub(crate) parameters: Vec<TypeId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) offset: u64,
    pub(crate) ty: TypeId,
}

#[derive(Clone, Debug)]
pub(crate) struct Enum {
    /// What says which variant it is; `None` if there is only one.
    pub(crate) tag: Option<Field>,
    pub(crate) variants: Vec<Variant>,
}

#[derive(Clone, Debug)]
pub(crate) struct Variant {
    /// The tag of this variant; `None` for the one of all other tags.
    pub(crate) tag: Option<u64>,
    pub(crate) field: Field,
}

/// All types that have been asked for.
pub(crate) struct Types<'a, 'e> {
    executable: &'e Executable<'a>,
    known: HashMap<EntryId, TypeId>,
    all: Vec<Type>,
}

impl<'a, 'e> Types<'a, 'e> {
    pub(crate) fn new(executable: &'e Executable<'a>) -> Self {
        Types {
            executable,
            known: HashMap::new(),
            all: vec![Type {
                name: "()".to_owned(),
                size: 0,
                shape: Shape::Struct(Struct::default()),
            }],
        }
    }

    /// The type of what has none in the debug information.
    pub(crate) const UNIT: TypeId = TypeId(0);

    pub(crate) fn get(&self, id: TypeId) -> &Type {
        &self.all[id.0]
    }

    /// Returns the type that an entry says it has.
    pub(crate) fn of(&mut self, unit: usize, entry: &Entry<'a>) -> TypeId {
        match self.executable.reference(unit, entry, DW_AT_type) {
            Some(id) => self.load(id),
            None => Types::UNIT,
        }
    }

    /// Returns the type that is described by this entry.
    fn load(&mut self, id: EntryId) -> TypeId {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        // Types may be recursive, so the type is known before it is complete.
        let index = TypeId(self.all.len());
        self.known.insert(id, index);
        self.all.push(Type {
            name: "?".to_owned(),
            size: 0,
            shape: Shape::Unknown,
        });
        if let Some(entry) = self.executable.entry(id) {
            self.all[index.0] = self.read(id, &entry);
        }
        index
    }

    fn read(&mut self, id: EntryId, entry: &Entry<'a>) -> Type {
        let executable = self.executable;
        let unit = &executable.units[id.unit];
        let name = executable.text(unit, entry, DW_AT_name).unwrap_or_default();
        let size = number(entry, DW_AT_byte_size);
        let shape = match entry.tag() {
            gimli::DW_TAG_base_type => match entry.attr_value(DW_AT_encoding) {
                Some(AttributeValue::Encoding(encoding)) => Shape::Base(encoding),
                _ => Shape::Unknown,
            },
            gimli::DW_TAG_pointer_type => {
                let to = executable.reference(id.unit, entry, DW_AT_type);
                return Type {
                    name,
                    size: size.unwrap_or(8),
                    shape: Shape::Pointer(to.map(|to| self.load(to))),
                };
            }
            gimli::DW_TAG_structure_type => self.structure(id),
            gimli::DW_TAG_union_type => Shape::Union,
            gimli::DW_TAG_enumeration_type => Shape::Names(self.names(id)),
            gimli::DW_TAG_array_type => {
                let element = self.of(id.unit, entry);
                let count = self.count(id);
                return Type {
                    name,
                    size: self.get(element).size * count,
                    shape: Shape::Array { element, count },
                };
            }
            gimli::DW_TAG_typedef => {
                let same = self.of(id.unit, entry);
                return self.get(same).clone();
            }
            _ => Shape::Unknown,
        };
        Type {
            name,
            size: size.unwrap_or(0),
            shape,
        }
    }

    /// Returns the direct children of an entry.
    fn children(&self, id: EntryId) -> Vec<Entry<'a>> {
        children(self.executable, id)
    }

    fn structure(&mut self, id: EntryId) -> Shape {
        let mut all = Struct::default();
        for child in self.children(id) {
            match child.tag() {
                gimli::DW_TAG_member => all.fields.extend(self.field(id.unit, &child)),
                gimli::DW_TAG_template_type_parameter => {
                    all.parameters.push(self.of(id.unit, &child))
                }
                gimli::DW_TAG_variant_part => {
                    let part = EntryId {
                        unit: id.unit,
                        offset: child.offset().0,
                    };
                    return Shape::Enum(self.variants(part, &child));
                }
                _ => {}
            }
        }
        // In the order of the declaration, which is that of the names of a tuple's fields.
        Shape::Struct(all)
    }

    fn field(&mut self, unit: usize, entry: &Entry<'a>) -> Option<Field> {
        let executable = self.executable;
        let name = executable.text(&executable.units[unit], entry, DW_AT_name);
        Some(Field {
            name: name.unwrap_or_default(),
            offset: number(entry, DW_AT_data_member_location).unwrap_or(0),
            ty: self.of(unit, entry),
        })
    }

    fn variants(&mut self, part: EntryId, entry: &Entry<'a>) -> Enum {
        let tag = self.executable.reference(part.unit, entry, DW_AT_discr);
        let tag = tag.and_then(|tag| self.executable.entry(tag));
        let tag = tag.and_then(|tag| self.field(part.unit, &tag));
        let mut variants = Vec::new();
        for child in self.children(part) {
            if child.tag() != DW_TAG_variant {
                continue;
            }
            let id = EntryId {
                unit: part.unit,
                offset: child.offset().0,
            };
            let member = self.children(id);
            let member = member.iter().find(|entry| entry.tag() == DW_TAG_member);
            if let Some(field) = member.and_then(|member| self.field(part.unit, member)) {
                variants.push(Variant {
                    tag: number(&child, DW_AT_discr_value),
                    field,
                });
            }
        }
        Enum { tag, variants }
    }

    fn names(&self, id: EntryId) -> Vec<(u64, String)> {
        let unit = &self.executable.units[id.unit];
        let name = |entry: &Entry<'a>| {
            let name = self.executable.text(unit, entry, DW_AT_name)?;
            Some((number(entry, DW_AT_const_value)?, name))
        };
        let all = self.children(id);
        let all = all.iter().filter(|entry| entry.tag() == DW_TAG_enumerator);
        all.filter_map(name).collect()
    }

    fn count(&self, id: EntryId) -> u64 {
        let all = self.children(id);
        let range = all.iter().find(|entry| entry.tag() == DW_TAG_subrange_type);
        range.map_or(0, |range| {
            let last = || number(range, DW_AT_upper_bound).map(|last| last + 1);
            number(range, DW_AT_count).or_else(last).unwrap_or(0)
        })
    }
}

/// Returns the direct children of an entry.
pub(crate) fn children<'a>(executable: &Executable<'a>, id: EntryId) -> Vec<Entry<'a>> {
    let mut all = Vec::new();
    let Ok(mut cursor) = executable.units[id.unit].entries_at_offset(gimli::UnitOffset(id.offset))
    else {
        return all;
    };
    let Ok(Some(parent)) = cursor.next_dfs() else {
        return all;
    };
    let (depth, has_children) = (parent.depth(), parent.has_children());
    while has_children && let Ok(Some(entry)) = cursor.next_dfs() {
        match entry.depth() - depth {
            ..=0 => break,
            1 => all.push(entry.clone()),
            _ => {}
        }
    }
    all
}

/// Returns the value of an attribute as a number without sign.
pub(crate) fn number(entry: &Entry<'_>, name: gimli::DwAt) -> Option<u64> {
    let value = entry.attr_value(name)?;
    value
        .udata_value()
        .or_else(|| value.sdata_value().map(|value| value as u64))
}
