//! The canonical schedule: the next event as a function of the set of events that have run and of nothing else.
//!
//! Threads run by name, those that gave way less often first, so that spinning ends. Operations that wait for what only
//! others can tell (semaphores, spin loops, barriers, files, write locks) come after all others, then time-outs. No thread
//! takes a lock for reading that another thread stands before to write, unless nothing else is left: else readers that commute
//! with one another would come before the writer by themselves, and which of them was put there could not be told.

use crate::event::agent::Agent;
use crate::event::lock_action::Hold;
use crate::event::names::ThreadName;
use crate::event::operation::{Mode, OpKind};
use crate::event::recorded::TraceEvent;

/// The rank of an agent in the schedule, less for one that runs earlier: level ([`super::level`], in a bounded search), class,
/// number of times that its thread gave way, name.
pub(super) type CanonicalRank = (u32, u8, u32, ThreadName);

/// The rank of an agent whose thread has given way this often. `writer`: another thread is about to lock for writing what
/// this one is about to lock for reading.
pub(super) fn rank(agent: Agent, kind: OpKind, level: u32, gave_way: u32, writer: bool) -> CanonicalRank {
    let class = if writer { 3 } else { class(agent, kind) };
    (level, class, gave_way, agent.thread())
}

/// The class of an operation: not 0 for one that comes after all others.
pub(super) fn class(agent: Agent, kind: OpKind) -> u8 {
    use OpKind as K;
    match (agent, kind) {
        (Agent::Timeout(_), _) => 2,
        (_, K::SemWait | K::Await | K::WriteLock | K::BarrierArrive | K::SignalWait | K::Io) => 1,
        _ => 0,
    }
}

/// Whether a thread that is about to do this shares a lock with other readers.
pub(super) fn reads_a_lock(kind: OpKind) -> bool {
    kind.acquires() == Some(Hold::Shared)
}

/// Whether a thread that does this again and again gets nowhere by itself.
pub(super) fn gives_way(event: &TraceEvent) -> bool {
    let failed_swap = || {
        event.op.kind == OpKind::CompareExchange
            && event.did.accesses.iter().all(|access| access.mode == Mode::Read)
    };
    event.op.kind.gives_way() || event.failed_try().is_some() || failed_swap()
}
