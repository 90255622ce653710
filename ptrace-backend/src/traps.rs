//! Addresses at which the target is to stop: entries of functions, instructions that touch memory, instructions that
//! are answered.

use std::cell::LazyCell;
use std::num::NonZeroU64;
use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::attention;
use crate::debuginfo;
use crate::detours;
use crate::error::{LaunchError, SystemAction};
use crate::instructions::detour::{Detour, JUMP};
use crate::instructions::{Candidate, TrappedInstructionKind, relocate};
use crate::layout::allocator::ALLOCATOR_FUNCTIONS;
use crate::layout::detours::Detours;
use crate::layout::functions::{CXX_FUNCTIONS, THREAD_FUNCTIONS, TrappedFunction, timed_out_result};
use crate::layout::module::Module;
use crate::layout::stubs::{ALIGNMENT, ROOM};
use crate::layout::survey::Survey;
use crate::layout::{Foreign, LONGEST, Layout, Trap, TrapKind, code_at};
use crate::libraries::effects::{Effects, effects};
use crate::libraries::reach::{ReachableCode, UnknownFunction};
use crate::libraries::rust::effects_in_std;
use crate::open_code::OpenCode;
use crate::os::memory::{self, BlockReader};
use crate::os::{Tid, ptrace};
use crate::target::fork_server;
use crate::target::inject::{MappedArea, unreadable};
use crate::target::startup::Startup;
use crate::target::trapped_instructions::AnsweredInstructions;
use crate::target::{cancellation, exit_handlers, static_results};
use crate::watched_code::{Code, RustFunction, Watched};

/// Everything at which a program is to stop, and the memory that this takes.
#[derive(Default)]
pub(crate) struct Traps {
    pub(crate) by_address: FxHashMap<u64, Trap>,
    /// The address of each copy of an instruction, and of the instruction.
    pub(crate) stubs: Vec<(u64, u64)>,
    pub(crate) candidates: Vec<Candidate>,
    /// Functions of system libraries whose calls are looked at.
    pub(crate) foreign: Vec<Foreign>,
    /// Address of the fork server's loop.
    pub(crate) fork_loop: u64,
    /// The trap that functions of the allocator return to.
    pub(crate) returned: u64,
    pub(crate) areas: Vec<MappedArea>,
    /// Code of system libraries that is watched, at run-time addresses.
    pub(crate) reached: Vec<Range<u64>>,
    /// Code of the program's own that threads may come to, and in which no instruction is known.
    pub(crate) undecoded: Vec<Unwatched>,
    /// Readings of the processor's time stamps may lie where it is not clear what is code.
    pub(crate) may_hide_time_stamps: bool,
    /// The detours by which accesses are taken down without a stop; none where there is no room.
    pub(crate) detours: Option<Detours>,
}

/// The size of the code that is the tool's own, which begins with the fork server, and where in it the trap is that functions return to,
/// and the code that leads there.
const OWN_ROOM: usize = 4096;
const RETURNED: usize = OWN_ROOM / 2;
const RETURNS_TO: usize = RETURNED + 16;

impl Traps {
    /// Decides where a program stops, which stands before its first instruction, and gives it room for the stubs. `cancels`:
    /// it may cancel threads. `takes_down`: accesses may be taken down by detours.
    pub(crate) fn new(
        startup: &mut Startup,
        modules: &[Module],
        survey: &Survey,
        (cancels, takes_down): (bool, bool),
        mut open: Option<&mut OpenCode>,
    ) -> Result<Self, LaunchError> {
        let Survey { memory_functions, rust_locks, .. } = survey;
        let mut traps = Self::default();
        let reach = ReachableCode::of(modules, startup.tid);
        let executable = modules.first().ok_or_else(|| unreadable(0))?;
        traps.map_own_code(startup, executable)?;
        // Of each module: its candidates, and where its jumps and calls go.
        let mut own_code: Vec<(usize, Range<usize>, FxHashSet<u64>)> = Vec::new();
        let mut pointed_to: Vec<(u64, String)> = Vec::new();
        // The targets of pointers in the program's own code are in libraries.
        let (own, libraries): (Vec<_>, Vec<_>) =
            modules.iter().enumerate().partition(|(_, module)| !module.is_system);
        for (i, module) in own.into_iter().chain(libraries) {
            let rust_function = |symbol: &str| rust_locks.function(i, symbol);
            let mut wanted = function_traps(module, &rust_function);
            if cancels && module.is_libc {
                let kind = TrapKind::Function { function: TrappedFunction::Look, timed_out: 0 };
                wanted.extend(cancellation::looks_at(startup.tid, module).map(|address| (address, kind)));
            }
            let first_foreign = traps.foreign.len();
            let mut functions = foreign_functions(startup.tid, i, modules, &reach);
            functions.extend(exit_handler_traps(module, startup.tid));
            add_pointers(&mut functions, module, &pointed_to);
            for foreign in functions {
                wanted.push((foreign.address, TrapKind::Foreign(traps.foreign.len())));
                traps.foreign.push(foreign);
            }
            let code = Code::of(i, module, survey, &reach);
            if module.is_system {
                traps.reached.extend(code.at_run_time(module));
            }
            let open = open.as_mut().and_then(|open| open.of_module(i));
            let Watched { candidates, others, escaping_slots, branch_targets, undecoded } =
                Watched::of(startup, module, &code, (memory_functions, &rust_function), open)?;
            traps
                .undecoded
                .extend(undecoded.map(|address| module.unwatched(UnwatchedKind::UndecodedCode, address)));
            if !module.is_system {
                pointed_to.extend(memory_functions.pointed_to(module, startup.tid, &escaping_slots));
            }
            let first = traps.candidates.len();
            let places = candidates.iter().zip(first..);
            wanted.extend(places.map(|(candidate, place)| (candidate.addr, TrapKind::Access(place))));
            if first == 0 {
                traps.candidates = candidates;
            } else {
                traps.candidates.extend(candidates);
            }
            let own = first..traps.candidates.len();
            for foreign in &mut traps.foreign[first_foreign..] {
                if foreign.pointed_to
                    && let Some(function) = memory_functions.at(foreign.address)
                {
                    foreign.candidate = Some(traps.candidates.len());
                    traps.candidates.push(Candidate::entry(foreign.address, function));
                }
            }
            let (switches, fences): (Vec<_>, Vec<_>) =
                others.into_iter().partition(|trapped| trapped.kind == TrappedInstructionKind::StackSwitch);
            wanted.extend(
                switches.into_iter().map(|switch| (switch.addr, TrapKind::Instruction(Box::new(switch)))),
            );
            traps.with_stubs(startup, module, wanted)?;
            let AnsweredInstructions { found: answered, may_be_more } = AnsweredInstructions::of(module);
            traps.may_hide_time_stamps |= may_be_more;
            for trapped in answered.into_iter().chain(fences) {
                let code = instruction(&mut BlockReader::new(startup.tid), trapped.addr)?;
                let trap = Trap { code, stub: None, kind: TrapKind::Instruction(Box::new(trapped)) };
                traps.by_address.insert(trapped.addr, trap);
            }
            own_code.push((i, own, branch_targets));
        }
        if takes_down {
            traps.make_detours(startup, modules, own_code)?;
        }
        Ok(traps)
    }

    fn make_detours(
        &mut self,
        startup: &mut Startup,
        modules: &[Module],
        own_code: Vec<(usize, Range<usize>, FxHashSet<u64>)>,
    ) -> Result<(), LaunchError> {
        let Some(log) = detours::map_log(startup, self.candidates.len(), &mut self.areas)? else {
            return Ok(());
        };
        let mut made: Vec<Detour> = Vec::new();
        for (i, own, targets) in own_code {
            let own = (&*self.candidates, own, &*self.foreign);
            let (traps, areas) = (&self.by_address, &mut self.areas);
            made.extend(detours::of_module(startup, &modules[i], log, own, traps, &targets, areas)?);
        }
        let is_function = |address: u64| {
            let kind = self.by_address.get(&address).map(|trap| &trap.kind);
            matches!(kind, Some(TrapKind::Function { .. }))
        };
        let (returned, code, behind) =
            Detour::to_trap(self.returned, self.fork_loop + RETURNS_TO as u64, log);
        self.detours = Some(Detours::new(log, made, (returned, behind), is_function));
        let own_code = self.areas.iter_mut().find(|area| area.start == self.fork_loop);
        own_code.map_or(Ok(()), |own_code| {
            own_code.bytes[RETURNS_TO..][..code.len()].copy_from_slice(&code);
            startup.fill(own_code)
        })
    }

    /// Code that is the tool's, not the program's.
    fn map_own_code(&mut self, startup: &mut Startup, executable: &Module) -> Result<(), LaunchError> {
        let mut bytes = vec![0xcc; OWN_ROOM];
        let fork_server = fork_server::code();
        bytes[..fork_server.len()].copy_from_slice(&fork_server);
        self.fork_loop = startup.map_near(&executable.mapped.range, OWN_ROOM as u64)?;
        self.returned = self.fork_loop + RETURNED as u64;
        let code = [0xcc; LONGEST];
        self.by_address.insert(self.returned, Trap { code, stub: None, kind: TrapKind::Returned });
        self.add(startup, MappedArea { start: self.fork_loop, len: OWN_ROOM as u64, bytes })
    }

    fn add(&mut self, startup: &Startup, area: MappedArea) -> Result<(), LaunchError> {
        startup.fill(&area)?;
        self.areas.push(area);
        Ok(())
    }

    /// Makes the traps wanted in a module, each with a copy of its instruction near by.
    fn with_stubs(
        &mut self,
        startup: &mut Startup,
        module: &Module,
        wanted: Vec<(u64, TrapKind)>,
    ) -> Result<(), LaunchError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let len = wanted.len() as u64 * ROOM;
        let start = startup.map_near(&module.mapped.range, len)?;
        let mut stubs: Vec<u8> = Vec::with_capacity(wanted.len() * ALIGNMENT as usize);
        let mut reader = BlockReader::new(startup.tid);
        self.by_address.reserve(wanted.len());
        self.stubs.reserve(wanted.len());
        for (address, kind) in wanted {
            startup.goes_on()?;
            let code = instruction(&mut reader, address)?;
            let place = start + stubs.len() as u64;
            let copy = relocate(&code, address, place).ok().filter(|copy| copy.code.len() as u64 <= ROOM);
            let stub = copy.and_then(|copy| {
                stubs.extend(copy.code);
                stubs.resize(stubs.len().next_multiple_of(ALIGNMENT as usize), 0xcc);
                self.stubs.push((place, address));
                NonZeroU64::new(place)
            });
            self.by_address.insert(address, Trap { code, stub, kind });
        }
        self.add(startup, MappedArea { start, len, bytes: stubs })
    }
}

fn instruction(reader: &mut BlockReader, address: u64) -> Result<[u8; LONGEST], LaunchError> {
    code_at(reader, address).ok_or_else(|| unreadable(address))
}

/// Functions of a system library that the program's own code calls, and of which not all is known.
fn foreign_functions(process: Tid, index: usize, modules: &[Module], reach: &ReachableCode) -> Vec<Foreign> {
    let module = &modules[index];
    let bias = module.mapped.bias;
    let named = |name: &str, address: u64, library: usize, effects| Foreign {
        address: address + bias,
        module: file_name(&modules[library]),
        name: debuginfo::demangle(name),
        effects,
        results: Vec::new(),
        pointed_to: false,
        candidate: None,
    };
    let closed = reach.closed.iter().filter(|closed| closed.at.0 == index);
    let mut found: Vec<Foreign> = closed
        .map(|UnknownFunction { at, name, library }| named(name, at.1, *library, Effects::Unknown))
        .collect();
    if !module.is_system {
        let known = module.image.symbols().filter_map(|symbol| Some((symbol, effects_in_std(symbol.name)?)));
        found.extend(known.map(|(symbol, effects)| named(symbol.name, symbol.address, index, effects)));
        return found;
    }
    let is_called = |name: &str| modules.iter().any(|other| other.image.imports(name));
    // Functions of a buffer are reached through its table by any code that has a stream.
    let uses_streams = LazyCell::new(|| {
        let is_of_streams =
            |name: &str| matches!(effects(name), Effects::CxxStream { .. } | Effects::CxxBuffer { .. });
        let own = modules.iter().filter(|other| !other.is_system);
        own.flat_map(|other| other.image.imported_names()).any(is_of_streams)
    });
    for symbol in module.image.symbols().filter(|symbol| !symbol.is_local()) {
        let effects = match effects(symbol.name) {
            Effects::Modelled | Effects::Unknown => continue,
            // Output to a standard stream may come out elsewhere.
            Effects::CxxStream { .. } if is_called(SETS_BUFFER) => Effects::Unknown,
            // A key that is never deleted is the same to all that use it.
            Effects::UsesKey if !deletes_keys(modules) => continue,
            effects => effects,
        };
        let is_known = found.iter().any(|known| known.address == symbol.address + bias);
        // The C library itself ends the process behind `main`.
        let is_end = module.is_libc && effects == Effects::EndsProcess;
        let is_used =
            || is_called(symbol.name) || matches!(effects, Effects::CxxBuffer { .. }) && *uses_streams;
        if !is_known && (is_end || symbol.is_default && is_used()) {
            let results = static_results::of(process, module, symbol.name);
            let effects = if results.is_some() { effects } else { Effects::Unknown };
            let results = results.unwrap_or_default();
            found.push(Foreign { results, ..named(symbol.name, symbol.address, index, effects) });
        }
    }
    found
}

/// Whether the program's own code deletes keys of thread-specific data.
fn deletes_keys(modules: &[Module]) -> bool {
    let mut own = modules.iter().filter(|module| !module.is_system);
    own.any(|module| ["pthread_key_delete", "tss_delete"].iter().any(|name| module.image.imports(name)))
}

/// Addresses at which the C library looks again for functions that are to be called at exit.
fn exit_handler_traps(module: &Module, process: Tid) -> Vec<Foreign> {
    let looks = if module.is_libc { exit_handlers::looks_again_at(process, module) } else { Vec::new() };
    let look = |address| Foreign {
        address,
        module: file_name(module),
        name: "exit".to_owned(),
        effects: Effects::CallsAtExit { of: None },
        results: Vec::new(),
        pointed_to: false,
        candidate: None,
    };
    looks.into_iter().map(look).collect()
}

/// The memory functions in a module whose addresses are among the program's data: some are known for other effects as well.
fn add_pointers(found: &mut Vec<Foreign>, module: &Module, pointed_to: &[(u64, String)]) {
    let is_in = |(address, _): &&(u64, String)| module.mapped.range.contains(address);
    for (address, name) in pointed_to.iter().filter(is_in).filter(|_| module.is_system) {
        if let Some(known) = found.iter_mut().find(|known| known.address == *address) {
            known.pointed_to = true;
            continue;
        }
        found.push(Foreign {
            address: *address,
            module: file_name(module),
            name: name.clone(),
            effects: Effects::PointedTo,
            results: Vec::new(),
            pointed_to: true,
            candidate: None,
        });
    }
}

fn file_name(module: &Module) -> String {
    module.mapped.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The function that makes a stream of the C++ library write into another buffer.
const SETS_BUFFER: &str = "_ZNSt9basic_iosIcSt11char_traitsIcEE5rdbufEPSt15basic_streambufIcS1_E";

/// Entries of the thread functions of a module, in all versions of their names: the version that a program uses is
/// decided by the program's age.
fn function_traps(module: &Module, rust_function: RustFunction<'_>) -> Vec<(u64, TrapKind)> {
    let bias = module.mapped.bias;
    let tables = [(module.is_libc, THREAD_FUNCTIONS), (true, CXX_FUNCTIONS)];
    let known: FxHashMap<&str, TrappedFunction> =
        tables.into_iter().filter(|(wanted, _)| *wanted).flat_map(|(_, table)| table).copied().collect();
    let mut traps = Vec::new();
    for symbol in module.image.symbols() {
        attention::round();
        let function =
            known.get(symbol.name).copied().map(|function| (function, timed_out_result(symbol.name)));
        let function = function.or_else(|| Some((rust_function(symbol.name)?, 0)));
        if let Some((function, timed_out)) = function {
            traps.push((symbol.address + bias, TrapKind::Function { function, timed_out }));
        }
    }
    for (name, kind) in ALLOCATOR_FUNCTIONS.iter().filter(|_| module.is_libc) {
        if let Some(address) = module.image.symbol(name) {
            traps.push((address + bias, TrapKind::Allocator(*kind)));
        }
    }
    traps.sort_by_key(|(address, _)| *address);
    traps.dedup_by_key(|(address, _)| *address);
    traps
}

impl Layout {
    /// Plants every trap that holds from the beginning; `hands_over`: threads hand themselves over at the entries of functions.
    pub(crate) fn plant(&self, process: &Startup, hands_over: bool) -> Result<(), LaunchError> {
        self.plant_where(process, |trap| self.holds_always(trap))?;
        if self.spares_linker {
            self.spare_linker_stops(process)?;
        }
        let functions = self.detours.iter().filter(|_| hands_over).flat_map(|detours| detours.functions());
        let code = functions.map(|detour| (detour.from, JUMP));
        process.write_code(code)
    }

    /// Plants the traps of instructions that are answered.
    pub(crate) fn plant_specials(&self, process: &Startup) -> Result<(), LaunchError> {
        let is_answered =
            |kind: &TrapKind| matches!(kind, TrapKind::Instruction(trapped) if trapped.kind.is_answered());
        self.plant_where(process, |trap| is_answered(&trap.kind))
    }

    fn plant_where(&self, process: &Startup, wanted: impl Fn(&Trap) -> bool) -> Result<(), LaunchError> {
        let wanted = self.traps.iter().filter(|(_, trap)| wanted(trap));
        process.write_code(wanted.map(|(&address, _)| (address, [0xcc])))
    }

    /// The dynamic linker calls the C library's mutex functions through pointers of its own, at every thread creation and
    /// at the end: calls that are not the program's, and would each cost a stop. They are led past the trap.
    fn spare_linker_stops(&self, process: &Startup) -> Result<(), LaunchError> {
        const WORD: usize = 8;
        let linkers = self.modules.iter().filter(|m| m.mapped.path.to_string_lossy().contains("/ld-linux"));
        for module in linkers {
            for range in module.image.pointers() {
                let start = range.start.next_multiple_of(WORD as u64).wrapping_add(module.mapped.bias);
                let mut bytes = vec![0; (range.end.saturating_sub(range.start)) as usize & !(WORD - 1)];
                if !memory::read(process.tid, start, &mut bytes) {
                    continue;
                }
                for (word, at) in bytes.chunks_exact(WORD).zip((start..).step_by(WORD)) {
                    let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
                    let Some(stub) = self.traps.get(&word).and_then(|trap| trap.stub) else { continue };
                    ptrace::poke(process.tid, at, stub.get())
                        .map_err(LaunchError::system(SystemAction::WriteData))?;
                }
            }
        }
        Ok(())
    }
}
