//! Vectors, texts, maps.

use super::{Seen, Subject, Unlike};
use crate::debuginfo::inspect::contents::Contents;
use crate::debuginfo::inspect::index::Ref;
use crate::debuginfo::inspect::libraries::list_of;
use crate::debuginfo::inspect::shape::Form;
use crate::debuginfo::inspect::thread::Thread;
use crate::debuginfo::inspect::typed::{Elements, Typed};
use crate::debuginfo::inspect::view::{Items, List, View};
use crate::debuginfo::inspect::walks::{Nodes, Sort, Walk};

impl Thread<'_> {
    pub(super) fn vec(&self, vec: &Typed) -> Seen {
        Ok(list_of(self.vec_elements(vec)?))
    }

    fn vec_elements(&self, vec: &Typed) -> Seen<Elements> {
        let length = self.unsigned_at(vec, &["len"])?;
        let address = self.address_in(&self.member_at(vec, &["buf"])?)?;
        self.elements_at(vec, self.argument_of(vec, "T"), address, length)
    }

    /// The type that a generic type was given.
    fn argument_of(&self, value: &Typed, name: &str) -> Option<Ref> {
        let shape = self.shape(value)?;
        let Form::Composite(parts) = &shape.form else { return None };
        parts.arguments.iter().find(|argument| argument.name.as_deref() == Some(name))?.kind
    }

    /// The address in whatever a buffer keeps it in.
    fn address_in(&self, buffer: &Typed) -> Seen<u64> {
        let mut here = buffer.clone();
        for _ in 0..8 {
            if matches!(self.shape(&here).ok_or(Unlike::Layout)?.form, Form::Pointer { .. }) {
                return Ok(self.raw(&here)?.0 as u64);
            }
            let next = ["inner", "ptr", "pointer"].iter().find_map(|name| self.field(&here, name));
            here = next.ok_or(Unlike::Layout)?;
        }
        Err(Unlike::Layout)
    }

    /// `String`, `OsString`, `PathBuf`: bytes in a vector, somewhere.
    pub(super) fn owned_text(&self, subject: Subject<'_>) -> Seen {
        let mut here = subject.value.clone();
        for _ in 0..6 {
            if self.field(&here, "len").is_some() {
                let elements = self.vec_elements(&here)?;
                let address = elements.first.contents.address().ok_or(Unlike::Layout)?;
                return Ok(View::Text(self.text_at(address, elements.count.unwrap_or_default())?));
            }
            let next = ["vec", "inner"].iter().find_map(|name| self.field(&here, name));
            here = next.ok_or(Unlike::Layout)?;
        }
        Err(Unlike::Layout)
    }

    pub(super) fn deque(&self, subject: Subject<'_>) -> Seen {
        let value = subject.value;
        let head = self.unsigned_at(value, &["head"])?;
        let length = self.unsigned_at(value, &["len"])?;
        let capacity = self.unsigned_at(value, &["buf", "inner", "cap"])?;
        let address = self.address_in(&self.member_at(value, &["buf"])?)?;
        let slots = self.elements_at(value, self.argument_of(value, "T"), address, capacity)?;
        // Elements without bytes need no room.
        if slots.stride > 0 && (length > capacity || head >= capacity.max(1)) {
            return Err(Unlike::Layout);
        }
        Ok(View::List(List { items: Items::Ring { slots, head, count: length }, is_dynamic: true }))
    }

    /// `HashMap` and `HashSet`.
    pub(super) fn hash_table(&self, subject: Subject<'_>) -> Seen {
        let base = self.member_at(subject.value, &["base"])?;
        // A set is a map without values.
        let is_set = self.field(&base, "map").is_some();
        let map = if is_set { self.member_at(&base, &["map"])? } else { base };
        let table = self.member_at(&map, &["table"])?;
        let inner = self.member_at(&table, &["table"])?;
        let count = self.unsigned_at(&inner, &["items"])?;
        let mask = self.unsigned_at(&inner, &["bucket_mask"])?;
        let control = self.address_in(&self.member_at(&inner, &["ctrl"])?)?;
        let buckets = mask.checked_add(1).filter(|&buckets| buckets.is_power_of_two() && count <= buckets);
        let buckets = buckets.ok_or(Unlike::Layout)?;
        let slots = self.elements_at(subject.value, self.argument_of(&table, "T"), control, buckets)?;
        let sort = if is_set { Sort::Set } else { Sort::Map };
        let nodes = Nodes::Table { slots, control };
        Ok(View::List(List { items: Items::Walk(Walk { nodes, count, sort }), is_dynamic: true }))
    }

    /// `BTreeMap` and `BTreeSet`.
    pub(super) fn btree(&self, subject: Subject<'_>) -> Seen {
        let is_set = subject.family.ends_with("Set");
        let map = if is_set { self.member_at(subject.value, &["map"])? } else { subject.value.clone() };
        let count = self.unsigned_at(&map, &["length"])?;
        let sort = if is_set { Sort::Set } else { Sort::Map };
        let walk = |nodes| {
            let walk = Walk { nodes, count, sort };
            Ok(View::List(List { items: Items::Walk(walk), is_dynamic: true }))
        };
        if count == 0 {
            return walk(Nodes::None);
        }
        let root = self.member_at(&map, &["root"])?;
        let root = self.some(&root)?;
        let height = self.unsigned_at(&root, &["height"])?;
        let leaf = self.target(&self.member_at(&root, &["node", "pointer"])?)?;
        let inner = self.internal_node(&leaf)?;
        walk(Nodes::BTree { leaf, inner, height })
    }

    /// What is in an `Option`.
    fn some(&self, option: &Typed) -> Seen<Typed> {
        let shape = self.shape(option).ok_or(Unlike::Layout)?;
        let Form::Composite(parts) = &shape.form else { return Err(Unlike::Layout) };
        let variants = parts.variants.as_ref().ok_or(Unlike::Layout)?;
        let variant = self.variant(option, variants)?.ok_or(Unlike::Layout)?;
        self.field(&self.part(option, &variant.member), "__0").ok_or(Unlike::Layout)
    }

    /// A leaf knows of inner nodes only through its parent.
    fn internal_node(&self, leaf: &Typed) -> Seen<Typed> {
        let parent = self.member_at(leaf, &["parent"])?;
        let shape = self.shape(&parent).ok_or(Unlike::Layout)?;
        let Form::Composite(parts) = &shape.form else { return Err(Unlike::Layout) };
        let variants = parts.variants.as_ref().ok_or(Unlike::Layout)?;
        let pointers = variants.all.iter().filter_map(|variant| {
            let pointer = self.field(&self.part(&parent, &variant.member), "__0")?;
            self.field(&pointer, "pointer")
        });
        let pointer = pointers.into_iter().next().ok_or(Unlike::Layout)?;
        let shape = self.shape(&pointer).ok_or(Unlike::Layout)?;
        let Form::Pointer { to, .. } = shape.form else { return Err(Unlike::Layout) };
        Ok(pointer.with(to, Contents::Memory(0)))
    }
}
