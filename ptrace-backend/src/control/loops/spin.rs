//! Spin loops: a thread whose loop reads the same, stores the same and comes back to the same registers waits for what it
//! reads to change.
//!
//! Coming back to a key point after reads alone raises a suspicion. The next iteration is then single-stepped, as an
//! experiment: every byte that it stores is noted, so that it can be taken back. If nothing at all has changed at its
//! end, the thread spins; otherwise the experiment is undone, as if it had never been made. Vector and floating-point registers are
//! part of that: a loop may count in them, or add up.

use checker::names::Obj;
use checker::operation::{Access, OpKind};
use checker::program::ExecutionError;
use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic};
use rustc_hash::FxHashMap;

use super::rehearsal;
use super::trial::{UsedMemory, is_pause, is_writable_data, may_be_tried, owns, used_memory};
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{AwaitedBytes, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::spinning::{MemoryBytes, same_registers};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, probes};
use crate::error::{SystemAction, system};
use crate::layout::Trap;
use crate::os::wait::WaitStatus;
use crate::os::{Regs, memory, ptrace};

/// The length of a thread's innermost frames that is compared, in bytes: where unoptimised code keeps its loop counters.
const FRAME: usize = 256;

/// The accesses of an iteration to memory.
#[derive(Default)]
pub(crate) struct Iteration {
    /// The bytes that stood where it stored, in the order of its stores.
    pub(crate) stores: Vec<(u64, Vec<u8>)>,
    /// Addresses, and the numbers of bytes.
    pub(crate) reads: Vec<(u64, usize)>,
}

impl Iteration {
    /// Whether one of its stores touches these bytes.
    pub(crate) fn stores_into(&self, addr: u64, len: usize) -> bool {
        let touches = |(at, old): &(u64, Vec<u8>)| *at < addr + len as u64 && addr < at + old.len() as u64;
        self.stores.iter().any(touches)
    }
}

/// If the thread, which has just come to a memory access, spins: makes it wait for a change of what its loop reads.
/// `shared`: what it touches is known to be shared.
pub(crate) fn watch_for_spinning(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    shared: bool,
) -> Result<bool, ExecutionError> {
    let frame = tracee.read(tracee.tasks[index].regs.rsp, FRAME);
    let spinning = &mut scheduling.threads[index].spinning;
    if let Some(MemoryBytes { address, len, value }) = spinning.updating.take()
        && tracee.number(address, len) != value
    {
        spinning.forget_visits();
    }
    let Some(longest) = spinning.suspicious(&tracee.tasks[index].regs, shared, frame) else {
        return Ok(false);
    };
    if rehearsal::refutes(tracee, memory, index, longest) {
        let place = tracee.tasks[index].regs.rip;
        scheduling.threads[index].spinning.refute(place);
        return Ok(false);
    }
    tracee.stop_in_kernel(index)?;
    let start = tracee.tasks[index].regs;
    let tid = tracee.tasks[index].tid;
    let extended = ptrace::extended_state(tid).map_err(system(SystemAction::ReadRegisters))?;
    let mut iteration = Iteration::default();
    let is_detouring = tracee.detouring.on;
    probes::hide(tracee)?;
    let comes_back =
        iterate(tracee, memory, index, &start, longest, &mut iteration)? && unchanged(tracee, &iteration);
    let is_same = ptrace::extended_state(tid).is_ok_and(|now| now == extended);
    if !is_same {
        ptrace::set_extended_state(tid, &extended).map_err(system(SystemAction::WriteRegisters))?;
    }
    let spins = comes_back && is_same;
    if !spins {
        for (addr, bytes) in iteration.stores.iter().rev() {
            tracee.write(*addr, bytes);
        }
        scheduling.threads[index].spinning.refute(start.rip);
    }
    probes::show(tracee)?;
    if is_detouring {
        tracee.resume_detours()?;
    }
    tracee.tasks[index].regs = start;
    tracee.write_registers(index)?;
    if spins {
        await_change(tracee, scheduling, memory, index, &iteration);
    }
    Ok(spins)
}

/// Bytes that a thread waits for, which are another value then.
pub(super) fn awaited(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    (address, len): (u64, usize),
) -> AwaitedBytes {
    AwaitedBytes {
        address,
        object: memory.object(address, len as u64),
        bytes: tracee.read(address, len),
        is_own: owns(tracee, memory, index, address),
    }
}

fn await_change(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    iteration: &Iteration,
) {
    let mut reads = iteration.reads.clone();
    reads.sort_unstable();
    reads.dedup();
    // Its own memory counts as well, but for what it writes itself: another thread may have its address.
    let is_looked_at = |&(addr, len): &(u64, usize)| {
        let is_own = owns(tracee, memory, index, addr) && iteration.stores_into(addr, len);
        !is_own && is_writable_data(tracee, addr)
    };
    let locations: Vec<AwaitedBytes> =
        reads.into_iter().filter(is_looked_at).map(|look| awaited(tracee, memory, index, look)).collect();
    // The event comes after whatever lets it go: it is an event on all of that.
    let shared: Vec<Obj> =
        locations.iter().map(|it| it.object).filter(|obj| tracee.knowledge.is_shared(*obj)).collect();
    let Some(pending) = &mut scheduling.threads[index].pending else { return };
    if pending.op.kind == OpKind::Read {
        pending.op.kind = OpKind::Await;
    }
    let accesses = &mut pending.op.may.accesses;
    for obj in shared {
        if accesses.iter().all(|access| access.obj != obj) {
            accesses.push(Access::read(obj));
        }
    }
    pending.condition = WaitCondition::Change(locations);
}

/// Steps the thread until it is back where it started; `false` if that does not happen, or if it does something on
/// the way that cannot be taken back.
fn iterate(
    tracee: &mut Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    start: &Regs,
    longest: u32,
    iteration: &mut Iteration,
) -> Result<bool, ExecutionError> {
    let mut info = InstructionInfoFactory::new();
    tracee.write_registers(index)?;
    for _ in 0..longest {
        let regs = tracee.tasks[index].regs;
        // To take all detours away and put them back costs as much as a round of most loops, which has none.
        if tracee.is_detoured(regs.rip) {
            tracee.pause_detours()?;
        }
        let Some(instruction) = instruction(tracee, memory, regs.rip) else { return Ok(false) };
        if instruction.mnemonic() == Mnemonic::Syscall {
            if !pass_pause(tracee, index)? {
                return Ok(false);
            }
        } else {
            let stores = iteration.stores.len();
            if !note_memory(tracee, &instruction, &regs, &mut info, iteration)
                || !single_step(tracee, memory, index, &regs)?
                || !stored_the_same(tracee, memory, index, &iteration.stores[stores..])
            {
                return Ok(false);
            }
        }
        if tracee.tasks[index].regs.rip == start.rip {
            return Ok(same_registers(&tracee.tasks[index].regs, start));
        }
    }
    Ok(false)
}

/// Whether what an instruction stored, other than into the thread's own frames, is what stood there.
fn stored_the_same(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    stores: &[(u64, Vec<u8>)],
) -> bool {
    stores
        .iter()
        .all(|(addr, old)| owns(tracee, memory, index, *addr) || tracee.read(*addr, old.len()) == *old)
}

/// Whether all memory in which the iteration stored is the same again as before it.
pub(crate) fn unchanged(tracee: &Tracee, iteration: &Iteration) -> bool {
    let mut first: FxHashMap<u64, u8> = FxHashMap::default();
    for (addr, bytes) in &iteration.stores {
        for (at, &byte) in (*addr..).zip(bytes) {
            first.entry(at).or_insert(byte);
        }
    }
    first.iter().all(|(&at, &old)| tracee.number(at, 1) as u8 == old)
}

/// The instruction at an address, as it is without traps.
pub(crate) fn instruction(tracee: &Tracee, memory: &MemoryState, at: u64) -> Option<Instruction> {
    let mut code = tracee.read(at, 15);
    if code.is_empty() {
        code = tracee.read(at, (0x1000 - at % 0x1000).min(15) as usize);
    }
    for (offset, byte) in code.iter_mut().enumerate() {
        if let Some(replaced) = replaced(tracee, memory, at + offset as u64) {
            *byte = replaced;
        }
    }
    let instruction = Decoder::with_ip(64, &code, at, DecoderOptions::NONE).decode();
    (!instruction.is_invalid()).then_some(instruction)
}

/// The byte in whose place there may be a trap.
fn replaced(tracee: &Tracee, memory: &MemoryState, at: u64) -> Option<u8> {
    let trap = tracee.layout.traps.get(&at).map(Trap::byte);
    trap.or_else(|| memory.hidden.trapped.get(&at).copied())
}

/// Notes what an instruction reads and what it is about to overwrite; `false` if it must not be tried.
pub(crate) fn note_memory(
    tracee: &Tracee,
    instruction: &Instruction,
    regs: &Regs,
    info: &mut InstructionInfoFactory,
    iteration: &mut Iteration,
) -> bool {
    if !may_be_tried(tracee, instruction, regs.rip) {
        return false;
    }
    let Some(uses) = used_memory(instruction, regs, info) else { return false };
    for UsedMemory { address, len, reads, writes } in uses {
        if reads {
            iteration.reads.push((address, len));
        }
        if writes {
            let old = tracee.read(address, len);
            if old.len() != len {
                return false;
            }
            iteration.stores.push((address, old));
        }
    }
    true
}

/// Executes one instruction, past a trap if there is one.
pub(crate) fn single_step(
    tracee: &mut Tracee,
    state: &MemoryState,
    index: ThreadIndex,
    regs: &Regs,
) -> Result<bool, ExecutionError> {
    let tid = tracee.tasks[index].tid;
    let planted = replaced(tracee, state, regs.rip).filter(|_| tracee.number(regs.rip, 1) == 0xcc);
    if let Some(byte) = planted {
        memory::poke_byte(tid, regs.rip, byte).map_err(system(SystemAction::LiftTraps))?;
    }
    let status = tracee.step(tid)?;
    if planted.is_some() {
        memory::poke_byte(tid, regs.rip, 0xcc).map_err(system(SystemAction::PlantTraps))?;
    }
    tracee.tasks[index].regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
    Ok(status == WaitStatus::Signal(libc::SIGTRAP))
}

/// Passes a system call that only gives way; `false` if it is another one.
fn pass_pause(tracee: &mut Tracee, index: ThreadIndex) -> Result<bool, ExecutionError> {
    const LEN: u64 = 2;
    let regs = &mut tracee.tasks[index].regs;
    if !is_pause(regs) {
        return Ok(false);
    }
    regs.rip += LEN;
    regs.rcx = regs.rip;
    regs.r11 = regs.eflags;
    regs.rax = 0;
    tracee.write_registers(index)?;
    Ok(true)
}
