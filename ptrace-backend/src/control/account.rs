//! The account of one execution: what its threads did that is not watched ([`checker::account`]).

use checker::account::{Unwatched, UnwatchedKind};
use checker::program::ExecutionError;

use crate::control::memory::sharing::How;
use crate::control::process::{Flow, Process};
use crate::control::sync::objects::Index;
use crate::instructions::{Kind, MemoryFunction};
use crate::layout::{Foreign, Module};
use crate::libraries::effects::{Effects, effects};

impl Process {
    /// Enters what is not watched, once.
    pub(crate) fn enter_unwatched(&mut self, unwatched: Unwatched) {
        if !self.unwatched.contains(&unwatched) {
            self.unwatched.push(unwatched);
        }
    }

    /// The running thread has come to the entry of a function of a system library of which not all is known.
    pub(crate) fn foreign_call(&mut self, index: Index, foreign: usize) -> Result<Flow, ExecutionError> {
        let layout = std::sync::Arc::clone(&self.layout);
        let foreign = &layout.foreign[foreign];
        let caller = self.number(self.threads[index].regs.rsp, 8);
        let matters = self.has_company() || foreign.effects == Effects::LooksUp;
        let is_seen = self.layout.in_system_library(caller)
            || self.in_harness(index)
            || !matters
            || self.is_harmless(index, foreign);
        if is_seen {
            self.pass_trap(index)?;
            return Ok(Flow::Resume(0));
        }
        let kind = match foreign.effects {
            Effects::Stream { .. } => UnwatchedKind::File,
            _ => UnwatchedKind::LibraryFunction,
        };
        let (module, function) = (Some(foreign.module.clone()), Some(foreign.name.clone()));
        self.enter_unwatched(Unwatched { kind, module, function });
        // Once tells it all.
        self.lift(index)?;
        Ok(Flow::Resume(0))
    }

    /// The running thread has created one. One that does not get thread-local memory of its own is none of the C library's:
    /// it was made by `clone` itself, perhaps the first one there is, and what it uses of the library is not known.
    pub(super) fn note_raw_clone(&mut self, index: Index) -> Result<(), ExecutionError> {
        self.read_registers(index)?;
        let regs = &self.threads[index].regs;
        let flags = match regs.orig_rax as i64 {
            libc::SYS_clone3 => self.number(regs.rdi, 8),
            _ => regs.rdi,
        };
        if flags & libc::CLONE_SETTLS as u64 == 0 {
            self.enter_unwatched(Unwatched::call(UnwatchedKind::Task, "clone"));
            self.begin_concurrency()?;
        }
        Ok(())
    }

    /// Whether there is another thread that has not been joined: what one thread does it may find out.
    pub(crate) fn has_company(&self) -> bool {
        self.concurrent && self.threads.iter().filter(|thread| thread.is_live()).count() > 1
    }

    /// Whether a call works on a standard stream, whose content nobody in the program reads back, or on a stream or on other
    /// state that no other thread uses at the same time; or is no call of the kind that is looked for.
    fn is_harmless(&mut self, index: Index, foreign: &Foreign) -> bool {
        /// State of the process stands for itself at addresses that nothing has.
        const NOWHERE: u64 = 8;
        let (argument, is_cxx) = match foreign.effects {
            Effects::Stream { argument } => (argument, false),
            Effects::CxxStream => (0, true),
            Effects::State { of, if_null } => {
                let is_other = if_null.is_some_and(|argument| self.threads[index].argument(argument) != 0);
                return is_other || self.has_for_itself(index, NOWHERE * (1 + of as u64));
            }
            Effects::ThreadState => {
                let thread = self.threads[index].argument(0);
                return self.has_for_itself(index, thread);
            }
            Effects::PointedTo => return !self.is_called_through_pointer(index),
            Effects::LooksUp => return self.looks_up_known(index),
            Effects::Unknown | Effects::Modelled => return false,
        };
        let stream = self.threads[index].argument(argument);
        if self.layout.standard_streams.contains(&stream) {
            return true;
        }
        let buffer = if is_cxx { self.stream_buffer(stream) } else { stream };
        // No stream means all of them.
        stream != 0 && [stream, buffer].into_iter().all(|object| self.has_for_itself(index, object))
    }

    /// Whether the thread at the entry of a function was led there by a pointer that may be any one: by no direct call, through
    /// no slot, and by no call that is watched.
    fn is_called_through_pointer(&self, index: Index) -> bool {
        /// `call rel32`, and `call [rip + rel32]`.
        const DIRECT: u64 = 5;
        const BY_SLOT: u64 = 6;
        /// The shortest and the longest call through a register or memory.
        const LENGTHS: std::ops::RangeInclusive<u64> = 2..=8;
        let caller = self.number(self.threads[index].regs.rsp, 8);
        let is_watched = |len: u64| {
            let candidate = self.candidate_at(caller.wrapping_sub(len));
            candidate.is_some_and(|c| matches!(c.kind, Kind::Call(_)) && c.len as u64 == len)
        };
        let byte = |before: u64| self.number(caller.wrapping_sub(before), 1);
        let is_by_slot = || {
            let image = self.layout.module_at(caller).map(|(_, module)| (module.mapped.bias, &module.image));
            let slot = caller.wrapping_add_signed((self.number(caller.wrapping_sub(4), 4) as i32).into());
            byte(BY_SLOT) == 0xff
                && byte(BY_SLOT - 1) == 0x15
                && image.is_some_and(|(bias, image)| {
                    let slot = slot.wrapping_sub(bias);
                    image.plt_target(slot).is_some() && !image.is_import_pointer(slot)
                })
        };
        byte(DIRECT) != 0xe8 && !is_by_slot() && !LENGTHS.into_iter().any(is_watched)
    }

    /// Whether the name that is looked up is one whose calls are seen wherever they come from: of the program's own code, or of
    /// a function that is known by its entry or needs no watching.
    fn looks_up_known(&self, index: Index) -> bool {
        const LONGEST: usize = 256;
        let bytes = self.read(self.threads[index].argument(1), LONGEST);
        let Some(name) =
            bytes.split(|byte| *byte == 0).next().and_then(|name| std::str::from_utf8(name).ok())
        else {
            return false;
        };
        let defines =
            |module: &Module| module.image.symbols().any(|symbol| symbol.name == name && !symbol.is_local());
        let is_own = |address: &Module| self.layout.in_user_code(address.mapped.range.start);
        let modules = &self.layout.modules;
        let is_only_own = modules.iter().any(|module| is_own(module) && defines(module))
            && !modules.iter().any(|module| !is_own(module) && defines(module));
        is_only_own || effects(name) == Effects::Modelled && MemoryFunction::named(name).is_none()
    }

    /// Takes note that a thread works on an object of a library. Whether no other thread does, but in an order that holds in
    /// every schedule.
    fn has_for_itself(&mut self, index: Index, object: u64) -> bool {
        /// The first word stands for it all.
        const WORD: u64 = 8;
        let bytes = object..object.saturating_add(WORD);
        self.sharing.touch_in(index, None, bytes, How::Writes).bytes.is_empty()
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
