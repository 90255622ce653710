//! The contents of scopes and variables.

use std::ops::Range;

use super::scopes::{Named, globals, has_globals, locals};
use super::stopped::stack::FrameId;
use super::stopped::thread::StoppedThread;
use super::values::typed::TypedValue;
use super::variable::{Handle, Inside, Scope, ScopeKind, Variable};
use super::views::presentation::{library_view, view};
use super::views::summary::{named_items, shown_in_words};
use super::views::view::{Field, Fields, Items, MemberAccess, Pointer, Shown, View};
use crate::debuginfo::dwarf::source_unit::Language;
use crate::debuginfo::entries::shape::Form;

/// Number of wrappers that are looked through; damaged types wrap themselves.
const MOST_WRAPPERS: usize = 32;

/// The parts of a value.
#[derive(Default)]
struct Inner {
    fields: Vec<Field>,
    items: Option<Items>,
    /// Whether the fields are those of what a pointer of C or C++ points to.
    needs_arrow: bool,
}

pub(super) fn scopes(thread: &StoppedThread<'_>, frame: FrameId) -> Vec<Scope> {
    let locals = locals(thread, frame);
    let scope = |kind| Scope { kind, handle: Handle(Inside::Scope(frame, kind)) };
    let mut scopes = Vec::new();
    // Editors unfold the first one by themselves.
    if locals.iter().any(|one| !one.is_parameter) {
        scopes.push(scope(ScopeKind::Locals));
    }
    if locals.iter().any(|one| one.is_parameter) {
        scopes.push(scope(ScopeKind::Arguments));
    }
    if has_globals(thread, frame) {
        scopes.push(scope(ScopeKind::Globals));
    }
    scopes
}

pub(super) fn named_children(thread: &StoppedThread<'_>, handle: &Handle) -> Vec<Variable> {
    let (shown, expression) = match &handle.0 {
        Inside::Scope(frame, kind) => return scope(thread, *frame, *kind),
        Inside::Part { shown, expression } => (shown, expression.as_deref()),
    };
    let Shown::Value(value) = shown else { return Vec::new() };
    let inner = inside(thread, value);
    let joint = if inner.needs_arrow { "->" } else { "." };
    inner.fields.into_iter().map(|field| child(thread, expression, joint, field)).collect()
}

pub(super) fn indexed_children(
    thread: &StoppedThread<'_>,
    handle: &Handle,
    range: Range<u64>,
) -> Vec<Variable> {
    let Inside::Part { shown: Shown::Value(value), expression } = &handle.0 else { return Vec::new() };
    let Some(items) = inside(thread, value).items else { return Vec::new() };
    let count = range.end.saturating_sub(range.start);
    let found = named_items(thread, &items, range.start, count);
    found.into_iter().map(|field| child(thread, expression.as_deref(), "", field)).collect()
}

fn scope(thread: &StoppedThread<'_>, frame: FrameId, kind: ScopeKind) -> Vec<Variable> {
    let found = match kind {
        ScopeKind::Globals => globals(thread, frame),
        _ => locals(thread, frame),
    };
    let wanted = found.into_iter().filter(|one| match kind {
        ScopeKind::Globals => true,
        ScopeKind::Arguments => one.is_parameter,
        ScopeKind::Locals => !one.is_parameter,
    });
    wanted.map(|one| named_variable(thread, one)).collect()
}

fn named_variable(thread: &StoppedThread<'_>, one: Named) -> Variable {
    let (name, expression) = if one.is_shadowed {
        (format!("{} (shadowed)", one.name), None)
    } else {
        (one.name.clone(), Some(one.name))
    };
    shown_variable(thread, name, Shown::Value(one.value), expression)
}

fn child(thread: &StoppedThread<'_>, parent: Option<&str>, joint: &str, field: Field) -> Variable {
    let expression = parent.and_then(|parent| path_into(parent, joint, &field));
    shown_variable(thread, field.name, field.shown, expression)
}

/// A value as a user sees it.
pub(super) fn shown_variable(
    thread: &StoppedThread<'_>,
    name: String,
    shown: Shown,
    expression: Option<String>,
) -> Variable {
    let value = shown_in_words(thread, &shown);
    let (type_name, address, inner) = match &shown {
        Shown::Value(value) => (thread.type_name(value), value.location.address(), inside(thread, value)),
        Shown::Words { type_name, .. } => (type_name.clone(), None, Inner::default()),
    };
    Variable {
        name,
        type_name,
        value,
        address,
        expression: expression.clone(),
        named: inner.fields.len() as u64,
        indexed: inner.items.map_or(0, |items| items.count()),
        handle: Handle(Inside::Part { shown, expression }),
    }
}

fn inside(thread: &StoppedThread<'_>, value: &TypedValue) -> Inner {
    let mut inner = shown_inside(thread, value);
    if is_of_library(thread, value) {
        let raw = TypedValue { is_raw: true, ..value.clone() };
        inner.fields.push(Field::value("[raw]", raw).unreachable());
    }
    inner
}

/// Whether a value has parts that it is usually not shown by.
fn is_of_library(thread: &StoppedThread<'_>, value: &TypedValue) -> bool {
    let Some((kind, shape)) = thread.peeled(value.module, value.kind) else { return false };
    let Form::Composite(parts) = &shape.form else { return false };
    let view = library_view(thread, value, kind, &shape, parts);
    matches!(view, Some(View::List(_) | View::Text(_) | View::Fields(_) | View::Pointer(_)))
}

fn shown_inside(thread: &StoppedThread<'_>, value: &TypedValue) -> Inner {
    let mut here = value.clone();
    for _ in 0..MOST_WRAPPERS {
        match view(thread, &here) {
            View::Same(inner) => here = *inner,
            View::Fields(Fields { fields, .. }) => return Inner { fields, ..Inner::default() },
            View::List(list) => return Inner { items: Some(list.items), ..Inner::default() },
            View::Text(text) => {
                return Inner { items: text.elements.map(Items::Elements), ..Inner::default() };
            }
            View::Pointer(pointer) => return behind(thread, pointer),
            View::Leaf(_) | View::Missing(_) | View::Bytes => break,
        }
    }
    Inner::default()
}

/// The contents of a pointer: the parts of its target, if that has parts.
fn behind(thread: &StoppedThread<'_>, pointer: Pointer) -> Inner {
    let Some(target) = pointer.target else { return Inner { fields: pointer.facts, ..Inner::default() } };
    let is_rust = thread.language(&target) == Language::Rust;
    let (mut fields, needs_arrow) = match view(thread, &target) {
        View::Fields(inner) if pointer.facts.is_empty() => (inner.fields, !is_rust),
        _ => (vec![Field::value("*", target)], false),
    };
    fields.extend(pointer.facts);
    Inner { fields, items: None, needs_arrow }
}

/// The expression for a part, given the expression for the whole.
fn path_into(whole: &str, joint: &str, field: &Field) -> Option<String> {
    match field.access {
        MemberAccess::Named => {}
        MemberAccess::Through => return Some(whole.to_owned()),
        MemberAccess::Never => return None,
    }
    let is_simple = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '[' | ']' | '>' | '-');
    let closed = if whole.chars().all(is_simple) { whole.to_owned() } else { format!("({whole})") };
    let is_name = field.name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match field.name.as_str() {
        "*" => Some(format!("*{closed}")),
        name if name.starts_with('[') => {
            let is_number = name[1..].trim_end_matches(']').bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| format!("{closed}{name}"))
        }
        name if is_name => Some(format!("{closed}{joint}{name}")),
        _ => None,
    }
}
