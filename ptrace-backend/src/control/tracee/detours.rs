//! Detours in the code of a copy: put there, taken away, left by threads, and the accesses that they have taken down.

use std::ops::Range;
use std::sync::Arc;

use checker::program::ExecutionError;

use crate::control::knowledge::armed_code::DetouredCode;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::control::tracee::probes::TRAP;
use crate::error::{SystemAction, system};
use crate::instructions::detour::access_logging::{ARGUMENT_SHIFT, ARGUMENTS, RETURN_ADDRESS};
use crate::instructions::detour::hand_off::HandOff;
use crate::instructions::detour::log::{Log, WIDEST};
use crate::instructions::detour::{CopiedInstruction, Detour, JUMP, landing};
use crate::layout::TrapKind;
use crate::layout::detours::Detours;
use crate::os::hand_off::PageSlot;
use crate::os::memory::MemoryFile;
use crate::os::{Regs, Tid, memory, ptrace};

/// An entry of the log: a part of what was taken down of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoggedAccess {
    /// Or [`Layout::frees`](crate::layout::Layout::frees).
    pub(crate) candidate: usize,
    /// Of a call: the number of the argument, below [`ARGUMENTS`], or [`RETURN_ADDRESS`].
    pub(crate) argument: usize,
    /// The argument, or the address of an access, as the instruction names it.
    pub(crate) value: u64,
}

/// The meaning of a breakpoint for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InDetour {
    /// None of a detour's.
    No,
    /// It has been led on its way.
    GoesOn,
    /// It stands before the instruction at this address, as at a trap.
    Asks(u64),
}

impl Tracee {
    fn log(&self) -> Option<Log> {
        self.layout.detours.as_ref().map(|detours| detours.log)
    }

    /// Whether there can be detours: they have a log, and the program has mapped nothing else in its place.
    pub(crate) fn has_log(&self) -> bool {
        let Some(log) = self.log().filter(|_| !self.detouring.over) else { return false };
        let cursor = HandOff::below(log.start).address(PageSlot::LogCursor);
        self.number(u64::from(cursor), 8) == log.empty()
    }

    /// A part of the log's state.
    pub(super) fn log_state(&self, field: PageSlot) -> u64 {
        match (&self.page, self.hand_off()) {
            (Some(page), _) => page.get(field),
            (None, Some(hand_off)) => self.number(u64::from(hand_off.address(field)), 8),
            (None, None) => 0,
        }
    }

    /// Empties the log. `false`: the process is gone.
    fn empty_log(&self, log: Log) -> bool {
        let Some(page) = &self.page else {
            let place = HandOff::below(log.start).address(PageSlot::LogCursor);
            return self.write(u64::from(place), &log.empty().to_le_bytes());
        };
        page.put(PageSlot::LogCursor, log.empty());
        true
    }

    /// Plants the code with detours. From now on what they take down has to be looked at wherever a thread stops.
    pub(crate) fn begin_detours(&mut self, detoured_code: Arc<DetouredCode>) -> std::io::Result<()> {
        detoured_code.code.plant(self.leader)?;
        if !detoured_code.detours.is_empty() {
            let (first, flags) = &detoured_code.flags;
            self.set_flags(*first, flags)?;
            self.detouring.used = Some(detoured_code);
            self.detouring.on = true;
        }
        Ok(())
    }

    /// Candidates with a detour in use at which threads stop, whatever memory they touch, while its flag is set.
    pub(super) fn stops_by_flag(&self, candidate: usize) -> bool {
        self.detouring.on
            && self.detouring.covers(candidate)
            && self.layout.candidates[candidate].logged_operand().is_none()
    }

    /// Sets the flag of `free` for a thread that is about to go on. What a harness frees is not kept.
    pub(super) fn prepare_free(&mut self, index: ThreadIndex) {
        let keeps_freed = self.detouring.used.as_ref().is_some_and(|code| code.keeps_freed);
        let stops = keeps_freed && !self.is_of_harness(index);
        if stops != self.detouring.stops_at_free {
            // A failure means that the process is gone, which waiting for it tells.
            _ = self.set_flags(self.layout.frees(), &[stops.into()]);
            self.detouring.stops_at_free = stops;
        }
    }

    /// Sets the flags of the candidates from this one on ([`Log::flag`]).
    pub(super) fn set_flags(&self, first: usize, flags: &[u8]) -> std::io::Result<()> {
        let Some(log) = self.log().filter(|_| !flags.is_empty()) else { return Ok(()) };
        if self.write(u64::from(log.flag(first)), flags) {
            return Ok(());
        }
        Err(std::io::Error::last_os_error())
    }

    /// Puts traps in the place of detours. For good, or until [`Tracee::resume_detours`].
    pub(crate) fn pause_detours(&mut self) -> Result<(), ExecutionError> {
        if !std::mem::take(&mut self.detouring.on) {
            return Ok(());
        }
        let trapped = |detour: &Detour| {
            let mut bytes = detour.original;
            for &CopiedInstruction { address, candidate, .. } in &detour.copied {
                let offset = (address - detour.from) as usize;
                let may_trap = candidate.is_none_or(|candidate| self.knowledge.status(candidate).may_trap());
                if let Some(byte) = bytes.get_mut(offset).filter(|_| may_trap) {
                    *byte = JUMP[1];
                }
            }
            (detour.from..).zip(bytes)
        };
        self.write_code(self.used_detours().flat_map(trapped).collect())
    }

    /// Takes detours away for the rest of the execution.
    pub(crate) fn end_detours(&mut self) -> Result<(), ExecutionError> {
        self.pause_detours()?;
        if std::mem::take(&mut self.detouring.of_functions) {
            let trapped = |detour: &Detour| {
                let mut bytes = detour.original;
                bytes[0] = JUMP[1];
                (detour.from..).zip(bytes)
            };
            let functions = self.layout.detours.iter().flat_map(|detours| detours.functions());
            self.write_code(functions.flat_map(trapped).collect())?;
        }
        (self.detouring.used, self.detouring.over) = (None, true);
        Ok(())
    }

    /// Puts detours back.
    pub(crate) fn resume_detours(&mut self) -> Result<(), ExecutionError> {
        if self.detouring.used.is_none() || std::mem::replace(&mut self.detouring.on, true) {
            return Ok(());
        }
        self.write_code(self.used_detours().flat_map(|detour| (detour.from..).zip(JUMP)).collect())
    }

    /// Whether the jump of a detour stands over the instruction at an address, so that it is no instruction of the program's.
    pub(crate) fn is_detoured(&self, at: u64) -> bool {
        let used = self.detouring.used.as_ref().filter(|_| self.detouring.on);
        let over = || self.layout.detours.as_ref()?.over(at);
        used.is_some_and(|detoured_code| over().is_some_and(|place| detoured_code.detours.contains(&place)))
    }

    /// The address to which a function is to return that is to stop at [`Layout::returned`](crate::layout::Layout::returned).
    pub(crate) fn returns_to(&self) -> u64 {
        let detours = self.layout.detours.as_ref().filter(|_| !self.detouring.over);
        detours.map_or(self.layout.returned, |detours| detours.returns_to)
    }

    /// Takes the traps, or the detours, at the entries of these functions away.
    pub(crate) fn lift_entries(&self, entries: impl Iterator<Item = u64>) -> Result<(), ExecutionError> {
        let original = |entry| match self.detour_at_entry(entry) {
            Some(detour) => (entry..).zip(detour.original.to_vec()),
            None => (entry..).zip(vec![self.layout.traps[&entry].byte()]),
        };
        self.write_code(entries.flat_map(original).collect())
    }

    /// Puts them back.
    pub(crate) fn plant_entries(&self, entries: impl Iterator<Item = u64>) -> Result<(), ExecutionError> {
        let planted = |entry| match self.detour_at_entry(entry) {
            Some(_) => (entry..).zip(JUMP.to_vec()),
            None => (entry..).zip(vec![JUMP[1]]),
        };
        self.write_code(entries.flat_map(planted).collect())
    }

    /// The detour in use that begins at the entry of a function.
    fn detour_at_entry(&self, entry: u64) -> Option<&Detour> {
        let place = self.layout.detours.as_ref()?.over(entry).filter(|_| self.is_detoured(entry))?;
        self.layout.detours.as_ref()?.all.get(place).filter(|detour| detour.from == entry)
    }

    fn used_detours(&self) -> impl Iterator<Item = &Detour> {
        let places = self.detouring.used.iter().flat_map(|detoured_code| &detoured_code.detours);
        let all = self.layout.detours.as_ref();
        places.filter_map(move |&place| all?.all.get(place))
    }

    /// A process that the target has forked gets its code without detours.
    pub(crate) fn lift_detours_of(&self, child: Tid) {
        let functions = self.layout.detours.iter().filter(|_| self.detouring.of_functions);
        let functions = functions.flat_map(|detours| detours.functions());
        if let Ok(file) = MemoryFile::open(child) {
            for detour in self.used_detours().filter(|_| self.detouring.on).chain(functions) {
                // A failure means that the process is gone.
                _ = file.write(detour.from, &detour.original);
            }
        }
    }

    /// If a thread stands in a detour, puts it to the instruction that it has not run yet. Says whether it stood there; its
    /// registers are still to be written.
    pub(crate) fn restore_from_detour(&self, regs: &mut Regs) -> bool {
        let Some(detours) = &self.layout.detours else { return false };
        let saved = || (self.log_state(PageSlot::LogRax), self.log_state(PageSlot::LogRcx));
        let is_inside = self.restore_from_hand_off(regs);
        detours.restore(regs, saved) || is_inside
    }

    /// A thread has stopped for a fault. If that is one of the code that takes down accesses or hands threads over, which reads the
    /// innermost part of the stack wherever that is, and has the program's flags, puts the thread to its key point, and returns that.
    pub(crate) fn own_fault(&mut self, index: ThreadIndex) -> Result<Option<u64>, ExecutionError> {
        let tid = self.tasks[index].tid;
        if !ptrace::signal_info(tid).is_ok_and(|info| ptrace::is_fault(&info)) {
            return Ok(None);
        }
        let mut regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
        let detours = self.layout.detours.as_ref();
        let takes_down = detours
            .is_some_and(|detours| detours.around(regs.rip).is_some_and(|it| it.takes_down_at(regs.rip)));
        let is_own = if takes_down {
            self.restore_from_detour(&mut regs)
        } else {
            self.restore_from_hand_off(&mut regs)
        };
        if !is_own || !self.layout.traps.contains_key(&regs.rip) {
            return Ok(None);
        }
        self.tasks[index].regs = regs;
        self.write_registers(index)?;
        Ok(Some(regs.rip))
    }

    /// A thread that stands at an instruction of a copy, and has been let go from there, runs that: its event has been counted.
    pub(crate) fn step_out_of_copy(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        self.leave_hand_off(index)?;
        let layout = Arc::clone(&self.layout);
        let instruction = |rip| layout.detours.as_ref()?.instruction_at(rip);
        let Some(copy) = instruction(self.tasks[index].regs.rip) else { return Ok(()) };
        self.step_while(index, |rip| copy.contains(&rip)).map(drop)
    }

    /// Puts a thread that stands in a detour to the instruction that it has not run yet.
    pub(crate) fn leave_detour(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let mut regs = self.tasks[index].regs;
        if self.restore_from_detour(&mut regs) {
            self.tasks[index].regs = regs;
            self.write_registers(index)?;
        }
        Ok(())
    }

    /// The meaning of a breakpoint at this address, which is no trap, for the thread that has stopped there.
    pub(crate) fn stop_in_detour(&mut self, index: ThreadIndex, at: u64) -> Result<InDetour, ExecutionError> {
        let layout = Arc::clone(&self.layout);
        // Detours may have ended while the thread is in a copy.
        let Some(detours) = &layout.detours else { return Ok(InDetour::No) };
        let is_in_code = |at| {
            let place = detours.over(at).map(|place| detours.all[place].from);
            self.detouring.on
                || self.detouring.of_functions && place.is_some_and(|from| detours.is_function(from))
        };
        if let Some(entry) = detours.entry(at).filter(|_| is_in_code(at)) {
            self.tasks[index].regs.rip = entry;
            self.write_registers(index)?;
            return Ok(InDetour::GoesOn);
        }
        if let Some(address) = detours.asks(at + 1) {
            self.leave_detour(index)?;
            return Ok(InDetour::Asks(address));
        }
        let is_inside = detours.around(at).is_some_and(|detour| detour.from != at);
        Ok(if is_inside { InDetour::GoesOn } else { InDetour::No })
    }

    /// Whether a breakpoint at an address is a byte of a jump to a detour that stands for no instruction.
    pub(crate) fn is_within_jump(&self, at: u64) -> bool {
        let overwritten = |detours: &Detours| {
            let detour = &detours.all[detours.over(at)?];
            detour.original.get(at.wrapping_sub(detour.from) as usize).copied()
        };
        let original = self.layout.detours.as_ref().filter(|_| self.detouring.on).and_then(overwritten);
        original.is_some_and(|original| original != TRAP)
    }

    /// Whether a thread that gets this signal comes from a breakpoint, or a jump to a detour, that is in no file's code: in a copy of such.
    pub(crate) fn has_left_by_copy(&self, index: ThreadIndex, signal: i32) -> bool {
        let rip = self.tasks[index].regs.rip;
        let (from, replaced) = match signal {
            libc::SIGTRAP => (rip.wrapping_sub(1), &[TRAP][..]),
            libc::SIGSEGV => (rip.wrapping_sub(landing(0)), &JUMP[..]),
            _ => return false,
        };
        let mut bytes = [0; JUMP.len()];
        let bytes = &mut bytes[..replaced.len()];
        self.layout.module_at(from).is_none() && memory::read(self.leader, from, bytes) && bytes == replaced
    }

    /// The place of the instruction at a trap in the copy of its detour, if that is in use.
    pub(crate) fn copy_in_detour(&self, at: u64) -> Option<u64> {
        let is_in_use = match self.layout.traps.get(&at)?.kind {
            TrapKind::Access(candidate) => self.detouring.on && self.detouring.covers(candidate),
            TrapKind::Function { .. } => self.detouring.of_functions,
            TrapKind::Allocator(_) | TrapKind::Foreign(_) => self.is_detoured(at),
            _ => false,
        };
        self.layout.detours.as_ref().filter(|_| is_in_use)?.runs(at)
    }

    /// `len` bytes at this address are private from now on, until [`Tracee::forget_private`].
    pub(crate) fn note_private(&mut self, address: u64, len: u32) {
        if let Some(log) = self.log()
            && self.fill(log.place(address), &[Log::private(address, len)])
        {
            self.detouring.private.insert(address);
        }
    }

    /// So are all accesses that begin in these chunks.
    pub(crate) fn note_private_chunks(&mut self, chunks: Range<u64>) {
        let Some(log) = self.log() else { return };
        // Behind the last place of the table comes the first one.
        let room = u64::from(Log::CHUNKS) - chunks.start % u64::from(Log::CHUNKS);
        let chunks = chunks.start..chunks.end.min(chunks.start + room);
        let values: Vec<u64> = chunks.clone().map(Log::private_chunk).collect();
        if self.fill(log.chunk_place(chunks.start), &values) {
            self.detouring.private_chunks.extend(chunks);
        }
    }

    /// Writes words into the tables. `false`: the process is gone.
    fn fill(&self, place: u32, words: &[u64]) -> bool {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.write(u64::from(place), &bytes)
    }

    /// Memory has another name, or another owner: what was known of it does not hold.
    pub(crate) fn forget_private(&mut self, bytes: &Range<u64>) {
        let Some(log) = self.log() else { return };
        let first = bytes.start.saturating_sub(u64::from(WIDEST) - 1);
        if first >= bytes.end {
            return;
        }
        let known: Vec<u64> = self.detouring.private.range(first..bytes.end).copied().collect();
        for address in known {
            self.detouring.private.remove(&address);
            // A failure means that the process is gone. Another address may have the place by now.
            _ = self.fill(log.place(address), &[0]);
        }
        let chunks = first / Log::CHUNK..=(bytes.end - 1) / Log::CHUNK;
        let known: Vec<u64> = self.detouring.private_chunks.range(chunks).copied().collect();
        for chunk in known {
            self.detouring.private_chunks.remove(&chunk);
            _ = self.fill(log.chunk_place(chunk), &[0]);
        }
    }

    /// Whether the log, or what copies and hand-offs have beside it, is in this memory.
    pub(crate) fn keeps_log_in(&self, bytes: &Range<u64>) -> bool {
        let log = self.log();
        let place = log.map(|log| {
            u64::from(HandOff::below(log.start).code())
                ..u64::from(log.end_of_flags(self.layout.candidates.len()))
        });
        place.is_some_and(|place| bytes.start < place.end && place.start < bytes.end)
    }

    /// The accesses taken down since the last call, the first one first; empties the log. `None`: the program has
    /// written over the log.
    pub(crate) fn take_log(&self) -> Result<Option<Vec<LoggedAccess>>, ExecutionError> {
        let Some(log) = self.log() else { return Ok(None) };
        let written = self.log_state(PageSlot::LogCursor).wrapping_sub(log.empty());
        if written == 0 {
            return Ok(Some(Vec::new()));
        }
        let per_entry = Log::WORDS as u64;
        if written % per_entry != 0 || written > u64::from(log.entries) * per_entry {
            return Ok(None);
        }
        let Some(words) = self.log_words(log, written as usize) else {
            // The process is gone, and all that it had taken down before its last stop is known.
            return Ok(Some(Vec::new()));
        };
        if !self.empty_log(log) {
            return Err(system(SystemAction::WriteLog)(std::io::Error::last_os_error()));
        }
        let entry = |words: &[u64]| {
            let number = words[1] as u32 as usize;
            LoggedAccess {
                value: words[0],
                candidate: number & ((1 << ARGUMENT_SHIFT) - 1),
                argument: number >> ARGUMENT_SHIFT,
            }
        };
        let taken: Vec<LoggedAccess> = words.chunks_exact(Log::WORDS).map(entry).collect();
        let is_known = |entry: &LoggedAccess| match entry.argument {
            RETURN_ADDRESS => entry.candidate < self.layout.frees(),
            _ => entry.candidate <= self.layout.frees() && entry.argument < ARGUMENTS,
        };
        let is_whole = taken.iter().all(is_known);
        Ok(is_whole.then_some(taken))
    }

    /// The first words of the log; `None`: they cannot be read.
    fn log_words(&self, log: Log, count: usize) -> Option<Vec<u64>> {
        if let Some(page) = &self.page {
            return Some(page.log(count).collect());
        }
        let bytes = self.read(u64::from(log.start), count * size_of::<u64>());
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Some(words).filter(|words| words.len() == count)
    }
}
