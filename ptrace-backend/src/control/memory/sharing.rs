//! Which memory is shared: what two threads touch, one of them writing, without thread creation and join always ordering
//! them. Found out anew in every execution, by address; what follows from it is kept in [`crate::control::knowledge`].

use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::control::state::thread_index::ThreadIndex;
use crate::instructions::MemoryAccess;

/// Longer accesses are not kept word by word.
const WIDE: u64 = 1024;

const WORD: u64 = 8;

/// How memory is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Reads,
    Writes,
    /// By an operation that is a key point anyway: nothing but the end of its life conflicts with it.
    Uses,
    /// The block is freed.
    Frees,
}

impl How {
    fn conflicts(self, other: Self) -> bool {
        let is_used = self == Self::Uses || other == Self::Uses;
        self == Self::Frees
            || other == Self::Frees
            || !is_used && (self == Self::Writes || other == Self::Writes)
    }
}

/// An access of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WordAccess {
    thread: ThreadIndex,
    /// The thread's own clock then.
    time: u32,
    /// Which of the word's bytes; of a long access it is 0.
    bytes: u8,
    how: How,
    /// The instruction, where it is one that is watched.
    candidate: Option<usize>,
    /// In a handler of a timer's signal, which could have come between any two accesses of its thread.
    handles: bool,
}

/// A long access.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wide {
    bytes: Range<u64>,
    touch: WordAccess,
}

/// What an access has shown to be shared.
#[derive(Debug, Default)]
pub(crate) struct Conflict {
    /// Those who have touched it, each once.
    pub(crate) candidates: Vec<usize>,
    /// The bytes, as ranges, rounded to the words that the access covers.
    pub(crate) bytes: Vec<Range<u64>>,
    /// The block is, or was, freed.
    pub(crate) frees: bool,
}

/// Accesses of one execution, with clocks that only creation and join move.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    clocks: Vec<Vec<u32>>,
    words: FxHashMap<u64, SmallVec<[WordAccess; 4]>>,
    wide: Vec<Wide>,
    /// The handlers that each thread is in; of a timer's signal or another one.
    handlers: FxHashMap<ThreadIndex, Vec<bool>>,
    /// Handlers of timers' signals may run.
    pub(crate) handles: bool,
}

impl Sharing {
    /// A thread was created.
    pub(crate) fn created(&mut self, child: ThreadIndex, creator: ThreadIndex) {
        let mut clock = self.clock(creator).clone();
        self.clock(creator)[creator.place()] += 1;
        clock.resize(clock.len().max(child.place() + 1), 0);
        clock[child.place()] = 1;
        *self.clock(child) = clock;
    }

    /// A thread has waited for the end of another.
    pub(crate) fn joined(&mut self, joiner: ThreadIndex, ended: ThreadIndex) {
        let other = self.clock(ended).clone();
        let clock = self.clock(joiner);
        clock.resize(clock.len().max(other.len()), 0);
        clock.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(theirs));
    }

    /// A thread begins to run a handler; `of_timer`: of the signal of a timer.
    pub(crate) fn begin_handler(&mut self, thread: ThreadIndex, of_timer: bool) {
        self.handlers.entry(thread).or_default().push(of_timer);
    }

    /// A thread returns from the handler that it began last.
    pub(crate) fn end_handler(&mut self, thread: ThreadIndex) {
        if let Some(handlers) = self.handlers.get_mut(&thread) {
            handlers.pop();
        }
    }

    /// Whether all other threads have ended before a thread goes on, in every schedule.
    pub(crate) fn is_after_all(&mut self, thread: ThreadIndex) -> bool {
        if self.handles {
            return false;
        }
        let clock = self.clock(thread).clone();
        let own = self.clocks.iter().enumerate().filter(|(other, _)| *other != thread.place());
        own.map(|(other, theirs)| (other, theirs.get(other).copied().unwrap_or(0)))
            .all(|(other, time)| time <= clock.get(other).copied().unwrap_or(0))
    }

    fn clock(&mut self, thread: ThreadIndex) -> &mut Vec<u32> {
        let place = thread.place();
        if self.clocks.len() <= place {
            self.clocks.resize(place + 1, Vec::new());
        }
        let clock = &mut self.clocks[place];
        if clock.len() <= place {
            clock.resize(place + 1, 0);
            clock[place] = 1;
        }
        clock
    }

    /// Notes an access. If another thread's access to some of the bytes conflicts with it, returns these bytes, and the
    /// candidates that have touched them.
    pub(crate) fn touch(&mut self, thread: ThreadIndex, candidate: usize, access: MemoryAccess) -> Conflict {
        let MemoryAccess { addr, len, write, .. } = access;
        let how = if write { How::Writes } else { How::Reads };
        self.touch_in(thread, Some(candidate), addr..addr.saturating_add(len), how)
    }

    /// The same for memory that is touched in any way.
    pub(crate) fn touch_in(
        &mut self,
        thread: ThreadIndex,
        candidate: Option<usize>,
        bytes: Range<u64>,
        how: How,
    ) -> Conflict {
        let clock = self.clock(thread).clone();
        let handles = self.handlers.get(&thread).is_some_and(|handlers| handlers.contains(&true));
        let touch = WordAccess { thread, time: clock[thread.place()], bytes: 0, how, candidate, handles };
        let mut conflict = self.conflicts(&bytes, touch, &clock);
        if !conflict.bytes.is_empty() {
            conflict.candidates.extend(candidate);
            for shared in &conflict.bytes {
                self.involved(shared, &mut conflict.candidates);
            }
            conflict.candidates.sort_unstable();
            conflict.candidates.dedup();
        }
        self.note(bytes, touch);
        conflict
    }

    /// How many words are known to be touched.
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// Memory is gone: what is mapped at the same addresses later is other memory.
    pub(crate) fn forget(&mut self, bytes: &Range<u64>) {
        self.words.retain(|word, _| mask(*word, bytes) == 0);
        self.wide.retain(|wide| intersection(&wide.bytes, bytes).is_empty());
    }

    /// The bytes of a new access that an earlier one conflicts with.
    fn conflicts(&self, bytes: &Range<u64>, new: WordAccess, clock: &[u32]) -> Conflict {
        let is_conflict = |earlier: &WordAccess| conflict(earlier, &new, clock);
        let mut found = Conflict { frees: new.how == How::Frees, ..Conflict::default() };
        self.for_words(bytes, |word, mask, touches| {
            let mut earlier =
                touches.iter().filter(|old| old.bytes & mask != 0 && is_conflict(old)).peekable();
            if earlier.peek().is_some() {
                append(&mut found.bytes, intersection(&(word..word.saturating_add(WORD)), bytes));
            }
            found.frees |= earlier.any(|old| old.how == How::Frees);
        });
        for earlier in self.wide.iter().filter(|earlier| is_conflict(&earlier.touch)) {
            let common = intersection(&earlier.bytes, bytes);
            if !common.is_empty() {
                found.bytes.push(common);
                found.frees |= earlier.touch.how == How::Frees;
            }
        }
        found
    }

    /// Adds whoever has touched one of the words that some bytes are in.
    fn involved(&self, bytes: &Range<u64>, into: &mut Vec<usize>) {
        self.for_words(bytes, |_, _, touches| {
            into.extend(touches.iter().filter_map(|touch| touch.candidate))
        });
        let wide = self.wide.iter().filter(|wide| !intersection(&wide.bytes, bytes).is_empty());
        into.extend(wide.filter_map(|wide| wide.touch.candidate));
    }

    fn note(&mut self, bytes: Range<u64>, touch: WordAccess) {
        if bytes.end - bytes.start > WIDE {
            let wide = Wide { bytes, touch };
            if !self.wide.contains(&wide) {
                self.wide.push(wide);
            }
            return;
        }
        for word in words(&bytes) {
            let touch = WordAccess { bytes: mask(word, &bytes), ..touch };
            let touches = self.words.entry(word).or_default();
            if !touches.contains(&touch) {
                touches.push(touch);
            }
        }
    }

    /// Calls `look` with every word of a range that has been touched, and with which of its bytes are in the range.
    fn for_words(&self, bytes: &Range<u64>, mut look: impl FnMut(u64, u8, &[WordAccess])) {
        if bytes.end - bytes.start <= WIDE {
            for word in words(bytes) {
                if let Some(touches) = self.words.get(&word) {
                    look(word, mask(word, bytes), touches);
                }
            }
            return;
        }
        for (&word, touches) in &self.words {
            let mask = mask(word, bytes);
            if mask != 0 {
                look(word, mask, touches);
            }
        }
    }
}

/// The words that a range has bytes of.
fn words(bytes: &Range<u64>) -> impl Iterator<Item = u64> + use<> {
    (bytes.start / WORD * WORD..bytes.end).step_by(WORD as usize)
}

/// Which bytes of a word are in a range.
fn mask(word: u64, bytes: &Range<u64>) -> u8 {
    (0..WORD).filter(|i| bytes.contains(&(word + i))).fold(0, |mask, i| mask | 1 << i)
}

fn intersection(a: &Range<u64>, b: &Range<u64>) -> Range<u64> {
    a.start.max(b.start)..a.end.min(b.end)
}

/// Adds a range, to the last one if it goes on there.
fn append(ranges: &mut Vec<Range<u64>>, next: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.end == next.start => last.end = next.end,
        _ => ranges.push(next),
    }
}

/// Whether an earlier touch of the same bytes conflicts with a new one by a thread with this clock, and is not ordered
/// before it.
fn conflict(earlier: &WordAccess, new: &WordAccess, clock: &[u32]) -> bool {
    let is_unordered = match earlier.thread == new.thread {
        true => earlier.handles != new.handles,
        false => clock.get(earlier.thread.place()).copied().unwrap_or(0) < earlier.time,
    };
    is_unordered && earlier.how.conflicts(new.how)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::state::thread_index::PerThread;

    fn thread(place: usize) -> ThreadIndex {
        let mut all = PerThread::new(());
        (0..place).fold(ThreadIndex::MAIN, |_, _| all.push(()))
    }

    fn access(addr: u64, len: u64, write: bool) -> MemoryAccess {
        MemoryAccess { addr, len, read: !write, write }
    }

    /// What the last of these accesses, each by a candidate of its own, conflicts with.
    fn last(touches: &[(usize, u64, u64, bool)]) -> Conflict {
        let mut sharing = Sharing::default();
        sharing.created(thread(1), thread(0));
        sharing.created(thread(2), thread(0));
        let mut found = Conflict::default();
        for (i, &(place, addr, len, write)) in touches.iter().enumerate() {
            found = sharing.touch(thread(place), i, access(addr, len, write));
        }
        found
    }

    fn check(touches: &[(usize, u64, u64, bool)], candidates: &[usize], bytes: &[(u64, u64)]) {
        let found = last(touches);
        let found_bytes: Vec<_> = found.bytes.iter().map(|range| (range.start, range.end)).collect();
        assert_eq!((&*found.candidates, &*found_bytes), (candidates, bytes));
    }

    fn involved(touches: &[(usize, u64, u64, bool)]) -> Vec<usize> {
        last(touches).candidates
    }

    #[test]
    fn unordered_accesses_conflict_if_one_writes_and_a_byte_is_common() {
        assert_eq!(involved(&[(1, 0x10, 4, true), (2, 0x10, 4, false)]), [0, 1]);
        assert_eq!(involved(&[(1, 0x16, 4, true), (2, 0x18, 1, false)]), [0, 1]);
        assert_eq!(involved(&[(1, 0x10, 4, false), (2, 0x10, 4, false)]), [0_usize; 0]);
        assert_eq!(involved(&[(1, 0x10, 4, true), (2, 0x14, 4, true)]), [0_usize; 0]);
        assert_eq!(involved(&[(1, 0x10, 4, true), (1, 0x10, 4, true)]), [0_usize; 0]);
    }

    #[test]
    fn only_the_common_bytes_of_long_accesses_are_shared() {
        let (short, long) = ((1, 0x1804, 4, true), (2, 0x1000, 0x1000, false));
        let (other, longer) = ((1, 0x2004, 4, true), (1, 0x1ff0, 0x2000, true));
        check(&[short, long], &[0, 1], &[(0x1800, 0x1808)]);
        check(&[long, short], &[0, 1], &[(0x1804, 0x1808)]);
        check(&[long, other], &[], &[]);
        check(&[long, longer], &[0, 1], &[(0x1ff0, 0x2000)]);
        // Who touched the bytes without a conflict is involved as well.
        assert_eq!(last(&[(2, 0x1800, 8, false), (2, 0x1900, 8, false), long, short]).candidates, [0, 2, 3]);
        assert_eq!(last(&[(1, u64::MAX - 7, 7, true), (2, 0x1000, u64::MAX, false)]).candidates, [0, 1]);
    }

    #[test]
    fn freeing_a_block_conflicts_with_whatever_uses_it() {
        let conflict = |earlier: How, new: How| {
            let mut sharing = Sharing::default();
            sharing.created(thread(1), thread(0));
            sharing.created(thread(2), thread(0));
            sharing.touch_in(thread(1), None, 0x10..0x20, earlier);
            let found = sharing.touch_in(thread(2), Some(7), 0x18..0x1c, new);
            (!found.bytes.is_empty(), found.frees, found.candidates)
        };
        for other in [How::Reads, How::Writes, How::Uses, How::Frees] {
            assert_eq!(conflict(How::Frees, other), (true, true, vec![7]));
            assert_eq!(conflict(other, How::Frees), (true, true, vec![7]));
        }
        for other in [How::Reads, How::Writes, How::Uses] {
            assert_eq!(conflict(How::Uses, other), (false, false, vec![]));
            assert_eq!(conflict(other, How::Uses), (false, false, vec![]));
        }
        assert_eq!(conflict(How::Writes, How::Reads), (true, false, vec![7]));
    }

    #[test]
    fn memory_that_is_gone_is_shared_with_nobody_who_gets_its_addresses_later() {
        let mut sharing = Sharing::default();
        sharing.created(thread(1), thread(0));
        sharing.created(thread(2), thread(0));
        sharing.touch(thread(1), 0, access(0x1008, 8, true));
        sharing.touch_in(thread(1), None, 0x1000..0x3000, How::Writes);
        sharing.touch(thread(1), 1, access(0x3000, 8, true));
        sharing.forget(&(0x1000..0x3000));
        assert!(sharing.touch(thread(2), 2, access(0x1008, 8, true)).bytes.is_empty());
        assert_eq!(sharing.touch(thread(2), 3, access(0x3000, 8, true)).candidates, [1, 3]);
    }

    #[test]
    fn the_handler_of_a_timer_is_to_its_own_thread_as_another_one() {
        let (write, read) = (access(0x10, 4, true), access(0x10, 4, false));
        for (of_timer, conflicts) in [(true, true), (false, false)] {
            let mut sharing = Sharing::default();
            sharing.touch(thread(0), 0, write);
            sharing.begin_handler(thread(0), of_timer);
            assert_eq!(!sharing.touch(thread(0), 1, read).bytes.is_empty(), conflicts);
            sharing.end_handler(thread(0));
            assert!(sharing.touch(thread(0), 2, read).bytes.is_empty());
            assert_eq!(!sharing.touch(thread(0), 3, write).bytes.is_empty(), conflicts);
        }
    }

    #[test]
    fn a_thread_is_after_all_that_it_has_joined() {
        let mut sharing = Sharing::default();
        assert!(sharing.is_after_all(thread(0)));
        sharing.created(thread(1), thread(0));
        sharing.created(thread(2), thread(0));
        sharing.joined(thread(0), thread(1));
        assert!(!sharing.is_after_all(thread(0)));
        sharing.joined(thread(0), thread(2));
        assert!(sharing.is_after_all(thread(0)) && !sharing.is_after_all(thread(1)));
    }

    #[test]
    fn creation_and_join_order_accesses() {
        let write = access(0x10, 4, true);
        let read = access(0x10, 4, false);
        let mut sharing = Sharing::default();
        assert!(sharing.touch(thread(0), 0, write).bytes.is_empty());
        sharing.created(thread(1), thread(0));
        assert!(sharing.touch(thread(1), 1, write).bytes.is_empty());
        let mut unordered = Sharing::default();
        unordered.created(thread(1), thread(0));
        unordered.touch(thread(1), 1, write);
        assert!(!unordered.touch(thread(0), 2, read).bytes.is_empty());
        sharing.joined(thread(0), thread(1));
        assert!(sharing.touch(thread(0), 2, read).bytes.is_empty());
    }
}
