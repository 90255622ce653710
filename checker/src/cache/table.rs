//! The entries of a cache, 32 bytes each: a search keeps more than a million of them.

use super::{Key, Position, Runner};

/// An entry: a state was entered with this position at this cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) ran: Runner,
    position: u32,
    pub(super) item: u32,
    /// Plus 1, so that 0 is an empty slot.
    cost: u16,
    withdrawn: bool,
}

/// Beyond this many slots nothing is added: 64 MiB.
const MAX_SLOTS: usize = 1 << 21;

const EMPTY: Entry =
    Entry { key: Key::NONE, ran: Runner(0), position: 0, item: 0, cost: 0, withdrawn: false };

/// Entries by key, several of one key allowed: open addressing.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Vec<Entry>,
    taken: usize,
}

impl Entry {
    pub(super) fn new(key: Key, ran: Runner, position: Position, cost: u32, item: u64) -> Self {
        Self {
            key,
            ran,
            position: position.packed(),
            item: item as u32,
            cost: clamp(cost) + 1,
            withdrawn: false,
        }
    }

    pub(super) fn is_at(&self, position: Position) -> bool {
        self.position == position.packed()
    }

    /// Whether who ran last may be left and come back to like any other thread.
    pub(super) fn is_unbound(&self) -> bool {
        self.position & KIND != Position::Yields(Runner(0)).packed() && self.position & Runner::GAVE_WAY == 0
    }

    pub(super) fn costs_at_most(&self, cost: u32) -> bool {
        self.cost <= clamp(cost) + 1
    }

    pub(super) fn costs_less_than(&self, cost: u32) -> bool {
        self.cost < clamp(cost) + 1
    }
}

fn clamp(cost: u32) -> u16 {
    cost.min(u32::from(u16::MAX - 1)) as u16
}

/// The two lowest bits of a packed position, which a runner leaves empty.
const KIND: u32 = 3;

impl Position {
    fn packed(self) -> u32 {
        match self {
            Self::Free => 0,
            Self::At(Runner(runner)) => runner | 1,
            Self::Waits(Runner(runner)) => runner | 2,
            Self::Yields(Runner(runner)) => runner | 3,
        }
    }
}

impl Table {
    /// The entries of a key.
    pub(super) fn of(&self, key: Key) -> impl Iterator<Item = &Entry> {
        self.chain(key)
            .map(|slot| &self.slots[slot])
            .filter(move |entry| entry.key == key && !entry.withdrawn)
    }

    /// Adds an entry, or puts it in the place of the one with the same position.
    pub(super) fn insert(&mut self, entry: Entry) {
        let same = |old: &Entry| old.key == entry.key && old.position == entry.position;
        let found = self.chain(entry.key).find(|&slot| same(&self.slots[slot]));
        if let Some(slot) = found {
            self.slots[slot] = entry;
            return;
        }
        if (self.taken + 1) * 4 > self.slots.len() * 3 && !self.grow() {
            return;
        }
        self.place(entry);
        self.taken += 1;
    }

    /// Takes back the entries that an item made at a key.
    pub(super) fn withdraw(&mut self, key: Key, item: u64) {
        let chain: Vec<usize> = self.chain(key).collect();
        for slot in chain {
            let entry = &mut self.slots[slot];
            entry.withdrawn |= entry.key == key && entry.item == item as u32;
        }
    }

    /// The taken slots where entries of a key can be.
    fn chain(&self, key: Key) -> impl Iterator<Item = usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let start = key.spread() as usize;
        (0..self.slots.len())
            .map(move |step| start.wrapping_add(step) & mask)
            .take_while(|&slot| self.slots[slot].cost != 0)
    }

    fn place(&mut self, entry: Entry) {
        let mask = self.slots.len() - 1;
        let mut slot = entry.key.spread() as usize & mask;
        while self.slots[slot].cost != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = entry;
    }

    fn grow(&mut self) -> bool {
        let size = (self.slots.len() * 2).max(64);
        if size > MAX_SLOTS {
            return false;
        }
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; size]);
        old.into_iter().filter(|entry| entry.cost != 0).for_each(|entry| self.place(entry));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::HbHash;

    fn entry(state: u32, runner: u32, cost: u32) -> Entry {
        // Few different low halves: many keys fall on one slot.
        let key = Key::from(HbHash(u128::from(state % 5) | u128::from(state) << 64));
        Entry::new(key, Runner(runner), Position::At(Runner(runner << 2)), cost, 1)
    }

    #[test]
    fn an_entry_is_32_bytes() {
        assert_eq!(size_of::<Entry>(), 32);
    }

    #[test]
    fn every_entry_is_found_again_and_the_last_cost_counts() {
        let mut table = Table::default();
        for cost in [9, 2] {
            for state in 0..400 {
                (1..=state % 3 + 1).for_each(|runner| table.insert(entry(state, runner, cost)));
            }
        }
        for state in 0..400 {
            let key = entry(state, 1, 2).key;
            assert_eq!(table.of(key).count(), state as usize % 3 + 1);
            assert!(table.of(key).all(|entry| entry.costs_at_most(2) && !entry.costs_less_than(2)));
            table.withdraw(key, 1);
            assert_eq!(table.of(key).count(), 0);
        }
    }
}
