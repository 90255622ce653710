//! Making a thread call a function of the C library in the midst of another call: where what that does to an object is more
//! than can be repeated from outside.

use checker::program::ExecutionError;

use crate::control::process::Process;
use crate::control::state::flow::{Flow, system};
use crate::control::state::pending::{After, Call};
use crate::control::state::sync_objects::Index;
use crate::os::{Regs, memory};

/// Room below a return address at a function's entry that keeps the stack aligned for another call.
const FRAME: u64 = 16;

impl Process {
    /// A thread that stands at a function's entry calls another one, which returns to a trap.
    pub(crate) fn begin_call(&mut self, index: Index, call: Call) -> Result<(), ExecutionError> {
        let saved = self.tracee.tasks[index].regs;
        let back = saved.rsp.wrapping_sub(FRAME);
        if !memory::write(self.tracee.leader, back, &self.tracee.layout.returned.to_le_bytes()) {
            return Err(system("write the program's stack")(std::io::Error::last_os_error()));
        }
        let task = &mut self.tracee.tasks[index];
        task.regs = Regs { rip: call.function, rdi: call.argument, rsp: back, ..saved };
        task.calling = Some(Box::new(Call { saved: Some(saved), ..call }));
        self.write_registers(index)
    }

    /// The function has returned.
    pub(crate) fn end_call(&mut self, index: Index, call: Call) -> Result<Flow, ExecutionError> {
        let error = self.tracee.tasks[index].regs.rax;
        if let Some(saved) = call.saved {
            self.tracee.tasks[index].regs = saved;
        }
        match call.after {
            After::Stay(pending) => {
                self.scheduling.threads[index].pending = Some(*pending);
                self.write_registers(index)?;
                return Ok(Flow::Rest);
            }
            After::Return(result) => {
                self.return_from_call(index, if error == 0 { result } else { error })?;
            }
            After::Jump(function) => self.jump(index, function)?,
        }
        Ok(Flow::Resume(0))
    }
}
