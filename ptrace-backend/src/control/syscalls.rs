//! System calls at which the running thread stops: answered, turned into operations, or let through.

use checker::failure::FailureKind;
use checker::op::{Access, Op, OpKind};
use checker::seam::{ExecutionError, Pick};

use super::process::{Flow, Process};
use super::sync::Index;
use super::thread::{Act, Interrupt, Need, Pending, Stage};
use crate::answers::{PID, read_timespec};
use crate::os::memory;

const REALTIME: u64 = 256;

/// `FUTEX_LOCK_PI2`, which libc does not name.
const LOCK_PI2: i32 = 13;

impl Process {
    /// The running thread has stopped at a trapped system call.
    pub(crate) fn system_call(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        let thread = &mut self.threads[index];
        if let Some(result) = thread.world.answer(thread.tid, &thread.regs) {
            self.answer(index, result)?;
            return Ok(Flow::Resume(0));
        }
        match self.threads[index].regs.orig_rax as i64 {
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
            libc::SYS_alarm => self.unsupported("alarm (a timer)"),
            libc::SYS_setitimer => self.unsupported("setitimer (a timer)"),
            libc::SYS_timerfd_create => self.unsupported("timerfd_create (a timer)"),
            libc::SYS_futex_waitv => self.unsupported("futex_waitv"),
            libc::SYS_ptrace => self.refuse(index, libc::EPERM),
            libc::SYS_io_uring_setup => self.refuse(index, libc::ENOSYS),
            libc::SYS_wait4 | libc::SYS_waitid => self.wait_for_child(index),
            _ => self.input_output(index),
        }
    }

    pub(crate) fn unsupported(&self, what: &str) -> Result<Flow, ExecutionError> {
        Err(ExecutionError::Unsupported(format!("the program calls {what}, which is not supported")))
    }

    fn refuse(&mut self, index: Index, error: i32) -> Result<Flow, ExecutionError> {
        self.answer(index, -i64::from(error))?;
        Ok(Flow::Resume(0))
    }

    /// Makes the system call at which the thread stands its pending operation.
    pub(crate) fn pend(&mut self, index: Index, op: Op, need: Need, act: Act, deadline: Option<u64>) -> Flow {
        let site = self.user_site(index);
        self.threads[index].pending = Some(Pending { op, site, need, act, deadline });
        Flow::Rest
    }

    /// The innermost place in the program's own code.
    pub(crate) fn user_site(&self, index: Index) -> checker::names::Site {
        let stack = self.stack(index);
        let user = |site: &&checker::names::Site| {
            self.layout.locate(**site).is_some_and(|(m, at)| self.layout.in_user_code(at + m.mapped.bias))
        };
        stack.iter().find(user).or(stack.first()).copied().unwrap_or_default()
    }

    /// The process is to end: the thread is held there, and the others run on.
    fn exit_group(&mut self, index: Index) -> Flow {
        let code = self.threads[index].regs.rdi as i32 & 0xff;
        self.threads[index].stage = Stage::Ended;
        self.exiting = true;
        if code != 0 && self.exit_code_fails {
            let failure = if let Some((thread, stack)) = self.first_panic.clone() {
                let message = self.panic_message().unwrap_or_else(|| "the program panicked".to_owned());
                let mut failure = self.failure(index, FailureKind::Panic, message, stack);
                failure.thread = Some(thread);
                failure
            } else {
                let stack = self.stack(index);
                let message = format!("the program ended with exit code {code}");
                self.failure(index, FailureKind::ExitCode, message, stack)
            };
            self.threads[index].stage = Stage::Failed(failure);
        }
        Flow::Rest
    }

    /// What the first panic said.
    fn panic_message(&self) -> Option<String> {
        let (_, stderr, _) = self.shared.output();
        let text = String::from_utf8_lossy(&stderr).into_owned();
        let mut lines = text.lines().skip_while(|line| !line.contains("panicked at"));
        let place = lines.next()?;
        let said = lines.next().unwrap_or_default();
        Some(format!("panicked: {said}").chars().take(300).collect::<String>())
            .filter(|_| !said.is_empty())
            .or_else(|| Some(place.to_owned()))
    }

    fn give_way(&mut self, index: Index, kind: OpKind, until: u64) -> Result<Flow, ExecutionError> {
        if !self.is_scheduled(index) {
            let world = &mut self.threads[index].world;
            world.now = world.now.max(until);
            self.answer(index, 0)?;
            return Ok(Flow::Resume(0));
        }
        // The first time it may go on at once: a sleep is no guarantee that anybody has moved. Only a thread that keeps
        // giving way has to be fair.
        let thread = &mut self.threads[index];
        thread.pauses += 1;
        thread.gave_way = thread.pauses > 1;
        let act = if kind == OpKind::Sleep { Act::Sleep(until) } else { Act::Answer(0) };
        Ok(self.pend(index, Op::new(kind, []), Need::Nothing, act, None))
    }

    fn sleep(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        const ABSOLUTE: u64 = 1;
        let thread = &self.threads[index];
        let regs = &thread.regs;
        let clock = regs.orig_rax as i64 == libc::SYS_clock_nanosleep;
        let (at, absolute) = if clock { (regs.rdx, regs.rsi & ABSOLUTE != 0) } else { (regs.rdi, false) };
        let time = read_timespec(self.leader, at).unwrap_or(0);
        let until = if absolute { time } else { thread.world.now.saturating_add(time) };
        self.give_way(index, OpKind::Sleep, until)
    }

    fn futex(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        let regs = self.threads[index].regs;
        let (addr, value) = (regs.rdi, regs.rdx as u32);
        match (regs.rsi & !(REALTIME | libc::FUTEX_PRIVATE_FLAG as u64)) as i32 {
            libc::FUTEX_WAIT => {
                let relative = (regs.r10 != 0).then(|| read_timespec(self.leader, regs.r10)).flatten();
                let deadline = relative.map(|time| self.threads[index].world.now.saturating_add(time));
                self.futex_wait_call(index, addr, value, deadline)
            }
            libc::FUTEX_WAIT_BITSET => {
                let deadline = (regs.r10 != 0).then(|| read_timespec(self.leader, regs.r10)).flatten();
                self.futex_wait_call(index, addr, value, deadline)
            }
            libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => self.futex_wake_call(index, addr, value),
            // Never block: the kernel carries them out.
            libc::FUTEX_UNLOCK_PI | libc::FUTEX_TRYLOCK_PI => Ok(Flow::Resume(0)),
            operation => {
                let name = match operation {
                    libc::FUTEX_LOCK_PI | LOCK_PI2 => "futex lock with priority inheritance".to_owned(),
                    libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => "futex requeue".to_owned(),
                    other => format!("futex operation {other}"),
                };
                self.unsupported(&name)
            }
        }
    }

    fn futex_wait_call(
        &mut self,
        index: Index,
        addr: u64,
        value: u32,
        deadline: Option<u64>,
    ) -> Result<Flow, ExecutionError> {
        if std::mem::take(&mut self.threads[index].times_out) {
            return self.refuse(index, libc::ETIMEDOUT);
        }
        let op = Op::new(OpKind::FutexWait, [Access::read(self.object(addr, 4))]);
        let act = Act::FutexWait { addr, value };
        Ok(self.pend(index, op, Need::Nothing, act, deadline))
    }

    fn futex_wake_call(&mut self, index: Index, addr: u64, count: u32) -> Result<Flow, ExecutionError> {
        let waiting = self.objects.futexes.get(&addr).is_some_and(|q| !q.waiters.is_empty());
        let once = self.objects.onces.get(&addr).is_some_and(|o| o.runner == Some(index));
        if once && self.is_scheduled(index) {
            let op = Op::new(OpKind::OnceDone, [Access::write(self.object(addr, 1))]);
            return Ok(self.pend(index, op, Need::Nothing, Act::OnceDone(addr), None));
        }
        self.objects.onces.remove(&addr);
        // The C library's own wakes without a waiter belong to an operation that has been accounted for.
        let own = self.layout.in_libc(self.threads[index].regs.rip) && !waiting;
        if !self.is_scheduled(index) || own {
            let woken = self.futex_wake(addr, count, Pick::Only, None);
            self.answer(index, woken)?;
            return Ok(Flow::Resume(0));
        }
        let op = Op::new(OpKind::FutexWake, [Access::write(self.object(addr, 4))]);
        let act = Act::FutexWake { addr, count };
        Ok(self.pend(index, op, Need::Nothing, act, None))
    }

    /// A signal to the process or one of its threads: the made-up numbers are translated back.
    fn kill_call(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        let leader = self.leader as u64;
        let regs = self.threads[index].regs;
        let own = |pid: u64| pid as i64 == PID || pid as i64 == 0 || pid as i64 == -PID;
        let to = match regs.orig_rax as i64 {
            libc::SYS_kill | libc::SYS_rt_sigqueueinfo if !own(regs.rdi) => {
                return self.refuse(index, libc::EPERM);
            }
            libc::SYS_kill | libc::SYS_rt_sigqueueinfo => {
                self.threads[index].regs.rdi = leader;
                None
            }
            libc::SYS_tkill => {
                self.threads[index].regs.rdi = self.real_tid(regs.rdi);
                Some((self.threads[index].regs.rdi, regs.rsi))
            }
            _ => {
                self.threads[index].regs.rdi = leader;
                self.threads[index].regs.rsi = self.real_tid(regs.rsi);
                Some((self.threads[index].regs.rsi, regs.rdx))
            }
        };
        let signal = match regs.orig_rax as i64 {
            libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => regs.rdx,
            _ => regs.rsi,
        };
        if signal == libc::SIGKILL as u64 {
            // Held here: once it is gone, nothing can be read of it.
            let stack = self.stack(index);
            let message = "the program kills itself (SIGKILL)".to_owned();
            self.threads[index].stage =
                Stage::Failed(self.failure(index, FailureKind::Crash, message, stack));
            return Ok(Flow::Rest);
        }
        self.interrupt_waiting(index, to);
        self.write_registers(index)?;
        Ok(Flow::Resume(0))
    }

    /// A thread that waits and gets a signal is to run the handler. `to`: the thread's number and the signal, where the
    /// signal is for one thread; else the kernel gives it to the main thread first.
    fn interrupt_waiting(&mut self, index: Index, to: Option<(u64, u64)>) {
        let Some((tid, signal)) = to.or(Some((self.leader as u64, 0))) else { return };
        let target = self.threads.iter().position(|t| t.tid as u64 == tid && t.is_live());
        if let Some(target) = target.filter(|&target| target != index)
            && !((1..=64).contains(&signal) && self.is_fatal(target, signal as i32))
        {
            self.threads[target].interrupt = Some(Interrupt::Signal);
            self.note(
                "the program sends signals between its threads: a handler runs when its thread goes on",
            );
        }
    }

    /// The kernel's number of the thread that the program knows by this one. The C library keeps the kernel's.
    fn real_tid(&self, seen: u64) -> u64 {
        let thread = self.threads.iter().find(|t| t.world.tid as u64 == seen);
        thread.map_or(seen, |t| t.tid as u64)
    }

    /// Opening the kernel's random numbers opens ours instead.
    fn open(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        const RED_ZONE: u64 = 128;
        let regs = self.threads[index].regs;
        let at_call = regs.orig_rax as i64 == libc::SYS_openat;
        let path = self.read_string(if at_call { regs.rsi } else { regs.rdi });
        if path != "/dev/urandom" && path != "/dev/random" {
            return Ok(Flow::Resume(0));
        }
        let ours = self.shared.random_file();
        let place = (regs.rsp - RED_ZONE - ours.len() as u64 - 1) & !15;
        if !memory::write(self.leader, place, format!("{ours}\0").as_bytes()) {
            return Ok(Flow::Resume(0));
        }
        let regs = &mut self.threads[index].regs;
        *(if at_call { &mut regs.rsi } else { &mut regs.rdi }) = place;
        self.write_registers(index)?;
        Ok(Flow::Resume(0))
    }

    fn read_string(&self, at: u64) -> String {
        let bytes: Vec<u8> =
            (0..64).map(|i| self.number(at + i, 1) as u8).take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
