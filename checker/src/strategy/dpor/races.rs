//! The races of an execution, and for each one what has to be run, from where, to see it the other way round.
//!
//! The race of a later operation e' with an earlier event e that it conflicts with can be reversed if e' can run without
//! e, and nothing that can be reversed comes between. An operation that waits for a lock races with the lock that was
//! taken, not with the unlock that let it go on: before that it cannot run. So do semaphores and awaits. Operations that
//! did not run race as well: those left waiting at the end, time-outs that did not happen because what was waited for
//! came, and what a thread would have done had its time not run out; also the other ways in which an operation can go.

use rustc_hash::FxHashMap;

use super::locks::{Can, Holders, Need};
use super::moves::Move;
use super::successor::Successor;
use crate::event::agent::Choice;
use crate::event::lock_action::{Hold, LockAction};
use crate::event::names::{Obj, ObjName, ThreadName};
use crate::event::operation::OpKind;
use crate::event::position::{PerEvent, Position};
use crate::event::recorded::TraceEvent;
use crate::trace::Trace;

/// A race the other way round.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Reversal {
    /// How many events of the execution come first.
    pub(super) at: Position,
    /// What comes then.
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
    pub(super) created: FxHashMap<ThreadName, Position>,
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
            created: FxHashMap::default(),
        };
        for (at, step) in run.steps.enumerate() {
            let event = &step.event;
            races.threads.push(races.number(event.id.thread));
            for access in &event.did.accesses {
                let touched = races.touched.entry(access.obj.name).or_default();
                if touched.last() != Some(&at) {
                    touched.push(at);
                }
            }
            if let Some(child) = event.op.peer.filter(|_| event.op.kind.creates()) {
                races.created.insert(child, at);
            }
        }
        races
    }

    /// Every race whose later operation is at `from` or after, but before `to`, reversed.
    pub(super) fn reversals(&self, from: Position, to: Position) -> Vec<Reversal> {
        let mut all = Vec::new();
        self.laters(from, to).iter().for_each(|later| self.of(later, &mut all));
        all
    }

    /// The events that touched the block of an object, in order.
    pub(super) fn touched(&self, obj: Obj) -> &[Position] {
        self.touched.get(&obj.name).map_or(&[][..], Vec::as_slice)
    }

    pub(super) fn number(&self, thread: ThreadName) -> usize {
        self.numbers.get(&thread).copied().unwrap_or(usize::MAX)
    }

    fn is_after(&self, later: Position, earlier: Position) -> bool {
        let index = self.run.steps[earlier].event.id.index;
        self.run.hb.clock(later).get(self.threads[earlier]) > index
    }

    fn of(&self, later: &Successor<'t>, into: &mut Vec<Reversal>) {
        if Need::of(later.key.kind) == Need::Order {
            return;
        }
        let mut reversed: Vec<Position> = Vec::new();
        for earlier in self.rivals(later) {
            if reversed.iter().any(|&done| self.is_after(done, earlier)) {
                continue;
            }
            let mut undone = vec![earlier];
            let can = self.can_run(later, &mut undone);
            if can == Can::No {
                continue;
            }
            if can == Can::Yes {
                reversed.push(earlier);
            }
            into.push(self.reversal(later, &undone, can == Can::Yes));
        }
    }

    /// The events that an operation conflicts with and need not come before it, the latest first.
    pub(super) fn rivals(&self, later: &Successor<'t>) -> Vec<Position> {
        let own = self.number(later.agent.thread());
        let mut rivals: Vec<Position> = later.closer.into_iter().collect();
        let mut add = |at: Position| {
            let is_past = later.past.get(self.threads[at]) > self.run.steps[at].event.id.index;
            let rival = !is_past && self.threads[at] != own;
            if rival && self.run.steps[at].event.did.conflicts(later.effect) {
                rivals.push(at);
            }
        };
        if later.effect.ends_process {
            Position::START.until(later.before).for_each(&mut add);
        }
        // All that others did before this is past.
        let others = (0..self.run.threads.len()).filter(|&thread| thread != own);
        let free = others.filter_map(|thread| self.run.hb.position(thread, later.past.get(thread))).min();
        let free = free.unwrap_or(Position::BEHIND_ALL);
        for access in &later.effect.accesses {
            let touched = self.touched(access.obj);
            let end = touched.partition_point(|&at| at < later.before);
            let start = touched[..end].partition_point(|&at| at < free);
            touched[start..end].iter().for_each(|&at| add(at));
        }
        rivals.sort_unstable_by(|a, b| b.cmp(a));
        rivals.dedup();
        rivals
    }

    /// Whether an operation can run without some events. Adds those that have to be undone as well.
    fn can_run(&self, later: &Successor<'t>, undone: &mut Vec<Position>) -> Can {
        loop {
            match self.is_let(later, undone) {
                Can::Without(more) => {
                    for at in more {
                        let is_past = later.past.get(self.threads[at]) > self.run.steps[at].event.id.index;
                        if is_past || undone.contains(&at) {
                            return Can::No;
                        }
                        undone.push(at);
                    }
                }
                can => return can,
            }
        }
    }

    pub(super) fn is_let(&self, later: &Successor<'t>, undone: &[Position]) -> Can {
        let thread = later.agent.thread();
        match Need::of(later.key.kind) {
            Need::Nothing => Can::Yes,
            Need::Order => Can::No,
            need @ (Need::Free | Need::NoWriter) => {
                let holders = Holders::after(self.history(later, undone));
                holders.let_go(thread, need, later.ran)
            }
            Need::One => self.is_had(later, undone),
            Need::Unknown if later.key.kind == OpKind::Timeout => self.times_out(later, undone),
            Need::Unknown => self.was_let(later, undone),
        }
    }

    /// What happened to the objects of an operation, had some events not come.
    pub(super) fn history(
        &self,
        later: &Successor<'t>,
        undone: &[Position],
    ) -> impl Iterator<Item = (Position, &'t TraceEvent)> {
        let first = later.effect.accesses.first();
        let touched =
            first.and_then(|access| self.touched.get(&access.obj.name)).map_or(&[][..], Vec::as_slice);
        let run = self.run;
        touched
            .iter()
            .filter(move |&&at| at < later.before && !self.is_undone(at, undone))
            .map(move |&at| (at, &run.steps[at].event))
            .filter(move |(_, event)| {
                let own = first.map(|access| access.obj);
                event.did.accesses.iter().any(|access| own.is_some_and(|obj| obj.overlaps(&access.obj)))
            })
    }

    /// Whether an object is what files have in common: no event tells which of them is ready.
    pub(super) fn is_of_file(&self, obj: Obj) -> bool {
        self.touched(obj).iter().any(|&at| self.run.steps[at].event.op.kind == OpKind::Io)
    }

    pub(super) fn is_undone(&self, at: Position, undone: &[Position]) -> bool {
        undone.iter().any(|&earlier| earlier <= at && self.is_after(at, earlier))
    }

    /// A semaphore that somebody could take one from had one. Its value elsewhere is known where the thread was seen.
    fn is_had(&self, later: &Successor<'t>, undone: &[Position]) -> Can {
        let from = undone.iter().copied().min().unwrap_or_default();
        let event = &self.run.steps[from].event;
        match (event.acquired(), event.failed_try()) {
            (Some(Hold::Unit), _) => Can::Yes,
            (_, Some(Hold::Unit)) => Can::No,
            _ => self.was_let(later, undone),
        }
    }

    /// A wait for a signal can run out of time whenever it has begun, a wait for a lock only while somebody has the lock.
    fn times_out(&self, later: &Successor<'t>, undone: &[Position]) -> Can {
        let begun = later.after.map(|at| self.run.steps[at].event.op.kind);
        if matches!(begun, Some(OpKind::CondWait | OpKind::FutexWait)) {
            return Can::Yes;
        }
        let history: Vec<(Position, &TraceEvent)> = self.history(later, undone).collect();
        let is_of_file = later.effect.accesses.first().is_some_and(|access| self.is_of_file(access.obj));
        if is_of_file || history.iter().any(|(_, event)| is_of_semaphore(event.op.kind)) {
            return self.was_let(later, undone);
        }
        // A thread that was seen to wait for what it holds itself waits for that elsewhere as well.
        let waited = later.ran || later.closer.is_some();
        match Holders::after(history.into_iter()).let_go(later.agent.thread(), Need::Free, !waited) {
            Can::Yes => Can::No,
            _ => Can::Yes,
        }
    }

    /// What was seen of the operation at the place that it should run at.
    fn was_let(&self, later: &Successor<'t>, undone: &[Position]) -> Can {
        let from = undone.iter().copied().min().unwrap_or_default();
        let arrived = later.after.or_else(|| self.created.get(&later.agent.thread()).copied());
        if arrived.is_some_and(|arrived| arrived >= from) {
            return Can::Perhaps;
        }
        let mut rest = from.until(later.before);
        let changes = |at: Position| {
            !self.is_undone(at, undone) && self.run.steps[at].event.did.conflicts(later.effect)
        };
        if rest.any(changes) {
            return Can::Perhaps;
        }
        let seen = |choice: &Choice| choice.agent == later.agent;
        if self.run.choices(from).iter().any(seen) { Can::Yes } else { Can::No }
    }

    fn reversal(&self, later: &Successor<'t>, undone: &[Position], certain: bool) -> Reversal {
        let at = undone.iter().copied().min().unwrap_or_default();
        let kept = at.until(later.before).filter(|&position| !self.is_undone(position, undone));
        let mut moves: Vec<Move> = kept.map(|position| Move::of(&self.run.steps[position])).collect();
        moves.push(Move {
            agent: later.agent,
            pick: later.pick,
            key: later.key.clone(),
            effect: later.effect.clone(),
            certain: certain && is_settled(later.key.kind),
        });
        Reversal { at, moves }
    }
}

/// Whether an operation of this kind does all that it may do wherever it runs, and in one way.
fn is_settled(kind: OpKind) -> bool {
    use OpKind as K;
    match kind.lock_action() {
        Some(LockAction::Acquire(hold) | LockAction::Release(hold)) => hold != Hold::Initialiser,
        Some(LockAction::TryAcquire(_) | LockAction::Reset) => false,
        None => matches!(kind, K::Read | K::Write | K::Update | K::Broadcast | K::Timeout),
    }
}

fn is_of_semaphore(kind: OpKind) -> bool {
    let action = kind.lock_action();
    action.and_then(|action| action.acquires().or(action.releases())) == Some(Hold::Unit)
}
