//! What a value is to its user: a number, a text, a list, parts with names.

use super::contents::Contents;
use super::shape::{Composite, Form, Member, PointerSort, Shape};
use super::text::Text;
use super::thread::Thread;
use super::typed::{Elements, Typed};
use crate::debuginfo::expression::Missing;
use crate::debuginfo::lines::Language;

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
    /// Its own parts can be named as if they were the whole's: a base class, a member without a name.
    pub(super) is_transparent: bool,
}

/// A value that is in the program, or words about it.
#[derive(Clone, Debug)]
pub(in crate::debuginfo) enum Shown {
    Value(Typed),
    Words { type_name: String, words: String },
}

impl Field {
    pub(super) fn value(name: impl Into<String>, value: Typed) -> Self {
        Self { name: name.into(), shown: Shown::Value(value), is_transparent: false }
    }

    pub(super) fn words(name: &str, type_name: &str, words: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            shown: Shown::Words { type_name: type_name.to_owned(), words: words.into() },
            is_transparent: false,
        }
    }
}

impl Items {
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Elements(elements) => elements.count.unwrap_or_default(),
        }
    }
}

impl Thread<'_> {
    /// The items from `start` on, at most `count`.
    pub(super) fn items(&self, items: &Items, start: u64, count: u64) -> Vec<Field> {
        let range = start..start.saturating_add(count).min(items.count());
        match items {
            Items::Elements(elements) => {
                range.map(|index| Field::value(format!("[{index}]"), elements.get(index))).collect()
            }
        }
    }

    /// How to show a value.
    pub(super) fn view(&self, value: &Typed) -> View {
        let Some((_, shape)) = self.peeled(value.module, value.kind) else {
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
            Form::Composite(parts) => self.composite(value, &shape, parts),
            Form::Array { .. } => self.array(value),
            Form::Function { .. } => leaf(value.contents.address().and_then(|at| self.function_name(at))),
            Form::Unspecified => View::Leaf(shape.name.clone().unwrap_or_else(|| "void".to_owned())),
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
        }
        View::Pointer(pointer)
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
            Language::Rust => self.type_name(value),
            _ => shape.name.clone().unwrap_or_default(),
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
                is_transparent: member.name.is_none(),
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

/// The fields of Rust's tuples are numbers, which DWARF has as `__0`, `__1` …
fn tuple_index(member: &str) -> Option<&str> {
    let number = member.strip_prefix("__")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}
