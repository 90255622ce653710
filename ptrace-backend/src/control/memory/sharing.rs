//! Detection of shared memory: that which two threads touch, one of them writing, without thread creation and join always
//! ordering them; in long executions, and of what is used unseen ([`super::unwatched_uses`]), without anything ordering them
//! ([`super::event_order`]). Found out anew in every execution, by address; what follows from it is kept in
//! [`crate::control::knowledge`].

use std::cell::Cell;
use std::ops::Range;

use checker::names::ThreadName;
use checker::program::Event;
use rustc_hash::FxHashMap;

use crate::control::memory::event_order::EventOrder;
use crate::control::memory::sharing::words::{
    AccessHistory, WordAccess, bytes_of, intersection, mask, words,
};
pub(crate) use crate::control::memory::sharing::words::{TouchKind, UseDuration};
use crate::control::state::thread_index::ThreadIndex;
use crate::instructions::MemoryAccess;

/// Longer accesses, in bytes, are not kept word by word.
const WIDE: u64 = 1024;

/// A long access.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LongAccess {
    bytes: Range<u64>,
    candidate: Option<u32>,
    touch: WordAccess,
}

/// The memory that an access has shown to be shared.
#[derive(Debug, Default)]
pub(crate) struct Conflict {
    /// The instructions that have touched it, each once.
    pub(crate) candidates: Vec<usize>,
    /// The bytes, as ranges, rounded to the words that the access covers.
    pub(crate) bytes: Vec<Range<u64>>,
    /// The block is, or was, freed.
    pub(crate) frees: bool,
    /// One of the earlier uses that conflict is unseen.
    pub(crate) unwatched_use: bool,
    /// There is an access that would conflict, if the events did not order the two.
    pub(crate) handed_over: bool,
    /// One of the two is of a call that prints, whatever orders them.
    of_output: bool,
}

/// A handler that a thread is in.
#[derive(Debug)]
struct Handler {
    /// Its signal is that of a timer, or was sent by another thread.
    from_elsewhere: bool,
    /// The stack pointer of the code that it has interrupted.
    stack: u64,
}

/// Accesses of one execution, with clocks that only creation and join move.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    clocks: Vec<Vec<u32>>,
    /// The order of events, where accesses that it orders are none that threads share: all of them, or uses that are not seen.
    order: Option<EventOrder>,
    orders_all: bool,
    words: AccessHistory,
    wide: Vec<LongAccess>,
    /// The handlers that each thread is in.
    handlers: FxHashMap<ThreadIndex, Vec<Handler>>,
    /// Handlers of timers' signals may run.
    pub(crate) handles: bool,
    /// Memory that calls print from, or keep the state of a standard stream in, was used otherwise, before or after that.
    pub(crate) looks_at_outputs: bool,
}

impl Sharing {
    /// From the beginning of an execution: accesses that its events order are none that threads share.
    pub(crate) fn judge_by_events(&mut self) {
        (self.order, self.orders_all) = (Some(EventOrder::default()), true);
    }

    /// From the beginning of an execution: uses that are not seen, and that its events order, are none that threads share.
    pub(crate) fn order_uses(&mut self) {
        self.order.get_or_insert_default();
    }

    /// Whether uses that are not seen are none that threads share where events order them.
    pub(crate) fn orders_uses(&self) -> bool {
        self.order.is_some()
    }

    /// An event has run: of a thread, which is about to go on, or of another agent.
    pub(crate) fn happened(&mut self, event: &Event) {
        if let Some(order) = &mut self.order {
            order.push(event);
        }
    }

    /// A thread of this name was created.
    pub(crate) fn named(&mut self, child: ThreadName, creator: ThreadName) {
        if let Some(order) = &mut self.order {
            order.created(child, creator);
        }
    }

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

    /// A thread whose stack pointer is `stack` begins to run a handler; `from_elsewhere`: of a timer's signal, or of another thread's.
    pub(crate) fn begin_handler(&mut self, thread: ThreadIndex, stack: u64, from_elsewhere: bool) {
        self.handlers.entry(thread).or_default().push(Handler { from_elsewhere, stack });
    }

    /// A thread returns from the handler that it began last.
    pub(crate) fn end_handler(&mut self, thread: ThreadIndex) {
        if let Some(handlers) = self.handlers.get_mut(&thread) {
            handlers.pop();
        }
    }

    /// Whether an address on the stack of a thread is in frames that a handler of a signal from elsewhere has interrupted.
    pub(crate) fn interrupts(&self, thread: ThreadIndex, address: u64) -> bool {
        /// The memory below the stack pointer that a function may use, in bytes.
        const RED_ZONE: u64 = 128;
        let is_above = |handler: &Handler| handler.from_elsewhere && handler.stack <= address + RED_ZONE;
        self.handlers.get(&thread).is_some_and(|handlers| handlers.iter().any(is_above))
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

    /// Whether a thread has ended before another one goes on, in every schedule.
    pub(crate) fn is_after_end(&mut self, thread: ThreadIndex, ended: ThreadIndex) -> bool {
        let own = self.clock(ended)[ended.place()];
        self.clock(thread).get(ended.place()).is_some_and(|&known| known >= own)
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
        let kind = if write { TouchKind::Writes } else { TouchKind::Reads };
        self.touch_in(thread, Some(candidate), addr..addr.saturating_add(len), kind)
    }

    /// The same for memory that is touched in any way.
    pub(crate) fn touch_in(
        &mut self,
        thread: ThreadIndex,
        candidate: Option<usize>,
        bytes: Range<u64>,
        kind: TouchKind,
    ) -> Conflict {
        let touch = self.now(thread, kind);
        self.take_in(candidate, bytes, touch)
    }

    /// The same for memory that is used as a whole in a way that is not seen.
    pub(crate) fn use_unseen(
        &mut self,
        thread: ThreadIndex,
        bytes: Range<u64>,
        (kind, unwatched_use): (TouchKind, UseDuration),
    ) -> Conflict {
        let touch = WordAccess { unwatched_use: Some(unwatched_use), ..self.now(thread, kind) };
        self.take_in(None, bytes, touch)
    }

    /// The same as a part of the event that a thread has run last: whatever comes after that event comes after it.
    pub(crate) fn use_in_event(&mut self, thread: ThreadIndex, bytes: Range<u64>) -> Conflict {
        let unwatched_use = Some(UseDuration::Call);
        let touch = WordAccess { unwatched_use, ..self.in_event(thread, TouchKind::Writes) };
        self.take_in(None, bytes, touch)
    }

    /// The same for memory that is touched in another way.
    pub(crate) fn touch_in_event(
        &mut self,
        thread: ThreadIndex,
        bytes: Range<u64>,
        kind: TouchKind,
    ) -> Conflict {
        let touch = self.in_event(thread, kind);
        self.take_in(None, bytes, touch)
    }

    fn take_in(&mut self, candidate: Option<usize>, bytes: Range<u64>, touch: WordAccess) -> Conflict {
        let mut conflict = self.conflicts(&bytes, touch);
        self.looks_at_outputs |= conflict.of_output;
        if !conflict.bytes.is_empty() {
            conflict.candidates.extend(candidate);
            for shared in &conflict.bytes {
                self.involved(shared, &mut conflict.candidates);
            }
            conflict.candidates.sort_unstable();
            conflict.candidates.dedup();
        }
        self.note(bytes, candidate.map(number), touch);
        conflict
    }

    /// An access by a thread, as it is now.
    fn now(&mut self, thread: ThreadIndex, kind: TouchKind) -> WordAccess {
        let time = self.clock(thread)[thread.place()];
        let events = self.order.as_ref().map_or(0, |order| order.count(thread));
        let handles = self
            .handlers
            .get(&thread)
            .is_some_and(|handlers| handlers.iter().any(|handler| handler.from_elsewhere));
        WordAccess { thread, time, events, bytes: 0, kind, handles, unwatched_use: None }
    }

    /// An access by a thread as a part of the event that it has run last.
    fn in_event(&mut self, thread: ThreadIndex, kind: TouchKind) -> WordAccess {
        let now = self.now(thread, kind);
        WordAccess { events: now.events.saturating_sub(1), ..now }
    }

    /// Whether a thread has made this very access before, at the same moment by all clocks: it shows nothing new. Another
    /// thread that has touched the same in between had the conflict, if there is one.
    pub(crate) fn repeats(&mut self, thread: ThreadIndex, candidate: usize, access: MemoryAccess) -> bool {
        let bytes = access.addr..access.addr.saturating_add(access.len);
        let touch = self.now(thread, if access.write { TouchKind::Writes } else { TouchKind::Reads });
        if access.len > WIDE {
            return self.wide.contains(&LongAccess { bytes, candidate: Some(number(candidate)), touch });
        }
        words(&bytes).all(|word| {
            let touch = WordAccess { bytes: mask(word, &bytes), ..touch };
            self.words.has(word, number(candidate), &touch)
        })
    }

    /// The number of words that are known to be touched.
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// Memory is gone: what is mapped at the same addresses later is other memory.
    pub(crate) fn forget(&mut self, bytes: &Range<u64>) {
        self.words.forget(bytes);
        self.wide.retain(|wide| intersection(&wide.bytes, bytes).is_empty());
    }

    /// The bytes of a new access that an earlier one conflicts with.
    fn conflicts(&self, bytes: &Range<u64>, new: WordAccess) -> Conflict {
        let clock = self.clocks.get(new.thread.place()).map_or(&[][..], Vec::as_slice);
        let (handed_over, unwatched_use) = (Cell::new(false), Cell::new(false));
        let of_output = Cell::new(false);
        let is_conflict = |earlier: &WordAccess| {
            let prints = [earlier.kind, new.kind].map(|kind| kind == TouchKind::Prints);
            of_output.set(of_output.get() || prints[0] != prints[1]);
            let is_one = conflict(earlier, &new, clock);
            let is_ordered = is_one
                && self.may_be_handed_over(earlier, &new)
                && self.order.as_ref().is_some_and(|order| hands_over(order, earlier, &new));
            handed_over.set(handed_over.get() || is_ordered);
            unwatched_use
                .set(unwatched_use.get() || is_one && !is_ordered && earlier.unwatched_use.is_some());
            is_one && !is_ordered
        };
        let mut found = Conflict { frees: new.kind == TouchKind::Frees, ..Conflict::default() };
        self.words.within(bytes, |word, mask, touches| {
            let mut earlier =
                touches.kinds.iter().filter(|old| old.bytes & mask != 0 && is_conflict(old)).peekable();
            if earlier.peek().is_some() {
                append(&mut found.bytes, intersection(&bytes_of(word), bytes));
            }
            found.frees |= earlier.any(|old| old.kind == TouchKind::Frees);
        });
        for earlier in &self.wide {
            let common = intersection(&earlier.bytes, bytes);
            if !common.is_empty() && is_conflict(&earlier.touch) {
                found.bytes.push(common);
                found.frees |= earlier.touch.kind == TouchKind::Frees;
            }
        }
        (found.handed_over, found.unwatched_use) = (handed_over.get(), unwatched_use.get());
        found.of_output = of_output.get();
        found
    }

    /// Whether two accesses share nothing where events order them.
    fn may_be_handed_over(&self, earlier: &WordAccess, new: &WordAccess) -> bool {
        let unwatched_use = [earlier.unwatched_use, new.unwatched_use];
        !unwatched_use.contains(&Some(UseDuration::Lasting))
            && (self.orders_all || unwatched_use.contains(&Some(UseDuration::Call)))
    }

    /// Adds the instructions that have touched one of the words that some bytes are in.
    fn involved(&self, bytes: &Range<u64>, into: &mut Vec<usize>) {
        let place = |candidate: u32| candidate as usize;
        self.words.within(bytes, |_, _, touches| into.extend(touches.candidates().map(place)));
        let wide = self.wide.iter().filter(|wide| !intersection(&wide.bytes, bytes).is_empty());
        into.extend(wide.filter_map(|wide| wide.candidate.map(place)));
    }

    fn note(&mut self, bytes: Range<u64>, candidate: Option<u32>, touch: WordAccess) {
        if bytes.end - bytes.start > WIDE {
            let is_again = |wide: &LongAccess| {
                wide.bytes == bytes && wide.candidate == candidate && wide.touch.is_again(&touch)
            };
            match self.wide.iter_mut().find(|wide| is_again(wide)) {
                Some(wide) => wide.touch = touch,
                None => self.wide.push(LongAccess { bytes, candidate, touch }),
            }
            return;
        }
        for word in words(&bytes) {
            self.words.note(word, candidate, WordAccess { bytes: mask(word, &bytes), ..touch });
        }
    }
}

/// A candidate's number, in the form in which many are kept.
fn number(candidate: usize) -> u32 {
    candidate as u32
}

/// Adds a range, to the last one if it goes on there.
fn append(ranges: &mut Vec<Range<u64>>, next: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.end == next.start => last.end = next.end,
        _ => ranges.push(next),
    }
}

/// Whether the order of events puts an earlier touch by another thread before a new one. A use of what has been freed is no such
/// thing, however it is ordered.
fn hands_over(order: &EventOrder, earlier: &WordAccess, new: &WordAccess) -> bool {
    earlier.thread != new.thread
        && earlier.kind != TouchKind::Frees
        && order.knows(new.thread, earlier.thread, earlier.events)
}

/// Whether an earlier touch of the same bytes conflicts with a new one by a thread with this clock, and is not ordered
/// before it.
fn conflict(earlier: &WordAccess, new: &WordAccess, clock: &[u32]) -> bool {
    let is_unordered = match earlier.thread == new.thread {
        true => earlier.handles != new.handles,
        false => clock.get(earlier.thread.place()).copied().unwrap_or(0) < earlier.time,
    };
    is_unordered && earlier.kind.conflicts(new.kind)
}

mod words;

#[cfg(test)]
mod tests;
