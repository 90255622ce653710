//! The races of an execution, and which of them can be seen the other way round.
//!
//! The race of a later operation e' with an earlier event e that it conflicts with can be reversed if e' can run without
//! e, and nothing that can be reversed comes between. An operation that waits for a lock races with the lock that was
//! taken, not with the unlock that let it go on: before that it cannot run. So do semaphores and awaits. Operations that
//! did not run race as well: those left waiting at the end, time-outs that did not happen because what was waited for
//! came, and what a thread would have done had its time not run out; also the other ways in which an operation can go.

use rustc_hash::FxHashMap;

use super::later::Later;
use super::locks::{Can, Holders, Need};
use crate::names::{ObjName, ThreadName};
use crate::op::{Mode, OpKind};
use crate::seam::{Agent, Choice, Event};
use crate::trace::Trace;

/// An execution, with what is needed to find its races.
pub(super) struct Races<'t> {
    pub(super) run: &'t Trace,
    /// Of each event its thread, in creation order.
    pub(super) threads: Vec<usize>,
    numbers: FxHashMap<ThreadName, usize>,
    /// Of each block, the events that touched it.
    touched: FxHashMap<ObjName, Vec<u32>>,
    pub(super) created: FxHashMap<ThreadName, u32>,
}

impl<'t> Races<'t> {
    pub(super) fn new(run: &'t Trace) -> Self {
        let numbers: FxHashMap<ThreadName, usize> =
            run.threads.iter().enumerate().map(|(number, &name)| (name, number)).collect();
        let mut races = Self {
            run,
            threads: Vec::new(),
            numbers,
            touched: FxHashMap::default(),
            created: FxHashMap::default(),
        };
        for (at, step) in run.steps.iter().enumerate() {
            let event = &step.event;
            races.threads.push(races.number(event.id.thread));
            for access in &event.did.accesses {
                let touched = races.touched.entry(access.obj.name).or_default();
                if touched.last() != Some(&(at as u32)) {
                    touched.push(at as u32);
                }
            }
            if let (OpKind::Create, Some(child)) = (event.op.kind, event.op.peer) {
                races.created.insert(child, at as u32);
            }
        }
        races
    }

    /// Of every operation at `from` or after, but before `to`, its agent and the events that could come after it instead.
    pub(super) fn pairs(&self, from: usize, to: usize) -> impl Iterator<Item = (Agent, Vec<usize>)> {
        self.later(from, to).map(|later| (later.agent, self.rivals(&later)))
    }

    pub(super) fn later(&self, from: usize, to: usize) -> impl Iterator<Item = Later<'t>> {
        let to = to.min(self.run.steps.len());
        let ran = (from..to).flat_map(move |at| {
            std::iter::once(self.event(at)).chain(self.other_ways(at)).chain(self.time_limit(at))
        });
        let unrun = self.run.unrun.iter().filter(move |unrun| (from..=to).contains(&(unrun.at as usize)));
        ran.chain(unrun.filter_map(|unrun| self.unrun(unrun)))
    }

    pub(super) fn number(&self, thread: ThreadName) -> usize {
        self.numbers.get(&thread).copied().unwrap_or(usize::MAX)
    }

    pub(super) fn is_after(&self, later: usize, earlier: usize) -> bool {
        let index = self.run.steps[earlier].event.id.index;
        self.run.hb.clock(later).get(self.threads[earlier]) > index
    }

    /// Whether the event at a position comes before an operation, however what conflicts is ordered.
    pub(super) fn is_past(&self, later: &Later<'t>, at: usize) -> bool {
        later.past.get(self.threads[at]) > self.run.steps[at].event.id.index
    }

    /// The events that an operation conflicts with and need not come before it, the latest first.
    pub(super) fn rivals(&self, later: &Later<'t>) -> Vec<usize> {
        let own = self.number(later.agent.thread());
        let mut rivals: Vec<usize> = later.closer.into_iter().collect();
        let mut add = |at: usize| {
            let rival = !self.is_past(later, at) && self.threads[at] != own;
            if rival && self.run.steps[at].event.did.conflicts(later.effect) && !rivals.contains(&at) {
                rivals.push(at);
            }
        };
        if later.effect.ends_process {
            (0..later.before).for_each(&mut add);
        }
        for access in &later.effect.accesses {
            let touched = self.touched.get(&access.obj.name).map_or(&[][..], Vec::as_slice);
            let end = touched.partition_point(|&at| (at as usize) < later.before);
            touched[..end].iter().for_each(|&at| add(at as usize));
        }
        rivals.sort_unstable_by(|a, b| b.cmp(a));
        rivals
    }

    /// Whether an operation can run without some events. Adds those that have to be undone as well.
    pub(super) fn can_run(&self, later: &Later<'t>, undone: &mut Vec<usize>) -> Can {
        loop {
            match self.is_let(later, undone) {
                Can::Without(more) => {
                    for at in more.into_iter().map(|at| at as usize) {
                        if self.is_past(later, at) || undone.contains(&at) {
                            return Can::No;
                        }
                        undone.push(at);
                    }
                }
                can => return can,
            }
        }
    }

    fn is_let(&self, later: &Later<'t>, undone: &[usize]) -> Can {
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
    fn history(&self, later: &Later<'t>, undone: &[usize]) -> impl Iterator<Item = (u32, &'t Event)> {
        let first = later.effect.accesses.first();
        let touched =
            first.and_then(|access| self.touched.get(&access.obj.name)).map_or(&[][..], Vec::as_slice);
        let run = self.run;
        touched
            .iter()
            .filter(move |&&at| (at as usize) < later.before && !self.is_undone(at as usize, undone))
            .map(move |&at| (at, &run.steps[at as usize].event))
            .filter(move |(_, event)| {
                let own = first.map(|access| access.obj);
                event.did.accesses.iter().any(|access| own.is_some_and(|obj| obj.overlaps(&access.obj)))
            })
    }

    pub(super) fn is_undone(&self, at: usize, undone: &[usize]) -> bool {
        undone.iter().any(|&earlier| earlier <= at && self.is_after(at, earlier))
    }

    /// A semaphore that somebody could take one from had one. Its value elsewhere is known where the thread was seen.
    fn is_had(&self, later: &Later<'t>, undone: &[usize]) -> Can {
        let from = undone.iter().copied().min().unwrap_or(0);
        let event = &self.run.steps[from].event;
        let wrote = event.did.accesses.iter().any(|access| access.mode == Mode::Write);
        match event.op.kind {
            OpKind::SemWait => Can::Yes,
            OpKind::SemTryWait if wrote => Can::Yes,
            OpKind::SemTryWait => Can::No,
            _ => self.was_let(later, undone),
        }
    }

    /// A wait for a signal can run out of time whenever it has begun, a wait for a lock only while somebody has the lock.
    fn times_out(&self, later: &Later<'t>, undone: &[usize]) -> Can {
        if !self.waits_for_a_lock(later) {
            return Can::Yes;
        }
        let history: Vec<(u32, &Event)> = self.history(later, undone).collect();
        if history.iter().any(|(_, event)| is_of_semaphore(event.op.kind)) {
            return self.was_let(later, undone);
        }
        // A thread that was seen to wait for what it holds itself waits for that elsewhere as well.
        let waited = later.ran || later.closer.is_some();
        match Holders::after(history.into_iter()).let_go(later.agent.thread(), Need::Free, !waited) {
            Can::Yes => Can::No,
            _ => Can::Yes,
        }
    }

    /// Whether it is the time of a wait for a lock or a semaphore that runs out, not of one for a signal.
    pub(super) fn waits_for_a_lock(&self, later: &Later<'t>) -> bool {
        let begun = later.after.map(|at| self.run.steps[at as usize].event.op.kind);
        !later.agent.is_thread() && !matches!(begun, Some(OpKind::CondWait | OpKind::FutexWait))
    }

    /// What was seen of the operation at the place that it should run at.
    fn was_let(&self, later: &Later<'t>, undone: &[usize]) -> Can {
        let from = undone.iter().copied().min().unwrap_or(0);
        let arrived = later.after.or_else(|| self.created.get(&later.agent.thread()).copied());
        if arrived.is_some_and(|arrived| arrived as usize >= from) {
            return Can::Perhaps;
        }
        let rest = from..later.before;
        let changes =
            |at: usize| !self.is_undone(at, undone) && self.run.steps[at].event.did.conflicts(later.effect);
        if rest.clone().any(changes) {
            return Can::Perhaps;
        }
        let seen = |choice: &Choice| choice.agent == later.agent;
        if self.run.choices(from).iter().any(seen) { Can::Yes } else { Can::No }
    }
}

fn is_of_semaphore(kind: OpKind) -> bool {
    matches!(kind, OpKind::SemWait | OpKind::SemTryWait | OpKind::SemPost)
}
