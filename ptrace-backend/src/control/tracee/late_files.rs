//! Code and data of files that the process has mapped since the start, as libraries that are loaded later are: their addresses depend
//! on what else was mapped before.

use checker::names::Site;

use crate::control::state::memory::MemoryState;
use crate::control::tracee::Tracee;
use crate::layout::module::is_system;
use crate::layout::of_late_file;
use crate::target::modules;

/// The schedule-independent name of a code address.
pub(crate) fn site(tracee: &Tracee, address: u64) -> Site {
    if tracee.layout.module_at(address).is_some() {
        return tracee.layout.site(address);
    }
    match modules::file_at(tracee.leader, address) {
        Some((path, start)) => of_late_file(&path, address - start),
        None => tracee.layout.site(address),
    }
}

/// Whether an address is in the code or data of one of the system's libraries, of which the C library loads some itself: for instance the
/// one that unwinds the stack of a thread that ends.
pub(crate) fn in_system_library(tracee: &Tracee, memory: &MemoryState, address: u64) -> bool {
    tracee.layout.in_system_library(address)
        || memory.has_late_files
            && tracee.layout.module_at(address).is_none()
            && modules::file_at(tracee.leader, address).is_some_and(|(path, _)| is_system(&path))
}

/// Whether synchronisation on an object, called for from here, is none of the program's ([`crate::layout::Layout::is_own_affair`]).
pub(crate) fn is_own_affair(tracee: &Tracee, memory: &MemoryState, caller: u64, object: u64) -> bool {
    tracee.layout.is_own_affair(caller, object)
        || memory.has_late_files
            && in_system_library(tracee, memory, caller)
            && in_system_library(tracee, memory, object)
}
