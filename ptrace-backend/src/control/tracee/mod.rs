//! The traced process itself: what the kernel and the processor have of it, and how it is read, changed and let go on.

pub(crate) mod hearing;
mod injected_calls;
pub(crate) mod machine;
pub(crate) mod probes;

use std::sync::Arc;

use checker::names::Site;
use rustc_hash::FxHashMap;

use crate::control::knowledge::Shared;
use crate::control::state::pending::Call;
use crate::control::state::probes::Probes;
use crate::control::state::thread::Part;
use crate::control::watchdog::Watch;
use crate::layout::Layout;
use crate::os::wait::Wait;
use crate::os::{Regs, Tid};
use crate::spec::Stepping;

/// A traced process.
pub(crate) struct Tracee {
    /// The process, and its main thread.
    pub(crate) leader: Tid,
    /// A process whose code holds no traps but those that hold from the beginning.
    pub(crate) pristine: Tid,
    pub(crate) layout: Arc<Layout>,
    pub(crate) shared: Arc<Shared>,
    /// Its threads, in creation order.
    pub(crate) tasks: Vec<Task>,
    /// A second thread exists, or existed.
    pub(crate) concurrent: bool,
    /// The process has ended itself, or was ended by the kernel: nothing can move.
    pub(crate) gone: bool,
    /// It has been killed and reaped.
    pub(crate) dead: bool,
    /// A thread may be executing another program, beside others.
    pub(crate) executes: bool,
    /// The main thread stops where it ends.
    pub(crate) leader_stops_at_exit: bool,
    /// It stands there, and this is its stack.
    pub(crate) left_from: Option<Vec<Site>>,
    /// Processes that the target has forked: they run, but unscheduled.
    pub(crate) bystanders: Vec<Tid>,
    /// New threads and processes that have reported before whatever created them did.
    pub(crate) early: FxHashMap<Tid, Wait>,
    pub(crate) stepping: Stepping,
    pub(crate) probes: Probes,
    pub(crate) watch: Arc<Watch>,
}

/// A thread as the kernel has it, stopped except while it is let run.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) tid: Tid,
    /// As of its last stop; valid while the thread is live.
    pub(crate) regs: Regs,
    /// The kernel no longer has it.
    pub(crate) reaped: bool,
    pub(crate) part: Part,
    /// What `pthread_self` gives it.
    pub(crate) handle: u64,
    /// A signal that it got while an instruction was stepped in place, to be dealt with when it goes on.
    pub(crate) deferred_signal: i32,
    /// It is inside a function that it was made to call.
    pub(crate) calling: Option<Box<Call>>,
    /// The word that the kernel clears when the thread ends; `None` if that is not known.
    pub(crate) tid_word: Option<u64>,
    /// It stops where it ends. The main thread is another matter.
    pub(crate) stops_at_exit: bool,
}

impl Task {
    /// A new thread with these registers, stopped before its first instruction.
    pub(crate) fn new(tid: Tid, regs: Regs, tid_word: Option<u64>) -> Self {
        Self {
            tid,
            regs,
            reaped: false,
            part: Part::Program,
            handle: regs.fs_base,
            deferred_signal: 0,
            calling: None,
            tid_word,
            stops_at_exit: false,
        }
    }

    /// An argument of the function at whose entry it stands, from 0.
    pub(crate) fn argument(&self, i: usize) -> u64 {
        let r = &self.regs;
        [r.rdi, r.rsi, r.rdx, r.rcx, r.r8, r.r9][i]
    }
}
