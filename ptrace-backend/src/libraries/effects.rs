//! Effects of functions of the C and C++ libraries on memory that other threads may use, by their names.
//!
//! A row here says that a function needs no watching: because it is modelled elsewhere in the backend (thread
//! functions, the allocator, memory functions, system calls), or because it touches nothing but its caller's registers
//! and stack, constants, memory of the calling thread alone, or data of the library that no other code can read and
//! that a lock of its own protects. Rows of another kind name the facts that have to be looked at where it is called. A
//! function without a row is looked into ([`super::reach`]).

use std::sync::LazyLock;

use checker::operation::OpKind;
use rustc_hash::FxHashMap;

use super::names::{CXX_BUFFERS, CXX_STREAMS, CXX_TRANSFERS, MODELLED, MODELLED_PREFIXES};
use crate::layout::allocator::ALLOCATOR_FUNCTIONS;
use crate::layout::functions::{CXX_FUNCTIONS, THREAD_FUNCTIONS};

/// The effect of a function on memory that other threads may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effects {
    /// Nothing that is not modelled elsewhere.
    Modelled,
    /// It reads or writes a stream: nothing that another thread can find out if that is the standard output or the standard error.
    Stream(StreamArgument),
    /// It asks about a stream, which its first argument points to, or sets how it works.
    AboutStream,
    /// It takes or gives back the lock of the stream to which its first argument points.
    LocksStream(OpKind),
    /// It works on a stream of the C++ library, to which this argument points: nothing that another thread can find out
    /// if that is one of the standard ones. With `makes`, there is none yet.
    CxxStream { argument: usize, makes: bool },
    /// It works on a stream's buffer, to which this argument points; with `data`, it reads or writes, on behalf of others, as many
    /// bytes as its third argument says where the second one points to; with `makes`, there is no buffer yet.
    CxxBuffer { argument: usize, data: bool, makes: bool },
    /// It looks up what another thread, or this one, may call then: what that does is not known.
    LooksUp,
    /// It returns or changes state that the process has once, which is called so, in one step.
    State { of: &'static str },
    /// It uses a key of thread-specific data, which must not be deleted.
    UsesKey,
    /// It deletes such a key.
    DeletesKey,
    /// It works on the environment in one step.
    Environment(EnvironmentUse),
    /// It ends the process, and looks for functions that are to be called before.
    EndsProcess,
    /// It looks for functions that are to be called at exit, in one step, and calls them; with `of`, those of the library in which this
    /// argument points.
    CallsAtExit { of: Option<usize> },
    /// Its operation depends on state of the process that others change: nothing else of it matters beside the modelled
    /// part.
    DependsOn(GlobalState),
    /// It changes such state; its operation beside that is looked into.
    Changes(GlobalState),
    /// It works on the thread that its first argument names; with `running`, it fails where that has ended. Nothing else of it matters beside
    /// the modelled part.
    OnThread { by: ThreadHandle, attributes: AttributeUse, running: bool },
    /// It writes so many bytes where this argument points to: the context of a coroutine, or of a jump, or a result.
    Writes { argument: usize, len: u64 },
    /// It destroys the object of so many bytes to which its first argument points. Where the object has an owner's pointer to an
    /// exception, at this place in it, it may destroy that as well, in a way that is not known.
    Destroys { len: u64, owner: u64 },
    /// It makes a stream that has memory in the place of a file: as many bytes as its second argument says where the first one points
    /// to, or, not `sized`, where both point to, a pointer and a number.
    OpensMemory { sized: bool },
    /// It opens the file whose path is its first argument for the C library, which makes the system call.
    OpensStream,
    /// It changes which signals the calling thread takes, which is no event.
    SignalMask,
    /// It sends a signal to the process that its first argument names: one of the threads that take it gets it.
    ProcessSignal,
    /// The address of a memory function, whose calls are watched where they are seen, is among the program's data: it may be
    /// called through a pointer.
    PointedTo,
    /// Not known.
    Unknown,
}

/// The stream that a call works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamArgument {
    /// The one that this argument (from 0) points to.
    Nth(usize),
    StandardInput,
    StandardOutput,
    StandardError,
}

/// State of the libraries that the process has once, and that only some calls change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GlobalState {
    /// The locale.
    Locale,
    /// The hook that Rust's panics call.
    PanicHook,
}

/// The way in which a function works on the environment, which tells the time zone as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnvironmentUse {
    /// It reads a variable, or the time zone. Whichever of several such calls comes first makes the time zone.
    Reads,
    /// It makes the time zone anew of what the environment tells: another one where that has changed since.
    Settles,
    /// It changes a variable.
    Changes,
    /// It makes a string of its caller's a part of the environment.
    Shares,
}

/// The way in which a function works on attributes of a thread (scheduling, processors, whether it is detached).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttributeUse {
    None,
    Reads,
    Writes,
}

/// The way in which an argument names a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadHandle {
    /// By its `pthread_t`.
    Pthread,
    /// By its number in the kernel; 0 is the calling thread.
    Number,
}

/// The effects of the function of this name.
pub(crate) fn effects(name: &str) -> Effects {
    static TABLE: LazyLock<FxHashMap<&'static str, Effects>> = LazyLock::new(table);
    if let Some(effects) = TABLE.get(name) {
        return *effects;
    }
    // Most names are of C functions, and the rest is about others.
    if !name.starts_with('_') {
        return Effects::Unknown;
    }
    if let Some(effects) = of_cxx_stream(name) {
        return effects;
    }
    let is_modelled = MODELLED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if is_modelled { Effects::Modelled } else { Effects::Unknown }
}

/// The effects of a member or an operator of the C++ library's streams.
fn of_cxx_stream(name: &str) -> Option<Effects> {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let (is_buffer, is_stream) = (begins(CXX_BUFFERS), begins(CXX_STREAMS));
    if !is_buffer && !is_stream || takes_another(name) {
        return None;
    }
    // A string that is returned is made where the first argument points to; what guards an operation has the stream as its second one.
    let is_second = name.ends_with("3strEv") || begins(&["_ZNSo6sentryC", "_ZNSi6sentryC"]);
    let argument = usize::from(is_second);
    let makes = ["EEC1E", "EEC2E"].iter().any(|constructor| name.contains(constructor));
    if is_buffer {
        return Some(Effects::CxxBuffer { argument, data: begins(CXX_TRANSFERS), makes });
    }
    let is_of_stream_alone = !name.contains("St15basic_streambuf");
    is_of_stream_alone.then_some(Effects::CxxStream { argument, makes })
}

/// Whether a member of a stream or of a buffer works on another one as well: it moves that one, or swaps with it.
fn takes_another(name: &str) -> bool {
    ["EEC1EOS", "EEC2EOS", "EEaSEOS", "EE4swapERS"].iter().any(|member| name.contains(member))
}

fn table() -> FxHashMap<&'static str, Effects> {
    let modelled = MODELLED.iter().flat_map(|names| names.split_ascii_whitespace());
    let threads = THREAD_FUNCTIONS.iter().chain(CXX_FUNCTIONS).map(|(name, _)| *name);
    let allocator = ALLOCATOR_FUNCTIONS.iter().map(|(name, _)| *name);
    let mut table: FxHashMap<&str, Effects> =
        modelled.chain(threads).chain(allocator).map(|name| (name, Effects::Modelled)).collect();
    for &(effects, names) in STATE {
        table.extend(names.split_ascii_whitespace().map(|name| (name, effects)));
    }
    for &(argument, names) in STREAMS {
        table.extend(
            names.split_ascii_whitespace().map(|name| (name, Effects::Stream(StreamArgument::Nth(argument)))),
        );
    }
    table
}

/// The functions that are called at the end, in the reverse of the order in which they were named.
pub(crate) const EXIT_HANDLERS: &str = "the functions that are called at exit";

/// The keys of thread-specific data that are taken. Each key is an object by itself for calls that use it.
pub(crate) const KEYS: &str = "the keys of thread-specific data";

/// The end of the program's data, which is asked for and moved in several steps.
pub(crate) const END_OF_DATA: &str = "the end of the data segment";

/// Functions that return or change state of the process or of a thread, or that look up code.
const STATE: &[(Effects, &str)] = &[
    // By `__cxa_atexit`, variables of C++ are destroyed as well.
    (Effects::State { of: EXIT_HANDLERS }, "__cxa_atexit __cxa_at_quick_exit atexit at_quick_exit on_exit"),
    (Effects::EndsProcess, "exit quick_exit"),
    (Effects::CallsAtExit { of: Some(0) }, "__cxa_finalize"),
    (Effects::State { of: "the functions that are called at a fork" }, "__register_atfork pthread_atfork"),
    (Effects::State { of: END_OF_DATA }, "brk sbrk"),
    (Effects::State { of: KEYS }, "pthread_key_create __pthread_key_create tss_create"),
    (Effects::DeletesKey, "pthread_key_delete tss_delete"),
    (Effects::UsesKey, "pthread_getspecific pthread_setspecific tss_get tss_set"),
    (Effects::LocksStream(OpKind::Lock), "flockfile"),
    (Effects::LocksStream(OpKind::TryLock), "ftrylockfile"),
    (Effects::LocksStream(OpKind::Unlock), "funlockfile"),
    (Effects::Stream(StreamArgument::StandardInput), "getchar getchar_unlocked"),
    // Its order no thread of the program reads back; but another one may have its lock.
    (
        Effects::Stream(StreamArgument::StandardOutput),
        "printf vprintf puts putchar __printf_chk __vprintf_chk",
    ),
    (Effects::Stream(StreamArgument::StandardError), "perror psignal"),
    (
        Effects::AboutStream,
        "feof ferror feof_unlocked ferror_unlocked clearerr clearerr_unlocked setbuf setbuffer setvbuf __fpending \
         __freadable __fwritable __freading __fwriting __fbufsize __flbf",
    ),
    (
        Effects::OnThread { by: ThreadHandle::Pthread, attributes: AttributeUse::Writes, running: true },
        "pthread_setschedparam pthread_setschedprio",
    ),
    (
        Effects::OnThread { by: ThreadHandle::Pthread, attributes: AttributeUse::Writes, running: false },
        "pthread_setaffinity_np pthread_detach thrd_detach",
    ),
    (
        Effects::OnThread { by: ThreadHandle::Pthread, attributes: AttributeUse::Reads, running: true },
        "pthread_getschedparam",
    ),
    (
        Effects::OnThread { by: ThreadHandle::Pthread, attributes: AttributeUse::Reads, running: false },
        "pthread_getaffinity_np",
    ),
    (
        Effects::OnThread { by: ThreadHandle::Number, attributes: AttributeUse::Writes, running: true },
        "sched_setaffinity",
    ),
    (
        Effects::OnThread { by: ThreadHandle::Number, attributes: AttributeUse::Reads, running: true },
        "sched_getaffinity",
    ),
    (
        Effects::OnThread { by: ThreadHandle::Pthread, attributes: AttributeUse::None, running: true },
        "pthread_setname_np pthread_getname_np pthread_getcpuclockid",
    ),
    // A new object each, as for `fdopen`; but files of the kernel may tell of other threads.
    (Effects::OpensStream, "fopen fopen64"),
    (Effects::SignalMask, "pthread_sigmask sigprocmask"),
    (Effects::ProcessSignal, "kill sigqueue"),
    (Effects::Writes { argument: 0, len: 968 }, "makecontext"),
    (Effects::Writes { argument: 0, len: 200 }, "setjmp _setjmp __sigsetjmp sigsetjmp"),
    // Results that the C library gets from the kernel, and stores for its caller.
    (Effects::Writes { argument: 1, len: 4 }, "sigwait"),
    (Effects::Writes { argument: 1, len: 8 }, "eventfd_read"),
    // The device is asked through what the object has.
    (Effects::Writes { argument: 0, len: 8 }, "_ZNSt13random_device9_M_getvalEv"),
    // The result that threads wait for, and a pointer to an exception.
    (
        Effects::Destroys { len: 16, owner: 8 },
        "_ZNSt13__future_base12_Result_baseD1Ev _ZNSt13__future_base12_Result_baseD2Ev",
    ),
    (
        Effects::Destroys { len: 8, owner: 0 },
        "_ZNSt15__exception_ptr13exception_ptrD1Ev _ZNSt15__exception_ptr13exception_ptrD2Ev",
    ),
    (Effects::OpensMemory { sized: false }, "open_memstream open_wmemstream"),
    (Effects::OpensMemory { sized: true }, "fmemopen"),
    (Effects::LooksUp, "dlsym dlvsym"),
    (
        Effects::Environment(EnvironmentUse::Reads),
        "getenv secure_getenv localtime_r ctime_r gmtime asctime strptime",
    ),
    (
        Effects::Environment(EnvironmentUse::Settles),
        "tzset mktime timelocal strftime strftime_l localtime ctime",
    ),
    (Effects::Environment(EnvironmentUse::Changes), "setenv unsetenv clearenv"),
    (Effects::Environment(EnvironmentUse::Shares), "putenv"),
    // The texts are constant, or in a buffer of the calling thread.
    (
        Effects::DependsOn(GlobalState::Locale),
        "strerror strsignal strerror_r __xpg_strerror_r mbstowcs wcstombs fnmatch regcomp regexec",
    ),
    (Effects::Changes(GlobalState::Locale), "setlocale"),
];

/// Streams of the C library, by the argument that names one.
const STREAMS: &[(usize, &str)] = &[
    (
        0,
        "fprintf vfprintf __fprintf_chk __vfprintf_chk fflush fclose fseek fseeko ftell ftello rewind fgetc getc \
         setlinebuf _IO_putc _IO_getc __overflow __uflow",
    ),
    (1, "fputs fputc putc putw ungetc fputs_unlocked fputc_unlocked putc_unlocked"),
    (2, "fgets getline"),
    (3, "fwrite fread fwrite_unlocked fread_unlocked getdelim __getdelim"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_name() {
        for (name, expected) in [
            ("pthread_mutex_lock", Effects::Modelled),
            ("malloc", Effects::Modelled),
            ("__cxa_throw", Effects::Modelled),
            ("printf", Effects::Stream(StreamArgument::StandardOutput)),
            ("fwrite", Effects::Stream(StreamArgument::Nth(3))),
            ("_ZNSolsEi", Effects::CxxStream { argument: 0, makes: false }),
            (
                "_ZNKSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv",
                Effects::CxxStream { argument: 1, makes: false },
            ),
            ("_ZNSolsEPSt15basic_streambufIcSt11char_traitsIcEE", Effects::Unknown),
            (
                "_ZNSt14basic_ofstreamIcSt11char_traitsIcEE5closeEv",
                Effects::CxxStream { argument: 0, makes: false },
            ),
            (
                "_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1Ev",
                Effects::CxxStream { argument: 0, makes: true },
            ),
            ("_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1EOS2_", Effects::Unknown),
            ("_ZNSt13basic_filebufIcSt11char_traitsIcEE4swapERS2_", Effects::Unknown),
            (
                "_ZNSt15basic_streambufIcSt11char_traitsIcEE6xsputnEPKcl",
                Effects::CxxBuffer { argument: 0, data: true, makes: false },
            ),
            (
                "_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE8overflowEi",
                Effects::CxxBuffer { argument: 0, data: false, makes: false },
            ),
            ("dlsym", Effects::LooksUp),
            ("quick_exit", Effects::EndsProcess),
            ("_exit", Effects::Modelled),
            ("_ZNSt13runtime_errorC1ERKS_", Effects::Unknown),
            ("_ZNSt13runtime_erroraSERKS_", Effects::Unknown),
            ("strtok", Effects::Unknown),
            ("_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_", Effects::Unknown),
        ] {
            assert_eq!(effects(name), expected, "{name}");
        }
    }

    #[test]
    fn no_row_is_there_twice() {
        let mut names: Vec<&str> = MODELLED.iter().flat_map(|names| names.split_ascii_whitespace()).collect();
        names.extend(STATE.iter().flat_map(|(_, names)| names.split_ascii_whitespace()));
        names.extend(STREAMS.iter().flat_map(|(_, names)| names.split_ascii_whitespace()));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
