//! The waiting items of a frontier: a stack that holds at most one item for each state.
//!
//! Hundreds of thousands of items wait at a time, so that bytes count: a set of keys beside a plain stack would take
//! twice the memory.

use crate::cache::StateKey;

const CHUNK: usize = 1024;

/// A stack without two items of one key, but for [`StateKey::NONE`].
#[derive(Debug)]
pub(super) struct Stack<T> {
    /// In chunks: a single vector would be up to half empty, and moved when it grows.
    chunks: Vec<Vec<(StateKey, T)>>,
    length: usize,
    /// Open addressing: the number of an item plus 1, or 0. The item taken is always the one that was added last, so
    /// that no other one was displaced by it and its slot can just be emptied.
    slots: Vec<u32>,
}

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), length: 0, slots: Vec::new() }
    }
}

impl<T> Stack<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn holds(&self, key: StateKey) -> bool {
        !self.slots.is_empty() && self.slots[self.find(key)] != 0
    }

    /// Adds an item; the caller has seen that its key is not held.
    pub(super) fn push(&mut self, key: StateKey, item: T) {
        if self.slots.len() * 3 <= (self.length + 1) * 4 {
            self.grow();
        }
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push((key, item)),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push((key, item));
                self.chunks.push(chunk);
            }
        }
        self.length += 1;
        self.enter(self.length - 1);
    }

    pub(super) fn pop(&mut self) -> Option<(StateKey, T)> {
        let chunk = self.chunks.last_mut()?;
        let (key, item) = chunk.pop()?;
        if chunk.is_empty() {
            self.chunks.pop();
        }
        self.length -= 1;
        if key != StateKey::NONE {
            let slot = self.find_number(key, self.length);
            self.slots[slot] = 0;
        }
        Some((key, item))
    }

    fn key(&self, number: usize) -> StateKey {
        self.chunks[number / CHUNK][number % CHUNK].0
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        self.slots = vec![0; size];
        (0..self.length).for_each(|number| self.enter(number));
    }

    fn enter(&mut self, number: usize) {
        let key = self.key(number);
        if key != StateKey::NONE {
            let slot = self.find(key);
            self.slots[slot] = number as u32 + 1;
        }
    }

    /// The slot of a key, or the empty one where it would go.
    fn find(&self, key: StateKey) -> usize {
        self.probe(key, |held| self.key(held) == key)
    }

    fn find_number(&self, key: StateKey, number: usize) -> usize {
        self.probe(key, |held| held == number)
    }

    fn probe(&self, key: StateKey, is_it: impl Fn(usize) -> bool) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = key.spread() as usize & mask;
        while self.slots[slot] != 0 && !is_it(self.slots[slot] as usize - 1) {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hb::hash::HbHash;

    #[test]
    fn it_is_a_stack_and_a_set() {
        // Few different low halves: many keys fall on one slot.
        let key = |n: u32| StateKey::from(HbHash(u128::from(n % 7 + 1) | u128::from(n) << 64));
        let mut stack = Stack::default();
        let mut plain: Vec<u32> = Vec::new();
        for round in 0..3_000_u32 {
            let n = round.wrapping_mul(2_654_435_761) >> 23;
            assert_eq!(stack.holds(key(n)), plain.contains(&n));
            if round % 5 < 3 {
                if !plain.contains(&n) {
                    plain.push(n);
                    stack.push(key(n), n);
                }
            } else {
                assert_eq!(stack.pop().map(|(_, item)| item), plain.pop());
            }
        }
        assert!(plain.len() > 50 && !stack.is_empty());
    }

    #[test]
    fn items_without_a_key_are_never_the_same() {
        let mut stack = Stack::default();
        (0..20).for_each(|n| stack.push(StateKey::NONE, n));
        assert_eq!(
            std::iter::from_fn(|| stack.pop()).map(|(_, n)| n).collect::<Vec<_>>(),
            (0..20).rev().collect::<Vec<_>>()
        );
    }
}
