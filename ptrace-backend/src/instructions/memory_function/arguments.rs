//! Functions of the C and C++ libraries whose pointers name structures and buffers of a size that is known, or that other arguments say.

/// Memory that an argument points to; nothing where that is null.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pointee {
    /// Number of the argument, from 0.
    pub(super) nth: u8,
    pub(super) len: PointeeSize,
    pub(super) read: bool,
    pub(super) write: bool,
}

/// The size of the memory that an argument points to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum PointeeSize {
    Bytes(u64),
    /// So many elements as this argument says, each of so many bytes.
    Each(u8, u64),
    /// A string with its end.
    Text,
    /// A string of wide characters with its end.
    WideText,
    /// Pointers to strings, the last of which is null, and the strings.
    Texts,
    /// A `std::string`, and its characters.
    CxxString,
    /// So many bytes as the number says to which this argument points.
    SizeAt(u8),
}

pub(super) const fn reads(nth: u8, len: PointeeSize) -> Pointee {
    Pointee { nth, len, read: true, write: false }
}

pub(super) const fn writes(nth: u8, len: PointeeSize) -> Pointee {
    Pointee { nth, len, read: false, write: true }
}

pub(super) const fn updates(nth: u8, len: PointeeSize) -> Pointee {
    Pointee { nth, len, read: true, write: true }
}

/// `struct tm`, with what GNU's library adds to it.
const BROKEN_DOWN: PointeeSize = PointeeSize::Bytes(56);
/// `time_t`
const TIME: PointeeSize = PointeeSize::Bytes(8);
/// The text that `asctime_r` makes of a date of four digits.
const DATE: PointeeSize = PointeeSize::Bytes(26);
/// `struct passwd`
const USER: PointeeSize = PointeeSize::Bytes(48);
/// `struct group`
const GROUP: PointeeSize = PointeeSize::Bytes(32);
const POINTER: PointeeSize = PointeeSize::Bytes(8);
/// `regex_t`, which stands for all that it points to: no code outside the library knows where that is.
const PATTERN: PointeeSize = PointeeSize::Bytes(64);
/// `Dl_info`
const SYMBOL: PointeeSize = PointeeSize::Bytes(32);
const PATH: PointeeSize = PointeeSize::Bytes(4096);
/// `int`, and attributes of mutexes, condition variables and barriers.
const NUMBER: PointeeSize = PointeeSize::Bytes(4);
/// `struct timespec`
const TIMESPEC: PointeeSize = PointeeSize::Bytes(16);
/// `struct itimerspec`, `struct itimerval`
const TIMER: PointeeSize = PointeeSize::Bytes(32);
/// `fenv_t`
const FLOATING_POINT: PointeeSize = PointeeSize::Bytes(32);
/// `pthread_attr_t`
const THREAD_ATTRIBUTES: PointeeSize = PointeeSize::Bytes(56);
/// `pthread_rwlockattr_t`
const LOCK_ATTRIBUTES: PointeeSize = PointeeSize::Bytes(8);
/// `sigset_t`, of which the kernel knows the first eight bytes.
const SIGNALS: PointeeSize = PointeeSize::Bytes(128);
/// `struct sigaction`
const SIGNAL_ACTION: PointeeSize = PointeeSize::Bytes(152);
/// The part of a set of signals that the kernel knows.
const MASK: PointeeSize = PointeeSize::Bytes(8);
/// `struct timeval`
const TIMEVAL: PointeeSize = PointeeSize::Bytes(16);
/// `struct statvfs`
const FILE_SYSTEM: PointeeSize = PointeeSize::Bytes(112);
/// `std::condition_variable`
const CONDITION: PointeeSize = PointeeSize::Bytes(48);
/// `stack_t`
const STACK: PointeeSize = PointeeSize::Bytes(24);

/// The memory that the arguments of the function of this name point to.
pub(super) fn named(name: &str) -> Option<&'static [Pointee]> {
    use PointeeSize::{Bytes, Each, Text, Texts, WideText};
    Some(match name {
        "gmtime" | "localtime" | "ctime" => const { &[reads(0, TIME)] },
        "asctime" => const { &[reads(0, BROKEN_DOWN)] },
        "gmtime_r" | "localtime_r" => const { &[reads(0, TIME), writes(1, BROKEN_DOWN)] },
        "mktime" | "timelocal" | "timegm" => const { &[updates(0, BROKEN_DOWN)] },
        "asctime_r" => const { &[reads(0, BROKEN_DOWN), writes(1, DATE)] },
        "ctime_r" => const { &[reads(0, TIME), writes(1, DATE)] },
        "strftime" | "strftime_l" => {
            const { &[writes(0, Each(1, 1)), reads(2, Text), reads(3, BROKEN_DOWN)] }
        }
        "getenv" | "secure_getenv" | "unsetenv" | "putenv" => const { &[reads(0, Text)] },
        "setenv" => const { &[reads(0, Text), reads(1, Text)] },
        "strptime" => const { &[reads(0, Text), reads(1, Text), writes(2, BROKEN_DOWN)] },
        "strerror_r" | "__xpg_strerror_r" => const { &[writes(1, Each(2, 1))] },
        "mbstowcs" => const { &[writes(0, Each(2, 4)), reads(1, Text)] },
        "wcstombs" => const { &[writes(0, Each(2, 1)), reads(1, WideText)] },
        "fnmatch" => const { &[reads(0, Text), reads(1, Text)] },
        "regcomp" => const { &[writes(0, PATTERN), reads(1, Text)] },
        "regexec" => const { &[reads(0, PATTERN), reads(1, Text), writes(3, Each(2, 8))] },
        "regerror" => const { &[reads(1, PATTERN), writes(2, Each(3, 1))] },
        "regfree" => const { &[writes(0, PATTERN)] },
        "realpath" => const { &[reads(0, Text), writes(1, PATH)] },
        "shm_open" | "shm_unlink" => const { &[reads(0, Text)] },
        "mkstemp" | "mkstemp64" | "mkdtemp" => const { &[updates(0, Text)] },
        "dladdr" => const { &[writes(1, SYMBOL)] },
        "getpwuid_r" => const { &[writes(1, USER), writes(2, Each(3, 1)), writes(4, POINTER)] },
        "getpwnam_r" => {
            const { &[reads(0, Text), writes(1, USER), writes(2, Each(3, 1)), writes(4, POINTER)] }
        }
        "getgrgid_r" => const { &[writes(1, GROUP), writes(2, Each(3, 1)), writes(4, POINTER)] },
        "getgrnam_r" => {
            const { &[reads(0, Text), writes(1, GROUP), writes(2, Each(3, 1)), writes(4, POINTER)] }
        }
        "frexp" | "frexpf" | "frexpl" | "modff" => const { &[writes(0, NUMBER)] },
        "modf" => const { &[writes(0, Bytes(8))] },
        "modfl" => const { &[writes(0, Bytes(16))] },
        "timespec_get" => const { &[writes(0, TIMESPEC)] },
        "system" => const { &[reads(0, Text)] },
        "popen" => const { &[reads(0, Text), reads(1, Text)] },
        "posix_spawn" | "posix_spawnp" => {
            const { &[writes(0, NUMBER), reads(1, Text), reads(4, Texts), reads(5, Texts)] }
        }
        "execv" | "execvp" => const { &[reads(0, Text), reads(1, Texts)] },
        "execve" | "execvpe" => const { &[reads(0, Text), reads(1, Texts), reads(2, Texts)] },
        "nanosleep" | "thrd_sleep" => const { &[reads(0, TIMESPEC), writes(1, TIMESPEC)] },
        "clock_nanosleep" => const { &[reads(2, TIMESPEC), writes(3, TIMESPEC)] },
        "setitimer" => const { &[reads(1, TIMER), writes(2, TIMER)] },
        "timerfd_settime" | "timer_settime" => const { &[reads(2, TIMER), writes(3, TIMER)] },
        "select" => const { &[updates(4, TIMEVAL)] },
        "pselect" => const { &[reads(4, TIMESPEC), reads(5, MASK)] },
        "ppoll" | "__ppoll_chk" => const { &[reads(2, TIMESPEC)] },
        "epoll_pwait2" => const { &[reads(3, TIMESPEC)] },
        "fopen" | "fopen64" => const { &[reads(0, Text), reads(1, Text)] },
        "fdopen" => const { &[reads(1, Text)] },
        "fmemopen" => const { &[reads(2, Text)] },
        "opendir" | "remove" | "euidaccess" | "eaccess" | "ftok" => const { &[reads(0, Text)] },
        "statvfs" | "statvfs64" => const { &[reads(0, Text), writes(1, FILE_SYSTEM)] },
        "utimes" | "lutimes" => const { &[reads(0, Text), reads(1, Bytes(32))] },
        _ => return of_cxx(name).or_else(|| of_threads(name)),
    })
}

/// The same of functions of the C++ library and of its run-time library.
fn of_cxx(name: &str) -> Option<&'static [Pointee]> {
    use PointeeSize::{Each, SizeAt, Text};
    Some(match name {
        "_ZNSt6localeaSERKS_" | "_ZNSt6localeC1ERKS_" => const { &[writes(0, POINTER), reads(1, POINTER)] },
        "_ZNSt6localeC1EPKc" => const { &[writes(0, POINTER), reads(1, Text)] },
        "_ZNSt6localeC1Ev" => const { &[writes(0, POINTER)] },
        "_ZNSt6localeD1Ev" => const { &[updates(0, POINTER)] },
        "_ZSt11_Hash_bytesPKvmm" | "_ZSt16_Fnv_hash_bytesPKvmm" => const { &[reads(0, Each(1, 1))] },
        "_ZNSt6thread4joinEv" | "_ZNSt6thread6detachEv" => const { &[updates(0, POINTER)] },
        "_ZNSt18condition_variableC1Ev" => const { &[writes(0, CONDITION)] },
        "_ZSt17current_exceptionv" => const { &[writes(0, POINTER)] },
        "__dynamic_cast" => const { &[reads(0, POINTER)] },
        "__cxa_demangle" => {
            const { &[reads(0, Text), writes(1, SizeAt(2)), updates(2, POINTER), writes(3, NUMBER)] }
        }
        _ => return None,
    })
}

/// The same of functions that are about threads and signals. Results of calls that are operations are told with these.
fn of_threads(name: &str) -> Option<&'static [Pointee]> {
    use PointeeSize::{Each, Text};
    let (object, action) = name.strip_prefix("pthread_").and_then(|rest| rest.split_once('_')).unzip();
    let gets = action.is_some_and(|action| action.starts_with("get"));
    Some(match (object, name) {
        (Some("attr"), "pthread_attr_getstack") => {
            const { &[reads(0, THREAD_ATTRIBUTES), writes(1, POINTER), writes(2, POINTER)] }
        }
        (Some("attr"), "pthread_attr_getaffinity_np") => {
            const { &[reads(0, THREAD_ATTRIBUTES), writes(2, Each(1, 1))] }
        }
        (Some("attr"), "pthread_attr_setaffinity_np") => {
            const { &[updates(0, THREAD_ATTRIBUTES), reads(2, Each(1, 1))] }
        }
        (Some("attr"), "pthread_attr_getsigmask_np") => {
            const { &[reads(0, THREAD_ATTRIBUTES), writes(1, SIGNALS)] }
        }
        (Some("attr"), "pthread_attr_setsigmask_np") => {
            const { &[updates(0, THREAD_ATTRIBUTES), reads(1, SIGNALS)] }
        }
        (Some("attr"), "pthread_attr_setschedparam") => {
            const { &[updates(0, THREAD_ATTRIBUTES), reads(1, NUMBER)] }
        }
        (Some("attr"), _) if gets => const { &[reads(0, THREAD_ATTRIBUTES), writes(1, POINTER)] },
        (Some("attr"), _) => const { &[updates(0, THREAD_ATTRIBUTES)] },
        (Some("mutexattr" | "condattr" | "barrierattr"), _) if gets => {
            const { &[reads(0, NUMBER), writes(1, NUMBER)] }
        }
        (Some("mutexattr" | "condattr" | "barrierattr"), _) => const { &[updates(0, NUMBER)] },
        (Some("rwlockattr"), _) if gets => const { &[reads(0, LOCK_ATTRIBUTES), writes(1, NUMBER)] },
        (Some("rwlockattr"), _) => const { &[updates(0, LOCK_ATTRIBUTES)] },
        (_, "sigemptyset" | "sigfillset") => const { &[writes(0, SIGNALS)] },
        (_, "sigaddset" | "sigdelset") => const { &[updates(0, SIGNALS)] },
        (_, "sigismember") => const { &[reads(0, SIGNALS)] },
        (_, "pthread_sigmask" | "sigprocmask") => const { &[reads(1, POINTER), writes(2, SIGNALS)] },
        (_, "sigtimedwait") => const { &[reads(0, MASK), reads(2, TIMESPEC)] },
        (_, "sigaction") => const { &[reads(1, SIGNAL_ACTION), writes(2, SIGNAL_ACTION)] },
        (_, "sigaltstack") => const { &[reads(0, STACK), writes(1, STACK)] },
        (_, "pthread_setcancelstate" | "pthread_setcanceltype" | "pthread_mutex_getprioceiling") => {
            const { &[writes(1, NUMBER)] }
        }
        (_, "pthread_getattr_np") => const { &[writes(1, THREAD_ATTRIBUTES)] },
        (_, "pthread_getname_np") => const { &[writes(1, Each(2, 1))] },
        (_, "pthread_setname_np") => const { &[reads(1, Text)] },
        (_, "pthread_getschedparam") => const { &[writes(1, NUMBER), writes(2, NUMBER)] },
        (_, "pthread_setschedparam") => const { &[reads(2, NUMBER)] },
        (_, "pthread_getaffinity_np") => const { &[writes(2, Each(1, 1))] },
        (_, "sched_getaffinity") => const { &[writes(2, Each(1, 1))] },
        (_, "__sched_cpucount") => const { &[reads(1, Each(0, 1))] },
        (_, "pthread_setaffinity_np" | "sched_setaffinity") => const { &[reads(2, Each(1, 1))] },
        (_, "pthread_key_create" | "__pthread_key_create" | "tss_create") => const { &[writes(0, NUMBER)] },
        (_, "posix_memalign") => const { &[writes(0, POINTER)] },
        (_, "backtrace") => const { &[writes(0, Each(1, 8))] },
        (_, "getentropy" | "arc4random_buf") => const { &[writes(0, Each(1, 1))] },
        (_, "fegetenv" | "feholdexcept") => const { &[writes(0, FLOATING_POINT)] },
        (_, "fesetenv" | "feupdateenv") => const { &[reads(0, FLOATING_POINT)] },
        _ => return None,
    })
}
