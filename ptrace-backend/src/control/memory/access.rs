//! Instructions that touch memory, at which a thread stands.

use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::Obj;
use checker::operation::{Access, Divisibility, Mode, Op, OpKind};
use checker::program::{ExecutionError, Scope};
use smallvec::SmallVec;

use crate::control::knowledge::status::Status;
use crate::control::knowledge::unobserved::UnobservedAccess;
use crate::control::loops::spin;
use crate::control::memory::blocks::{heap, quarantine};
use crate::control::memory::naming::MemoryRegion;
use crate::control::memory::{
    atomicity, detour_traps, exit_handler_traps, exposure, hidden, scope, unwatched_uses,
};
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::machine::accesses_of;
use crate::control::tracee::{Tracee, probes, stacks};
use crate::error::{SystemAction, system};
use crate::instructions::detour::access_logging::LoggedOperand;
use crate::instructions::detour::log::WIDEST;
use crate::instructions::{AccessKind, Accesses, Candidate, MemoryAccess};
use crate::layout::TrapKind;
use crate::layout::rust_locks::RustMutex;

impl MemoryState {
    /// The accesses that touch shared memory. The others touch memory that is shared with no other thread.
    pub(crate) fn shared_among(&self, accesses: &[MemoryAccess]) -> Accesses {
        let is_shared =
            |access: &&MemoryAccess| self.knowledge.is_shared(self.object(access.addr, access.len));
        accesses.iter().filter(is_shared).copied().collect()
    }

    /// An access by the name of its memory.
    pub(crate) fn named_access(&self, access: &MemoryAccess) -> Access {
        let obj = self.object(access.addr, access.len);
        if access.write { Access::write(obj) } else { Access::read(obj) }
    }

    fn describe_access(&self, instruction: &Candidate, accesses: &[MemoryAccess]) -> Pending {
        let named = accesses.iter().map(|access| self.named_access(access));
        let writes = accesses.iter().any(|access| access.write);
        let (kind, action) = match (instruction.kind, accesses) {
            (AccessKind::LockedUpdate, _) => (OpKind::Update, Action::Access),
            (AccessKind::CompareExchange, _) => (OpKind::CompareExchange, Action::Access),
            (AccessKind::SplitUpdate, &[access]) if access.read && access.write => {
                return self.describe_split(instruction, access);
            }
            (AccessKind::SplitUpdate, _) => (OpKind::Update, Action::Access),
            _ if writes => (OpKind::Write, Action::Access),
            _ => (OpKind::Read, Action::Access),
        };
        let site = self.layout.site(instruction.addr);
        let mut op = self.access_op(kind, instruction, named);
        op.divisibility = Divisibility::divisible_if(!instruction.is_one_step(accesses));
        Pending { op, site, condition: WaitCondition::Nothing, action, deadline: None }
    }

    fn access_op(
        &self,
        kind: OpKind,
        instruction: &Candidate,
        accesses: impl IntoIterator<Item = Access>,
    ) -> Op {
        let mut op = Op::new(kind, accesses);
        op.atomicity = atomicity::atomicity(self, instruction.addr, &op.may.accesses);
        op
    }

    /// The read of an instruction that reads and then writes.
    fn describe_split(&self, instruction: &Candidate, access: MemoryAccess) -> Pending {
        let obj = self.object(access.addr, access.len);
        let mut op = self.access_op(OpKind::Read, instruction, [Access::read(obj)]);
        op.divisibility = Divisibility::divisible_if(!instruction.is_one_step(&[access]));
        Pending {
            op,
            site: self.layout.site(instruction.addr),
            condition: WaitCondition::Nothing,
            action: Action::SplitRead { addr: access.addr, len: access.len as usize },
            deadline: None,
        }
    }
}

/// Either makes the access the thread's pending operation, or lets the thread through at once.
pub(crate) fn enter(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    candidate: usize,
) -> Result<Flow, ExecutionError> {
    detour_traps::count_trap(tracee)?;
    if tracee.in_harness(index) {
        tracee.pass_trap(index)?;
        return Ok(Flow::Resume(0));
    }
    let layout = std::sync::Arc::clone(&memory.layout);
    let instruction = &layout.candidates[candidate];
    let accesses = accesses_of(tracee, memory, index, instruction);
    take_note(tracee, scheduling, (memory, account), index, (candidate, Some(candidate)), &accesses);
    let status = memory.knowledge.status(candidate);
    if status == Status::Promoted {
        let shared = memory.shared_among(&accesses);
        if !shared.is_empty() {
            if !scope::passes_over(tracee, memory, index, instruction, &shared) {
                if instruction.non_temporal {
                    account.enter_unwatched(Unwatched::of(UnwatchedKind::StoreBuffering));
                }
                return rest_at(tracee, scheduling, memory, index, instruction, &shared);
            }
            if quarantine::fails_unseen(tracee, scheduling, memory, account, index, &shared)
                || spins_here(tracee, scheduling, memory, index, instruction, &accesses, true)?
            {
                return Ok(Flow::Rest);
            }
            tracee.pass_trap(index)?;
            return Ok(Flow::Resume(0));
        }
    }
    if status == Status::Promoted && memory.knowledge.passed_private(candidate) {
        detour_traps::log_more(tracee, memory)?;
    }
    if status != Status::Disarmed
        && spins_here(tracee, scheduling, memory, index, instruction, &accesses, false)?
    {
        // No other thread has touched what it waits for yet, but one will have to.
        let shared: Vec<Obj> = accesses.iter().map(|a| memory.stretch(a.addr, a.len)).collect();
        memory.promoted |= memory.knowledge.promote(&[candidate], Some(candidate), &shared);
        return Ok(Flow::Rest);
    }
    let is_shared = !memory.shared_among(&accesses).is_empty();
    if is_shared {
        memory.knowledge.passed_shared(candidate);
    }
    let is_noted =
        memory.scope == Scope::Hidden && !hidden::pass_own(tracee, scheduling, memory, index, instruction)?;
    scheduling.threads[index].drained |= memory.scope == Scope::Audit && instruction.is_locked();
    let is_enough = match status {
        // Other instructions that share the memory may not have been watched.
        _ if is_shared && memory.narrow.is_some() => false,
        // The jump to its detour will lie over it again.
        _ if tracee.detouring.covers(candidate) && instruction.logged_operand().is_some() => false,
        Status::Disarmed | Status::Watched(_) if memory.scope == Scope::Audit => {
            return pass_checked(tracee, memory, account, index, candidate);
        }
        Status::Disarmed => !is_noted,
        _ => {
            let touches = touches(scheduling, memory, index, &accesses);
            memory.knowledge.touched_privately(candidate, &touches, is_shared, scheduling.events)
        }
    };
    let is_looked_up = instruction.logged_operand() == Some(LoggedOperand::Address);
    if status == Status::Promoted && is_looked_up && tracee.detouring.covers(candidate) && !memory.promoted {
        note_private(tracee, memory, &accesses);
    }
    if is_enough {
        tracee.lift(index)?;
    } else {
        tracee.pass_trap(index)?;
    }
    Ok(Flow::Resume(0))
}

/// An instruction has touched private memory, and touches shared memory elsewhere: it need not stop here again, nor in what is
/// private around it.
fn note_private(tracee: &mut Tracee, memory: &MemoryState, accesses: &[MemoryAccess]) {
    for access in accesses {
        let chunks = memory.private_chunks(access.addr);
        if !chunks.is_empty() {
            tracee.note_private_chunks(chunks);
        } else if let Some(len) = u32::try_from(access.len).ok().filter(|len| *len <= WIDEST) {
            tracee.note_private(access.addr, len);
        }
    }
}

/// The accesses by the names of their memory.
fn touches(
    scheduling: &Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    accesses: &[MemoryAccess],
) -> SmallVec<[UnobservedAccess; 2]> {
    let thread = scheduling.threads[index].name;
    let touch = |access: &MemoryAccess| {
        let obj = memory.object(access.addr, access.len);
        UnobservedAccess { thread, obj, writes: access.write }
    };
    accesses.iter().map(touch).collect()
}

/// An instruction has touched private memory where everything is watched. A loop may run millions of times: what a thread
/// does at one instruction is watched up to a bound, and what comes after is entered as not watched.
fn pass_checked(
    tracee: &mut Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    candidate: usize,
) -> Result<Flow, ExecutionError> {
    const ENOUGH: u32 = 12_000;
    const ENOUGH_IN_ALL: u32 = 60_000;
    if memory.sharing.is_after_all(index) {
        // No thread can be in its way, and threads that are yet to come are ordered after it.
        memory.lifted_alone.push(candidate);
        tracee.lift(index)?;
        return Ok(Flow::Resume(0));
    }
    memory.checked.1 += 1;
    let times = memory.checked.0.entry((index, candidate)).or_default();
    *times += 1;
    if *times < ENOUGH && memory.checked.1 < ENOUGH_IN_ALL {
        tracee.pass_trap(index)?;
        return Ok(Flow::Resume(0));
    }
    account.enter_unwatched(Unwatched::of(UnwatchedKind::LiftedTraps));
    memory.lifted.push((index, candidate));
    memory.lifted_for = index;
    tracee.lift(index)?;
    Ok(Flow::Resume(0))
}

/// A thread that was alone has created another one.
pub(crate) fn plant_for_company(tracee: &Tracee, memory: &mut MemoryState) -> Result<(), ExecutionError> {
    exit_handler_traps::plant_again(tracee, memory)?;
    let lifted = std::mem::take(&mut memory.lifted_alone);
    lifted.into_iter().try_for_each(|candidate| tracee.set_trap(candidate, true))
}

/// Another thread goes on: what was lifted for others is watched again, and what was lifted for it is not.
pub(crate) fn plant_for(
    tracee: &Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    if memory.lifted.is_empty() || memory.lifted_for == index {
        return Ok(());
    }
    memory.lifted_for = index;
    let mut lifted = memory.lifted.iter();
    lifted.try_for_each(|&(_, candidate)| {
        tracee.set_trap(candidate, !memory.lifted.contains(&(index, candidate)))
    })
}

/// The thread rests before an instruction, which is its pending operation.
fn rest_at(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    instruction: &Candidate,
    accesses: &[MemoryAccess],
) -> Result<Flow, ExecutionError> {
    let pending = memory.describe_access(instruction, accesses);
    if let Some(what) = stacks::rust_mutex(tracee, index, instruction.kind) {
        scheduling.threads[index].pending = Some(describe_rust_mutex(what, pending, accesses));
        return Ok(Flow::Rest);
    }
    scheduling.threads[index].pending = Some(pending);
    let spins = spin::watch_for_spinning(tracee, scheduling, memory, index, true)?;
    Ok(if spins { Flow::Rest } else { Flow::Look })
}

/// Whether an access, at whose instruction the thread stands, is a key point.
pub(crate) fn is_key_point(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    candidate: usize,
) -> bool {
    let accesses = || accesses_of(tracee, memory, index, &memory.layout.candidates[candidate]);
    !tracee.in_harness(index)
        && memory.knowledge.status(candidate) == Status::Promoted
        && !memory.shared_among(&accesses()).is_empty()
}

/// Whether the thread spins at an access that is no key point; `shared`: what it touches is known to be shared. If so, it
/// now waits for a change of it.
fn spins_here(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    instruction: &Candidate,
    accesses: &[MemoryAccess],
    shared: bool,
) -> Result<bool, ExecutionError> {
    let pending = memory.describe_access(instruction, accesses);
    scheduling.threads[index].pending = Some(pending);
    let spins = spin::watch_for_spinning(tracee, scheduling, memory, index, shared)?;
    let passed = scheduling.threads[index].pending.take_if(|_| !spins);
    if let Some(Pending { op, .. }) = passed.filter(|_| shared) {
        scheduling.threads[index].note_event(op.kind, &op.may);
    }
    Ok(spins)
}

/// An instruction has touched memory without a stop.
pub(crate) fn note_passed(
    tracee: &Tracee,
    scheduling: &Scheduling,
    (memory, account): (&mut MemoryState, &mut Account),
    index: ThreadIndex,
    candidate: usize,
    access: MemoryAccess,
) {
    take_note(tracee, scheduling, (memory, account), index, (candidate, None), &[access]);
    let is_shared = !memory.shared_among(&[access]).is_empty();
    if is_shared {
        memory.knowledge.passed_shared(candidate);
    }
    let counts = memory.scope != Scope::Audit && !(is_shared && memory.narrow.is_some());
    if counts {
        // It costs no stop, and stays in the code of this execution.
        let touches = touches(scheduling, memory, index, &[access]);
        memory.knowledge.touched_privately(candidate, &touches, is_shared, scheduling.events);
    }
}

/// Takes note of accesses, and of what follows for key points. `stands_at`: the candidate, where its thread stands before it.
fn take_note(
    tracee: &Tracee,
    scheduling: &Scheduling,
    (memory, account): (&mut MemoryState, &mut Account),
    index: ThreadIndex,
    (candidate, stands_at): (usize, Option<usize>),
    accesses: &[MemoryAccess],
) {
    for access in accesses {
        unwatched_uses::note_stream_variable(scheduling, memory, account, access);
        let conflict = memory.sharing.touch(index, candidate, *access);
        if !conflict.bytes.is_empty() {
            if conflict.unwatched_use {
                unwatched_uses::note_conflict(memory, account, index, &conflict.bytes);
            }
            let stretch = |bytes: &Range<u64>| memory.stretch(bytes.start, bytes.end - bytes.start);
            let mut shared: Vec<Obj> = conflict.bytes.iter().map(stretch).collect();
            shared.extend(memory.release_at(access.addr).filter(|_| conflict.frees));
            memory.promoted |= memory.knowledge.promote(&conflict.candidates, stands_at, &shared);
        } else if conflict.handed_over && !memory.shared_among(&[*access]).is_empty() {
            // Of memory that was not always in order each access is a key point.
            memory.promoted |= memory.knowledge.promote(&[candidate], stands_at, &[]);
        }
        exposure::expose_thread_locals(tracee, memory, index, access.addr);
        if let Some(owner) = memory.stack_at(access.addr) {
            if owner != index || memory.sharing.interrupts(index, access.addr) {
                exposure::expose(tracee, scheduling, (memory, account), (index, owner), access.addr);
            }
        } else if !conflict.bytes.is_empty()
            && matches!(memory.place(access.addr).region, MemoryRegion::Heap | MemoryRegion::Unknown)
        {
            memory.promoted |= memory.knowledge.watch_allocator();
        }
    }
}

/// The reader of a text has come to another end of it than when its thread arrived there: other threads have made the
/// text longer. The read up to the old end is an event by itself, and this is what is read from there on.
pub(crate) fn reaches_further(
    tracee: &Tracee,
    scheduling: &Scheduling,
    (memory, account): (&mut MemoryState, &mut Account),
    index: ThreadIndex,
    pending: &Pending,
) -> Option<Pending> {
    let layout = std::sync::Arc::clone(&memory.layout);
    let TrapKind::Access(candidate) = layout.traps.get(&tracee.tasks[index].regs.rip)?.kind else {
        return None;
    };
    let instruction = &layout.candidates[candidate];
    if !instruction.is_as_long_as_memory_says() {
        return None;
    }
    let accesses = accesses_of(tracee, memory, index, instruction);
    let again = memory.describe_access(instruction, &memory.shared_among(&accesses));
    let covers = |access: &Access, known: &Access| {
        known.obj.common(&access.obj) == Some(access.obj)
            && (known.mode == access.mode || known.mode == Mode::Write)
    };
    let is_known = |access: &Access| pending.op.may.accesses.iter().any(|known| covers(access, known));
    if again.op.may.accesses.iter().all(is_known) {
        return None;
    }
    take_note(tracee, scheduling, (memory, account), index, (candidate, Some(candidate)), &accesses);
    Some(again)
}

/// An access that takes or releases a mutex: a lock operation is enabled only while it can succeed.
fn describe_rust_mutex(what: RustMutex, access: Pending, touched: &[MemoryAccess]) -> Pending {
    let Some(&MemoryAccess { addr, len, .. }) = touched.first() else { return access };
    let (kind, condition) = match what {
        RustMutex::Lock => (OpKind::Lock, WaitCondition::RustMutex(addr, len as usize)),
        RustMutex::Unlock => (OpKind::Unlock, WaitCondition::Nothing),
    };
    Pending { op: Op { kind, ..access.op }, condition, action: Action::RustMutex { what, addr }, ..access }
}

/// The first thread is about to be created: from now on memory accesses are watched.
pub(crate) fn begin_concurrency(tracee: &mut Tracee, memory: &mut MemoryState) -> Result<(), ExecutionError> {
    if std::mem::replace(&mut tracee.concurrent, true) {
        return Ok(());
    }
    heap::end_survey(memory);
    probes::hide(tracee)?;
    if !hidden::plant(tracee, memory).map_err(system(SystemAction::PlantTraps))? {
        let is_audit = memory.scope == Scope::Audit;
        // The first executions with these key points are to find more of them in one go, and rest where they do.
        let is_known = is_audit || memory.knowledge.is_settled();
        tracee.detouring.over |= !memory.written_code.is_empty();
        if is_known && tracee.has_log() && tracee.probes.wanted.is_empty() {
            let hands_over = tracee.page.is_some();
            let code = memory.knowledge.armed_code_with_detours(
                &memory.layout,
                tracee.pristine,
                is_audit,
                hands_over,
            );
            tracee.begin_detours(code).map_err(system(SystemAction::PlantTraps))?;
        } else {
            let all = memory.knowledge.armed_code(&memory.layout, tracee.pristine, is_audit);
            all.plant_beside(tracee.leader, &tracee.layout, &memory.written_code)
                .map_err(system(SystemAction::PlantTraps))?;
        }
        scope::narrow_down(tracee, memory);
    }
    probes::show(tracee)
}

/// Whether the thread that stands at a probe stands at a key point as well, so that it rests there.
pub(crate) fn rests_at_probe(tracee: &Tracee, memory: &MemoryState) -> bool {
    let Some(index) = tracee.probes.stopped else { return false };
    let at = tracee.tasks[index].regs.rip;
    let trap = tracee.layout.traps.get(&at).filter(|_| !tracee.probes.planted.contains_key(&at));
    match trap.map(|trap| &trap.kind) {
        Some(TrapKind::Access(candidate)) => is_key_point(tracee, memory, index, *candidate),
        _ => false,
    }
}
