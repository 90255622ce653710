//! The next operation of an agent once some events of an execution have run, told from the execution alone.

use super::canonical::{AgentState, CanonicalSchedule, Cut};
use super::rank_level::{PendingOperation, is_woken};
use crate::event::agent::{Agent, Status};
use crate::event::lock_action::Hold;
use crate::event::operation::{Effect, Op, OpKind};
use crate::event::position::Position;
use crate::event::wait::BlockedOn;
use crate::strategy::dpor::locks::{EnablingCondition, Feasibility};

impl<'t> CanonicalSchedule<'_, 't> {
    pub(super) fn state(&self, agent: Agent, thread: usize, cut: &Cut) -> AgentState {
        if !self.is_born(thread, cut) {
            return AgentState::Waits;
        }
        let here = self.here(thread, cut);
        if let Some(at) = here.filter(|&at| self.races.run.steps[at].choice.agent == agent)
            && self.has_past_of(at, thread, cut)
        {
            return AgentState::Here(at);
        }
        let can =
            if agent.is_thread() { self.thread(thread, here, cut) } else { self.time(thread, here, cut) };
        if can { AgentState::Elsewhere } else { AgentState::Waits }
    }

    /// Whether all has run that happens before an event and is not of its own thread.
    pub(super) fn has_past_of(&self, at: Position, thread: usize, cut: &Cut) -> bool {
        #[cfg(test)]
        self.races.looks.update(|looks| looks + 1);
        let clock = self.races.run.hb.clock(at);
        (0..cut.len()).all(|other| other == thread || clock.get(other) <= cut[other])
    }

    /// Whether a thread can run, its next event of the execution being none that it can have here.
    fn thread(&self, thread: usize, here: Option<Position>, cut: &Cut) -> bool {
        let name = self.races.run.threads[thread];
        let own = here.map(|at| &self.races.run.steps[at]).filter(|step| step.is_own());
        let (kind, effect, waker) = if let Some(step) = own {
            let woken = step.event.woken_by();
            let waker =
                woken.and_then(|id| self.races.run.hb.position(self.races.number(id.thread), id.index));
            (step.event.op.kind, &step.event.op.may, waker)
        } else {
            let Some(pending_at_end) = self.pending(thread, cut) else { return false };
            let Some(op) = pending_at_end.view.pending.as_ref() else { return false };
            if matches!(pending_at_end.view.status, Status::Blocked(BlockedOn::Cond(_))) {
                return false;
            }
            (op.kind, &op.may, pending_at_end.waker)
        };
        if kind == OpKind::Reacquire && waker.is_some_and(|waker| !self.holds(waker, cut)) {
            return false;
        }
        match EnablingCondition::of(kind) {
            // The events that have to come before a sleep are known of the execution's own ones only.
            EnablingCondition::Nothing => kind != OpKind::Sleep || !self.is_timed,
            EnablingCondition::Order => false,
            need @ (EnablingCondition::Free | EnablingCondition::NoWriter) => {
                let state = self.races.lock_state_after(effect, |at| self.holds(at, cut));
                state.holders.let_go(name, need, own.is_some()) == Feasibility::Yes
            }
            EnablingCondition::One => self.has_one(effect, cut),
            EnablingCondition::Unknown => self.was_seen(Agent::Thread(name), thread, effect, cut),
        }
    }

    /// Whether the time of a thread can run out.
    fn time(&self, thread: usize, here: Option<Position>, cut: &Cut) -> bool {
        let agent = Agent::Timeout(self.races.run.threads[thread]);
        let before = self.last(thread, cut);
        let kind = before.map(|at| self.races.run.steps[at].event.op.kind);
        if matches!(kind, Some(OpKind::CondWait | OpKind::FutexWait)) {
            if let Some(at) = here.filter(|&at| self.races.run.steps[at].choice.agent == agent) {
                return self.is_on_time(at, cut);
            }
            let mut closed = self.pending.closed_timeouts(thread).iter().filter(|pending_at_end| {
                let since = before.is_none_or(|before| before < pending_at_end.at);
                let until = here.is_none_or(|here| pending_at_end.at <= here);
                pending_at_end.view.status == Status::Enabled && since && until
            });
            return closed.any(|pending_at_end| !self.holds(pending_at_end.at, cut));
        }
        let limit = match here.map(|at| &self.races.run.steps[at]) {
            Some(step) if step.is_own() => step.event.op.limit.as_ref(),
            Some(step) => Some(&step.event.op.may),
            None => self
                .pending(thread, cut)
                .and_then(|pending_at_end| pending_at_end.view.pending.as_ref()?.limit.as_ref()),
        };
        let Some(limit) = limit else { return false };
        if self.is_timed || limit.accesses.first().is_some_and(|access| self.races.is_of_file(access.obj)) {
            return self.was_seen(agent, thread, limit, cut);
        }
        // A thread that waited for what it held itself does so wherever its time can run out.
        let had = here.is_some_and(|at| self.races.run.steps[at].is_own());
        let state = self.races.lock_state_after(limit, |at| self.holds(at, cut));
        state.holders.let_go(agent.thread(), EnablingCondition::Free, had) != Feasibility::Yes
    }

    /// Whether all events have run that are too early to come after a sleep or a timed wait has ended.
    fn is_on_time(&self, at: Position, cut: &Cut) -> bool {
        let early = self.races.run.steps[at].event.timing().into_iter().flat_map(|timing| &timing.after);
        early.into_iter().all(|id| id.index < cut[self.races.number(id.thread)])
    }

    /// The positions between which the object of an effect was as it is after these events: of the last write among them,
    /// and of the next one.
    fn span(&self, effect: &Effect, cut: &Cut) -> (Position, Option<Position>) {
        let Some(obj) = effect.accesses.first().map(|access| access.obj) else {
            return (Position::START, None);
        };
        let next =
            |writers: &[Position]| writers.get(writers.partition_point(|&at| self.holds(at, cut))).copied();
        let to = self.races.accesses.writers(obj).filter_map(next).min();
        let end = to.unwrap_or(Position::BEHIND_ALL);
        let last = |writers: &[Position]| {
            let before = writers.partition_point(|&at| at < end);
            before.checked_sub(1).map(|last| writers[last])
        };
        let from = self.races.accesses.writers(obj).filter_map(last).max();
        (from.map_or(Position::START, Position::next), to)
    }

    /// Whether a semaphore is above 0, as far as it was seen.
    fn has_one(&self, effect: &Effect, cut: &Cut) -> bool {
        let (_, to) = self.span(effect, cut);
        if to.is_some_and(|next| self.races.run.steps[next].event.acquired() == Some(Hold::Unit)) {
            return true;
        }
        self.known.can_be_had(self.races, effect, |at| self.holds(at, cut)).unwrap_or(false)
    }

    /// Whether it is not known if a semaphore is above 0.
    pub(super) fn is_open(&self, effect: &Effect, cut: &Cut) -> bool {
        self.known.can_be_had(self.races, effect, |at| self.holds(at, cut)).is_none()
    }

    /// Whether an agent was seen to be able to run while the object of its operation was as it is here.
    fn was_seen(&self, agent: Agent, thread: usize, effect: &Effect, cut: &Cut) -> bool {
        let (from, to) = self.span(effect, cut);
        let last = self.races.run.steps.end().previous().unwrap_or_default();
        let until = to.unwrap_or(last).min(self.here(thread, cut).unwrap_or(last));
        let before = self.last(thread, cut).or(self.born[thread]);
        let arrived = before.map_or(Position::START, Position::next);
        let at = arrived.max(from);
        at <= until && self.races.run.choices(at).iter().any(|choice| choice.agent == agent)
    }

    /// The level of what a thread does next.
    pub(super) fn level(&self, agent: Agent, thread: usize, cut: &Cut) -> u32 {
        let (Some(levels), Some(op)) = (&self.levels, self.next_op_of(thread, cut)) else { return 0 };
        let last = |thread: usize| self.last(thread, cut);
        let here = self.here(thread, cut).map(|at| &self.races.run.steps[at]);
        let woken = match here.filter(|step| step.is_own()) {
            Some(step) => step
                .event
                .woken_by()
                .and_then(|id| self.races.run.hb.position(self.races.number(id.thread), id.index)),
            None => self.pending(thread, cut).and_then(|pending_at_end| pending_at_end.waker),
        };
        let joined =
            op.peer.filter(|_| op.kind == OpKind::Join).and_then(|peer| last(self.races.number(peer)));
        let pending_operation = PendingOperation {
            agent,
            op,
            after: last(thread),
            born: self.born[thread],
            let_go: [woken.filter(|_| is_woken(op.kind)), joined],
        };
        levels.level(&self.races.run.steps, &pending_operation, |at| self.holds(at, cut))
    }

    /// The next operation of a thread, be it that its time runs out.
    fn next_op_of(&self, thread: usize, cut: &Cut) -> Option<&'t Op> {
        let here = self.here(thread, cut).map(|at| &self.races.run.steps[at]);
        self.next_op(thread, cut).or_else(|| Some(&here?.event.op))
    }
}
