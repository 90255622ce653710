//! Rust's standard library.

mod collections;
mod pointers;
mod sharing;

use std::time::Duration;

pub(in crate::debuginfo::inspect) use pointers::method_tables;

use super::{Seen, Subject, Unlike};
use crate::debuginfo::inspect::thread::Thread;
use crate::debuginfo::inspect::view::View;

impl Thread<'_> {
    pub(super) fn rust_view(&self, subject: Subject<'_>) -> Seen {
        if self.field(subject.value, "data_ptr").is_some() && self.field(subject.value, "length").is_some() {
            return self.fat_pointer(subject);
        }
        if self.field(subject.value, "vtable").is_some() {
            return self.trait_object(subject);
        }
        let (root, rest) = subject.family.split_once("::").ok_or(Unlike::Layout)?;
        if !matches!(root, "core" | "alloc" | "std") {
            return Err(Unlike::Layout);
        }
        let name = rest.rsplit("::").next().unwrap_or(rest);
        match name {
            "String" | "OsString" | "PathBuf" => self.owned_text(subject),
            "Vec" => self.vec(subject.value),
            "VecDeque" => self.deque(subject),
            "HashMap" | "HashSet" => self.hash_table(subject),
            "BTreeMap" | "BTreeSet" => self.btree(subject),
            "Rc" | "Arc" => self.counted(subject),
            "Weak" if root == "alloc" => self.weak(subject),
            "NonNull" | "Unique" => self.same(subject, &["pointer"]),
            "Pin" => self.same(subject, &["pointer"]).or_else(|_| self.same(subject, &["__pointer"])),
            "UnsafeCell" | "SyncUnsafeCell" | "Cell" | "ManuallyDrop" => self.same(subject, &["value"]),
            "NonZero" | "MaybeDangling" => self.same(subject, &["__0"]),
            _ if rest.starts_with("num::niche_types::") => self.same(subject, &["__0"]),
            "Duration" => self.duration(subject),
            "RefCell" => self.ref_cell(subject),
            "Ref" | "RefMut" => self.borrowed(subject),
            "Mutex" | "RwLock" => self.lock(subject),
            "MutexGuard" | "RwLockWriteGuard" => self.guard(subject),
            "RwLockReadGuard" => self.read_guard(subject),
            "OnceLock" | "OnceCell" | "LazyLock" => self.once(subject),
            _ if rest.starts_with("sync::atomic::Atomic") => self.atomic(subject),
            _ => Err(Unlike::Layout),
        }
    }

    fn duration(&self, subject: Subject<'_>) -> Seen {
        let seconds = self.unsigned_at(subject.value, &["secs"])?;
        let nanoseconds = self.unsigned_at(subject.value, &["nanos"])?;
        let nanoseconds = u32::try_from(nanoseconds).ok().filter(|&all| all < 1_000_000_000);
        let duration = Duration::new(seconds, nanoseconds.ok_or(Unlike::Layout)?);
        Ok(View::Leaf(format!("{duration:?}")))
    }

    /// A wrapper of nothing but another value.
    fn same(&self, subject: Subject<'_>, path: &[&str]) -> Seen {
        Ok(View::Same(Box::new(self.member_at(subject.value, path)?)))
    }
}
