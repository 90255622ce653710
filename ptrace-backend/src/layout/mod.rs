//! The target's code as the tracer sees it: modules, traps, and the names of addresses. The same for all copies.

pub(crate) mod allocator;
pub(crate) mod atomicity;
pub(crate) mod closed_code;
pub(crate) mod detours;
pub(crate) mod functions;
mod hidden;
pub(crate) mod memory_calls;
pub(crate) mod module;
pub(crate) mod names;
pub(crate) mod rust_locks;
pub(crate) mod stubs;
pub(crate) mod survey;
pub(crate) mod user_lines;

use std::num::NonZeroU64;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use checker::account::Unwatched;
use checker::names::Site;
use rustc_hash::FxHashMap;

use crate::attention;
use crate::debuginfo::{Modules, SourceFrame};
use crate::grace::Grace;
use crate::instructions::{Candidate, Relocated, TrappedInstruction, relocate};
use crate::layout::allocator::Allocator;
use crate::layout::closed_code::ClosedCode;
use crate::layout::detours::Detours;
use crate::layout::functions::TrappedFunction;
use crate::layout::module::Module;
use crate::layout::rust_locks::RustMutex;
use crate::layout::stubs::Stubs;
use crate::layout::survey::Survey;
use crate::layout::user_lines::UserLines;
use crate::libraries::effects::Effects;
use crate::os::Tid;
use crate::os::memory::BlockReader;

/// A place in the code where a thread stops.
#[derive(Debug)]
pub(crate) struct Trap {
    /// The instruction, and what follows it; the trap replaces the first byte.
    pub(crate) code: [u8; LONGEST],
    /// The address of the copy of the instruction that runs in its stead; `None`: it is stepped in place.
    pub(crate) stub: Option<NonZeroU64>,
    pub(crate) kind: TrapKind,
}

/// The longest instruction, in bytes.
pub(crate) const LONGEST: usize = 15;

/// The code at an address: an instruction and what follows, or, at the end of what is mapped, its first byte alone.
pub(crate) fn code_at(reader: &mut BlockReader, address: u64) -> Option<[u8; LONGEST]> {
    let mut code = [0; LONGEST];
    (reader.read(address, &mut code) || reader.read(address, &mut code[..1])).then_some(code)
}

impl Trap {
    /// The byte that the trap replaces.
    pub(crate) fn byte(&self) -> u8 {
        self.code[0]
    }

    /// The copy of the instruction at `address`, which this trap is at.
    fn copy(&self, address: u64) -> Option<Relocated> {
        relocate(&self.code, address, self.stub?.get()).ok()
    }
}

/// The reason for a trap.
#[derive(Debug)]
pub(crate) enum TrapKind {
    /// The entry of a function; `timed_out` is its result when its time limit passes.
    Function { function: TrappedFunction, timed_out: u64 },
    /// The entry of a function of the allocator.
    Allocator(Allocator),
    /// The address that functions of the allocator return to.
    Returned,
    /// An instruction that touches memory: its place in [`Layout::candidates`].
    Access(usize),
    /// An instruction that is answered.
    Instruction(Box<TrappedInstruction>),
    /// The entry of a function of a system library: its place in [`Layout::foreign`].
    Foreign(usize),
}

/// A function of a system library that the program's own code calls, and of which not all is known.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// Its entry, at run time.
    pub(crate) address: u64,
    /// The file name of its module.
    pub(crate) module: String,
    /// Its name, as a person writes it.
    pub(crate) name: String,
    pub(crate) effects: Effects,
    /// Memory of the library in which it leaves its result.
    pub(crate) results: Vec<Range<u64>>,
    /// It is a memory function as well whose address is among the program's data.
    pub(crate) pointed_to: bool,
    /// The effect of a call of it through a pointer on memory: its place in [`Layout::candidates`].
    pub(crate) candidate: Option<usize>,
}

impl Foreign {
    /// Whether a call of it while there are several threads is an operation.
    pub(crate) fn is_operation(&self) -> bool {
        matches!(
            self.effects,
            Effects::State { .. }
                | Effects::UsesKey
                | Effects::DeletesKey
                | Effects::LocksStream(_)
                | Effects::Environment(_)
                | Effects::EndsProcess
                | Effects::CallsAtExit { .. }
        )
    }

    /// Whether it works on a stream of the C library, which threads may share.
    pub(crate) fn works_on_stream(&self) -> bool {
        matches!(self.effects, Effects::Stream(_) | Effects::AboutStream)
    }
}

/// Everything static about the process at `main`.
pub(crate) struct Layout {
    pub(crate) modules: Arc<[Module]>,
    pub(crate) survey: Arc<Survey>,
    /// The same modules, for unwinding.
    pub(crate) unwinding: Arc<Modules>,
    pub(crate) traps: FxHashMap<u64, Trap>,
    pub(crate) stubs: Stubs,
    /// Instructions of the user's own code that touch memory or call what does, at run-time addresses.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) foreign: Vec<Foreign>,
    /// The program takes locks of streams by itself.
    pub(crate) locks_streams: bool,
    /// The detours by which accesses are taken down without a stop; none where there is no room.
    pub(crate) detours: Option<Detours>,
    /// Addresses of the standard output streams of the C and the C++ library.
    pub(crate) standard_streams: Vec<u64>,
    /// Addresses of the standard streams of the C library.
    pub(crate) standard_input: Option<u64>,
    pub(crate) standard_output: Option<u64>,
    pub(crate) standard_error: Option<u64>,
    /// The variables in which the C library finds its standard streams, by address.
    pub(crate) stream_variables: Vec<(u64, &'static str)>,
    /// Address of the pointer to the list of the variables of the environment.
    pub(crate) environment: Option<u64>,
    /// The trap that functions of the allocator return to.
    pub(crate) returned: u64,
    /// The addresses of functions that threads are made to call: `pthread_testcancel`, and what locks and unlocks mutexes.
    pub(crate) test_cancel: u64,
    pub(crate) mutex_lock: u64,
    pub(crate) mutex_unlock: u64,
    /// The C library's `syscall`: what it asks of the kernel is its caller's own doing.
    pub(crate) syscall: Option<Range<u64>>,
    /// The program may cancel threads.
    pub(crate) cancels: bool,
    /// Files are mapped, and shared with other processes, when executions begin.
    pub(crate) shares_files: bool,
    /// The program may ask whether a thread has ended, and not wait for that; or cancel a thread that waits for it.
    pub(crate) asks_for_ends: bool,
    /// The program may send signals to threads.
    pub(crate) signals: bool,
    /// The stack pointer at `main`, or before the first constructor where executions begin there.
    pub(crate) main_stack: u64,
    /// Before `main` it does something by which several processes of it could meet.
    pub(crate) has_external_effects: bool,
    /// Each start of the program has other addresses.
    pub(crate) addresses_vary: bool,
    /// The dynamic linker's own calls of trapped functions are led past the traps.
    pub(crate) spares_linker: bool,
    /// The time for debug information that is first needed when the time for everything is over.
    pub(crate) grace: Grace,
    pub(crate) user_lines: UserLines,
    /// Made when it is first needed.
    pub(crate) hidden: OnceLock<HiddenCode>,
    /// Pages with code that the program can write when it comes under control.
    pub(crate) writable_code: Vec<Range<u64>>,
    /// Code of the program's own that no execution has come to.
    pub(crate) closed: ClosedCode,
    /// The address of `syscall; int3`, which is the tool's own.
    pub(crate) own_call: u64,
    /// Code of system libraries that is watched.
    pub(crate) reached: Vec<Range<u64>>,
    /// Code of the program's own in which no instruction is known.
    pub(crate) undecoded: Vec<Unwatched>,
    /// Readings of the processor's time stamps may lie where it is not clear what is code: they have to fault.
    pub(crate) may_hide_time_stamps: bool,
    /// Executions begin where `main` has loaded libraries, not at its first instruction.
    pub(crate) begins_behind_loading: bool,
}

/// Bits of a site that hold the static address; the module's place is above them.
const MODULE_SHIFT: u32 = 48;

/// Sites in files that are no modules, since they are mapped after the start, have numbers with this bit.
const LATE: u64 = 1 << 63;

/// The name of a place in the code of such a file.
pub(crate) fn of_late_file(path: &Path, offset: u64) -> Site {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let place = offset & ((1 << MODULE_SHIFT) - 1);
    Site(LATE | names::digest(&file) << MODULE_SHIFT | place)
}

impl Layout {
    /// Whether a process that has not run yet has the same instructions in the places of traps.
    pub(crate) fn is_code_of(&self, process: Tid) -> bool {
        let mut reader = BlockReader::new(process);
        self.candidates
            .iter()
            .filter_map(|candidate| Some((candidate.addr, self.traps.get(&candidate.addr)?)))
            .all(|(address, trap)| {
                attention::round();
                code_at(&mut reader, address) == Some(trap.code)
            })
    }

    /// The copy that an address lies in, or in the room behind it.
    pub(crate) fn stub_around(&self, address: u64) -> Option<Relocated> {
        let instruction = self.stubs.around(address)?;
        self.traps.get(&instruction)?.copy(instruction)
    }

    /// The module that an address lies in.
    pub(crate) fn module_at(&self, address: u64) -> Option<(usize, &Module)> {
        self.modules.iter().enumerate().find(|(_, m)| m.mapped.range.contains(&address))
    }

    /// The schedule-independent name of a code address.
    pub(crate) fn site(&self, address: u64) -> Site {
        match self.module_at(address) {
            Some((i, m)) => Site(((i as u64 + 1) << MODULE_SHIFT) | (address - m.mapped.bias)),
            None => Site(address),
        }
    }

    /// The module and static address that a site stands for.
    pub(crate) fn locate(&self, site: Site) -> Option<(&Module, u64)> {
        let module = (site.0 >> MODULE_SHIFT).checked_sub(1)?;
        let module = self.modules.get(module as usize)?;
        Some((module, site.0 & ((1 << MODULE_SHIFT) - 1)))
    }

    /// The instruction at an address, if it is one that touches memory and is trapped.
    pub(crate) fn candidate_at(&self, address: u64) -> Option<&Candidate> {
        match self.traps.get(&address)?.kind {
            TrapKind::Access(candidate) => self.candidates.get(candidate),
            TrapKind::Function { .. }
            | TrapKind::Allocator(_)
            | TrapKind::Returned
            | TrapKind::Instruction(_)
            | TrapKind::Foreign(_) => None,
        }
    }

    /// Whether a trap holds from the beginning, and in every execution.
    pub(crate) fn holds_always(&self, trap: &Trap) -> bool {
        match trap.kind {
            TrapKind::Function { .. } | TrapKind::Instruction(_) => true,
            TrapKind::Foreign(foreign) => {
                matches!(self.foreign[foreign].effects, Effects::LooksUp | Effects::OpensMemory { .. })
            }
            TrapKind::Allocator(_) | TrapKind::Returned | TrapKind::Access(_) => false,
        }
    }

    /// Number of bytes of the instruction at a trap, as far as that is known.
    pub(crate) fn length(&self, trap: &Trap) -> usize {
        match trap.kind {
            TrapKind::Access(candidate) => self.candidates[candidate].len.clamp(1, LONGEST),
            _ => 1,
        }
    }

    /// The functions and lines at a site, the innermost inlined function first; none where there is no time left to read them.
    pub(crate) fn frames(&self, site: Site) -> Vec<SourceFrame> {
        let located = self.locate(site);
        located.map(|(module, at)| self.grace.read(|| module.image.frames(at))).unwrap_or_default()
    }

    /// The number of the entry of `free` in the log of detours, where those of candidates end.
    pub(crate) fn frees(&self) -> usize {
        self.candidates.len()
    }

    /// Entries of the functions of the allocator, and their operations.
    pub(crate) fn allocator_entries(&self) -> impl Iterator<Item = (u64, Allocator)> {
        self.traps.iter().filter_map(|(&address, trap)| match trap.kind {
            TrapKind::Allocator(what) => Some((address, what)),
            _ => None,
        })
    }

    /// Addresses at which a thread that ends the process looks for functions that are to be called before.
    pub(crate) fn exit_handler_traps(&self) -> impl Iterator<Item = u64> {
        let looks = |foreign: &&Foreign| matches!(foreign.effects, Effects::CallsAtExit { .. });
        self.foreign.iter().filter(looks).map(|foreign| foreign.address)
    }

    /// The operation of the code at an address on a mutex of Rust's standard library.
    pub(crate) fn rust_mutex(&self, address: u64) -> Option<RustMutex> {
        self.survey
            .rust_locks
            .mutexes
            .iter()
            .find(|(range, _)| range.contains(&address))
            .map(|(_, what)| *what)
    }

    /// Whether synchronisation on an object, called for from here, is none of the program's: a test framework's, or a
    /// system library's on its own data (how the C++ library sets up its locales).
    pub(crate) fn is_own_affair(&self, caller: u64, object: u64) -> bool {
        self.in_framework(caller) || self.in_system_library(caller) && self.in_system_library(object)
    }

    /// Whether an address is in the code or data of one of the system's libraries.
    pub(crate) fn in_system_library(&self, address: u64) -> bool {
        self.module_at(address).is_some_and(|(_, module)| module.is_system)
    }

    /// Whether an address is in code of a system library that is watched.
    pub(crate) fn is_reached(&self, address: u64) -> bool {
        self.reached.iter().any(|range| range.contains(&address))
    }

    fn in_framework(&self, address: u64) -> bool {
        let frameworks = &self.survey.frameworks;
        let after = frameworks.partition_point(|range| range.start <= address);
        after.checked_sub(1).is_some_and(|last| frameworks[last].contains(&address))
    }

    /// Whether a system call from this address is one of the C library's own.
    pub(crate) fn is_call_of_libc(&self, address: u64) -> bool {
        self.in_libc(address) && !self.syscall.as_ref().is_some_and(|code| code.contains(&address))
    }

    /// The code of the function that an address is in, at run-time addresses.
    pub(crate) fn function_code(&self, address: u64) -> Option<Range<u64>> {
        let (_, module) = self.module_at(address)?;
        let bias = module.mapped.bias;
        let function = module.image.function_at(address - bias)?;
        Some(function.range.start + bias..function.range.end + bias)
    }

    /// Whether an address is in the C library or the dynamic linker.
    pub(crate) fn in_libc(&self, address: u64) -> bool {
        self.module_at(address).is_some_and(|(_, m)| m.is_libc)
    }

    /// Whether an address is in the executable or a library that is not the system's.
    pub(crate) fn in_user_code(&self, address: u64) -> bool {
        self.module_at(address).is_some_and(|(_, module)| !module.is_system)
    }

    /// Whether a line of the user's own source is at an address, or has been inlined there.
    pub(crate) fn is_user_line(&self, address: u64) -> bool {
        let Some((_, module)) = self.module_at(address).filter(|(_, module)| !module.is_system) else {
            return false;
        };
        let frames = || module.image.frames(address - module.mapped.bias);
        let read = || Some(frames().iter().any(SourceFrame::is_users));
        self.user_lines.at(address, || self.grace.read(read))
    }

    /// Whether there is such a line at all.
    pub(crate) fn has_user_lines(&self) -> bool {
        let has_lines = |module: &Module| !module.is_system && module.image.has_debug_lines();
        let read = || Some(self.modules.iter().any(has_lines));
        self.user_lines.are_there(|| self.grace.read(read))
    }
}

/// The instructions of a program's libraries that touch memory and are no candidates, by address.
pub(crate) type HiddenCode = FxHashMap<u64, Candidate>;
