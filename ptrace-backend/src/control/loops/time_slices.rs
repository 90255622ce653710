//! Time slices: a thread that has seen the same in the same place some hundred times gives way.
//!
//! A loop that waits and counts its rounds, or backs off for longer from round to round, never comes back to where it was: it
//! is no spin loop ([`crate::control::loops::spin`]), since it may end by itself. But as a processor lets threads take turns, whatever their
//! code says, so it is here; else an execution in which the loop runs alone would never end, and be taken for a failure. A
//! loop that ends before runs as it would. Slices grow, so that a loop of many rounds gives way a few times only, and others
//! need not go far before it goes on. Searches make a thread that gives way again let others go first: what would come of
//! its going on alone is left out, so that no bound is covered.
//!
//! Slices are counted by what the thread's own events saw, so that equal threads give way in the same place in all executions
//! of a happens-before class. Where only few variables are watched, those that were waited for are among them.

use checker::operation::{Op, OpKind};
use checker::peculiarity::Peculiarity;

use crate::control::enabled;
use crate::control::kernel::signals;
use crate::control::state::account::Account;
use crate::control::state::pending::{Action, Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::spinning::MemoryBytes;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread::Thread;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::control::tracee::machine::MachineState;
use crate::os::memory;

/// The object that a thread at a key point looks at, by an access or by trying to take something: its address, and of an access
/// the number of bytes.
fn looked_at(tracee: &Tracee, index: ThreadIndex, pending: &Pending) -> Option<(u64, Option<usize>)> {
    match pending.action {
        Action::Function { function, object, .. } if function.only_tries() => Some((object, None)),
        Action::Access if pending.op.kind != OpKind::Write => {
            let candidate = tracee.layout.candidate_at(tracee.tasks[index].regs.rip)?;
            let accesses = candidate.accesses(&MachineState::of(tracee, index));
            let read = accesses.iter().find(|access| access.read)?;
            Some((read.addr, Some(read.len.min(8) as usize)))
        }
        Action::Try(ref files) => {
            files.first().filter(|(_, events)| *events != 0).map(|(file, _)| (*file as u64, None))
        }
        _ => None,
    }
}

/// The thread does this now, and memory is as it was: notes what it sees there, and what it is about to update. `succeeds`: it gets
/// what it tries to take.
pub(crate) fn note_look(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    pending: &Pending,
    succeeds: bool,
) {
    scheduling.threads[index].spinning.updating = None;
    let Some((address, len)) = looked_at(tracee, index, pending) else { return };
    let seen = match &pending.action {
        // A thread that gets something out of a file has not seen the same.
        Action::Try(files) => {
            scheduling.events * u64::from(signals::files::is_any_ready(tracee, index, files))
        }
        _ => u64::from(succeeds),
    };
    let thread = &mut scheduling.threads[index];
    let read = |len| memory::number(tracee.leader, address, len).unwrap_or(0);
    let bytes = |len| MemoryBytes { address, len, value: read(len) };
    // Until the thread rests, no other one can change what it updates.
    thread.spinning.updating = len.filter(|_| pending.op.kind == OpKind::Update).map(bytes);
    let updated = thread.spinning.updating.as_ref().map(|bytes| bytes.value);
    let value = || updated.unwrap_or_else(|| len.map_or(seen, read));
    thread.time_slices.look(tracee.tasks[index].regs.rip, address, value);
}

/// If the thread, which stands at a key point, has looked at the same there for long, it gives way first.
pub(crate) fn end_slice(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &Objects,
    account: &mut Account,
    index: ThreadIndex,
) {
    let Some(pending) = scheduling.threads[index].pending.take() else { return };
    let looks_at = looked_at(tracee, index, &pending);
    let thread = &mut scheduling.threads[index];
    let place = tracee.tasks[index].regs.rip;
    if !looks_at.is_some_and(|(addr, _)| thread.time_slices.is_over(place, addr)) {
        thread.pending = Some(pending);
        return;
    }
    pending.op.may.accesses.iter().for_each(|access| tracee.knowledge.note_waited_for(access.obj));
    note_gap(tracee, scheduling, objects, account, index);
    let (op, site) = (Op::new(OpKind::SliceEnd, []), pending.site);
    let action = Action::EndOfSlice(Box::new(pending));
    scheduling.threads[index].pending =
        Some(Pending { op, site, condition: WaitCondition::Nothing, action, deadline: None });
}

/// A search may make the thread give way, if there is another one to give way to: takes note of what that leaves out.
fn note_gap(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    account: &mut Account,
    index: ThreadIndex,
) {
    let can_go = |(other, thread): (ThreadIndex, &Thread)| {
        let pending = thread.pending.as_ref().filter(|_| thread.is_live() && other != index);
        pending.is_some_and(|pending| enabled::holds(tracee, scheduling, objects, other, &pending.condition))
    };
    if scheduling.threads.enumerate().any(can_go) {
        account.left_out = true;
        account.note(Peculiarity::LooksForLong);
    }
}
