//! A value in one line.

use std::fmt::Write;

use super::items::items_of;
use super::presentation::view;
use super::traversal::ContainerKind;
use super::view::{Field, Fields, Items, List, MemberAccess, Pointer, Shown, Style, View};
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::values::typed::TypedValue;

/// About as much as fits beside a variable's name.
const WIDTH: usize = 120;
/// Number of parts and items that are shown at most.
const MOST_PARTS: u64 = 16;
/// Depth to which parts of parts are shown.
const DEEPEST: usize = 4;
/// Number of wrappers that are looked through; damaged types wrap themselves.
const MOST_WRAPPERS: usize = 32;
/// Number of bytes that are shown of a value that is not understood.
const MOST_BYTES: u64 = 32;

/// A value in one line of about 120 characters.
pub(crate) fn summary(thread: &StoppedThread<'_>, value: &TypedValue) -> String {
    let mut text = String::new();
    put_value(thread, &mut text, value, 0, true);
    text
}

/// Appends a value; `follows` says whether to go on behind pointers.
fn put_value(thread: &StoppedThread<'_>, text: &mut String, value: &TypedValue, depth: usize, follows: bool) {
    let mut here = value.clone();
    for _ in 0..MOST_WRAPPERS {
        match view(thread, &here) {
            View::Same(inner) => here = *inner,
            View::Leaf(words) => return text.push_str(&words),
            View::Missing(missing) => return text.push_str(&missing.to_string()),
            View::Bytes => return text.push_str(&bytes_in_words(thread, &here)),
            View::Text(found) => return text.push_str(&found.quoted()),
            View::Pointer(pointer) => return put_pointer(thread, text, &pointer, depth, follows),
            View::List(list) => return put_list(thread, text, &list, depth),
            View::Fields(fields) => return put_fields(thread, text, &fields, depth, follows),
        }
    }
    text.push('…');
}

fn put_pointer(
    thread: &StoppedThread<'_>,
    text: &mut String,
    pointer: &Pointer,
    depth: usize,
    follows: bool,
) {
    match pointer.address {
        Some(address) => put(text, format_args!("{address:#x}")),
        None => text.push('&'),
    }
    let arrow = if pointer.address.is_some() { " → " } else { "" };
    if let Some(note) = &pointer.note {
        put(text, format_args!("{arrow}{note}"));
    } else if let Some(target) = pointer.target.as_ref().filter(|_| follows) {
        text.push_str(arrow);
        put_value(thread, text, target, depth + 1, false);
    }
    if !pointer.facts.is_empty() && follows {
        let facts: Vec<String> = pointer
            .facts
            .iter()
            .map(|fact| format!("{} {}", fact.name, shown_in_words(thread, &fact.shown)))
            .collect();
        put(text, format_args!(" ({})", facts.join(", ")));
    }
}

fn put_list(thread: &StoppedThread<'_>, text: &mut String, list: &List, depth: usize) {
    let count = list.items.count();
    let items = if depth < DEEPEST { named_items(thread, &list.items, 0, MOST_PARTS) } else { Vec::new() };
    let kind = match &list.items {
        Items::Traversal(traversal) => traversal.kind,
        _ => ContainerKind::Sequence,
    };
    text.push(if kind == ContainerKind::Sequence { '[' } else { '{' });
    put_parts(thread, text, &items, count, kind == ContainerKind::Map, depth);
    text.push(if kind == ContainerKind::Sequence { ']' } else { '}' });
    if list.is_dynamic {
        put(text, format_args!(" (len {count})"));
    }
}

/// The items from `start` on, at most `count`, by number or by key.
pub(crate) fn named_items(thread: &StoppedThread<'_>, items: &Items, start: u64, count: u64) -> Vec<Field> {
    let found = (start..).zip(items_of(thread, items, start, count));
    let named = found.map(|(index, item)| Field {
        name: item.key.map_or_else(|| format!("[{index}]"), |key| format!("[{}]", summary(thread, &key))),
        shown: item.shown,
        access: if item.is_numbered { MemberAccess::Named } else { MemberAccess::Never },
    });
    named.collect()
}

fn put_fields(thread: &StoppedThread<'_>, text: &mut String, fields: &Fields, depth: usize, follows: bool) {
    text.push_str(&fields.name);
    let count = fields.fields.len() as u64;
    let shown = if depth < DEEPEST { &fields.fields[..count.min(MOST_PARTS) as usize] } else { &[] };
    match (fields.style, shown) {
        (Style::Nothing, _) => {}
        // The contents of an alternative such as `Some` are as close to the user as the alternative.
        (Style::Brackets, [only]) if count == 1 && !fields.name.is_empty() => {
            text.push('(');
            match &only.shown {
                Shown::Value(value) => put_value(thread, text, value, depth + 1, follows),
                Shown::Words { words, .. } => text.push_str(words),
            }
            text.push(')');
        }
        (Style::Brackets, _) => {
            text.push('(');
            put_parts(thread, text, shown, count, false, depth);
            text.push(')');
        }
        (Style::Braces, _) if count == 0 => text.push_str(if fields.name.is_empty() { "{}" } else { " {}" }),
        (Style::Braces, _) => {
            text.push_str(if fields.name.is_empty() { "{ " } else { " { " });
            put_parts(thread, text, shown, count, true, depth);
            text.push_str(" }");
        }
    }
}

fn put_parts(
    thread: &StoppedThread<'_>,
    text: &mut String,
    parts: &[Field],
    count: u64,
    with_names: bool,
    depth: usize,
) {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        if text.chars().count() > WIDTH {
            return text.push('…');
        }
        if with_names {
            // The keys of a map are in brackets.
            let key = part.name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
            put(text, format_args!("{}: ", key.unwrap_or(&part.name)));
        }
        match &part.shown {
            Shown::Value(value) => put_value(thread, text, value, depth + 1, false),
            Shown::Words { words, .. } => text.push_str(words),
        }
    }
    if (parts.len() as u64) < count {
        text.push_str(if parts.is_empty() { "…" } else { ", …" });
    }
}

pub(crate) fn shown_in_words(thread: &StoppedThread<'_>, shown: &Shown) -> String {
    match shown {
        Shown::Value(value) => summary(thread, value),
        Shown::Words { words, .. } => words.clone(),
    }
}

/// The bytes of a value that is not understood, shown as they are.
fn bytes_in_words(thread: &StoppedThread<'_>, value: &TypedValue) -> String {
    match thread.bytes(value, MOST_BYTES) {
        Ok(bytes) => {
            let words: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let is_cut = thread.size(value).is_some_and(|size| size > MOST_BYTES);
            format!("bytes {}{}", words.join(" "), if is_cut { " …" } else { "" })
        }
        Err(missing) => missing.to_string(),
    }
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
}
