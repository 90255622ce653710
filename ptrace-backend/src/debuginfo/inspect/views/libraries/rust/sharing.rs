//! Cells, locks, atomics: shared values, and their holders.

use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::values::typed::TypedValue;
use crate::debuginfo::inspect::views::libraries::subject::{
    Subject, UnrecognisedType, ViewResult, member_at, number_in, unsigned_at,
};
use crate::debuginfo::inspect::views::view::{Field, Fields, Style, View};

pub(super) fn atomic(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let value =
        member_at(thread, subject.value, &["v"]).or_else(|_| member_at(thread, subject.value, &["p"]))?;
    if subject.family.ends_with("::AtomicBool") {
        return match number_in(thread, &value)? {
            0 => Ok(View::Leaf("false".to_owned())),
            1 => Ok(View::Leaf("true".to_owned())),
            _ => Err(UnrecognisedType::Layout),
        };
    }
    Ok(View::Same(Box::new(value)))
}

pub(super) fn ref_cell(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let borrows = number_in(thread, &member_at(thread, subject.value, &["borrow"])?)?;
    let words = match borrows {
        0 => "no".to_owned(),
        1.. => format!("shared by {borrows}"),
        _ => "mutably".to_owned(),
    };
    let value = member_at(thread, subject.value, &["value"])?;
    Ok(fields("RefCell", vec![Field::words("borrowed", "", words), Field::value("value", value)]))
}

/// `Ref` and `RefMut`.
pub(super) fn borrowed(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let pointer = member_at(thread, subject.value, &["value", "pointer"])?;
    Ok(View::Same(Box::new(thread.target(&pointer)?)))
}

/// `Mutex` and `RwLock`, those of the standard library that wait with futexes.
pub(super) fn lock(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let data = member_at(thread, subject.value, &["data"])?;
    let held = how_held(thread, subject.value);
    let mut parts: Vec<Field> = held.into_iter().collect();
    if let Ok(poisoned) = unsigned_at(thread, subject.value, &["poison", "failed"]) {
        parts.push(Field::words("poisoned", "bool", if poisoned == 0 { "false" } else { "true" }));
    }
    parts.push(Field::value("data", data));
    let name = if subject.family.ends_with("::Mutex") { "Mutex" } else { "RwLock" };
    Ok(fields(name, parts))
}

fn how_held(thread: &StoppedThread<'_>, lock: &TypedValue) -> Option<Field> {
    // 0 is free, 1 is locked, 2 is locked with others waiting.
    if let Ok(word) = unsigned_at(thread, lock, &["inner", "futex"]) {
        let words = if word == 0 { "false" } else { "true" };
        return Some(Field::words("locked", "bool", words));
    }
    // The lowest 30 bits count readers; all of them set stand for a writer.
    const WRITER: u64 = (1 << 30) - 1;
    let words = match unsigned_at(thread, lock, &["inner", "state"]).ok()? & WRITER {
        0 => "no".to_owned(),
        WRITER => "by a writer".to_owned(),
        1 => "by 1 reader".to_owned(),
        readers => format!("by {readers} readers"),
    };
    Some(Field::words("locked", "", words))
}

/// A guard is what it guards.
pub(super) fn guard(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let lock = thread.target(&member_at(thread, subject.value, &["lock"])?)?;
    Ok(View::Same(Box::new(member_at(thread, &lock, &["data", "value"])?)))
}

pub(super) fn read_guard(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let pointer = member_at(thread, subject.value, &["data", "pointer"])?;
    Ok(View::Same(Box::new(thread.target(&pointer)?)))
}

/// `OnceLock`, `OnceCell`, `LazyLock`: a value that may not be there yet.
pub(super) fn once(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    if subject.family.ends_with("::OnceCell") {
        let inner = member_at(thread, subject.value, &["inner"])?;
        return Ok(View::Same(Box::new(inner)));
    }
    let state = unsigned_at(thread, subject.value, &["once", "inner", "state_and_queued"])?;
    if !has_known_states(thread, subject.value) {
        return Err(UnrecognisedType::Layout);
    }
    let name = subject.family.rsplit("::").next().unwrap_or_default();
    let words = match state & 3 {
        0 => {
            let value = member_at(thread, subject.value, &["value", "value"])
                .or_else(|_| member_at(thread, subject.value, &["data", "value"]))?;
            let value = member_at(thread, &value, &["value"])?;
            let parts = vec![Field::value("0", value)];
            return Ok(View::Fields(Fields { name: name.to_owned(), style: Style::Brackets, fields: parts }));
        }
        1 => "(being initialised)",
        2 => "(poisoned)",
        _ => "(not initialised)",
    };
    Ok(View::Leaf(format!("{name} {words}")))
}

/// The numbers of the states were others in older versions of the standard library.
fn has_known_states(thread: &StoppedThread<'_>, value: &TypedValue) -> bool {
    const SINCE: u32 = 90;
    let source = value.kind.zip(thread.info(value.module)).and_then(|(kind, info)| info.source(kind.unit));
    let version = source.and_then(|source| {
        let (_, version) = source.producer.split_once("rustc version 1.")?;
        version.split('.').next()?.parse::<u32>().ok()
    });
    version.is_some_and(|version| version >= SINCE)
}

fn fields(name: &str, fields: Vec<Field>) -> View {
    View::Fields(Fields { name: name.to_owned(), style: Style::Braces, fields })
}
