//! Readiness of the files that threads wait for, as of one moment. To ask the kernel takes a dozen system calls for each file, after
//! each event; so its answer holds until something enters the kernel that may change it: a system call of the program, a timer, a step of
//! the client ([`Tracee::moment`]). Where others may change it as well, it is asked each time.

use crate::control::kernel::signals;
use crate::control::state::client::{ClientPosition, Processes};
use crate::control::state::pending::{FileEvents, WaitCondition};
use crate::control::state::thread::{FilesSeen, Thread};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::fd;

/// Looks at the files that a thread waits for, if it does: at what lasts for the moment only the second time.
pub(crate) fn look(tracee: &Tracee, thread: &Thread, index: ThreadIndex) -> Option<FilesSeen> {
    let condition = &thread.pending.as_ref()?.condition;
    let files = awaited(condition)?;
    let is_ready = || match condition {
        WaitCondition::AllReady(_) => signals::files::are_all_ready(tracee, index, files),
        _ => signals::files::is_any_ready(tracee, index, files),
    };
    let moment = tracee.moment;
    let Some(seen) = thread.files_seen.filter(|seen| seen.moment == moment) else {
        return Some(FilesSeen { moment, is_ready: is_ready(), is_own: None, is_outside: None });
    };
    let is_own = seen.is_own.unwrap_or_else(|| are_own(tracee, files));
    let is_ready = if is_own { seen.is_ready } else { is_ready() };
    let is_outside = seen.is_outside.unwrap_or_else(|| come_from_outside(tracee, files));
    Some(FilesSeen { moment, is_ready, is_own: Some(is_own), is_outside: Some(is_outside) })
}

fn awaited(condition: &WaitCondition) -> Option<&[FileEvents]> {
    match condition {
        WaitCondition::Ready(files) | WaitCondition::AllReady(files) => Some(files),
        _ => None,
    }
}

/// Whether the files that a thread waits for are ready, if that was looked at at this moment.
pub(crate) fn seen(tracee: &Tracee, thread: &Thread) -> Option<bool> {
    awaited(&thread.pending.as_ref()?.condition)?;
    thread.files_seen.filter(|seen| seen.moment == tracee.moment).map(|seen| seen.is_ready)
}

/// Whether one of the files that a thread waits for leads out of the program.
pub(crate) fn is_outside(tracee: &Tracee, thread: &Thread, files: &[FileEvents]) -> bool {
    let seen = thread.files_seen.filter(|seen| seen.moment == tracee.moment);
    seen.and_then(|seen| seen.is_outside).unwrap_or_else(|| come_from_outside(tracee, files))
}

fn come_from_outside(tracee: &Tracee, files: &[FileEvents]) -> bool {
    files.iter().any(|(file, _)| fd::comes_from_outside(tracee.leader, *file))
}

/// Whether nothing but what the program and its client do makes these files ready.
fn are_own(tracee: &Tracee, files: &[FileEvents]) -> bool {
    // A process of the client that the kernel keeps waiting goes on by itself.
    let goes_on =
        |client: &Processes| client.tasks.iter().any(|task| task.position == ClientPosition::Kernel);
    let is_still = |client: &Processes| client.launch_plan.has_network && !goes_on(client);
    let has_network = tracee.client.as_ref().is_some_and(is_still);
    let has_processes = !tracee.child_processes.is_empty() || tracee.started_by.is_some();
    let has_others = has_processes || tracee.has_lasting_calls;
    !has_others && files.iter().all(|(file, _)| fd::is_own(tracee.leader, *file, has_network))
}
