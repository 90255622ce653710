//! Acquisitions of several threads that can be pending at once, as far as what orders them is no lock of theirs.

use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::hb::HappensBefore;
use crate::race::ordering;
use crate::trace::Trace;

/// Happens-before of an execution by its synchronisation, without what some locks order.
pub(super) fn order_without(trace: &Trace, variables: &ByteSet, locks: &ByteSet) -> HappensBefore {
    let mut order = HappensBefore::default();
    for (thread, name) in trace.threads.iter().enumerate() {
        order.add_thread(*name, trace.hb.born(thread));
    }
    let locate = |name: ThreadName| trace.threads.iter().position(|known| *known == name);
    for step in &trace.steps {
        let event = &step.event;
        let Some(thread) = locate(event.id.thread) else { break };
        let mut did = ordering(event, variables);
        did.accesses.retain(|access| !locks.overlap(access.obj));
        order.push_with(thread, event, &did, locate);
    }
    order
}

/// Of each thread one of its events, so that none of them happened before another one; each thread's are in order.
///
/// Vijay Garg, Brian Waldecker: Detection of weak unstable predicates in distributed programs, TPDS 1994: an event before
/// another thread's candidate is before all that follow that one as well, and so is given up for good.
pub(super) fn unordered(order: &HappensBefore, chains: &[&[Position]]) -> Option<Vec<usize>> {
    let mut candidates = vec![0; chains.len()];
    let event = |candidates: &[usize], thread: usize| chains[thread].get(candidates[thread]).copied();
    let mut thread = 0;
    let mut agreed = 0;
    // Each round gives up a candidate, or finds one more that is before no other.
    while agreed < chains.len() {
        let own = event(&candidates, thread)?;
        let others = (0..chains.len()).filter(|&other| other != thread);
        let is_early =
            others.filter_map(|other| event(&candidates, other)).any(|other| order.ordered(own, other));
        if is_early {
            candidates[thread] += 1;
            agreed = 0;
        } else {
            thread = (thread + 1) % chains.len();
            agreed += 1;
        }
    }
    Some(candidates)
}
