//! The account of one execution: what its threads did that is not watched ([`checker::account`]).

use checker::account::{Unwatched, UnwatchedKind};
use checker::program::ExecutionError;

use crate::control::memory::sharing::How;
use crate::control::process::Process;
use crate::control::state::flow::Flow;
use crate::control::state::sync_objects::Index;
use crate::layout::Foreign;
use crate::libraries::effects::Effects;

impl Process {
    /// The running thread has come to the entry of a function of a system library of which not all is known.
    pub(crate) fn foreign_call(&mut self, index: Index, foreign: usize) -> Result<Flow, ExecutionError> {
        let layout = std::sync::Arc::clone(&self.tracee.layout);
        let foreign = &layout.foreign[foreign];
        let caller = self.number(self.tracee.tasks[index].regs.rsp, 8);
        let is_seen = self.tracee.layout.in_system_library(caller)
            || self.in_harness(index)
            || !self.has_company()
            || self.is_harmless(index, foreign);
        if is_seen {
            self.pass_trap(index)?;
            return Ok(Flow::Resume(0));
        }
        let kind = match foreign.effects {
            Effects::Stream { .. } => UnwatchedKind::File,
            Effects::CxxStream | Effects::Unknown | Effects::Modelled => UnwatchedKind::LibraryFunction,
        };
        let (module, function) = (Some(foreign.module.clone()), Some(foreign.name.clone()));
        self.account.enter_unwatched(Unwatched { kind, module, function });
        // Once tells it all.
        self.lift(index)?;
        Ok(Flow::Resume(0))
    }

    /// The running thread has created one. One that does not get thread-local memory of its own is none of the C library's:
    /// it was made by `clone` itself, perhaps the first one there is, and what it uses of the library is not known.
    pub(super) fn note_raw_clone(&mut self, index: Index) -> Result<(), ExecutionError> {
        self.read_registers(index)?;
        let regs = &self.tracee.tasks[index].regs;
        let flags = match regs.orig_rax as i64 {
            libc::SYS_clone3 => self.number(regs.rdi, 8),
            _ => regs.rdi,
        };
        if flags & libc::CLONE_SETTLS as u64 == 0 {
            self.account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, "clone"));
            self.begin_concurrency()?;
        }
        Ok(())
    }

    /// Whether there is another thread that has not been joined: what one thread does it may find out.
    pub(crate) fn has_company(&self) -> bool {
        self.tracee.concurrent && self.scheduling.threads.iter().filter(|thread| thread.is_live()).count() > 1
    }

    /// Whether a call works on a standard stream, whose content nobody in the program reads back, or on one that no other
    /// thread uses at the same time.
    fn is_harmless(&mut self, index: Index, foreign: &Foreign) -> bool {
        let (argument, is_cxx) = match foreign.effects {
            Effects::Stream { argument } => (argument, false),
            Effects::CxxStream => (0, true),
            Effects::Unknown | Effects::Modelled => return false,
        };
        let stream = self.tracee.tasks[index].argument(argument);
        if self.tracee.layout.standard_streams.contains(&stream) {
            return true;
        }
        let buffer = if is_cxx { self.stream_buffer(stream) } else { stream };
        // No stream means all of them.
        stream != 0 && [stream, buffer].into_iter().all(|object| self.has_for_itself(index, object))
    }

    /// Takes note that a thread works on an object of a library. Whether no other thread does, but in an order that holds in
    /// every schedule.
    fn has_for_itself(&mut self, index: Index, object: u64) -> bool {
        /// The first word stands for it all.
        const WORD: u64 = 8;
        let bytes = object..object.saturating_add(WORD);
        self.memory.sharing.touch_in(index, None, bytes, How::Writes).bytes.is_empty()
    }

    /// The buffer behind an output or input stream of the C++ library, which other streams may share; the stream itself where
    /// it has none yet.
    fn stream_buffer(&self, stream: u64) -> u64 {
        /// Where the table of virtual functions says how far the virtual base class lies (Itanium C++ ABI, 2.5.2).
        const TO_BASE: u64 = 24;
        /// Where the base class `std::basic_ios` of GNU's library has the pointer.
        const BUFFER: u64 = 232;
        let table = self.number(stream, 8);
        let base = stream.wrapping_add(self.number(table.wrapping_sub(TO_BASE), 8));
        match self.number(base.wrapping_add(BUFFER), 8) {
            0 => stream,
            buffer => buffer,
        }
    }
}
