//! Carrying out a pending operation: its effects on the model and on the thread, and the event that it is.

use checker::names::EventId;
use checker::operation::{Access, Effect, Op, OpKind};
use checker::program::{Agent, Choice, Event, ExecutionError, OpOutcome, Scope};
use checker::refusal::ImpossibleChoice;

use crate::control::enabled::Waiter;
use crate::control::kernel::accesses;
use crate::control::kernel::{
    long_writes, made_files, own_numbers, partial_calls, process_exit, signals, timers,
};
use crate::control::loops::time_slices;
use crate::control::memory::blocks::quarantine;
use crate::control::memory::{access, hidden, real_effect, scope};
use crate::control::process::Process;
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, AfterCall, Continuation, Pending, WaitCondition, only_looks};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::{RunState, Thread};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::{
    calls, cancellation, condvars_barriers, entry, futexes, held_objects, lifetimes, rust_condvars, rwlocks,
    stream_locks, thread_end, time_limits, wake_op,
};
use crate::control::tracee::Tracee;
use crate::control::{enabled, expiry, operations, views};
use crate::layout::functions::{TrappedFunction, invalid_argument};

/// A pending operation that is carried out.
#[derive(Clone, Copy)]
struct OperationStep<'a> {
    index: ThreadIndex,
    pending: &'a Pending,
    outcome: OpOutcome,
    /// The event that it becomes.
    id: EventId,
}

impl Process {
    /// Runs one event, and says whose it was.
    pub(crate) fn run(&mut self, choice: Choice) -> Result<(Event, Waiter), ExecutionError> {
        let name = choice.agent.thread();
        if !self.leaves_files_alone(choice) {
            self.tracee.moment += 1;
        }
        if let Some(nth) = expiry::position(&self.scheduling, name) {
            let Self { tracee, scheduling, objects, account, .. } = self;
            let event = expiry::expire(tracee, scheduling, objects, account, nth)?;
            self.memory.sharing.happened(&event);
            return Ok((event, Waiter::Timer(nth)));
        }
        if name.is_client() {
            let event = self.step_of_client()?;
            self.memory.sharing.happened(&event);
            return Ok((event, Waiter::Client));
        }
        let index = self.scheduling.threads.position(|thread| thread.name == name);
        let index = index.ok_or(ImpossibleChoice::NoAgent(choice.agent))?;
        let event = match choice.agent {
            Agent::Thread(_) => self.perform(index, choice.outcome)?,
            Agent::Timeout(_) => self.time_out(index)?,
            Agent::Flush(_) => return Err(ImpossibleChoice::NoStoreBuffer(choice.agent).into()),
        };
        self.settle_client()?;
        Ok((event, Waiter::Thread(index)))
    }

    /// Whether a choice changes no file, unless its thread stops for that.
    fn leaves_files_alone(&self, choice: Choice) -> bool {
        let Agent::Thread(name) = choice.agent else { return false };
        let thread = self.scheduling.threads.iter().find(|thread| thread.name == name);
        let is_told = |thread: &&Thread| !thread.signalled && !thread.cancellation.is_due();
        let pending = thread.filter(is_told).and_then(|thread| thread.pending.as_ref());
        pending.is_some_and(|pending| pending.action.leaves_files_alone())
    }

    /// Runs a thread's pending operation, and then the thread to its next one.
    fn perform(&mut self, index: ThreadIndex, outcome: OpOutcome) -> Result<Event, ExecutionError> {
        let agent = Agent::Thread(self.scheduling.threads[index].name);
        let pending = self.scheduling.threads[index].pending.take();
        let mut pending = pending.ok_or(ImpossibleChoice::NoOperation(agent))?;
        cancellation::tell_of_cancelled_wait(
            &self.tracee,
            &self.scheduling,
            &self.memory,
            &pending.action,
            &mut pending.op.may,
        );
        self.memory.let_go = true;
        let id = begin_event(&mut self.scheduling, &self.memory, &mut self.account, index);
        let woken_by = self.scheduling.threads[index].woken_by.take();
        let interruption =
            views::interruption(&self.tracee, &self.scheduling, &self.objects, &self.memory, index, &pending);
        let timing = match pending.action {
            Action::Sleep(until) => Some(enabled::timing(
                &self.tracee,
                &self.scheduling,
                &self.objects,
                Waiter::Thread(index),
                until,
            )),
            _ => None,
        };
        // The handler of a signal runs when the thread goes on, however it does.
        self.scheduling.threads[index].signalled = false;
        if let Some((interrupt, op)) = interruption {
            return self.interrupt(index, interrupt, op, pending, id);
        }
        let (tracee, scheduling, memory) = (&self.tracee, &self.scheduling, &self.memory);
        let misuse = quarantine::use_of_freed(tracee, scheduling, memory, &mut self.account, index, &pending)
            .or_else(|| {
                lifetimes::use_of_destroyed(tracee, scheduling, &self.objects, memory, index, &pending)
            });
        if let Some(failure) = misuse {
            self.scheduling.threads[index].run_state = RunState::Failed(failure);
            let Pending { op, site, .. } = pending;
            return Ok(Event { id, did: op.may.clone(), op, outcome, site, woken_by, timing: None });
        }
        let timers = self.scheduling.timers.len();
        let listens = kernel_call(&self.tracee, index, &pending, libc::SYS_listen);
        hidden::go_on(&self.scheduling, &mut self.memory, index, pending.op.kind);
        let mutex = pending.mutex();
        let held = mutex.map(|at| self.objects.holds_mutex(index, at));
        let (did, next) = self.carry_out_action(OperationStep { index, pending: &pending, outcome, id })?;
        let changes_hands = mutex.is_none() || held != mutex.map(|at| self.objects.holds_mutex(index, at));
        self.scheduling.threads[index].drained = changes_hands && pending.releases_mutex();
        if self.memory.scope == Scope::Audit && pending.leaves_store_buffer(changes_hands) {
            self.account.store_buffers.left_by.push(id);
        }
        self.scheduling.keep_time(index, &did);
        self.scheduling.threads[index].note_event(pending.op.kind, &did);
        self.scheduling.threads[index].note_writes(&did);
        time_slices::note_look(&self.tracee, &mut self.scheduling, index, &pending, did == pending.op.may);
        let mut event = Event { id, op: pending.op, did, outcome, site: pending.site, woken_by, timing };
        event.op.peer = event.op.peer.or(self.scheduling.timers.get(timers).map(|timer| timer.name));
        let children = self.scheduling.threads[index].children;
        for effect in [&mut event.op.may, &mut event.did] {
            operations::tell_of_signals(&self.tracee, &self.scheduling, index, effect);
        }
        self.memory.let_go = scope::may_let_go(&self.scheduling, &self.memory, index, event.op.kind);
        let is_access =
            matches!(pending.action, Action::Access | Action::SplitRead { .. } | Action::SplitWrite { .. });
        self.scheduling.accesses += u64::from(is_access);
        self.happened(index, &event);
        self.go_on(index, next)?;
        self.scheduling.threads[index].spinning.updating = None;
        listens.into_iter().for_each(|descriptor| self.note_listening(descriptor));
        if event.op.kind == OpKind::Create && self.scheduling.threads[index].children > children {
            event.op.peer = self.scheduling.threads[index].name.child(children + 1);
        }
        Ok(event)
    }

    pub(crate) fn go_on(&mut self, index: ThreadIndex, next: Continuation) -> Result<(), ExecutionError> {
        match next {
            Continuation::Stay(pending) => {
                self.scheduling.threads[index].pending = Some(*pending);
                return Ok(());
            }
            Continuation::Pass => self.tracee.pass_trap(index)?,
            Continuation::Return(value) => self.tracee.return_from_call(index, value)?,
            Continuation::Jump(function) => self.tracee.jump(index, function)?,
            Continuation::Call(call) => self.tracee.begin_call(index, *call)?,
            Continuation::Answer(value) => self.tracee.answer(index, value)?,
            Continuation::Again => self.tracee.repeat_call(index)?,
            Continuation::End if index.is_main() => {
                return process_exit::leave_process(
                    &mut self.tracee,
                    &mut self.scheduling,
                    &mut self.objects,
                    &self.account,
                );
            }
            Continuation::End => {}
            Continuation::Handle => self.tracee.write_registers(index)?,
            Continuation::Kernel => {
                self.tracee.write_registers(index)?;
                let Self { tracee, scheduling, objects, memory, .. } = self;
                accesses::shared_files::note_call(tracee, memory, index);
                long_writes::carry_out_part(tracee, index)?;
                made_files::pass(tracee, index)?;
                own_numbers::pass_with_numbers(tracee, scheduling, index)?;
                if partial_calls::waits_in_vain(tracee, scheduling, objects, index)? {
                    return Ok(());
                }
            }
        }
        self.advance(index)
    }

    fn carry_out_action(
        &mut self,
        step: OperationStep<'_>,
    ) -> Result<(Effect, Continuation), ExecutionError> {
        let OperationStep { index, pending, outcome, id } = step;
        let all = pending.op.may.clone();
        let Self { tracee, scheduling, objects, memory, account } = self;
        Ok(match &pending.action {
            Action::Function { function, object, timed_out } => {
                return self.call(step, *function, *object, *timed_out);
            }
            Action::Reacquire { mutex, result, of_rust: true, .. } => {
                (all, rust_condvars::take_mutex(tracee, objects, index, *mutex, *result))
            }
            Action::Reacquire { mutex, result, .. } => (
                all,
                condvars_barriers::take_mutex(tracee, objects, index, *mutex, AfterCall::Return(*result))?,
            ),
            Action::TestCancel { mutex } => (
                all,
                condvars_barriers::take_mutex(
                    tracee,
                    objects,
                    index,
                    *mutex,
                    AfterCall::Jump(tracee.layout.test_cancel),
                )?,
            ),
            Action::LeaveBarrier { result } => (all, Continuation::Return(*result)),
            Action::Access => {
                quarantine::note_comparison(tracee, memory, account, index);
                held_objects::note_access(tracee, objects, memory, account, index);
                match access::reaches_further(tracee, scheduling, (memory, account), index, pending) {
                    Some(again) => (only_looks(&all), Continuation::Stay(Box::new(again))),
                    None => (real_effect::access_effect(tracee, index, pending), Continuation::Pass),
                }
            }
            Action::RustMutex { what, addr } => {
                rust_condvars::hold_mutex(objects, index, *what, *addr);
                (all, Continuation::Pass)
            }
            Action::SplitRead { addr, len } => {
                let value = tracee.read(*addr, *len);
                let mut op = Op::new(OpKind::Write, all.accesses.iter().map(|a| Access::write(a.obj)));
                (op.atomicity, op.divisibility) = (pending.op.atomicity, pending.op.divisibility);
                let action = Action::SplitWrite { addr: *addr, value, read_at: scheduling.events };
                let write = Pending {
                    op,
                    site: pending.site,
                    condition: WaitCondition::Nothing,
                    action,
                    deadline: None,
                };
                (all, Continuation::Stay(Box::new(write)))
            }
            Action::SplitWrite { addr, value, read_at } => {
                // The value that was read still stands there if nothing ran in between.
                if scheduling.events != read_at + 1 {
                    tracee.write(*addr, value);
                }
                (all, Continuation::Pass)
            }
            Action::Answer(value) => (all, Continuation::Answer(*value)),
            Action::MakeUp => {
                let answer = own_numbers::made_up(tracee, scheduling, index);
                (all, Continuation::Answer(answer.unwrap_or(-i64::from(libc::ENOSYS))))
            }
            Action::TellOwner => {
                (all, Continuation::Answer(own_numbers::owner_of_file(tracee, scheduling, index)))
            }
            Action::Get(kind) => {
                (all, Continuation::Answer(objects.system_v.get(*kind, &tracee.tasks[index].regs)))
            }
            Action::GoOn => (all, Continuation::Handle),
            Action::Library { .. } => (all, Continuation::Pass),
            Action::TryStream(lock) => {
                let succeeds = stream_locks::is_free(tracee, scheduling, index, *lock);
                (if succeeds { all } else { only_looks(&all) }, Continuation::Pass)
            }
            Action::Kernel
                if matches!(pending.condition, WaitCondition::PiFutex(at)
                    if enabled::closes_pi_cycle(tracee, scheduling, index, at)) =>
            {
                (only_looks(&all), Continuation::Answer(-i64::from(libc::EDEADLK)))
            }
            Action::Kernel | Action::Try(_) => {
                if let WaitCondition::SystemV(wait) = &pending.condition {
                    objects.system_v.carry_out(wait);
                }
                (all, Continuation::Kernel)
            }
            Action::FutexWait { futex, value, kinds } => {
                futexes::wait(tracee, objects, index, pending, *futex, (*value, *kinds))
            }
            Action::FutexResume { result, .. } => (all, Continuation::Answer(*result)),
            Action::FutexWake { futex, count, kinds } => {
                let woken = futexes::wake(scheduling, objects, *futex, *kinds, *count, outcome, Some(id));
                let is_for_others = futexes::is_for_others(tracee, woken);
                (all, if is_for_others { Continuation::Kernel } else { Continuation::Answer(woken) })
            }
            Action::FutexRequeue(requeue) => {
                futexes::requeue(tracee, scheduling, objects, pending, *requeue, outcome, id)
            }
            Action::FutexWakeOp(call) => {
                wake_op::carry_out(tracee, scheduling, objects, pending, *call, (outcome, id))
            }
            Action::End(mutexes) => {
                let (end, kind) = ((index, &**mutexes), (outcome, id));
                (all, thread_end::carry_out(tracee, scheduling, objects, memory, end, pending.site, kind))
            }
            Action::AwaitSignal(awaited) => {
                (all, signals::waits::enter_signal_wait(tracee, index, pending, *awaited))
            }
            Action::Send { to, signal } => {
                if to.is_none() {
                    tracee.stop_parked()?;
                }
                signals::waits::interrupt_waiting(tracee, scheduling, account, *to, *signal);
                (all, Continuation::Kernel)
            }
            Action::Timer => {
                let answer = timers::carry_out(tracee, scheduling, memory, index, pending.site)?;
                (all, timers::go_on(tracee, index, pending, answer))
            }
            Action::TimerFile => {
                timers::make_file(tracee, scheduling, index)?;
                (all, Continuation::Kernel)
            }
            Action::OnceDone(addr) => {
                objects.onces.remove(addr);
                (all, Continuation::Answer(0))
            }
            Action::Free(block) => {
                (all, quarantine::free(tracee, scheduling, memory, account, index, *block)?)
            }
            Action::Resize(block) => {
                (all, quarantine::resize(tracee, scheduling, memory, account, index, *block)?)
            }
            Action::EndOfSlice(next) => (all, Continuation::Stay(next.clone())),
            Action::Sleep(until) => {
                let virtual_system = &mut scheduling.threads[index].virtual_system;
                virtual_system.now = virtual_system.now.max(*until);
                (all, Continuation::Answer(0))
            }
        })
    }

    /// Carries out a call of a thread function.
    fn call(
        &mut self,
        step: OperationStep<'_>,
        function: TrappedFunction,
        object: u64,
        timed_out: u64,
    ) -> Result<(Effect, Continuation), ExecutionError> {
        let OperationStep { index, pending, outcome, id } = step;
        let all = pending.op.may.clone();
        let takes = !function.only_tries();
        if takes && matches!(pending.op.kind, OpKind::Await | OpKind::CompareExchange) {
            return Ok(rwlocks::take(self, index, pending, function, object));
        }
        let Self { tracee, scheduling, objects, memory, account } = self;
        Ok(match function {
            _ if function.waits_for_signal() => (
                all,
                condvars_barriers::enqueue(
                    tracee,
                    scheduling,
                    objects,
                    memory,
                    (index, function),
                    (object, timed_out),
                    pending,
                ),
            ),
            TrappedFunction::Signal => {
                condvars_barriers::signal(scheduling, objects, object, outcome, id);
                (all, Continuation::Return(0))
            }
            TrappedFunction::Broadcast => {
                while condvars_barriers::signal(scheduling, objects, object, OpOutcome::Only, id) {}
                (all, Continuation::Return(0))
            }
            TrappedFunction::BarrierWait => {
                (all, condvars_barriers::arrive(scheduling, objects, index, object, pending))
            }
            TrappedFunction::Create => {
                access::begin_concurrency(tracee, memory)?;
                (all, Continuation::Pass)
            }
            TrappedFunction::Join | TrappedFunction::TimedJoin { .. } => {
                if let WaitCondition::End(ended) = pending.condition {
                    memory.sharing.joined(index, ended);
                    scheduling.join_clock(index, ended);
                }
                let next = match entry::result(tracee, memory, index, function) {
                    Some(store) => {
                        let op = Op::new(OpKind::Write, [store]);
                        let action = Action::Library { takes_lock: false };
                        let condition = WaitCondition::Nothing;
                        let store = Pending { op, site: pending.site, condition, action, deadline: None };
                        Continuation::Stay(Box::new(store))
                    }
                    None => Continuation::Pass,
                };
                (all, next)
            }
            TrappedFunction::MutexTimedLock { .. }
                if time_limits::fails_by_limit(tracee, objects, index, function, object) =>
            {
                (only_looks(&all), Continuation::Return(invalid_argument(timed_out)))
            }
            _ if rwlocks::fails_behind_writer(tracee, objects, function, object) => {
                (only_looks(&all), Continuation::Return(libc::EBUSY as u64))
            }
            _ => {
                let succeeded = calls::carry_out(tracee, scheduling, objects, index, function, object);
                condvars_barriers::reach_out(
                    tracee,
                    scheduling,
                    objects,
                    account,
                    index,
                    (function, object),
                    id,
                );
                let did = if succeeded { all } else { only_looks(&all) };
                (did, Continuation::Pass)
            }
        })
    }
}

/// Counts an event of a thread.
pub(crate) fn begin_event(
    scheduling: &mut Scheduling,
    memory: &MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> EventId {
    let id = scheduling.threads[index].next_event();
    scheduling.note_begun(index);
    if std::mem::take(&mut scheduling.threads[index].drained) && memory.scope == Scope::Audit {
        account.store_buffers.emptied_before.push(id);
    }
    scheduling.threads[index].events += 1;
    scheduling.threads[index].wrote.clear();
    scheduling.events += 1;
    id
}

/// The first argument of the call at which a thread stands, if it is this one and the kernel is to carry it out.
fn kernel_call(tracee: &Tracee, index: ThreadIndex, pending: &Pending, call: i64) -> Option<i32> {
    let regs = &tracee.tasks[index].regs;
    let is_call = matches!(pending.action, Action::Kernel | Action::Try(_)) && regs.orig_rax as i64 == call;
    is_call.then_some(regs.rdi as i32)
}
