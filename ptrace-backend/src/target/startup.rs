//! From exec to `main`: the part of a program's life that happens once, in the template.

use std::path::Path;

use super::auxv;
use super::modules::{self, Mapped};
use crate::answers::World;
use crate::os::spawn::{NO_DIRECTORY, NO_EXEC, NO_FILTER, Prepared};
use crate::os::wait::{self, Wait};
use crate::os::{Regs, Tid, memory, ptrace};
use crate::spec::LaunchError;

/// A process on its way to `main`; killed when dropped.
pub(crate) struct Startup {
    pub(crate) tid: Tid,
    pub(crate) world: World,
    /// Where the kernel is to store the main thread's number, and to clear it at its end.
    pub(crate) tid_word: u64,
    entry: u64,
    armed: bool,
}

fn startup(text: impl Into<String>) -> LaunchError {
    LaunchError::Startup(text.into())
}

impl Startup {
    /// Starts the program and lets it get to its exec.
    pub(crate) fn exec(prepared: &Prepared, world: World) -> Result<Self, LaunchError> {
        let tid = prepared.spawn().map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM) => startup(
                "ptrace is not permitted here: allow it (`sysctl kernel.yama.ptrace_scope=1`, or in a container \
                 `--cap-add=SYS_PTRACE`)",
            ),
            _ => LaunchError::System { doing: "start the program under ptrace", error },
        })?;
        let mut this = Self { tid, world, tid_word: 0, entry: 0, armed: true };
        loop {
            match this.wait()? {
                Wait::Exec => break,
                Wait::Exited(NO_EXEC) => return Err(startup("the kernel refused to execute the program")),
                Wait::Exited(NO_DIRECTORY) => return Err(startup("the working directory cannot be entered")),
                Wait::Exited(NO_FILTER) => {
                    return Err(startup(
                        "the kernel refused the seccomp filter (is CONFIG_SECCOMP_FILTER on?)",
                    ));
                }
                Wait::Exited(_) | Wait::Killed(_) => {
                    return Err(startup("the program ended before its exec"));
                }
                _ => this.resume(0)?,
            }
        }
        let regs = this.registers()?;
        let auxv = auxv::prepare(tid, regs.rsp)
            .ok_or_else(|| startup("the program's initial stack is not laid out as expected"))?;
        this.entry = auxv.entry;
        Ok(this)
    }

    /// Runs the dynamic linker: afterwards all libraries are mapped and relocated, and nothing of them has run.
    pub(crate) fn link(&mut self, executable: &Path) -> Result<Vec<Mapped>, LaunchError> {
        self.run_to(self.entry)?;
        modules::mapped(self.tid, executable).map_err(LaunchError::system("read the program's memory map"))
    }

    /// Runs constructors and stops at the first instruction of `main`, whose registers are returned. `start_main` are
    /// the addresses of `__libc_start_main`, in all its versions.
    pub(crate) fn run_to_main(&mut self, start_main: &[u64]) -> Result<Regs, LaunchError> {
        let regs = self.run_to_any(start_main)?;
        self.run_to(regs.rdi)
    }

    /// Runs one system call in the target, at an address that holds `syscall; int3`.
    pub(crate) fn inject(&mut self, at: u64, number: i64, args: [u64; 6]) -> Result<i64, LaunchError> {
        let saved = self.registers()?;
        let mut regs = saved;
        regs.rip = at;
        regs.rax = number as u64;
        regs.orig_rax = u64::MAX;
        [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9] = args;
        self.set_registers(&regs)?;
        self.resume(0)?;
        match self.wait()? {
            Wait::Signal(libc::SIGTRAP) => {}
            other => return Err(startup(format!("an injected system call ended with {other:?}"))),
        }
        let result = self.registers()?.rax as i64;
        self.set_registers(&saved)?;
        Ok(result)
    }

    fn run_to(&mut self, address: u64) -> Result<Regs, LaunchError> {
        self.run_to_any(&[address])
    }

    /// Runs to one of the addresses, answering system calls on the way, and lifts the traps again.
    fn run_to_any(&mut self, addresses: &[u64]) -> Result<Regs, LaunchError> {
        let mut saved = Vec::new();
        for &address in addresses {
            let byte = memory::number(self.tid, address, 1).ok_or_else(|| startup("code cannot be read"))?;
            saved.push((address, byte as u8));
            self.poke(address, 0xcc)?;
        }
        self.resume(0)?;
        let mut regs = self.until_trap()?;
        regs.rip -= 1;
        for (address, byte) in saved {
            self.poke(address, byte)?;
        }
        if !addresses.contains(&regs.rip) {
            return Err(startup("the program stopped at a breakpoint of its own before main"));
        }
        self.set_registers(&regs)?;
        Ok(regs)
    }

    fn until_trap(&mut self) -> Result<Regs, LaunchError> {
        loop {
            match self.wait()? {
                Wait::Signal(libc::SIGTRAP) => return self.registers(),
                Wait::Seccomp => self.system_call()?,
                Wait::Signal(libc::SIGSEGV) => self.time_stamp()?,
                Wait::Signal(signal) => self.resume(signal)?,
                Wait::Clone => {
                    return Err(startup(
                        "the program creates threads before main (in a constructor), which is not supported: create \
                         them in main or in a test",
                    ));
                }
                Wait::Fork => return Err(startup("the program forks before main, which is not supported")),
                Wait::Exec => {
                    return Err(startup("the program executes another one before main: explore that one"));
                }
                Wait::Exited(code) => {
                    return Err(startup(format!("the program ended with exit code {code} before main")));
                }
                Wait::Killed(signal) => {
                    return Err(startup(format!("the program was killed by signal {signal} before main")));
                }
                Wait::Stopped | Wait::Exit => self.resume(0)?,
            }
        }
    }

    fn system_call(&mut self) -> Result<(), LaunchError> {
        let mut regs = self.registers()?;
        if regs.orig_rax as i64 == libc::SYS_set_tid_address {
            self.tid_word = regs.rdi;
        }
        if let Some(result) = self.world.answer(self.tid, &regs) {
            regs.orig_rax = u64::MAX;
            regs.rax = result as u64;
            self.set_registers(&regs)?;
        }
        self.resume(0)
    }

    /// A fault before main: `rdtsc`, which is answered, or a crash, which is the program's own.
    fn time_stamp(&mut self) -> Result<(), LaunchError> {
        let mut regs = self.registers()?;
        if !answer_time_stamp(self.tid, &mut regs, &mut self.world) {
            return self.resume(libc::SIGSEGV);
        }
        self.set_registers(&regs)?;
        self.resume(0)
    }

    pub(crate) fn registers(&self) -> Result<Regs, LaunchError> {
        ptrace::registers(self.tid).map_err(LaunchError::system("read registers"))
    }

    pub(crate) fn set_registers(&self, regs: &Regs) -> Result<(), LaunchError> {
        ptrace::set_registers(self.tid, regs).map_err(LaunchError::system("write registers"))
    }

    pub(crate) fn poke(&self, address: u64, byte: u8) -> Result<(), LaunchError> {
        memory::poke_byte(self.tid, address, byte).map_err(LaunchError::system("write the program's code"))
    }

    fn resume(&self, signal: i32) -> Result<(), LaunchError> {
        ptrace::resume(self.tid, signal).map_err(LaunchError::system("resume the program"))
    }

    fn wait(&self) -> Result<Wait, LaunchError> {
        wait::uninterrupted(self.tid).map_err(LaunchError::system("wait for the program"))
    }

    /// Hands the process over to whoever takes care of it from here.
    pub(crate) fn release(mut self) -> Tid {
        self.armed = false;
        self.tid
    }
}

impl Drop for Startup {
    fn drop(&mut self) {
        if self.armed {
            ptrace::kill(self.tid);
            wait::reap(self.tid);
        }
    }
}

/// If a thread stands at `rdtsc` or `rdtscp`, gives it the virtual time and moves it on.
pub(crate) fn answer_time_stamp(tid: Tid, regs: &mut Regs, world: &mut World) -> bool {
    let Some(code) = memory::number(tid, regs.rip, 3) else { return false };
    let len = match code {
        _ if code & 0xffff == 0x310f => 2,
        0xf9_01_0f => 3,
        _ => return false,
    };
    let now = world.read_clock();
    regs.rax = now & 0xffff_ffff;
    regs.rdx = now >> 32;
    if len == 3 {
        regs.rcx = 0;
    }
    regs.rip += len;
    true
}
