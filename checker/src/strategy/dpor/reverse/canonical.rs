//! Whether an execution is what the canonical schedule makes of some of its events, told from its trace alone.

use smallvec::SmallVec;

use super::frame::Kept;
use super::known::KnownOutcomes;
use super::level::{Levels, Standing, is_woken};
use super::order;
use super::order::CanonicalRank;
use crate::event::agent::{Agent, Status};
use crate::event::lock_action::Hold;
use crate::event::names::ThreadName;
use crate::event::operation::{Effect, Op, OpKind};
use crate::event::position::Position;
use crate::event::wait::On;
use crate::hb::vector_clock::ClockRef;
use crate::strategy::dpor::locks::{Can, Holders, Need};
use crate::strategy::dpor::overtaken::{OvertakenOperation, Reader};
use crate::strategy::dpor::races::Races;
use crate::trace::PendingAtEnd;

/// Of each thread, how many of its events are in a set of events that is closed under happens-before.
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
pub(super) struct Canon<'r, 't> {
    pub(super) races: &'r Races<'t>,
    pub(super) known: &'r KnownOutcomes<'r>,
    /// Of each thread the positions of its events.
    pub(super) of: Vec<Vec<Position>>,
    /// How often its thread had given way before each event and after the last.
    gave_way: Vec<Vec<u32>>,
    /// After its last event something could still run.
    given_up: bool,
    /// Something had to wait until its time could come.
    is_timed: bool,
    /// In a bounded search.
    pub(super) levels: Option<Levels>,
}

impl<'r, 't> Canon<'r, 't> {
    /// The first `to` events of an execution.
    pub(super) fn new(
        races: &'r Races<'t>,
        known: &'r KnownOutcomes<'r>,
        to: Position,
        given_up: bool,
        bounded: bool,
    ) -> Self {
        let threads = races.run.threads.len();
        let mut canon = Self {
            races,
            known,
            of: vec![Vec::new(); threads],
            gave_way: vec![vec![0]; threads],
            given_up,
            is_timed: is_timed(races),
            levels: bounded.then(|| Levels::of(races)),
        };
        for (at, step) in races.run.steps.between(Position::START, to.min(races.run.steps.end())) {
            let thread = races.threads[at];
            canon.of[thread].push(at);
            let before = canon.gave_way[thread].last().copied().unwrap_or(0);
            canon.gave_way[thread].push(before + u32::from(order::gives_way(&step.event)));
        }
        canon
    }

    /// The set of the events up to one, and of those behind it and before another position that a clock holds: what these are.
    pub(super) fn kept(&self, earlier: Position, before: Position, past: ClockRef<'_>) -> (Cut, Kept) {
        let (mut cut, mut kept) = (Cut::new(), Kept::default());
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
    /// runs its next operation as soon as it can. `waits` keep readers out until they are over.
    pub(super) fn completes(&self, mut cut: Cut, waits: &[OvertakenOperation], first: Option<Agent>) -> bool {
        let mut first = first.and_then(|agent| {
            let thread = self.races.number(agent.thread());
            Some((agent, thread, *cut.get(thread)?))
        });
        let mut left = self.of.iter().map(Vec::len).sum::<usize>() - cut.iter().sum::<u32>() as usize;
        while left > 0 {
            let hurried = first.filter(|&(_, thread, slot)| cut[thread] == slot);
            let hurried = hurried.map(|(agent, ..)| self.state(agent, &cut));
            let next = match hurried {
                Some(state @ (AgentState::Here(_) | AgentState::Elsewhere)) => {
                    first = None;
                    Some(state)
                }
                _ => self.next(&cut, waits),
            };
            let Some(AgentState::Here(at)) = next else { return false };
            if !self.is_first_pick(at) {
                return false;
            }
            cut[self.races.threads[at]] += 1;
            left -= 1;
        }
        !self.given_up || !self.lets_a_reader_in(&cut, waits)
    }

    /// Whether a reader can run and is not kept out.
    fn lets_a_reader_in(&self, cut: &Cut, waits: &[OvertakenOperation]) -> bool {
        self.races.run.threads.iter().any(|&name| {
            let agent = Agent::Thread(name);
            let reads =
                self.next_op(self.races.number(name), cut).is_some_and(|op| order::reads_a_lock(op.kind));
            reads && self.state(agent, cut) != AgentState::Waits && !self.is_kept_out(agent, cut, waits)
        })
    }

    fn next(&self, cut: &Cut, waits: &[OvertakenOperation]) -> Option<AgentState> {
        let names = self.races.run.threads.iter();
        let agents = names.flat_map(|&name| [Agent::Thread(name), Agent::Timeout(name)]);
        let agents = agents.filter(|&agent| !self.is_kept_out(agent, cut, waits));
        let ranked = agents.filter_map(|agent| {
            let state = self.state(agent, cut);
            (state != AgentState::Waits).then(|| (self.rank(agent, cut), state))
        });
        ranked.min_by_key(|&(rank, _)| rank).map(|(_, state)| state)
    }

    fn rank(&self, agent: Agent, cut: &Cut) -> CanonicalRank {
        let thread = self.races.number(agent.thread());
        let slot = cut[thread] as usize;
        let kind = self.of[thread].get(slot).map(|&at| self.races.run.steps[at].event.op.kind);
        let kind = kind.filter(|&kind| kind != OpKind::Timeout);
        let kind = kind.or_else(|| Some(self.pending(thread, cut)?.view.pending.as_ref()?.kind));
        let kind = kind.unwrap_or(OpKind::Timeout);
        let writer = agent.is_thread() && order::reads_a_lock(kind) && self.writer_waits(thread, cut);
        order::rank(agent, kind, self.level(agent, thread, cut), self.gave_way[thread][slot], writer)
    }

    /// What a thread does next, if it exists.
    pub(super) fn next_op(&self, thread: usize, cut: &Cut) -> Option<&'t Op> {
        let born = self.races.created.get(&self.races.run.threads[thread]);
        if born.is_some_and(|&born| !self.holds(born, cut)) {
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

    /// Whether an agent would come before an operation that something greater was put before.
    fn is_kept_out(&self, agent: Agent, cut: &Cut, waits: &[OvertakenOperation]) -> bool {
        let Agent::Thread(name) = agent else { return false };
        let thread = self.races.number(name);
        let mut waits =
            waits.iter().filter(|wait| cut[self.races.number(wait.id.thread)] <= wait.id.index).peekable();
        if waits.peek().is_none() {
            return false;
        }
        let Some(op) = self.next_op(thread, cut).filter(|op| order::reads_a_lock(op.kind)) else {
            return false;
        };
        let last = (cut[thread] as usize).checked_sub(1).map(|slot| self.of[thread][slot]);
        let last = last.or_else(|| self.races.created.get(&name).copied());
        let reader = Reader { thread: name, op, past: last.map(|at| self.races.run.hb.clock(at)) };
        let ran = |from: Position| {
            let steps = self.races.run.steps.since(from);
            steps.filter(|&(at, _)| self.holds(at, cut)).map(|(_, step)| step)
        };
        waits.any(|wait| wait.keeps_out(&reader, ran(wait.from), |name| self.races.number(name)))
    }

    /// Whether an event went the first of the ways in which it could have gone.
    fn is_first_pick(&self, at: Position) -> bool {
        let chosen = self.races.run.steps[at].choice;
        let mut ways = self.races.run.choices(at).iter().filter(|choice| choice.agent == chosen.agent);
        ways.all(|way| way.pick >= chosen.pick)
    }

    pub(super) fn holds(&self, at: Position, cut: &Cut) -> bool {
        let event = &self.races.run.steps[at].event;
        event.id.index < cut[self.races.threads[at]]
    }

    /// What its thread would have done where its time ran out or the execution ended.
    pub(super) fn pending(&self, thread: usize, cut: &Cut) -> Option<&'t PendingAtEnd> {
        let slot = cut[thread] as usize;
        let here = self.of[thread].get(slot).copied();
        let name = self.races.run.threads[thread];
        let mut pending_at_end = self.races.run.pending_at_end.iter();
        pending_at_end.find(|pending_at_end| {
            let is_here =
                here.map_or(!pending_at_end.closed, |at| pending_at_end.closed && pending_at_end.at == at);
            pending_at_end.view.agent == Agent::Thread(name) && is_here
        })
    }

    pub(super) fn state(&self, agent: Agent, cut: &Cut) -> AgentState {
        let name = agent.thread();
        let thread = self.races.number(name);
        let born = self.races.created.get(&name);
        if born.is_some_and(|&born| !self.holds(born, cut)) {
            return AgentState::Waits;
        }
        let here = self.of[thread].get(cut[thread] as usize).copied();
        if let Some(at) = here.filter(|&at| self.races.run.steps[at].choice.agent == agent) {
            let clock = self.races.run.hb.clock(at);
            if (0..cut.len()).all(|other| other == thread || clock.get(other) <= cut[other]) {
                return AgentState::Here(at);
            }
        }
        let can = if agent.is_thread() { self.thread(name, here, cut) } else { self.time(name, here, cut) };
        if can { AgentState::Elsewhere } else { AgentState::Waits }
    }

    /// Whether a thread can run, its next event of the execution being none that it can have here.
    fn thread(&self, name: ThreadName, here: Option<Position>, cut: &Cut) -> bool {
        let thread = self.races.number(name);
        let own = here.map(|at| &self.races.run.steps[at]).filter(|step| step.is_own());
        let (kind, effect, waker) = if let Some(step) = own {
            let woken = step.event.woken_by();
            let waker =
                woken.and_then(|id| self.races.run.hb.position(self.races.number(id.thread), id.index));
            (step.event.op.kind, &step.event.op.may, waker)
        } else {
            let Some(pending_at_end) = self.pending(thread, cut) else { return false };
            let Some(op) = pending_at_end.view.pending.as_ref() else { return false };
            if matches!(pending_at_end.view.status, Status::Blocked(On::Cond(_))) {
                return false;
            }
            (op.kind, &op.may, pending_at_end.waker)
        };
        if kind == OpKind::Reacquire && waker.is_some_and(|waker| !self.holds(waker, cut)) {
            return false;
        }
        match Need::of(kind) {
            // Which events have to come before is known of the execution's own only.
            Need::Nothing => kind != OpKind::Sleep || !self.is_timed,
            Need::Order => false,
            need @ (Need::Free | Need::NoWriter) => {
                self.holders(effect, cut).let_go(name, need, own.is_some()) == Can::Yes
            }
            Need::One => self.has_one(effect, cut),
            Need::Unknown => self.was_seen(Agent::Thread(name), here, effect, cut),
        }
    }

    /// Whether the time of a thread can run out.
    fn time(&self, name: ThreadName, here: Option<Position>, cut: &Cut) -> bool {
        let thread = self.races.number(name);
        let before = (cut[thread] as usize).checked_sub(1).map(|slot| self.of[thread][slot]);
        let kind = before.map(|at| self.races.run.steps[at].event.op.kind);
        if matches!(kind, Some(OpKind::CondWait | OpKind::FutexWait)) {
            if let Some(at) = here.filter(|&at| self.races.run.steps[at].choice.agent == Agent::Timeout(name))
            {
                return self.is_on_time(at, cut);
            }
            let mut closed = self.races.run.pending_at_end.iter().filter(|pending_at_end| {
                let since = before.is_none_or(|before| before < pending_at_end.at);
                let until = here.is_none_or(|here| pending_at_end.at <= here);
                let is_due = pending_at_end.view.status == Status::Enabled;
                let is_it = pending_at_end.view.agent == Agent::Timeout(name) && is_due;
                pending_at_end.closed && is_it && since && until
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
        if let Some(limit) = limit
            && (self.is_timed
                || limit.accesses.first().is_some_and(|access| self.races.is_of_file(access.obj)))
        {
            return self.was_seen(Agent::Timeout(name), here, limit, cut);
        }
        // A thread that waited for what it held itself does so wherever its time can run out.
        let had = here.is_some_and(|at| self.races.run.steps[at].is_own());
        limit.is_some_and(|limit| self.holders(limit, cut).let_go(name, Need::Free, had) != Can::Yes)
    }

    /// Whether all events have run that are too early to come after a sleep or a timed wait has ended.
    fn is_on_time(&self, at: Position, cut: &Cut) -> bool {
        let early = self.races.run.steps[at].event.timing().into_iter().flat_map(|timing| &timing.after);
        early.into_iter().all(|id| id.index < cut[self.races.number(id.thread)])
    }

    fn holders(&self, effect: &Effect, cut: &Cut) -> Holders {
        self.races.lock_state_after(effect, |at| self.holds(at, cut)).holders
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

    /// The point at which a thread stood at its `slot`-th operation.
    fn arrived(&self, thread: usize, slot: usize) -> Position {
        let name = self.races.run.threads[thread];
        let before = slot.checked_sub(1).map(|slot| self.of[thread][slot]);
        before.or_else(|| self.races.created.get(&name).copied()).map_or(Position::START, Position::next)
    }

    fn could(&self, agent: Agent, at: Position) -> bool {
        self.races.run.choices(at).iter().any(|choice| choice.agent == agent)
    }

    /// Whether an agent was seen to be able to run while the object of its operation was as it is here.
    fn was_seen(&self, agent: Agent, here: Option<Position>, effect: &Effect, cut: &Cut) -> bool {
        let thread = self.races.number(agent.thread());
        let (from, to) = self.span(effect, cut);
        let last = self.races.run.steps.end().previous().unwrap_or_default();
        let until = to.unwrap_or(last).min(here.unwrap_or(last));
        let at = self.arrived(thread, cut[thread] as usize).max(from);
        at <= until && self.could(agent, at)
    }
}

impl<'t> Canon<'_, 't> {
    /// The level of what a thread does next.
    pub(super) fn level(&self, agent: Agent, thread: usize, cut: &Cut) -> u32 {
        let (Some(levels), Some(op)) = (&self.levels, self.next_op_of(thread, cut)) else { return 0 };
        let last = |thread: usize| (cut[thread] as usize).checked_sub(1).map(|slot| self.of[thread][slot]);
        let name = self.races.run.threads[thread];
        let here = self.of[thread].get(cut[thread] as usize).map(|&at| &self.races.run.steps[at]);
        let woken = match here.filter(|step| step.is_own()) {
            Some(step) => step
                .event
                .woken_by()
                .and_then(|id| self.races.run.hb.position(self.races.number(id.thread), id.index)),
            None => self.pending(thread, cut).and_then(|pending_at_end| pending_at_end.waker),
        };
        let joined =
            op.peer.filter(|_| op.kind == OpKind::Join).and_then(|peer| last(self.races.number(peer)));
        let standing = Standing {
            agent,
            op,
            after: last(thread),
            born: self.races.created.get(&name).copied(),
            let_go: [woken.filter(|_| is_woken(op.kind)), joined],
        };
        levels.level(&self.races.run.steps, &standing, |at| self.holds(at, cut))
    }

    /// What a thread does next, be it that its time runs out.
    fn next_op_of(&self, thread: usize, cut: &Cut) -> Option<&'t Op> {
        let here = self.of[thread].get(cut[thread] as usize).map(|&at| &self.races.run.steps[at]);
        self.next_op(thread, cut).or_else(|| Some(&here?.event.op))
    }
}

/// Whether something had to wait in an execution until its time could come.
fn is_timed(races: &Races<'_>) -> bool {
    let mut timings = races.run.steps.iter().filter_map(|step| step.event.timing());
    let mut left = races.run.pending_at_end.iter();
    timings.any(|timing| !timing.after.is_empty())
        || left.any(|left| matches!(left.view.status, Status::Blocked(On::Time(_))))
}
