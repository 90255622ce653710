//! Rust's standard library.

mod collections;
mod pointers;
mod sharing;

use std::time::Duration;

use collections::{btree, deque, hash_table, owned_text, vec};
use pointers::{counted, fat_pointer, trait_object, weak};
use sharing::{atomic, borrowed, guard, lock, once, read_guard, ref_cell};

use super::subject::{Subject, UnrecognisedType, ViewResult, member_at, unsigned_at};
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::views::view::View;

pub(super) fn rust_view(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    if thread.field(subject.value, "data_ptr").is_some() && thread.field(subject.value, "length").is_some() {
        return fat_pointer(thread, subject);
    }
    if thread.field(subject.value, "vtable").is_some() {
        return trait_object(thread, subject);
    }
    let (root, rest) = subject.family.split_once("::").ok_or(UnrecognisedType::Layout)?;
    if !matches!(root, "core" | "alloc" | "std") {
        return Err(UnrecognisedType::Layout);
    }
    let name = rest.rsplit("::").next().unwrap_or(rest);
    match name {
        "String" | "OsString" | "PathBuf" => owned_text(thread, subject),
        "Vec" => vec(thread, subject.value),
        "VecDeque" => deque(thread, subject),
        "HashMap" | "HashSet" => hash_table(thread, subject),
        "BTreeMap" | "BTreeSet" => btree(thread, subject),
        "Rc" | "Arc" => counted(thread, subject),
        "Weak" if root == "alloc" => weak(thread, subject),
        "NonNull" | "Unique" => same(thread, subject, &["pointer"]),
        "Pin" => same(thread, subject, &["pointer"]).or_else(|_| same(thread, subject, &["__pointer"])),
        "UnsafeCell" | "SyncUnsafeCell" | "Cell" | "ManuallyDrop" => same(thread, subject, &["value"]),
        "NonZero" | "MaybeDangling" => same(thread, subject, &["__0"]),
        _ if rest.starts_with("num::niche_types::") => same(thread, subject, &["__0"]),
        "Duration" => duration(thread, subject),
        "RefCell" => ref_cell(thread, subject),
        "Ref" | "RefMut" => borrowed(thread, subject),
        "Mutex" | "RwLock" => lock(thread, subject),
        "MutexGuard" | "RwLockWriteGuard" => guard(thread, subject),
        "RwLockReadGuard" => read_guard(thread, subject),
        "OnceLock" | "OnceCell" | "LazyLock" => once(thread, subject),
        _ if rest.starts_with("sync::atomic::Atomic") => atomic(thread, subject),
        _ => Err(UnrecognisedType::Layout),
    }
}

fn duration(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let seconds = unsigned_at(thread, subject.value, &["secs"])?;
    let nanoseconds = unsigned_at(thread, subject.value, &["nanos"])?;
    let nanoseconds = u32::try_from(nanoseconds).ok().filter(|&all| all < 1_000_000_000);
    let duration = Duration::new(seconds, nanoseconds.ok_or(UnrecognisedType::Layout)?);
    Ok(View::Leaf(format!("{duration:?}")))
}

/// A wrapper of nothing but another value.
fn same(thread: &StoppedThread<'_>, subject: Subject<'_>, path: &[&str]) -> ViewResult {
    Ok(View::Same(Box::new(member_at(thread, subject.value, path)?)))
}
