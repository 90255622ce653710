//! The signals that a thread has, blocks, ignores and catches.

use crate::control::state::pending::AwaitedSignal;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::Tid;

/// A thread's signals as the kernel has them: blocked, pending, ignored, caught. Signal `n` is bit `n - 1`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signals {
    pub(crate) pending: u64,
    pub(crate) blocked: u64,
    pub(crate) ignored: u64,
    pub(crate) caught: u64,
}

/// Signals that do nothing to a program that does not handle them.
const HARMLESS: u64 = bit(libc::SIGCHLD) | bit(libc::SIGURG) | bit(libc::SIGWINCH) | bit(libc::SIGCONT);

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// The bit of a signal; none for what is no signal.
fn of(signal: i32) -> u64 {
    u32::try_from(signal - 1).ok().and_then(|shift| 1_u64.checked_shl(shift)).unwrap_or(0)
}

impl Signals {
    /// Those of a thread; `None` if it is gone.
    pub(crate) fn of(tid: Tid) -> Option<Self> {
        let status = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
        let field = |name: &str| {
            let mask = status.lines().find_map(|line| line.strip_prefix(name))?;
            u64::from_str_radix(mask.trim(), 16).ok()
        };
        Some(Self {
            pending: field("SigPnd:")? | field("ShdPnd:")?,
            blocked: field("SigBlk:")?,
            ignored: field("SigIgn:")?,
            caught: field("SigCgt:")?,
        })
    }

    /// Signals that change what the thread does if it gets them.
    pub(crate) fn effective(self) -> u64 {
        self.caught | !(self.ignored | HARMLESS)
    }

    /// Whether the program leaves this signal to its default action, which ends it unless the signal is harmless.
    pub(crate) fn is_unhandled(self, signal: i32) -> bool {
        (self.caught | self.ignored) & of(signal) == 0
    }

    /// Whether a handler of the program runs when the signal arrives.
    pub(crate) fn is_caught(self, signal: i32) -> bool {
        self.caught & of(signal) != 0
    }

    /// Whether the thread blocks this signal.
    pub(crate) fn blocks(self, signal: i32) -> bool {
        self.blocked & of(signal) != 0
    }

    /// Whether this signal does something to the thread if it comes now.
    pub(crate) fn takes(self, signal: i32) -> bool {
        self.effective() & !self.blocked & of(signal) != 0
    }

    /// Whether this signal is there and has not been taken.
    pub(crate) fn is_pending(self, signal: i32) -> bool {
        self.pending & of(signal) != 0
    }

    pub(crate) fn has(self, awaited: AwaitedSignal) -> bool {
        let wanted = match awaited {
            AwaitedSignal::Any(set) => set,
            AwaitedSignal::Unblocked(blocked) => self.effective() & !blocked,
            AwaitedSignal::Effective => self.effective() & !self.blocked,
        };
        self.pending & wanted != 0
    }
}

/// Whether a signal is there that ends this wait.
pub(crate) fn has_arrived(tracee: &Tracee, index: ThreadIndex, awaited: AwaitedSignal) -> bool {
    Signals::of(tracee.tasks[index].tid).is_none_or(|signals| signals.has(awaited))
}
