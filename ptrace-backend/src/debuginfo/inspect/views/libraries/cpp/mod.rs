//! The GNU C++ library.

mod containers;
mod nodes;
mod wrappers;

use containers::{cpp_deque, cpp_text, initializer_list, vector};
use nodes::{forward_list, hash_chain, linked_list, tree_view};
use wrappers::{
    cpp_atomic, cpp_mutex, optional, pair, pointer_in, shared_pointer, thread_handle, tuple, unique_pointer,
    variant_view,
};

use super::posix::posix_view;
use super::subject::{Recognised, Subject, UnrecognisedType, ViewResult, member_at};
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::views::view::View;

pub(super) fn cpp_view(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult<Recognised> {
    let Some(rest) = subject.family.strip_prefix("std::") else {
        let view = match subject.family {
            "__gnu_cxx::__normal_iterator" => only(thread, subject, &["_M_current"]),
            _ => posix_view(thread, subject),
        };
        return view.map(Recognised::from);
    };
    let name = rest.strip_prefix("__cxx11::").unwrap_or(rest);
    let view = match name {
        "basic_string" => cpp_text(thread, subject, &["_M_dataplus", "_M_p"], &["_M_string_length"]),
        "basic_string_view" => cpp_text(thread, subject, &["_M_str"], &["_M_len"]),
        "vector" => vector(thread, subject),
        "array" => only(thread, subject, &["_M_elems"]),
        "deque" => cpp_deque(thread, subject),
        "initializer_list" => initializer_list(thread, subject),
        "map" | "multimap" | "set" | "multiset" => tree_view(thread, subject),
        "unordered_map" | "unordered_multimap" | "unordered_set" | "unordered_multiset" => {
            hash_chain(thread, subject)
        }
        "list" => linked_list(thread, subject),
        "forward_list" => forward_list(thread, subject),
        "pair" => pair(thread, subject),
        "tuple" => tuple(thread, subject),
        "optional" => optional(thread, subject),
        "variant" => variant_view(thread, subject),
        "unique_ptr" => return unique_pointer(thread, subject),
        "shared_ptr" | "weak_ptr" => return shared_pointer(thread, subject),
        "atomic" | "__atomic_base" | "atomic_flag" => cpp_atomic(thread, subject),
        "mutex" | "recursive_mutex" | "timed_mutex" | "recursive_timed_mutex" => cpp_mutex(thread, subject),
        "thread" => thread_handle(thread, subject, &["_M_id", "_M_thread"]),
        "thread::id" => thread_handle(thread, subject, &["_M_thread"]),
        "chrono::duration" => only(thread, subject, &["__r"]),
        "reference_wrapper" => return pointer_in(thread, subject, &["_M_data"]),
        _ => Err(UnrecognisedType::Layout),
    };
    view.map(Recognised::from)
}

/// A wrapper of nothing but another value.
fn only(thread: &StoppedThread<'_>, subject: Subject<'_>, path: &[&str]) -> ViewResult {
    Ok(View::Same(Box::new(member_at(thread, subject.value, path)?)))
}
