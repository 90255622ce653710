//! Carrying out a pending operation: what it does to the model, to the thread, and as an event.

use checker::names::EventId;
use checker::operation::{Access, Effect, Op, OpKind};
use checker::program::{Event, ExecutionError, Pick, Scope};

use crate::control::injected_calls::{After, Call};
use crate::control::process::Process;
use crate::control::sync::condvars_barriers::dequeue;
use crate::control::sync::functions::{Function, invalid_argument};
use crate::control::sync::objects::Index;
use crate::control::thread::{Act, Need, Pending, Stage};
use crate::instructions::Kind;
use crate::os::memory;

/// How a thread goes on after its operation.
pub(crate) enum Next {
    /// Through the instruction at which it stands.
    Pass,
    /// Out of the function at whose entry it stands, with this result.
    Return(u64),
    /// Into another function in place of the one at whose entry it stands.
    Jump(u64),
    /// As it stands: a signal is waiting for it.
    Handle,
    /// Out of the system call at which it stands, with this result.
    Answer(i64),
    /// Into the system call at which it stands.
    Kernel,
    /// Out of the process, at whose exit it stands.
    End,
    /// To the system call at which it stands, once more.
    Again,
    /// Not yet: this comes first.
    Stay(Box<Pending>),
    /// Through another function, and then on.
    Call(Box<Call>),
}

/// A pending operation that is carried out.
#[derive(Clone, Copy)]
struct Turn<'a> {
    index: Index,
    pending: &'a Pending,
    pick: Pick,
    /// The event that it becomes.
    id: EventId,
}

impl Process {
    /// Runs a thread's pending operation, and then the thread to its next one.
    pub(crate) fn perform(&mut self, index: Index, pick: Pick) -> Result<Event, ExecutionError> {
        let mut pending = self.threads[index]
            .pending
            .take()
            .ok_or_else(|| ExecutionError::Impossible("the thread has nothing left to do".to_owned()))?;
        self.tell_of_cancelled_wait(&pending.act, &mut pending.op.may);
        self.let_go = true;
        let id = self.begin_event(index);
        let woken_by = self.threads[index].woken_by.take();
        let interruption = self.interruption(index, &pending);
        let timing = match pending.act {
            Act::Sleep(until) => Some(self.timing(index, until)),
            _ => None,
        };
        // The handler of a signal runs when the thread goes on, however it does.
        self.threads[index].signalled = false;
        if let Some((interrupt, op)) = interruption {
            return self.interrupt(index, interrupt, op, pending, id);
        }
        let misuse = self.use_of_freed(index, &pending).or_else(|| self.use_of_destroyed(index, &pending));
        if let Some(failure) = misuse {
            self.threads[index].stage = Stage::Failed(failure);
            let Pending { op, site, .. } = pending;
            return Ok(Event { id, did: op.may.clone(), op, pick, site, woken_by, timing: None });
        }
        let (did, next) = self.carry_out_act(Turn { index, pending: &pending, pick, id })?;
        self.threads[index].drained = pending.releases_mutex();
        self.keep_time(index, &did);
        self.threads[index].note_event(pending.op.kind, &did);
        self.threads[index].note_writes(&did);
        self.note_look(index, &pending, did == pending.op.may);
        let mut event = Event { id, op: pending.op, did, pick, site: pending.site, woken_by, timing };
        let children = self.threads[index].children;
        for effect in [&mut event.op.may, &mut event.did] {
            self.tell_of_signals(index, effect);
        }
        self.let_go = self.may_let_go(index, event.op.kind);
        self.go_on(index, next)?;
        if event.op.kind == OpKind::Create && self.threads[index].children > children {
            event.op.peer = self.threads[index].name.child(children + 1);
        }
        Ok(event)
    }

    /// Lets an open timed wait run out of time.
    pub(crate) fn time_out(&mut self, index: Index) -> Result<Event, ExecutionError> {
        let nothing = || ExecutionError::Impossible("no timed wait is open".to_owned());
        let mut pending = self.threads[index].pending.take().ok_or_else(nothing)?;
        let deadline = pending.deadline.take().ok_or_else(nothing)?;
        self.let_go = true;
        let timing = Some(self.timing(index, deadline));
        let mut op = self.timeout_op(&pending);
        let id = self.begin_event(index);
        self.threads[index].world.now = self.threads[index].world.now.max(deadline);
        let site = pending.site;
        let next = match (&pending.act, &pending.need) {
            (Act::Reacquire { cond, .. }, Need::Signal(_)) => {
                dequeue(self.objects.conds.get_mut(cond), index);
                pending.wants_mutex(Some(self.threads[index].timeout_result));
                Next::Stay(Box::new(pending))
            }
            (Act::FutexResume { addr, .. }, _) => {
                dequeue(self.objects.futexes.get_mut(addr), index);
                Next::Answer(-i64::from(libc::ETIMEDOUT))
            }
            (Act::Kernel, Need::PiFutex(_)) => Next::Answer(-i64::from(libc::ETIMEDOUT)),
            (Act::Kernel, _) => {
                self.expire_call(index);
                Next::Kernel
            }
            // The function's own body finds out at once that there is nothing to be had, and what that is called.
            _ => match self.give_up_rwlock(index, &pending.act) {
                Some(result) => Next::Return(result),
                None => {
                    self.threads[index].times_out = true;
                    Next::Pass
                }
            },
        };
        self.tell_of_signals(index, &mut op.may);
        let did = op.may.clone();
        self.keep_time(index, &did);
        self.go_on(index, next)?;
        Ok(Event { id, op, did, pick: Pick::Only, site, woken_by: None, timing })
    }

    /// Counts an event of a thread.
    fn begin_event(&mut self, index: Index) -> EventId {
        let id = self.threads[index].next_event();
        self.note_begun(index);
        if std::mem::take(&mut self.threads[index].drained) && self.scope == Scope::Audit {
            self.drained.push(id);
        }
        self.threads[index].events += 1;
        self.threads[index].wrote.clear();
        self.events += 1;
        id
    }

    pub(super) fn go_on(&mut self, index: Index, next: Next) -> Result<(), ExecutionError> {
        match next {
            Next::Stay(pending) => {
                self.threads[index].pending = Some(*pending);
                return Ok(());
            }
            Next::Pass => self.pass_trap(index)?,
            Next::Return(value) => self.return_from_call(index, value)?,
            Next::Jump(function) => self.jump(index, function)?,
            Next::Call(call) => self.begin_call(index, *call)?,
            Next::Answer(value) => self.answer(index, value)?,
            Next::Again => self.repeat_call(index)?,
            Next::End if index == 0 => return self.leave_process(),
            Next::End => {}
            Next::Kernel | Next::Handle => self.write_registers(index)?,
        }
        self.advance(index)
    }

    /// Makes a thread go on at another function's entry, past the trap that may be there.
    pub(super) fn jump(&mut self, index: Index, function: u64) -> Result<(), ExecutionError> {
        self.threads[index].regs.rip = function;
        self.write_registers(index)?;
        if self.layout.traps.contains_key(&function) { self.pass_trap(index) } else { Ok(()) }
    }

    /// Makes the function at whose entry a thread stands return.
    pub(crate) fn return_from_call(&mut self, index: Index, value: u64) -> Result<(), ExecutionError> {
        let back = self.number(self.threads[index].regs.rsp, 8);
        let regs = &mut self.threads[index].regs;
        regs.rax = value;
        regs.rip = back;
        regs.rsp += 8;
        self.write_registers(index)
    }

    /// Makes the system call at which a thread stands return without being carried out.
    pub(crate) fn answer(&mut self, index: Index, value: i64) -> Result<(), ExecutionError> {
        let regs = &mut self.threads[index].regs;
        regs.orig_rax = u64::MAX;
        regs.rax = value as u64;
        self.write_registers(index)
    }

    fn carry_out_act(&mut self, turn: Turn<'_>) -> Result<(Effect, Next), ExecutionError> {
        let Turn { index, pending, pick, id } = turn;
        let all = pending.op.may.clone();
        Ok(match &pending.act {
            Act::Function { function, object, timed_out } => {
                return self.call(turn, *function, *object, *timed_out);
            }
            Act::Reacquire { mutex, result, of_rust: true, .. } => {
                (all, self.take_rust_mutex(index, *mutex, *result))
            }
            Act::Reacquire { mutex, result, .. } => {
                (all, self.take_mutex(index, *mutex, After::Return(*result))?)
            }
            Act::TestCancel { mutex } => {
                (all, self.take_mutex(index, *mutex, After::Jump(self.layout.test_cancel))?)
            }
            Act::LeaveBarrier { result } => (all, Next::Return(*result)),
            Act::Access => match self.reaches_further(index, pending) {
                Some(again) => (only_looks(&all), Next::Stay(Box::new(again))),
                None => (self.access_effect(index, pending), Next::Pass),
            },
            Act::RustMutex { what, addr } => {
                self.hold_rust_mutex(index, *what, *addr);
                (all, Next::Pass)
            }
            Act::SplitRead { addr, len } => {
                let value = self.read(*addr, *len);
                let mut op = Op::new(OpKind::Write, all.accesses.iter().map(|a| Access::write(a.obj)));
                (op.atomicity, op.in_steps) = (pending.op.atomicity, pending.op.in_steps);
                let act = Act::SplitWrite { addr: *addr, value, read_at: self.events };
                let write = Pending { op, site: pending.site, need: Need::Nothing, act, deadline: None };
                (all, Next::Stay(Box::new(write)))
            }
            Act::SplitWrite { addr, value, read_at } => {
                // Where nothing ran in between, what was read still stands there.
                if self.events != read_at + 1 {
                    memory::write(self.leader, *addr, value);
                }
                (all, Next::Pass)
            }
            Act::Answer(value) => (all, Next::Answer(*value)),
            Act::ReadClock => {
                let thread = &mut self.threads[index];
                let answer = thread.world.answer(thread.tid, &thread.regs);
                (all, Next::Answer(answer.unwrap_or(-i64::from(libc::ENOSYS))))
            }
            Act::Kernel | Act::Try(_) => (all, Next::Kernel),
            Act::FutexWait { addr, value } => self.futex_wait(index, pending, *addr, *value),
            Act::FutexResume { result, .. } => (all, Next::Answer(*result)),
            Act::FutexWake { addr, count } => {
                let woken = self.futex_wake(*addr, *count, pick, Some(id));
                (all, Next::Answer(woken))
            }
            Act::FutexRequeue(requeue) => self.futex_requeue(pending, *requeue, pick, id),
            Act::Leave(mutexes) => (all, self.leave_next(mutexes, pending.site, pick, id)),
            Act::AwaitSignal(awaited) => (all, self.enter_signal_wait(index, pending, *awaited)),
            Act::Send { to, signal } => {
                self.interrupt_waiting(*to, *signal);
                (all, Next::Kernel)
            }
            Act::OnceDone(addr) => {
                self.objects.onces.remove(addr);
                (all, Next::Answer(0))
            }
            Act::Free(block) => (all, self.free(index, *block)?),
            Act::Resize(block) => (all, self.resize(index, *block)?),
            Act::EndOfSlice(next) => (all, Next::Stay(next.clone())),
            Act::Sleep(until) => {
                let world = &mut self.threads[index].world;
                world.now = world.now.max(*until);
                (all, Next::Answer(0))
            }
        })
    }

    /// Carries out a call of a thread function.
    fn call(
        &mut self,
        turn: Turn<'_>,
        function: Function,
        object: u64,
        timed_out: u64,
    ) -> Result<(Effect, Next), ExecutionError> {
        let Turn { index, pending, pick, id } = turn;
        let all = pending.op.may.clone();
        let takes = !function.only_tries();
        if takes && matches!(pending.op.kind, OpKind::Await | OpKind::CompareExchange) {
            return Ok(self.take_rwlock(index, pending, function, object));
        }
        Ok(match function {
            _ if function.waits_for_signal() => {
                (all, self.enqueue((index, function), object, timed_out, pending))
            }
            Function::Signal => {
                self.signal(object, pick, id);
                (all, Next::Return(0))
            }
            Function::Broadcast => {
                while self.signal(object, Pick::Only, id) {}
                (all, Next::Return(0))
            }
            Function::BarrierWait => (all, self.arrive(index, object, pending)),
            Function::Create => {
                self.begin_concurrency()?;
                (all, Next::Pass)
            }
            Function::Join | Function::TimedJoin => {
                if let Need::End(ended) = pending.need {
                    self.sharing.joined(index, ended);
                    self.join_clock(index, ended);
                }
                (all, Next::Pass)
            }
            Function::MutexTimedLock { .. } if self.fails_by_limit(index, function, object) => {
                (only_looks(&all), Next::Return(invalid_argument(timed_out)))
            }
            _ if self.fails_behind_writer(function, object) => {
                (only_looks(&all), Next::Return(libc::EBUSY as u64))
            }
            _ => {
                let succeeded = self.carry_out(index, function, object);
                self.reach_out(index, function, object, id);
                let did = if succeeded { all } else { only_looks(&all) };
                (did, Next::Pass)
            }
        })
    }

    /// What a function does to the model. `false`: it only looks.
    pub(crate) fn carry_out(&mut self, index: Index, function: Function, object: u64) -> bool {
        use Function as F;
        self.note_life(index, function, object);
        let objects = &mut self.objects;
        match function {
            F::MutexInit | F::MutexDestroy | F::SpinInit => {
                objects.mutexes.remove(&object);
            }
            F::MutexLock | F::MutexTryLock | F::MutexTimedLock { .. } | F::SpinLock | F::SpinTryLock => {
                return self.lock_mutex(index, object);
            }
            F::MutexUnlock => {
                let mutex = objects.mutexes.entry(object).or_default();
                if mutex.owner != Some(index) {
                    return false;
                }
                mutex.unlock();
            }
            F::SpinUnlock => objects.mutexes.entry(object).or_default().unlock(),
            F::CondInit => {
                objects.conds.remove(&object);
            }
            F::RwInit => {
                objects.rwlocks.remove(&object);
            }
            F::ReadLock | F::ReadTimedLock { .. } | F::ReadTryLock => {
                let lock = objects.rwlocks.entry(object).or_default();
                if !lock.can_read() {
                    return false;
                }
                lock.readers.push(index);
            }
            F::WriteLock | F::WriteTimedLock { .. } | F::WriteTryLock => {
                let lock = objects.rwlocks.entry(object).or_default();
                if !lock.can_write() {
                    return false;
                }
                lock.writer = Some(index);
                lock.queue.retain(|&writer| writer != index);
            }
            F::RwUnlock => {
                let lock = objects.rwlocks.entry(object).or_default();
                if lock.writer == Some(index) {
                    lock.writer = None;
                } else if let Some(at) = lock.readers.iter().position(|&r| r == index) {
                    lock.readers.swap_remove(at);
                }
            }
            F::TestCancel | F::Look => {
                let cancellation = &mut self.threads[index].cancellation;
                cancellation.acts |= cancellation.is_due();
            }
            F::SemTryWait => return self.number(object, 4) as u32 > 0,
            F::Once | F::GuardAcquire => return self.enter_once(index, function, object),
            F::GuardRelease => {
                objects.onces.remove(&object);
            }
            _ => {}
        }
        true
    }

    /// Takes a mutex, if its lock operation succeeds; says whether it does.
    pub(super) fn lock_mutex(&mut self, index: Index, at: u64) -> bool {
        let mutex = self.objects.mutexes.entry(at).or_default();
        if mutex.robust && self.mutex_memory(at).is_lost() {
            return false;
        }
        self.objects.mutexes.entry(at).or_default().lock(index)
    }

    /// Enters a once-initialisation: `true` if this thread is the one that runs the initialiser.
    fn enter_once(&mut self, index: Index, function: Function, object: u64) -> bool {
        let done = match function {
            Function::GuardAcquire => self.number(object, 1) == 1,
            _ => self.number(object, 4) & 2 != 0,
        };
        if !done {
            self.objects.onces.entry(object).or_default().runner = Some(index);
        }
        !done
    }

    /// What an instruction really does: a compare-and-swap that will fail only reads.
    fn access_effect(&self, index: Index, pending: &Pending) -> Effect {
        let all = pending.op.may.clone();
        if pending.op.kind != OpKind::CompareExchange {
            return all;
        }
        let regs = &self.threads[index].regs;
        let Some(candidate) = self.candidate_at(regs.rip).filter(|c| c.kind == Kind::CompareExchange) else {
            return all;
        };
        let accesses = candidate.accesses(regs);
        let current = accesses.first().map(|a| self.wide_number(a.addr, a.len as usize));
        match current {
            Some(current) if !candidate.will_succeed(regs, current) => only_looks(&all),
            _ => all,
        }
    }

    fn wide_number(&self, addr: u64, len: usize) -> u128 {
        let mut bytes = [0; 16];
        let read = self.read(addr, len.min(16));
        bytes[..read.len()].copy_from_slice(&read);
        u128::from_le_bytes(bytes)
    }
}

/// The effect of an operation that could not have what it wanted.
pub(super) fn only_looks(all: &Effect) -> Effect {
    Effect::on(all.accesses.iter().map(|access| Access::read(access.obj)))
}
