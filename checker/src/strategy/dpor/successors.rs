//! The operations of an execution that can be the later one of a race: those that ran, and those that could have.

use super::races::Races;
use super::successor::Successor;
use crate::event::agent::{Agent, OpOutcome, Status};
use crate::event::names::ThreadName;
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::event::step::OpKey;
use crate::event::wait::BlockedOn;
use crate::hb::vector_clock::Clock;
use crate::trace::PendingAtEnd;

impl<'t> Races<'t> {
    /// The operations that can be the later one of a race at `from` or after, but before `to`.
    pub(super) fn successors(&self, from: Position, to: Position) -> impl Iterator<Item = Successor<'t>> {
        let to = to.min(self.run.steps.end());
        let ran = from.until(to).flat_map(move |at| {
            std::iter::once(self.event(at)).chain(self.other_ways(at)).chain(self.time_limit(at))
        });
        let left = self.run.pending_at_end.iter();
        let left = left.filter(move |pending_at_end| (from..=to).contains(&pending_at_end.at));
        ran.chain(left.filter_map(|pending_at_end| self.pending_at_end(pending_at_end)))
    }

    /// The operation that ran at a position.
    pub(super) fn event(&self, at: Position) -> Successor<'t> {
        let step = &self.run.steps[at];
        let event = &step.event;
        let index = event.id.index;
        let number = self.threads[at];
        let after = index.checked_sub(1).and_then(|before| self.run.hb.position(number, before));
        let mut past = self.past_of(event.id.thread, after);
        let waker = event.woken_by().filter(|_| is_woken(event.op.kind));
        let waker = waker.and_then(|id| self.run.hb.position(self.number(id.thread), id.index));
        let joined = event.op.peer.filter(|_| event.op.kind == OpKind::Join);
        let joined = joined.and_then(|peer| self.last_of(peer, at));
        waker.into_iter().chain(joined).for_each(|at| past.join(self.run.hb.clock(at)));
        let (choice, key) = step.replayed();
        Successor {
            agent: choice.agent,
            outcome: certain_outcome(event.op.kind, &[choice.outcome]),
            key,
            effect: &event.did,
            ran: true,
            before: at,
            past,
            after,
            closer: None,
        }
    }

    /// The other ways in which the event at a position could have gone.
    pub(super) fn other_ways(&self, at: Position) -> impl Iterator<Item = Successor<'t>> {
        let step = &self.run.steps[at];
        let others = self.run.choices(at).iter();
        let others =
            others.filter(|other| other.agent == step.choice.agent && other.outcome != step.choice.outcome);
        others.map(move |other| Successor {
            outcome: Some(other.outcome),
            effect: &step.event.op.may,
            ran: false,
            closer: Some(at),
            before: at.next(),
            ..self.event(at)
        })
    }

    /// The end of the time of the event at a position, had it not run by then.
    pub(super) fn time_limit(&self, at: Position) -> Option<Successor<'t>> {
        let step = &self.run.steps[at];
        let effect = step.event.op.limit.as_ref().filter(|_| step.is_own())?;
        let event = self.event(at);
        Some(Successor {
            agent: Agent::Timeout(event.agent.thread()),
            outcome: Some(OpOutcome::Only),
            key: OpKey { kind: OpKind::Timeout, ..event.key },
            effect,
            ran: false,
            ..event
        })
    }

    /// An operation that did not run.
    pub(super) fn pending_at_end(&self, pending_at_end: &'t PendingAtEnd) -> Option<Successor<'t>> {
        let PendingAtEnd { at, view, closed, waker } = pending_at_end;
        let op =
            view.pending.as_ref().filter(|_| !matches!(view.status, Status::Blocked(BlockedOn::Cond(_))))?;
        let thread = view.agent.thread();
        let after = self.last_of(thread, *at);
        let mut past = self.past_of(thread, after);
        waker.iter().for_each(|&waker| past.join(self.run.hb.clock(waker)));
        Some(Successor {
            agent: view.agent,
            outcome: certain_outcome(op.kind, &view.outcomes),
            key: OpKey { kind: op.kind, site: view.site },
            effect: &op.may,
            ran: false,
            before: if *closed { at.next() } else { *at },
            past,
            after,
            closer: closed.then_some(*at),
        })
    }

    fn past_of(&self, thread: ThreadName, after: Option<Position>) -> Clock {
        let before = after.or_else(|| self.created.get(&thread).copied());
        before.map_or_else(Clock::default, |at| self.run.hb.clock(at).to_clock())
    }

    /// The last event of a thread before a position.
    fn last_of(&self, thread: ThreadName, before: Position) -> Option<Position> {
        self.run.hb.last_before(self.number(thread), before)
    }
}

/// The way in which an operation goes wherever it runs, if it is the only one. The thread that a signal wakes depends on the
/// waiters.
fn certain_outcome(kind: OpKind, seen: &[OpOutcome]) -> Option<OpOutcome> {
    let depends = matches!(kind, OpKind::Signal | OpKind::FutexWake);
    (!depends && seen == [OpOutcome::Only]).then_some(OpOutcome::Only)
}

fn is_woken(kind: OpKind) -> bool {
    matches!(kind, OpKind::Reacquire | OpKind::FutexResume)
}
