//! System calls at which the running thread stops: answered, turned into operations, or let through.

use checker::failure::{FailureDetail, FailureKind};
use checker::names::Site;
use checker::operation::{Op, OpKind};
use checker::program::ExecutionError;

use crate::answers::{read_timespec, timespec};
use crate::control::process::Process;
use crate::control::state::flow::Flow;
use crate::control::state::pending::{Act, Need, Pending};
use crate::control::state::sync_objects::Index;
use crate::control::state::thread::Stage;
use crate::control::views::limited;
use crate::os::{memory, outside};

const REALTIME: u64 = 256;

/// `FUTEX_LOCK_PI2`, which libc does not name.
const LOCK_PI2: i32 = 13;

impl Process {
    /// The running thread has stopped at a trapped system call.
    pub(crate) fn system_call(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        if let Some(flow) = self.wait_for_time(index) {
            return Ok(flow);
        }
        let task = &self.tracee.tasks[index];
        if let Some(result) = self.scheduling.threads[index].world.answer(task.tid, &task.regs) {
            self.answer(index, result)?;
            return Ok(Flow::Resume(0));
        }
        let task = &self.tracee.tasks[index];
        if outside::reaches(task.tid, &task.regs) {
            self.tracee.shared.note_outside();
        }
        match task.regs.orig_rax as i64 {
            libc::SYS_futex => self.futex(index),
            libc::SYS_exit_group => Ok(self.exit_group(index)),
            libc::SYS_sched_yield => self.give_way(index, OpKind::Yield, 0),
            libc::SYS_nanosleep | libc::SYS_clock_nanosleep => self.sleep(index),
            libc::SYS_kill
            | libc::SYS_tgkill
            | libc::SYS_tkill
            | libc::SYS_rt_sigqueueinfo
            | libc::SYS_rt_tgsigqueueinfo => self.kill_call(index),
            libc::SYS_open | libc::SYS_openat => self.open(index),
            libc::SYS_timer_create => self.unsupported("timer_create (a timer)"),
            // None is running, so there is none to be stopped.
            libc::SYS_alarm if self.tracee.tasks[index].regs.rdi == 0 => self.refuse(index, 0),
            libc::SYS_alarm => self.unsupported("alarm (a timer)"),
            libc::SYS_setitimer => self.unsupported("setitimer (a timer)"),
            libc::SYS_timerfd_create => self.unsupported("timerfd_create (a timer)"),
            libc::SYS_futex_waitv => self.unsupported("futex_waitv"),
            libc::SYS_ptrace => self.refuse(index, libc::EPERM),
            libc::SYS_io_uring_setup => self.refuse(index, libc::ENOSYS),
            libc::SYS_execve | libc::SYS_execveat => {
                self.tracee.executes = true;
                Ok(Flow::Resume(0))
            }
            libc::SYS_wait4 | libc::SYS_waitid => self.wait_for_child(index),
            libc::SYS_mmap => {
                self.note_mapping(index);
                Ok(self.pass_to_kernel(index))
            }
            libc::SYS_mprotect | libc::SYS_pkey_mprotect => {
                if self.tracee.tasks[index].regs.rdx as i32 & libc::PROT_EXEC != 0 {
                    self.note_code(None);
                }
                Ok(self.pass_to_kernel(index))
            }
            _ => self.input_output(index),
        }
    }

    pub(crate) fn unsupported(&self, what: &str) -> Result<Flow, ExecutionError> {
        Err(ExecutionError::Unsupported(format!("the program calls {what}, which is not supported")))
    }

    pub(crate) fn refuse(&mut self, index: Index, error: i32) -> Result<Flow, ExecutionError> {
        self.answer(index, -i64::from(error))?;
        Ok(Flow::Resume(0))
    }

    /// Makes the system call at which the thread stands its pending operation.
    pub(crate) fn pend(&mut self, index: Index, op: Op, need: Need, act: Act, deadline: Option<u64>) -> Flow {
        let site = self.user_site(index);
        let mut op = limited(op, &need, deadline);
        if matches!(act, Act::Kernel | Act::Sleep(_)) {
            self.depend_on_cancellation(index, &mut op);
        }
        self.scheduling.threads[index].pending = Some(Pending { op, site, need, act, deadline });
        Flow::Rest
    }

    /// The innermost place in the program's own code.
    pub(crate) fn user_site(&self, index: Index) -> Site {
        let stack = self.stack(index);
        let user = |site: &&Site| {
            self.tracee
                .layout
                .locate(**site)
                .is_some_and(|(m, at)| self.tracee.layout.in_user_code(at + m.mapped.bias))
        };
        stack.iter().find(user).or(stack.first()).copied().unwrap_or_default()
    }

    /// The process is to end: the thread is held there, and the others run on.
    fn exit_group(&mut self, index: Index) -> Flow {
        let code = self.tracee.tasks[index].regs.rdi as i32 & 0xff;
        self.scheduling.exiting = true;
        let stack = if code == 0 { Vec::new() } else { self.stack(index) };
        self.exit_with(index, code, stack);
        Flow::Rest
    }

    /// The process ends with this code, for what this thread did, with this stack.
    pub(crate) fn exit_with(&mut self, index: Index, code: i32, stack: Vec<Site>) {
        self.scheduling.threads[index].stage = Stage::Ended;
        if code != 0 && self.account.exit_code_fails {
            let failure = if let Some((thread, stack)) = self.account.first_panic.clone() {
                let mut failure = self.failure(index, FailureKind::Panic, self.panic_detail(), stack);
                failure.thread = Some(thread);
                failure
            } else {
                self.failure(index, FailureKind::ExitCode, FailureDetail::ExitCode(code), stack)
            };
            self.scheduling.threads[index].stage = Stage::Failed(failure);
        }
    }

    /// The message of the first panic, or the line that says where it was.
    fn panic_detail(&self) -> FailureDetail {
        const LONGEST: usize = 290;
        let (_, stderr, _) = self.tracee.shared.output();
        let text = String::from_utf8_lossy(&stderr).into_owned();
        let mut lines = text.lines().skip_while(|line| !line.contains("panicked at"));
        let Some(place) = lines.next() else { return FailureDetail::Panicked(None) };
        match lines.next().unwrap_or_default() {
            "" => FailureDetail::Said(place.to_owned()),
            said => FailureDetail::Panicked(Some(said.chars().take(LONGEST).collect())),
        }
    }

    fn give_way(&mut self, index: Index, kind: OpKind, until: u64) -> Result<Flow, ExecutionError> {
        if !self.is_scheduled(index) {
            let world = &mut self.scheduling.threads[index].world;
            world.now = world.now.max(until);
            self.answer(index, 0)?;
            return Ok(Flow::Resume(0));
        }
        let (need, act) = match kind {
            OpKind::Sleep => (Need::Deadline(until), Act::Sleep(until)),
            _ => (Need::Nothing, Act::Answer(0)),
        };
        Ok(self.pend(index, Op::new(kind, []), need, act, None))
    }

    fn sleep(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        const ABSOLUTE: u64 = 1;
        let thread = &self.scheduling.threads[index];
        let regs = &self.tracee.tasks[index].regs;
        let clock = regs.orig_rax as i64 == libc::SYS_clock_nanosleep;
        let (at, absolute) = if clock { (regs.rdx, regs.rsi & ABSOLUTE != 0) } else { (regs.rdi, false) };
        let time = read_timespec(self.tracee.leader, at).unwrap_or(0);
        let until = if absolute { time } else { thread.world.now.saturating_add(time) };
        self.give_way(index, OpKind::Sleep, until)
    }

    /// Stores how long a sleep that is interrupted would have lasted yet, where the program asks for it.
    pub(crate) fn tell_rest_of_sleep(&mut self, index: Index, until: u64) {
        const ABSOLUTE: u64 = 1;
        let thread = &self.scheduling.threads[index];
        let regs = &self.tracee.tasks[index].regs;
        let at = match regs.orig_rax as i64 {
            libc::SYS_clock_nanosleep if regs.rsi & ABSOLUTE != 0 => 0,
            libc::SYS_clock_nanosleep => regs.r10,
            _ => regs.rsi,
        };
        if at != 0 {
            memory::write(
                self.tracee.tasks[index].tid,
                at,
                &timespec(until.saturating_sub(thread.world.now)),
            );
        }
    }

    fn futex(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        let regs = self.tracee.tasks[index].regs;
        let (addr, value) = (regs.rdi, regs.rdx as u32);
        match (regs.rsi & !(REALTIME | libc::FUTEX_PRIVATE_FLAG as u64)) as i32 {
            libc::FUTEX_WAIT => {
                let relative = (regs.r10 != 0).then(|| read_timespec(self.tracee.leader, regs.r10)).flatten();
                let deadline =
                    relative.map(|time| self.scheduling.threads[index].world.now.saturating_add(time));
                self.futex_wait_call(index, addr, value, deadline)
            }
            libc::FUTEX_WAIT_BITSET => {
                let deadline = (regs.r10 != 0).then(|| read_timespec(self.tracee.leader, regs.r10)).flatten();
                self.futex_wait_call(index, addr, value, deadline)
            }
            libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => self.futex_wake_call(index, addr, value),
            libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => Ok(self.futex_requeue_call(index)),
            libc::FUTEX_LOCK_PI | LOCK_PI2 => self.futex_lock_pi(index, addr),
            // Never block: the kernel carries them out.
            libc::FUTEX_UNLOCK_PI | libc::FUTEX_TRYLOCK_PI => Ok(Flow::Resume(0)),
            libc::FUTEX_WAKE_OP => self.unsupported("futex with FUTEX_WAKE_OP"),
            libc::FUTEX_WAIT_REQUEUE_PI | libc::FUTEX_CMP_REQUEUE_PI => {
                self.unsupported("futex requeue with priority inheritance")
            }
            other => self.unsupported(&format!("futex with the operation {other}")),
        }
    }

    /// Opening the kernel's random numbers opens ours instead.
    fn open(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        const RED_ZONE: u64 = 128;
        let regs = self.tracee.tasks[index].regs;
        let at_call = regs.orig_rax as i64 == libc::SYS_openat;
        let path = memory::string(self.tracee.leader, if at_call { regs.rsi } else { regs.rdi });
        if path != "/dev/urandom" && path != "/dev/random" {
            return Ok(self.pass_to_kernel(index));
        }
        let ours = self.tracee.shared.random_file();
        let place = (regs.rsp - RED_ZONE - ours.len() as u64 - 1) & !15;
        if !memory::write(self.tracee.leader, place, format!("{ours}\0").as_bytes()) {
            return Ok(Flow::Resume(0));
        }
        let regs = &mut self.tracee.tasks[index].regs;
        *(if at_call { &mut regs.rsi } else { &mut regs.rdi }) = place;
        self.write_registers(index)?;
        Ok(Flow::Resume(0))
    }
}
