//! The critical pair: two events whose order decides whether the execution fails.
//!
//! A candidate is an immediate race in happens-before: two dependent events of different threads with nothing between them
//! that is ordered after the one and before the other, so that a reordering makes them neighbours. The execution with the
//! two swapped is run; of locks, whole critical sections are swapped. After the swap the original choices are followed
//! while they are possible, and then the default schedule. The pair nearest to the failure whose swap ends well is it.

use rustc_hash::FxHashMap;

use super::experiment::{Experiment, Experimenter, Halt};
use super::known_executions::KnownExecutions;
use super::plan::{Plan, Segment};
use super::swap::{Second, Swap};
use crate::event::agent::{Agent, Status};
use crate::event::failure::FailureKind;
use crate::event::names::{EventId, ThreadName};
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::hb::{AccessHistories, Positions};
use crate::program::Program;
use crate::trace::cost::forced_order;
use crate::trace::{Trace, TraceStep};

/// The number of swaps that are tried.
const SWAPS: u64 = 300;

/// The orders of events that make the difference between a failing execution and one that ends well.
#[derive(Clone, Debug)]
pub struct CriticalPair {
    /// One swap that does it; or, if there is none, all orders in which the two executions differ.
    pub swaps: Vec<Swap>,
    /// The execution that ends well.
    pub passing: Trace,
    /// The number of swaps nearer to the failure that were possible and failed as well.
    pub failed: u32,
    /// The number of swaps that could not be made: the events before them did not come out in the other order, or not twice.
    pub infeasible: u32,
}

/// Looks for the critical pair of a failing execution; these executions are known to end well.
pub(super) fn critical_pair<P: Program>(
    experimenter: &mut Experimenter<'_, KnownExecutions<'_, P>>,
    simplest: &Experiment,
    known: &[Trace],
) -> Result<Option<CriticalPair>, Halt> {
    let trace = &simplest.trace;
    let (mut failed, mut infeasible) = (0, 0);
    experimenter.allow(SWAPS);
    let races = races(simplest);
    for &swap in &races {
        let experiment = match experimenter.follow(&plan(trace, simplest.point, swap)) {
            Ok(experiment) => experiment,
            Err(Halt::Spent) => break,
            Err(halt) => return Err(halt),
        };
        if !is_swapped(trace, swap, &experiment.trace) {
            infeasible += 1;
        } else if experiment.passes && comes_out_again(experimenter, &experiment.trace)? {
            return Ok(Some(CriticalPair {
                swaps: vec![swap],
                passing: experiment.trace,
                failed,
                infeasible,
            }));
        } else if experiment.passes {
            infeasible += 1;
        } else {
            failed += 1;
        }
    }
    let differing = known.iter().filter_map(|passing| {
        let swaps: Vec<Swap> =
            races.iter().copied().filter(|&swap| is_swapped(trace, swap, passing)).collect();
        (!swaps.is_empty()).then_some((swaps, passing))
    });
    let Some((swaps, passing)) = differing.min_by_key(|(swaps, _)| swaps.len()) else { return Ok(None) };
    let holds = comes_out_again(experimenter, passing)?;
    Ok(holds.then(|| CriticalPair { swaps, passing: passing.clone(), failed, infeasible }))
}

/// Whether an execution ends well whenever its choices are made.
fn comes_out_again<P: Program>(
    experimenter: &mut Experimenter<'_, KnownExecutions<'_, P>>,
    passing: &Trace,
) -> Result<bool, Halt> {
    let again = experimenter.run_again(&passing.schedule())?;
    Ok(again.passes && again.trace.first_difference(passing).is_none())
}

impl CriticalPair {
    /// The places in the execution that ends well of the events of each swap, which are those of this failing trace: the second
    /// one, which comes first here, and the first one, if it runs at all.
    #[must_use]
    pub fn places(&self, failing: &Trace) -> Vec<(Position, Option<Position>)> {
        self.swaps.iter().filter_map(|&swap| places_swapped(failing, swap, &self.passing)).collect()
    }
}

/// Whether the second one comes before the first one in another execution.
fn is_swapped(trace: &Trace, swap: Swap, other: &Trace) -> bool {
    places_swapped(trace, swap, other).is_some()
}

/// The places in another execution of the second one, and of the first one behind it.
fn places_swapped(
    trace: &Trace,
    Swap { first, second }: Swap,
    other: &Trace,
) -> Option<(Position, Option<Position>)> {
    let first = &trace.steps[first].event;
    let place = |id: EventId| other.steps.position(|step| step.event.id == id);
    let is_same = |at: Position, kind: OpKind| other.steps[at].event.op.kind == kind;
    let (id, kind) = match second {
        Second::Event(at) => {
            let event = &trace.steps[at].event;
            (event.id, event.op.kind)
        }
        Second::Pending(thread) => {
            let (index, kind) = pending(trace, thread)?;
            (EventId { thread, index }, kind)
        }
    };
    let at = place(id).filter(|&at| is_same(at, kind))?;
    let first = place(first.id);
    first.is_none_or(|first| at < first).then_some((at, first))
}

/// The index and the kind of what a thread was left with.
fn pending(trace: &Trace, thread: ThreadName) -> Option<(u32, OpKind)> {
    let left =
        trace.pending_at_end.iter().rfind(|left| !left.closed && left.view.agent == Agent::Thread(thread))?;
    let ran = trace.steps.iter().filter(|step| step.event.id.thread == thread).count();
    Some((ran as u32, left.view.pending.as_ref()?.kind))
}

fn plan(trace: &Trace, point: Position, swap: Swap) -> Plan {
    match swap.second {
        Second::Event(second) => swapped(trace, point, swap.first, second),
        Second::Pending(thread) => unblocked(trace, point, swap.first, thread),
    }
}

/// The immediate races of an execution, the last ones first. Where threads are left that wait for each other, what they
/// wait for comes before all that has run; else it is a consequence, and comes after it.
fn races(failing: &Experiment) -> Vec<Swap> {
    let (trace, point) = (&failing.trace, failing.point);
    let is_stuck =
        failing.failure.as_ref().is_some_and(|failure| matches!(failure.kind, FailureKind::Deadlock));
    let (ran, left) = (races_of_events(trace, point), races_of_waiting(trace, point));
    if is_stuck { [left, ran].concat() } else { [ran, left].concat() }
}

/// Those between events, as many as are tried.
fn races_of_events(trace: &Trace, point: Position) -> Vec<Swap> {
    let conflicts = open_conflicts(trace, point).into_iter().rev();
    let immediate = conflicts.filter(|&(earlier, later)| is_immediate(trace, earlier, later));
    let swap = |(earlier, later): (Position, Position)| {
        let first = start_of_section(trace, earlier, later);
        Swap { first, second: Second::Event(later) }
    };
    let mut races: Vec<Swap> = immediate.map(swap).take(SWAPS as usize).collect();
    races.dedup();
    races
}

/// Conflicts of events in the order of the later one, where creations and joins leave the order open.
fn open_conflicts(trace: &Trace, point: Position) -> Vec<(Position, Position)> {
    let forced = forced_order(trace);
    let index: FxHashMap<ThreadName, u32> = trace.threads.iter().copied().zip(0..).collect();
    let mut objects = AccessHistories::default();
    let mut found = Vec::new();
    // Events behind the failure could have come before it.
    for (later, step) in trace.steps.enumerate() {
        let mut before = Positions::new();
        objects.conflicts(&step.event.did, &mut before);
        before.sort_unstable();
        for earlier in before {
            let is_open = earlier < point
                && trace.steps[earlier].event.id.thread != step.event.id.thread
                && !forced.get(earlier).is_before(forced.get(later));
            if is_open {
                found.push((earlier, later));
            }
        }
        objects.record(&step.event.did, index.get(&step.event.id.thread).copied().unwrap_or(u32::MAX), later);
    }
    found
}

/// The races of a holder of a lock with a thread that waits for it at the end.
fn races_of_waiting(trace: &Trace, point: Position) -> Vec<Swap> {
    let mut races = Vec::new();
    for left in trace
        .pending_at_end
        .iter()
        .filter(|left| !left.closed && matches!(left.view.status, Status::Blocked(_)))
    {
        let thread = left.view.agent.thread();
        let Some(op) = &left.view.pending else { continue };
        let holder = trace.steps.rposition_before(point, |step| {
            step.event.id.thread != thread
                && step.event.acquired().is_some()
                && step.event.did.conflicts(&op.may)
        });
        races.extend(holder.map(|first| Swap { first, second: Second::Pending(thread) }));
    }
    races.reverse();
    races
}

/// Nothing comes after the one and before the other.
fn is_immediate(trace: &Trace, earlier: Position, later: Position) -> bool {
    let between = |at: Position| trace.hb.ordered(earlier, at) && trace.hb.ordered(at, later);
    !earlier.next().until(later).any(between)
}

/// The position at which the critical section began that an event ends, if another one begins with `later`.
fn start_of_section(trace: &Trace, earlier: Position, later: Position) -> Position {
    let end = &trace.steps[earlier].event;
    if end.released().is_none() || trace.steps[later].event.op.kind.acquires().is_none() {
        return earlier;
    }
    let begins = |step: &TraceStep| {
        step.event.id.thread == end.id.thread
            && step.event.acquired().is_some()
            && step.event.did.conflicts(&end.did)
    };
    trace.steps.rposition_before(earlier, begins).unwrap_or(earlier)
}

/// The position at which the critical section ends that an event begins.
fn end_of_section(trace: &Trace, begin: Position) -> Position {
    let start = &trace.steps[begin].event;
    let ends = |step: &TraceStep| {
        step.event.id.thread == start.id.thread
            && step.event.released().is_some()
            && step.event.did.conflicts(&start.did)
    };
    let end = trace.steps.position_from(begin, ends).filter(|_| start.acquired().is_some());
    end.unwrap_or(begin)
}

/// The schedule in which the second one comes before the first one, with what has to come with them.
fn swapped(trace: &Trace, point: Position, first: Position, second: Position) -> Plan {
    let end = end_of_section(trace, second);
    let thread = trace.steps[second].event.id.thread;
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for (at, step) in trace.steps.between(first, end.next()) {
        let goes_with_second = at == second || (at > second && step.event.id.thread == thread);
        let stays_behind = at == first || at > second || trace.hb.ordered(first, at);
        if goes_with_second || !stays_behind { early.push(step) } else { late.push(step) }
    }
    let rest = &trace.steps[end.next().min(point)..point];
    Plan::of(trace.steps[..first].iter().chain(early).chain(late).chain(rest))
}

/// The schedule in which a thread gets what it was left waiting for before the thread that has it.
fn unblocked(trace: &Trace, point: Position, first: Position, thread: ThreadName) -> Plan {
    let own = |step: &&TraceStep| step.event.id.thread == thread;
    let before = trace.steps[..first].iter();
    let plan = Plan::of(before.chain(trace.steps[first..point].iter().filter(own)));
    let on = Segment { agent: Agent::Thread(thread), until: u32::MAX };
    plan.with(plan.segments.iter().copied().chain([on]))
}
