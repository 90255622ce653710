//! Stops between key points, for a person who looks on. They take nothing from the program: the execution stays the one
//! that its choices determine.

use std::collections::BTreeSet;

use checker::program::ExecutionError;

use crate::control::process::Process;
use crate::control::state::flow::{Flow, system};
use crate::control::state::sync_objects::Index;
use crate::layout::What;
use crate::os::memory::{self, MemoryFile};
use crate::os::wait::Wait;
use crate::os::{Tid, ptrace};

const TRAP: u8 = 0xcc;
const PAGE: u64 = 4096;

impl Process {
    /// Stops at these instructions from now on, and at no others. A thread that stands at one stays there.
    pub(crate) fn set_probes(&mut self, wanted: &BTreeSet<u64>) -> Result<(), ExecutionError> {
        if self.tracee.probes.wanted == *wanted {
            return Ok(());
        }
        self.hide_probes()?;
        self.tracee.probes.wanted.clone_from(wanted);
        self.show_probes()
    }

    /// Takes the traps away: the code is as it is without anybody looking on.
    pub(crate) fn hide_probes(&mut self) -> Result<(), ExecutionError> {
        let planted = std::mem::take(&mut self.tracee.probes.planted);
        self.write_code(planted.into_iter().collect())
    }

    /// Plants the traps again after [`Process::hide_probes`].
    pub(crate) fn show_probes(&mut self) -> Result<(), ExecutionError> {
        let wanted: Vec<u64> = self.tracee.probes.wanted.iter().copied().collect();
        let mut planted = Vec::with_capacity(wanted.len());
        for page in wanted.chunk_by(|a, b| a / PAGE == b / PAGE) {
            let code = self.read(page[0] & !(PAGE - 1), PAGE as usize);
            let byte = |address: &u64| Some((*address, *code.get((address % PAGE) as usize)?));
            planted.extend(page.iter().filter_map(byte).filter(|(_, byte)| *byte != TRAP));
        }
        self.write_code(planted.iter().map(|(address, _)| (*address, TRAP)).collect())?;
        self.tracee.probes.planted = planted.into_iter().collect();
        Ok(())
    }

    fn write_code(&self, mut bytes: Vec<(u64, u8)>) -> Result<(), ExecutionError> {
        if bytes.is_empty() {
            return Ok(());
        }
        bytes.sort_unstable();
        let file = MemoryFile::open(self.tracee.leader).map_err(system("open the target's memory"))?;
        for page in bytes.chunk_by(|a, b| a.0 / PAGE == b.0 / PAGE) {
            let start = page[0].0 & !(PAGE - 1);
            let mut code = self.read(start, PAGE as usize);
            for (address, byte) in page {
                if let Some(place) = code.get_mut((address - start) as usize) {
                    *place = *byte;
                }
            }
            file.write(start, &code).map_err(system("plant traps"))?;
        }
        Ok(())
    }

    /// A process that the target has forked gets its code without probes.
    pub(crate) fn lift_probes_of(&self, child: Tid) {
        for (&address, &byte) in &self.tracee.probes.planted {
            let _ = memory::poke_byte(child, address, byte);
        }
    }

    /// The running thread has come to a trap: whether that is a probe, at which it now stands.
    pub(crate) fn stops_at_probe(&mut self, index: Index, at: u64) -> bool {
        let is_probe = self.tracee.probes.wanted.contains(&at);
        if is_probe {
            self.tracee.tasks[index].regs.rip = at;
            self.tracee.probes.stopped = Some(index);
        }
        is_probe
    }

    /// Whether the thread that stands at a probe stands at a key point as well, so that it rests there.
    pub(crate) fn rests_at_probe(&self) -> bool {
        let Some(index) = self.tracee.probes.stopped else { return false };
        let at = self.tracee.tasks[index].regs.rip;
        let trap =
            self.tracee.layout.traps.get(&at).filter(|_| !self.tracee.probes.planted.contains_key(&at));
        match trap.map(|trap| &trap.what) {
            Some(What::Access(candidate)) => self.is_key_point(index, *candidate),
            _ => false,
        }
    }

    /// Lets the thread that stands at a probe go on to its next stop.
    pub(crate) fn leave_probe(&mut self) -> Result<(), ExecutionError> {
        let Some(index) = self.tracee.probes.stopped.take() else { return Ok(()) };
        self.tracee.watch.begin(self.tracee.leader, self.tracee.tasks[index].tid);
        match self.pass_probe(index)? {
            Flow::Resume(signal) => self.run_on(index, signal)?,
            Flow::Rest => {}
        }
        self.start_newborn()
    }

    fn pass_probe(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        let at = self.tracee.tasks[index].regs.rip;
        let planted = self.tracee.probes.planted.get(&at).copied();
        if planted.is_none() && self.tracee.layout.traps.contains_key(&at) && self.number(at, 1) as u8 == TRAP
        {
            return self.trapped(index, at);
        }
        self.write_registers(index)?;
        let Some(byte) = planted else { return Ok(Flow::Resume(0)) };
        let tid = self.tracee.tasks[index].tid;
        memory::poke_byte(tid, at, byte).map_err(system("lift a trap"))?;
        let status = loop {
            let status = self.step(tid)?;
            let Ok(regs) = ptrace::registers(tid) else { break status };
            self.tracee.tasks[index].regs = regs;
            // A string instruction stops after every element.
            if status != Wait::Signal(libc::SIGTRAP) || regs.rip != at {
                break status;
            }
        };
        // Not if the step has written over the code, or has ended the process.
        if self.tracee.probes.planted.contains_key(&at) && self.number(at, 1) as u8 == byte {
            memory::poke_byte(tid, at, TRAP).map_err(system("plant a trap"))?;
        }
        if status == Wait::Signal(libc::SIGTRAP) { Ok(Flow::Resume(0)) } else { self.stopped(index, status) }
    }
}
