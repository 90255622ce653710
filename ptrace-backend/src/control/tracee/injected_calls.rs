//! Calls of functions of the C library that a thread is made to make in the midst of another call: where their effect on an
//! object is more than can be repeated from outside.

use checker::program::ExecutionError;

use crate::control::state::flow::Flow;
use crate::control::state::pending::{AfterCall, InjectedCall};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;

/// The function has returned.
pub(crate) fn end_call(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    call: InjectedCall,
) -> Result<Flow, ExecutionError> {
    let error = tracee.tasks[index].regs.rax;
    if let Some(saved) = call.saved {
        tracee.tasks[index].regs = saved;
    }
    match call.after {
        AfterCall::Stay(pending) => {
            scheduling.threads[index].pending = Some(*pending);
            tracee.write_registers(index)?;
            return Ok(Flow::Rest);
        }
        AfterCall::Return(result) => {
            tracee.return_from_call(index, if error == 0 { result } else { error })?;
        }
        AfterCall::Jump(function) => tracee.jump(index, function)?,
    }
    Ok(Flow::Resume(0))
}
