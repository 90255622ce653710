//! The later operations of races: what ran, and what could have run and did not.

use super::races::Races;
use crate::clock::Clock;
use crate::names::ThreadName;
use crate::op::{Effect, OpKind};
use crate::seam::{Agent, On, OpKey, Pick, Status};
use crate::trace::Unrun;

/// The later operation of a race. Where it has not run, its effect is what it may do.
#[derive(Clone)]
pub(super) struct Later<'t> {
    pub(super) agent: Agent,
    /// `None` where each way is as good.
    pub(super) pick: Option<Pick>,
    pub(super) key: OpKey,
    pub(super) effect: &'t Effect,
    pub(super) ran: bool,
    /// Only events before this position can race with it.
    pub(super) before: usize,
    /// What comes before it in any case.
    pub(super) past: Clock,
    /// The position of its thread's event before it.
    pub(super) after: Option<u32>,
    /// The event that took its chance away, whatever it touched.
    pub(super) closer: Option<usize>,
}

impl<'t> Races<'t> {
    /// What ran at a position.
    pub(super) fn event(&self, at: usize) -> Later<'t> {
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
        waker.into_iter().chain(joined).for_each(|at| past.join(self.run.hb.clock(at as usize)));
        let (choice, key) = step.replayed();
        Later {
            agent: choice.agent,
            pick: pick(event.op.kind, &[choice.pick]),
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
    pub(super) fn other_ways(&self, at: usize) -> impl Iterator<Item = Later<'t>> {
        let step = &self.run.steps[at];
        let others = self.run.choices(at).iter();
        let others =
            others.filter(|other| other.agent == step.choice.agent && other.pick != step.choice.pick);
        others.map(move |other| Later {
            pick: Some(other.pick),
            effect: &step.event.op.may,
            ran: false,
            closer: Some(at),
            before: at + 1,
            ..self.event(at)
        })
    }

    /// The end of the time of the event at a position, had it not run by then.
    pub(super) fn time_limit(&self, at: usize) -> Option<Later<'t>> {
        let step = &self.run.steps[at];
        let effect = step.event.op.limit.as_ref().filter(|_| step.is_own())?;
        let event = self.event(at);
        Some(Later {
            agent: Agent::Timeout(event.agent.thread()),
            pick: Some(Pick::Only),
            key: OpKey { kind: OpKind::Timeout, ..event.key },
            effect,
            ran: false,
            ..event
        })
    }

    /// An operation that did not run.
    pub(super) fn unrun(&self, unrun: &'t Unrun) -> Option<Later<'t>> {
        let Unrun { at, view, closed, waker } = unrun;
        let op = view.pending.as_ref().filter(|_| !matches!(view.status, Status::Blocked(On::Cond(_))))?;
        let thread = view.agent.thread();
        let after = self.last_of(thread, *at as usize);
        let mut past = self.past_of(thread, after);
        waker.iter().for_each(|&waker| past.join(self.run.hb.clock(waker as usize)));
        Some(Later {
            agent: view.agent,
            pick: pick(op.kind, &view.picks),
            key: OpKey { kind: op.kind, site: view.site },
            effect: &op.may,
            ran: false,
            before: *at as usize + usize::from(*closed),
            past,
            after,
            closer: closed.then_some(*at as usize),
        })
    }

    fn past_of(&self, thread: ThreadName, after: Option<u32>) -> Clock {
        let before = after.or_else(|| self.created.get(&thread).copied());
        before.map_or_else(Clock::default, |at| self.run.hb.clock(at as usize).to_clock())
    }

    /// The last event of a thread before a position.
    fn last_of(&self, thread: ThreadName, before: usize) -> Option<u32> {
        let number = self.number(thread);
        (0..before).rev().find(|&at| self.threads[at] == number).map(|at| at as u32)
    }
}

/// The way in which an operation goes wherever it runs, if it is the only one. Whom a signal wakes depends on who waits.
fn pick(kind: OpKind, seen: &[Pick]) -> Option<Pick> {
    let depends = matches!(kind, OpKind::Signal | OpKind::FutexWake);
    (!depends && seen == [Pick::Only]).then_some(Pick::Only)
}

fn is_woken(kind: OpKind) -> bool {
    matches!(kind, OpKind::Reacquire | OpKind::FutexResume)
}
