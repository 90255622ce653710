//! Happens-before of the events of an execution, for the accesses that threads make between them.
//!
//! In a long execution most of what threads have in common is handed over: one fills a buffer, and another one reads it after the lock
//! of a queue. Each of these accesses would be a key point, and none of them needs to be one. Let *a* and *b* be accesses of two threads
//! that conflict and are no key points, and let the events of the execution order *a* before *b*. Whatever puts *b* first reverses two of
//! the events that order them, which the search does as it does with all events; and there *a* and *b* are looked at again. To switch threads
//! before *b* shows no more than to switch them before its thread's next event, at no higher cost in preemptions: what other threads do
//! meanwhile is not ordered after *b*, so that it would show here if it conflicted with it. These are theorems 2 and 3 of Musuvathi, Qadeer:
//! Iterative context bounding for systematic testing of multithreaded programs, PLDI 2007, where events take the place of
//! synchronisation: accesses that race in any execution are events from then on.

use checker::hb::HappensBefore;
use checker::names::ThreadName;
use checker::program::Event;
use checker::recorded::TraceEvent;
use rustc_hash::FxHashMap;

use crate::control::state::thread_index::ThreadIndex;

/// The order of the events so far.
#[derive(Debug, Default)]
pub(crate) struct EventOrder {
    order: HappensBefore,
    /// The places of agents in it.
    places: FxHashMap<ThreadName, usize>,
    /// Those of threads, in creation order.
    threads: Vec<usize>,
}

impl EventOrder {
    /// A thread was created, in the event of another one that ran last.
    pub(crate) fn created(&mut self, child: ThreadName, creator: ThreadName) {
        let creator = self.place(creator);
        if self.threads.is_empty() {
            self.threads.push(creator);
        }
        let place = self.places.len();
        self.order.add_thread(child, self.order.last(creator));
        self.places.insert(child, place);
        self.threads.push(place);
    }

    /// Takes in the next event. An order by time alone counts as none: such accesses race.
    pub(crate) fn push(&mut self, event: &Event) {
        let place = self.place(event.id.thread);
        let places = &self.places;
        let untimed = TraceEvent::from(Event { timing: None, ..event.clone() });
        self.order.push(place, &untimed, |name| places.get(&name).copied());
    }

    fn place(&mut self, name: ThreadName) -> usize {
        let next = self.places.len();
        *self.places.entry(name).or_insert_with(|| {
            self.order.add_thread(name, None);
            next
        })
    }

    /// The number of events that a thread has run.
    pub(crate) fn count(&self, thread: ThreadIndex) -> u32 {
        self.seen(thread, thread)
    }

    /// Whether what a thread does now comes after what another one did when it had run so many events.
    pub(crate) fn knows(&self, thread: ThreadIndex, other: ThreadIndex, events: u32) -> bool {
        self.seen(thread, other) > events
    }

    /// The number of events of another thread that come before what a thread does now.
    fn seen(&self, thread: ThreadIndex, other: ThreadIndex) -> u32 {
        let place = |thread: ThreadIndex| self.threads.get(thread.place()).copied();
        let (Some(thread), Some(other)) = (place(thread), place(other)) else { return 0 };
        self.order.last(thread).map_or(0, |last| self.order.clock(last).get(other))
    }
}
