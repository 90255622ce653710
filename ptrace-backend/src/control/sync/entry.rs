//! A thread stands at the entry of a thread function: which operation that is, and what it waits for.

use checker::failure::{FailureDetail, FailureKind};
use checker::names::{Obj, Site};
use checker::operation::{Access, Mode, Op, OpKind};
use checker::program::ExecutionError;

use crate::answers::{is_valid_timespec, read_timespec};
use crate::control::process::Process;
use crate::control::state::flow::Flow;
use crate::control::state::pending::{Act, Need, Pending};
use crate::control::state::sync_objects::{Index, MutexMemory};
use crate::control::state::thread::{InterruptedWait, Stage};
use crate::control::views::limited;
use crate::layout::functions::Function;

impl Process {
    /// Either makes the function the thread's pending operation, or lets the thread through at once.
    pub(crate) fn enter(
        &mut self,
        index: Index,
        function: Function,
        timed_out: u64,
    ) -> Result<Flow, ExecutionError> {
        if self.resume_wait(index) {
            return Ok(Flow::Rest);
        }
        let caller = self.number(self.tracee.tasks[index].regs.rsp, 8);
        if function == Function::Panic {
            if self.account.first_panic.is_none() {
                self.account.first_panic = Some((self.scheduling.threads[index].name, self.stack(index)));
            }
        } else if function == Function::Test {
            self.begin_test(index);
        } else if matches!(function, Function::CancelState | Function::CancelType) {
            self.set_cancellation(index, function);
            // It may take effect in there.
            if self.scheduling.threads[index].cancellation.asynchronous && self.may_end_here(index) {
                return Ok(Flow::Rest);
            }
        } else if function == Function::Look {
            if self.may_end_here(index) {
                return Ok(Flow::Rest);
            }
        } else if function == Function::TestCancel {
            if !self.tracee.layout.in_libc(caller) && self.test_cancel(index, caller) {
                return Ok(Flow::Rest);
            }
        } else if !self.tracee.layout.in_libc(caller)
            && self.tracee.tasks[index].calling.is_none()
            // What a thread does to itself concerns nobody else.
            && !(function == Function::Kill && self.tracee.tasks[index].argument(0) == self.tracee.tasks[index].handle)
            && let Some(flow) = self.operation(index, function, timed_out, caller)?
        {
            return Ok(flow);
        }
        self.pass_trap(index)?;
        Ok(Flow::Resume(0))
    }

    /// If the thread is back at a wait that a signal handler had interrupted, it goes on waiting.
    fn resume_wait(&mut self, index: Index) -> bool {
        let thread = &mut self.scheduling.threads[index];
        let regs = &self.tracee.tasks[index].regs;
        let at = |wait: &mut InterruptedWait| (wait.rip, wait.rsp) == (regs.rip, regs.rsp);
        let Some(wait) = thread.interrupted.pop_if(at) else { return false };
        thread.pending = Some(wait.pending);
        true
    }

    /// The pending operation that a function is. `None`: it has been accounted for, and the thread may go through.
    fn operation(
        &mut self,
        index: Index,
        function: Function,
        timed_out: u64,
        caller: u64,
    ) -> Result<Option<Flow>, ExecutionError> {
        let only_tries = self.has_invalid_limit(index, function);
        if only_tries && !matches!(function, Function::MutexTimedLock { .. }) {
            return Ok(None);
        }
        let object = self.tracee.tasks[index].argument(0);
        self.learn(index, function, object);
        self.watch_end(index, object)?;
        self.name_synchronisation(index, object);
        self.use_block(index, object);
        if function.is_wait_of_rust() {
            self.use_rust_mutex(index, self.tracee.tasks[index].argument(1));
        }
        if let Some((kind, detail)) = self.misuse(index, function, object) {
            let stack = self.stack(index);
            let failure = self.failure(index, kind, detail, stack);
            self.scheduling.threads[index].stage = Stage::Failed(failure);
            return Ok(Some(Flow::Rest));
        }
        let (mut op, need) = self.describe_call(index, function, object);
        if function.is_cancellation_point() {
            self.depend_on_cancellation(index, &mut op);
        }
        let deadline = if only_tries { None } else { self.deadline(index, function) };
        let act = Act::Function { function, object, timed_out };
        let op = limited(op, &need, deadline);
        let pending = Pending { op, site: Site::default(), need, act, deadline };
        let waits = function.waits_for_signal() || function == Function::BarrierWait;
        let is_scheduled = self.is_scheduled(index) && !self.tracee.layout.is_own_affair(caller, object);
        let is_first = function == Function::Create && !self.in_harness(index);
        if !is_scheduled && !is_first && !waits && self.holds(index, &pending.need) {
            self.carry_out(index, function, object);
            return self.finish_call(index, function);
        }
        let site = self.call_site(index, caller);
        self.scheduling.threads[index].pending = Some(Pending { site, ..pending });
        if function.only_tries() && !self.watch_for_spinning(index, true)? {
            self.end_slice(index);
        }
        Ok(Some(Flow::Rest))
    }

    /// Lets a call that needs no scheduling take place: by its own body, or by its result where that is made up.
    fn finish_call(&mut self, index: Index, function: Function) -> Result<Option<Flow>, ExecutionError> {
        if matches!(function, Function::Signal | Function::Broadcast) {
            self.return_from_call(index, 0)?;
            return Ok(Some(Flow::Resume(0)));
        }
        Ok(None)
    }

    /// Takes note of what an object's own memory says about it, the first time that it is seen.
    fn learn(&mut self, index: Index, function: Function, object: u64) {
        use Function as F;
        match function {
            F::MutexLock | F::MutexTryLock | F::MutexTimedLock { .. }
                if !self.objects.mutexes.contains_key(&object) =>
            {
                let memory = self.mutex_memory(object);
                let mutex = self.objects.mutexes.entry(object).or_default();
                mutex.recursive = memory.recursive();
                mutex.error_checking = memory.error_checking();
                mutex.robust = memory.robust();
            }
            F::BarrierInit => {
                let count = self.tracee.tasks[index].argument(2) as u32;
                self.objects.barriers.entry(object).or_default().count = count;
            }
            F::BarrierWait if !self.objects.barriers.contains_key(&object) => {
                let count = self.number(object + 8, 4) as u32;
                self.objects.barriers.entry(object).or_default().count = count;
            }
            _ => {}
        }
    }

    /// A use of an object that is a failure in itself.
    fn misuse(&self, index: Index, function: Function, object: u64) -> Option<(FailureKind, FailureDetail)> {
        use Function as F;
        let held_by = |owner: Option<Index>| owner.map(|i| self.scheduling.threads[i].name);
        match function {
            F::MutexUnlock => {
                let owner = self.objects.mutexes.get(&object).and_then(|m| m.owner);
                // Others than normal ones say so by their result.
                if owner == Some(index) || self.mutex_memory(object).checks_owner() {
                    return None;
                }
                let detail =
                    FailureDetail::UnlockedNotHeld { mutex: self.object(object, 1), holder: held_by(owner) };
                Some((FailureKind::UnlockNotHeld, detail))
            }
            F::MutexDestroy => {
                let holder = held_by(self.objects.mutexes.get(&object).and_then(|m| m.owner))?;
                let detail = FailureDetail::DestroyedHeld { mutex: self.object(object, 1), holder };
                Some((FailureKind::DestroyedWhileHeld, detail))
            }
            F::CondDestroy => {
                let waiter = self.objects.conds.get(&object)?.waiters.first().copied();
                let condition = self.object(object, 1);
                let detail = FailureDetail::DestroyedWaitedFor { condition, waiter: held_by(waiter)? };
                Some((FailureKind::DestroyedWhileHeld, detail))
            }
            _ => None,
        }
    }

    /// The operation that a call is, and what it needs.
    fn describe_call(&self, index: Index, function: Function, object: u64) -> (Op, Need) {
        use Function as F;
        if let Some(described) = self.describe_writer_preferring(index, function, object) {
            return described;
        }
        let obj = self.object(object, 1);
        let reads = |kind, need| (Op::new(kind, [Access::read(obj)]), need);
        let shares = |kind, need| (Op::new(kind, [Access::share(obj)]), need);
        let writes = |kind, need| (Op::new(kind, [Access::write(obj)]), need);
        let free = Need::Nothing;
        match function {
            F::MutexInit | F::SpinInit | F::CondInit | F::RwInit | F::SemInit | F::BarrierInit => {
                writes(OpKind::Init, free)
            }
            F::MutexDestroy | F::CondDestroy | F::RwDestroy | F::SemDestroy | F::BarrierDestroy => {
                writes(OpKind::Destroy, free)
            }
            F::MutexTimedLock { .. } if self.has_invalid_limit(index, function) => {
                writes(OpKind::TryLock, free)
            }
            F::MutexLock | F::MutexTimedLock { .. } | F::SpinLock | F::RustLock => {
                writes(OpKind::Lock, Need::Mutex(object))
            }
            F::MutexTryLock | F::SpinTryLock => writes(OpKind::TryLock, free),
            F::MutexUnlock | F::SpinUnlock => writes(OpKind::Unlock, free),
            F::CondWait | F::CondTimedWait { .. } | F::RustCondWait | F::RustCondTimedWait => {
                let mutex =
                    self.waits_mutex(self.tracee.tasks[index].argument(1), function.is_wait_of_rust());
                (Op::new(OpKind::CondWait, [Access::write(mutex), Access::read(obj)]), free)
            }
            F::Signal => writes(OpKind::Signal, free),
            F::Broadcast => writes(OpKind::Broadcast, free),
            F::ReadLock | F::ReadTimedLock { .. } | F::RustReadLock => {
                shares(OpKind::ReadLock, Need::ReadLock(object))
            }
            F::ReadTryLock => shares(OpKind::TryReadLock, free),
            F::WriteLock | F::WriteTimedLock { .. } | F::RustWriteLock => {
                writes(OpKind::WriteLock, Need::WriteLock(object))
            }
            F::WriteTryLock => writes(OpKind::TryWriteLock, free),
            F::RwUnlock => self.describe_rw_unlock(index, object, obj),
            F::SemWait | F::SemTimedWait { .. } => writes(OpKind::SemWait, Need::Semaphore(object)),
            F::SemTryWait => writes(OpKind::SemTryWait, free),
            F::SemPost => writes(OpKind::SemPost, free),
            F::SemGetValue => reads(OpKind::Read, free),
            F::BarrierWait => {
                let generation = self.objects.barriers.get(&object).map_or(0, |b| b.generation);
                let access = Access { obj, mode: Mode::Arrive(generation) };
                (Op::new(OpKind::BarrierArrive, [access]), free)
            }
            F::Once | F::GuardAcquire => writes(OpKind::Once, Need::Once(object)),
            F::GuardRelease => writes(OpKind::OnceDone, free),
            F::Cancel | F::Kill => {
                let to = self.tracee.tasks.iter().rposition(|task| task.handle == object);
                (Op::new(OpKind::Kill, [Access::write(self.signals_of(to))]), free)
            }
            F::TestCancel | F::Look | F::CancelState | F::CancelType | F::Panic | F::Test | F::Create => {
                (Op::new(OpKind::Create, []), free)
            }
            F::Join | F::TimedJoin => self.describe_join(object, true),
            F::TryJoin => self.describe_join(object, false),
        }
    }

    /// When the call of a function runs out of time, if it has a limit.
    fn deadline(&self, index: Index, function: Function) -> Option<u64> {
        if function == Function::RustCondTimedWait {
            return Some(self.rust_deadline(index));
        }
        let limit = time_limit(function).map(|i| self.tracee.tasks[index].argument(i));
        limit.and_then(|at| read_timespec(self.tracee.leader, at))
    }

    /// Whether the time limit of a call is no time (POSIX: `EINVAL`). The C library looks at it before anything else, but at
    /// that of a mutex only where it would have to wait.
    pub(crate) fn has_invalid_limit(&self, index: Index, function: Function) -> bool {
        let limit =
            time_limit(function).map(|i| self.tracee.tasks[index].argument(i)).filter(|&limit| limit != 0);
        limit.is_some_and(|limit| !is_valid_timespec(self.tracee.leader, limit))
    }

    fn describe_rw_unlock(&self, index: Index, object: u64, obj: Obj) -> (Op, Need) {
        let writer = self.objects.rwlocks.get(&object).is_some_and(|l| l.writer == Some(index));
        if writer {
            (Op::new(OpKind::WriteUnlock, [Access::write(obj)]), Need::Nothing)
        } else {
            (Op::new(OpKind::ReadUnlock, [Access::share(obj)]), Need::Nothing)
        }
    }

    fn describe_join(&self, handle: u64, waits: bool) -> (Op, Need) {
        let threads = || self.tracee.tasks.iter().zip(&self.scheduling.threads);
        // The latest thread with this handle: the C library uses the memory of ended threads again.
        let joined =
            threads().rposition(|(task, thread)| task.handle == handle && !thread.name.path().is_empty());
        let joined = joined.or_else(|| self.tracee.tasks.iter().position(|task| task.handle == handle));
        let peer = joined.map(|i| self.scheduling.threads[i].name);
        let need = joined.filter(|_| waits).map_or(Need::Nothing, Need::End);
        (Op { peer, ..Op::new(OpKind::Join, []) }, need)
    }

    /// The part of a mutex's memory that locking changes.
    pub(crate) fn mutex_memory(&self, mutex: u64) -> MutexMemory {
        let bytes = self.read(mutex, MutexMemory::LEN);
        MutexMemory::parse(bytes.try_into().unwrap_or([0; MutexMemory::LEN]))
    }
}

/// Which argument of a function is its time limit.
fn time_limit(function: Function) -> Option<usize> {
    use Function as F;
    match function {
        F::MutexTimedLock { limit }
        | F::CondTimedWait { limit }
        | F::ReadTimedLock { limit }
        | F::WriteTimedLock { limit }
        | F::SemTimedWait { limit } => Some(limit),
        F::TimedJoin => Some(2),
        _ => None,
    }
}
