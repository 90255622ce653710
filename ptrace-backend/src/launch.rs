//! Launching: from a specification to where executions come from, with all traps known.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use checker::peculiarity::EarlyStart;

use crate::control::harness;
use crate::control::watchdog::Watch;
use crate::debuginfo::Modules;
use crate::error::{LaunchError, StartupError, SystemAction};
use crate::grace::Grace;
use crate::layout::atomicity::atomic_functions;
use crate::layout::module::Module;
use crate::layout::stubs::Stubs;
use crate::layout::survey::Survey;
use crate::layout::user_lines::UserLines;
use crate::layout::{Layout, TrapKind};
use crate::libraries::effects::Effects;
use crate::open_code::OpenCode;
use crate::os::network::Network;
use crate::os::{Regs, process};
use crate::preflight::Executable;
use crate::spec::{LaunchSpec, Opening, Stepping};
use crate::target::client::ClientLaunchPlan;
use crate::target::fork_server::{ForkServer, call_at};
use crate::target::inject::MappedArea;
use crate::target::launch_plan::LaunchPlan;
use crate::target::loading::{LOADERS, LOADERS_OF_LIBC, Loading};
use crate::target::modules;
use crate::target::process_source::{FreshStarts, ProcessSource};
use crate::target::startup::{Startup, StartupProgress};
use crate::target::streams::Streams;
use crate::traps::Traps;

/// The facts about a program that its first launch finds out, and that hold for further ones.
pub(crate) struct LaunchedCode {
    pub(crate) layout: Arc<Layout>,
    /// Memory that every process needs.
    areas: Arc<[MappedArea]>,
    /// The address at which each file was mapped when the traps were made.
    mapped: Arc<[(PathBuf, u64)]>,
    origin: Origin,
    /// The pages of its own code that are open, where others are closed.
    pub(crate) open: Option<BTreeSet<u64>>,
}

/// The origin of its executions.
enum Origin {
    /// Copies, made by this loop.
    Copies { fork_loop: u64 },
    /// Starts, since it does something before `main`, or has a client.
    Starts { early: Option<EarlyStart> },
}

/// The streams of executions, the client, and what limits their time.
pub(crate) type LaunchContext<'a> = (&'a Arc<Streams>, Option<&'a ClientLaunchPlan>, &'a Arc<Watch>);

/// Launches the program. `open`: the pages of its own code that executions have come to, if the rest may be closed; `before`: an earlier
/// launch, of which the findings in files are taken.
pub(crate) fn launch(
    spec: &LaunchSpec,
    executable: &Executable,
    context: LaunchContext<'_>,
    (open, before): (Option<&BTreeSet<u64>>, Option<&LaunchedCode>),
) -> Result<(ProcessSource, LaunchedCode), LaunchError> {
    let (streams, client, watch) = context;
    let launch_plan = plan(spec, executable, (streams, client))?;
    let mut startup = launch_plan.start(watch)?;
    let read_map = LaunchError::system;
    let mut mapped = modules::starts(startup.tid).map_err(read_map(SystemAction::ReadMemoryMap))?;
    let before = before.filter(|before| *before.mapped == *mapped).map(|before| &before.layout);
    let (mut modules, mut survey): (Arc<[Module]>, Option<Arc<Survey>>) = match before {
        Some(before) => (Arc::clone(&before.modules), Some(Arc::clone(&before.survey))),
        None => (modules::loaded(&mapped, executable).into(), None),
    };
    let start_main = start_of_main(&modules)?;
    let mut behind_loading = None;
    if client.is_none()
        && let Some((process, registers)) =
            behind_loadings((&launch_plan, watch), (&modules, &startup), &start_main)?
    {
        mapped = modules::starts(process.tid).map_err(read_map(SystemAction::ReadMemoryMap))?;
        (modules, survey) = (modules::loaded(&mapped, executable).into(), None);
        startup = process;
        behind_loading = Some(registers);
    }
    let survey = survey.unwrap_or_else(|| {
        let code = (atomic_functions(&modules), harness::frameworks(&modules));
        Arc::new(Survey::of(&modules, startup.tid, code))
    });
    let cancels = calls(&modules, &["pthread_cancel"]);
    let addresses_vary = process::addresses_vary(startup.tid);
    let is_fixed = client.is_none() && behind_loading.is_none() && !addresses_vary;
    let writable_code = |startup: &Startup, modules: &[Module]| {
        modules::writable_code(startup.tid, modules).map_err(read_map(SystemAction::ReadMemoryMap))
    };
    let mut open_code = match (spec.opening, open.filter(|_| is_fixed)) {
        (Opening::AsReached { least }, Some(open)) if writable_code(&startup, &modules)?.is_empty() => {
            OpenCode::of(&modules, open.clone(), least)
        }
        _ => None,
    };
    // If instructions are stepped in place, copies of them are not trusted.
    let takes_down = spec.stepping == Stepping::OutOfLine;
    let Traps {
        by_address,
        stubs,
        candidates,
        foreign,
        fork_loop,
        returned,
        areas,
        detours,
        reached,
        undecoded,
        may_hide_time_stamps,
    } = Traps::new(&mut startup, &modules, &survey, (cancels, takes_down), open_code.as_mut())?;
    let mut layout = Layout {
        unwinding: Arc::new(unwinding(&modules)),
        test_cancel: function("pthread_testcancel", &modules),
        mutex_lock: function("pthread_mutex_lock", &modules),
        mutex_unlock: function("pthread_mutex_unlock", &modules),
        syscall: function_code("syscall", &modules),
        cancels,
        shares_files: false,
        asks_for_ends: cancels || calls(&modules, ASK_FOR_ENDS),
        signals: client.is_some() || calls(&modules, SENDERS),
        standard_streams: standard_streams(&modules),
        standard_input: variable(&modules, "_IO_2_1_stdin_"),
        standard_output: variable(&modules, "_IO_2_1_stdout_"),
        standard_error: variable(&modules, "_IO_2_1_stderr_"),
        stream_variables: stream_variables(&modules),
        environment: environment(&modules),
        modules,
        survey,
        traps: by_address,
        stubs: Stubs::new(stubs),
        candidates,
        locks_streams: foreign.iter().any(|foreign| matches!(foreign.effects, Effects::LocksStream(_))),
        foreign,
        detours,
        returned,
        main_stack: startup.registers()?.rsp,
        addresses_vary,
        has_external_effects: false,
        spares_linker: spec.stepping == Stepping::OutOfLine,
        grace: Grace::after(spec.limit.clone()),
        user_lines: UserLines::default(),
        hidden: OnceLock::new(),
        writable_code: Vec::new(),
        closed: open_code.as_ref().map(OpenCode::closed).unwrap_or_default(),
        own_call: call_at(fork_loop),
        reached,
        undecoded,
        may_hide_time_stamps,
        begins_behind_loading: behind_loading.is_some(),
    };
    layout.writable_code = writable_code(&startup, &layout.modules)?;
    let (areas, mapped) = (areas.into(), mapped.into());
    if client.is_some() {
        watch.end();
        let starts =
            FreshStarts { launch_plan, areas: Arc::clone(&areas), early: None, mapped: Arc::clone(&mapped) };
        let origin = Origin::Starts { early: None };
        let code = LaunchedCode { layout: Arc::new(layout), areas, mapped, origin, open: None };
        return Ok((ProcessSource::FreshStarts(starts), code));
    }
    watch.begin(startup.tid, startup.tid);
    let progress = match behind_loading {
        Some(registers) => Ok(StartupProgress::Main(registers)),
        None => pass_constructors(&mut startup, &layout, &start_main),
    };
    layout.has_external_effects = startup.has_external_effects;
    let (process_source, origin) = match progress? {
        StartupProgress::Main(main) => {
            prepare_allocator(&mut startup, &layout)?;
            let shared = modules::shared_files(startup.tid).map_err(read_map(SystemAction::ReadMemoryMap))?;
            layout.shares_files = !shared.is_empty();
            layout.main_stack = main.rsp;
            layout.writable_code = writable_code(&startup, &layout.modules)?;
            let Some(fork_server) = fork_server(startup, *main, (&layout, fork_loop), streams)? else {
                return launch(spec, executable, context, (None, None));
            };
            (ProcessSource::ForkServer(fork_server), Origin::Copies { fork_loop })
        }
        // Each start would have to close its code anew.
        StartupProgress::Early(_) if !layout.closed.is_empty() => {
            drop(startup);
            return launch(spec, executable, context, (None, None));
        }
        StartupProgress::Early(early) => {
            let (areas, mapped, early) = (Arc::clone(&areas), Arc::clone(&mapped), Some(early));
            let starts = FreshStarts { launch_plan, areas, early, mapped };
            (ProcessSource::FreshStarts(starts), Origin::Starts { early })
        }
    };
    watch.end();
    let open = open_code.map(OpenCode::into_pages);
    Ok((process_source, LaunchedCode { layout: Arc::new(layout), areas, mapped, origin, open }))
}

impl LaunchedCode {
    /// Launches the program again, with the same traps at the same addresses. `None`: it has come to something else.
    pub(crate) fn launch(
        &self,
        spec: &LaunchSpec,
        executable: &Executable,
        (streams, client, watch): LaunchContext<'_>,
    ) -> Result<Option<ProcessSource>, LaunchError> {
        let launch_plan = plan(spec, executable, (streams, client))?;
        let fork_loop = match self.origin {
            Origin::Copies { fork_loop } => fork_loop,
            Origin::Starts { early } => {
                let (areas, mapped) = (Arc::clone(&self.areas), Arc::clone(&self.mapped));
                let starts = FreshStarts { launch_plan, areas, early, mapped };
                return Ok(Some(ProcessSource::FreshStarts(starts)));
            }
        };
        let mut startup = launch_plan.start(watch)?;
        let start_main = start_of_main(&self.layout.modules)?;
        let mut behind_loading = None;
        if self.layout.begins_behind_loading {
            let modules = &self.layout.modules;
            let Some((process, registers)) =
                behind_loadings((&launch_plan, watch), (modules, &startup), &start_main)?
            else {
                return Ok(None);
            };
            startup = process;
            behind_loading = Some(registers);
        }
        let mapped =
            modules::starts(startup.tid).map_err(LaunchError::system(SystemAction::ReadMemoryMap))?;
        if *mapped != *self.mapped || !self.layout.is_code_of(startup.tid) {
            return Ok(None);
        }
        for area in self.areas.iter() {
            startup.goes_on()?;
            startup.add(area)?;
        }
        let progress = match behind_loading {
            Some(registers) => StartupProgress::Main(registers),
            None => pass_constructors(&mut startup, &self.layout, &start_main)?,
        };
        let StartupProgress::Main(main) = progress else { return Ok(None) };
        if main.rsp != self.layout.main_stack {
            return Ok(None);
        }
        prepare_allocator(&mut startup, &self.layout)?;
        let fork_server = fork_server(startup, *main, (&self.layout, fork_loop), streams)?;
        watch.end();
        Ok(fork_server.map(ProcessSource::ForkServer))
    }
}

fn plan(
    spec: &LaunchSpec,
    executable: &Executable,
    (streams, client): (&Arc<Streams>, Option<&ClientLaunchPlan>),
) -> Result<LaunchPlan, LaunchError> {
    let network = client.map_or(Network::Shared, ClientLaunchPlan::network);
    LaunchPlan::new(spec, executable, streams, network)
}

/// Makes a process that stands at `main` the origin of copies. `None`: the code that is to be closed cannot be.
fn fork_server(
    mut startup: Startup,
    main: Regs,
    (layout, fork_loop): (&Layout, u64),
    streams: &Arc<Streams>,
) -> Result<Option<ForkServer>, LaunchError> {
    let page = match &layout.detours {
        Some(detours) => startup.share_page(detours.log)?,
        None => None,
    };
    layout.plant(&startup, page.is_some())?;
    startup.let_time_stamps_be_read()?;
    if !layout.closed.is_empty() && !startup.close(&layout.closed, layout.own_call)? {
        return Ok(None);
    }
    ForkServer::new(startup, main, fork_loop, Arc::clone(streams), page)
        .map(Some)
        .map_err(LaunchError::system(SystemAction::SetUpForkServer))
}

/// A process behind the last library that `main` loads alone, where it loads one so. In a harness of tests, where one begins matters.
fn behind_loadings(
    (launch_plan, watch): (&LaunchPlan, &Arc<Watch>),
    (modules, linked): (&[Module], &Startup),
    start_main: &[u64],
) -> Result<Option<(Startup, Box<Regs>)>, LaunchError> {
    let loaders: Vec<u64> = LOADERS_OF_LIBC.iter().flat_map(|name| versions(name, modules)).collect();
    if loaders.is_empty() || !calls(modules, LOADERS) || harness::has_tests(modules) {
        return Ok(None);
    }
    Loading::new((launch_plan, watch), (start_main, &loaders), (modules, linked)).behind_last()
}

/// Functions by which a program sends signals to its threads.
const SENDERS: &[&str] =
    &["pthread_kill", "pthread_sigqueue", "tgkill", "alarm", "ualarm", "setitimer", "timer_create"];

/// Functions that tell whether a thread has ended.
const ASK_FOR_ENDS: &[&str] = &["pthread_tryjoin_np", "pthread_timedjoin_np", "pthread_clockjoin_np"];

/// Whether the user's own code may call one of these functions.
fn calls(modules: &[Module], functions: &[&str]) -> bool {
    let mut own = modules.iter().filter(|module| !module.is_system);
    own.any(|module| functions.iter().any(|function| module.image.imports(function)))
}

/// Runs the program to `main`, where it gets that far without doing something that its copies would not have done.
fn pass_constructors(
    startup: &mut Startup,
    layout: &Layout,
    start_main: &[u64],
) -> Result<StartupProgress, LaunchError> {
    layout.plant_specials(startup)?;
    let trapped_instructions = layout.traps.values().filter_map(|trap| match &trap.kind {
        TrapKind::Instruction(trapped) => Some(**trapped),
        _ => None,
    });
    let trapped_instructions: Vec<_> = trapped_instructions.collect();
    startup.run_to_main(start_main, &trapped_instructions)
}

/// The C library's allocator draws a random number when it is first used, which would cost every execution a stop. Asked
/// for an option that does not exist, it does nothing else.
fn prepare_allocator(startup: &mut Startup, layout: &Layout) -> Result<(), LaunchError> {
    match function("mallopt", &layout.modules) {
        0 => Ok(()),
        mallopt => startup.call(mallopt, layout.returned),
    }
}

fn unwinding(modules: &[Module]) -> Modules {
    let mut all = Modules::default();
    for module in modules {
        all.add(Arc::clone(&module.image), module.mapped.bias, module.mapped.range.clone());
    }
    all
}

/// Address of a variable that a module exports.
fn variable(modules: &[Module], name: &str) -> Option<u64> {
    modules.iter().find_map(|module| Some(module.image.symbol(name)? + module.mapped.bias))
}

/// Addresses of the standard output streams of the C and the C++ library; an executable may hold those that it uses
/// itself.
fn standard_streams(modules: &[Module]) -> Vec<u64> {
    const NAMES: [&str; 8] = [
        "_IO_2_1_stdout_",
        "_IO_2_1_stderr_",
        "_ZSt4cout",
        "_ZSt4cerr",
        "_ZSt4clog",
        "_ZSt5wcout",
        "_ZSt5wcerr",
        "_ZSt5wclog",
    ];
    let named = |module: &Module| NAMES.map(|name| Some(module.image.symbol(name)? + module.mapped.bias));
    modules.iter().flat_map(named).flatten().collect()
}

/// Addresses of the variables that point to the standard streams of the C library; an executable may hold those that it uses itself.
fn stream_variables(modules: &[Module]) -> Vec<(u64, &'static str)> {
    let in_module = |module: &Module| {
        let bias = module.mapped.bias;
        let named = |name| module.image.symbol(name).map(|address| (address + bias, name));
        ["stdin", "stdout", "stderr"].map(named)
    };
    modules.iter().flat_map(in_module).flatten().collect()
}

/// Address of the C library's `environ`; an executable that uses it may hold it itself.
fn environment(modules: &[Module]) -> Option<u64> {
    const NAMES: [&str; 2] = ["__environ", "environ"];
    let in_module = |module: &Module| {
        let address = NAMES.iter().find_map(|name| module.image.symbol(name))?;
        Some(address + module.mapped.bias)
    };
    modules.iter().find_map(in_module)
}

/// Address of a function of the C library.
fn function(name: &str, modules: &[Module]) -> u64 {
    let libc = modules.iter().filter(|m| m.is_libc);
    libc.filter_map(|m| Some(m.image.symbol(name)? + m.mapped.bias)).next().unwrap_or_default()
}

/// The code of a function of the C library.
fn function_code(name: &str, modules: &[Module]) -> Option<Range<u64>> {
    let mut libc = modules.iter().filter(|m| m.is_libc);
    libc.find_map(|m| {
        let code = m.image.function_at(m.image.symbol(name)?)?.range.clone();
        Some(code.start + m.mapped.bias..code.end + m.mapped.bias)
    })
}

/// Every version of the function that calls `main`.
fn start_of_main(modules: &[Module]) -> Result<Vec<u64>, LaunchError> {
    let addresses = versions("__libc_start_main", modules);
    if addresses.is_empty() {
        return Err(StartupError::OtherLibrary.into());
    }
    Ok(addresses)
}

/// The addresses of a function of the C library, in all its versions.
fn versions(function: &str, modules: &[Module]) -> Vec<u64> {
    let libc = modules.iter().filter(|m| m.is_libc);
    let mut addresses: Vec<u64> = libc
        .flat_map(|m| {
            let found = m.image.symbols_where(|name| name == function);
            found.into_iter().map(|symbol| symbol.address + m.mapped.bias).collect::<Vec<_>>()
        })
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}
