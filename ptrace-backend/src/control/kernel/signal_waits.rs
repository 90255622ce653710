//! Signals that threads send each other, and waits for them. The kernel keeps and delivers them; here it is decided when.

use checker::failure::{FailureDetail, FailureKind, SignalOrigin};
use checker::names::Obj;
use checker::operation::{Access, Op, OpKind};
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;

use crate::answers::{PID, read_timespec};
use crate::control::process::Process;
use crate::control::state::flow::Flow;
use crate::control::state::pending::{Act, Awaited, Need, Next, Pending};
use crate::control::state::sync_objects::Index;
use crate::control::state::thread::Stage;
use crate::os::Tid;

/// What the kernel knows of a thread's signals. Signal `n` is bit `n - 1`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signals {
    pending: u64,
    blocked: u64,
    ignored: u64,
    caught: u64,
}

/// Signals that do nothing to a program that does not handle them.
const HARMLESS: u64 = bit(libc::SIGCHLD) | bit(libc::SIGURG) | bit(libc::SIGWINCH) | bit(libc::SIGCONT);

/// Signals that the C library uses to make threads do something.
const INTERNAL: [u64; 2] = [32, 33];

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
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
    fn effective(self) -> u64 {
        self.caught | !(self.ignored | HARMLESS)
    }

    /// Whether the program leaves this signal to its default action, which ends it unless the signal is harmless.
    pub(crate) fn is_unhandled(self, signal: i32) -> bool {
        let bit = u32::try_from(signal - 1).ok().and_then(|shift| 1_u64.checked_shl(shift)).unwrap_or(0);
        (self.caught | self.ignored) & bit == 0
    }

    /// Whether a handler of the program runs when the signal arrives.
    pub(crate) fn is_caught(self, signal: i32) -> bool {
        u32::try_from(signal - 1)
            .ok()
            .and_then(|shift| self.caught.checked_shr(shift))
            .is_some_and(|mask| mask & 1 == 1)
    }

    fn has(self, awaited: Awaited) -> bool {
        let wanted = match awaited {
            Awaited::Any(set) => set,
            Awaited::Unblocked(blocked) => self.effective() & !blocked,
            Awaited::Effective => self.effective() & !self.blocked,
        };
        self.pending & wanted != 0
    }
}

impl Process {
    /// Whether a signal is there that ends this wait.
    pub(crate) fn has_arrived(&self, index: Index, awaited: Awaited) -> bool {
        Signals::of(self.tracee.tasks[index].tid).is_none_or(|signals| signals.has(awaited))
    }

    /// A call that waits for a signal. `None`: it is another call.
    pub(crate) fn wait_for_signal(&mut self, index: Index) -> Option<Flow> {
        let regs = self.tracee.tasks[index].regs;
        let touched = [Some(index), None].map(|to| Access::write(self.signals_of(to)));
        let op = Op::new(OpKind::SignalWait, touched);
        let begins = |awaited| (Need::Nothing, Act::AwaitSignal(awaited), None);
        let (need, act, deadline) = match regs.orig_rax as i64 {
            libc::SYS_pause => begins(Awaited::Effective),
            libc::SYS_rt_sigsuspend => begins(Awaited::Unblocked(self.number(regs.rdi, 8))),
            libc::SYS_rt_sigtimedwait => {
                let limit = (regs.rdx != 0).then(|| read_timespec(self.tracee.leader, regs.rdx)).flatten();
                if limit == Some(0) {
                    return Some(Flow::Resume(0));
                }
                let deadline =
                    limit.map(|limit| self.scheduling.threads[index].world.now.saturating_add(limit));
                (Need::Arrival(Awaited::Any(self.number(regs.rdi, 8))), Act::Kernel, deadline)
            }
            _ => return None,
        };
        Some(self.pend(index, op, need, act, deadline))
    }

    /// A thread is about to wait for a signal. What came before is not what it waits for: its handler runs first.
    pub(crate) fn enter_signal_wait(&mut self, index: Index, pending: &Pending, awaited: Awaited) -> Next {
        if self.has_arrived(index, Awaited::Effective) {
            return Next::Again;
        }
        let need = Need::Arrival(awaited);
        let Pending { op, site, .. } = pending;
        let wait = Pending { op: op.clone(), site: *site, need, act: Act::Kernel, deadline: None };
        Next::Stay(Box::new(wait))
    }

    /// Makes a thread come to the system call at which it stands once more.
    pub(crate) fn repeat_call(&mut self, index: Index) -> Result<(), ExecutionError> {
        /// `syscall`
        const LEN: u64 = 2;
        let regs = &mut self.tracee.tasks[index].regs;
        regs.rip = regs.rip.wrapping_sub(LEN);
        regs.rax = regs.orig_rax;
        regs.orig_rax = u64::MAX;
        self.write_registers(index)
    }

    /// What events on signals touch: a thread's signals, or those of the process, which any thread may take.
    pub(crate) fn signals_of(&self, to: Option<Index>) -> Obj {
        self.tracee.shared.named(match to {
            Some(thread) => self.scheduling.threads[thread].name.to_string(),
            None => "the process".to_owned(),
        })
    }

    /// A signal to the process or one of its threads: the made-up numbers are translated back.
    pub(crate) fn kill_call(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        let leader = self.tracee.leader as u64;
        let regs = self.tracee.tasks[index].regs;
        let own = |pid: u64| [PID, 0, -PID].contains(&(pid as i64));
        let is_child = self.tracee.bystanders.iter().any(|&child| regs.rdi == child as u64);
        let (to, signal) = match regs.orig_rax as i64 {
            // A process that the program has started.
            libc::SYS_kill | libc::SYS_rt_sigqueueinfo if is_child => return Ok(Flow::Resume(0)),
            libc::SYS_kill | libc::SYS_rt_sigqueueinfo if !own(regs.rdi) => {
                return self.refuse(index, libc::EPERM);
            }
            libc::SYS_kill | libc::SYS_rt_sigqueueinfo => {
                self.tracee.tasks[index].regs.rdi = leader;
                (None, regs.rsi)
            }
            libc::SYS_tkill => {
                self.tracee.tasks[index].regs.rdi = self.real_tid(regs.rdi);
                (Some(self.tracee.tasks[index].regs.rdi), regs.rsi)
            }
            _ => {
                self.tracee.tasks[index].regs.rdi = leader;
                self.tracee.tasks[index].regs.rsi = self.real_tid(regs.rsi);
                (Some(self.tracee.tasks[index].regs.rsi), regs.rdx)
            }
        };
        if signal == libc::SIGKILL as u64 {
            // Held here: once it is gone, nothing can be read of it.
            let stack = self.stack(index);
            let signal = crate::os::signal_names::name(libc::SIGKILL);
            let detail = FailureDetail::Signal { signal, origin: SignalOrigin::Itself };
            self.scheduling.threads[index].stage =
                Stage::Failed(self.failure(index, FailureKind::Crash, detail, stack));
            return Ok(Flow::Rest);
        }
        let to = to.and_then(|tid| self.live_task(tid));
        let is_known = self.scheduling.threads[index].kills.take().is_some_and(|target| to == Some(target));
        // What a thread does to itself concerns nobody else.
        if is_known
            || !self.is_scheduled(index)
            || to == Some(index)
            || signal == 0
            || INTERNAL.contains(&signal)
        {
            if to != Some(index) {
                self.interrupt_waiting(to, signal);
            }
            self.write_registers(index)?;
            return Ok(Flow::Resume(0));
        }
        let op = Op::new(OpKind::Kill, [Access::write(self.signals_of(to))]);
        Ok(self.pend(index, op, Need::Nothing, Act::Send { to, signal }, None))
    }

    /// A thread that waits and gets a signal is to run the handler, or to end the process. A signal for the process goes
    /// to the first thread that does not block it.
    pub(crate) fn interrupt_waiting(&mut self, to: Option<Index>, signal: u64) {
        let Some(bit) = signal.checked_sub(1).and_then(|shift| 1_u64.checked_shl(shift as u32)) else {
            return;
        };
        let takes = |index: Index| {
            let is_live = self.scheduling.threads[index].is_live();
            let signals = is_live.then(|| Signals::of(self.tracee.tasks[index].tid)).flatten();
            signals.is_some_and(|signals| signals.effective() & !signals.blocked & bit != 0)
        };
        let candidates = to.map_or(0..self.scheduling.threads.len(), |to| to..to + 1);
        let Some(target) = candidates.into_iter().find(|&i| takes(i)) else {
            return;
        };
        let obj = self.signals_of(to);
        let thread = &mut self.scheduling.threads[target];
        let Some(pending) = &mut thread.pending else { return };
        // What it does next comes after the signal.
        if pending.op.may.accesses.iter().all(|access| access.obj != obj) {
            pending.op.may.accesses.push(Access::write(obj));
        }
        thread.signalled = true;
        self.note_handler(signal);
    }

    /// A signal of another thread has come to a thread, or came too late: its handler, if it has one, could have run before the
    /// thread's first step as well, and between accesses that are no key points.
    pub(crate) fn note_handler(&mut self, signal: u64) {
        // Threads have their handlers in common.
        let is_caught =
            Signals::of(self.tracee.leader).is_some_and(|signals| signals.is_caught(signal as i32));
        if !is_caught || INTERNAL.contains(&signal) {
            return;
        }
        self.account.left_out = true;
        self.account.note(Peculiarity::SignalsThreads);
    }

    /// The kernel's number of the thread that the program knows by this one. The C library keeps the kernel's.
    fn real_tid(&self, seen: u64) -> u64 {
        let thread = self.scheduling.threads.iter().position(|t| t.world.tid as u64 == seen);
        thread.map_or(seen, |index| self.tracee.tasks[index].tid as u64)
    }

    /// The live thread with this number of the kernel's.
    fn live_task(&self, tid: u64) -> Option<Index> {
        let is_it = |&index: &Index| self.tracee.tasks[index].tid as u64 == tid;
        (0..self.scheduling.threads.len())
            .find(|index| is_it(index) && self.scheduling.threads[*index].is_live())
    }
}
