//! The accesses that an execution has made to words of memory. They are kept by page: the next access of a thread is mostly on
//! a page of which something has just been looked up, and a long access concerns its own pages alone.

use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::control::state::thread_index::ThreadIndex;

/// The size of a word in bytes.
const WORD: u64 = 8;

/// The size of what is kept together, in bytes: a whole number of words.
const PAGE: u64 = 4096;

/// The way in which memory is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TouchKind {
    Reads,
    Writes,
    /// By an operation that is a key point anyway: nothing but the end of its life conflicts with it.
    Uses,
    /// As a synchronisation object: other operations on it are key points anyway.
    Synchronises,
    /// The block is freed.
    Frees,
}

/// A use of the memory as a whole, by accesses that are not seen one by one ([`crate::control::memory::unwatched_uses`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UseDuration {
    /// Up to the return of a function: events that come within it are known.
    Call,
    /// For a time that is not known.
    Lasting,
}

impl TouchKind {
    pub(super) fn conflicts(self, other: Self) -> bool {
        match (self, other) {
            (Self::Frees, _) | (_, Self::Frees) => true,
            (Self::Uses, _) | (_, Self::Uses) => false,
            (Self::Synchronises, kind) | (kind, Self::Synchronises) => kind != Self::Synchronises,
            (Self::Reads | Self::Writes, kind) => self == Self::Writes || kind == Self::Writes,
        }
    }
}

/// An access of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordAccess {
    pub(super) thread: ThreadIndex,
    /// The thread's own clock then.
    pub(super) time: u32,
    /// The number of events that it had run by then, where these order accesses.
    pub(super) events: u32,
    /// The mask of the word's bytes that it touches; of a long access it is 0.
    pub(super) bytes: u8,
    pub(super) kind: TouchKind,
    /// In a handler of a timer's signal, which could have come between any two accesses of its thread.
    pub(super) handles: bool,
    pub(super) unwatched_use: Option<UseDuration>,
}

/// There are millions of them.
const _: () = assert!(size_of::<WordAccess>() <= 16);

impl WordAccess {
    /// Whether it is another one than this only by its moment.
    pub(super) fn is_again(&self, other: &Self) -> bool {
        Self { events: other.events, ..*self } == *other
    }
}

/// The accesses of a word.
#[derive(Debug, Default)]
pub(super) struct WordHistory {
    /// Each kind of access once, whichever instruction made it: a few, where thousands of instructions touch the word.
    pub(super) kinds: SmallVec<[WordAccess; 2]>,
    /// The instructions that have touched it, each once.
    pub(super) candidates: SmallVec<[u32; 4]>,
}

/// The accesses of a page, by the numbers of its words.
#[derive(Debug, Default)]
struct PageHistory {
    words: FxHashMap<u16, WordHistory>,
    /// The accesses that an instruction has made to a word, each kind once.
    by_candidate: FxHashMap<(u16, u32), SmallVec<[WordAccess; 1]>>,
}

/// All accesses of words.
#[derive(Debug, Default)]
pub(super) struct AccessHistory {
    pages: FxHashMap<u64, PageHistory>,
    /// The number of words that have been touched.
    len: usize,
}

impl AccessHistory {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Notes an access of the word at an address, by an instruction where it is one that is watched.
    pub(super) fn note(&mut self, word: u64, candidate: Option<u32>, touch: WordAccess) {
        let page = self.pages.entry(word / PAGE).or_default();
        let number = number_of(word);
        let known = page.words.len();
        let touches = page.words.entry(number).or_default();
        note_last(&mut touches.kinds, touch);
        if let Some(candidate) = candidate {
            let own = page.by_candidate.entry((number, candidate)).or_default();
            if own.is_empty() {
                touches.candidates.push(candidate);
            }
            note_last(own, touch);
        }
        self.len += page.words.len() - known;
    }

    /// Whether the instruction has made this very access of the word at an address, and none like it since.
    pub(super) fn has(&self, word: u64, candidate: u32, touch: &WordAccess) -> bool {
        let touches = || self.pages.get(&(word / PAGE))?.by_candidate.get(&(number_of(word), candidate));
        touches().is_some_and(|touches| touches.contains(touch))
    }

    /// Calls `look` with every word of a range that has been touched, in order, and with which of its bytes are in the range.
    pub(super) fn within(&self, bytes: &Range<u64>, mut look: impl FnMut(u64, u8, &WordHistory)) {
        for number in self.pages_within(bytes) {
            let Some(page) = self.pages.get(&number) else { continue };
            let start = number * PAGE;
            let common = intersection(bytes, &(start..start.saturating_add(PAGE)));
            for word in words(&common) {
                if let Some(touches) = page.words.get(&number_of(word)) {
                    look(word, mask(word, bytes), touches);
                }
            }
        }
    }

    /// Forgets the words of a range.
    pub(super) fn forget(&mut self, bytes: &Range<u64>) {
        for number in self.pages_within(bytes) {
            let start = number * PAGE;
            let is_whole = bytes.start <= start && start.saturating_add(PAGE) <= bytes.end;
            if is_whole {
                let gone = self.pages.remove(&number);
                self.len -= gone.map_or(0, |page| page.words.len());
            } else if let Some(page) = self.pages.get_mut(&number) {
                let is_outside = |number: u16| mask(start + u64::from(number) * WORD, bytes) == 0;
                let known = page.words.len();
                page.words.retain(|number, _| is_outside(*number));
                page.by_candidate.retain(|(number, _), _| is_outside(*number));
                self.len -= known - page.words.len();
            }
        }
    }

    /// The pages of a range, of which some may be unknown, in order.
    fn pages_within(&self, bytes: &Range<u64>) -> SmallVec<[u64; 2]> {
        if bytes.is_empty() {
            return SmallVec::new();
        }
        let range = bytes.start / PAGE..=(bytes.end - 1) / PAGE;
        if range.end() - range.start() < self.pages.len() as u64 {
            return range.collect();
        }
        let mut known: SmallVec<[u64; 2]> =
            self.pages.keys().copied().filter(|page| range.contains(page)).collect();
        known.sort_unstable();
        known
    }
}

/// The number of a word in its page.
fn number_of(word: u64) -> u16 {
    (word % PAGE / WORD) as u16
}

/// Keeps the last access of each kind: one that comes after the later of two comes after the earlier one.
fn note_last<const N: usize>(touches: &mut SmallVec<[WordAccess; N]>, touch: WordAccess)
where
    [WordAccess; N]: smallvec::Array<Item = WordAccess>,
{
    match touches.iter_mut().find(|old| old.is_again(&touch)) {
        Some(old) => *old = touch,
        None => touches.push(touch),
    }
}

/// The words that a range has bytes of.
pub(super) fn words(bytes: &Range<u64>) -> impl Iterator<Item = u64> + use<> {
    (bytes.start / WORD * WORD..bytes.end).step_by(WORD as usize)
}

/// The bytes of a word.
pub(super) fn bytes_of(word: u64) -> Range<u64> {
    word..word.saturating_add(WORD)
}

/// The mask of the bytes of a word that are in a range.
pub(super) fn mask(word: u64, bytes: &Range<u64>) -> u8 {
    let place = |at: u64| at.saturating_sub(word).min(WORD) as u32;
    let below = |end: u32| ((1_u16 << end) - 1) as u8;
    below(place(bytes.end)) & !below(place(bytes.start))
}

pub(super) fn intersection(a: &Range<u64>, b: &Range<u64>) -> Range<u64> {
    a.start.max(b.start)..a.end.min(b.end)
}
