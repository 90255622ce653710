//! The kernel at the border: system calls, signals, child processes, and the end of the process.

pub(crate) mod accesses;
pub(crate) mod child_processes;
pub(crate) mod clock;
pub(crate) mod files;
pub(crate) mod long_writes;
pub(crate) mod made_files;
pub(crate) mod own_numbers;
pub(crate) mod partial_calls;
pub(crate) mod process_exit;
pub(crate) mod quiescence;
pub(crate) mod signals;
pub(crate) mod syscalls;
pub(crate) mod system_v;
pub(crate) mod thread_creation;
pub(crate) mod time_arguments;
pub(crate) mod timers;
mod written_code;
