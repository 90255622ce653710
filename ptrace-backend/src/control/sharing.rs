//! Which memory is shared: what two threads touch, one of them writing, without thread creation and join always ordering
//! them. Found out anew in every execution, by address; what follows from it is kept in [`super::knowledge`].

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::sync::Index;

/// At most this many bytes of one access are looked at.
const WIDEST: u64 = 4096;

/// One way in which a word has been touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Touch {
    thread: Index,
    /// The thread's own clock then.
    time: u32,
    /// Which of the word's bytes.
    bytes: u8,
    write: bool,
    candidate: usize,
}

/// Accesses of one execution, with clocks that only creation and join move.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    clocks: Vec<Vec<u32>>,
    words: FxHashMap<u64, SmallVec<[Touch; 4]>>,
}

impl Sharing {
    /// A thread was created.
    pub(crate) fn created(&mut self, child: Index, creator: Index) {
        let mut clock = self.clock(creator).clone();
        self.clock(creator)[creator] += 1;
        clock.resize(clock.len().max(child + 1), 0);
        clock[child] = 1;
        *self.clock(child) = clock;
    }

    /// A thread has waited for the end of another.
    pub(crate) fn joined(&mut self, joiner: Index, ended: Index) {
        let other = self.clock(ended).clone();
        let clock = self.clock(joiner);
        clock.resize(clock.len().max(other.len()), 0);
        clock.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(theirs));
    }

    fn clock(&mut self, thread: Index) -> &mut Vec<u32> {
        if self.clocks.len() <= thread {
            self.clocks.resize(thread + 1, Vec::new());
        }
        let clock = &mut self.clocks[thread];
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
            clock[thread] = 1;
        }
        clock
    }

    /// Notes an access. If another thread's access to one of the bytes conflicts with it, returns the candidates that
    /// have touched that word.
    pub(crate) fn touch(
        &mut self,
        thread: Index,
        candidate: usize,
        addr: u64,
        len: u64,
        write: bool,
    ) -> SmallVec<[usize; 4]> {
        let clock = self.clock(thread).clone();
        let mut involved = SmallVec::new();
        let end = addr.saturating_add(len.min(WIDEST));
        let mut word = addr & !7;
        while word < end {
            let bytes = (0..8).filter(|i| (addr..end).contains(&(word + i))).fold(0, |m, i| m | 1 << i);
            let touch = Touch { thread, time: clock[thread], bytes, write, candidate };
            let touches = self.words.entry(word).or_default();
            if touches.iter().any(|t| conflict(t, &touch, &clock)) {
                involved.extend(touches.iter().map(|t| t.candidate));
                involved.push(candidate);
            }
            if !touches.contains(&touch) {
                touches.push(touch);
            }
            word += 8;
        }
        involved
    }
}

/// Whether an earlier touch conflicts with a new one by a thread with this clock, and is not ordered before it.
fn conflict(earlier: &Touch, new: &Touch, clock: &[u32]) -> bool {
    earlier.thread != new.thread
        && earlier.bytes & new.bytes != 0
        && (earlier.write || new.write)
        && clock.get(earlier.thread).copied().unwrap_or(0) < earlier.time
}

#[cfg(test)]
mod tests {
    use super::*;

    fn involved(touches: &[(Index, u64, u64, bool)]) -> Vec<usize> {
        let mut sharing = Sharing::default();
        sharing.created(1, 0);
        sharing.created(2, 0);
        touches
            .iter()
            .enumerate()
            .flat_map(|(i, &(t, addr, len, w))| sharing.touch(t, i, addr, len, w))
            .collect()
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
    fn creation_and_join_order_accesses() {
        let mut sharing = Sharing::default();
        assert!(sharing.touch(0, 0, 0x10, 4, true).is_empty());
        sharing.created(1, 0);
        assert!(sharing.touch(1, 1, 0x10, 4, true).is_empty());
        let mut unordered = Sharing::default();
        unordered.created(1, 0);
        unordered.touch(1, 1, 0x10, 4, true);
        assert!(!unordered.touch(0, 2, 0x10, 4, false).is_empty());
        sharing.joined(0, 1);
        assert!(sharing.touch(0, 2, 0x10, 4, false).is_empty());
    }
}
