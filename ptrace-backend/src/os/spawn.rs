//! Starting the target: fork, become its tracer, exec.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::calls::filter;
use super::network::{self, Network};
use super::{Tid, check, ptrace};

/// The data that the child needs, prepared before the fork: after it, only async-signal-safe calls are allowed.
pub(crate) struct Prepared {
    program: CString,
    args: Vec<CString>,
    env: Vec<CString>,
    cwd: CString,
    filter: Vec<libc::sock_filter>,
    streams: [RawFd; 3],
    limits: Limits,
    whose: ProcessRole,
}

/// The part of an execution that a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessRole {
    Program,
    /// Its clock and its standard streams are its own.
    Client,
}

/// The amount of the machine's resources that the target may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Upper bound of the data segment, in bytes.
    pub(crate) memory: u64,
    /// Upper bound of a file that it writes, in bytes.
    pub(crate) file: u64,
}

/// Exit codes of a child that did not get as far as the target.
pub(crate) const NO_FILTER: i32 = 251;
pub(crate) const NO_DIRECTORY: i32 = 252;
pub(crate) const NO_EXEC: i32 = 253;
pub(crate) const NO_NETWORK: i32 = 250;

fn c_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, "an argument or environment variable holds a NUL byte")
    })
}

impl Prepared {
    /// Collects what the child needs. `streams` are its standard input, output and error; `hand_offs`: see [`filter::program`].
    pub(crate) fn new(
        program: &Path,
        (name, args): (Option<&OsStr>, &[OsString]),
        env: &[(OsString, OsString)],
        cwd: &Path,
        streams: [&File; 3],
        (limits, whose): (Limits, ProcessRole),
        hand_offs: &[u32],
    ) -> io::Result<Self> {
        let program = c_string(program.as_os_str())?;
        let name = name.map_or_else(|| Ok(program.clone()), c_string);
        let args = std::iter::once(name).chain(args.iter().map(|a| c_string(a)));
        let pairs = env.iter().map(|(name, value)| {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            c_string(&pair)
        });
        Ok(Self {
            args: args.collect::<Result<_, _>>()?,
            env: pairs.collect::<Result<_, _>>()?,
            cwd: c_string(cwd.as_os_str())?,
            program,
            filter: match whose {
                ProcessRole::Program => filter::program(hand_offs),
                ProcessRole::Client => filter::program_with_own_streams(),
            },
            streams: streams.map(AsRawFd::as_raw_fd),
            limits,
            whose,
        })
    }

    /// Starts the child in this network, traced from before its exec.
    pub(crate) fn spawn(&self, network: &Network) -> io::Result<Tid> {
        let args = pointers(&self.args);
        let env = pointers(&self.env);
        let (gate, mut opener) = pipe()?;
        // SAFETY: the child calls only async-signal-safe functions on memory prepared above, and never returns.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: this is the child; the pointers are to NUL-terminated arrays that live until its exec.
            unsafe { self.child(gate.as_raw_fd(), opener.as_raw_fd(), (&args, &env), network) }
        }
        check(pid.into())?;
        if let Err(error) = ptrace::seize(pid) {
            ptrace::kill(pid);
            super::wait::reap(pid);
            return Err(error);
        }
        opener.write_all(&[1])?;
        Ok(pid)
    }

    /// # Safety
    /// Only in a freshly forked child; the arrays must be NULL-terminated.
    unsafe fn child(
        &self,
        gate: RawFd,
        opener: RawFd,
        (args, env): (&[*const libc::c_char], &[*const libc::c_char]),
        network: &Network,
    ) -> ! {
        // SAFETY: async-signal-safe calls on plain numbers and on memory that the parent prepared.
        unsafe {
            libc::close(opener);
            let mut byte = 0_u8;
            // A parent that went away before it could attach leaves the gate closed.
            if libc::read(gate, (&raw mut byte).cast(), 1) != 1 {
                libc::_exit(NO_EXEC);
            }
            if !network::enter(network) {
                libc::_exit(NO_NETWORK);
            }
            libc::setsid();
            for signal in 1..32 {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            for (to, &from) in self.streams.iter().enumerate() {
                libc::dup2(from, to as i32);
            }
            if libc::chdir(self.cwd.as_ptr()) != 0 {
                libc::_exit(NO_DIRECTORY);
            }
            self.limit();
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            if self.whose == ProcessRole::Program {
                libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV);
            }
            let filter =
                libc::sock_fprog { len: self.filter.len() as u16, filter: self.filter.as_ptr().cast_mut() };
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) != 0
            {
                libc::_exit(NO_FILTER);
            }
            libc::execve(self.program.as_ptr(), args.as_ptr(), env.as_ptr());
            libc::_exit(NO_EXEC)
        }
    }

    /// # Safety
    /// Only in a freshly forked child.
    unsafe fn limit(&self) {
        // A write past the limit fails; it does not end the target.
        // SAFETY: sets a signal's disposition to a constant.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        let bounds = [(libc::RLIMIT_DATA, self.limits.memory), (libc::RLIMIT_FSIZE, self.limits.file)];
        for (resource, bound) in bounds {
            let limit = libc::rlimit { rlim_cur: bound, rlim_max: bound };
            // SAFETY: reads one structure from a valid reference.
            unsafe { libc::setrlimit(resource, &raw const limit) };
        }
        // No core file, unless the target itself wants one.
        let mut core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: writes one structure to a valid reference, and reads it from there.
        unsafe {
            libc::getrlimit(libc::RLIMIT_CORE, &raw mut core);
            core.rlim_cur = 0;
            libc::setrlimit(libc::RLIMIT_CORE, &raw const core);
        }
    }
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|s| s.as_ptr()).chain(std::iter::once(std::ptr::null())).collect()
}

fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors, which have no other owner, to a valid array.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC).into())?;
        Ok((OwnedFd::from_raw_fd(ends[0]).into(), OwnedFd::from_raw_fd(ends[1]).into()))
    }
}
