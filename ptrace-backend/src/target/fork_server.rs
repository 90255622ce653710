//! The fork server: a process stopped at `main`, of which every execution gets a copy.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::startup::over;
use super::streams::Streams;
use crate::control::watchdog::{Reason, Watch};
use crate::error::{LaunchError, SystemAction};
use crate::os::hand_off::SharedPage;
use crate::os::wait::{self, WaitStatus};
use crate::os::{Regs, Tid, ptrace};
use crate::virtual_syscalls::VirtualSystem;

/// `again: mov eax, SYS_clone; syscall; jmp again`. Each resumption from the fork event makes one more copy.
const FORK_LOOP: [u8; 9] = [0xb8, libc::SYS_clone as u8, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7];

/// `syscall; int3`, behind [`FORK_LOOP`]: a copy runs it before it begins, where time stamps are to fault.
const CALL: [u8; 3] = [0x0f, 0x05, 0xcc];

/// The address of [`CALL`] in a process whose fork server lies there.
pub(crate) fn call_at(fork_loop: u64) -> u64 {
    fork_loop + FORK_LOOP.len() as u64
}

/// The code of the fork server.
pub(crate) fn code() -> Vec<u8> {
    [&FORK_LOOP[..], &CALL].concat()
}

/// The time that the kernel may take at least for a copy of a process.
const COPYING: Duration = Duration::from_secs(10);

/// A process at `main`, its traps planted, that is never let into `main` itself. Killed when dropped.
pub(crate) struct ForkServer {
    tid: Tid,
    /// The registers at `main`, for every copy.
    main: Regs,
    fork_loop: u64,
    pub(crate) virtual_system: VirtualSystem,
    tid_word: u64,
    streams: Arc<Streams>,
    /// The page that all copies have in common with the tracer, if there is one.
    pub(crate) page: Option<Arc<SharedPage>>,
}

impl ForkServer {
    /// Takes over a process at `main`. `fork_loop` is where [`code`] lies in it. `tid_word` is where the C library
    /// keeps the main thread's number: the kernel must write it in every copy, or signals to it would go astray.
    pub(crate) fn new(
        startup: super::startup::Startup,
        main: Regs,
        fork_loop: u64,
        streams: Arc<Streams>,
        page: Option<SharedPage>,
    ) -> io::Result<Self> {
        let (virtual_system, tid_word) = (startup.virtual_system.clone(), startup.tid_word);
        let mut regs = main;
        regs.rip = fork_loop;
        regs.orig_rax = u64::MAX;
        // CLONE_PARENT: the copy is this process's child, not the fork server's, so that it can be reaped here.
        let flags =
            libc::CLONE_PARENT | libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD;
        regs.rdi = flags as u64;
        regs.rsi = 0;
        regs.rdx = 0;
        regs.r10 = tid_word;
        regs.r8 = 0;
        ptrace::set_registers(startup.tid, &regs)?;
        Ok(Self {
            tid: startup.release(),
            main,
            fork_loop,
            virtual_system,
            tid_word,
            streams,
            page: page.map(Arc::new),
        })
    }

    /// A new copy, stopped before the first instruction of `main`. `time_stamps_fault`: so does every reading of the processor's time
    /// stamps.
    pub(crate) fn fork(&mut self, watch: &Watch, time_stamps_fault: bool) -> Result<Tid, LaunchError> {
        let failed = || LaunchError::system(SystemAction::CopyProgram);
        let unexpected = |text: String| failed()(io::Error::other(text));
        self.streams.reset().map_err(failed())?;
        if let Some(reason) = watch.expired().filter(|&reason| reason != Reason::TimedOut) {
            return Err(over(reason));
        }
        watch.begin_wait();
        let copy = loop {
            ptrace::resume(self.tid, 0).map_err(failed())?;
            match reported(self.tid, watch)? {
                WaitStatus::Fork => break ptrace::event_message(self.tid).map_err(failed())? as Tid,
                WaitStatus::Signal(_) | WaitStatus::Stopped => {}
                other => return Err(unexpected(format!("the fork server ended with {other:?}"))),
            }
        };
        let begun = match reported(copy, watch) {
            Ok(WaitStatus::Stopped) => {
                let ready = if time_stamps_fault { self.make_time_stamps_fault(copy, watch) } else { Ok(()) };
                ready.and_then(|()| ptrace::set_registers(copy, &self.main).map_err(failed()))
            }
            Ok(other) => Err(unexpected(format!("a copy of the program began with {other:?}"))),
            Err(error) => Err(error),
        };
        if begun.is_err() {
            ptrace::kill(copy);
            wait::reap(copy);
        }
        begun.map(|()| copy)
    }

    fn make_time_stamps_fault(&self, copy: Tid, watch: &Watch) -> Result<(), LaunchError> {
        let failed = || LaunchError::system(SystemAction::LetTimeStampsFault);
        let mut regs = self.main;
        regs.rip = call_at(self.fork_loop);
        (regs.rax, regs.orig_rax) = (libc::SYS_prctl as u64, u64::MAX);
        (regs.rdi, regs.rsi) = (libc::PR_SET_TSC as u64, libc::PR_TSC_SIGSEGV as u64);
        ptrace::set_registers(copy, &regs).map_err(failed())?;
        loop {
            ptrace::resume(copy, 0).map_err(failed())?;
            match reported(copy, watch)? {
                WaitStatus::Seccomp => {}
                WaitStatus::Signal(libc::SIGTRAP) => return Ok(()),
                other => {
                    return Err(failed()(io::Error::other(format!("the call ended with {other:?}"))));
                }
            }
        }
    }

    /// Address at which every copy has its main thread's number, which the kernel clears when that ends.
    pub(crate) fn tid_word(&self) -> u64 {
        self.tid_word
    }

    /// The process itself, for writing traps that all later copies inherit.
    pub(crate) fn tid(&self) -> Tid {
        self.tid
    }
}

/// The report of a process that only makes a copy, or is one that has not begun. Neither an interrupt nor the end of
/// the time cuts that short: a copy that was never heard of would be left behind.
fn reported(tid: Tid, watch: &Watch) -> Result<WaitStatus, LaunchError> {
    let began = Instant::now();
    let heard = watch.wait(Some(tid), |reason| reason == Reason::TimedOut && began.elapsed() >= COPYING);
    let heard = heard.map_err(LaunchError::system(SystemAction::WaitForCopy))?;
    heard.map(|(_, status)| status).map_err(over)
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        ptrace::kill(self.tid);
        wait::reap(self.tid);
    }
}
