//! Accesses that another thread may find half done: processors carry them out in several steps, and an event of another thread
//! that conflicts with one can be its neighbour.
//!
//! The order by other events counts, and nothing else: neither how the source means an access, nor which variables are for
//! synchronisation. A structure of atomic counters that is copied as a whole is as torn as any other one.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::hidden::{HiddenSynchronisation, with};
use super::neighbours::races;
use crate::account::HiddenAccess;
use crate::event::names::Site;
use crate::event::operation::{Access, Divisibility, Effect, OpKind};
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::event::recorded::TraceEvent;
use crate::hb::AccessHistories;
use crate::trace::Trace;

/// So many executions that show a pair are kept: what libraries do may order it in some of them.
const WITNESSES: usize = 4;

/// So many pairs are kept.
const MOST: usize = 200;

/// The places of an access that may be half done, and of the other event.
type Places = [Site; 2];

/// An execution, and the positions of the two events.
type Witness = (Arc<Trace>, [Position; 2]);

/// The accesses of a search so far that another thread may find half done.
#[derive(Clone, Debug, Default)]
pub struct TornAccesses {
    found: FxHashMap<Places, Vec<Witness>>,
}

impl TornAccesses {
    /// Whether none was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Takes in an execution of which everything was watched.
    pub fn take(&mut self, trace: &Trace) {
        if trace.steps.iter().all(|step| step.event.op.divisibility == Divisibility::Indivisible) {
            return;
        }
        let mut kept = None;
        let mut objects = AccessHistories::default();
        for (at, step) in trace.steps.enumerate() {
            let event = &step.event;
            let Some(thread) = trace.threads.iter().position(|&known| known == event.id.thread) else {
                continue;
            };
            for earlier in races(trace, (thread, at), &objects) {
                let other = &trace.steps[earlier].event;
                if is_torn(event, other) || is_torn(other, event) {
                    self.keep(trace, &mut kept, [earlier, at]);
                }
            }
            objects.record(&event.did, thread as u32, at);
        }
    }

    fn keep(&mut self, trace: &Trace, kept: &mut Option<Arc<Trace>>, events: [Position; 2]) {
        let [a, b] = events.map(|at| trace.steps[at].event.site);
        let places = [a.min(b), a.max(b)];
        let is_full = self.found.len() >= MOST && !self.found.contains_key(&places);
        if is_full {
            return;
        }
        let witnesses = self.found.entry(places).or_default();
        let is_known =
            kept.as_ref().is_some_and(|kept| witnesses.iter().any(|(known, _)| Arc::ptr_eq(known, kept)));
        if witnesses.len() < WITNESSES && !is_known {
            let trace = kept.get_or_insert_with(|| Arc::new(trace.clone()));
            witnesses.push((Arc::clone(trace), events));
        }
    }

    /// The number of pairs of places that no synchronisation of libraries orders. `find_out` runs an execution again as far as
    /// these events and says what libraries did ([`crate::program::ExecutionSummary::hidden`]); what it cannot say orders nothing.
    /// `variables` are the synchronisation variables that are known.
    pub fn confirm(
        &self,
        variables: &ByteSet,
        mut find_out: impl FnMut(&Trace, Vec<Position>) -> Option<Vec<HiddenAccess>>,
    ) -> u64 {
        let mut known: Vec<(Arc<Trace>, HiddenSynchronisation)> = Vec::new();
        let mut is_torn = |(trace, events): &Witness| {
            let all = || {
                let shown = self.found.values().flatten().filter(|(other, _)| Arc::ptr_eq(other, trace));
                shown.flat_map(|(_, events)| *events).collect()
            };
            let at = known.iter().position(|(known, _)| Arc::ptr_eq(known, trace)).unwrap_or_else(|| {
                let hidden = find_out(trace, all());
                known.push((
                    Arc::clone(trace),
                    HiddenSynchronisation { hidden, ..HiddenSynchronisation::default() },
                ));
                known.len() - 1
            });
            with(trace, &known[at].1, variables).are_neighbours(*events)
        };
        self.found.values().filter(|witnesses| witnesses.iter().any(&mut is_torn)).count() as u64
    }
}

/// Whether an event may be half done when another one comes. A signal comes to the thread, whatever it does; and of operations on a lock
/// each is one step for the others.
fn is_torn(event: &TraceEvent, other: &TraceEvent) -> bool {
    let are_on_lock = [event, other].iter().all(|event| event.op.kind.lock_action().is_some());
    let is_half_done = match event.op.divisibility {
        Divisibility::Indivisible => false,
        Divisibility::Divisible => true,
        Divisibility::DivisibleInMemory => meet_in_memory(&event.did, &other.did),
    };
    is_half_done && other.op.kind != OpKind::Kill && !are_on_lock
}

/// Whether two effects conflict in memory of which the first one touches more than a byte. What is no memory is an object of one byte.
fn meet_in_memory(event: &Effect, other: &Effect) -> bool {
    let meet = |a: &Access, b: &Access| a.obj.len > 1 && a.obj.overlaps(&b.obj) && a.mode.conflicts(b.mode);
    event.accesses.iter().any(|a| other.accesses.iter().any(|b| meet(a, b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::failure::Failure;
    use crate::model::Model;
    use crate::search::{Options, sample};
    use crate::strategy::StrategyKind;

    /// The number of pairs of a program's accesses that are torn if those of `x` are carried out in several steps.
    fn torn(text: &str) -> u64 {
        let model: Model = text.parse().unwrap();
        let (mut strategy, _) = StrategyKind::Dpor.plan(&Options::default());
        let mut torn = TornAccesses::default();
        let mut take = |trace: &Trace, _: &[Failure]| {
            let mut trace = trace.clone();
            let x = trace.steps.iter().flat_map(|step| step.event.did.accesses.clone()).map(|a| a.obj).min();
            for step in &mut trace.steps {
                let touches = step.event.did.accesses.iter().any(|access| Some(access.obj) == x);
                let kind = step.event.op.kind;
                step.event.done_mut().op.divisibility =
                    Divisibility::divisible_if(touches && kind.is_load_or_store());
            }
            torn.take(&trace);
        };
        sample(&model, &mut *strategy, 10_000, 200, &mut take).unwrap();
        torn.confirm(&ByteSet::default(), |_, _| None)
    }

    #[test]
    fn it_takes_a_neighbour_of_another_thread() {
        for (text, expected) in [
            ("T1: w x | T2: r x", true),
            ("T1: add x | T2: r x", true),
            ("T1: r x | T2: r x", false),
            ("T1: lock m, w x, unlock m | T2: lock m, r x, unlock m", false),
            ("T1: add x | T2: add x", false),
        ] {
            assert_eq!(torn(text) > 0, expected, "{text}");
        }
    }
}
