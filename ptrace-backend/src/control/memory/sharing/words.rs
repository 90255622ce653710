//! The accesses that an execution has made to words of memory. They are kept by page: the next access of a thread is mostly on
//! a page of which something has just been looked up, and a long access concerns its own pages alone.

use std::cell::Cell;
use std::ops::{Range, RangeInclusive};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::control::state::thread_index::ThreadIndex;

/// The size of a word in bytes.
const WORD: u64 = 8;

/// The size of what is kept together, in bytes: a whole number of words. Of larger pages, a program that touches a word here and there
/// would have many that are empty but for one.
const PAGE: u64 = 1024;

/// The way in which memory is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TouchKind {
    Reads,
    Writes,
    /// By an operation that is a key point anyway: nothing but the end of its life conflicts with it.
    Uses,
    /// By a call that prints to a standard stream: other such calls find nothing of that, and who else looks at the memory is to be known.
    Prints,
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
            (Self::Prints, _) | (_, Self::Prints) => false,
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
    /// Each kind of access once, whichever instruction made it: a few, where thousands of instructions touch the word. Empty: it
    /// has not been touched.
    pub(super) kinds: SmallVec<[WordAccess; 2]>,
    /// The same for each of the instructions that have touched it, as long as they are few.
    by_candidate: SmallVec<[(u32, WordAccess); 2]>,
    /// The instructions that have touched it, each once, where they are not few any more.
    candidates: Vec<u32>,
}

impl WordHistory {
    /// The instructions that have touched it, some of them several times.
    pub(super) fn candidates(&self) -> impl Iterator<Item = u32> {
        self.by_candidate.iter().map(|(candidate, _)| *candidate).chain(self.candidates.iter().copied())
    }

    fn is_touched(&self) -> bool {
        !self.kinds.is_empty()
    }
}

/// The accesses of a page.
#[derive(Debug)]
struct PageHistory {
    /// The place in `words` of each word of the page, from 1; 0: it has none.
    places: Box<[u16; WORDS]>,
    words: Vec<WordHistory>,
    /// The accesses that an instruction has made to a word which many of them touch, each kind once.
    crowded: FxHashMap<(u16, u32), SmallVec<[WordAccess; 1]>>,
}

/// The number of words of a page.
const WORDS: usize = (PAGE / WORD) as usize;

/// Up to so many accesses of a word are looked through one by one.
const FEW: usize = 16;

impl Default for PageHistory {
    fn default() -> Self {
        Self { places: Box::new([0; WORDS]), words: Vec::new(), crowded: FxHashMap::default() }
    }
}

impl PageHistory {
    /// The history of a word that has been touched.
    fn word(&self, number: u16) -> Option<&WordHistory> {
        let place = usize::from(self.places[usize::from(number)]).checked_sub(1)?;
        self.words.get(place).filter(|word| word.is_touched())
    }

    /// The history of a word; `true`: it has not been touched before.
    fn note(&mut self, number: u16, candidate: Option<u32>, touch: WordAccess) -> bool {
        let place = &mut self.places[usize::from(number)];
        if *place == 0 {
            self.words.push(WordHistory::default());
            *place = self.words.len() as u16;
        }
        let word = &mut self.words[usize::from(*place) - 1];
        let is_new = !word.is_touched();
        note_last(&mut word.kinds, touch);
        let Some(candidate) = candidate else { return is_new };
        if word.candidates.is_empty() {
            let is_again = |(by, old): &&mut (u32, WordAccess)| *by == candidate && old.is_again(&touch);
            if let Some((_, old)) = word.by_candidate.iter_mut().find(is_again) {
                *old = touch;
                return is_new;
            }
            if word.by_candidate.len() < FEW {
                word.by_candidate.push((candidate, touch));
                return is_new;
            }
            for (by, old) in std::mem::take(&mut word.by_candidate) {
                note_crowded(&mut self.crowded, &mut word.candidates, (number, by), old);
            }
        }
        note_crowded(&mut self.crowded, &mut word.candidates, (number, candidate), touch);
        is_new
    }

    fn has(&self, number: u16, candidate: u32, touch: &WordAccess) -> bool {
        let Some(word) = self.word(number) else { return false };
        if word.candidates.is_empty() {
            return word.by_candidate.contains(&(candidate, *touch));
        }
        self.crowded.get(&(number, candidate)).is_some_and(|touches| touches.contains(touch))
    }

    /// Forgets words; returns how many of them had been touched.
    fn forget(&mut self, numbers: &RangeInclusive<u16>) -> usize {
        let mut count = 0;
        for number in numbers.clone() {
            let Some(place) = usize::from(self.places[usize::from(number)]).checked_sub(1) else { continue };
            count += usize::from(std::mem::take(&mut self.words[place]).is_touched());
        }
        self.crowded.retain(|(number, _), _| !numbers.contains(number));
        count
    }
}

fn note_crowded(
    crowded: &mut FxHashMap<(u16, u32), SmallVec<[WordAccess; 1]>>,
    candidates: &mut Vec<u32>,
    (number, candidate): (u16, u32),
    touch: WordAccess,
) {
    let own = crowded.entry((number, candidate)).or_default();
    if own.is_empty() {
        candidates.push(candidate);
    }
    note_last(own, touch);
}

/// All accesses of words.
#[derive(Debug, Default)]
pub(super) struct AccessHistory {
    pages: Vec<PageHistory>,
    /// The places of pages in that, by their numbers.
    places: FxHashMap<u64, usize>,
    /// The page that was looked up last, and its place.
    last: Cell<Option<(u64, usize)>>,
    /// The number of words that have been touched.
    len: usize,
}

impl AccessHistory {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Notes an access of the word at an address, by an instruction where it is one that is watched.
    pub(super) fn note(&mut self, word: u64, candidate: Option<u32>, touch: WordAccess) {
        let number = word / PAGE;
        let place = self.place(number).unwrap_or_else(|| {
            self.pages.push(PageHistory::default());
            self.places.insert(number, self.pages.len() - 1);
            self.pages.len() - 1
        });
        self.len += usize::from(self.pages[place].note(number_of(word), candidate, touch));
    }

    /// Whether the instruction has made this very access of the word at an address, and none like it since.
    pub(super) fn has(&self, word: u64, candidate: u32, touch: &WordAccess) -> bool {
        self.page(word / PAGE).is_some_and(|page| page.has(number_of(word), candidate, touch))
    }

    fn place(&self, number: u64) -> Option<usize> {
        if let Some((last, place)) = self.last.get()
            && last == number
        {
            return Some(place);
        }
        let place = *self.places.get(&number)?;
        self.last.set(Some((number, place)));
        Some(place)
    }

    fn page(&self, number: u64) -> Option<&PageHistory> {
        self.pages.get(self.place(number)?)
    }

    /// Calls `look` with every word of a range that has been touched, in order, and with which of its bytes are in the range.
    pub(super) fn within(&self, bytes: &Range<u64>, mut look: impl FnMut(u64, u8, &WordHistory)) {
        let mut look_at = |number: u64| {
            let Some(page) = self.page(number) else { return };
            let start = number * PAGE;
            let common = intersection(bytes, &(start..start.saturating_add(PAGE)));
            for word in words(&common) {
                if let Some(touches) = page.word(number_of(word)) {
                    look(word, mask(word, bytes), touches);
                }
            }
        };
        // Nearly all accesses are within a page.
        if bytes.end.saturating_sub(1) / PAGE == bytes.start / PAGE {
            look_at(bytes.start / PAGE);
        } else {
            self.pages_within(bytes).into_iter().for_each(look_at);
        }
    }

    /// Forgets the words of a range.
    pub(super) fn forget(&mut self, bytes: &Range<u64>) {
        for number in self.pages_within(bytes) {
            let Some(place) = self.place(number) else { continue };
            let start = number * PAGE;
            let gone = intersection(bytes, &(start..start.saturating_add(PAGE)));
            let numbers = number_of(gone.start)..=number_of(gone.end - 1);
            self.len -= self.pages[place].forget(&numbers);
        }
    }

    /// The pages of a range, of which some may be unknown, in order.
    fn pages_within(&self, bytes: &Range<u64>) -> SmallVec<[u64; 2]> {
        if bytes.is_empty() {
            return SmallVec::new();
        }
        let range = bytes.start / PAGE..=(bytes.end - 1) / PAGE;
        if range.end() - range.start() < self.places.len() as u64 {
            return range.collect();
        }
        let mut known: SmallVec<[u64; 2]> =
            self.places.keys().copied().filter(|page| range.contains(page)).collect();
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
