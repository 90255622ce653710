//! C++ containers whose elements hang on one another.

use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::shape::Form;
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::stopped::value_location::ValueLocation;
use crate::debuginfo::inspect::values::typed::TypedValue;
use crate::debuginfo::inspect::views::libraries::subject::{
    Subject, UnrecognisedType, ViewResult, member_at, unsigned_at,
};
use crate::debuginfo::inspect::views::traversal::{ContainerKind, Nodes, Traversal};
use crate::debuginfo::inspect::views::view::{Items, List, View};

/// `map`, `set` and those with equal keys.
pub(super) fn tree_view(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let tree = member_at(thread, subject.value, &["_M_t"])?;
    let implementation = member_at(thread, &tree, &["_M_impl"])?;
    let count = unsigned_at(thread, &implementation, &["_M_node_count"])?;
    let end = member_at(thread, &implementation, &["_M_header"])?;
    let element = argument_at(thread, &tree, 1)?;
    let node = node_of(thread, &tree, "std::_Rb_tree_node", element)?;
    let element = subject.value.with(Some(element), ValueLocation::Memory(0));
    traversed(subject, Nodes::Tree { end, node, element }, count)
}

/// `unordered_map` and its relatives: all elements are one chain.
pub(super) fn hash_chain(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let table = member_at(thread, subject.value, &["_M_h"])?;
    let count = unsigned_at(thread, &table, &["_M_element_count"])?;
    let first = thread.raw(&member_at(thread, &table, &["_M_before_begin", "_M_nxt"])?)?.0 as u64;
    let element = argument_at(thread, &table, 1)?;
    let node = node_of(thread, &table, "std::__detail::_Hash_node", element)?;
    let element = subject.value.with(Some(element), ValueLocation::Memory(0));
    traversed(subject, Nodes::Chain { first, node, next: "_M_nxt", element }, count)
}

pub(super) fn linked_list(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let end = member_at(thread, subject.value, &["_M_impl", "_M_node"])?;
    let count = unsigned_at(thread, &end, &["_M_size"])?;
    let first = thread.raw(&member_at(thread, &end, &["_M_next"])?)?.0 as u64;
    let element = argument_at(thread, subject.value, 0)?;
    let node = node_of(thread, subject.value, "std::_List_node", element)?;
    let element = subject.value.with(Some(element), ValueLocation::Memory(0));
    traversed(subject, Nodes::Chain { first, node, next: "_M_next", element }, count)
}

/// The one container that does not know how many elements it has.
pub(super) fn forward_list(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    const MOST_COUNTED: u64 = 10_000;
    let first = thread.raw(&member_at(thread, subject.value, &["_M_impl", "_M_head", "_M_next"])?)?.0 as u64;
    let element = argument_at(thread, subject.value, 0)?;
    let node = node_of(thread, subject.value, "std::_Fwd_list_node", element)?;
    let mut count = 0;
    let mut here = first;
    while here != 0 && count < MOST_COUNTED {
        let whole = node.with(node.kind, ValueLocation::Memory(here));
        here = thread.raw(&member_at(thread, &whole, &["_M_next"])?)?.0 as u64;
        count += 1;
    }
    let element = subject.value.with(Some(element), ValueLocation::Memory(0));
    traversed(subject, Nodes::Chain { first, node, next: "_M_next", element }, count)
}

fn argument_at(thread: &StoppedThread<'_>, value: &TypedValue, position: usize) -> ViewResult<Ref> {
    let shape = thread.shape(value).ok_or(UnrecognisedType::Layout)?;
    let Form::Composite(parts) = &shape.form else { return Err(UnrecognisedType::Layout) };
    parts.arguments.get(position).and_then(|argument| argument.kind).ok_or(UnrecognisedType::Layout)
}

/// The type of a container's nodes: the template that was made for this type of elements.
fn node_of(
    thread: &StoppedThread<'_>,
    container: &TypedValue,
    family: &str,
    element: Ref,
) -> ViewResult<TypedValue> {
    let info = thread.info(container.module).ok_or(UnrecognisedType::Layout)?;
    let found = info.instance(element.unit, family, element).ok_or(UnrecognisedType::Layout)?;
    Ok(container.with(Some(found), ValueLocation::Memory(0)))
}

fn traversed(subject: Subject<'_>, nodes: Nodes, count: u64) -> ViewResult {
    let kind = match subject.family {
        family if family.ends_with("map") => ContainerKind::Map,
        family if family.ends_with("set") => ContainerKind::Set,
        _ => ContainerKind::Sequence,
    };
    Ok(View::List(List { items: Items::Traversal(Traversal { nodes, count, kind }), is_dynamic: true }))
}
