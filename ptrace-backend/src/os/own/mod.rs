//! This process itself, in contrast to those that it traces: its limits, the way in which it was started, and signals for its own
//! threads.

pub(crate) mod alarm;
pub(crate) mod interrupt_signal;

use std::sync::atomic::{AtomicBool, Ordering};

/// Lets a write that makes a file longer than this process may have it fail, instead of ending the process.
pub(crate) fn survive_long_files() {
    // SAFETY: sets a signal's disposition to a constant.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// A resource of which this process may have a limited amount.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resource {
    AddressSpace,
    /// Memory of its own, in bytes.
    Data,
    OpenFiles,
}

/// The amount of it that this process may have; `None` where that is not limited.
pub(crate) fn allowed(resource: Resource) -> Option<u64> {
    let which = match resource {
        Resource::AddressSpace => libc::RLIMIT_AS,
        Resource::Data => libc::RLIMIT_DATA,
        Resource::OpenFiles => libc::RLIMIT_NOFILE,
    };
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one structure to a valid reference.
    let result = unsafe { libc::getrlimit(which, &raw mut limit) };
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// The size of the machine's memory, in bytes.
pub(crate) fn physical_memory() -> u64 {
    // SAFETY: asks for numbers.
    let [pages, size] = [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
    let [pages, size] = [pages, size].map(|number| u64::try_from(number).unwrap_or(0));
    pages.saturating_mul(size)
}

/// Whether the process was started without a standard output.
static HAS_NO_OUTPUT: AtomicBool = AtomicBool::new(false);

/// Runs before the standard library does, which opens `/dev/null` in place of what is closed.
#[used]
// SAFETY: the section holds pointers to functions of this type, which the dynamic linker calls once.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look_at_output;

extern "C" fn look_at_output() {
    // SAFETY: asks for a flag of a descriptor that may be closed, and changes nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    HAS_NO_OUTPUT.store(flags == -1, Ordering::Relaxed);
}

/// Whether the process was started without a standard output.
pub(crate) fn has_no_output() -> bool {
    HAS_NO_OUTPUT.load(Ordering::Relaxed)
}
