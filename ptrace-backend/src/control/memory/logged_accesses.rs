//! Accesses that were taken down by detours ([`crate::instructions::detour`]): noted where the thread that made them stops.
//!
//! Noting them late loses nothing that a stop at each would show: no other thread has run in between, and everything that names memory
//! (the allocator, the kernel, threads) stops before it does.

use checker::account::{Unwatched, UnwatchedKind};
use checker::program::{ExecutionError, Scope};
use rustc_hash::FxHashSet;

use crate::control::knowledge::status::Status;
use crate::control::memory::blocks::heap;
use crate::control::memory::{access, foreign_calls};
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::control::tracee::detours::LoggedAccess;
use crate::instructions::MemoryAccess;
use crate::instructions::detour::access_logging::{ARGUMENTS, RETURN_ADDRESS};
use crate::layout::TrapKind;
use crate::os::Regs;

/// The numbers of accesses that are taken down in an execution, and of words of memory that are known: after that, traps take
/// their place, with their own bounds.
const MOST: u64 = 8_000_000;
const MOST_WORDS: usize = 200_000;

/// The number of traps that come next where the log is full and hardly any of it is new: then the thread may wait for another
/// one in a way that only traps can see.
const TRAPS: u32 = 64;
const HARDLY_ANY: u32 = 256;

/// The accesses of a thread since its last stop that it may repeat next: one for each place, which an access has by its address and
/// its instruction. The log of a loop has the same ones again and again.
struct RecentAccesses(Vec<Option<LoggedAccess>>);

impl RecentAccesses {
    const PLACES: usize = 512;

    /// Room for those of a log of so many entries. A short one repeats hardly anything: it has none.
    fn of(entries: usize) -> Self {
        Self(vec![None; if entries < Self::PLACES / 8 { 0 } else { Self::PLACES }])
    }

    fn place(access: &LoggedAccess) -> usize {
        // Neighbouring addresses, and neighbouring instructions, have neighbouring places.
        (access.value as usize).wrapping_add(access.candidate << 3) % Self::PLACES
    }

    fn has(&self, access: &LoggedAccess) -> bool {
        self.0.get(Self::place(access)).and_then(Option::as_ref) == Some(access)
    }

    fn put(&mut self, access: LoggedAccess) {
        if let Some(place) = self.0.get_mut(Self::place(&access)) {
            *place = Some(access);
        }
    }
}

/// Looks at what the running thread has taken down since it last stopped. Its registers are still those with which it went on.
pub(crate) fn note(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    if !tracee.detouring.on {
        return Ok(());
    }
    let Some(entries) = tracee.take_log()? else {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::LiftedTraps));
        return tracee.end_detours();
    };
    if entries.is_empty() {
        return Ok(());
    }
    let is_harness = tracee.in_harness(index);
    tracee.detouring.entries += if is_harness { 0 } else { entries.len() as u64 };
    let layout = std::sync::Arc::clone(&memory.layout);
    let is_audit = memory.scope == Scope::Audit;
    let mut known = FxHashSet::default();
    let (mut new, mut is_drained) = (0, false);
    let regs = tracee.tasks[index].regs;
    let mut arguments = tracee.detouring.arguments;
    let mut note = |tracee: &mut Tracee,
                    scheduling: &mut Scheduling,
                    (memory, account): (&mut MemoryState, &mut Account),
                    candidate: usize,
                    mut access: MemoryAccess| {
        access.addr = memory.shared_files.original(access.addr);
        // In audits nothing counts but whether memory is shared, else each of these accesses does, once.
        let is_known = if is_audit {
            memory.sharing.repeats(index, candidate, access)
        } else {
            !known.insert((candidate, access.addr, access.len))
        };
        new += u32::from(!is_known);
        if !is_known && memory.knowledge.status(candidate) != Status::Dormant {
            access::note_passed(tracee, scheduling, (memory, account), index, candidate, access);
        }
    };
    let mut recent = RecentAccesses::of(entries.len());
    for entry in &entries {
        if recent.has(entry) {
            continue;
        }
        let &LoggedAccess { candidate, argument, value } = entry;
        if candidate == layout.frees() {
            arguments[argument] = value;
            if argument + 1 == ARGUMENTS {
                heap::note_logged_free(tracee, memory, account, index, arguments)?;
            }
            continue;
        }
        if is_harness {
            continue;
        }
        let instruction = &layout.candidates[candidate];
        is_drained |= instruction.is_locked();
        if let Some(operand) = instruction.operands.first() {
            let base = if instruction.counts_from_thread() { regs.fs_base } else { 0 };
            let (addr, len) = (value.wrapping_add(base), u64::from(operand.size));
            let access = MemoryAccess { addr, len, read: operand.read, write: operand.write };
            note(tracee, scheduling, (memory, account), candidate, access);
            recent.put(*entry);
            continue;
        }
        if argument < ARGUMENTS {
            arguments[argument] = value;
        }
        // The access of a call is complete with its last argument, or, at the entry of the function, with the address of its caller.
        let is_entry = matches!(layout.traps[&instruction.addr].kind, TrapKind::Foreign(_));
        let last = if is_entry { RETURN_ADDRESS } else { ARGUMENTS - 1 };
        if argument == last && !(is_entry && is_known_where_made(tracee, (value, instruction.addr))) {
            let [rdi, rsi, rdx] = arguments;
            let accesses = instruction.accesses(&Regs { rdi, rsi, rdx, ..regs });
            for access in accesses {
                note(tracee, scheduling, (memory, account), candidate, access);
            }
        }
    }
    tracee.detouring.arguments = arguments;
    if is_harness {
        return Ok(());
    }
    scheduling.threads[index].drained |= is_drained;
    if tracee.detouring.entries > MOST || memory.sharing.words() > MOST_WORDS {
        return tracee.end_detours();
    }
    let is_full = layout.detours.as_ref().is_some_and(|detours| entries.len() as u32 == detours.log.entries);
    if is_full && new < HARDLY_ANY {
        tracee.detouring.traps_left = TRAPS;
        tracee.pause_detours()?;
    }
    Ok(())
}

/// The same as [`foreign_calls::is_known_where_made`], found out once for each caller in code that stays where it is.
fn is_known_where_made(tracee: &mut Tracee, (caller, entry): (u64, u64)) -> bool {
    if let Some(&is_known) = tracee.detouring.known_calls.get(&(caller, entry)) {
        return is_known;
    }
    let is_known = foreign_calls::is_known_where_made(tracee, caller, entry);
    if tracee.layout.module_at(caller).is_some() {
        tracee.detouring.known_calls.insert((caller, entry), is_known);
    }
    is_known
}

/// Of longer memory that has another name it is not looked up whether it is still private.
const LONGEST_KEPT: u64 = 4096;

/// A thread is about to go on: memory that has got another name, or is mapped anew, is not known to be private any more, unless what
/// it is now is not shared either. Where the program maps something else in the place of the log, there are no more detours.
pub(crate) fn forget_renamed(tracee: &mut Tracee, memory: &mut MemoryState) -> Result<(), ExecutionError> {
    if memory.promoted && tracee.detouring.knows_private() {
        tracee.forget_private(&(0..u64::MAX));
    }
    for renamed in std::mem::take(&mut memory.heap.renamed) {
        let is_kept = |memory: &MemoryState| {
            renamed.end - renamed.start <= LONGEST_KEPT
                && memory.private_from(renamed.start, renamed.end) >= renamed.end
        };
        if tracee.detouring.knows_private() && !is_kept(memory) {
            tracee.forget_private(&renamed);
        }
        if tracee.keeps_log_in(&renamed) {
            tracee.stop_parked()?;
            tracee.end_detours()?;
        }
    }
    Ok(())
}
