//! Limits of this process itself.

/// Lets a write that makes a file longer than this process may have it fail, instead of ending the process.
pub(crate) fn survive_long_files() {
    // SAFETY: sets a signal's disposition to a constant.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// How much address space this process may have, in bytes; `None` where that is not limited.
pub(crate) fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one structure to a valid reference.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}
