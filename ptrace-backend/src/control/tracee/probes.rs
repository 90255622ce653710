//! Stops between key points, for an observer. They take nothing from the program: the execution stays the one that its choices
//! determine.

use std::collections::BTreeSet;

use checker::program::ExecutionError;

use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{PAGE, Tracee};
use crate::os::Tid;
use crate::os::memory;

pub(crate) const TRAP: u8 = 0xcc;

/// Stops at these instructions from now on, and at no others. A thread that stands at one stays there.
pub(crate) fn set(tracee: &mut Tracee, wanted: &BTreeSet<u64>) -> Result<(), ExecutionError> {
    if tracee.probes.wanted == *wanted {
        return Ok(());
    }
    // An observer may stop in the middle of what a detour covers.
    tracee.end_detours()?;
    hide(tracee)?;
    tracee.probes.wanted.clone_from(wanted);
    show(tracee)
}

/// Takes the traps away: the code is as it is without an observer.
pub(crate) fn hide(tracee: &mut Tracee) -> Result<(), ExecutionError> {
    let planted = std::mem::take(&mut tracee.probes.planted);
    tracee.write_code(planted.into_iter().collect())
}

/// Plants the traps again after [`hide`].
pub(crate) fn show(tracee: &mut Tracee) -> Result<(), ExecutionError> {
    let wanted: Vec<u64> = tracee.probes.wanted.iter().copied().collect();
    let mut planted = Vec::with_capacity(wanted.len());
    for page in wanted.chunk_by(|a, b| a / PAGE == b / PAGE) {
        let code = tracee.read(page[0] & !(PAGE - 1), PAGE as usize);
        let byte = |address: &u64| Some((*address, *code.get((address % PAGE) as usize)?));
        planted.extend(page.iter().filter_map(byte).filter(|(_, byte)| *byte != TRAP));
    }
    tracee.write_code(planted.iter().map(|(address, _)| (*address, TRAP)).collect())?;
    tracee.probes.planted = planted.into_iter().collect();
    Ok(())
}

/// A process that the target has forked gets its code without probes.
pub(crate) fn lift_from(tracee: &Tracee, child: Tid) {
    for (&address, &byte) in &tracee.probes.planted {
        let _ = memory::poke_byte(child, address, byte);
    }
}

/// The running thread has come to a trap: whether that is a probe, at which it now stands.
pub(crate) fn stops_at(tracee: &mut Tracee, index: ThreadIndex, at: u64) -> bool {
    let is_probe = tracee.probes.wanted.contains(&at);
    if is_probe {
        tracee.tasks[index].regs.rip = at;
        tracee.probes.stopped = Some(index);
    }
    is_probe
}
