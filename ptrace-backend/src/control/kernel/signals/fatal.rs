//! Signals that end the process, and the failures that they are: crashes and failed assertions, with the last words of the program.

use checker::failure::{Failure, FailureDetail, FailureKind, SignalOrigin};

use super::state::Signals;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};
use crate::os::ptrace;
use crate::os::signal_names::name;

/// Signals whose default action is to do nothing, or to stop or continue (which means nothing to a traced thread here).
const HARMLESS: &[i32] = &[
    libc::SIGCHLD,
    libc::SIGURG,
    libc::SIGWINCH,
    libc::SIGCONT,
    libc::SIGSTOP,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// Whether the program leaves the signal to its default action, which ends it.
pub(crate) fn is_fatal(tracee: &Tracee, index: ThreadIndex, signal: i32) -> bool {
    !HARMLESS.contains(&signal)
        && Signals::of(tracee.tasks[index].tid).is_none_or(|signals| signals.is_unhandled(signal))
}

pub(crate) fn fatal_signal(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
    signal: i32,
) -> Failure {
    let _ = tracee.leave_stub(index);
    let stack = stacks::stack(tracee, index);
    if signal == libc::SIGABRT && ends_with_panic(tracee) {
        return scheduling.failure(index, FailureKind::Panic, panic_detail(tracee), stack);
    }
    if signal == libc::SIGABRT {
        let detail = said_last(tracee).map_or(FailureDetail::Aborted, FailureDetail::Said);
        return scheduling.failure(index, FailureKind::Assertion, detail, stack);
    }
    let info = ptrace::signal_info(tracee.tasks[index].tid);
    let of_timer = info.is_ok_and(|info| info.si_signo == signal && info.si_code == libc::SI_TIMER);
    let sent = if of_timer { SignalOrigin::Timer } else { SignalOrigin::Sent };
    let origin = fault(tracee, index, signal).map_or(sent, SignalOrigin::Fault);
    let detail = FailureDetail::Signal { signal: name(signal), origin };
    scheduling.failure(index, FailureKind::Crash, detail, stack)
}

/// The address that a faulting instruction touched.
fn fault(tracee: &Tracee, index: ThreadIndex, signal: i32) -> Option<u64> {
    if ![libc::SIGSEGV, libc::SIGBUS].contains(&signal) {
        return None;
    }
    let info = ptrace::signal_info(tracee.tasks[index].tid).ok()?;
    ptrace::is_fault(&info).then(|| ptrace::fault_address(&info))
}

/// The last words of the program's standard error.
fn said_last(tracee: &Tracee) -> Option<String> {
    let (_, stderr, _) = tracee.knowledge.output();
    let words = last_words(&String::from_utf8_lossy(&stderr))?;
    Some(words.chars().take(300).collect())
}

/// Whether the last thing that the program has said is where and why it panicked: a panic aborts it.
fn ends_with_panic(tracee: &Tracee) -> bool {
    const BEHIND_MESSAGE: &str = "note: run with `RUST_BACKTRACE=";
    let (_, stderr, _) = tracee.knowledge.output();
    let text = String::from_utf8_lossy(&stderr);
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.is_some_and(|line| line.starts_with(BEHIND_MESSAGE))
}

/// The message of the first panic, or the line that says where it was.
pub(crate) fn panic_detail(tracee: &Tracee) -> FailureDetail {
    const LONGEST: usize = 290;
    let (_, stderr, _) = tracee.knowledge.output();
    let text = String::from_utf8_lossy(&stderr).into_owned();
    let mut lines = text.lines().skip_while(|line| !line.contains("panicked at"));
    let Some(place) = lines.next() else { return FailureDetail::Panicked(None) };
    match lines.next().unwrap_or_default() {
        "" => FailureDetail::Said(place.to_owned()),
        said => FailureDetail::Panicked(Some(said.chars().take(LONGEST).collect())),
    }
}

/// The last line; both lines of libstdc++'s message about an uncaught exception count as one.
fn last_words(text: &str) -> Option<String> {
    const THROWN: &str = "terminate called after throwing an instance of '";
    let mut lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.next()?;
    let thrown = |line: &str| Some(line.strip_prefix(THROWN)?.strip_suffix('\'')?.to_owned());
    let words = match last.strip_prefix("what():") {
        Some(what) => lines.next().and_then(thrown).map(|class| (class, format!(": {}", what.trim()))),
        None => thrown(last).map(|class| (class, String::new())),
    };
    Some(words.map_or_else(|| last.to_owned(), |(class, what)| format!("uncaught exception {class}{what}")))
}
