//! What a value is to its user: a number, a text, a list, parts with names.

use super::contents::Contents;
use super::index::Ref;
use super::shape::{Composite, Form, Member, PointerSort, Shape, Start};
use super::summary::words_for;
use super::text::Text;
use super::thread::Thread;
use super::typed::{Elements, Typed};
use super::walks::Walk;
use crate::debuginfo::expression::Missing;
use crate::debuginfo::lines::Language;
use crate::debuginfo::memory::word;

/// A value as its user thinks of it.
pub(super) enum View {
    /// Words that say everything.
    Leaf(String),
    Missing(Missing),
    /// Something whose meaning is not known.
    Bytes,
    Pointer(Pointer),
    Text(Text),
    List(List),
    Fields(Fields),
    /// Another value, of which this one is just a wrapper.
    Same(Box<Typed>),
}

pub(super) struct Pointer {
    /// None where the compiler did away with the pointer but not with what it pointed to.
    pub(super) address: Option<u64>,
    /// What it points to, if that can be shown.
    pub(super) target: Option<Typed>,
    /// What stands behind the arrow instead of the target: a text, a function.
    pub(super) note: Option<String>,
    /// What a smart pointer knows besides.
    pub(super) facts: Vec<Field>,
}

pub(super) struct List {
    pub(super) items: Items,
    /// Whether the length is part of the value and not of the type.
    pub(super) is_dynamic: bool,
}

/// The values in a list.
pub(super) enum Items {
    Elements(Elements),
    /// Elements that wrap around at the end of the slots.
    Ring {
        slots: Elements,
        head: u64,
        count: u64,
    },
    /// Bits, counted from the lowest at an address.
    Bits {
        address: u64,
        first: u64,
        count: u64,
    },
    /// Blocks of elements, from a table of their addresses.
    Blocks {
        table: u64,
        per_block: u64,
        first: u64,
        count: u64,
        element: Typed,
        stride: u64,
    },
    Walk(Walk),
}

pub(super) struct Fields {
    /// The type or the alternative; empty where it has no name.
    pub(super) name: String,
    pub(super) style: Style,
    pub(super) fields: Vec<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `Point { x: 1, y: 2 }`
    Braces,
    /// `Some(1)`
    Brackets,
    /// `None`
    Nothing,
}

/// A part of a value, with its name.
#[derive(Clone, Debug)]
pub(in crate::debuginfo) struct Field {
    pub(super) name: String,
    pub(super) shown: Shown,
    pub(super) reach: Reach,
}

/// How an expression gets from a whole to a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// By the part's name.
    Named,
    /// Not at all: the part's own parts are named as if they were the whole's (a base class, a member without a name).
    Through,
    /// No expression does.
    Never,
}

/// A value that is in the program, or words about it.
#[derive(Clone, Debug)]
pub(in crate::debuginfo) enum Shown {
    Value(Typed),
    Words { type_name: String, words: String },
}

impl Field {
    pub(super) fn value(name: impl Into<String>, value: Typed) -> Self {
        Self { name: name.into(), shown: Shown::Value(value), reach: Reach::Named }
    }

    pub(super) fn unreachable(self) -> Self {
        Self { reach: Reach::Never, ..self }
    }

    pub(super) fn words(name: &str, type_name: &str, words: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            shown: Shown::Words { type_name: type_name.to_owned(), words: words.into() },
            reach: Reach::Named,
        }
    }
}

impl Items {
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Elements(elements) => elements.count.unwrap_or_default(),
            Self::Ring { count, .. } | Self::Bits { count, .. } | Self::Blocks { count, .. } => *count,
            Self::Walk(walk) => walk.count,
        }
    }
}

impl Thread<'_> {
    /// The items from `start` on, at most `count`.
    pub(super) fn items(&self, items: &Items, start: u64, count: u64) -> Vec<Field> {
        if let Items::Walk(walk) = items {
            return self.walk(walk, start, count);
        }
        let range = start..start.saturating_add(count).min(items.count());
        range.map(|index| Field { name: format!("[{index}]"), ..self.item(items, index) }).collect()
    }

    fn item(&self, items: &Items, index: u64) -> Field {
        match items {
            Items::Elements(elements) => Field::value("", elements.get(index)),
            Items::Ring { slots, head, .. } => {
                let slot = head.saturating_add(index) % slots.count.unwrap_or_default().max(1);
                Field::value("", slots.get(slot))
            }
            Items::Bits { address, first, .. } => {
                let bit = first.saturating_add(index);
                let mut byte = [0];
                let at = address.wrapping_add(bit / 8);
                let words = if !self.memory().read(at, &mut byte) {
                    words_for(Missing::Unreadable(at))
                } else {
                    (byte[0] >> (bit % 8) & 1 == 1).to_string()
                };
                Field::words("", "bool", words)
            }
            Items::Blocks { table, per_block, first, element, stride, .. } => {
                let position = first.saturating_add(index);
                let slot = table.wrapping_add((position / per_block).wrapping_mul(8));
                let contents = match word(self.memory(), slot) {
                    Some(block) => {
                        Contents::Memory(block.wrapping_add((position % per_block).wrapping_mul(*stride)))
                    }
                    None => Contents::Missing(Missing::Unreadable(slot)),
                };
                Field::value("", element.with(element.kind, contents))
            }
            Items::Walk(walk) => self.walk(walk, index, 1).pop().unwrap_or(Field::words("", "", "")),
        }
    }

    /// How to show a value.
    pub(super) fn view(&self, value: &Typed) -> View {
        let Some((kind, shape)) = self.peeled(value.module, value.kind) else {
            return if value.kind.is_none() { View::Leaf("void".to_owned()) } else { View::Bytes };
        };
        let has_bytes = self.size(value) != Some(0);
        match &value.contents {
            Contents::Missing(missing) if has_bytes => return View::Missing(*missing),
            _ => {}
        }
        let leaf = |words: Option<String>| words.map_or(View::Bytes, View::Leaf);
        match &shape.form {
            Form::Base(_) | Form::Enumeration { .. } => {
                self.scalar(value, &shape).map_or_else(View::Missing, leaf)
            }
            Form::Pointer { sort, .. } => self.pointer(value, &shape, *sort),
            Form::Composite(parts) => self
                .library_view(value, kind, &shape, parts)
                .unwrap_or_else(|| self.composite(value, &shape, parts)),
            Form::Array { .. } => self.array(value),
            Form::Function { .. } => leaf(value.contents.address().and_then(|at| self.function_name(at))),
            Form::Unspecified => View::Leaf(match shape.name.as_deref() {
                Some("decltype(nullptr)") => "nullptr".to_owned(),
                name => name.unwrap_or("void").to_owned(),
            }),
            Form::MemberPointer { class, .. } => {
                self.member_pointer(value, *class).map_or_else(View::Missing, leaf)
            }
            Form::Alias { .. } | Form::Unknown => View::Bytes,
        }
    }

    fn pointer(&self, value: &Typed, shape: &Shape, sort: PointerSort) -> View {
        let target = match self.target(value) {
            Ok(target) => target,
            Err(missing) => return View::Missing(missing),
        };
        // A reference is its target, for C++ programmers.
        if sort != PointerSort::Pointer {
            return View::Same(Box::new(target));
        }
        let address = match value.contents {
            Contents::Implied { .. } => None,
            _ => target.contents.address(),
        };
        let mut pointer = Pointer { address, target: None, note: None, facts: Vec::new() };
        let inner = self.shape(&target);
        let is_code = matches!(inner.as_deref().map(|shape| &shape.form), Some(Form::Function { .. }))
            // A function pointer of Rust is a pointer to a function's type, whose entry has no more to say.
            || shape.name.as_deref().is_some_and(|name| name.starts_with("fn("));
        if address == Some(0) {
            return View::Pointer(pointer);
        }
        if is_code {
            pointer.note = address.and_then(|address| self.function_name(address));
        } else if target.kind.is_some() {
            pointer.note = self.c_string(&target).map(|text| text.quoted());
            pointer.target = Some(target);
        } else if let Contents::Implied { variable, offset } = value.contents {
            // What a `void *` pointed to is not known, but what it is called is.
            match self.info(value.module).and_then(|info| info.name(variable)).filter(|_| offset == 0) {
                Some(name) => pointer.note = Some(name),
                None => return View::Missing(Missing::Gone),
            }
        }
        View::Pointer(pointer)
    }

    /// `&Point::y` and `&Point::length`, by the C++ ABI.
    fn member_pointer(&self, value: &Typed, class: Option<Ref>) -> Result<Option<String>, Missing> {
        let (raw, bits) = self.raw(value)?;
        let (low, high) = (raw as u64, (raw >> 64) as u64);
        if bits == 128 {
            // An odd number is an offset into the table of virtual functions.
            let name = if low & 1 == 0 && high == 0 { self.function_name(low) } else { None };
            return Ok(name.map(|name| format!("&{name}")).or((low == 0).then(|| "null".to_owned())));
        }
        if low == u64::MAX {
            return Ok(Some("null".to_owned()));
        }
        let Some((_, shape)) = self.peeled(value.module, class) else { return Ok(None) };
        let Form::Composite(parts) = &shape.form else { return Ok(None) };
        let member = parts.members.iter().find(|member| matches!(member.start, Start::At(at) if at == low));
        let name = member.and_then(|member| member.name.as_deref());
        Ok(name.map(|name| format!("&{}::{name}", self.name_of(value.module, class, 0))))
    }

    /// The function that begins at an address.
    fn function_name(&self, address: u64) -> Option<String> {
        let place = self.modules.find(address)?;
        let image = &self.modules.get(place.module)?.image;
        image.function_at(place.address).filter(|function| function.range.start == place.address)?.name()
    }

    fn array(&self, value: &Typed) -> View {
        let Some(elements) = self.elements(value) else { return View::Bytes };
        if let Some(text) = self.characters(&elements) {
            return View::Text(text);
        }
        match elements.count {
            Some(_) => View::List(List { items: Items::Elements(elements), is_dynamic: false }),
            None => View::Leaf("[…] (of unknown length)".to_owned()),
        }
    }

    fn composite(&self, value: &Typed, shape: &Shape, parts: &Composite) -> View {
        if parts.is_declaration {
            return View::Leaf(format!("{{…}} ({} is declared only)", self.type_name(value)));
        }
        if let Some(variants) = &parts.variants {
            return match self.variant(value, variants) {
                Ok(Some(variant)) => self.alternative(value, &variant.member),
                Ok(None) => View::Bytes,
                Err(missing) => View::Missing(missing),
            };
        }
        let name = match self.language(value) {
            Language::Rust => plain(&self.type_name(value)).to_owned(),
            // Arguments of templates are part of the type, which is shown beside.
            _ => shape.name.as_deref().map(plain).unwrap_or_default().to_owned(),
        };
        View::Fields(self.plain_fields(value, parts, &name))
    }

    fn alternative(&self, whole: &Typed, member: &Member) -> View {
        let inner = self.part(whole, member);
        let name = member.name.clone().unwrap_or_default();
        match self.shape(&inner).as_deref() {
            Some(Shape { form: Form::Composite(parts), .. }) => {
                View::Fields(self.plain_fields(&inner, parts, &name))
            }
            _ => View::Bytes,
        }
    }

    /// The members as they are declared.
    pub(super) fn plain_fields(&self, value: &Typed, parts: &Composite, name: &str) -> Fields {
        let mut fields = Vec::new();
        for member in parts.members.iter().filter(|member| !member.is_artificial) {
            let label = match &member.name {
                Some(name) => tuple_index(name).unwrap_or(name).to_owned(),
                None if member.is_base => self.name_of(value.module, member.kind, 0),
                None => "(anonymous)".to_owned(),
            };
            fields.push(Field {
                reach: if member.name.is_none() { Reach::Through } else { Reach::Named },
                ..Field::value(label, self.part(value, member))
            });
        }
        let is_tuple = !fields.is_empty()
            && fields.iter().all(|field| field.name.bytes().all(|byte| byte.is_ascii_digit()));
        let is_rust = self.language(value) == Language::Rust;
        let name = if name.starts_with('(') { String::new() } else { name.to_owned() };
        let style = match (is_tuple, fields.is_empty()) {
            (true, _) => Style::Brackets,
            (_, true) if is_rust && !name.is_empty() => Style::Nothing,
            _ => Style::Braces,
        };
        Fields { name, style, fields }
    }
}

/// A name without the arguments of a template or generic type.
fn plain(name: &str) -> &str {
    name.split('<').next().filter(|plain| !plain.is_empty()).unwrap_or(name)
}

/// The fields of Rust's tuples are numbers, which DWARF has as `__0`, `__1` …
fn tuple_index(member: &str) -> Option<&str> {
    let number = member.strip_prefix("__")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}
