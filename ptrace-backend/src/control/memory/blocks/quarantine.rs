//! Freed blocks: they are not given back to the allocator for the time being, so that a use of one is seen.
//!
//! A thread that frees a block stops at the entry of `free`, which then returns without having run. So the block keeps its
//! address, which no other block gets, and its name, and an operation on something of that name is a use after free. Where the
//! quarantine is full, the oldest block in it is freed in place of the new one.
//!
//! The freeing of a block is a key point if threads use it, or free it, without creation and join always ordering that.

use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};
use checker::failure::{Doing, Failure, FailureDetail, FailureKind, Party};
use checker::names::{Obj, ObjName, Site};
use checker::operation::{Access, Op, OpKind};
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;

use crate::control::memory::sharing::{Conflict, TouchKind};
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::heap::{AllocationInProgress, Request};
use crate::control::state::memory::quarantine::{FreedBy, QuarantinedBlock};
use crate::control::state::pending::{Action, Continuation, Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::RunState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::machine::MachineState;
use crate::control::tracee::{Tracee, late_files, stacks};
use crate::instructions::MemoryAccess;
use crate::instructions::detour::access_logging::ARGUMENTS;
use crate::layout::Layout;
use crate::layout::allocator::Allocator;
use crate::layout::module::Module;

impl MemoryState {
    /// Takes note that a named block is freed, and of what follows for key points.
    fn note_free(&mut self, index: ThreadIndex, addr: u64, size: u64) {
        let conflict = self.sharing.touch_in(index, None, addr..addr.saturating_add(size), TouchKind::Frees);
        self.learn_lives(addr, &conflict);
    }

    /// Learns from the conflict between the use and the freeing of a block: both are key points from now on.
    fn learn_lives(&mut self, addr: u64, conflict: &Conflict) {
        self.learn_conflict(conflict, self.release_at(addr));
    }

    /// Learns from a conflict: accesses to the memory that it shows to be shared are key points from now on, and so is this.
    pub(crate) fn learn_conflict(&mut self, conflict: &Conflict, release: Option<Obj>) {
        if conflict.bytes.is_empty() {
            return;
        }
        let stretches = conflict.bytes.iter().map(|bytes| self.stretch(bytes.start, bytes.end - bytes.start));
        let shared: Vec<Obj> = stretches.chain(release).collect();
        self.promoted |= self.knowledge.promote(&conflict.candidates, None, &shared);
    }

    /// The object that stands for the freeing of the block that an address is in.
    pub(crate) fn release_at(&self, addr: u64) -> Option<Obj> {
        self.heap.at(addr).map(|(name, _)| name.release())
    }
}

/// A thread stands at the entry of `free`.
pub(crate) fn enter_free(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    let addr = tracee.tasks[index].argument(0);
    let back = tracee.number(tracee.tasks[index].regs.rsp, 8);
    // Blocks that the library allocates and frees for itself are its own affair, and so are those that main frees before it has
    // company.
    if addr == 0 || stacks::is_libc_call_site(tracee, back) || !tracee.concurrent {
        memory.heap.forget(addr);
        return pass_through(tracee, index);
    }
    if !memory.heap.names {
        free_unnamed(memory, index, UnnamedBlock::at(tracee, addr));
        return pass_through(tracee, index);
    }
    let Some(block) = memory.heap.block(addr) else {
        free_unknown(tracee, memory, account, index, addr);
        return pass_through(tracee, index);
    };
    if ends_life(tracee, scheduling, memory, account, index, (addr, block), Action::Free(addr)) {
        return Ok(Flow::Rest);
    }
    let next = free(tracee, scheduling, memory, account, index, addr)?;
    leave_entry(tracee, index, next)
}

/// From the entry of `free` or `realloc` on, for a thread that does not rest there.
fn leave_entry(tracee: &mut Tracee, index: ThreadIndex, next: Continuation) -> Result<Flow, ExecutionError> {
    match next {
        Continuation::Return(result) => tracee.return_from_call(index, result)?,
        Continuation::Jump(function) => tracee.jump(index, function)?,
        _ => tracee.pass_trap(index)?,
    }
    Ok(Flow::Resume(0))
}

fn pass_through(tracee: &mut Tracee, index: ThreadIndex) -> Result<Flow, ExecutionError> {
    tracee.pass_trap(index)?;
    Ok(Flow::Resume(0))
}

/// A thread stands at the entry of `realloc`. `None`: the call takes its course.
pub(crate) fn enter_resize(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    addr: u64,
) -> Result<Option<Flow>, ExecutionError> {
    let back = tracee.number(tracee.tasks[index].regs.rsp, 8);
    if !tracee.concurrent {
        return Ok(None);
    }
    let is_internal = stacks::is_libc_call_site(tracee, back);
    if !memory.heap.names {
        if !is_internal {
            free_unnamed(memory, index, UnnamedBlock::at(tracee, addr));
        }
        return pass_through(tracee, index).map(Some);
    }
    if is_internal {
        return Ok(None);
    }
    let Some(block) = memory.heap.block(addr) else {
        free_unknown(tracee, memory, account, index, addr);
        return Ok(None);
    };
    if ends_life(tracee, scheduling, memory, account, index, (addr, block), Action::Resize(addr)) {
        return Ok(Some(Flow::Rest));
    }
    let next = resize(tracee, scheduling, memory, account, index, addr)?;
    leave_entry(tracee, index, next).map(Some)
}

/// A thread stands where it ends the life of a block. `true`: it rests there, since that is a key point, or has failed.
fn ends_life(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    (addr, (name, size)): (u64, (ObjName, u64)),
    action: Action,
) -> bool {
    memory.note_free(index, addr, size);
    let len = u32::try_from(size).unwrap_or(u32::MAX);
    let obj = Obj { name, offset: 0, len };
    if tracee.is_scheduled(index) && memory.knowledge.is_shared(name.release()) {
        let op = Op::new(OpKind::Free, [Access::write(obj)]);
        let back = tracee.number(tracee.tasks[index].regs.rsp, 8);
        let site = stacks::call_site(tracee, index, back);
        scheduling.threads[index].pending =
            Some(Pending { op, site, condition: WaitCondition::Nothing, action, deadline: None });
        return true;
    }
    let Some(failure) = failure_of_freed(tracee, scheduling, memory, account, index, (OpKind::Free, obj))
    else {
        return false;
    };
    scheduling.threads[index].run_state = RunState::Failed(failure);
    true
}

/// Frees the block that begins at an address. Its thread stands at the entry of `free`.
pub(crate) fn free(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    addr: u64,
) -> Result<Continuation, ExecutionError> {
    let Some((name, _)) = memory.heap.block(addr) else { return Ok(Continuation::Pass) };
    let stack = if memory.knowledge.is_shared(whole(name)) {
        stacks::stack(tracee, index)
    } else {
        let back = tracee.number(tracee.tasks[index].regs.rsp, 8);
        vec![late_files::site(tracee, back.wrapping_sub(1))]
    };
    let Some(leaves) = keep(scheduling, memory, account, index, addr, stack) else {
        return Ok(Continuation::Return(0));
    };
    tracee.tasks[index].regs.rdi = leaves;
    tracee.write_registers(index)?;
    Ok(Continuation::Pass)
}

/// A thread that stands at the entry of `realloc` gets another block, whatever the size: the old one keeps its address.
pub(crate) fn resize(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    addr: u64,
) -> Result<Continuation, ExecutionError> {
    let size = tracee.tasks[index].argument(1);
    if size == 0 {
        return free(tracee, scheduling, memory, account, index, addr);
    }
    let old = memory.heap.block(addr).filter(|(_, old)| memory.quarantine.has_room(*old));
    let mut entries = memory.layout.allocator_entries();
    let malloc = entries.find(|(_, what)| *what == Allocator::Allocate { size: 0 }).map(|(entry, _)| entry);
    drop(entries);
    let (Some((_, old)), Some(malloc)) = (old, malloc) else {
        memory.heap.forget(addr);
        await_block(tracee, scheduling, index, Request { size, into: None, copies: None });
        return Ok(Continuation::Pass);
    };
    await_block(tracee, scheduling, index, Request { size, into: None, copies: Some((addr, size.min(old))) });
    tracee.tasks[index].regs.rdi = size;
    Ok(Continuation::Jump(malloc))
}

/// Takes a block into the quarantine. Returns the address of the one that has to leave for it.
pub(crate) fn keep(
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    addr: u64,
    stack: Vec<Site>,
) -> Option<u64> {
    let (name, size) = memory.heap.block(addr)?;
    memory.quarantine.freed.insert(name, FreedBy { by: scheduling.threads[index].name, stack });
    let leaves = memory.quarantine.admit(QuarantinedBlock { addr, size, name, reusable: false })?;
    account.note(Peculiarity::FreesMuch);
    memory.quarantine.freed.remove(&leaves.name);
    memory.heap.forget(leaves.addr);
    Some(leaves.addr)
}

/// A block that has no name. The C library alone knows its size.
#[derive(Clone, Copy)]
struct UnnamedBlock {
    addr: u64,
    /// The word that the library keeps before the block: the size, with flags.
    tag: u64,
}

impl UnnamedBlock {
    const WORD: u64 = 8;

    fn at(tracee: &Tracee, addr: u64) -> Self {
        Self { addr, tag: tracee.number(addr.wrapping_sub(Self::WORD), Self::WORD as usize) }
    }

    fn bytes(self) -> Range<u64> {
        const FLAGS: u64 = 7;
        self.addr..self.addr.saturating_add((self.tag & !FLAGS).saturating_sub(Self::WORD))
    }
}

/// A thread has called `free` without a stop: with this address of a block, behind this word, and to return to `back`. Blocks had no names.
pub(crate) fn note_logged(
    tracee: &Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
    [addr, tag, back]: [u64; ARGUMENTS],
) {
    if tracee.concurrent && !stacks::is_libc_call_site(tracee, back) {
        free_unnamed(memory, index, UnnamedBlock { addr, tag });
    }
}

/// The same where blocks have no names.
fn free_unnamed(memory: &mut MemoryState, index: ThreadIndex, block: UnnamedBlock) {
    if frees_shared(memory, index, block) {
        memory.promoted |= memory.knowledge.watch_allocator();
    }
}

/// The same of a block that is not known where others are (a large one from before `main`): its later uses are not seen.
fn free_unknown(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    addr: u64,
) {
    let is_followed = addr != 0 && !memory.heap.left_unnamed;
    if is_followed && frees_shared(memory, index, UnnamedBlock::at(tracee, addr)) {
        account.enter_unwatched(Unwatched::call(UnwatchedKind::LibraryFunction, "free"));
    }
}

/// Takes note that a block is freed. Whether another thread uses it, too.
fn frees_shared(memory: &mut MemoryState, index: ThreadIndex, block: UnnamedBlock) -> bool {
    let conflict = memory.sharing.touch_in(index, None, block.bytes(), TouchKind::Frees);
    !conflict.bytes.is_empty()
}

/// A synchronisation object is used, which may be in a block.
pub(crate) fn use_block(tracee: &Tracee, memory: &mut MemoryState, index: ThreadIndex, addr: u64) {
    let is_elsewhere = || {
        memory.layout.module_at(addr).is_some()
            || memory.stacks.iter().any(|(stack, _)| stack.contains(&addr))
    };
    if !tracee.concurrent || is_elsewhere() {
        return;
    }
    let conflict = memory.sharing.touch_in(index, None, addr..addr.saturating_add(1), TouchKind::Uses);
    if memory.heap.names {
        memory.learn_lives(addr, &conflict);
    } else if !conflict.bytes.is_empty() {
        memory.promoted |= memory.knowledge.watch_allocator();
    }
}

/// The instruction at which a thread stands runs. Freed blocks are not given out again for the time being, so that another one has
/// not the address that it could have: comparing such addresses would show that.
pub(crate) fn note_comparison(
    tracee: &Tracee,
    memory: &MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) {
    if memory.quarantine.kept.is_empty() {
        return;
    }
    let instruction = memory.layout.candidate_at(tracee.tasks[index].regs.rip);
    let compared = instruction.and_then(|instruction| instruction.compared(&MachineState::of(tracee, index)));
    if compared.is_some_and(|address| memory.quarantine.is_reusable(address)) {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::AddressReuse));
    }
}

/// The failure that an operation is if it uses a block that has been freed.
pub(crate) fn use_of_freed(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    pending: &Pending,
) -> Option<Failure> {
    // A thread that is let go by another one does not look at what it has waited at.
    let looks = matches!(
        pending.action,
        Action::Access
            | Action::RustMutex { .. }
            | Action::SplitRead { .. }
            | Action::SplitWrite { .. }
            | Action::Function { .. }
            | Action::Reacquire { .. }
            | Action::FutexWait { .. }
            | Action::Free(_)
            | Action::Resize(_)
            | Action::Kernel
    );
    let touched = pending.op.may.accesses.iter().map(|access| access.obj).filter(|_| looks);
    touched
        .into_iter()
        .find_map(|obj| failure_of_freed(tracee, scheduling, memory, account, index, (pending.op.kind, obj)))
}

/// An access that is no key point of this execution fails all the same if it touches a block that has been freed. Says
/// whether it does.
pub(crate) fn fails_unseen(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    accesses: &[MemoryAccess],
) -> bool {
    let failure = accesses.iter().find_map(|access| {
        let kind = if access.write { OpKind::Write } else { OpKind::Read };
        let used = (kind, memory.object(access.addr, access.len));
        failure_of_freed(tracee, scheduling, memory, account, index, used)
    });
    let Some(failure) = failure else { return false };
    scheduling.threads[index].run_state = RunState::Failed(failure);
    true
}

fn failure_of_freed(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    (kind, obj): (OpKind, Obj),
) -> Option<Failure> {
    let FreedBy { by, stack } = memory.quarantine.freed.get(&obj.name)?;
    let used_at = stacks::stack(tracee, index);
    // A task scheduler's own affair is no failure of the program; what may follow from it is not known.
    if kind != OpKind::Free
        && let Some((scheduler, at)) = task_scheduler(&memory.layout, &used_at)
        && task_scheduler(&memory.layout, stack).is_some()
    {
        account.enter_unwatched(scheduler.unwatched(UnwatchedKind::LibraryFunction, at));
        return None;
    }
    let (block, freed_by) = (obj, *by);
    let (failed_with, detail) = if kind == OpKind::Free {
        (FailureKind::DoubleFree, FailureDetail::FreedTwice { block, freed_by })
    } else {
        (FailureKind::UseAfterFree, FailureDetail::UsedFreed { block, freed_by })
    };
    let freed = Party { thread: *by, doing: Doing::Freed, stack: stack.clone() };
    let allocated = memory.heap.origin(obj.name).map(|(thread, stack)| Party {
        thread: *thread,
        doing: Doing::Allocated,
        stack: stack.clone(),
    });
    let failure = scheduling.failure(index, failed_with, detail, used_at);
    Some(Failure { others: std::iter::once(freed).chain(allocated).collect(), ..failure })
}

/// The task scheduler whose code uses or frees a block, by a stack then, and the place there at run time; `None` where it is not one's.
fn task_scheduler<'l>(layout: &'l Layout, stack: &[Site]) -> Option<(&'l Module, u64)> {
    let mut frames = stack.iter().filter_map(|&site| layout.locate(site));
    let (module, at) = frames.find(|(module, _)| !module.is_libc)?;
    module.schedules_tasks.then(|| (module, at.wrapping_add(module.mapped.bias)))
}

/// The function of the allocator at whose entry a thread stands is to return to a trap.
pub(crate) fn await_block(tracee: &Tracee, scheduling: &mut Scheduling, index: ThreadIndex, wanted: Request) {
    let at = tracee.tasks[index].regs.rsp;
    let back = tracee.number(at, 8);
    // Calls within the allocator belong to the one that is being accounted for.
    if scheduling.threads[index].allocating.is_none() && tracee.write(at, &tracee.returns_to().to_le_bytes())
    {
        scheduling.threads[index].allocating = Some(AllocationInProgress { wanted, back });
    }
}

fn whole(name: ObjName) -> Obj {
    Obj { name, offset: 0, len: u32::MAX }
}
