//! Happens-before of one execution, kept event by event: vector clocks and the hash of the state.
//!
//! The hash of an event covers its thread, its operation and outcome, the hash of its thread's event before, and those
//! of the events that it directly conflicts with or was made possible by. The state is the combination of each thread's
//! last event. So two executions have the same hash exactly if they are linearisations of one partial order:
//! Madanlal Musuvathi, Shaz Qadeer: Partial-order reduction for context-bounded state exploration, MSR-TR-2007-12.

pub mod hash;
mod objects;
#[cfg(test)]
mod tests;
pub mod vector_clock;

use self::hash::{HbHash, Mixer};
use self::objects::insert;
pub(crate) use self::objects::{AccessHistories, Positions};
use self::vector_clock::{Clock, ClockRef, Clocks};
use crate::event::agent::OpOutcome;
use crate::event::names::{EventId, ThreadName};
use crate::event::operation::{Effect, Mode, Op, OpKind};
use crate::event::position::{PerEvent, Position};
use crate::event::recorded::TraceEvent;

/// Happens-before of the events so far.
#[derive(Clone, Debug, Default)]
pub struct HappensBefore {
    threads: Vec<ThreadHistory>,
    /// The thread of each event, by its place in creation order.
    owners: PerEvent<u32>,
    /// Of each event.
    hashes: PerEvent<u128>,
    /// Of each event.
    clocks: Clocks,
    objects: AccessHistories,
    /// The sum over threads of the hash of each one's last event.
    state: u128,
    /// The last event that conflicts with everything.
    ender: Option<Position>,
}

/// The events of a thread.
#[derive(Clone, Debug)]
struct ThreadHistory {
    tag: ThreadTag,
    /// The event that created it.
    born: Option<Position>,
    /// The event that woke it from its last condition or futex wait.
    waker: Option<Position>,
    positions: Vec<Position>,
}

/// A thread's name in 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadTag(pub u64);

impl ThreadTag {
    /// The tag of a thread.
    #[must_use]
    pub fn of(name: ThreadName) -> Self {
        let mut mixer = Mixer::new(1);
        name.path().iter().for_each(|&ordinal| mixer.word(u64::from(ordinal)));
        Self(mixer.finish() as u64)
    }
}

impl HappensBefore {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.threads.clear();
        self.owners.clear();
        self.hashes.clear();
        self.clocks.clear();
        self.objects.clear();
        self.state = 0;
        self.ender = None;
    }

    /// Takes in the next thread in creation order; `born` is the position of the event that created it.
    pub fn add_thread(&mut self, name: ThreadName, born: Option<Position>) {
        self.threads.push(ThreadHistory {
            tag: ThreadTag::of(name),
            born,
            waker: None,
            positions: Vec::new(),
        });
    }

    /// Says that the event at `waker` woke the `thread`-th thread.
    pub fn woken(&mut self, thread: usize, waker: Position) {
        self.threads[thread].waker = Some(waker);
    }

    /// The position of the event that woke the `thread`-th thread from its last wait for a signal.
    #[must_use]
    pub fn waker(&self, thread: usize) -> Option<Position> {
        self.threads.get(thread)?.waker
    }

    /// The hash of the state after the events so far.
    #[must_use]
    pub fn state(&self) -> HbHash {
        HbHash(self.state)
    }

    /// The hash of the event at a position, with all that happened before it.
    #[must_use]
    pub fn hash(&self, position: Position) -> HbHash {
        HbHash(self.hashes[position])
    }

    /// The clock of the event at a position.
    #[must_use]
    pub fn clock(&self, position: Position) -> ClockRef<'_> {
        self.clocks.get(position)
    }

    /// The tag of the `thread`-th thread.
    #[must_use]
    pub fn tag(&self, thread: usize) -> ThreadTag {
        self.threads[thread].tag
    }

    /// The event that created the `thread`-th thread.
    #[must_use]
    pub fn born(&self, thread: usize) -> Option<Position> {
        self.threads.get(thread)?.born
    }

    /// Whether the event at `earlier` happened before the one at `later`: whether the clock of that one has come to its number among
    /// the events of its thread.
    #[must_use]
    pub fn ordered(&self, earlier: Position, later: Position) -> bool {
        let owner = self.owners[earlier] as usize;
        self.clock(earlier).get(owner) <= self.clock(later).get(owner)
    }

    /// The events of other threads that come immediately before the one at a position, which is of the `thread`-th thread: it
    /// follows them, and nothing stands between. With the order of each thread's own events these are the transitive reduction
    /// of happens-before; the clocks give it in time linear in the events.
    #[must_use]
    pub fn immediately_before(&self, position: Position, thread: usize) -> Vec<Position> {
        let clock = self.clock(position);
        let last_of = |other: usize| {
            let itself = u32::from(other == thread);
            self.position(other, clock.get(other).checked_sub(1 + itself)?)
        };
        let last: Vec<Position> = (0..self.threads.len()).filter_map(last_of).collect();
        let own = last_of(thread);
        let is_immediate = |&at: &Position| {
            Some(at) != own && !last.iter().any(|&other| other != at && self.ordered(at, other))
        };
        last.iter().copied().filter(is_immediate).collect()
    }

    /// The position of an event of the `thread`-th thread.
    #[must_use]
    pub fn position(&self, thread: usize, index: u32) -> Option<Position> {
        self.threads.get(thread)?.positions.get(index as usize).copied()
    }

    /// Takes in the next event. `locate` gives a thread's place in creation order.
    pub fn push(&mut self, thread: usize, event: &TraceEvent, locate: impl Fn(ThreadName) -> Option<usize>) {
        // Times are a matter of the order of events, not of synchronisation: what is ordered by them alone is a race.
        let early = event.timing().into_iter().flat_map(|timing| &timing.after);
        let early: Positions = early.filter_map(|id| self.position(locate(id.thread)?, id.index)).collect();
        self.push_with(thread, event, &event.did, locate);
        if let Some(&position) = self.threads[thread].positions.last().filter(|_| !early.is_empty()) {
            let mut clock = self.clock(position).to_clock();
            early.iter().for_each(|&at| clock.join(self.clock(at)));
            self.clocks.replace_last(clock.by_ref());
        }
    }

    /// Takes in the next event as if this were all that it did to objects.
    pub(crate) fn push_with(
        &mut self,
        thread: usize,
        event: &TraceEvent,
        did: &Effect,
        locate: impl Fn(ThreadName) -> Option<usize>,
    ) {
        let waker =
            event.woken_by().and_then(|EventId { thread, index }| self.position(locate(thread)?, index));
        let peer = event.op.peer.and_then(&locate);
        let before = self.before(thread, event.op.kind, did, peer, waker);
        let hash = self.event_hash(thread, event.op.kind, did, event.outcome, &before);
        let clock = self.clock_after(thread, &before);
        let position = self.hashes.end();
        self.state = self.state_with(thread, hash);
        self.objects.record(did, thread as u32, position);
        if did.ends_process {
            self.ender = Some(position);
        }
        if matches!(event.op.kind, OpKind::CondWait | OpKind::FutexWait) {
            self.threads[thread].waker = None;
        }
        self.owners.push(thread as u32);
        self.hashes.push(hash);
        self.clocks.push(clock.by_ref());
        self.threads[thread].positions.push(position);
    }

    /// The state that the pending operation of a thread would lead to, should it do all that it may do.
    ///
    /// If it does less (a failed compare-and-swap), no execution ever has this hash: the events before the operation
    /// fix its outcome. So whatever is known about a state with this hash holds after the operation.
    #[must_use]
    pub fn predict(&self, thread: usize, op: &Op, outcome: OpOutcome, peer: Option<usize>) -> HbHash {
        let before = self.before(thread, op.kind, &op.may, peer, self.threads[thread].waker);
        HbHash(self.state_with(thread, self.event_hash(thread, op.kind, &op.may, outcome, &before)))
    }

    /// The events that come directly before, except for the thread's own previous one.
    fn before(
        &self,
        thread: usize,
        kind: OpKind,
        did: &Effect,
        peer: Option<usize>,
        waker: Option<Position>,
    ) -> Positions {
        let mut before = Positions::new();
        self.objects.conflicts(did, &mut before);
        let me = &self.threads[thread];
        if me.positions.is_empty() {
            me.born.iter().for_each(|&born| insert(&mut before, born));
        }
        match kind {
            OpKind::Join => {
                peer.and_then(|peer| self.last(peer)).iter().for_each(|&end| insert(&mut before, end))
            }
            // A thread's parking before it got a lock is no part of happens-before; the signal that woke it is.
            OpKind::Reacquire | OpKind::FutexResume => {
                waker.iter().for_each(|&waker| insert(&mut before, waker))
            }
            _ => {}
        }
        self.ender.iter().for_each(|&ender| insert(&mut before, ender));
        if did.ends_process {
            (0..self.threads.len())
                .filter_map(|other| self.last(other))
                .for_each(|last| insert(&mut before, last));
        }
        before
    }

    /// The position of the last event of the `thread`-th thread, or of its creation.
    #[must_use]
    pub fn last(&self, thread: usize) -> Option<Position> {
        let thread = &self.threads[thread];
        thread.positions.last().copied().or(thread.born)
    }

    /// The position of the last event of the `thread`-th thread before a position.
    #[must_use]
    pub fn last_before(&self, thread: usize, position: Position) -> Option<Position> {
        let positions = &self.threads.get(thread)?.positions;
        let before = positions.partition_point(|&at| at < position);
        before.checked_sub(1).map(|last| positions[last])
    }

    fn own_hash(&self, thread: usize) -> u128 {
        self.threads[thread].positions.last().map_or(0, |&last| self.hashes[last])
    }

    fn state_with(&self, thread: usize, hash: u128) -> u128 {
        self.state.wrapping_sub(self.own_hash(thread)).wrapping_add(hash)
    }

    fn event_hash(
        &self,
        thread: usize,
        kind: OpKind,
        did: &Effect,
        outcome: OpOutcome,
        before: &Positions,
    ) -> u128 {
        let mut mixer = Mixer::new(self.threads[thread].tag.0);
        mixer.word(kind as u64);
        let (tag, value) = match outcome {
            OpOutcome::Only => (0, 0),
            OpOutcome::Wake(name) => (1, ThreadTag::of(name).0),
            OpOutcome::Value(value) => (2, u64::from(value)),
        };
        mixer.word(tag);
        mixer.word(value);
        mixer.wide(self.own_hash(thread));
        for access in &did.accesses {
            mixer.word(access.obj.name.0);
            mixer.word(u64::from(access.obj.offset) | u64::from(access.obj.len) << 32);
            mixer.word(match access.mode {
                Mode::Read => 0,
                Mode::Write => 1,
                Mode::Arrive(round) => 2 | u64::from(round) << 2,
                Mode::Share => 4,
                Mode::Leave(round) => 3 | u64::from(round) << 2,
            });
        }
        mixer.word(u64::from(did.ends_process));
        mixer.wide(before.iter().fold(0, |sum, &at| u128::wrapping_add(sum, self.hashes[at])));
        mixer.finish()
    }

    fn clock_after(&self, thread: usize, before: &Positions) -> Clock {
        let positions = &self.threads[thread].positions;
        let mut clock = positions.last().map_or_else(Clock::default, |&own| self.clock(own).to_clock());
        before.iter().for_each(|&at| clock.join(self.clock(at)));
        clock.set(thread, positions.len() as u32 + 1);
        clock
    }
}
