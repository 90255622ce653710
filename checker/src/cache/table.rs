//! The entries of a cache, 32 bytes each: a search keeps more than a million of them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::{LastThread, ScheduleContext, StateKey};

/// An entry: a state was entered with this position at this cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: StateKey,
    pub(super) ran: LastThread,
    position: u32,
    pub(super) item: u32,
    /// Plus 1, so that 0 is an empty slot.
    cost: u16,
    withdrawn: bool,
}

/// Beyond this many slots nothing is added: 64 MiB.
const MAX_SLOTS: usize = 1 << 21;

/// Entries by key, several of one key allowed: open addressing.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Arc<Slots>,
    taken: usize,
}

/// The places of the entries. One thread puts them there, others may look at the same time.
#[derive(Debug, Default)]
pub(super) struct Slots(Box<[AtomicEntry]>);

/// An entry in four words: the key; the thread that ran last and the position; the rest. The last word is written last and read
/// first, so that no other thread sees it without the others.
#[derive(Debug, Default)]
struct AtomicEntry([AtomicU64; 4]);

impl AtomicEntry {
    /// The entry, if there is one.
    fn get(&self) -> Option<Entry> {
        let Self([low, high, place, rest]) = self;
        let rest = rest.load(Acquire);
        let place = place.load(Relaxed);
        let cost = (rest >> 32) as u16;
        (cost != 0).then(|| Entry {
            key: StateKey([low.load(Relaxed), high.load(Relaxed)]),
            ran: LastThread(place as u32),
            position: (place >> 32) as u32,
            item: rest as u32,
            cost,
            withdrawn: rest >> 48 != 0,
        })
    }

    fn is_empty(&self) -> bool {
        self.0[3].load(Relaxed) == 0
    }

    fn put(&self, entry: Entry) {
        let Entry { key: StateKey([low, high]), ran, position, item, cost, withdrawn } = entry;
        let Self(words) = self;
        words[0].store(low, Relaxed);
        words[1].store(high, Relaxed);
        words[2].store(u64::from(ran.0) | u64::from(position) << 32, Relaxed);
        words[3].store(u64::from(item) | u64::from(cost) << 32 | u64::from(withdrawn) << 48, Release);
    }
}

impl Slots {
    fn empty(size: usize) -> Self {
        Self((0..size).map(|_| AtomicEntry::default()).collect())
    }

    /// The entries of a key.
    pub(super) fn of(&self, key: StateKey) -> impl Iterator<Item = Entry> {
        self.chain(key).map(|(_, entry)| entry).filter(move |entry| entry.key == key && !entry.withdrawn)
    }

    /// The taken slots where entries of a key can be.
    fn chain(&self, key: StateKey) -> impl Iterator<Item = (&AtomicEntry, Entry)> {
        let mask = self.0.len().wrapping_sub(1);
        let start = key.spread() as usize;
        (0..self.0.len())
            .map(move |step| &self.0[start.wrapping_add(step) & mask])
            .map_while(|slot| Some((slot, slot.get()?)))
    }

    fn place(&self, entry: Entry) {
        let mask = self.0.len() - 1;
        let mut slot = entry.key.spread() as usize & mask;
        while !self.0[slot].is_empty() {
            slot = (slot + 1) & mask;
        }
        self.0[slot].put(entry);
    }
}

impl Entry {
    pub(super) fn new(
        key: StateKey,
        ran: LastThread,
        position: ScheduleContext,
        cost: u32,
        item: u64,
    ) -> Self {
        Self {
            key,
            ran,
            position: position.packed(),
            item: item as u32,
            cost: clamp(cost) + 1,
            withdrawn: false,
        }
    }

    pub(super) fn is_at(&self, position: ScheduleContext) -> bool {
        self.position == position.packed()
    }

    /// Whether the thread that ran last may be left and come back to like any other thread.
    pub(super) fn is_unbound(&self) -> bool {
        self.position & KIND != ScheduleContext::Yields(LastThread(0)).packed()
            && self.position & LastThread::YIELDS == 0
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

impl ScheduleContext {
    fn packed(self) -> u32 {
        match self {
            Self::Free => 0,
            Self::At(LastThread(runner)) => runner | 1,
            Self::Waits(LastThread(runner)) => runner | 2,
            Self::Yields(LastThread(runner)) => runner | 3,
        }
    }
}

impl Table {
    /// The places of the entries, until the table grows.
    pub(super) fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// Adds an entry, or puts it in the place of the one with the same position.
    pub(super) fn insert(&mut self, entry: Entry) {
        let same =
            |old: &Entry| old.key == entry.key && old.position == entry.position && old.ran == entry.ran;
        if let Some((slot, _)) = self.slots.chain(entry.key).find(|(_, old)| same(old)) {
            slot.put(entry);
            return;
        }
        if (self.taken + 1) * 4 > self.slots.0.len() * 3 && !self.grow() {
            return;
        }
        self.slots.place(entry);
        self.taken += 1;
    }

    /// Takes back the entries that an item made at a key.
    pub(super) fn withdraw(&mut self, key: StateKey, item: u64) {
        for (slot, entry) in self.slots.chain(key) {
            if entry.key == key && entry.item == item as u32 {
                slot.put(Entry { withdrawn: true, ..entry });
            }
        }
    }

    fn grow(&mut self) -> bool {
        let size = (self.slots.0.len() * 2).max(64);
        if size > MAX_SLOTS {
            return false;
        }
        let larger = Slots::empty(size);
        self.slots.0.iter().filter_map(AtomicEntry::get).for_each(|entry| larger.place(entry));
        self.slots = Arc::new(larger);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hb::hash::HbHash;

    fn entry(state: u32, runner: u32, cost: u32) -> Entry {
        // Few different low halves: many keys fall on one slot.
        let key = StateKey::from(HbHash(u128::from(state % 5) | u128::from(state) << 64));
        Entry::new(key, LastThread(runner), ScheduleContext::At(LastThread(runner << 2)), cost, 1)
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
            assert_eq!(table.slots().of(key).count(), state as usize % 3 + 1);
            assert!(table.slots().of(key).all(|entry| entry.costs_at_most(2) && !entry.costs_less_than(2)));
            table.withdraw(key, 1);
            assert_eq!(table.slots().of(key).count(), 0);
        }
    }
}
