//! The levels of operations: the later one comes in the canonical schedule of a bounded search, the higher is its level.
//!
//! An operation's level is never less than that of anything which had to come before it could run: its thread's event before
//! it, its thread's creation, and, where it waits, what it conflicts with. Across threads it is greater, and so it is after
//! what a thread did that makes it come late. So what a thread does that has been let go by another one comes after what
//! that one does next, which is no preemption; and what can run and is least stays least, whatever else has run.

use rustc_hash::FxHashMap;

use super::canonical_rank;
use crate::event::agent::Agent;
use crate::event::names::{ObjName, ThreadName};
use crate::event::operation::{Op, OpKind};
use crate::event::position::{PerEvent, Position};
use crate::strategy::dpor::locks::EnablingCondition;
use crate::strategy::dpor::races::Races;
use crate::trace::TraceStep;

/// The levels of some events, which have run.
#[derive(Debug, Default)]
pub(super) struct RankLevels {
    of: PerEvent<u32>,
    /// Of each block, the events that touched it.
    touched: FxHashMap<ObjName, Vec<Position>>,
}

/// An operation that is pending, or was.
pub(super) struct PendingOperation<'a> {
    pub(super) agent: Agent,
    pub(super) op: &'a Op,
    /// Its thread's event before it.
    pub(super) after: Option<Position>,
    /// The one that created its thread.
    pub(super) born: Option<Position>,
    /// The event that woke its thread, and the end of the thread that it joins.
    pub(super) let_go: [Option<Position>; 2],
}

impl RankLevels {
    /// Those of an execution.
    pub(super) fn of(races: &Races<'_>) -> Self {
        let run = races.run;
        let mut levels = Self::default();
        for (at, step) in run.steps.enumerate() {
            let event = &step.event;
            let number = |name| races.number(name);
            let last = |name| run.hb.last_before(number(name), at);
            let woken = event.woken_by().and_then(|id| run.hb.position(number(id.thread), id.index));
            let joined = event.op.peer.filter(|_| event.op.kind == OpKind::Join).and_then(last);
            let pending_operation = PendingOperation {
                agent: step.choice.agent,
                op: &event.op,
                after: last(event.id.thread),
                born: races.created.get(&event.id.thread).copied(),
                let_go: [woken.filter(|_| is_woken(event.op.kind)), joined],
            };
            levels.push(&run.steps, &pending_operation);
        }
        levels
    }

    /// The point behind the events that it knows.
    pub(super) fn end(&self) -> Position {
        self.of.end()
    }

    /// Takes in the next event.
    pub(super) fn push(&mut self, steps: &PerEvent<TraceStep>, pending_operation: &PendingOperation<'_>) {
        let level = self.level(steps, pending_operation, |_| true);
        let at = self.of.push(level);
        for access in &steps[at].event.did.accesses {
            let touched = self.touched.entry(access.obj.name).or_default();
            if touched.last() != Some(&(at)) {
                touched.push(at);
            }
        }
    }

    /// The level of an operation after those of the events that `holds` is true of.
    pub(super) fn level(
        &self,
        steps: &PerEvent<TraceStep>,
        pending_operation: &PendingOperation<'_>,
        holds: impl Fn(Position) -> bool,
    ) -> u32 {
        let PendingOperation { agent, op, after, born, let_go } = pending_operation;
        let own = after.map(|at| self.after(&steps[at], at));
        let own = own.or_else(|| born.map(|at| self.of[at] + 1)).unwrap_or(0);
        if !agent.is_thread() || EnablingCondition::of(op.kind) == EnablingCondition::Nothing {
            return own;
        }
        let let_go = let_go.iter().flatten().copied();
        let others = let_go.chain(self.conflicting(steps, agent.thread(), op));
        let others = others.filter(|&at| holds(at));
        others.map(|at| self.of[at] + 1).max().unwrap_or(0).max(own)
    }

    fn conflicting<'s>(
        &'s self,
        steps: &'s PerEvent<TraceStep>,
        thread: ThreadName,
        op: &'s Op,
    ) -> impl Iterator<Item = Position> + 's {
        let touched = op.may.accesses.iter().filter_map(|access| self.touched.get(&access.obj.name));
        touched.flatten().copied().filter(move |&at| {
            let event = &steps[at].event;
            event.id.thread != thread && event.did.conflicts(&op.may)
        })
    }

    /// The level of what a thread does after an event, as far as that is its own doing.
    fn after(&self, step: &TraceStep, at: Position) -> u32 {
        let is_late = canonical_rank::class(step.choice.agent, step.event.op.kind) > 0
            || canonical_rank::gives_way(&step.event);
        self.of[at] + u32::from(is_late)
    }
}

/// Whether what a thread was woken by counts.
pub(super) fn is_woken(kind: OpKind) -> bool {
    matches!(kind, OpKind::Reacquire | OpKind::FutexResume)
}
