//! Effects of functions of the C and C++ libraries on memory that other threads may use, by their names.
//!
//! A row here says that a function needs no watching: because it is modelled elsewhere in the backend (thread
//! functions, the allocator, memory functions, system calls), or because it touches nothing but its caller's registers
//! and stack, constants, memory of the calling thread alone, or data of the library that no other code can read and
//! that a lock of its own protects. Rows of another kind name the facts that have to be looked at where it is called. A
//! function without a row is looked into ([`super::reach`]).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::layout::allocator::ALLOCATOR_FUNCTIONS;
use crate::layout::functions::{CXX_FUNCTIONS, THREAD_FUNCTIONS};

/// The effect of a function on memory that other threads may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effects {
    /// Nothing that is not modelled elsewhere.
    Modelled,
    /// It reads or writes the stream that this argument (from 0) points to: nothing that another thread can find out if that is
    /// the standard output or the standard error.
    Stream { argument: usize },
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
    /// It returns or changes state of the thread that its first argument names.
    ThreadState { by: ThreadHandle, writes: bool },
    /// It writes so many bytes where this argument points to: the context of a coroutine, or of a jump, or a result.
    Writes { argument: usize, len: u64 },
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
    let is_modelled =
        MODELLED_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || makes_exception(name);
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

/// Whether a function makes an exception, other than from another one, or destroys it.
fn makes_exception(name: &str) -> bool {
    let Some(rest) = EXCEPTIONS.iter().find_map(|class| name.strip_prefix(class)) else { return false };
    let is_copied = ["ERKS_", "EOS_", "ERKS0_", "EOS0_"].iter().any(|end| rest.ends_with(end));
    let is_made = rest.starts_with("C1") || rest.starts_with("C2");
    rest.starts_with("D") || is_made && !is_copied
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
        table.extend(names.split_ascii_whitespace().map(|name| (name, Effects::Stream { argument })));
    }
    table
}

const MODELLED: &[&str] = &[
    // The end of the process, and failures.
    "abort _exit _Exit __cxa_thread_atexit_impl \
     __assert_fail __assert_perror_fail __assert __stack_chk_fail __fortify_fail __chk_fail __gmon_start__ \
     __libc_start_main _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable err errx warn warnx perror psignal",
    // The allocator beside what is trapped.
    "malloc_usable_size mallopt malloc_trim valloc pvalloc reallocarray cfree",
    // The calling thread alone.
    "__errno_location pthread_self pthread_equal pthread_exit pthread_getspecific pthread_setspecific \
     sigaltstack sched_yield pthread_yield \
     pthread_setname_np pthread_getname_np pthread_getattr_np \
     gettid thrd_current thrd_equal thrd_exit thrd_yield thrd_sleep tss_get tss_set __tls_get_addr __pthread_get_minstack \
     sched_getcpu __sched_cpucount __sched_cpualloc __sched_cpufree",
    // It calls what the thread has given to `std::call_once`.
    "__once_proxy",
    // Attributes, which are their caller's own.
    "pthread_attr_init pthread_attr_destroy pthread_attr_setstacksize pthread_attr_getstacksize pthread_attr_setstack \
     pthread_attr_getstack pthread_attr_setdetachstate pthread_attr_getdetachstate pthread_attr_setguardsize \
     pthread_attr_getguardsize pthread_attr_setscope pthread_attr_setinheritsched pthread_attr_setschedpolicy \
     pthread_attr_setschedparam pthread_attr_setaffinity_np pthread_mutexattr_init pthread_mutexattr_destroy \
     pthread_mutexattr_settype pthread_mutexattr_gettype pthread_mutexattr_setrobust pthread_mutexattr_setprotocol \
     pthread_mutexattr_setpshared pthread_mutexattr_setprioceiling pthread_condattr_init pthread_condattr_destroy \
     pthread_condattr_setclock pthread_condattr_setpshared pthread_rwlockattr_init pthread_rwlockattr_destroy \
     pthread_rwlockattr_setkind_np pthread_rwlockattr_setpshared pthread_barrierattr_init pthread_barrierattr_destroy \
     pthread_barrierattr_setpshared pthread_mutex_consistent pthread_mutex_getprioceiling",
    // Time, identity and the machine: answered by the tracer, or constant.
    "time clock clock_gettime clock_getres gettimeofday nanosleep clock_nanosleep usleep sleep getpid getppid getuid \
     geteuid getgid getegid sysconf getpagesize get_nprocs get_nprocs_conf getauxval __getauxval uname gnu_get_libc_version \
     getrandom getentropy arc4random arc4random_uniform arc4random_buf getrlimit getrlimit64 syscall difftime",
    // Signals: their delivery is scheduled, and their dispositions belong to the process.
    "sigaction signal raise sigemptyset sigfillset sigaddset sigdelset sigismember sigwaitinfo sigtimedwait \
     sigsuspend pause bsd_signal __sysv_signal",
    // Leaving by a jump, and unwinding.
    "longjmp _longjmp siglongjmp __longjmp_chk backtrace backtrace_symbols_fd \
     dl_iterate_phdr _dl_find_object",
    // Characters and numbers: constant tables of the locale.
    "__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max isalnum isalpha isblank iscntrl isdigit \
     isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper abs labs llabs div ldiv lldiv ffs ffsl ffsll \
     htonl htons ntohl ntohs",
    // Calls that may block, and calls on descriptors: operations on files.
    "read write readv writev close pipe pipe2 poll ppoll select pselect epoll_create epoll_create1 epoll_ctl epoll_wait \
     epoll_pwait eventfd socket socketpair bind listen accept accept4 connect shutdown send sendto sendmsg recv recvfrom \
     recvmsg dup dup2 dup3 fcntl fcntl64 isatty setsockopt getsockopt __read_chk __poll_chk __recv_chk",
    // Other processes: they run unscheduled, which is told where they are started.
    "popen pclose fork vfork _Fork wait waitpid wait3 wait4 waitid execv execve execvp execvpe execl execle execlp fexecve posix_spawn \
     posix_spawnp system clone unshare",
    // The standard output, whose order no thread of the program reads back.
    "printf vprintf puts putchar putchar_unlocked __printf_chk __vprintf_chk __overflow",
    // Streams are made: each is a new object, in a list that the library locks; what they open is told by the system call.
    "fdopen tmpfile tmpfile64",
    // Mappings: told by the system call.
    "mmap mmap64 munmap mprotect mremap madvise posix_madvise msync mlock munlock shm_open shm_unlink",
    // Tools of dynamic analysis, and what compilers call on their own behalf.
    "__stack_chk_guard __cyg_profile_func_enter __cyg_profile_func_exit __udivti3 __umodti3 __divti3 __modti3 __multi3",
    // Floating-point state of the calling thread.
    "fegetround fesetround fegetenv fesetenv feclearexcept fetestexcept feraiseexcept feholdexcept feupdateenv",
    // Locales are counted atomically; the parts of a stream that a constructor or destructor works on are its caller's own.
    "_ZNSt6locale7classicEv _ZNSt6localeC1Ev _ZNSt6localeC1ERKS_ _ZNSt6localeD1Ev _ZNSt8ios_baseC2Ev _ZNSt8ios_baseD2Ev \
     _ZNSt9basic_iosIcSt11char_traitsIcEE4initEPSt15basic_streambufIcS1_E _ZNSt8ios_baseD1Ev _ZNSt8ios_baseD0Ev \
     _ZNSo6sentryD1Ev _ZNSo6sentryD2Ev",
    // Tables of characters that are made when they are first needed, each time the same.
    "_ZNKSt5ctypeIcE13_M_widen_initEv _ZNKSt5ctypeIcE14_M_narrow_initEv",
    // The C++ run-time library: exceptions and one thread's own state.
    "_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZdlPv _ZdaPv _ZdlPvm \
     _ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t \
     __gxx_personality_v0 __dynamic_cast __cxa_pure_virtual __cxa_bad_cast __cxa_bad_typeid __cxa_call_unexpected \
     _ZSt9terminatev _ZSt10unexpectedv _ZSt17current_exceptionv _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE \
     _ZSt18uncaught_exceptionv _ZSt19uncaught_exceptionsv _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE \
     _ZNSt6thread4joinEv _ZNSt6thread6detachEv _ZNSt6thread20hardware_concurrencyEv _ZNSt6thread6_StateD2Ev \
     _ZNSt6chrono3_V212system_clock3nowEv _ZNSt6chrono3_V212steady_clock3nowEv _ZNSt8ios_base4InitC1Ev _ZNSt8ios_base4InitD1Ev \
     _ZSt11_Hash_bytesPKvmm _ZSt16_Fnv_hash_bytesPKvmm _ZNSt18condition_variableC1Ev _ZNSt18condition_variableD1Ev \
     _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE _ZNSt18condition_variable10notify_oneEv \
     _ZNSt18condition_variable10notify_allEv _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE \
     _ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj",
];

/// Functions of a family: they begin so.
const MODELLED_PREFIXES: &[&str] = &[
    "_Unwind_",
    "__cxa_",
    "__asan_",
    "__ubsan_",
    "__sanitizer_",
    // Exceptions: made, thrown and told by the thread that throws them.
    "_ZNSt9exceptionD",
    "_ZNKSt9exception4what",
    "_ZSt20__throw_",
    "_ZSt19__throw_",
    "_ZSt17__throw_",
    "_ZSt16__throw_",
    "_ZSt18__throw_",
    "_ZSt21__throw_",
    "_ZSt22__throw_",
    "_ZSt23__throw_",
    "_ZSt24__throw_",
    "_ZSt25__throw_",
    "_ZSt28__throw_",
    "_ZNSt15__exception_ptr13exception_ptr10_M_release",
    "_ZNSt15__exception_ptr13exception_ptr9_M_addref",
    "_ZSt4cerr",
];

/// Exceptions, and pointers to them: the thread that makes one has it for itself. Later operations on them, and on
/// copies from them, are not known by name.
const EXCEPTIONS: &[&str] = &[
    "_ZNSt13runtime_error",
    "_ZNSt11logic_error",
    "_ZNSt16invalid_argument",
    "_ZNSt12out_of_range",
    "_ZNSt12length_error",
    "_ZNSt12domain_error",
    "_ZNSt11range_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
    "_ZNSt12system_error",
    "_ZNSt15__exception_ptr13exception_ptr",
    "_ZNSt9bad_alloc",
    "_ZNSt8bad_cast",
];

/// The functions that are called at the end, in the reverse of the order in which they were named.
pub(crate) const EXIT_HANDLERS: &str = "the functions that are called at exit";

/// Functions that return or change state of the process or of a thread, or that look up code.
const STATE: &[(Effects, &str)] = &[
    // By `__cxa_atexit`, variables of C++ are destroyed as well.
    (Effects::State { of: EXIT_HANDLERS }, "__cxa_atexit __cxa_at_quick_exit atexit at_quick_exit on_exit"),
    (Effects::EndsProcess, "exit quick_exit"),
    (Effects::CallsAtExit { of: Some(0) }, "__cxa_finalize"),
    (Effects::State { of: "the functions that are called at a fork" }, "__register_atfork pthread_atfork"),
    (Effects::State { of: "the end of the data segment" }, "brk sbrk"),
    (
        Effects::State { of: "the keys of thread-specific data" },
        "pthread_key_create pthread_key_delete __pthread_key_create tss_create tss_delete",
    ),
    (Effects::State { of: "the standard input" }, "getchar getchar_unlocked"),
    (
        Effects::ThreadState { by: ThreadHandle::Pthread, writes: true },
        "pthread_setschedparam pthread_setschedprio pthread_setaffinity_np pthread_detach thrd_detach",
    ),
    (
        Effects::ThreadState { by: ThreadHandle::Pthread, writes: false },
        "pthread_getschedparam pthread_getaffinity_np",
    ),
    (Effects::ThreadState { by: ThreadHandle::Number, writes: true }, "sched_setaffinity"),
    (Effects::ThreadState { by: ThreadHandle::Number, writes: false }, "sched_getaffinity"),
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
    (Effects::OpensMemory { sized: false }, "open_memstream open_wmemstream"),
    (Effects::OpensMemory { sized: true }, "fmemopen"),
    (Effects::LooksUp, "dlsym dlvsym"),
    (Effects::Environment(EnvironmentUse::Reads), "getenv secure_getenv localtime_r ctime_r gmtime asctime"),
    (Effects::Environment(EnvironmentUse::Settles), "tzset mktime timelocal strftime localtime ctime"),
    (Effects::Environment(EnvironmentUse::Changes), "setenv unsetenv clearenv"),
    (Effects::Environment(EnvironmentUse::Shares), "putenv"),
    // The texts are constant, or in a buffer of the calling thread.
    (
        Effects::DependsOn(GlobalState::Locale),
        "strerror strsignal strerror_r __xpg_strerror_r strptime mbstowcs wcstombs fnmatch regcomp regexec",
    ),
    (Effects::Changes(GlobalState::Locale), "setlocale"),
];

/// Streams of the C library, by the argument that names one.
const STREAMS: &[(usize, &str)] = &[
    (
        0,
        "fprintf vfprintf __fprintf_chk __vfprintf_chk fflush fclose fseek fseeko ftell ftello rewind fgetc getc fileno \
         feof ferror clearerr setbuf setvbuf setlinebuf flockfile funlockfile ftrylockfile _IO_putc _IO_getc",
    ),
    (1, "fputs fputc putc putw ungetc fputs_unlocked fputc_unlocked putc_unlocked"),
    (2, "fgets getline"),
    (3, "fwrite fread fwrite_unlocked fread_unlocked getdelim __getdelim"),
];

/// Members and operators of the C++ library's streams, string streams among them.
const CXX_STREAMS: &[&str] = &[
    "_ZNSo",
    "_ZNSi",
    "_ZNSd",
    "_ZNKSt7__cxx1119basic_ostringstream",
    "_ZNSt7__cxx1119basic_ostringstream",
    "_ZNKSt7__cxx1119basic_istringstream",
    "_ZNSt7__cxx1119basic_istringstream",
    "_ZNKSt7__cxx1118basic_stringstream",
    "_ZNSt7__cxx1118basic_stringstream",
    "_ZNKSt14basic_ofstreamIcSt11char_traitsIcEE",
    "_ZNSt14basic_ofstreamIcSt11char_traitsIcEE",
    "_ZNKSt14basic_ifstreamIcSt11char_traitsIcEE",
    "_ZNSt14basic_ifstreamIcSt11char_traitsIcEE",
    "_ZNKSt13basic_fstreamIcSt11char_traitsIcEE",
    "_ZNSt13basic_fstreamIcSt11char_traitsIcEE",
    "_ZStlsISt11char_traitsIcEERSt13basic_ostream",
    "_ZStlsIcSt11char_traitsIcE",
    "_ZStrsISt11char_traitsIcEERSt13basic_istream",
    "_ZStrsIcSt11char_traitsIcE",
    "_ZSt7getlineIcSt11char_traitsIcE",
    "_ZSt16__ostream_insert",
    "_ZSt4endl",
    "_ZSt5flush",
    "_ZNSolsE",
];

/// Members of their buffers.
const CXX_BUFFERS: &[&str] = &[
    "_ZNSt15basic_streambufIcSt11char_traitsIcEE",
    "_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE",
    "_ZNKSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE",
    "_ZNSt13basic_filebufIcSt11char_traitsIcEE",
    "_ZNKSt13basic_filebufIcSt11char_traitsIcEE",
];

/// Those that read or write what others give them.
const CXX_TRANSFERS: &[&str] = &[
    "_ZNSt15basic_streambufIcSt11char_traitsIcEE6xsputn",
    "_ZNSt15basic_streambufIcSt11char_traitsIcEE6xsgetn",
    "_ZNSt13basic_filebufIcSt11char_traitsIcEE6xsputn",
    "_ZNSt13basic_filebufIcSt11char_traitsIcEE6xsgetn",
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
            ("printf", Effects::Modelled),
            ("fwrite", Effects::Stream { argument: 3 }),
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
            ("_ZNSt13runtime_errorC1EPKc", Effects::Modelled),
            ("_ZNSt13runtime_errorD2Ev", Effects::Modelled),
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
