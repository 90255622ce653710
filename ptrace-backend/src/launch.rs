//! Launching: from a specification to a template at `main` with its traps planted.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::answers::{START_OF_TIME, World};
use crate::control::functions::{
    CXX_FUNCTIONS, RUST_LOCK, RUST_UNLOCK, THREAD_FUNCTIONS, rust_function, timed_out_result,
};
use crate::control::heap::ALLOCATOR_FUNCTIONS;
use crate::control::naming::block_name;
use crate::debuginfo::{self, CodeSection, Image, Modules};
use crate::instructions::{Candidate, FunctionShape, relocate, scan};
use crate::layout::{Layout, Module, RustMutex, Trap, What, is_system};
use crate::os::{
    memory, ptrace,
    spawn::{Limits, Prepared},
};
use crate::preflight::Executable;
use crate::spec::{LaunchError, LaunchSpec, Stepping};
use crate::target::modules::{self, Mapped};
use crate::target::startup::Startup;
use crate::target::streams::{FLOOD, Streams};
use crate::target::template::{FORK_LOOP, Template};

/// Upper bound of the target's data segment, in bytes.
const MEMORY: u64 = 4 << 30;

/// Room for one stub, in bytes.
const STUB: u64 = 64;

/// Room that is left between a module and its stubs, in bytes.
const GAP: u64 = 1 << 16;

const PAGE: u64 = 4096;

/// `syscall; int3`
const INJECTION: [u8; 3] = [0x0f, 0x05, 0xcc];

/// Launches the program.
pub(crate) fn launch(
    spec: &LaunchSpec,
    executable: &Executable,
    streams: &Arc<Streams>,
) -> Result<(Template, Layout), LaunchError> {
    let limits = Limits { memory: MEMORY, file: FLOOD };
    let prepared = Prepared::new(&executable.path, &spec.args, &spec.env, &spec.cwd, streams.files(), limits)
        .map_err(LaunchError::system("prepare the program's arguments"))?;
    let world = World::new(checker::names::ThreadName::MAIN, START_OF_TIME);
    let mut startup = Startup::exec(&prepared, world)?;
    let mapped = startup.link(&executable.path)?;
    let modules = open(&mapped)?;
    let start_main = start_of_main(&modules)?;
    let main = startup.run_to_main(&start_main)?;
    let candidates = modules.iter().enumerate().flat_map(|(i, m)| candidates(i, m)).collect::<Vec<_>>();
    let mut traps = FxHashMap::default();
    for module in &modules {
        let functions = function_traps(module);
        let accesses = candidates.iter().enumerate().filter(|(_, c)| module.mapped.range.contains(&c.addr));
        let wanted = functions.into_iter().chain(accesses.map(|(i, c)| (c.addr, What::Access(i)))).collect();
        plant(&mut startup, module, wanted, &mut traps, main.rip)?;
    }
    for (&address, trap) in &traps {
        if matches!(trap.what, What::Function { .. }) {
            startup.poke(address, 0xcc)?;
        }
    }
    if spec.stepping == Stepping::OutOfLine {
        spare_linker_stops(&startup, &modules, &traps)?;
    }
    let fork_loop = map(&mut startup, main.rip, &modules[0].mapped, PAGE)?;
    write(&startup, fork_loop, &FORK_LOOP)?;
    let returned = fork_loop + PAGE / 2;
    write(&startup, returned, &[0xcc])?;
    traps.insert(returned, Trap { byte: 0xcc, stub: None, what: What::Returned });
    let unwinding = unwinding(&modules);
    let rust_mutexes = rust_mutexes(&modules);
    let test_cancel =
        modules.iter().find_map(|m| Some(m.image.symbol("pthread_testcancel")? + m.mapped.bias));
    let test_cancel = test_cancel.unwrap_or_default();
    let layout = Layout {
        modules,
        unwinding,
        traps,
        candidates,
        rust_mutexes,
        returned,
        test_cancel,
        main_stack: main.rsp,
    };
    let template = Template::new(startup, main, fork_loop, Arc::clone(streams))
        .map_err(LaunchError::system("set up the fork server"))?;
    Ok((template, layout))
}

fn open(mapped: &[Mapped]) -> Result<Vec<Module>, LaunchError> {
    let mut modules = Vec::new();
    for mapped in mapped {
        let image = Image::open(&mapped.path).map_err(|error| LaunchError::Startup(error.to_string()))?;
        let file = mapped.path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let is_libc = ["libc.so", "libpthread.so", "ld-linux", "libc-"].iter().any(|l| file.starts_with(l));
        let name = block_name(&format!("module {file}"));
        modules.push(Module { mapped: mapped.clone(), image, name, is_libc });
    }
    Ok(modules)
}

fn unwinding(modules: &[Module]) -> Modules {
    let mut all = Modules::default();
    for module in modules {
        all.add(Arc::clone(&module.image), module.mapped.bias, module.mapped.range.clone());
    }
    all
}

/// Every version of the function that calls `main`.
fn start_of_main(modules: &[Module]) -> Result<Vec<u64>, LaunchError> {
    let libc = modules.iter().filter(|m| m.is_libc);
    let mut addresses: Vec<u64> = libc
        .flat_map(|m| {
            let found = m.image.symbols_where(|name| name == "__libc_start_main");
            found.into_iter().map(|symbol| symbol.address + m.mapped.bias).collect::<Vec<_>>()
        })
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    if addresses.is_empty() {
        return Err(LaunchError::Startup(
            "the program does not use the GNU C library (no __libc_start_main found), which is required"
                .to_owned(),
        ));
    }
    Ok(addresses)
}

/// The memory accesses of a module's code, if it is the user's own.
fn candidates(index: usize, module: &Module) -> Vec<Candidate> {
    if index != 0 && is_system(&module.mapped.path) {
        return Vec::new();
    }
    let image = &module.image;
    let user = image.user_code(&debuginfo::is_user_file);
    let bias = module.mapped.bias;
    let constants = modules::constants(&module.mapped.path);
    let is_constant = |addr: u64| constants.iter().any(|range| range.contains(&addr.wrapping_sub(bias)));
    let text = image.text();
    let mut found = Vec::new();
    for function in image.functions() {
        // One operation as a whole, by the trap at its entry.
        if function.symbol.is_some_and(|name| rust_function(name).is_some()) {
            continue;
        }
        let function = function.range;
        let Some(code) = bytes_of(&text, &function) else { continue };
        if !user.iter().any(|range| range.start < function.end && function.start < range.end) {
            continue;
        }
        let start = function.start + bias;
        let shape = FunctionShape::of(code, start);
        let scanned = scan(code, start, &shape, is_constant);
        let inside = |c: &Candidate| user.iter().any(|range| range.contains(&(c.addr - bias)));
        found.extend(scanned.candidates.into_iter().filter(inside));
    }
    found.sort_by_key(|c| c.addr);
    found.dedup_by_key(|c| c.addr);
    found
}

/// The bytes of a function.
fn bytes_of<'a>(text: &[CodeSection<'a>], function: &Range<u64>) -> Option<&'a [u8]> {
    let section = text.iter().find(|section| section.range().contains(&function.start))?;
    let start = (function.start - section.address) as usize;
    section.bytes.get(start..(function.end - section.address) as usize)
}

/// Where the thread functions of a module begin.
fn function_traps(module: &Module) -> Vec<(u64, What)> {
    let bias = module.mapped.bias;
    let mut traps = Vec::new();
    let tables = [(module.is_libc, THREAD_FUNCTIONS), (true, CXX_FUNCTIONS)];
    for (name, function) in tables.into_iter().filter(|(wanted, _)| *wanted).flat_map(|(_, table)| table) {
        // All versions of the name: which one a program uses is decided by the program's age.
        for symbol in module.image.symbols_where(|symbol| symbol == *name) {
            let timed_out = timed_out_result(name);
            traps.push((symbol.address + bias, What::Function { function: *function, timed_out }));
        }
    }
    for (name, what) in ALLOCATOR_FUNCTIONS.iter().filter(|_| module.is_libc) {
        if let Some(address) = module.image.symbol(name) {
            traps.push((address + bias, What::Allocator(*what)));
        }
    }
    for symbol in module.image.symbols() {
        if let Some(function) = rust_function(symbol.name) {
            traps.push((symbol.address + bias, What::Function { function, timed_out: 0 }));
        }
    }
    traps.sort_by_key(|(address, _)| *address);
    traps.dedup_by_key(|(address, _)| *address);
    traps
}

/// The dynamic linker calls the C library's mutex functions through pointers of its own, at every thread creation and at
/// the end: calls that are not the program's, and would each cost a stop. They are led past the trap.
fn spare_linker_stops(
    startup: &Startup,
    modules: &[Module],
    traps: &FxHashMap<u64, Trap>,
) -> Result<(), LaunchError> {
    const WORD: usize = 8;
    let linkers = modules.iter().filter(|m| m.mapped.path.to_string_lossy().contains("/ld-linux"));
    for module in linkers {
        for range in modules::data(&module.mapped.path) {
            let start = range.start + module.mapped.bias;
            let mut bytes = vec![0; (range.end - range.start) as usize];
            if !memory::read(startup.tid, start, &mut bytes) {
                continue;
            }
            for (i, word) in bytes.chunks_exact(WORD).enumerate() {
                let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
                let Some((stub, _)) = traps.get(&word).and_then(|trap| trap.stub.as_ref()) else { continue };
                let at = start + (i * WORD) as u64;
                ptrace::poke(startup.tid, at, *stub)
                    .map_err(LaunchError::system("write the program's data"))?;
            }
        }
    }
    Ok(())
}

/// The code that takes or releases a mutex of Rust's standard library.
fn rust_mutexes(modules: &[Module]) -> Vec<(Range<u64>, RustMutex)> {
    let what = |name: &str| if name == RUST_LOCK { RustMutex::Lock } else { RustMutex::Unlock };
    let mut found = Vec::new();
    for module in modules.iter().filter(|m| m.image.is_rust()) {
        let bias = module.mapped.bias;
        for copy in module.image.inlined(&|name| [RUST_LOCK, RUST_UNLOCK].contains(&name)) {
            found.extend(copy.ranges.iter().map(|r| (r.start + bias..r.end + bias, what(&copy.name))));
        }
    }
    found
}

/// Maps memory of the target below a module, within reach of its code.
fn map(startup: &mut Startup, at: u64, module: &Mapped, len: u64) -> Result<u64, LaunchError> {
    let len = len.next_multiple_of(PAGE);
    let saved = memory::word(startup.tid, at).ok_or_else(|| unreadable(at))?;
    for (i, byte) in INJECTION.iter().enumerate() {
        startup.poke(at + i as u64, *byte)?;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let mut place = module.range.start.saturating_sub(GAP + len) & !(PAGE - 1);
    let mut result = -1;
    for _ in 0..64 {
        let args = [place, len, protection as u64, flags as u64, u64::MAX, 0];
        result = startup.inject(at, libc::SYS_mmap, args)?;
        if result == place as i64 {
            break;
        }
        place = place.saturating_sub(GAP + len) & !(PAGE - 1);
    }
    for (i, byte) in saved.to_le_bytes().into_iter().take(INJECTION.len()).enumerate() {
        startup.poke(at + i as u64, byte)?;
    }
    if result != place as i64 {
        return Err(LaunchError::Startup("no room for stubs was found near the program's code".to_owned()));
    }
    Ok(place)
}

fn unreadable(at: u64) -> LaunchError {
    LaunchError::Startup(format!("the program's code at {at:#x} cannot be read"))
}

fn write(startup: &Startup, at: u64, bytes: &[u8]) -> Result<(), LaunchError> {
    if memory::write(startup.tid, at, bytes) { Ok(()) } else { Err(unreadable(at)) }
}

/// Makes the traps wanted in a module, each with a copy of its instruction near by.
fn plant(
    startup: &mut Startup,
    module: &Module,
    wanted: Vec<(u64, What)>,
    traps: &mut FxHashMap<u64, Trap>,
    at: u64,
) -> Result<(), LaunchError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let len = wanted.len() as u64 * STUB;
    let base = map(startup, at, &module.mapped, len)?;
    let mut stubs = vec![0xcc; len as usize];
    for (i, (address, what)) in wanted.into_iter().enumerate() {
        let mut code = [0; 15];
        if !memory::read(startup.tid, address, &mut code) {
            memory::read(startup.tid, address, &mut code[..1])
                .then_some(())
                .ok_or_else(|| unreadable(address))?;
        }
        let place = base + i as u64 * STUB;
        let stub = relocate(&code, address, place).ok().filter(|copy| copy.code.len() as u64 <= STUB);
        if let Some(copy) = &stub {
            let offset = i * STUB as usize;
            stubs[offset..offset + copy.code.len()].copy_from_slice(&copy.code);
        }
        traps.insert(address, Trap { byte: code[0], stub: stub.map(|copy| (place, copy)), what });
    }
    write(startup, base, &stubs)
}
