//! From exec to `main`: what happens once, in the fork server, or in every execution where that cannot be.

use std::sync::Arc;

use checker::peculiarity::EarlyStart;
use rustc_hash::FxHashMap;

use super::{auxv, modules};
use crate::control::watchdog::{Reason, Watch};
use crate::debuginfo::Image;
use crate::error::{LaunchError, StartupError, SystemAction};
use crate::instructions::TrappedInstruction;
use crate::os::calls::{external_effects, loading};
use crate::os::network::Network;
use crate::os::signal_names::name;
use crate::os::spawn::{NO_DIRECTORY, NO_EXEC, NO_FILTER, NO_NETWORK, Prepared};
use crate::os::wait::{self, WaitStatus};
use crate::os::{Regs, Tid, calls, fd, memory, ptrace};
use crate::virtual_syscalls::VirtualSystem;

/// A process on its way to `main`; killed when dropped.
pub(crate) struct Startup {
    pub(crate) tid: Tid,
    pub(crate) virtual_system: VirtualSystem,
    /// Address at which the kernel is to store the main thread's number, and to clear it at its end.
    pub(crate) tid_word: u64,
    /// The descriptors that it has from the beginning.
    inherited: Vec<i32>,
    /// Address at which the dynamic linker is mapped.
    linker: u64,
    /// Trapped instructions that are answered on the way.
    trapped_instructions: FxHashMap<u64, TrappedInstruction>,
    /// A thread or process that it has created.
    offspring: Option<Tid>,
    watch: Arc<Watch>,
    armed: bool,
    /// It has done something by which several processes of the program could meet.
    pub(crate) has_external_effects: bool,
    /// It is to load libraries, and ends before it does anything else that copies of it would lack.
    pub(crate) only_loads: bool,
}

/// The place at which the dynamic linker tells debuggers what it has done, in its static addresses.
pub(crate) struct LinkerHook {
    /// The function that it calls for that.
    notify: u64,
    /// The word that tells whether the list of libraries is complete.
    state: u64,
}

/// The point that a program has reached.
pub(crate) enum StartupProgress {
    /// The first instruction of `main`, with these registers.
    Main(Box<Regs>),
    /// A point before that, at which it does something that a copy of it would not have done.
    Early(EarlyStart),
}

impl LinkerHook {
    /// The hook of this dynamic linker; `None` if it has none, and so is not the GNU C library's.
    pub(crate) fn of(linker: &Image) -> Option<Self> {
        /// Offset of the state in `struct r_debug`.
        const STATE: u64 = 24;
        let notify = linker.symbol("_dl_debug_state")?;
        let state = linker.symbol("_r_debug")?.checked_add(STATE)?;
        Some(Self { notify, state })
    }
}

impl Startup {
    /// Starts the program and lets it get to its exec.
    pub(crate) fn exec(
        prepared: &Prepared,
        network: &Network,
        virtual_system: VirtualSystem,
        watch: &Arc<Watch>,
    ) -> Result<Self, LaunchError> {
        let tid = prepared.spawn(network).map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM) => StartupError::TracingRefused.into(),
            _ => LaunchError::system(SystemAction::StartProgram)(error),
        })?;
        watch.begin(tid, tid);
        let trapped_instructions = FxHashMap::default();
        let mut this = Self {
            tid,
            virtual_system,
            tid_word: 0,
            inherited: Vec::new(),
            linker: 0,
            trapped_instructions,
            offspring: None,
            watch: Arc::clone(watch),
            armed: true,
            has_external_effects: false,
            only_loads: false,
        };
        loop {
            match this.wait()? {
                WaitStatus::Exec => break,
                WaitStatus::Exited(NO_EXEC) => {
                    return Err(StartupError::ExecRefused.into());
                }
                WaitStatus::Exited(NO_DIRECTORY) => {
                    return Err(StartupError::NoDirectory.into());
                }
                WaitStatus::Exited(NO_NETWORK) => {
                    return Err(StartupError::NoNetwork.into());
                }
                WaitStatus::Exited(NO_FILTER) => {
                    return Err(StartupError::NoFilter.into());
                }
                WaitStatus::Exited(_) => return Err(StartupError::EndedBeforeExec.into()),
                // If the kernel finds out too late that the file cannot be mapped as it says, it kills the process.
                WaitStatus::Killed(signal) => {
                    return Err(StartupError::KilledByLoading(name(signal)).into());
                }
                WaitStatus::Signal(signal) => this.resume(signal)?,
                _ => this.resume(0)?,
            }
        }
        this.inherited = fd::open(tid);
        let regs = this.registers()?;
        let auxv = auxv::prepare(tid, regs.rsp).ok_or(StartupError::OddStack)?;
        this.linker = auxv.linker;
        Ok(this)
    }

    /// Runs the dynamic linker: afterwards all libraries are mapped and relocated, and nothing of them has run.
    pub(crate) fn link(&mut self, hook: &LinkerHook) -> Result<(), LaunchError> {
        const COMPLETE: u64 = 0;
        let [notify, state] = [hook.notify, hook.state].map(|address| address.wrapping_add(self.linker));
        loop {
            match self.run_to_any(&[notify], false)? {
                StartupProgress::Main(_) if memory::number(self.tid, state, 4) == Some(COMPLETE) => {
                    return Ok(());
                }
                StartupProgress::Main(_) => self.step()?,
                StartupProgress::Early(what) => {
                    return Err(StartupError::WhileLoading(what).into());
                }
            }
        }
    }

    /// Runs constructors and stops at the first instruction of `main`. `start_main` are the addresses of
    /// `__libc_start_main`, in all its versions; `trapped_instructions` are trapped instructions.
    pub(crate) fn run_to_main(
        &mut self,
        start_main: &[u64],
        trapped_instructions: &[TrappedInstruction],
    ) -> Result<StartupProgress, LaunchError> {
        self.trapped_instructions =
            trapped_instructions.iter().map(|trapped| (trapped.addr, *trapped)).collect();
        match self.run_to_any(start_main, true)? {
            StartupProgress::Main(regs) => match self.run_to_any(&[regs.rdi], true)? {
                StartupProgress::Main(_) if self.shares_memory()? => {
                    Ok(StartupProgress::Early(EarlyStart::SharedMemory))
                }
                StartupProgress::Main(_) if self.has_opened_files() => {
                    Ok(StartupProgress::Early(EarlyStart::Files))
                }
                progress => Ok(progress),
            },
            early => Ok(early),
        }
    }

    /// Calls a function with two zeros for arguments, which returns to a trap.
    pub(crate) fn call(&mut self, function: u64, trap: u64) -> Result<(), LaunchError> {
        const RED_ZONE: u64 = 128;
        let saved = self.registers()?;
        let back = (saved.rsp.wrapping_sub(RED_ZONE) & !15).wrapping_sub(8);
        if !memory::write(self.tid, back, &trap.to_le_bytes()) {
            return Err(StartupError::NoStack.into());
        }
        let regs = Regs { rip: function, rdi: 0, rsi: 0, rsp: back, orig_rax: u64::MAX, ..saved };
        self.set_registers(&regs)?;
        match self.run_to_any(&[trap], false)? {
            StartupProgress::Main(_) => self.set_registers(&saved),
            StartupProgress::Early(what) => Err(StartupError::InLibrary(what).into()),
        }
    }

    /// Whether it has opened anything that has a state: a position, or what has been written to it.
    fn has_opened_files(&self) -> bool {
        const WITHOUT: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
        let opened = fd::open(self.tid).into_iter().filter(|file| !self.inherited.contains(file));
        opened.map(|file| fd::link(self.tid, file)).any(|link| !WITHOUT.contains(&link.as_str()))
    }

    /// Whether copies of the process would have memory in common with it: what is mapped shared, and is no file that others could
    /// open as well.
    pub(super) fn shares_memory(&self) -> Result<bool, LaunchError> {
        modules::maps_unnamed_memory_shared(self.tid)
            .map_err(LaunchError::system(SystemAction::ReadMemoryMap))
    }

    /// Runs one system call in the target, at an address that holds `syscall; int3`.
    pub(super) fn system_call_at(
        &mut self,
        at: u64,
        number: i64,
        args: [u64; 6],
    ) -> Result<i64, LaunchError> {
        let saved = self.registers()?;
        let mut regs = saved;
        regs.rip = at;
        regs.rax = number as u64;
        regs.orig_rax = u64::MAX;
        [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9] = args;
        self.set_registers(&regs)?;
        self.resume(0)?;
        let mut ended = self.wait()?;
        if matches!(ended, WaitStatus::Seccomp) {
            // It stops for the tracer as one of the program's own would.
            self.resume(0)?;
            ended = self.wait()?;
        }
        match ended {
            WaitStatus::Signal(libc::SIGTRAP) => {}
            other => return Err(StartupError::InjectedCall(format!("{other:?}")).into()),
        }
        let result = self.registers()?.rax as i64;
        self.set_registers(&saved)?;
        Ok(result)
    }

    /// Runs to one of the addresses, answering system calls on the way, and lifts the traps again. `is_timed`: code of the
    /// program's own runs, which may take long.
    pub(super) fn run_to_any(
        &mut self,
        addresses: &[u64],
        is_timed: bool,
    ) -> Result<StartupProgress, LaunchError> {
        let mut saved = Vec::new();
        for &address in addresses {
            let byte = memory::number(self.tid, address, 1).ok_or(StartupError::UnreadableCode(address))?;
            saved.push((address, byte as u8));
            self.poke(address, 0xcc)?;
        }
        self.resume(0)?;
        let progress = self.until_trap(addresses, is_timed)?;
        if let StartupProgress::Main(regs) = &progress {
            for (address, byte) in saved {
                self.poke(address, byte)?;
            }
            self.set_registers(regs)?;
        }
        Ok(progress)
    }

    fn until_trap(&mut self, addresses: &[u64], is_timed: bool) -> Result<StartupProgress, LaunchError> {
        loop {
            let heard = self.watch.wait(Some(self.tid), |reason| is_timed || reason != Reason::TimedOut);
            let progress = match heard.map_err(LaunchError::system(SystemAction::WaitForProgram))? {
                Ok((_, status)) => self.on_the_way(status, addresses)?,
                Err(Reason::TimedOut) => Some(StartupProgress::Early(EarlyStart::LongRun)),
                Err(reason) => return Err(over(reason)),
            };
            if let Some(progress) = progress {
                return Ok(progress);
            }
        }
    }

    /// The passage that a stop completes; `None`: the program goes on.
    fn on_the_way(
        &mut self,
        status: WaitStatus,
        addresses: &[u64],
    ) -> Result<Option<StartupProgress>, LaunchError> {
        let early = match status {
            WaitStatus::Signal(libc::SIGTRAP) => {
                let mut regs = self.registers()?;
                regs.rip = regs.rip.wrapping_sub(1);
                if addresses.contains(&regs.rip) {
                    return Ok(Some(StartupProgress::Main(Box::new(regs))));
                }
                if self.complete_special(&mut regs)? {
                    return Ok(None);
                }
                EarlyStart::Breakpoint
            }
            WaitStatus::Seccomp if calls::makes_timer(&self.registers()?) => EarlyStart::Timers,
            WaitStatus::Seccomp => return self.answer_call().map(|()| None),
            WaitStatus::Signal(libc::SIGSEGV) => return self.time_stamp().map(|()| None),
            WaitStatus::Signal(signal) => return self.resume(signal).map(|()| None),
            WaitStatus::Stopped | WaitStatus::Exit | WaitStatus::HandedOver => {
                return self.resume(0).map(|()| None);
            }
            WaitStatus::Clone => {
                self.take_offspring();
                EarlyStart::Threads
            }
            WaitStatus::Fork | WaitStatus::Vfork => {
                self.take_offspring();
                EarlyStart::Processes
            }
            WaitStatus::Exec => EarlyStart::Replacement,
            WaitStatus::Exited(_) => {
                self.armed = false;
                EarlyStart::End
            }
            WaitStatus::Killed(_) => {
                self.armed = false;
                EarlyStart::Killed
            }
        };
        Ok(Some(StartupProgress::Early(early)))
    }

    /// It has created a thread or a process, which must not outlive it.
    fn take_offspring(&mut self) {
        self.offspring = ptrace::event_message(self.tid).ok().map(|tid| tid as Tid);
    }

    /// If the trap is that of an instruction that is answered, answers it and goes on.
    fn complete_special(&mut self, regs: &mut Regs) -> Result<bool, LaunchError> {
        let Some(trapped) = self.trapped_instructions.get(&regs.rip) else { return Ok(false) };
        let result = if trapped.kind.is_time() {
            self.virtual_system.read_clock()
        } else {
            self.virtual_system.random_number()
        };
        trapped.complete(regs, result);
        self.set_registers(regs)?;
        self.resume(0)?;
        Ok(true)
    }

    fn answer_call(&mut self) -> Result<(), LaunchError> {
        let mut regs = self.registers()?;
        if regs.orig_rax as i64 == libc::SYS_set_tid_address {
            self.tid_word = regs.rdi;
        }
        if self.only_loads && !loading::is_part(self.tid, &regs) {
            ptrace::kill(self.tid);
            return Ok(());
        }
        self.has_external_effects |= external_effects::has_any(self.tid, &regs, false);
        if let Some(result) = self.virtual_system.answer(self.tid, &regs) {
            regs.orig_rax = u64::MAX;
            regs.rax = result as u64;
            self.set_registers(&regs)?;
        }
        self.resume(0)
    }

    /// A fault before main: `rdtsc`, which is answered, or a crash, which is the program's own.
    fn time_stamp(&mut self) -> Result<(), LaunchError> {
        let mut regs = self.registers()?;
        let Some(trapped) = time_stamp_at(self.tid, &regs) else { return self.resume(libc::SIGSEGV) };
        trapped.complete(&mut regs, self.virtual_system.read_clock());
        self.set_registers(&regs)?;
        self.resume(0)
    }

    /// Checks that there is time to go on preparing it.
    pub(crate) fn goes_on(&self) -> Result<(), LaunchError> {
        match self.watch.expired() {
            Some(reason @ (Reason::Cancelled | Reason::OutOfTime)) => Err(over(reason)),
            Some(Reason::TimedOut | Reason::RunsLong) | None => Ok(()),
        }
    }

    /// Runs one instruction.
    pub(super) fn step(&self) -> Result<(), LaunchError> {
        ptrace::step(self.tid, 0).map_err(LaunchError::system(SystemAction::StepProgram))?;
        self.wait().map(drop)
    }

    pub(crate) fn registers(&self) -> Result<Regs, LaunchError> {
        ptrace::registers(self.tid).map_err(LaunchError::system(SystemAction::ReadRegisters))
    }

    pub(crate) fn set_registers(&self, regs: &Regs) -> Result<(), LaunchError> {
        ptrace::set_registers(self.tid, regs).map_err(LaunchError::system(SystemAction::WriteRegisters))
    }

    pub(crate) fn poke(&self, address: u64, byte: u8) -> Result<(), LaunchError> {
        memory::poke_byte(self.tid, address, byte).map_err(LaunchError::system(SystemAction::WriteCode))
    }

    fn resume(&self, signal: i32) -> Result<(), LaunchError> {
        ptrace::resume(self.tid, signal).map_err(LaunchError::system(SystemAction::ResumeProgram))
    }

    fn wait(&self) -> Result<WaitStatus, LaunchError> {
        wait_in_time(self.tid, &self.watch)
    }

    /// Hands the process over to the part that takes care of it from here.
    pub(crate) fn release(mut self) -> Tid {
        self.armed = false;
        self.tid
    }
}

impl Drop for Startup {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        ptrace::kill(self.tid);
        if let Some(offspring) = self.offspring {
            ptrace::kill(offspring);
            wait::reap(offspring);
        }
        wait::reap(self.tid);
    }
}

/// Waits for a process of which it is known that it reports in a moment.
fn wait_in_time(tid: Tid, watch: &Watch) -> Result<WaitStatus, LaunchError> {
    let heard = watch.wait(Some(tid), |reason| reason != Reason::TimedOut);
    let heard = heard.map_err(LaunchError::system(SystemAction::WaitForProgram))?;
    heard.map(|(_, status)| status).map_err(over)
}

/// The error for a start that is given up.
pub(super) fn over(reason: Reason) -> LaunchError {
    match reason {
        Reason::Cancelled => LaunchError::Cancelled,
        Reason::OutOfTime | Reason::TimedOut | Reason::RunsLong => LaunchError::OutOfTime,
    }
}

/// The instruction that reads the processor's time stamps, if a thread stands at one.
pub(crate) fn time_stamp_at(tid: Tid, regs: &Regs) -> Option<TrappedInstruction> {
    let code = memory::number(tid, regs.rip, 3)?.to_le_bytes();
    TrappedInstruction::decode(code.get(..3)?, regs.rip).filter(|trapped| trapped.kind.is_time())
}
