//! The items of a list, wherever they are.

use super::traversal::follow;
use super::view::{Items, Shown};
use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::stopped::value_location::ValueLocation;
use crate::debuginfo::inspect::values::typed::TypedValue;
use crate::debuginfo::memory::word;

/// An item of a list.
pub(super) struct Item {
    /// Its key in a map.
    pub(super) key: Option<TypedValue>,
    pub(super) shown: Shown,
    /// Expressions have a way to it: by its number.
    pub(super) is_numbered: bool,
}

impl Item {
    fn numbered(shown: Shown) -> Self {
        Self { key: None, shown, is_numbered: true }
    }
}

/// The items from `start` on, at most `count`.
pub(super) fn items_of(thread: &StoppedThread<'_>, items: &Items, start: u64, count: u64) -> Vec<Item> {
    let range = start..start.saturating_add(count).min(items.count());
    match items {
        Items::Elements(elements) => {
            range.map(|index| Item::numbered(Shown::Value(elements.get(index)))).collect()
        }
        Items::Ring { slots, head, .. } => {
            let slot = |index: u64| head.saturating_add(index) % slots.count.unwrap_or_default().max(1);
            range.map(|index| Item::numbered(Shown::Value(slots.get(slot(index))))).collect()
        }
        Items::Bits { address, first, .. } => {
            range.map(|index| Item::numbered(bit(thread, *address, first.saturating_add(index)))).collect()
        }
        Items::Blocks { table, per_block, first, element, stride, .. } => range
            .map(|index| {
                let position = first.saturating_add(index);
                let slot = table.wrapping_add((position / per_block).wrapping_mul(8));
                let location = match word(thread.memory(), slot) {
                    Some(block) => ValueLocation::Memory(
                        block.wrapping_add((position % per_block).wrapping_mul(*stride)),
                    ),
                    None => ValueLocation::Missing(Missing::Unreadable(slot)),
                };
                Item::numbered(Shown::Value(element.with(element.kind, location)))
            })
            .collect(),
        Items::Traversal(traversal) => {
            let found = follow(thread, traversal, start, count).into_iter();
            found.map(|(key, value)| Item { key, shown: Shown::Value(value), is_numbered: false }).collect()
        }
    }
}

/// A bit, counted from the lowest at an address.
fn bit(thread: &StoppedThread<'_>, address: u64, bit: u64) -> Shown {
    let mut byte = [0];
    let at = address.wrapping_add(bit / 8);
    let words = if !thread.memory().read(at, &mut byte) {
        Missing::Unreadable(at).to_string()
    } else {
        (byte[0] >> (bit % 8) & 1 == 1).to_string()
    };
    Shown::Words { type_name: "bool".to_owned(), words }
}
