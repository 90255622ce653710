//! A value in one line.

use std::fmt::Write;

use super::thread::Thread;
use super::typed::Typed;
use super::view::{Field, Fields, Items, List, Pointer, Shown, Style, View};
use super::walks::Sort;
use crate::debuginfo::expression::Missing;

/// About as much as fits beside a variable's name.
const WIDTH: usize = 120;
/// How many parts and items are shown at most.
const MOST_PARTS: u64 = 16;
/// How deep parts of parts are shown.
const DEEPEST: usize = 4;
/// How many wrappers are looked through; damaged types wrap themselves.
const MOST_WRAPPERS: usize = 32;
/// How many bytes of what is not understood are shown.
const MOST_BYTES: u64 = 32;

impl Thread<'_> {
    /// A value in one line of about 120 characters.
    pub(super) fn summary(&self, value: &Typed) -> String {
        let mut text = String::new();
        self.put(&mut text, value, 0, true);
        text
    }

    /// Appends a value; `follows` says whether to go on behind pointers.
    fn put(&self, text: &mut String, value: &Typed, depth: usize, follows: bool) {
        let mut here = value.clone();
        for _ in 0..MOST_WRAPPERS {
            match self.view(&here) {
                View::Same(inner) => here = *inner,
                View::Leaf(words) => return text.push_str(&words),
                View::Missing(missing) => return text.push_str(&words_for(missing)),
                View::Bytes => return text.push_str(&self.bytes_in_words(&here)),
                View::Text(found) => return text.push_str(&found.quoted()),
                View::Pointer(pointer) => return self.put_pointer(text, &pointer, depth, follows),
                View::List(list) => return self.put_list(text, &list, depth),
                View::Fields(fields) => return self.put_fields(text, &fields, depth, follows),
            }
        }
        text.push('…');
    }

    fn put_pointer(&self, text: &mut String, pointer: &Pointer, depth: usize, follows: bool) {
        match pointer.address {
            Some(address) => put(text, format_args!("{address:#x}")),
            None => text.push('&'),
        }
        let arrow = if pointer.address.is_some() { " → " } else { "" };
        if let Some(note) = &pointer.note {
            put(text, format_args!("{arrow}{note}"));
        } else if let Some(target) = pointer.target.as_ref().filter(|_| follows) {
            text.push_str(arrow);
            self.put(text, target, depth + 1, false);
        }
        if !pointer.facts.is_empty() && follows {
            let facts: Vec<String> = pointer
                .facts
                .iter()
                .map(|fact| format!("{} {}", fact.name, self.shown_in_words(&fact.shown)))
                .collect();
            put(text, format_args!(" ({})", facts.join(", ")));
        }
    }

    fn put_list(&self, text: &mut String, list: &List, depth: usize) {
        let count = list.items.count();
        let items = if depth < DEEPEST { self.items(&list.items, 0, MOST_PARTS) } else { Vec::new() };
        let sort = match &list.items {
            Items::Walk(walk) => walk.sort,
            _ => Sort::Sequence,
        };
        text.push(if sort == Sort::Sequence { '[' } else { '{' });
        self.put_parts(text, &items, count, sort == Sort::Map, depth);
        text.push(if sort == Sort::Sequence { ']' } else { '}' });
        if list.is_dynamic {
            put(text, format_args!(" (len {count})"));
        }
    }

    fn put_fields(&self, text: &mut String, fields: &Fields, depth: usize, follows: bool) {
        text.push_str(&fields.name);
        let count = fields.fields.len() as u64;
        let shown = if depth < DEEPEST { &fields.fields[..count.min(MOST_PARTS) as usize] } else { &[] };
        match (fields.style, shown) {
            (Style::Nothing, _) => {}
            // What an alternative such as `Some` holds is as close to the user as the alternative.
            (Style::Brackets, [only]) if count == 1 && !fields.name.is_empty() => {
                text.push('(');
                match &only.shown {
                    Shown::Value(value) => self.put(text, value, depth + 1, follows),
                    Shown::Words { words, .. } => text.push_str(words),
                }
                text.push(')');
            }
            (Style::Brackets, _) => {
                text.push('(');
                self.put_parts(text, shown, count, false, depth);
                text.push(')');
            }
            (Style::Braces, _) if count == 0 => {
                text.push_str(if fields.name.is_empty() { "{}" } else { " {}" })
            }
            (Style::Braces, _) => {
                text.push_str(if fields.name.is_empty() { "{ " } else { " { " });
                self.put_parts(text, shown, count, true, depth);
                text.push_str(" }");
            }
        }
    }

    fn put_parts(&self, text: &mut String, parts: &[Field], count: u64, with_names: bool, depth: usize) {
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
                Shown::Value(value) => self.put(text, value, depth + 1, false),
                Shown::Words { words, .. } => text.push_str(words),
            }
        }
        if (parts.len() as u64) < count {
            text.push_str(if parts.is_empty() { "…" } else { ", …" });
        }
    }

    pub(super) fn shown_in_words(&self, shown: &Shown) -> String {
        match shown {
            Shown::Value(value) => self.summary(value),
            Shown::Words { words, .. } => words.clone(),
        }
    }

    /// What is not understood is shown as it is.
    fn bytes_in_words(&self, value: &Typed) -> String {
        match self.bytes(value, MOST_BYTES) {
            Ok(bytes) => {
                let words: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let is_cut = self.size(value).is_some_and(|size| size > MOST_BYTES);
                format!("bytes {}{}", words.join(" "), if is_cut { " …" } else { "" })
            }
            Err(missing) => words_for(missing),
        }
    }
}

/// Why there is no value.
pub(super) fn words_for(missing: Missing) -> String {
    match missing {
        Missing::Gone => "optimised out".to_owned(),
        Missing::Unreadable(address) => format!("unreadable memory at {address:#x}"),
        Missing::Unsupported(what) => format!("unknown: {what}"),
    }
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
}
