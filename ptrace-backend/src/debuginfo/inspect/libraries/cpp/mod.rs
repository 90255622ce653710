//! The GNU C++ library.

mod containers;
mod nodes;
mod wrappers;

use super::{Seen, Subject, Unlike};
use crate::debuginfo::inspect::thread::Thread;
use crate::debuginfo::inspect::view::View;

impl Thread<'_> {
    pub(super) fn cpp_view(&self, subject: Subject<'_>) -> Seen {
        let Some(rest) = subject.family.strip_prefix("std::") else {
            return match subject.family {
                "__gnu_cxx::__normal_iterator" => self.only(subject, &["_M_current"]),
                _ => self.posix_view(subject),
            };
        };
        let name = rest.strip_prefix("__cxx11::").unwrap_or(rest);
        match name {
            "basic_string" => self.cpp_text(subject, &["_M_dataplus", "_M_p"], &["_M_string_length"]),
            "basic_string_view" => self.cpp_text(subject, &["_M_str"], &["_M_len"]),
            "vector" => self.vector(subject),
            "array" => self.only(subject, &["_M_elems"]),
            "deque" => self.cpp_deque(subject),
            "initializer_list" => self.initializer_list(subject),
            "map" | "multimap" | "set" | "multiset" => self.tree_view(subject),
            "unordered_map" | "unordered_multimap" | "unordered_set" | "unordered_multiset" => {
                self.hash_chain(subject)
            }
            "list" => self.linked_list(subject),
            "forward_list" => self.forward_list(subject),
            "pair" => self.pair(subject),
            "tuple" => self.tuple(subject),
            "optional" => self.optional(subject),
            "variant" => self.variant_view(subject),
            "unique_ptr" => self.unique_pointer(subject),
            "shared_ptr" | "weak_ptr" => self.shared_pointer(subject),
            "atomic" | "__atomic_base" | "atomic_flag" => self.cpp_atomic(subject),
            "mutex" | "recursive_mutex" | "timed_mutex" | "recursive_timed_mutex" => self.cpp_mutex(subject),
            "thread" => self.thread_handle(subject, &["_M_id", "_M_thread"]),
            "thread::id" => self.thread_handle(subject, &["_M_thread"]),
            "chrono::duration" => self.only(subject, &["__r"]),
            "reference_wrapper" => self.pointer_in(subject, &["_M_data"]),
            _ => Err(Unlike::Layout),
        }
    }

    /// A wrapper of nothing but another value.
    fn only(&self, subject: Subject<'_>, path: &[&str]) -> Seen {
        Ok(View::Same(Box::new(self.member_at(subject.value, path)?)))
    }
}
