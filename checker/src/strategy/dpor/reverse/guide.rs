//! Takes one execution through a reversal, and then on by the canonical schedule.

use rustc_hash::FxHashMap;

use super::canonical_rank::CanonicalRank;
use super::rank_level::{PendingOperation, RankLevels};
use super::{canonical_rank, rank_level};
use crate::event::agent::{Agent, AgentView, Choice, Status};
use crate::event::names::ThreadName;
use crate::event::operation::{Op, OpKind};
use crate::event::position::Position;
use crate::event::wait::BlockedOn;
use crate::program::{Scope, Until};
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::dpor::branch::{Branch, enabled};
use crate::strategy::dpor::overtaken::{OvertakenOperation, Reader};
use crate::strategy::{Decision, Guide, Notes};

/// A guide that runs what comes after the prefix, and then by rank.
pub(super) struct ReversalGuide {
    branch: Branch,
    /// The number of times that each thread has given way, in the first `seen` events.
    gave_way: FxHashMap<ThreadName, u32>,
    seen: Position,
    /// In a bounded search: of the first events.
    levels: RankLevels,
    notes: Notes,
}

impl ReversalGuide {
    pub(super) fn new(branch: Branch) -> Self {
        let levels = RankLevels::default();
        Self {
            branch,
            gave_way: FxHashMap::default(),
            seen: Position::START,
            levels,
            notes: Notes::default(),
        }
    }

    /// The notes for its planner so far.
    pub(super) fn noted(&self) -> &Notes {
        &self.notes
    }

    fn catch_up(&mut self, at: &SchedulingPoint<'_>) {
        for step in &at.trace.steps[self.seen..] {
            // The place where it can come is decided by the turns of threads that give way, which are none of the objects that
            // it touches.
            self.notes.timeouts_bounded |= step.event.timing().is_some_and(|timing| timing.overtakes);
            if canonical_rank::gives_way(&step.event) {
                *self.gave_way.entry(step.event.id.thread).or_default() += 1;
            }
        }
        self.seen = at.position();
        while self.branch.bounded && self.levels.end() < at.position() {
            let step = &at.trace.steps[self.levels.end()];
            let hb = &at.trace.hb;
            let number = |name| at.agents.index(name).unwrap_or(usize::MAX);
            let woken = step.event.woken_by().and_then(|id| hb.position(number(id.thread), id.index));
            let now = self.levels.end();
            let pending_operation = pending_operation(at, step.choice.agent, &step.event.op, now, woken);
            self.levels.push(&at.trace.steps, &pending_operation);
        }
        self.notes.timeouts_bounded |= at.timeouts_bounded;
    }

    fn rank(&self, at: &SchedulingPoint<'_>, choice: Choice) -> Option<CanonicalRank> {
        let op = at.agents.agent(choice.agent)?.pending.as_ref()?;
        let gave_way = self.gave_way.get(&choice.agent.thread()).copied().unwrap_or(0);
        let is_writer = |view: &AgentView| {
            let writes = view.pending.as_ref().filter(|other| other.kind == OpKind::WriteLock);
            view.agent != choice.agent && writes.is_some_and(|other| other.may.conflicts(&op.may))
        };
        let writer = canonical_rank::reads_a_lock(op.kind) && at.agents.threads().iter().any(is_writer);
        Some(canonical_rank::rank(choice.agent, op.kind, self.level(at, choice.agent, op), gave_way, writer))
    }

    fn level(&self, at: &SchedulingPoint<'_>, agent: Agent, op: &Op) -> u32 {
        if !self.branch.bounded {
            return 0;
        }
        let woken = at.agents.index(agent.thread()).and_then(|thread| at.trace.hb.waker(thread));
        let pending_operation = pending_operation(at, agent, op, at.position(), woken);
        self.levels.level(&at.trace.steps, &pending_operation, |_| true)
    }

    /// Whether an agent that waits for its time might come before the event that it was to be put before, in another order of
    /// what does not conflict with it. It cannot if that event's own thread is one of those that it would stall.
    fn may_be_early(&self, at: &SchedulingPoint<'_>, agent: Agent) -> bool {
        let status = at.agents.agent(agent).map(|view| &view.status);
        let Some(Status::Blocked(BlockedOn::Time(stalled))) = status else { return false };
        self.branch.reversed_agent.is_none_or(|earlier| !stalled.contains(&earlier.thread()))
    }

    /// Whether a choice would come before an operation that something greater was put before.
    fn is_kept_out(&self, at: &SchedulingPoint<'_>, choice: Choice) -> bool {
        let Agent::Thread(thread) = choice.agent else { return false };
        let Some(op) = at.agents.thread(thread).and_then(|view| view.pending.as_ref()) else { return false };
        let number = |name| at.agents.index(name).unwrap_or(usize::MAX);
        let hb = &at.trace.hb;
        let last = hb.last(number(thread));
        let reader = Reader { thread, op, past: last.map(|at| hb.clock(at)) };
        let is_left = |operation: &&OvertakenOperation| {
            hb.position(number(operation.id.thread), operation.id.index).is_none()
        };
        let mut overtaken = self.branch.overtaken.iter().filter(is_left);
        canonical_rank::reads_a_lock(op.kind)
            && overtaken.any(|operation| {
                operation.keeps_out(&reader, at.trace.steps[operation.from..].iter(), number)
            })
    }

    fn next(&mut self, at: &SchedulingPoint<'_>) -> Option<Choice> {
        if let Some(next) = self.branch.next.take() {
            let is = |choice: &Choice| {
                choice.agent == next.agent && next.outcome.is_none_or(|outcome| outcome == choice.outcome)
            };
            let found = enabled(at).filter(is).min();
            self.notes.infeasible = found.is_none();
            self.notes.timeouts_bounded |= found.is_none() && self.may_be_early(at, next.agent);
            return found;
        }
        let reversed_agent: Option<Agent> = self.branch.reversed_agent.take();
        let reversed_agent = reversed_agent
            .and_then(|reversed_agent| enabled(at).filter(|choice| choice.agent == reversed_agent).min());
        let rest = || enabled(at).filter(|&choice| !self.is_kept_out(at, choice));
        let next =
            reversed_agent.or_else(|| rest().min_by_key(|&choice| (self.rank(at, choice), choice.outcome)));
        self.notes.given_up = next.is_none();
        next
    }
}

impl Guide for ReversalGuide {
    /// A claim that every schedule was run rests on each of them.
    fn scope(&self) -> Scope {
        Scope::Audit
    }

    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.catch_up(at);
        if at.position() > self.branch.at
            && let Some(step) = at.trace.steps.at(self.branch.at)
        {
            let required_conflicts = std::mem::take(&mut self.branch.required_conflicts);
            if !required_conflicts.iter().all(|effect| effect.conflicts(&step.event.did)) {
                self.notes.infeasible = true;
                return Decision::Prune;
            }
        }
        self.next(at).map_or(Decision::Prune, |choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        self.notes
    }
}

/// An operation that is pending after so many events.
fn pending_operation<'a>(
    at: &SchedulingPoint<'_>,
    agent: Agent,
    op: &'a Op,
    now: Position,
    woken: Option<Position>,
) -> PendingOperation<'a> {
    let hb = &at.trace.hb;
    let number = |name| at.agents.index(name).unwrap_or(usize::MAX);
    let last = |name| hb.last_before(number(name), now);
    let joined = op.peer.filter(|_| op.kind == OpKind::Join).and_then(last);
    PendingOperation {
        agent,
        op,
        after: last(agent.thread()),
        born: at.agents.index(agent.thread()).and_then(|thread| hb.born(thread)),
        let_go: [woken.filter(|_| rank_level::is_woken(op.kind)), joined],
    }
}
