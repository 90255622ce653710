//! Waits of threads for other processes. Those run unscheduled, in real time; so before it is asked which threads can go on,
//! they get the time that they need, and what a thread finds does not depend on how fast they are.
//!
//! Files tell what they wait for. Of a signal, or of memory that processes have in common, that is not known: other processes get time
//! where no thread can run otherwise, and what has not come by then may come later ([`may_come_of_process`]).

use std::time::Duration;

use checker::failure::{FailureDetail, FailureKind};
use checker::program::ExecutionError;

use crate::control::enabled;
use crate::control::state::pending::{FileEvents, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{Futex, Objects};
use crate::control::state::thread::RunState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::futexes;
use crate::control::tracee::{Tracee, stacks};
use crate::control::watchdog::Reason;
use crate::os::process::{self, BlockedSyscall};
use crate::os::{fd, wait};
use crate::target::modules;

/// The number of times that this process lets the others run before it sleeps.
const ROUNDS: u32 = 32;

/// Lets the processes that the target has started run until no thread waits for input, or until none of them can go
/// on by itself any more.
pub(crate) fn settle(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
) -> Result<(), ExecutionError> {
    let (mut rounds, mut before) = (0, None);
    if waits_for_others(tracee, scheduling, objects).is_none() {
        wake_written(tracee, scheduling, objects);
        return Ok(());
    }
    let used = used_by_others(tracee);
    tracee.watch.begin_wait();
    while let Some((index, files)) = waits_for_others(tracee, scheduling, objects) {
        match tracee.watch.expired() {
            // They wait for their turn on a busy machine.
            Some(Reason::TimedOut) if !others_had_their_time(tracee, used) => tracee.watch.begin_wait(),
            Some(Reason::TimedOut) => {
                waited_too_long(tracee, scheduling, index);
                return Ok(());
            }
            reason => reason.and_then(Reason::ends_everything).map_or(Ok(()), Err)?,
        }
        if handle_child_reports(tracee) {
            (rounds, before) = (0, None);
            continue;
        }
        // One look at each is not enough: the last one may have woken the first one meanwhile.
        let now = tracee
            .child_processes
            .iter()
            .map(|&tid| process::blocked_syscall(tid))
            .collect::<Option<Vec<BlockedSyscall>>>();
        if now.is_some() && now == before {
            return Ok(());
        }
        (rounds, before) = (rounds + 1, now);
        if rounds < ROUNDS {
            std::thread::yield_now();
        } else {
            fd::wait_for(tracee.leader, &files);
        }
    }
    wake_written(tracee, scheduling, objects);
    Ok(())
}

/// Writes of other processes count where no thread can run otherwise: until then, they depend on how fast these processes are.
fn wake_written(tracee: &Tracee, scheduling: &mut Scheduling, objects: &mut Objects) {
    if tracee.started_by.is_some() && is_still(tracee, scheduling, objects) {
        futexes::wake_written(tracee, scheduling, objects);
    }
}

/// No thread can run.
fn is_still(tracee: &Tracee, scheduling: &Scheduling, objects: &Objects) -> bool {
    scheduling.threads.indices().all(|it| !enabled::could_run(tracee, scheduling, objects, it))
}

/// Waits that another process may end: for a signal of it, or at memory that it has in common with the program. The state of
/// locks and conditions is known of the program's own threads alone.
pub(crate) fn may_come_of_process(tracee: &Tracee, condition: &WaitCondition) -> bool {
    let is_shared = |at: u64| modules::is_mapped_shared(tracee.leader, at);
    let has_others = !tracee.child_processes.is_empty();
    match condition {
        WaitCondition::Arrival(_) => has_others,
        WaitCondition::Semaphore(at) | WaitCondition::Wake(Futex { word: at, .. }) => {
            has_others && is_shared(*at)
        }
        WaitCondition::Change(bytes) => has_others && bytes.iter().any(|it| is_shared(it.address)),
        WaitCondition::Mutex(at)
        | WaitCondition::ReadLock(at)
        | WaitCondition::WriteLock(at)
        | WaitCondition::Signal(at)
        | WaitCondition::Generation(at, _)
        | WaitCondition::PiFutex(at) => tracee.started_by.is_some() && is_shared(*at),
        _ => false,
    }
}

/// Whether the other processes have had a processor for as long as a thread may, or all wait for something else than that.
fn others_had_their_time(tracee: &Tracee, before: Duration) -> bool {
    let is_behind = tracee.child_processes.iter().any(|&tid| process::is_runnable(tid));
    !is_behind || used_by_others(tracee).saturating_sub(before) >= tracee.watch.time()
}

fn used_by_others(tracee: &Tracee) -> Duration {
    tracee.child_processes.iter().filter_map(|&tid| process::processor_time(tid)).sum()
}

/// A thread that waits for files, while other processes are there, and what for.
fn waits_for_others(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
) -> Option<(ThreadIndex, Vec<FileEvents>)> {
    if tracee.child_processes.is_empty() || tracee.gone {
        return None;
    }
    let mut threads = scheduling.threads.enumerate().filter(|(_, thread)| thread.is_live());
    threads.find_map(|(index, thread)| match &thread.pending.as_ref()?.condition {
        condition @ (WaitCondition::Ready(files) | WaitCondition::AllReady(files))
            if !enabled::holds(tracee, scheduling, objects, index, condition) =>
        {
            Some((index, files.clone()))
        }
        // No descriptor tells of it.
        condition @ (WaitCondition::FileLock(_) | WaitCondition::SystemV(_))
            if !enabled::holds(tracee, scheduling, objects, index, condition) =>
        {
            Some((index, Vec::new()))
        }
        condition @ (WaitCondition::Arrival(_)
        | WaitCondition::Semaphore(_)
        | WaitCondition::Change(_)
        | WaitCondition::Wake(_))
            if is_still(tracee, scheduling, objects)
                && futexes::written(tracee, thread).is_none()
                && may_come_of_process(tracee, condition) =>
        {
            Some((index, Vec::new()))
        }
        _ => None,
    })
}

/// Takes note of what other processes have to report by now; `false` if there is nothing.
fn handle_child_reports(tracee: &mut Tracee) -> bool {
    let mut heard = false;
    for child in tracee.child_processes.clone() {
        match wait::now(child) {
            Ok(Some(status)) => {
                tracee.child_process_reported(child, status);
                heard = true;
            }
            Ok(None) => {}
            // It is no longer a child of this process.
            Err(_) => tracee.child_processes.retain(|&other| other != child),
        }
    }
    heard
}

/// Takes the thread for failed, unless its wait is one that another process may still end: of that nothing is known.
fn waited_too_long(tracee: &Tracee, scheduling: &mut Scheduling, index: ThreadIndex) {
    let condition = scheduling.threads[index].pending.as_ref().map(|pending| &pending.condition);
    if condition.is_some_and(|condition| may_come_of_process(tracee, condition)) {
        return;
    }
    let detail = FailureDetail::WaitedForProcess;
    let failure = scheduling.failure(index, FailureKind::Timeout, detail, stacks::stack(tracee, index));
    scheduling.threads[index].run_state = RunState::Failed(failure);
}
