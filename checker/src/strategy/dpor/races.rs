//! The races of an execution, and for each one what has to be run, from where, to see it the other way round.
//!
//! The race of a later operation e' with an earlier event e that it conflicts with can be reversed if e' can run without
//! e, and nothing that can be reversed comes between. An operation that waits for a lock races with the lock that was
//! taken, not with the unlock that let it go on: before that it cannot run. So do semaphores and awaits. Operations that
//! did not run race as well: those left waiting at the end, time-outs that did not happen because what was waited for
//! came, and what a thread would have done had its time not run out; also the other ways in which an operation can go.

#[cfg(test)]
use std::cell::Cell;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::accesses::{AccessIndex, Conflicting};
use super::lock_history::{LockHistory, LockState};
use super::locks::{EnablingCondition, Feasibility};
use super::moves::Move;
use super::successor::Successor;
use crate::event::agent::Choice;
use crate::event::lock_action::{Hold, LockAction};
use crate::event::names::{Obj, ObjName, ThreadName};
use crate::event::operation::{Effect, OpKind};
use crate::event::position::{PerEvent, Position};
use crate::trace::Trace;

/// A race the other way round.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Reversal {
    /// The number of events of the execution that come first.
    pub(super) at: Position,
    /// The moves that come then.
    pub(super) moves: Vec<Move>,
}

/// An execution, with what is needed to find its races.
pub(super) struct Races<'t> {
    pub(super) run: &'t Trace,
    /// Of each event its thread, in creation order.
    pub(super) threads: PerEvent<usize>,
    numbers: FxHashMap<ThreadName, usize>,
    /// Of each block, the events that touched it.
    touched: FxHashMap<ObjName, Vec<Position>>,
    pub(super) accesses: AccessIndex,
    /// Of each lock that was asked for, its operations.
    locks: RefCell<FxHashMap<Obj, Rc<LockHistory>>>,
    /// The blocks that files have in common.
    of_files: FxHashSet<ObjName>,
    pub(super) created: FxHashMap<ThreadName, Position>,
    /// The number of times that an event was looked at.
    #[cfg(test)]
    pub(super) looks: Cell<u64>,
}

impl<'t> Races<'t> {
    pub(super) fn new(run: &'t Trace) -> Self {
        let numbers: FxHashMap<ThreadName, usize> =
            run.threads.iter().enumerate().map(|(number, &name)| (name, number)).collect();
        let mut races = Self {
            run,
            threads: PerEvent::default(),
            numbers,
            touched: FxHashMap::default(),
            accesses: AccessIndex::default(),
            locks: RefCell::default(),
            of_files: FxHashSet::default(),
            created: FxHashMap::default(),
            #[cfg(test)]
            looks: Cell::default(),
        };
        for (at, step) in run.steps.enumerate() {
            let event = &step.event;
            races.threads.push(races.number(event.id.thread));
            for access in &event.did.accesses {
                let touched = races.touched.entry(access.obj.name).or_default();
                if touched.last() != Some(&at) {
                    touched.push(at);
                }
                if event.op.kind == OpKind::Io {
                    races.of_files.insert(access.obj.name);
                }
            }
            if let Some(child) = event.op.peer.filter(|_| event.op.kind.creates()) {
                races.created.insert(child, at);
            }
        }
        races.accesses = AccessIndex::of(&run.steps, &races.threads);
        races
    }

    /// Every race whose later operation is at `from` or after, but before `to`, reversed.
    pub(super) fn reversals(&self, from: Position, to: Position) -> Vec<Reversal> {
        let mut all = Vec::new();
        self.successors(from, to).for_each(|later| self.of(&later, &mut all));
        all
    }

    /// The events that touched the block of an object, in order.
    pub(super) fn touched(&self, obj: Obj) -> &[Position] {
        self.touched.get(&obj.name).map_or(&[][..], Vec::as_slice)
    }

    pub(super) fn number(&self, thread: ThreadName) -> usize {
        self.numbers.get(&thread).copied().unwrap_or(usize::MAX)
    }

    /// Whether an event comes before an operation in any case.
    fn is_past(&self, at: Position, later: &Successor<'_>) -> bool {
        later.past.get(self.threads[at]) > self.run.steps[at].event.id.index
    }

    pub(super) fn is_after(&self, later: Position, earlier: Position) -> bool {
        #[cfg(test)]
        self.looks.update(|looks| looks + 1);
        let index = self.run.steps[earlier].event.id.index;
        self.run.hb.clock(later).get(self.threads[earlier]) > index
    }

    fn of(&self, later: &Successor<'t>, into: &mut Vec<Reversal>) {
        if EnablingCondition::of(later.key.kind) == EnablingCondition::Order {
            return;
        }
        let mut reversed: Vec<Position> = Vec::new();
        for earlier in self.racing_events(later) {
            if reversed.iter().any(|&done| self.is_after(done, earlier)) {
                continue;
            }
            let mut undone = vec![earlier];
            let can = self.can_run(later, &mut undone);
            if can == Feasibility::No {
                continue;
            }
            if can == Feasibility::Yes {
                reversed.push(earlier);
            }
            into.push(self.reversal(later, &undone, can == Feasibility::Yes));
        }
    }

    /// The events that an operation conflicts with and need not come before it, the latest first.
    pub(super) fn racing_events(&self, later: &Successor<'t>) -> Vec<Position> {
        let own = self.number(later.agent.thread());
        let mut racing_events: Vec<Position> = later.closer.into_iter().collect();
        let may_be_one = |at: Position| self.threads[at] != own && !self.is_past(at, later);
        if later.effect.ends_process {
            racing_events.extend(Position::START.until(later.before).filter(|&at| may_be_one(at)));
        } else {
            for found in self.conflicting(later.effect).filter(|found| found.thread != own) {
                let free = self.run.hb.position(found.thread, later.past.get(found.thread));
                let Some(free) = free.filter(|free| found.positions.last() >= Some(free)) else { continue };
                let end = found.positions.partition_point(|&at| at < later.before);
                let start = found.positions[..end].partition_point(|&at| at < free);
                let conflicts = |&&at: &&Position| found.all || self.conflict(at, later.effect);
                racing_events.extend(found.positions[start..end].iter().filter(conflicts));
            }
            let enders = self.accesses.enders().iter().copied().filter(|&at| at < later.before);
            racing_events.extend(enders.filter(|&at| may_be_one(at) && self.touches_block(at, later.effect)));
        }
        #[cfg(test)]
        self.looks.update(|looks| looks + racing_events.len() as u64);
        racing_events.sort_unstable_by(|a, b| b.cmp(a));
        racing_events.dedup();
        racing_events
    }

    /// The events that conflict with an effect, but for those that end the process.
    pub(super) fn conflicting<'a>(&'a self, effect: &'a Effect) -> impl Iterator<Item = Conflicting<'a>> {
        effect.accesses.iter().flat_map(|access| self.accesses.conflicting(access))
    }

    /// Of each list of events that conflict with an effect, the last one of those that `holds` is true of: these are closed under
    /// happens-before.
    pub(super) fn last_conflicting<'a>(
        &'a self,
        effect: &'a Effect,
        holds: impl Fn(Position) -> bool,
    ) -> impl Iterator<Item = Position> {
        self.conflicting(effect).filter_map(move |found| {
            let (&last, before) = found.positions.split_last()?;
            let end = if holds(last) { before.len() + 1 } else { before.partition_point(|&at| holds(at)) };
            let conflicts = |at: &&Position| found.all || self.conflict(**at, effect);
            found.positions[..end].iter().rfind(conflicts).copied()
        })
    }

    /// Whether what was done at a position conflicts with an effect.
    pub(super) fn conflict(&self, at: Position, effect: &Effect) -> bool {
        #[cfg(test)]
        self.looks.update(|looks| looks + 1);
        self.run.steps[at].event.did.conflicts(effect)
    }

    /// Whether an event touches a block that an effect is on.
    pub(super) fn touches_block(&self, at: Position, effect: &Effect) -> bool {
        let touched = &self.run.steps[at].event.did.accesses;
        touched.iter().any(|one| effect.accesses.iter().any(|other| one.obj.name == other.obj.name))
    }

    /// Tells whether an operation can run without some events. Adds those that have to be undone as well.
    fn can_run(&self, later: &Successor<'t>, undone: &mut Vec<Position>) -> Feasibility {
        loop {
            match self.is_let(later, undone) {
                Feasibility::Without(more) => {
                    for at in more {
                        if self.is_past(at, later) || undone.contains(&at) {
                            return Feasibility::No;
                        }
                        undone.push(at);
                    }
                }
                can => return can,
            }
        }
    }

    pub(super) fn is_let(&self, later: &Successor<'t>, undone: &[Position]) -> Feasibility {
        let thread = later.agent.thread();
        match EnablingCondition::of(later.key.kind) {
            EnablingCondition::Nothing => Feasibility::Yes,
            EnablingCondition::Order => Feasibility::No,
            need @ (EnablingCondition::Free | EnablingCondition::NoWriter) => {
                self.lock_state(later, undone).holders.let_go(thread, need, later.ran)
            }
            EnablingCondition::One => self.is_had(later, undone),
            EnablingCondition::Unknown if later.key.kind == OpKind::Timeout => self.times_out(later, undone),
            EnablingCondition::Unknown => self.was_let(later, undone),
        }
    }

    /// Whether an event comes before an operation that some events and what follows them are not to come before.
    pub(super) fn remains(&self, at: Position, later: &Successor<'t>, undone: &[Position]) -> bool {
        at < later.before && !self.is_undone(at, undone)
    }

    /// The state of the lock of an operation, had some events not come.
    pub(super) fn lock_state(&self, later: &Successor<'t>, undone: &[Position]) -> LockState {
        self.lock_state_after(later.effect, |at| self.remains(at, later, undone))
    }

    /// The state of the lock or semaphore that an effect is on first after events that are closed under happens-before.
    pub(super) fn lock_state_after(&self, effect: &Effect, holds: impl Fn(Position) -> bool) -> LockState {
        let Some(access) = effect.accesses.first() else { return LockState::default() };
        self.lock_history(access.obj).state(|at| &self.run.steps[at].event, holds)
    }

    fn lock_history(&self, lock: Obj) -> Rc<LockHistory> {
        let new = || {
            let operations = self.accesses.lock_operations(lock);
            let event = |at: Position| &self.run.steps[at].event;
            Rc::new(LockHistory::of(&operations, event, |later, earlier| self.is_after(later, earlier)))
        };
        Rc::clone(self.locks.borrow_mut().entry(lock).or_insert_with(new))
    }

    /// Whether an object is what files have in common: no event tells which of them is ready.
    pub(super) fn is_of_file(&self, obj: Obj) -> bool {
        self.of_files.contains(&obj.name)
    }

    pub(super) fn is_undone(&self, at: Position, undone: &[Position]) -> bool {
        undone.iter().any(|&earlier| earlier <= at && self.is_after(at, earlier))
    }

    /// A semaphore that a thread could take one from had one. Its value elsewhere is known where the thread was seen.
    fn is_had(&self, later: &Successor<'t>, undone: &[Position]) -> Feasibility {
        let from = undone.iter().copied().min().unwrap_or_default();
        let event = &self.run.steps[from].event;
        match (event.acquired(), event.failed_try()) {
            (Some(Hold::Unit), _) => Feasibility::Yes,
            (_, Some(Hold::Unit)) => Feasibility::No,
            _ => self.was_let(later, undone),
        }
    }

    /// A wait for a signal can run out of time whenever it has begun, a wait for a lock only while a thread has the lock.
    fn times_out(&self, later: &Successor<'t>, undone: &[Position]) -> Feasibility {
        let begun = later.after.map(|at| self.run.steps[at].event.op.kind);
        if matches!(begun, Some(OpKind::CondWait | OpKind::FutexWait)) {
            return Feasibility::Yes;
        }
        let of_what = later.effect.accesses.first().map(|access| access.obj);
        let holds = |at| self.remains(at, later, undone);
        let is_of_semaphore = |obj| self.lock_history(obj).is_of_semaphore(holds);
        if of_what.is_some_and(|obj| self.is_of_file(obj) || is_of_semaphore(obj)) {
            return self.was_let(later, undone);
        }
        // A thread that was seen to wait for what it holds itself waits for that elsewhere as well.
        let waited = later.ran || later.closer.is_some();
        match self.lock_state(later, undone).holders.let_go(
            later.agent.thread(),
            EnablingCondition::Free,
            !waited,
        ) {
            Feasibility::Yes => Feasibility::No,
            _ => Feasibility::Yes,
        }
    }

    /// The state of the operation as it was seen at the place that it should run at.
    fn was_let(&self, later: &Successor<'t>, undone: &[Position]) -> Feasibility {
        let from = undone.iter().copied().min().unwrap_or_default();
        let arrived = later.after.or_else(|| self.created.get(&later.agent.thread()).copied());
        if arrived.is_some_and(|arrived| arrived >= from) {
            return Feasibility::Perhaps;
        }
        if self.changes_between(from, later, undone) {
            return Feasibility::Perhaps;
        }
        let seen = |choice: &Choice| choice.agent == later.agent;
        if self.run.choices(from).iter().any(seen) { Feasibility::Yes } else { Feasibility::No }
    }

    /// Whether an event from a position on that comes before an operation although some events do not conflicts with it.
    fn changes_between(&self, from: Position, later: &Successor<'t>, undone: &[Position]) -> bool {
        let remains = |at: Position| at >= from && self.remains(at, later, undone);
        if later.effect.ends_process {
            return from.until(later.before).any(remains);
        }
        let remaining = |found: Conflicting<'_>| {
            let start = found.positions.partition_point(|&at| at < from);
            let rest = found.positions[start..].iter().copied().take_while(|&at| remains(at));
            rest.into_iter().any(|at| found.all || self.conflict(at, later.effect))
        };
        self.conflicting(later.effect).any(remaining) || self.accesses.enders().iter().any(|&at| remains(at))
    }

    fn reversal(&self, later: &Successor<'t>, undone: &[Position], certain: bool) -> Reversal {
        let at = undone.iter().copied().min().unwrap_or_default();
        let kept = at.until(later.before).filter(|&position| !self.is_undone(position, undone));
        let mut moves: Vec<Move> = kept.map(|position| Move::of(&self.run.steps[position])).collect();
        moves.push(Move {
            agent: later.agent,
            outcome: later.outcome,
            key: later.key.clone(),
            effect: later.effect.clone(),
            certain: certain && is_deterministic(later.key.kind),
        });
        Reversal { at, moves }
    }
}

/// Whether an operation of this kind does all that it may do wherever it runs, and in one way.
fn is_deterministic(kind: OpKind) -> bool {
    use OpKind as K;
    match kind.lock_action() {
        Some(LockAction::Acquire(hold) | LockAction::Release(hold)) => hold != Hold::Initialiser,
        Some(LockAction::TryAcquire(_) | LockAction::Reset) => false,
        None => matches!(kind, K::Read | K::Write | K::Update | K::Broadcast | K::Timeout),
    }
}
