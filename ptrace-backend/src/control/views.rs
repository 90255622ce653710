//! Whether a pending operation can run, and what it looks like to the checker.

use checker::names::{Obj, ThreadName};
use checker::operation::{Access, Effect, Op, OpKind};
use checker::program::{Agent, AgentView, On, Pick, Status};
use smallvec::{SmallVec, smallvec};

use crate::control::process::Process;
use crate::control::state::pending::{Act, Need, Pending, Requeue};
use crate::control::state::sync_objects::Index;
use crate::control::state::thread::{Interrupt, Stage};
use crate::layout::functions::Function;
use crate::os::fd;

impl Process {
    /// Whether what an operation of this thread needs is there.
    pub(crate) fn holds(&self, index: Index, need: &Need) -> bool {
        let objects = &self.objects;
        match need {
            Need::Nothing => true,
            Need::Deadline(time) => self.is_due(index, *time),
            Need::Mutex(at) => objects.mutexes.get(at).is_none_or(|m| m.can_lock(index)),
            Need::RustMutex(at, len) => self.number(*at, *len) == 0,
            Need::RustRead(at) => self.can_read_rust(*at),
            Need::RustWrite(at) => self.is_writer_woken(*at),
            Need::ReadLock(at) => self.can_read(*at),
            Need::WriteLock(at) => objects.rwlocks.get(at).is_none_or(|l| l.can_write()),
            Need::Semaphore(at) => self.number(*at, 4) as u32 > 0,
            Need::End(thread) => matches!(self.scheduling.threads[*thread].stage, Stage::Ended),
            Need::Once(at) => {
                let runner = objects.onces.get(at).and_then(|o| o.runner);
                runner.is_none_or(|runner| runner == index)
            }
            Need::Generation(at, generation) => {
                objects.barriers.get(at).is_none_or(|b| b.generation > *generation)
            }
            Need::Signal(_) | Need::Wake(_) => false,
            Need::Change(locations) => {
                locations.iter().any(|(addr, _, bytes)| self.read(*addr, bytes.len()) != *bytes)
            }
            Need::Arrival(awaited) => self.has_arrived(index, *awaited),
            Need::PiFutex(at) => self.pi_owner(*at).is_none(),
            Need::Ready(files) => self.is_any_ready(files),
        }
    }

    /// What the checker may know of every thread, in creation order, then of every open timed wait, after an event of this
    /// thread.
    pub(crate) fn views(&mut self, mover: Index) -> Vec<AgentView> {
        self.note_runnable(mover);
        let all = 0..self.scheduling.threads.len();
        let threads = all.clone().map(|i| self.view(i));
        let timeouts = all.filter_map(|i| self.timeout_view(i));
        threads.chain(timeouts).collect()
    }

    fn view(&self, index: Index) -> AgentView {
        let thread = &self.scheduling.threads[index];
        let agent = Agent::Thread(thread.name);
        let Some(pending) = thread.pending.as_ref().filter(|_| thread.is_live() && !self.tracee.gone) else {
            let status = match &thread.stage {
                Stage::Failed(failure) => Status::Failed(failure.clone()),
                Stage::Live | Stage::Ended => Status::Finished,
            };
            return AgentView {
                agent,
                status,
                pending: None,
                site: Default::default(),
                picks: SmallVec::new(),
            };
        };
        self.note_told(index, pending);
        AgentView {
            agent,
            status: self.status(index, pending),
            pending: Some(self.described(index, pending)),
            site: pending.site,
            picks: self.picks(&pending.act),
        }
    }

    /// A thread's pending operation as the checker sees it.
    fn described(&self, index: Index, pending: &Pending) -> Op {
        let mut op = self.interruption(index, pending).map_or_else(|| pending.op.clone(), |(_, op)| op);
        self.tell_of_cancelled_wait(&pending.act, &mut op.may);
        self.tell_of_signals(index, &mut op.may);
        op
    }

    /// Adds to what an event of a thread touches what a signal that is sent to it does: whether the signal comes before the
    /// event decides where its handler runs, and after the last one it comes too late. Told only where the program sends any.
    pub(super) fn tell_of_signals(&self, index: Index, effect: &mut Effect) {
        let obj = self.signals_of(Some(index));
        if self.tracee.layout.signals && effect.accesses.iter().all(|access| access.obj != obj) {
            effect.accesses.push(Access::read(obj));
        }
    }

    /// What a thread does next in place of its pending operation, if something ends that wait.
    pub(crate) fn interruption(&self, index: Index, pending: &Pending) -> Option<(Interrupt, Op)> {
        let thread = &self.scheduling.threads[index];
        let is_cancelled = thread.cancellation.is_due() && pending.is_cancellation_point();
        if !is_cancelled && !thread.signalled {
            return None;
        }
        // A condition wait begins with its first half, which never waits.
        let waits = || pending.begins_condition_wait() || !self.holds(index, &pending.need);
        let interrupt = if is_cancelled && waits() {
            Interrupt::Cancel
        } else if thread.signalled && !self.holds(index, &pending.need) {
            Interrupt::Signal
        } else {
            return None;
        };
        // What the operation would have touched decides whether it comes to this; and who no longer waits for a signal of a
        // condition variable or a wake of a futex, leaves that to others.
        let left = match (&pending.need, interrupt) {
            (&Need::Signal(at), Interrupt::Cancel) | (&Need::Wake(at), _) => Some(self.object(at, 1)),
            _ => None,
        };
        let signals = self.signals_of(Some(index));
        let would = pending.op.may.accesses.iter().filter(|access| access.obj != signals).copied();
        let does = left.into_iter().chain([signals]).map(Access::write);
        Some((interrupt, Op::new(OpKind::Kill, would.chain(does))))
    }

    fn status(&self, index: Index, pending: &Pending) -> Status {
        if self.waits_for_test(index) {
            return Status::Blocked(On::Test);
        }
        if self.is_enabled(index, pending) {
            return Status::Enabled;
        }
        let obj = |addr: &u64| self.object(*addr, 1);
        Status::Blocked(match &pending.need {
            Need::Nothing => return Status::Enabled,
            Need::Deadline(time) => On::Time(self.stalled_by(index, *time)),
            Need::Mutex(at) | Need::RustMutex(at, _) => On::Mutex { obj: obj(at), owner: self.owner(*at) },
            Need::ReadLock(at) | Need::RustRead(at) => On::Read(obj(at)),
            Need::WriteLock(at) | Need::RustWrite(at) => On::Write(obj(at)),
            Need::Semaphore(at) => On::Sem(obj(at)),
            Need::End(thread) => On::Join(self.scheduling.threads[*thread].name),
            Need::Once(at) => On::Once(obj(at)),
            Need::Generation(at, generation) => On::Barrier { obj: obj(at), generation: *generation },
            Need::Signal(at) => On::Cond(obj(at)),
            Need::Wake(at) => On::Futex(obj(at)),
            Need::Change(locations) => On::Await(locations.iter().map(|(_, obj, _)| *obj).collect()),
            Need::Arrival(_) => On::Arrival,
            Need::PiFutex(at) => {
                On::Mutex { obj: obj(at), owner: self.pi_owner(*at).map(|i| self.scheduling.threads[i].name) }
            }
            Need::Ready(files) => {
                let descriptors: Vec<i32> = files.iter().map(|(file, _)| *file).collect();
                let is_outside =
                    descriptors.iter().any(|file| fd::comes_from_outside(self.tracee.leader, *file));
                if is_outside { On::Outside(descriptors) } else { On::Input(descriptors) }
            }
        })
    }

    /// Whether a thread can go, as [`Process::note_runnable`] found last.
    fn is_enabled(&self, index: Index, pending: &Pending) -> bool {
        match pending.need {
            Need::Deadline(time) => {
                self.scheduling.threads[index].runnable_since.is_some() || self.is_due(index, time)
            }
            _ => self.scheduling.threads[index].runnable_since.is_some(),
        }
    }

    fn owner(&self, mutex: u64) -> Option<ThreadName> {
        let owner = self.objects.mutexes.get(&mutex)?.owner?;
        Some(self.scheduling.threads[owner].name)
    }

    /// The ways in which an operation can go: which waiter wakes, where there are several.
    fn picks(&self, act: &Act) -> SmallVec<[Pick; 1]> {
        let queue = match act {
            Act::Function { function: Function::Signal, object, .. } => self.objects.conds.get(object),
            Act::FutexWake { addr, count: 1, .. }
            | Act::FutexRequeue(Requeue { from: addr, wake: 1, .. }) => self.objects.futexes.get(addr),
            Act::Leave(mutexes) => mutexes.last().and_then(|at| self.objects.futexes.get(at)),
            _ => None,
        };
        match queue {
            Some(queue) if queue.waiters.len() > 1 => {
                queue.waiters.iter().map(|&i| Pick::Wake(self.scheduling.threads[i].name)).collect()
            }
            _ => smallvec![Pick::Only],
        }
    }

    /// The timeout of a thread's timed wait, while it waits.
    fn timeout_view(&self, index: Index) -> Option<AgentView> {
        let thread = &self.scheduling.threads[index];
        let pending = thread.pending.as_ref().filter(|_| thread.is_live() && !self.tracee.gone)?;
        let deadline = pending.deadline?;
        if thread.runnable_since.is_some() || self.waits_for_test(index) {
            return None;
        }
        let mut op = self.timeout_op(pending);
        self.tell_of_signals(index, &mut op.may);
        Some(AgentView {
            agent: Agent::Timeout(thread.name),
            status: match self.is_due(index, deadline) {
                true => Status::Enabled,
                false => Status::Blocked(On::Time(self.stalled_by(index, deadline))),
            },
            pending: Some(op),
            site: pending.site,
            picks: smallvec![Pick::Only],
        })
    }

    /// What a timeout touches: the condition variable or futex that is waited for.
    pub(crate) fn timeout_op(&self, pending: &Pending) -> Op {
        let touched: Option<Obj> = match pending.need {
            Need::Signal(at) | Need::Wake(at) => Some(self.object(at, 1)),
            _ => pending.op.may.accesses.first().map(|access| access.obj),
        };
        Op::new(OpKind::Timeout, touched.map(Access::write))
    }
}

/// The operation with what the end of its time would do, if it is a wait with a time limit.
pub(super) fn limited(mut op: Op, need: &Need, deadline: Option<u64>) -> Op {
    let touched = op.may.accesses.first().map(|access| Access::write(access.obj));
    op.limit = deadline.filter(|_| *need != Need::Nothing).map(|_| Effect::on(touched));
    op
}
