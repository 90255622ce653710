//! `pause` in the code of system libraries that is not watched: a thread that comes to it waits in a loop for what another one does.
//!
//! The reads of such a loop are no key points, so that nothing else would stop the thread in it until its time is over. If it goes
//! round in the same way each time, it waits for a change of what it reads; if it counts its rounds, it gives way now and then.

use checker::operation::{Op, OpKind};
use checker::program::ExecutionError;

use crate::control::loops::spin;
use crate::control::operations;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::instructions::TrappedInstruction;

/// The number of times that a thread pauses between two of its events before it gives way.
const OFTEN: u32 = 16;

/// The running thread stands at such an instruction.
pub(crate) fn enter(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    pause: &TrappedInstruction,
) -> Result<Flow, ExecutionError> {
    let waits = tracee.is_scheduled(index) && !tracee.in_harness(index);
    if waits {
        operations::pend(
            tracee,
            scheduling,
            index,
            Op::new(OpKind::Await, []),
            WaitCondition::Nothing,
            Action::GoOn,
            None,
        );
        if spin::watch_for_spinning(tracee, scheduling, memory, index, true)?
            && scheduling.threads[index]
                .pending
                .as_ref()
                .is_some_and(|pending| pending.condition.waits_for_bytes())
        {
            pause.complete(&mut tracee.tasks[index].regs, 0);
            return Ok(Flow::Rest);
        }
        scheduling.threads[index].pending = None;
    }
    pause.complete(&mut tracee.tasks[index].regs, 0);
    let thread = &mut scheduling.threads[index];
    if waits && thread.spinning.pauses_often(thread.events, OFTEN) {
        let op = Op::new(OpKind::Yield, []);
        return Ok(operations::pend(
            tracee,
            scheduling,
            index,
            op,
            WaitCondition::Nothing,
            Action::GoOn,
            None,
        ));
    }
    tracee.write_registers(index)?;
    Ok(Flow::Resume(0))
}
