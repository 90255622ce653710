//! Vectors, texts, maps.

use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::shape::Form;
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::stopped::value_location::ValueLocation;
use crate::debuginfo::inspect::values::typed::{Elements, TypedValue};
use crate::debuginfo::inspect::views::libraries::subject::{
    Subject, UnrecognisedType, ViewResult, elements_at, list_of, member_at, unsigned_at,
};
use crate::debuginfo::inspect::views::traversal::{ContainerKind, Nodes, Traversal};
use crate::debuginfo::inspect::views::view::{Items, List, View};

pub(super) fn vec(thread: &StoppedThread<'_>, vec: &TypedValue) -> ViewResult {
    Ok(list_of(vec_elements(thread, vec)?))
}

fn vec_elements(thread: &StoppedThread<'_>, vec: &TypedValue) -> ViewResult<Elements> {
    let length = unsigned_at(thread, vec, &["len"])?;
    let address = address_in(thread, &member_at(thread, vec, &["buf"])?)?;
    elements_at(thread, vec, argument_of(thread, vec, "T"), address, length)
}

/// The type that a generic type was given.
fn argument_of(thread: &StoppedThread<'_>, value: &TypedValue, name: &str) -> Option<Ref> {
    let shape = thread.shape(value)?;
    let Form::Composite(parts) = &shape.form else { return None };
    parts.arguments.iter().find(|argument| argument.name.as_deref() == Some(name))?.kind
}

/// The address in whatever a buffer keeps it in.
fn address_in(thread: &StoppedThread<'_>, buffer: &TypedValue) -> ViewResult<u64> {
    let mut here = buffer.clone();
    for _ in 0..8 {
        if matches!(thread.shape(&here).ok_or(UnrecognisedType::Layout)?.form, Form::Pointer { .. }) {
            return Ok(thread.raw(&here)?.0 as u64);
        }
        let next = ["inner", "ptr", "pointer"].iter().find_map(|name| thread.field(&here, name));
        here = next.ok_or(UnrecognisedType::Layout)?;
    }
    Err(UnrecognisedType::Layout)
}

/// `String`, `OsString`, `PathBuf`: bytes in a vector, somewhere.
pub(super) fn owned_text(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let mut here = subject.value.clone();
    for _ in 0..6 {
        if thread.field(&here, "len").is_some() {
            let elements = vec_elements(thread, &here)?;
            let address = elements.first.location.address().ok_or(UnrecognisedType::Layout)?;
            return Ok(View::Text(thread.text_at(address, elements.count.unwrap_or_default())?));
        }
        let next = ["vec", "inner"].iter().find_map(|name| thread.field(&here, name));
        here = next.ok_or(UnrecognisedType::Layout)?;
    }
    Err(UnrecognisedType::Layout)
}

pub(super) fn deque(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let value = subject.value;
    let head = unsigned_at(thread, value, &["head"])?;
    let length = unsigned_at(thread, value, &["len"])?;
    let capacity = unsigned_at(thread, value, &["buf", "inner", "cap"])?;
    let address = address_in(thread, &member_at(thread, value, &["buf"])?)?;
    let slots = elements_at(thread, value, argument_of(thread, value, "T"), address, capacity)?;
    // Elements without bytes need no room.
    if slots.stride > 0 && (length > capacity || head >= capacity.max(1)) {
        return Err(UnrecognisedType::Layout);
    }
    Ok(View::List(List { items: Items::Ring { slots, head, count: length }, is_dynamic: true }))
}

/// `HashMap` and `HashSet`.
pub(super) fn hash_table(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let base = member_at(thread, subject.value, &["base"])?;
    // A set is a map without values.
    let is_set = thread.field(&base, "map").is_some();
    let map = if is_set { member_at(thread, &base, &["map"])? } else { base };
    let table = member_at(thread, &map, &["table"])?;
    let inner = member_at(thread, &table, &["table"])?;
    let count = unsigned_at(thread, &inner, &["items"])?;
    let mask = unsigned_at(thread, &inner, &["bucket_mask"])?;
    let control = address_in(thread, &member_at(thread, &inner, &["ctrl"])?)?;
    let buckets = mask.checked_add(1).filter(|&buckets| buckets.is_power_of_two() && count <= buckets);
    let buckets = buckets.ok_or(UnrecognisedType::Layout)?;
    let slots = elements_at(thread, subject.value, argument_of(thread, &table, "T"), control, buckets)?;
    let kind = if is_set { ContainerKind::Set } else { ContainerKind::Map };
    let nodes = Nodes::Table { slots, control };
    Ok(View::List(List { items: Items::Traversal(Traversal { nodes, count, kind }), is_dynamic: true }))
}

/// `BTreeMap` and `BTreeSet`.
pub(super) fn btree(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let is_set = subject.family.ends_with("Set");
    let map = if is_set { member_at(thread, subject.value, &["map"])? } else { subject.value.clone() };
    let count = unsigned_at(thread, &map, &["length"])?;
    let kind = if is_set { ContainerKind::Set } else { ContainerKind::Map };
    let traversal = |nodes| {
        let traversal = Traversal { nodes, count, kind };
        Ok(View::List(List { items: Items::Traversal(traversal), is_dynamic: true }))
    };
    if count == 0 {
        return traversal(Nodes::None);
    }
    let root = member_at(thread, &map, &["root"])?;
    let root = some(thread, &root)?;
    let height = unsigned_at(thread, &root, &["height"])?;
    let leaf = thread.target(&member_at(thread, &root, &["node", "pointer"])?)?;
    let inner = internal_node(thread, &leaf)?;
    traversal(Nodes::BTree { leaf, inner, height })
}

/// The contents of an `Option`.
fn some(thread: &StoppedThread<'_>, option: &TypedValue) -> ViewResult<TypedValue> {
    let shape = thread.shape(option).ok_or(UnrecognisedType::Layout)?;
    let Form::Composite(parts) = &shape.form else { return Err(UnrecognisedType::Layout) };
    let variants = parts.variants.as_ref().ok_or(UnrecognisedType::Layout)?;
    let variant = thread.variant(option, variants)?.ok_or(UnrecognisedType::Layout)?;
    thread.field(&thread.part(option, &variant.member), "__0").ok_or(UnrecognisedType::Layout)
}

/// A leaf knows of inner nodes only through its parent.
fn internal_node(thread: &StoppedThread<'_>, leaf: &TypedValue) -> ViewResult<TypedValue> {
    let parent = member_at(thread, leaf, &["parent"])?;
    let shape = thread.shape(&parent).ok_or(UnrecognisedType::Layout)?;
    let Form::Composite(parts) = &shape.form else { return Err(UnrecognisedType::Layout) };
    let variants = parts.variants.as_ref().ok_or(UnrecognisedType::Layout)?;
    let pointers = variants.all.iter().filter_map(|variant| {
        let pointer = thread.field(&thread.part(&parent, &variant.member), "__0")?;
        thread.field(&pointer, "pointer")
    });
    let pointer = pointers.into_iter().next().ok_or(UnrecognisedType::Layout)?;
    let shape = thread.shape(&pointer).ok_or(UnrecognisedType::Layout)?;
    let Form::Pointer { to, .. } = shape.form else { return Err(UnrecognisedType::Layout) };
    Ok(pointer.with(to, ValueLocation::Memory(0)))
}
