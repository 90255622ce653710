//! The virtual clock of each thread, and loops that wait for a time. Virtual time moves when the clock is read, so that such a
//! loop would take as many readings as it has microseconds to wait, and would starve the others all the while.
//!
//! A thread that reads the clock again and again in one place, and changes nothing that others see, is taken to wait for a
//! time: at each further reading it gives way, and its time makes a larger step. The clock is that of the kernel, or the processor's
//! time stamps.

use checker::operation::{Effect, Op, OpKind};
use checker::program::ExecutionError;

use crate::control::operations;
use crate::control::state::flow::Flow;
use crate::control::state::pending::{Action, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::instructions::TrappedInstruction;

impl Scheduling {
    /// Virtual time is a Lamport clock, and so is the time for which processors have worked, which goes on with events and readings
    /// alone.
    pub(crate) fn keep_time(&mut self, index: ThreadIndex, did: &Effect) {
        let virtual_system = &mut self.threads[index].virtual_system;
        virtual_system.now = self.times.after(virtual_system.now, did);
        virtual_system.processor_time = self.processor_times.after(virtual_system.processor_time, did);
    }

    /// The clock of a thread that has waited for the end of another one is not behind that thread's.
    pub(crate) fn join_clock(&mut self, index: ThreadIndex, ended: ThreadIndex) {
        let (end, worked) =
            (self.threads[ended].virtual_system.now, self.threads[ended].virtual_system.processor_time);
        let virtual_system = &mut self.threads[index].virtual_system;
        virtual_system.now = end.max(virtual_system.now);
        virtual_system.processor_time = worked.max(virtual_system.processor_time);
    }
}

/// A thread that waits for a time gives way before it reads the clock. `None`: it does not wait, or is not scheduled.
pub(crate) fn wait_for_time(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
) -> Option<Flow> {
    let thread = &mut scheduling.threads[index];
    let regs = &tracee.tasks[index].regs;
    if ![libc::SYS_clock_gettime, libc::SYS_gettimeofday, libc::SYS_time].contains(&(regs.orig_rax as i64)) {
        return None;
    }
    let step = thread.readings.step((regs.rip, regs.rsp))?;
    thread.virtual_system.pass(step);
    give_way(tracee, scheduling, index, Action::MakeUp)
}

/// A thread has stopped at an instruction that reads the processor's time stamps: it gets the virtual time; where it waits for a
/// time, it gives way then, and time makes a step.
pub(crate) fn read_time_stamp(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    trapped: &TrappedInstruction,
) -> Result<Flow, ExecutionError> {
    let (task, thread) = (&mut tracee.tasks[index], &mut scheduling.threads[index]);
    let place = (task.regs.rip, task.regs.rsp);
    trapped.complete(&mut task.regs, thread.virtual_system.read_clock());
    tracee.write_registers(index)?;
    let Some(step) = thread.readings.step(place) else { return Ok(Flow::Resume(0)) };
    thread.virtual_system.pass(step);
    tracee.leave_detour(index)?;
    Ok(give_way(tracee, scheduling, index, Action::GoOn).unwrap_or(Flow::Resume(0)))
}

/// Lets other threads go first, if this one is scheduled.
fn give_way(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    action: Action,
) -> Option<Flow> {
    if !tracee.is_scheduled(index) {
        return None;
    }
    let op = Op::new(OpKind::Yield, []);
    Some(operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, action, None))
}
