//! Triangular races: the signs that executions of a program on x86 may do what none under sequential consistency does.
//!
//! A processor of x86 keeps stores in a buffer while it carries out later loads (x86-TSO). That can be found out only where
//! a thread writes one location and then reads another one, nothing between them empties the buffer, and the read races with
//! a write of another thread: Scott Owens, Reasoning about the implementation of concurrency abstractions on x86-TSO, ECOOP
//! 2010. Without such a *triangular race* in any sequentially consistent execution, all executions are sequentially
//! consistent.
//!
//! Two accesses race in an execution if they conflict and no third event comes between them in happens-before: another
//! linearisation has them side by side. So one execution of each class shows every race. The first write counts only if its
//! place races as well with what it writes there, be it in another execution: a store that no other thread comes upon while it is in its buffer might as well
//! have been carried out at once. The buffer keeps order, so that until then the others have seen nothing of what its thread
//! has done since; what they do can come before that store, and the access of theirs that comes upon it is its neighbour there.
//! Nor does it count for a read of the same location, which sees it in any case.

use rustc_hash::{FxHashMap, FxHashSet};

use super::neighbours::races;
use crate::event::names::{EventId, Obj, Site};
use crate::event::operation::{Access, Effect, Mode, OpKind};
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::hb::AccessHistories;
use crate::program::StoreBuffers;
use crate::trace::Trace;

/// Accesses that make a triangular race.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Triangle {
    /// The write that may still be in its thread's buffer.
    pub write: Site,
    /// A later read by the same thread.
    pub read: Site,
    /// The write by another thread with which that read races.
    pub other: Site,
}

/// The triangular races of a search so far.
#[derive(Clone, Debug, Default)]
pub struct Triangles {
    /// Each with the locations of its first write.
    found: FxHashMap<Triangle, FxHashSet<Obj>>,
    /// Of each place that writes, the bytes that it has written in a race of any execution.
    racy: FxHashMap<Site, ByteSet>,
}

/// Stores of one thread since its buffer was empty, each location from each place once.
#[derive(Debug, Default)]
struct Buffer {
    stores: Vec<(Site, Obj)>,
    known: FxHashSet<(Site, Obj)>,
    /// Of each pair of a read and a racing write, by their places, the number of the stores that have been taken with it.
    taken: FxHashMap<(Site, Site), usize>,
}

/// A read, and the stores before it: so many of one of its thread's buffers.
#[derive(Clone, Copy, Debug)]
struct Read {
    buffer: usize,
    stores: usize,
}

impl Triangles {
    /// Takes in an execution of which everything was watched.
    pub fn take(&mut self, trace: &Trace, store_buffers: &StoreBuffers) {
        let emptied: FxHashSet<EventId> = store_buffers.emptied_before.iter().copied().collect();
        let left: FxHashSet<EventId> = store_buffers.left_by.iter().copied().collect();
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut current: FxHashMap<usize, usize> = FxHashMap::default();
        let mut read: FxHashMap<Position, Read> = FxHashMap::default();
        let mut objects = AccessHistories::default();
        for (at, step) in trace.steps.enumerate() {
            let event = &step.event;
            let Some(thread) = trace.threads.iter().position(|&known| known == event.id.thread) else {
                continue;
            };
            let kind = event.op.kind;
            let is_left = left.contains(&event.id);
            if emptied.contains(&event.id) || !is_left && empties_buffer(kind, &event.did) {
                current.remove(&thread);
            }
            let buffer = *current.entry(thread).or_insert_with(|| {
                buffers.push(Buffer::default());
                buffers.len() - 1
            });
            let before = buffers[buffer].stores.len();
            if before > 0 && event.did.accesses.iter().any(|access| reads(kind, access)) {
                read.insert(at, Read { buffer, stores: before });
            }
            for earlier in races(trace, (thread, at), &objects) {
                self.race(trace, (earlier, at), &read, &mut buffers);
            }
            objects.record(&event.did, thread as u32, at);
            if is_plain_write(kind, &event.did, is_left) {
                buffers[buffer].add(event.site, &event.did);
            }
        }
    }

    /// The triangular races that take away the claim that an exploration of sequential consistency makes for x86.
    #[must_use]
    pub fn observable(&self) -> Vec<Triangle> {
        let is_observable = |(found, locations): &(&Triangle, &FxHashSet<Obj>)| {
            let racy = self.racy.get(&found.write);
            racy.is_some_and(|racy| locations.iter().any(|&location| racy.overlap(location)))
        };
        let mut found: Vec<Triangle> =
            self.found.iter().filter(is_observable).map(|(found, _)| *found).collect();
        found.sort_unstable();
        found
    }

    /// Two events of different threads race.
    fn race(
        &mut self,
        trace: &Trace,
        (earlier, later): (Position, Position),
        all: &FxHashMap<Position, Read>,
        buffers: &mut [Buffer],
    ) {
        let event = |at: Position| &trace.steps[at].event;
        for access in &event(earlier).did.accesses {
            for other in &event(later).did.accesses {
                let Some(common) =
                    access.obj.common(&other.obj).filter(|_| access.mode.conflicts(other.mode))
                else {
                    continue;
                };
                for (at, mode) in [(earlier, access.mode), (later, other.mode)] {
                    if mode == Mode::Write {
                        self.racy.entry(event(at).site).or_default().insert(common);
                    }
                }
            }
        }
        for (read, write) in [(earlier, later), (later, earlier)] {
            let Some(&Read { buffer, stores }) = all.get(&read) else { continue };
            let Buffer { stores: before, taken, .. } = &mut buffers[buffer];
            let (read, other) = (event(read), event(write));
            let is_raced = |access: &&Access| {
                let conflicts =
                    |other: &Access| access.obj.overlaps(&other.obj) && !other.mode.leaves_as_it_is();
                reads(read.op.kind, access) && other.did.accesses.iter().any(conflicts)
            };
            let raced: Vec<Obj> =
                read.did.accesses.iter().filter(is_raced).map(|access| access.obj).collect();
            let taken = taken.entry((read.site, other.site)).or_default();
            if raced.is_empty() || *taken >= stores {
                continue;
            }
            let mut all_count = true;
            for &(site, location) in &before[*taken..stores] {
                // Of one location alone a thread sees its own stores, in whatever order others see them.
                if raced.iter().all(|&raced| location.common(&raced) == Some(raced)) {
                    all_count = false;
                    continue;
                }
                let found = Triangle { write: site, read: read.site, other: other.site };
                self.found.entry(found).or_default().insert(location);
            }
            if all_count {
                *taken = stores;
            }
        }
    }
}

impl Buffer {
    fn add(&mut self, site: Site, did: &Effect) {
        for access in did.accesses.iter().filter(|access| access.mode == Mode::Write) {
            if self.known.insert((site, access.obj)) {
                self.stores.push((site, access.obj));
            }
        }
    }
}

/// Whether an operation that leaves the buffer as it is may load what it touches so. A copy loads and stores; an attempt that
/// fails may only load; and a signal is only a load where no thread waits.
fn reads(kind: OpKind, access: &Access) -> bool {
    access.mode.leaves_as_it_is() || matches!(kind, OpKind::Signal | OpKind::Broadcast)
}

/// Whether the event is a store that goes into the buffer. The lock that is released by a plain store is one.
/// Whether an event stores something that may stay in its thread's buffer; `is_left`: calls of the kernel are none.
fn is_plain_write(kind: OpKind, did: &Effect, is_left: bool) -> bool {
    let is_call = is_left && kind == OpKind::Io;
    (is_call
        || matches!(kind, OpKind::Write | OpKind::Unlock | OpKind::Init | OpKind::Destroy | OpKind::OnceDone))
        && did.accesses.iter().any(|access| access.mode == Mode::Write)
}

/// Whether nothing is left in its thread's buffer after an event. Where an operation need not come to a locked instruction, or
/// into the kernel, it does not count. A mutex is released by one, and a spin lock is not: the backend knows which it was.
fn empties_buffer(kind: OpKind, did: &Effect) -> bool {
    use OpKind as K;
    match kind {
        K::Update | K::CompareExchange | K::Lock | K::Reacquire | K::CondWait => true,
        K::Exit | K::ThreadEnd => true,
        // The C library uses a compare-and-swap to note the thread that joins another one.
        K::Create | K::Join => true,
        K::BarrierArrive | K::BarrierLeave | K::SemWait | K::SemPost => true,
        K::ReadLock | K::WriteLock | K::ReadUnlock | K::WriteUnlock => true,
        K::FutexWait | K::FutexResume | K::FutexWake | K::Io | K::Kill | K::SignalWait | K::SetTimer => true,
        K::TryLock | K::SemTryWait | K::TryReadLock | K::TryWriteLock | K::Once => {
            did.accesses.iter().any(|access| !access.mode.leaves_as_it_is())
        }
        K::Read | K::Write | K::Await | K::Yield | K::Sleep | K::SliceEnd | K::Timeout | K::Free => false,
        K::Expire => false,
        K::Unlock | K::Signal | K::Broadcast | K::OnceDone | K::Init | K::Destroy => false,
        K::CancelPoint | K::AskForEnd | K::StartClient | K::AskToEnd => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use proptest::prelude::{Strategy as Generator, any, prop, proptest};

    use super::*;
    use crate::model::Model;
    use crate::search::tests::brute_force::generated::generated;
    use crate::search::{Options, sample};
    use crate::strategy::StrategyKind;

    const VARIABLES: usize = 2;

    /// A step of a program for the oracle: every write has a value of its own.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Read(usize),
        Write(usize),
        /// An indivisible addition.
        Add(usize),
    }

    /// The result of an execution: the values that each thread has read, and the memory at the end.
    type Result = (Vec<Vec<u32>>, [u32; VARIABLES]);

    #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
    struct State {
        next: Vec<usize>,
        reads: Vec<Vec<u32>>,
        memory: [u32; VARIABLES],
        buffers: Vec<VecDeque<(usize, u32)>>,
    }

    /// Every result of a program, with stores that stay in buffers or without.
    fn results(threads: &[Vec<Step>], buffers: bool) -> BTreeSet<Result> {
        let count = threads.len();
        let start = State {
            next: vec![0; count],
            reads: vec![Vec::new(); count],
            memory: [0; VARIABLES],
            buffers: vec![VecDeque::new(); count],
        };
        let (mut seen, mut waiting) = (BTreeSet::from([start.clone()]), vec![start]);
        let mut found = BTreeSet::new();
        while let Some(state) = waiting.pop() {
            let mut after = Vec::new();
            for (thread, steps) in threads.iter().enumerate() {
                if let Some(&(variable, value)) = state.buffers[thread].front() {
                    let mut flushed = state.clone();
                    flushed.buffers[thread].pop_front();
                    flushed.memory[variable] = value;
                    after.push(flushed);
                }
                let Some(&step) = steps.get(state.next[thread]) else { continue };
                let mut next = state.clone();
                next.next[thread] += 1;
                match step {
                    Step::Read(variable) => {
                        let own = state.buffers[thread].iter().rev().find(|(stored, _)| *stored == variable);
                        next.reads[thread].push(own.map_or(state.memory[variable], |(_, value)| *value));
                    }
                    Step::Write(variable) => {
                        let value = (10 * thread + state.next[thread] + 1) as u32;
                        if buffers {
                            next.buffers[thread].push_back((variable, value));
                        } else {
                            next.memory[variable] = value;
                        }
                    }
                    Step::Add(_) if !state.buffers[thread].is_empty() => continue,
                    Step::Add(variable) => {
                        next.reads[thread].push(state.memory[variable]);
                        next.memory[variable] += 100;
                    }
                }
                after.push(next);
            }
            if after.is_empty() {
                found.insert((state.reads, state.memory));
                continue;
            }
            waiting.extend(after.into_iter().filter(|state| seen.insert(state.clone())));
        }
        found
    }

    /// The same program as a model.
    fn text(threads: &[Vec<Step>]) -> String {
        let name = |variable: usize| ["x", "y"][variable];
        let step = |step: &Step| match *step {
            Step::Read(variable) => format!("r {}", name(variable)),
            Step::Write(variable) => format!("w {}", name(variable)),
            Step::Add(variable) => format!("add {}", name(variable)),
        };
        let thread = |(nth, steps): (usize, &Vec<Step>)| {
            format!("T{nth}: {}", steps.iter().map(step).collect::<Vec<_>>().join(", "))
        };
        threads.iter().enumerate().map(thread).collect::<Vec<_>>().join(" | ")
    }

    /// The number of triangular races that the executions of a program show and that can be observed.
    fn observable(text: &str) -> usize {
        let model: Model = text.parse().unwrap();
        let (mut strategy, _) = StrategyKind::Dpor.plan(&Options::default());
        let mut triangles = Triangles::default();
        sample(&model, &mut *strategy, 100_000, 200, &mut |trace, _| {
            triangles.take(trace, &StoreBuffers::default())
        })
        .unwrap();
        triangles.observable().len()
    }

    #[test]
    fn it_takes_a_store_a_later_read_and_others_that_come_upon_both() {
        for (text, expected) in [
            ("T1: w x, r y | T2: w y, r x", true),
            ("T1: w x, add z, r y | T2: w y, add z, r x", false),
            // One thread is enough; and a later write of the same location finds the store out.
            ("T1: w x, r y | T2: w y, add z, r x", true),
            ("T1: w x, r y | T2: w y, w x", true),
            // Message passing, and what only its own thread uses.
            ("T1: w x, w y | T2: r y, r x", false),
            ("T1: w x, r y | T2: w y, r z", false),
            // A read of what is in the buffer.
            ("T1: w x, r x | T2: w x, r x", false),
            ("T1: w x, r x, r y | T2: w y, r y, r x", true),
            // An attempt to take what is not there only loads.
            ("T1: w x, trydown s | T2: up s, r x", true),
            // Another write of that location races, and this one comes after all that others do there.
            ("T1: r x a, if a == 1 { w x 2, r y } | T2: w z, add x, w y", false),
            ("T1: r x a, if a == 1 { w x 2, r y } | T2: w z, add x, w y, r x", true),
            ("T1: lock m, w x, r y, unlock m | T2: lock m, w y, r x, unlock m", false),
        ] {
            assert_eq!(observable(text) > 0, expected, "{text}");
        }
    }

    fn steps() -> impl Generator<Value = Vec<Step>> {
        let step = (0..5_u8, any::<bool>()).prop_map(|(kind, variable)| match kind {
            0 | 1 => Step::Read(usize::from(variable)),
            2 | 3 => Step::Write(usize::from(variable)),
            _ => Step::Add(usize::from(variable)),
        });
        prop::collection::vec(step, 1..5)
    }

    proptest! {
        #![proptest_config(generated(256))]

        /// Owens' theorem, and the condition that the store can be found out, against both memory models.
        #[test]
        fn without_one_x86_does_what_sequential_consistency_does(threads in prop::collection::vec(steps(), 2..4)) {
            if observable(&text(&threads)) == 0 {
                assert!(results(&threads, true) == results(&threads, false), "{}", text(&threads));
            }
        }
    }
}
