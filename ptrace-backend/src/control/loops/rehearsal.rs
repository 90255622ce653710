//! Rehearsals: the next iteration of what may be a spin loop, run by an interpreter on a copy of what the thread sees. Most suspicions
//! turn out to be none that way, without a step of the thread's own.
//!
//! A rehearsal says no only where the experiment ([`super::spin`]) would. Where an instruction is not known, and where the thread comes
//! back as it was, the experiment is made.

use std::collections::hash_map::Entry;

use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic};
use rustc_hash::FxHashMap;

use super::trial::{UsedMemory, is_pause, is_writable_data, may_be_tried, owns, used_memory};
use crate::control::state::memory::MemoryState;
use crate::control::state::spinning::same_registers;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::instructions::{ARITHMETIC, InterpretedMemory, Interpreter};
use crate::layout::Trap;
use crate::os::Regs;

const PAGE: u64 = 4096;

/// The longest instruction, in bytes.
const LONGEST: usize = 15;

/// Memory as the thread sees it, with what the rehearsal has stored.
struct RehearsedMemory<'t> {
    tracee: &'t Tracee,
    data: FxHashMap<u64, Vec<u8>>,
    /// Code without traps.
    code: FxHashMap<u64, Vec<u8>>,
}

impl RehearsedMemory<'_> {
    /// The page that an address is in, from there on; empty if it cannot be read.
    fn rest(&mut self, address: u64) -> &mut [u8] {
        let start = address & !(PAGE - 1);
        let page = match self.data.entry(start) {
            Entry::Occupied(page) => page.into_mut(),
            Entry::Vacant(place) => place.insert(self.tracee.read(start, PAGE as usize)),
        };
        page.get_mut((address - start) as usize..).unwrap_or_default()
    }

    fn at(&mut self, address: u64, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.read(address, &mut bytes).then_some(bytes)
    }

    /// The instruction at an address of a module, as it is without traps.
    fn instruction(&mut self, memory: &MemoryState, at: u64) -> Option<Instruction> {
        let layout = &self.tracee.layout;
        let (_, module) = layout.module_at(at)?;
        if layout.closed.contains(at) {
            return None;
        }
        if memory.hidden.trapped.contains_key(&at) || module.mapped.range.end - at < LONGEST as u64 {
            return None;
        }
        let mut bytes = [0; LONGEST];
        for (place, byte) in (at..).zip(&mut bytes) {
            let start = place & !(PAGE - 1);
            let tracee = self.tracee;
            let page = self.code.entry(start).or_insert_with(|| tracee.code(start, PAGE as usize));
            *byte = *page.get((place - start) as usize)?;
        }
        if let Some(first) = layout.traps.get(&at).map(Trap::byte) {
            bytes[0] = first;
        }
        let instruction = Decoder::with_ip(64, &bytes, at, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }
}

impl InterpretedMemory for RehearsedMemory<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        let mut read = 0;
        while read < bytes.len() {
            let rest = self.rest(address.wrapping_add(read as u64));
            let len = rest.len().min(bytes.len() - read);
            if len == 0 {
                return false;
            }
            bytes[read..read + len].copy_from_slice(&rest[..len]);
            read += len;
        }
        true
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        let mut written = 0;
        while written < bytes.len() {
            let rest = self.rest(address.wrapping_add(written as u64));
            let len = rest.len().min(bytes.len() - written);
            if len == 0 {
                return false;
            }
            rest[..len].copy_from_slice(&bytes[written..written + len]);
            written += len;
        }
        true
    }
}

/// The end of a rehearsal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RehearsalEnd {
    /// The thread comes back to where and as it is, as far as general registers and memory tell. `alone`: it has looked at nothing on the way
    /// but its own stack, its thread-local variables, and what does not change.
    ComesBack { alone: bool },
    /// It does not.
    GoesOn,
    /// Neither is known.
    Unknown,
}

/// Whether the thread does not come back, within so many instructions, to where and as it is; `false` if that is not known.
pub(super) fn refutes(tracee: &Tracee, memory: &MemoryState, index: ThreadIndex, longest: u32) -> bool {
    rehearse(tracee, memory, index, (longest, 1)) == RehearsalEnd::GoesOn
}

/// Whether the thread seems to come back, within so many instructions and any number of rounds, to where and as it is, having looked at nothing that another
/// thread has to itself or shares.
pub(super) fn goes_round_alone(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    longest: u32,
) -> bool {
    rehearse(tracee, memory, index, (longest, longest)) == RehearsalEnd::ComesBack { alone: true }
}

/// Rehearses so many instructions, and so many rounds of the loop, at most.
fn rehearse(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    (longest, rounds): (u32, u32),
) -> RehearsalEnd {
    let start = tracee.tasks[index].regs;
    let mut rehearsed = RehearsedMemory { tracee, data: FxHashMap::default(), code: FxHashMap::default() };
    let mut interpreter = Interpreter::new(start);
    let mut info = InstructionInfoFactory::new();
    let mut stored: Vec<(u64, usize)> = Vec::new();
    let (mut alone, mut rounds_left) = (true, rounds);
    for _ in 0..longest {
        let regs = interpreter.regs;
        let Some(instruction) = rehearsed.instruction(memory, regs.rip) else { return RehearsalEnd::Unknown };
        if instruction.mnemonic() == Mnemonic::Syscall {
            if !is_pause(&regs) {
                return RehearsalEnd::GoesOn;
            }
            alone = false;
            interpreter.regs = Regs {
                rip: instruction.next_ip(),
                rcx: instruction.next_ip(),
                r11: regs.eflags,
                rax: 0,
                ..regs
            };
        } else {
            let uses = may_be_tried(tracee, &instruction, regs.rip)
                .then(|| used_memory(&instruction, &regs, &mut info))
                .flatten();
            let Some(uses) = uses else { return RehearsalEnd::GoesOn };
            let is_own = |address: u64| owns(tracee, memory, index, address);
            let may_change = |used: &UsedMemory| {
                used.reads && !is_own(used.address) && is_writable_data(tracee, used.address)
            };
            alone &= !uses.iter().any(may_change);
            let stores = uses.iter().filter(|used| used.writes).map(|used| (used.address, used.len));
            let before: Option<Vec<(u64, Vec<u8>)>> =
                stores.map(|(address, len)| Some((address, rehearsed.at(address, len)?))).collect();
            let (Some(before), Some(())) = (before, interpreter.step(&instruction, &mut rehearsed)) else {
                return RehearsalEnd::Unknown;
            };
            let changes = |(address, old): &(u64, Vec<u8>)| {
                !is_own(*address) && rehearsed.at(*address, old.len()).is_none_or(|new| new != *old)
            };
            if before.iter().any(changes) {
                return RehearsalEnd::GoesOn;
            }
            stored.extend(before.iter().map(|(address, old)| (*address, old.len())));
        }
        if interpreter.regs.rip == start.rip {
            let seen = |regs: Regs| Regs { eflags: regs.eflags & !ARITHMETIC, ..regs };
            let is_same = same_registers(&seen(interpreter.regs), &seen(start))
                && stored
                    .iter()
                    .all(|&(address, len)| rehearsed.at(address, len) == Some(tracee.read(address, len)));
            if is_same {
                return RehearsalEnd::ComesBack { alone };
            }
            rounds_left -= 1;
            if rounds_left == 0 {
                break;
            }
        }
    }
    RehearsalEnd::GoesOn
}
