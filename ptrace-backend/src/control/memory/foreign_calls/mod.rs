//! Calls of system libraries of which not all is known: where they may matter to other threads, they are entered as not watched
//! ([`checker::account`]).

mod call;
pub(crate) mod ended_threads;
mod environment;
mod outputs;
mod pointer_calls;
mod stream_parts;
mod streams;

use std::ops::Range;
use std::path::PathBuf;

use checker::account::{Unwatched, UnwatchedKind};
use checker::operation::{Access, Divisibility, Op, OpKind};
use checker::program::{ExecutionError, Scope};

use self::call::{entry_of, have_in_call, kind_of, shared_arguments};
use self::pointer_calls::is_called_through_pointer;
use crate::control::kernel::accesses::{no_memory, process_state};
use crate::control::memory::sharing::TouchKind;
use crate::control::memory::{access, exit_handler_traps, unwatched_uses};
use crate::control::operations;
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};
use crate::instructions::{Accesses, MemoryFunction};
use crate::layout::Foreign;
use crate::layout::module::Module;
use crate::libraries::effects::{
    AttributeUse, END_OF_DATA, EXIT_HANDLERS, Effects, EnvironmentUse, KEYS, ThreadHandle, effects,
};
use crate::os::memory as target_memory;
use crate::virtual_syscalls::PID;

/// The variables that a process has, and the time zone that they tell.
const ENVIRONMENT: &str = "the environment";

/// The running thread has come to the entry of a function of a system library of which not all is known.
pub(crate) fn enter(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    foreign: usize,
) -> Result<Flow, ExecutionError> {
    let layout = std::sync::Arc::clone(&tracee.layout);
    let foreign = &layout.foreign[foreign];
    let caller = tracee.number(tracee.tasks[index].regs.rsp, 8);
    let is_of_library = stacks::is_library_call_site(tracee, caller);
    if let Some(candidate) = foreign.candidate
        && tracee.concurrent
        && !is_of_library
        && is_called_through_pointer(tracee, caller, foreign.address)
    {
        if foreign.effects != Effects::PointedTo && !is_harmless(tracee, scheduling, memory, index, foreign) {
            account.enter_unwatched(entry_of(kind_of(foreign), foreign));
        }
        return access::enter(tracee, scheduling, memory, account, index, candidate);
    }
    let state = state_of(tracee, index, foreign, is_of_library).filter(|_| tracee.is_scheduled(index));
    let has_company = tracee.concurrent && scheduling.has_company();
    let is_of_environment = matches!(foreign.effects, Effects::Environment(_));
    if is_of_environment
        && state.is_some()
        && has_company
        && !is_harmless(tracee, scheduling, memory, index, foreign)
    {
        account.enter_unwatched(entry_of(kind_of(foreign), foreign));
    }
    // A thread that has ended, and was not joined, may have used it in another order.
    let is_alone = state.is_some() && memory.sharing.is_after_all(index);
    if is_alone && foreign.effects == Effects::EndsProcess {
        exit_handler_traps::lift(tracee, memory)?;
    }
    if tracee.is_scheduled(index)
        && !is_of_library
        && !memory.sharing.is_after_all(index)
        && let Some(flow) = streams::enter(tracee, scheduling, memory, index, foreign)
    {
        return Ok(flow);
    }
    if let Some(state) = state.filter(|_| !is_alone)
        && let Some(op) = operation(tracee, memory, index, foreign, state)
    {
        let (condition, action) =
            (WaitCondition::Nothing, Action::Library { takes_lock: takes_lock(foreign.effects) });
        return Ok(operations::pend(tracee, scheduling, index, op, condition, action, None));
    }
    if let Effects::OpensMemory { sized } = foreign.effects {
        memory.memory_files.extend(files_in_memory(tracee, index, sized));
    }
    // The thread that a call relies on may have ended before it, as the last one.
    let relies_on_thread = matches!(foreign.effects, Effects::OnThread { running: true, .. });
    let matters = has_company || foreign.effects == Effects::LooksUp || relies_on_thread && tracee.concurrent;
    let is_seen = is_of_library
        || tracee.in_harness(index)
        || !matters
        || is_of_environment
        || is_harmless(tracee, scheduling, memory, index, foreign);
    let is_stream = foreign.works_on_stream() && tracee.is_scheduled(index);
    if is_seen || is_stream && streams::share(tracee, memory, index, foreign) {
        tracee.pass_trap(index)?;
        return Ok(Flow::Resume(0));
    }
    account.enter_unwatched(match opens_telling(tracee, index) {
        Some(file) if foreign.effects == Effects::OpensStream => {
            Unwatched::call(UnwatchedKind::SystemCall, &file)
        }
        _ => entry_of(kind_of(foreign), foreign),
    });
    // One entry tells it all; but what its first instruction touches may be asked for each time.
    if memory.scope == Scope::Hidden {
        tracee.pass_trap(index)?;
    } else {
        tracee.lift(index)?;
    }
    Ok(Flow::Resume(0))
}

/// Whether a call that came to the entry of a function, and returns to this address, is one that is known where it is made: by code that is
/// watched, or by a library of the system.
pub(super) fn is_known_where_made(tracee: &Tracee, caller: u64, entry: u64) -> bool {
    stacks::is_library_call_site(tracee, caller) || !is_called_through_pointer(tracee, caller, entry)
}

/// The state of the process that a call works on in one step, by its name, and the kind of operation that this is.
fn state_of(
    tracee: &Tracee,
    index: ThreadIndex,
    foreign: &Foreign,
    is_of_library: bool,
) -> Option<(&'static str, OpKind)> {
    let is_of_system =
        |library: usize| tracee.layout.in_system_library(tracee.tasks[index].argument(library));
    let is_of_libc = || {
        let caller = tracee.number(tracee.tasks[index].regs.rsp, 8);
        stacks::is_libc_call_site(tracee, caller)
    };
    match foreign.effects {
        Effects::State { of } if !is_of_library => Some((of, OpKind::Io)),
        Effects::UsesKey | Effects::DeletesKey if !is_of_library => Some((KEYS, OpKind::Io)),
        // Rust's standard library is the program's own code; a call by the C library itself is a part of another one.
        Effects::Environment(_) if !is_of_libc() => Some((ENVIRONMENT, OpKind::Io)),
        // An end that a library asks for counts as well: `main` returns to the C library.
        Effects::EndsProcess => Some((EXIT_HANDLERS, OpKind::Exit)),
        Effects::CallsAtExit { of } if !of.is_some_and(is_of_system) => Some((EXIT_HANDLERS, OpKind::Io)),
        _ => None,
    }
}

/// The operation that a call is on such state; `None`: no other thread is known to be in its way.
fn operation(
    tracee: &Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
    foreign: &Foreign,
    (of, kind): (&'static str, OpKind),
) -> Option<Op> {
    let (touch, writes) = match foreign.effects {
        Effects::Environment(EnvironmentUse::Reads) | Effects::UsesKey => (TouchKind::Reads, false),
        // Without a change there is nothing else to be made of it.
        Effects::Environment(EnvironmentUse::Settles) => (TouchKind::Reads, true),
        _ => (TouchKind::Writes, true),
    };
    let key = || format!("{of} {}", tracee.tasks[index].argument(0) as u32);
    let names = match foreign.effects {
        Effects::UsesKey => vec![key()],
        Effects::DeletesKey => vec![of.to_owned(), key()],
        _ => vec![of.to_owned()],
    };
    let shared = |name| shared_state(tracee, memory, index, name, (touch, writes));
    let states: Vec<Option<Access>> = names.into_iter().map(shared).collect();
    let used = match foreign.effects {
        Effects::Environment(_) if tracee.concurrent => {
            environment::used(tracee, memory, index, &foreign.results)
        }
        _ => Accesses::new(),
    };
    if states.iter().all(Option::is_none) && used.is_empty() {
        return None;
    }
    let mut others = shared_arguments(tracee, memory, index, foreign);
    others.extend(used);
    let others = others.iter().map(|other| memory.named_access(other));
    let mut op = Op::new(kind, states.into_iter().flatten().chain(others));
    op.divisibility = Divisibility::divisible_if(!foreign.results.is_empty() || has_steps(foreign.effects));
    Some(op)
}

/// Takes note that a call touches state of the process. The access, if threads share that.
fn shared_state(
    tracee: &Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
    of: String,
    (touch, writes): (TouchKind, bool),
) -> Option<Access> {
    let (place, state, _) = no_memory(tracee, of, writes);
    if !memory.sharing.touch_in(index, None, place, touch).bytes.is_empty() {
        memory.promoted |= memory.knowledge.promote(&[], None, &[state]);
    }
    let access = if writes { Access::write(state) } else { Access::read(state) };
    memory.knowledge.is_shared(state).then_some(access)
}

/// Whether a call that works on such state takes a lock of the library for that: what only looks at the environment, or uses a key, does not.
fn takes_lock(effects: Effects) -> bool {
    !matches!(effects, Effects::Environment(EnvironmentUse::Reads) | Effects::UsesKey)
}

/// Whether a call changes such state in steps that a call of another thread may come between: those that look for a variable of the
/// environment take no lock, and moving the end of the data takes two calls.
fn has_steps(effects: Effects) -> bool {
    match effects {
        Effects::Environment(change) => matches!(change, EnvironmentUse::Changes | EnvironmentUse::Shares),
        Effects::State { of } => of == END_OF_DATA,
        _ => false,
    }
}

/// The memory in the place of a file, of the stream that a call makes.
fn files_in_memory(tracee: &Tracee, index: ThreadIndex, sized: bool) -> impl Iterator<Item = Range<u64>> {
    const WORD: u64 = 8;
    let [first, second] = [0, 1].map(|argument| tracee.tasks[index].argument(argument));
    let parts = if sized { [(first, second), (0, 0)] } else { [(first, WORD), (second, WORD)] };
    parts.into_iter().filter(|(at, _)| *at != 0).map(|(at, len)| at..at.saturating_add(len))
}

/// Whether a call works on a standard stream, whose content no thread of the program reads back, or on a stream or on other
/// state that no other thread uses at the same time; or is no call of the kind that is looked for.
fn is_harmless(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    foreign: &Foreign,
) -> bool {
    /// State of the process stands for itself at addresses that nothing has.
    const NOWHERE: u64 = 8;
    let call = || (index, unwatched_uses::call(tracee, index));
    let (argument, makes) = match foreign.effects {
        Effects::Stream(_) | Effects::AboutStream => {
            let Some((stream, _)) = streams::stream_of(tracee, index, foreign) else { return false };
            if outputs::is_apart(tracee, memory, stream) {
                outputs::note(tracee, memory, index, stream, foreign.effects);
                return true;
            }
            // Some functions of streams are macros, by which the program's own code reads and writes what the library does.
            let parts = stream_parts::parts(tracee, memory, stream);
            return have_in_call(memory, call(), parts.into_iter(), &entry_of(UnwatchedKind::File, foreign));
        }
        Effects::CxxStream { argument, makes } => (argument, makes),
        Effects::CxxBuffer { argument, data, makes } => {
            let caller = tracee.number(tracee.tasks[index].regs.rsp, 8);
            let is_of_program = data && !tracee.layout.in_system_library(caller);
            let buffer = tracee.tasks[index].argument(argument);
            let entry = entry_of(UnwatchedKind::LibraryFunction, foreign);
            let parts = stream_parts::parts_of_cxx_buffer(tracee, buffer, makes);
            return !is_of_program && have_in_call(memory, call(), parts, &entry);
        }
        Effects::Environment(EnvironmentUse::Reads) => return true,
        Effects::Environment(EnvironmentUse::Shares) => return false,
        Effects::Environment(_) => return !has_variables_of_environment(tracee),
        // Those that matter are operations.
        Effects::State { .. }
        | Effects::UsesKey
        | Effects::DeletesKey
        | Effects::LocksStream(_)
        | Effects::EndsProcess
        | Effects::CallsAtExit { .. } => return true,
        Effects::DependsOn(of) => {
            return is_ordered(memory, index, NOWHERE * (1 + of as u64), TouchKind::Reads);
        }
        Effects::Changes(of) => return has_for_itself(memory, index, NOWHERE * (1 + of as u64)),
        Effects::OnThread { by, attributes, running } => {
            let Some(thread) = named_thread(tracee, scheduling, index, by) else { return false };
            let entry = entry_of(UnwatchedKind::LibraryFunction, foreign);
            let is_running = !running || ended_threads::is_running(memory, call(), thread, &entry);
            let kind = match attributes {
                AttributeUse::None => return is_running,
                AttributeUse::Reads => TouchKind::Reads,
                AttributeUse::Writes => TouchKind::Writes,
            };
            return is_ordered(memory, index, attributes_of(thread), kind) && is_running;
        }
        Effects::Writes { argument, len } => {
            let context = tracee.tasks[index].argument(argument);
            let bytes = context..context.saturating_add(len);
            let entry = entry_of(UnwatchedKind::LibraryFunction, foreign);
            return unwatched_uses::has_in_call(memory, call(), bytes, &entry);
        }
        Effects::Destroys { len, owner } => {
            let object = tracee.tasks[index].argument(0);
            let entry = entry_of(UnwatchedKind::LibraryFunction, foreign);
            let bytes = object..object.saturating_add(len);
            let owns = tracee.number(object.wrapping_add(owner), 8) != 0;
            return unwatched_uses::has_in_call(memory, call(), bytes, &entry) && !owns;
        }
        Effects::OpensMemory { sized } => {
            let entry = entry_of(kind_of(foreign), foreign);
            return have_in_call(memory, call(), files_in_memory(tracee, index, sized), &entry);
        }
        Effects::OpensStream => return opens_telling(tracee, index).is_none(),
        Effects::SignalMask => return has_for_itself(memory, index, mask_of(index)),
        Effects::ProcessSignal => {
            let process = tracee.tasks[index].argument(0) as i32;
            let masks = tracee.tasks.indices().map(mask_of);
            return process > 0 && i64::from(process) != PID || are_settled(memory, index, masks);
        }
        Effects::PointedTo => {
            let caller = tracee.number(tracee.tasks[index].regs.rsp, 8);
            return !is_called_through_pointer(tracee, caller, foreign.address);
        }
        Effects::LooksUp => return looks_up_known(tracee, index),
        Effects::Unknown | Effects::Modelled => return false,
    };
    let stream = tracee.tasks[index].argument(argument);
    let entry = entry_of(UnwatchedKind::LibraryFunction, foreign);
    if tracee.layout.standard_streams.contains(&stream)
        && let Some(synced) = stream_parts::synced_stream(tracee, stream)
    {
        return outputs::is_ordered(tracee, memory, call(), &synced, &entry);
    }
    let parts = stream_parts::parts_of_cxx_stream(tracee, stream, makes);
    stream != 0 && have_in_call(memory, call(), parts, &entry)
}

/// Whether the program's own code finds the environment, or the time zone, in variables of the C library.
fn has_variables_of_environment(tracee: &Tracee) -> bool {
    const VARIABLES: [&str; 6] = ["environ", "__environ", "_environ", "timezone", "daylight", "tzname"];
    let mut own = tracee.layout.modules.iter().filter(|module| !module.is_system);
    // Of an executable, they may be copied into its own data.
    let has = |module: &Module, name: &str| module.image.imports(name) || module.image.symbol(name).is_some();
    own.any(|module| VARIABLES.iter().any(|name| has(module, name)))
}

/// The words for the file that a call opens, if the kernel tells of threads or mappings in it.
fn opens_telling(tracee: &Tracee, index: ThreadIndex) -> Option<String> {
    let path = PathBuf::from(target_memory::string(tracee.leader, tracee.tasks[index].argument(0)));
    process_state::is_telling(&path).then(|| process_state::words(&path))
}

/// The thread that the first argument of a call names; `None` if there is none. A `pthread_t` is that of the last thread that got it: the C
/// library gives a new thread the stack of one that has ended.
fn named_thread(
    tracee: &Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
    by: ThreadHandle,
) -> Option<ThreadIndex> {
    let argument = tracee.tasks[index].argument(0);
    let is_it = |&i: &ThreadIndex| match (by, argument) {
        (ThreadHandle::Pthread, handle) => tracee.tasks[i].handle == handle,
        (ThreadHandle::Number, 0) => i == index,
        (ThreadHandle::Number, number) => scheduling.threads[i].virtual_system.tid == number as i64,
    };
    scheduling.threads.indices().filter(is_it).last()
}

/// Whether the name that is looked up is one whose calls are seen wherever they come from: of the program's own code, or of
/// a function that is known by its entry or needs no watching.
fn looks_up_known(tracee: &Tracee, index: ThreadIndex) -> bool {
    const LONGEST: usize = 256;
    let bytes = tracee.read(tracee.tasks[index].argument(1), LONGEST);
    let name = bytes.split(|byte| *byte == 0).next().and_then(|name| std::str::from_utf8(name).ok());
    let Some(name) = name else { return false };
    let defines =
        |module: &Module| module.image.symbols().any(|symbol| symbol.name == name && !symbol.is_local());
    let is_own = |module: &Module| tracee.layout.in_user_code(module.mapped.range.start);
    let modules = &tracee.layout.modules;
    let is_only_own = modules.iter().any(|module| is_own(module) && defines(module))
        && !modules.iter().any(|module| !is_own(module) && defines(module));
    let is_known = matches!(
        effects(name),
        Effects::Modelled
            | Effects::OnThread { attributes: AttributeUse::None, .. }
            | Effects::EndsProcess
            | Effects::CallsAtExit { .. }
    );
    is_only_own || is_known && MemoryFunction::named(name).is_none()
}

/// An address that nothing has, for the attributes of a thread.
fn attributes_of(thread: ThreadIndex) -> u64 {
    const WORD: u64 = 8;
    unwatched_uses::NO_MEMORY + WORD * thread.place() as u64
}

/// An address that nothing has, for the signals that a thread takes.
fn mask_of(thread: ThreadIndex) -> u64 {
    const FIRST: u64 = 0x1000;
    const WORD: u64 = 8;
    FIRST + WORD * thread.place() as u64
}

/// Takes note that a thread relies on each of these objects. Whether all changes of them come before or after that in every schedule.
fn are_settled(memory: &mut MemoryState, index: ThreadIndex, objects: impl Iterator<Item = u64>) -> bool {
    objects.filter(|object| !is_ordered(memory, index, *object, TouchKind::Reads)).count() == 0
}

/// Takes note that a thread works on an object of a library. Whether no other thread does, but in an order that holds in
/// every schedule.
fn has_for_itself(memory: &mut MemoryState, index: ThreadIndex, object: u64) -> bool {
    is_ordered(memory, index, object, TouchKind::Writes)
}

/// Takes note that a thread uses such an object in this way. Whether it does so in an order with the others that holds in every
/// schedule.
fn is_ordered(memory: &mut MemoryState, index: ThreadIndex, object: u64, kind: TouchKind) -> bool {
    /// The first word stands for it all.
    const WORD: u64 = 8;
    let object = memory.shared_files.original(object);
    let bytes = object..object.saturating_add(WORD);
    memory.sharing.touch_in(index, None, bytes, kind).bytes.is_empty()
}
