//! A test of whether an execution is what the canonical schedule makes of some of its events, told from its trace alone.
//!
//! Each step of the schedule takes O(t) for t threads, and O(t log n) where waits for locks have to be looked at. Where
//! exactly the first events of the execution have run, how it goes on is found out once.

use std::cell::RefCell;

use smallvec::SmallVec;

use super::canonical_rank;
use super::canonical_rank::CanonicalRank;
use super::frame::KeptEvents;
use super::outcome_table::KnownOutcomes;
use super::pending_index::PendingIndex;
use super::rank_level::RankLevels;
use crate::event::agent::{Agent, Status};
use crate::event::operation::{Op, OpKind};
use crate::event::position::{PerEvent, Position};
use crate::event::wait::BlockedOn;
use crate::hb::vector_clock::ClockRef;
use crate::strategy::dpor::overtaken::{OvertakenOperation, Reader};
use crate::strategy::dpor::races::Races;
use crate::trace::PendingAtEnd;

/// Of each thread, the number of its events in a set of events that is closed under happens-before.
pub(super) type Cut = SmallVec<[u32; 8]>;

/// An agent, once the events of a set have run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AgentState {
    /// Its next event is this one of the execution.
    Here(Position),
    /// It can run, but then does something that is not in the execution.
    Elsewhere,
    /// It cannot run. Also where that is not known: what is taken for canonical and is not leads to a repetition, never to
    /// a loss.
    Waits,
}

/// The events of an execution by thread, with what was pending where.
pub(super) struct CanonicalSchedule<'r, 't> {
    pub(super) races: &'r Races<'t>,
    pub(super) known: &'r KnownOutcomes<'r>,
    /// Of each thread the positions of its events.
    pub(super) of: Vec<Vec<Position>>,
    /// The number of times that its thread had given way before each event and after the last.
    gave_way: Vec<Vec<u32>>,
    /// Of each thread the event that created it.
    pub(super) born: Vec<Option<Position>>,
    pub(super) pending: PendingIndex<'t>,
    /// Some operation locks for reading.
    reads_locks: bool,
    /// Some operation waits for a semaphore.
    pub(super) waits_for_semaphores: bool,
    /// After the first events of the execution: whether the canonical schedule runs the others and no event besides.
    completed: RefCell<PerEvent<Option<bool>>>,
    /// After its last event something could still run.
    given_up: bool,
    /// Something had to wait until its time could come.
    pub(super) is_timed: bool,
    /// In a bounded search.
    pub(super) levels: Option<RankLevels>,
}

impl<'r, 't> CanonicalSchedule<'r, 't> {
    /// The first `to` events of an execution.
    pub(super) fn new(
        races: &'r Races<'t>,
        known: &'r KnownOutcomes<'r>,
        to: Position,
        given_up: bool,
        bounded: bool,
    ) -> Self {
        let run = races.run;
        let threads = run.threads.len();
        let mut completed = PerEvent::default();
        completed.resize(run.steps.end().next(), None);
        let ran = || run.steps.iter().map(|step| &step.event.op);
        let left = || run.pending_at_end.iter().filter_map(|left| left.view.pending.as_ref());
        let ops = || ran().chain(left());
        let mut canonical = Self {
            races,
            known,
            of: vec![Vec::new(); threads],
            gave_way: vec![vec![0]; threads],
            born: run.threads.iter().map(|name| races.created.get(name).copied()).collect(),
            pending: PendingIndex::of(run),
            reads_locks: ops().any(|op| canonical_rank::reads_a_lock(op.kind)),
            waits_for_semaphores: ops().any(|op| op.kind == OpKind::SemWait),
            completed: RefCell::new(completed),
            given_up,
            is_timed: is_timed(races),
            levels: bounded.then(|| RankLevels::of(races)),
        };
        for (at, step) in races.run.steps.between(Position::START, to.min(races.run.steps.end())) {
            let thread = races.threads[at];
            canonical.of[thread].push(at);
            let before = canonical.gave_way[thread].last().copied().unwrap_or(0);
            canonical.gave_way[thread].push(before + u32::from(canonical_rank::gives_way(&step.event)));
        }
        canonical
    }

    /// The set of the events up to one, and of those behind it and before another position that a clock holds: what these are.
    pub(super) fn kept(&self, earlier: Position, before: Position, past: ClockRef<'_>) -> (Cut, KeptEvents) {
        let (mut cut, mut kept) = (Cut::new(), KeptEvents::default());
        for (thread, of) in self.of.iter().enumerate() {
            let first = of.partition_point(|&at| at <= earlier);
            let mut end = first;
            if past.get(thread) as usize > first {
                end += of[first..].partition_point(|&at| at < before);
                end = end.min(past.get(thread) as usize);
            }
            if let Some(&last) = of[first..end].last() {
                kept.add(self.races.run.threads[thread], last, (end - first) as u32);
            }
            cut.push(end as u32);
        }
        (cut, kept)
    }

    /// Whether the canonical schedule runs, after these events, all others of the execution and no event besides. `first`
    /// runs its next operation as soon as it can. `overtaken` keep readers out until they are over.
    pub(super) fn completes(&self, cut: Cut, overtaken: &[OvertakenOperation], first: Option<Agent>) -> bool {
        let mut passed = Vec::new();
        let completes = self.run_on(cut, overtaken, first, &mut passed);
        let mut completed = self.completed.borrow_mut();
        passed.into_iter().for_each(|at| completed[at] = Some(completes));
        completes
    }

    /// The same. `passed`: where exactly the first events of the execution had run, so that it is the same from there whenever
    /// that is asked.
    fn run_on(
        &self,
        mut cut: Cut,
        overtaken: &[OvertakenOperation],
        first: Option<Agent>,
        passed: &mut Vec<Position>,
    ) -> bool {
        let mut first = first.and_then(|agent| {
            let thread = self.races.number(agent.thread());
            Some((agent, thread, *cut.get(thread)?))
        });
        let mut ran = Position::after(cut.iter().sum::<u32>() as usize);
        let all = Position::after(self.of.iter().map(Vec::len).sum());
        let last = self.of.iter().zip(&cut).filter_map(|(of, &ran)| of[..ran as usize].last()).max();
        let mut end = last.map_or(Position::START, |last| last.next());
        while ran < all {
            first = first.filter(|&(_, thread, slot)| cut[thread] == slot);
            if first.is_none() && ran == end && self.lets_readers_in(&cut, overtaken) {
                if let Some(completes) = self.completed.borrow()[ran] {
                    return completes;
                }
                passed.push(ran);
            }
            let hurried = first.map(|(agent, thread, _)| self.state(agent, thread, &cut));
            let next = match hurried {
                Some(state @ (AgentState::Here(_) | AgentState::Elsewhere)) => {
                    first = None;
                    Some(state)
                }
                _ => self.next(&cut, overtaken),
            };
            let Some(AgentState::Here(at)) = next else { return false };
            if !self.is_first_outcome(at) {
                return false;
            }
            cut[self.races.threads[at]] += 1;
            ran = ran.next();
            end = end.max(at.next());
        }
        !self.given_up || !self.lets_a_reader_in(&cut, overtaken)
    }

    /// Whether no operation keeps readers out any more.
    fn lets_readers_in(&self, cut: &Cut, overtaken: &[OvertakenOperation]) -> bool {
        !self.reads_locks || overtaken.iter().all(|operation| self.is_over(operation, cut))
    }

    fn is_over(&self, operation: &OvertakenOperation, cut: &Cut) -> bool {
        cut[self.races.number(operation.id.thread)] > operation.id.index
    }

    /// Whether a reader can run and is not kept out.
    fn lets_a_reader_in(&self, cut: &Cut, overtaken: &[OvertakenOperation]) -> bool {
        self.races.run.threads.iter().enumerate().any(|(thread, &name)| {
            let agent = Agent::Thread(name);
            let reads = self.next_op(thread, cut).is_some_and(|op| canonical_rank::reads_a_lock(op.kind));
            reads
                && self.state(agent, thread, cut) != AgentState::Waits
                && !self.is_kept_out(thread, cut, overtaken)
        })
    }

    /// The first agent that can run. The possible operations of an agent of a higher rank are not looked at, but for waits for
    /// semaphores: the questions that are asked about these decide how far ahead executions are chosen.
    fn next(&self, cut: &Cut, overtaken: &[OvertakenOperation]) -> Option<AgentState> {
        let mut least: Option<(CanonicalRank, AgentState)> = None;
        for (thread, &name) in self.races.run.threads.iter().enumerate() {
            let timeout = self.pending.may_time_out(thread).then_some(Agent::Timeout(name));
            for agent in std::iter::once(Agent::Thread(name)).chain(timeout) {
                let kind = self.next_kind(thread, cut);
                let rank = || self.rank(agent, thread, kind, cut);
                let is_least = |rank| least.is_none_or(|(least, _)| rank < least);
                // With levels a rank takes longer than what it saves.
                if kind != OpKind::SemWait && self.levels.is_none() && !is_least(rank()) {
                    continue;
                }
                if agent.is_thread() && self.is_kept_out(thread, cut, overtaken) {
                    continue;
                }
                let state = self.state(agent, thread, cut);
                if state != AgentState::Waits && is_least(rank()) {
                    least = Some((rank(), state));
                }
            }
        }
        least.map(|(_, state)| state)
    }

    /// The kind of what a thread does next.
    fn next_kind(&self, thread: usize, cut: &Cut) -> OpKind {
        let here = self.of[thread].get(cut[thread] as usize);
        let kind = here.map(|&at| self.races.run.steps[at].event.op.kind);
        let kind = kind.filter(|&kind| kind != OpKind::Timeout);
        let kind = kind.or_else(|| Some(self.pending(thread, cut)?.view.pending.as_ref()?.kind));
        kind.unwrap_or(OpKind::Timeout)
    }

    fn rank(&self, agent: Agent, thread: usize, kind: OpKind, cut: &Cut) -> CanonicalRank {
        let slot = cut[thread] as usize;
        let writer =
            agent.is_thread() && canonical_rank::reads_a_lock(kind) && self.writer_waits(thread, cut);
        canonical_rank::rank(agent, kind, self.level(agent, thread, cut), self.gave_way[thread][slot], writer)
    }

    /// The next operation of a thread, if it exists.
    pub(super) fn next_op(&self, thread: usize, cut: &Cut) -> Option<&'t Op> {
        if !self.is_born(thread, cut) {
            return None;
        }
        let here = self.of[thread].get(cut[thread] as usize).map(|&at| &self.races.run.steps[at]);
        match here.filter(|step| step.is_own()) {
            Some(step) => Some(&step.event.op),
            None => self.pending(thread, cut)?.view.pending.as_ref(),
        }
    }

    /// Whether another thread is about to lock for writing what this one is about to lock for reading.
    fn writer_waits(&self, reader: usize, cut: &Cut) -> bool {
        let Some(op) = self.next_op(reader, cut) else { return false };
        let mut others = (0..self.of.len()).filter(|&other| other != reader);
        others.any(|other| {
            let writes = self.next_op(other, cut).filter(|other| other.kind == OpKind::WriteLock);
            writes.is_some_and(|other| other.may.conflicts(&op.may))
        })
    }

    /// Whether a thread would come before an operation that something greater was put before.
    fn is_kept_out(&self, thread: usize, cut: &Cut, overtaken: &[OvertakenOperation]) -> bool {
        if !self.reads_locks {
            return false;
        }
        let mut overtaken = overtaken.iter().filter(|operation| !self.is_over(operation, cut)).peekable();
        if overtaken.peek().is_none() {
            return false;
        }
        let Some(op) = self.next_op(thread, cut).filter(|op| canonical_rank::reads_a_lock(op.kind)) else {
            return false;
        };
        let name = self.races.run.threads[thread];
        let last = self.last(thread, cut).or(self.born[thread]);
        let reader = Reader { thread: name, op, past: last.map(|at| self.races.run.hb.clock(at)) };
        let ran = |from: Position| {
            let steps = self.races.run.steps.since(from);
            steps.filter(|&(at, _)| self.holds(at, cut)).map(|(_, step)| step)
        };
        overtaken.any(|operation| {
            operation.keeps_out(&reader, ran(operation.from), |name| self.races.number(name))
        })
    }

    /// Whether an event went the first of the ways in which it could have gone.
    fn is_first_outcome(&self, at: Position) -> bool {
        let chosen = self.races.run.steps[at].choice;
        let mut ways = self.races.run.choices(at).iter().filter(|choice| choice.agent == chosen.agent);
        ways.all(|way| way.outcome >= chosen.outcome)
    }

    pub(super) fn holds(&self, at: Position, cut: &Cut) -> bool {
        #[cfg(test)]
        self.races.looks.update(|looks| looks + 1);
        let event = &self.races.run.steps[at].event;
        event.id.index < cut[self.races.threads[at]]
    }

    /// The last event of a thread among some.
    pub(super) fn last(&self, thread: usize, cut: &Cut) -> Option<Position> {
        let slot = (cut[thread] as usize).checked_sub(1)?;
        self.of[thread].get(slot).copied()
    }

    /// The next one in the execution.
    pub(super) fn here(&self, thread: usize, cut: &Cut) -> Option<Position> {
        self.of[thread].get(cut[thread] as usize).copied()
    }

    /// Whether a thread has been created.
    pub(super) fn is_born(&self, thread: usize, cut: &Cut) -> bool {
        self.born[thread].is_none_or(|born| self.holds(born, cut))
    }

    /// The operation that a thread would have run where its time ran out or the execution ended.
    pub(super) fn pending(&self, thread: usize, cut: &Cut) -> Option<&'t PendingAtEnd> {
        self.pending.get(thread, self.here(thread, cut))
    }
}

/// Whether something had to wait in an execution until its time could come.
fn is_timed(races: &Races<'_>) -> bool {
    let mut timings = races.run.steps.iter().filter_map(|step| step.event.timing());
    let mut left = races.run.pending_at_end.iter();
    timings.any(|timing| !timing.after.is_empty())
        || left.any(|left| matches!(left.view.status, Status::Blocked(BlockedOn::Time(_))))
}
