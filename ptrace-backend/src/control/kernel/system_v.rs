//! Calls on semaphores, message queues and shared memory of System V: operations on the object that they name, which wait where it
//! does not let them go on. The tracer makes such objects in the place of the program, and removes them with the execution.

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::Obj;
use checker::operation::{Access, OpKind};
use checker::program::ExecutionError;

use crate::control::kernel::{accesses, own_numbers};
use crate::control::process::Process;
use crate::control::state::flow::Flow;
use crate::control::state::pending::{Action, WaitCondition};
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::control::{enabled, operations};
use crate::os::calls;
use crate::os::system_v::{self, IpcKind};
use crate::virtual_syscalls::read_timespec;

/// A thread stands at such a call.
pub(crate) fn enter(process: &mut Process, index: ThreadIndex) -> Result<Flow, ExecutionError> {
    let Process { tracee, scheduling, objects, memory, account } = process;
    let regs = tracee.tasks[index].regs;
    let call = regs.orig_rax as i64;
    let kind = match call {
        libc::SYS_semget => Some(IpcKind::Semaphores),
        libc::SYS_msgget => Some(IpcKind::Messages),
        libc::SYS_shmget => Some(IpcKind::Memory),
        _ => None,
    };
    let (own, condition, action) = match kind {
        // Decides the numbers of objects, and which of two threads makes the object of a key.
        Some(kind) => {
            let numbers = tracee.knowledge.named("numbers of objects of System V".to_owned());
            (Access::write(numbers), WaitCondition::Nothing, Action::Get(kind))
        }
        None => {
            let object = object(tracee, objects, regs.rdi as i32);
            let own = if looks(call, &regs) { Access::read(object) } else { Access::write(object) };
            let wait = system_v::wait_of(tracee.leader, &regs);
            (own, wait.map_or(WaitCondition::Nothing, WaitCondition::SystemV), Action::Kernel)
        }
    };
    let tells_of_waiting =
        call == libc::SYS_semctl && [libc::GETNCNT, libc::GETZCNT].contains(&(regs.rdx as i32));
    if tells_of_waiting && scheduling.has_company() {
        // Threads that wait do not do so in the kernel.
        account.enter_unwatched(Unwatched::call(UnwatchedKind::SystemCall, &calls::name(call)));
    }
    if call == libc::SYS_shmat
        && (objects.system_v.attach(regs.rdi as i32) || !tracee.child_processes.is_empty())
    {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
    }
    let accesses = accesses::kernel_accesses(tracee, scheduling, memory, account, index);
    let limit = (call == libc::SYS_semtimedop && regs.r10 != 0).then_some(regs.r10);
    let limit = limit.and_then(|at| read_timespec(tracee.leader, at));
    let deadline = limit.map(|limit| scheduling.threads[index].virtual_system.now.saturating_add(limit));
    if !tracee.is_scheduled(index) && enabled::holds(tracee, scheduling, objects, index, &condition) {
        if let Action::Get(kind) = action {
            let answer = objects.system_v.get(kind, &regs);
            tracee.answer(index, answer)?;
        } else if let WaitCondition::SystemV(wait) = &condition {
            objects.system_v.carry_out(wait);
        }
        own_numbers::pass_with_numbers(tracee, scheduling, index)?;
        return Ok(Flow::Resume(0));
    }
    let op = accesses::operation(OpKind::Io, [own].into_iter().chain(accesses));
    Ok(operations::pend(tracee, scheduling, index, op, condition, action, deadline))
}

/// Such an object by its number: one of the program's own by the number of those that it has made before.
pub(crate) fn object(tracee: &Tracee, objects: &Objects, id: i32) -> Obj {
    tracee.knowledge.named(match objects.system_v.place(id) {
        Some(place) => format!("object {} of System V", place + 1),
        None => format!("object {id} of System V, which is not of the program"),
    })
}

/// Whether a call leaves the object as it is.
fn looks(call: i64, regs: &crate::os::Regs) -> bool {
    let command = if call == libc::SYS_semctl { regs.rdx } else { regs.rsi } as i32;
    match call {
        libc::SYS_semctl => {
            [libc::GETVAL, libc::GETPID, libc::GETALL, libc::GETNCNT, libc::GETZCNT, libc::IPC_STAT]
                .contains(&command)
        }
        libc::SYS_msgctl | libc::SYS_shmctl => command == libc::IPC_STAT,
        _ => false,
    }
}
