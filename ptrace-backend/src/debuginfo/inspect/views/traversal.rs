//! Containers whose elements hang on one another: trees, chains, hash tables.

use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::stopped::value_location::ValueLocation;
use crate::debuginfo::inspect::values::typed::{Elements, TypedValue};

/// More elements than these are not reached: a user would have to scroll very far.
const MOST_VISITED: u64 = 100_000;
/// Trees are less high than this; damaged ones have circles.
const HIGHEST: u64 = 128;
/// A slot is in no more wrappers than these.
const WRAPPERS: usize = 6;
/// Control bytes that are read at a time.
const GROUP: u64 = 1024;

/// The elements of a container that has to be walked.
#[derive(Clone, Debug)]
pub(crate) struct Traversal {
    pub(crate) nodes: Nodes,
    pub(crate) count: u64,
    pub(crate) kind: ContainerKind,
}

/// The sort of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ContainerKind {
    /// Pairs of keys and values.
    Map,
    /// Keys.
    Set,
    /// Values in an order.
    Sequence,
}

/// The links that lead from one element to the next.
#[derive(Clone, Debug)]
pub(crate) enum Nodes {
    None,
    /// Rust's hash table: slots in front of `control`, the first one next to it; one control byte for each slot.
    Table {
        slots: Elements,
        control: u64,
    },
    /// Rust's ordered map: the root as a leaf, and the type of inner nodes.
    BTree {
        leaf: TypedValue,
        inner: TypedValue,
        height: u64,
    },
    /// A C++ tree: the node that stands for the end, the type of nodes, and that of elements.
    Tree {
        end: TypedValue,
        node: TypedValue,
        element: TypedValue,
    },
    /// A C++ list: the first node, the type of nodes, the member that leads to the next, the type of elements.
    Chain {
        first: u64,
        node: TypedValue,
        next: &'static str,
        element: TypedValue,
    },
}

/// The elements from `start` on, at most `count`, each with its key, if it has one.
pub(crate) fn follow(
    thread: &StoppedThread<'_>,
    traversal: &Traversal,
    start: u64,
    count: u64,
) -> Vec<(Option<TypedValue>, TypedValue)> {
    let end = start.saturating_add(count).min(traversal.count).min(MOST_VISITED);
    let mut found = Vec::new();
    // A container that cannot be walked to its end is shown as far as the walk goes.
    let _ = match &traversal.nodes {
        Nodes::None => None,
        Nodes::Table { slots, control } => table(thread, slots, *control, end, &mut found),
        Nodes::BTree { leaf, inner, height } => {
            let address = leaf.location.address();
            address.and_then(|address| btree_node(thread, (leaf, inner), address, *height, end, &mut found))
        }
        Nodes::Tree { end: last, node, element } => tree(thread, last, node, element, end, &mut found),
        Nodes::Chain { first, node, next, element } => {
            chain(thread, *first, node, next, element, end, &mut found)
        }
    };
    found.into_iter().skip(start as usize).map(|element| keyed(thread, traversal.kind, element)).collect()
}

/// An element with its key, if it has one.
fn keyed(
    thread: &StoppedThread<'_>,
    kind: ContainerKind,
    element: Element,
) -> (Option<TypedValue>, TypedValue) {
    match (kind, element) {
        (ContainerKind::Map, Element::Value(pair)) => match halves(thread, &pair) {
            Some((key, value)) => (Some(key), value),
            None => (None, pair),
        },
        (ContainerKind::Map, Element::Pair(key, value)) => (Some(key), value),
        // A set of Rust is a map to nothing.
        (ContainerKind::Set, Element::Pair(key, _)) => (None, key),
        (ContainerKind::Set, Element::Value(value)) => match halves(thread, &value) {
            Some((key, nothing)) if thread.size(&nothing) == Some(0) => (None, key),
            _ => (None, value),
        },
        (ContainerKind::Sequence, Element::Value(value) | Element::Pair(_, value)) => (None, value),
    }
}

/// Key and value of an entry that is a pair.
fn halves(thread: &StoppedThread<'_>, pair: &TypedValue) -> Option<(TypedValue, TypedValue)> {
    let both = |key, value| thread.field(pair, key).zip(thread.field(pair, value));
    both("first", "second").or_else(|| both("__0", "__1"))
}

fn table(
    thread: &StoppedThread<'_>,
    slots: &Elements,
    control: u64,
    end: u64,
    found: &mut Vec<Element>,
) -> Option<()> {
    let buckets = slots.count?;
    let mut bytes = [0; GROUP as usize];
    for start in (0..buckets).step_by(GROUP as usize) {
        let size = GROUP.min(buckets - start) as usize;
        thread.memory().read(control.checked_add(start)?, &mut bytes[..size]).then_some(())?;
        // The highest bit marks what is empty or deleted.
        for (index, _) in (start..).zip(&bytes[..size]).filter(|(_, control)| **control & 0x80 == 0) {
            if found.len() as u64 >= end {
                return Some(());
            }
            let address = control.checked_sub((index + 1).checked_mul(slots.stride)?)?;
            found.push(Element::Value(slots.first.with(slots.first.kind, ValueLocation::Memory(address))));
        }
    }
    Some(())
}

fn btree_node(
    thread: &StoppedThread<'_>,
    types: (&TypedValue, &TypedValue),
    address: u64,
    height: u64,
    end: u64,
    found: &mut Vec<Element>,
) -> Option<()> {
    let (leaf, inner) = types;
    let node = leaf.with(leaf.kind, ValueLocation::Memory(address));
    let length = thread.integer(&thread.field(&node, "len")?).ok()?;
    let length = u64::try_from(length).ok().filter(|&length| length <= HIGHEST)?;
    let slots = |name| thread.elements(&thread.field(&node, name)?);
    let (keys, values) = (slots("keys")?, slots("vals")?);
    let edges = if height == 0 {
        None
    } else {
        let node = inner.with(inner.kind, ValueLocation::Memory(address));
        Some(thread.elements(&thread.field(&node, "edges")?)?)
    };
    for index in 0..=length {
        if let Some(edges) = edges.as_ref().filter(|_| height <= HIGHEST) {
            let edge = thread.field(&filled(thread, &edges.get(index))?, "pointer")?;
            let below = thread.raw(&edge).ok()?.0 as u64;
            btree_node(thread, types, below, height - 1, end, found)?;
        }
        if found.len() as u64 >= end || index == length {
            return Some(());
        }
        let pair = filled(thread, &keys.get(index)).zip(filled(thread, &values.get(index)));
        let (key, value) = pair?;
        found.push(Element::Pair(key, value));
    }
    Some(())
}

/// The contents of a slot that may be empty.
fn filled(thread: &StoppedThread<'_>, slot: &TypedValue) -> Option<TypedValue> {
    let mut here = slot.clone();
    for _ in 0..WRAPPERS {
        let shape = thread.shape(&here)?;
        let name = shape.name.as_deref().unwrap_or_default();
        let is_wrapper = ["MaybeUninit<", "ManuallyDrop<", "MaybeDangling<"];
        if !is_wrapper.iter().any(|wrapper| name.starts_with(wrapper)) {
            return Some(here);
        }
        here = thread.field(&here, "value").or_else(|| thread.field(&here, "__0"))?;
    }
    None
}

fn tree(
    thread: &StoppedThread<'_>,
    end_node: &TypedValue,
    node: &TypedValue,
    element: &TypedValue,
    end: u64,
    found: &mut Vec<Element>,
) -> Option<()> {
    let at = |address| end_node.with(end_node.kind, ValueLocation::Memory(address));
    let link = |address, name: &str| Some(thread.raw(&thread.field(&at(address), name)?).ok()?.0 as u64);
    let last = end_node.location.address()?;
    let mut here = link(last, "_M_left")?;
    while (found.len() as u64) < end && here != last && here != 0 {
        found.push(Element::Value(stored(thread, here, node, element)?));
        here = successor(here, &link)?;
    }
    Some(())
}

fn chain(
    thread: &StoppedThread<'_>,
    first: u64,
    node: &TypedValue,
    next: &str,
    element: &TypedValue,
    end: u64,
    found: &mut Vec<Element>,
) -> Option<()> {
    let mut here = first;
    while (found.len() as u64) < end && here != 0 {
        found.push(Element::Value(stored(thread, here, node, element)?));
        let whole = node.with(node.kind, ValueLocation::Memory(here));
        here = thread.raw(&thread.field(&whole, next)?).ok()?.0 as u64;
    }
    Some(())
}

/// The element in a node of C++'s containers.
fn stored(
    thread: &StoppedThread<'_>,
    address: u64,
    node: &TypedValue,
    element: &TypedValue,
) -> Option<TypedValue> {
    let whole = node.with(node.kind, ValueLocation::Memory(address));
    let storage = thread.field(&whole, "_M_storage").or_else(|| thread.field(&whole, "_M_value_field"))?;
    Some(element.with(element.kind, storage.location))
}

/// An element that a walk finds.
enum Element {
    Value(TypedValue),
    Pair(TypedValue, TypedValue),
}

/// The next node of a tree, in order.
fn successor(node: u64, link: &dyn Fn(u64, &str) -> Option<u64>) -> Option<u64> {
    let right = link(node, "_M_right")?;
    if right != 0 {
        let mut here = right;
        for _ in 0..HIGHEST {
            match link(here, "_M_left")? {
                0 => return Some(here),
                left => here = left,
            }
        }
        return None;
    }
    let mut here = node;
    for _ in 0..HIGHEST {
        let parent = link(here, "_M_parent")?;
        if link(parent, "_M_right")? != here {
            return Some(parent);
        }
        here = parent;
    }
    None
}
