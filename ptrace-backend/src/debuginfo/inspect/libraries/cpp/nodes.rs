//! C++ containers whose elements hang on one another.

use super::{Seen, Subject, Unlike};
use crate::debuginfo::inspect::contents::Contents;
use crate::debuginfo::inspect::index::Ref;
use crate::debuginfo::inspect::shape::Form;
use crate::debuginfo::inspect::thread::Thread;
use crate::debuginfo::inspect::typed::Typed;
use crate::debuginfo::inspect::view::{Items, List, View};
use crate::debuginfo::inspect::walks::{Nodes, Sort, Walk};

impl Thread<'_> {
    /// `map`, `set` and those with equal keys.
    pub(super) fn tree_view(&self, subject: Subject<'_>) -> Seen {
        let tree = self.member_at(subject.value, &["_M_t"])?;
        let implementation = self.member_at(&tree, &["_M_impl"])?;
        let count = self.unsigned_at(&implementation, &["_M_node_count"])?;
        let end = self.member_at(&implementation, &["_M_header"])?;
        let element = self.argument_at(&tree, 1)?;
        let node = self.node_of(&tree, "std::_Rb_tree_node", element)?;
        let element = subject.value.with(Some(element), Contents::Memory(0));
        walked(subject, Nodes::Tree { end, node, element }, count)
    }

    /// `unordered_map` and its relatives: all elements are one chain.
    pub(super) fn hash_chain(&self, subject: Subject<'_>) -> Seen {
        let table = self.member_at(subject.value, &["_M_h"])?;
        let count = self.unsigned_at(&table, &["_M_element_count"])?;
        let first = self.raw(&self.member_at(&table, &["_M_before_begin", "_M_nxt"])?)?.0 as u64;
        let element = self.argument_at(&table, 1)?;
        let node = self.node_of(&table, "std::__detail::_Hash_node", element)?;
        let element = subject.value.with(Some(element), Contents::Memory(0));
        walked(subject, Nodes::Chain { first, node, next: "_M_nxt", element }, count)
    }

    pub(super) fn linked_list(&self, subject: Subject<'_>) -> Seen {
        let end = self.member_at(subject.value, &["_M_impl", "_M_node"])?;
        let count = self.unsigned_at(&end, &["_M_size"])?;
        let first = self.raw(&self.member_at(&end, &["_M_next"])?)?.0 as u64;
        let element = self.argument_at(subject.value, 0)?;
        let node = self.node_of(subject.value, "std::_List_node", element)?;
        let element = subject.value.with(Some(element), Contents::Memory(0));
        walked(subject, Nodes::Chain { first, node, next: "_M_next", element }, count)
    }

    /// The one container that does not know how many elements it has.
    pub(super) fn forward_list(&self, subject: Subject<'_>) -> Seen {
        const MOST_COUNTED: u64 = 10_000;
        let first = self.raw(&self.member_at(subject.value, &["_M_impl", "_M_head", "_M_next"])?)?.0 as u64;
        let element = self.argument_at(subject.value, 0)?;
        let node = self.node_of(subject.value, "std::_Fwd_list_node", element)?;
        let mut count = 0;
        let mut here = first;
        while here != 0 && count < MOST_COUNTED {
            let whole = node.with(node.kind, Contents::Memory(here));
            here = self.raw(&self.member_at(&whole, &["_M_next"])?)?.0 as u64;
            count += 1;
        }
        let element = subject.value.with(Some(element), Contents::Memory(0));
        walked(subject, Nodes::Chain { first, node, next: "_M_next", element }, count)
    }

    fn argument_at(&self, value: &Typed, position: usize) -> Seen<Ref> {
        let shape = self.shape(value).ok_or(Unlike::Layout)?;
        let Form::Composite(parts) = &shape.form else { return Err(Unlike::Layout) };
        parts.arguments.get(position).and_then(|argument| argument.kind).ok_or(Unlike::Layout)
    }

    /// The type of a container's nodes: the template that was made for this type of elements.
    fn node_of(&self, container: &Typed, family: &str, element: Ref) -> Seen<Typed> {
        let info = self.info(container.module).ok_or(Unlike::Layout)?;
        let found = info.instance(element.unit, family, element).ok_or(Unlike::Layout)?;
        Ok(container.with(Some(found), Contents::Memory(0)))
    }
}

fn walked(subject: Subject<'_>, nodes: Nodes, count: u64) -> Seen {
    let sort = match subject.family {
        family if family.ends_with("map") => Sort::Map,
        family if family.ends_with("set") => Sort::Set,
        _ => Sort::Sequence,
    };
    Ok(View::List(List { items: Items::Walk(Walk { nodes, count, sort }), is_dynamic: true }))
}
