//! The view of a value: a number, a text, a list, parts with names.

use super::libraries::recognised;
use super::libraries::subject::Recognised;
use super::view::{Field, Fields, Items, List, MemberAccess, Pointer, Style, View};
use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::dwarf::source_unit::Language;
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::shape::{Composite, Form, Member, PointerSort, Shape, Start};
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::stopped::value_location::ValueLocation;
use crate::debuginfo::inspect::values::typed::TypedValue;

/// The view of a value.
pub(crate) fn view(thread: &StoppedThread<'_>, value: &TypedValue) -> View {
    let Some((kind, shape)) = thread.peeled(value.module, value.kind) else {
        return if value.kind.is_none() { View::Leaf("void".to_owned()) } else { View::Bytes };
    };
    let has_bytes = thread.size(value) != Some(0);
    match &value.location {
        ValueLocation::Missing(missing) if has_bytes => return View::Missing(*missing),
        _ => {}
    }
    let leaf = |words: Option<String>| words.map_or(View::Bytes, View::Leaf);
    match &shape.form {
        Form::Base(_) | Form::Enumeration { .. } => {
            thread.scalar(value, &shape).map_or_else(View::Missing, leaf)
        }
        Form::Pointer { sort, .. } => pointer(thread, value, &shape, *sort),
        Form::Composite(parts) => library_view(thread, value, kind, &shape, parts)
            .unwrap_or_else(|| composite(thread, value, &shape, parts)),
        Form::Array { .. } => array(thread, value),
        Form::Function { .. } => leaf(value.location.address().and_then(|at| function_name(thread, at))),
        Form::Unspecified => View::Leaf(match shape.name.as_deref() {
            Some("decltype(nullptr)") => "nullptr".to_owned(),
            name => name.unwrap_or("void").to_owned(),
        }),
        Form::MemberPointer { class, .. } => {
            member_pointer(thread, value, *class).map_or_else(View::Missing, leaf)
        }
        Form::Alias { .. } | Form::Unknown => View::Bytes,
    }
}

/// The view of a value if its type is a library's.
pub(crate) fn library_view(
    thread: &StoppedThread<'_>,
    value: &TypedValue,
    kind: Ref,
    shape: &Shape,
    parts: &Composite,
) -> Option<View> {
    match recognised(thread, value, kind, shape, parts)? {
        Recognised::View(view) => Some(*view),
        Recognised::Pointing(pointer, facts) => match view(thread, &pointer) {
            View::Pointer(plain) => Some(View::Pointer(Pointer { facts, ..plain })),
            _ => None,
        },
    }
}

fn pointer(thread: &StoppedThread<'_>, value: &TypedValue, shape: &Shape, sort: PointerSort) -> View {
    let target = match thread.target(value) {
        Ok(target) => target,
        Err(missing) => return View::Missing(missing),
    };
    // A reference is its target, for C++ programmers.
    if sort != PointerSort::Pointer {
        return View::Same(Box::new(target));
    }
    let address = match value.location {
        ValueLocation::Implied { .. } => None,
        _ => target.location.address(),
    };
    let mut pointer = Pointer { address, target: None, note: None, facts: Vec::new() };
    let inner = thread.shape(&target);
    let is_code = matches!(inner.as_deref().map(|shape| &shape.form), Some(Form::Function { .. }))
        // A function pointer of Rust is a pointer to a function's type, whose entry has no more to say.
        || shape.name.as_deref().is_some_and(|name| name.starts_with("fn("));
    if address == Some(0) {
        return View::Pointer(pointer);
    }
    if is_code {
        pointer.note = address.and_then(|address| function_name(thread, address));
    } else if target.kind.is_some() {
        pointer.note = thread.c_string(&target).map(|text| text.quoted());
        pointer.target = Some(target);
    } else if let ValueLocation::Implied { variable, offset } = value.location {
        // The target of a `void *` is not known, but its name is.
        match thread.info(value.module).and_then(|info| info.name(variable)).filter(|_| offset == 0) {
            Some(name) => pointer.note = Some(name),
            None => return View::Missing(Missing::Gone),
        }
    }
    View::Pointer(pointer)
}

/// `&Point::y` and `&Point::length`, by the C++ ABI.
fn member_pointer(
    thread: &StoppedThread<'_>,
    value: &TypedValue,
    class: Option<Ref>,
) -> Result<Option<String>, Missing> {
    let (raw, bits) = thread.raw(value)?;
    let (low, high) = (raw as u64, (raw >> 64) as u64);
    if bits == 128 {
        // An odd number is an offset into the table of virtual functions.
        let name = if low & 1 == 0 && high == 0 { function_name(thread, low) } else { None };
        return Ok(name.map(|name| format!("&{name}")).or((low == 0).then(|| "null".to_owned())));
    }
    if low == u64::MAX {
        return Ok(Some("null".to_owned()));
    }
    let Some((_, shape)) = thread.peeled(value.module, class) else { return Ok(None) };
    let Form::Composite(parts) = &shape.form else { return Ok(None) };
    let member = parts.members.iter().find(|member| matches!(member.start, Start::At(at) if at == low));
    let name = member.and_then(|member| member.name.as_deref());
    Ok(name.map(|name| format!("&{}::{name}", thread.name_of(value.module, class, 0))))
}

/// The function that begins at an address.
fn function_name(thread: &StoppedThread<'_>, address: u64) -> Option<String> {
    let place = thread.modules.find(address)?;
    let image = &thread.modules.get(place.module)?.image;
    image.function_at(place.address).filter(|function| function.range.start == place.address)?.name()
}

fn array(thread: &StoppedThread<'_>, value: &TypedValue) -> View {
    let Some(elements) = thread.elements(value) else { return View::Bytes };
    if let Some(text) = thread.characters(&elements) {
        return View::Text(text);
    }
    match elements.count {
        Some(_) => View::List(List { items: Items::Elements(elements), is_dynamic: false }),
        None => View::Leaf("[…] (of unknown length)".to_owned()),
    }
}

fn composite(thread: &StoppedThread<'_>, value: &TypedValue, shape: &Shape, parts: &Composite) -> View {
    if parts.is_declaration {
        return View::Leaf(format!("{{…}} ({} is declared only)", thread.type_name(value)));
    }
    if let Some(variants) = &parts.variants {
        return match thread.variant(value, variants) {
            Ok(Some(variant)) => alternative(thread, value, &variant.member),
            Ok(None) => View::Bytes,
            Err(missing) => View::Missing(missing),
        };
    }
    let name = match thread.language(value) {
        Language::Rust => plain(&thread.type_name(value)).to_owned(),
        // Arguments of templates are part of the type, which is shown beside.
        _ => shape.name.as_deref().map(plain).unwrap_or_default().to_owned(),
    };
    View::Fields(plain_fields(thread, value, parts, &name))
}

fn alternative(thread: &StoppedThread<'_>, whole: &TypedValue, member: &Member) -> View {
    let inner = thread.part(whole, member);
    let name = member.name.clone().unwrap_or_default();
    match thread.shape(&inner).as_deref() {
        Some(Shape { form: Form::Composite(parts), .. }) => {
            View::Fields(plain_fields(thread, &inner, parts, &name))
        }
        _ => View::Bytes,
    }
}

/// The members as they are declared.
pub(crate) fn plain_fields(
    thread: &StoppedThread<'_>,
    value: &TypedValue,
    parts: &Composite,
    name: &str,
) -> Fields {
    let mut fields = Vec::new();
    for member in parts.members.iter().filter(|member| !member.is_artificial) {
        let label = match &member.name {
            Some(name) => tuple_index(name).unwrap_or(name).to_owned(),
            None if member.is_base => thread.name_of(value.module, member.kind, 0),
            None => "(anonymous)".to_owned(),
        };
        fields.push(Field {
            access: if member.name.is_none() { MemberAccess::Through } else { MemberAccess::Named },
            ..Field::value(label, thread.part(value, member))
        });
    }
    let is_tuple =
        !fields.is_empty() && fields.iter().all(|field| field.name.bytes().all(|byte| byte.is_ascii_digit()));
    let is_rust = thread.language(value) == Language::Rust;
    let name = if name.starts_with('(') { String::new() } else { name.to_owned() };
    let style = match (is_tuple, fields.is_empty()) {
        (true, _) => Style::Brackets,
        (_, true) if is_rust && !name.is_empty() => Style::Nothing,
        _ => Style::Braces,
    };
    Fields { name, style, fields }
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
