//! A program that stopped itself with a breakpoint instruction.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::{fs, io, mem, ptr};

use ptrace_backend::debuginfo::inspect::{FrameId, Inspector, ScopeKind, ThreadState, Variable};
use ptrace_backend::debuginfo::{Image, ImageError, Modules, Registers};

use crate::debuginfo::snapshots::{ProcessMemory, modules_of};

/// A stopped process; it ends with this value.
pub(crate) struct Stopped {
    child: Child,
    modules: Modules,
    memory: ProcessMemory,
    state: ThreadState,
    /// The output of the program before it stopped, by the word in front of each `=`.
    pub(crate) printed: BTreeMap<String, String>,
}

impl Stopped {
    /// Runs a program up to its first breakpoint instruction.
    pub(crate) fn at_breakpoint(program: &Path) -> Self {
        let mut command = Command::new(program);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // SAFETY: between fork and exec only async-signal-safe functions are called.
        unsafe {
            command.pre_exec(|| {
                libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
                libc::alarm(30);
                match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
                    -1 => Err(io::Error::last_os_error()),
                    _ => Ok(()),
                }
            });
        }
        let mut child = command.spawn().unwrap();
        let pid = child.id().cast_signed();
        // The first stop is that of the exec.
        assert_eq!(next_stop(pid), (pid, libc::SIGTRAP));
        // SAFETY: the child is stopped and traced by this thread.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, libc::PTRACE_O_TRACECLONE) }, 0);
        let thread = run_to_breakpoint(pid);
        let process = pid.to_string();
        let printed = printed(child.stdout.take().unwrap());
        Self {
            child,
            modules: modules_of(&process),
            memory: ProcessMemory::open(&process),
            state: thread_state(thread),
            printed,
        }
    }

    /// The loaded modules, with another file in the place of one of them.
    pub(crate) fn modules_with(&self, old: &Path, new: &Path) -> Result<Modules, ImageError> {
        let mut modules = Modules::default();
        for module in self.modules.iter() {
            let image =
                if module.image.path() == old { Image::open(new)? } else { Arc::clone(&module.image) };
            modules.add(image, module.bias, module.range.clone());
        }
        Ok(modules)
    }

    /// Looks into the process with other knowledge of what is loaded.
    pub(crate) fn inspector_with<'a>(&'a self, modules: &'a Modules) -> Inspector<'a> {
        Inspector::new(modules, &self.memory, &self.state)
    }

    pub(crate) fn inspector(&self) -> Inspector<'_> {
        Inspector::new(&self.modules, &self.memory, &self.state)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // None of these fails for a child that has not been reaped; its threads have to be reaped first.
        let process = self.child.id().cast_signed();
        let names = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let threads: Vec<libc::pid_t> =
            names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        let _ = self.child.kill();
        for thread in threads.into_iter().filter(|&thread| thread != process) {
            // SAFETY: no status is asked for.
            unsafe { libc::waitpid(thread, ptr::null_mut(), libc::__WALL) };
        }
        let _ = self.child.wait();
    }
}

/// Lets threads run until one of them is at a breakpoint.
fn run_to_breakpoint(first: libc::pid_t) -> libc::pid_t {
    let mut thread = first;
    loop {
        // SAFETY: the thread is stopped and traced by this thread.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_CONT, thread, 0, 0) }, 0);
        let (stopped, signal) = next_stop(first);
        if signal == libc::SIGTRAP {
            return stopped;
        }
        // A thread was created, or begins.
        let created = libc::SIGTRAP | libc::PTRACE_EVENT_CLONE << 8;
        assert!(signal == created || signal == libc::SIGSTOP, "signal {signal:#x}");
        thread = stopped;
    }
}

/// The next thread of this thread's program to stop, with the signal and the event.
fn next_stop(program: libc::pid_t) -> (libc::pid_t, libc::c_int) {
    loop {
        let mut status = 0;
        // SAFETY: the status is written to a live variable.
        let thread = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        if libc::WIFSTOPPED(status) {
            return (thread, status >> 8);
        }
        assert!(thread > 0 && thread != program, "ended with status {status:#x}");
    }
}

/// The output of a stopped program.
fn printed(mut output: ChildStdout) -> BTreeMap<String, String> {
    // SAFETY: the descriptor is open, and no other code reads from it.
    assert_eq!(unsafe { libc::fcntl(output.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) }, 0);
    let mut text = Vec::new();
    let end = output.read_to_end(&mut text).unwrap_err();
    assert_eq!(end.kind(), io::ErrorKind::WouldBlock);
    let text = String::from_utf8(text).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn thread_state(pid: libc::pid_t) -> ThreadState {
    // SAFETY: all zeros is valid for both structures, and the kernel fills them; the child is stopped.
    let (general, float) = unsafe {
        let mut general: libc::user_regs_struct = mem::zeroed();
        let mut float: libc::user_fpregs_struct = mem::zeroed();
        let none = ptr::null_mut::<libc::c_void>();
        assert_eq!(libc::ptrace(libc::PTRACE_GETREGS, pid, none, &raw mut general), 0);
        assert_eq!(libc::ptrace(libc::PTRACE_GETFPREGS, pid, none, &raw mut float), 0);
        (general, float)
    };
    let words = general;
    let gpr = [
        words.rax, words.rdx, words.rcx, words.rbx, words.rsi, words.rdi, words.rbp, words.rsp, words.r8,
        words.r9, words.r10, words.r11, words.r12, words.r13, words.r14, words.r15,
    ];
    let vectors = std::array::from_fn(|register| {
        let words = &float.xmm_space[register * 4..register * 4 + 4];
        words.iter().rev().fold(0, |value, word| value << 32 | u128::from(*word))
    });
    ThreadState {
        registers: Registers { gpr, pc: words.rip },
        vectors: Some(vectors),
        thread_pointer: Some(words.fs_base),
    }
}

/// The frame of the first function whose name ends like this.
pub(crate) fn frame(inspector: &Inspector<'_>, function: &str) -> FrameId {
    let stack = inspector.stack(100);
    let found = stack.iter().find(|frame| frame.source.function.ends_with(function));
    let names: Vec<&str> = stack.iter().map(|frame| frame.source.function.as_str()).collect();
    found.unwrap_or_else(|| panic!("no {function} among {names:?}")).id
}

/// Every variable of a frame's scope.
pub(crate) fn scope(inspector: &Inspector<'_>, frame: FrameId, kind: ScopeKind) -> Vec<Variable> {
    let scopes = inspector.scopes(frame);
    let found = scopes.iter().find(|scope| scope.kind == kind);
    found.map(|scope| inspector.named(&scope.handle)).unwrap_or_default()
}

/// `name: type = value` of each.
pub(crate) fn lines(variables: &[Variable]) -> Vec<String> {
    variables.iter().map(|one| format!("{}: {} = {}", one.name, one.type_name, one.value)).collect()
}

/// Asserts what expressions evaluate to; errors are their sentences.
#[track_caller]
pub(crate) fn assert_values(inspector: &Inspector<'_>, frame: FrameId, expected: &[(&str, &str)]) {
    for (expression, value) in expected {
        let found = match inspector.evaluate(frame, expression) {
            Ok(variable) => variable.value,
            Err(error) => error.to_string(),
        };
        assert_eq!(&found, value, "{expression}");
    }
}

/// Asserts that every expression has this value, or none that is known; and that some have one.
#[track_caller]
pub(crate) fn assert_never_wrong(
    inspector: &Inspector<'_>,
    frame: FrameId,
    expected: &[(&str, &str)],
    simplified: &dyn Fn(&str) -> String,
) {
    let mut known = 0;
    for (expression, value) in expected {
        // A variable that the compiler left no trace of is none.
        let Ok(found) = inspector.evaluate(frame, expression) else { continue };
        if !found.value.contains("optimised out") {
            assert_eq!(&simplified(&found.value), value, "{expression}");
            known += 1;
        }
    }
    assert!(known * 3 > expected.len(), "only {known} of {} are known", expected.len());
}
