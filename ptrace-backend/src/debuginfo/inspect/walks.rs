//! Containers whose elements hang on one another: trees, chains, hash tables.

use super::contents::Contents;
use super::thread::Thread;
use super::typed::{Elements, Typed};
use super::view::{Field, Reach, Shown};

/// More elements than these are not reached: somebody would have to scroll very far.
const MOST_WALKED: u64 = 100_000;
/// Trees are less high than this; damaged ones have circles.
const HIGHEST: u64 = 128;
/// A slot is in no more wrappers than these.
const WRAPPERS: usize = 6;
/// Control bytes that are read at a time.
const GROUP: u64 = 1024;

/// The elements of a container that has to be walked.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub(super) nodes: Nodes,
    pub(super) count: u64,
    pub(super) sort: Sort,
}

/// What the elements are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    /// Pairs of keys and values.
    Map,
    /// Keys.
    Set,
    /// Values in an order.
    Sequence,
}

/// How to get from one element to the next.
#[derive(Clone, Debug)]
pub(super) enum Nodes {
    None,
    /// Rust's hash table: slots in front of `control`, the first one next to it; one control byte for each slot.
    Table {
        slots: Elements,
        control: u64,
    },
    /// Rust's ordered map: the root as a leaf, and the type of inner nodes.
    BTree {
        leaf: Typed,
        inner: Typed,
        height: u64,
    },
    /// A C++ tree: the node that stands for the end, the type of nodes, and that of elements.
    Tree {
        end: Typed,
        node: Typed,
        element: Typed,
    },
    /// A C++ list: the first node, the type of nodes, the member that leads to the next, the type of elements.
    Chain {
        first: u64,
        node: Typed,
        next: &'static str,
        element: Typed,
    },
}

impl Thread<'_> {
    /// The elements from `start` on, at most `count`.
    pub(super) fn walk(&self, walk: &Walk, start: u64, count: u64) -> Vec<Field> {
        let end = start.saturating_add(count).min(walk.count).min(MOST_WALKED);
        let mut found = Vec::new();
        // What cannot be walked to its end is shown as far as it goes.
        let _ = match &walk.nodes {
            Nodes::None => None,
            Nodes::Table { slots, control } => self.table(slots, *control, end, &mut found),
            Nodes::BTree { leaf, inner, height } => {
                let address = leaf.contents.address();
                address.and_then(|address| self.btree_node((leaf, inner), address, *height, end, &mut found))
            }
            Nodes::Tree { end: last, node, element } => self.tree(last, node, element, end, &mut found),
            Nodes::Chain { first, node, next, element } => {
                self.chain(*first, node, next, element, end, &mut found)
            }
        };
        let numbered = found.into_iter().enumerate().skip(start as usize);
        numbered.map(|(index, element)| self.labelled(walk.sort, index, element)).collect()
    }

    fn labelled(&self, sort: Sort, index: usize, element: Element) -> Field {
        let (key, value) = match (sort, element) {
            (Sort::Map, Element::Value(pair)) => match self.halves(&pair) {
                Some((key, value)) => (Some(key), value),
                None => (None, pair),
            },
            (Sort::Map, Element::Pair(key, value)) => (Some(key), value),
            // A set of Rust is a map to nothing.
            (Sort::Set, Element::Pair(key, _)) => (None, key),
            (Sort::Set, Element::Value(value)) => match self.halves(&value) {
                Some((key, nothing)) if self.size(&nothing) == Some(0) => (None, key),
                _ => (None, value),
            },
            (Sort::Sequence, Element::Value(value) | Element::Pair(_, value)) => (None, value),
        };
        let name = key.map_or_else(|| format!("[{index}]"), |key| format!("[{}]", self.summary(&key)));
        Field { name, shown: Shown::Value(value), reach: Reach::Never }
    }

    /// Key and value of an entry that is a pair.
    fn halves(&self, pair: &Typed) -> Option<(Typed, Typed)> {
        let both = |key, value| self.field(pair, key).zip(self.field(pair, value));
        both("first", "second").or_else(|| both("__0", "__1"))
    }

    fn table(&self, slots: &Elements, control: u64, end: u64, found: &mut Vec<Element>) -> Option<()> {
        let buckets = slots.count?;
        let mut bytes = [0; GROUP as usize];
        for start in (0..buckets).step_by(GROUP as usize) {
            let size = GROUP.min(buckets - start) as usize;
            self.memory().read(control.checked_add(start)?, &mut bytes[..size]).then_some(())?;
            // The highest bit marks what is empty or deleted.
            for (index, _) in (start..).zip(&bytes[..size]).filter(|(_, control)| **control & 0x80 == 0) {
                if found.len() as u64 >= end {
                    return Some(());
                }
                let address = control.checked_sub((index + 1).checked_mul(slots.stride)?)?;
                found.push(Element::Value(slots.first.with(slots.first.kind, Contents::Memory(address))));
            }
        }
        Some(())
    }

    fn btree_node(
        &self,
        types: (&Typed, &Typed),
        address: u64,
        height: u64,
        end: u64,
        found: &mut Vec<Element>,
    ) -> Option<()> {
        let (leaf, inner) = types;
        let node = leaf.with(leaf.kind, Contents::Memory(address));
        let length = self.integer(&self.field(&node, "len")?).ok()?;
        let length = u64::try_from(length).ok().filter(|&length| length <= HIGHEST)?;
        let slots = |name| self.elements(&self.field(&node, name)?);
        let (keys, values) = (slots("keys")?, slots("vals")?);
        let edges = if height == 0 {
            None
        } else {
            let node = inner.with(inner.kind, Contents::Memory(address));
            Some(self.elements(&self.field(&node, "edges")?)?)
        };
        for index in 0..=length {
            if let Some(edges) = edges.as_ref().filter(|_| height <= HIGHEST) {
                let edge = self.field(&self.filled(&edges.get(index))?, "pointer")?;
                let below = self.raw(&edge).ok()?.0 as u64;
                self.btree_node(types, below, height - 1, end, found)?;
            }
            if found.len() as u64 >= end || index == length {
                return Some(());
            }
            let pair = self.filled(&keys.get(index)).zip(self.filled(&values.get(index)));
            let (key, value) = pair?;
            found.push(Element::Pair(key, value));
        }
        Some(())
    }

    /// What is in a slot that may be empty.
    fn filled(&self, slot: &Typed) -> Option<Typed> {
        let mut here = slot.clone();
        for _ in 0..WRAPPERS {
            let shape = self.shape(&here)?;
            let name = shape.name.as_deref().unwrap_or_default();
            let is_wrapper = ["MaybeUninit<", "ManuallyDrop<", "MaybeDangling<"];
            if !is_wrapper.iter().any(|wrapper| name.starts_with(wrapper)) {
                return Some(here);
            }
            here = self.field(&here, "value").or_else(|| self.field(&here, "__0"))?;
        }
        None
    }

    fn tree(
        &self,
        end_node: &Typed,
        node: &Typed,
        element: &Typed,
        end: u64,
        found: &mut Vec<Element>,
    ) -> Option<()> {
        let at = |address| end_node.with(end_node.kind, Contents::Memory(address));
        let link = |address, name: &str| Some(self.raw(&self.field(&at(address), name)?).ok()?.0 as u64);
        let last = end_node.contents.address()?;
        let mut here = link(last, "_M_left")?;
        while (found.len() as u64) < end && here != last && here != 0 {
            found.push(Element::Value(self.stored(here, node, element)?));
            here = successor(here, &link)?;
        }
        Some(())
    }

    fn chain(
        &self,
        first: u64,
        node: &Typed,
        next: &str,
        element: &Typed,
        end: u64,
        found: &mut Vec<Element>,
    ) -> Option<()> {
        let mut here = first;
        while (found.len() as u64) < end && here != 0 {
            found.push(Element::Value(self.stored(here, node, element)?));
            let whole = node.with(node.kind, Contents::Memory(here));
            here = self.raw(&self.field(&whole, next)?).ok()?.0 as u64;
        }
        Some(())
    }

    /// The element in a node of C++'s containers.
    fn stored(&self, address: u64, node: &Typed, element: &Typed) -> Option<Typed> {
        let whole = node.with(node.kind, Contents::Memory(address));
        let storage = self.field(&whole, "_M_storage").or_else(|| self.field(&whole, "_M_value_field"))?;
        Some(element.with(element.kind, storage.contents))
    }
}

/// What a walk finds.
pub(super) enum Element {
    Value(Typed),
    Pair(Typed, Typed),
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
