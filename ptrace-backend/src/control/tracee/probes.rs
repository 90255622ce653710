//! Stops between key points, for a person who looks on. They take nothing from the program: the execution stays the one
//! that its choices determine.

use std::collections::BTreeSet;

use checker::program::ExecutionError;

use crate::control::state::flow::system;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::Tid;
use crate::os::memory::{self, MemoryFile};

pub(crate) const TRAP: u8 = 0xcc;
const PAGE: u64 = 4096;

impl Tracee {
    /// Stops at these instructions from now on, and at no others. A thread that stands at one stays there.
    pub(crate) fn set_probes(&mut self, wanted: &BTreeSet<u64>) -> Result<(), ExecutionError> {
        if self.probes.wanted == *wanted {
            return Ok(());
        }
        // A person may stop in the middle of what a detour covers.
        self.end_detours()?;
        self.hide_probes()?;
        self.probes.wanted.clone_from(wanted);
        self.show_probes()
    }

    /// Takes the traps away: the code is as it is without anybody looking on.
    pub(crate) fn hide_probes(&mut self) -> Result<(), ExecutionError> {
        let planted = std::mem::take(&mut self.probes.planted);
        self.write_code(planted.into_iter().collect())
    }

    /// Plants the traps again after [`Tracee::hide_probes`].
    pub(crate) fn show_probes(&mut self) -> Result<(), ExecutionError> {
        let wanted: Vec<u64> = self.probes.wanted.iter().copied().collect();
        let mut planted = Vec::with_capacity(wanted.len());
        for page in wanted.chunk_by(|a, b| a / PAGE == b / PAGE) {
            let code = self.read(page[0] & !(PAGE - 1), PAGE as usize);
            let byte = |address: &u64| Some((*address, *code.get((address % PAGE) as usize)?));
            planted.extend(page.iter().filter_map(byte).filter(|(_, byte)| *byte != TRAP));
        }
        self.write_code(planted.iter().map(|(address, _)| (*address, TRAP)).collect())?;
        self.probes.planted = planted.into_iter().collect();
        Ok(())
    }

    pub(super) fn write_code(&self, mut bytes: Vec<(u64, u8)>) -> Result<(), ExecutionError> {
        if bytes.is_empty() {
            return Ok(());
        }
        bytes.sort_unstable();
        let file = MemoryFile::open(self.leader).map_err(system("open the target's memory"))?;
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
        for (&address, &byte) in &self.probes.planted {
            let _ = memory::poke_byte(child, address, byte);
        }
    }

    /// The running thread has come to a trap: whether that is a probe, at which it now stands.
    pub(crate) fn stops_at_probe(&mut self, index: ThreadIndex, at: u64) -> bool {
        let is_probe = self.probes.wanted.contains(&at);
        if is_probe {
            self.tasks[index].regs.rip = at;
            self.probes.stopped = Some(index);
        }
        is_probe
    }
}
