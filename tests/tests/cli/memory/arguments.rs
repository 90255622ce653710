//! Functions of the library and system calls touch the memory that their arguments name: where threads share it, they are key points.

use tests::{Build, Optimisation, Tool, levels};

use super::unseen::{explore_built, explore_with};

#[test]
fn functions_of_the_library_touch_what_their_arguments_name() {
    let functions = [
        "gmtime_r",
        "localtime_r",
        "mktime",
        "asctime_r",
        "ctime_r",
        "strftime",
        "strerror_r",
        "mbstowcs",
        "wcstombs",
        "sscanf",
        "asprintf",
        "realpath",
        "dladdr",
        "getpwuid_r",
        "regexec",
        "pthread_attr_init",
        "pthread_mutexattr_settype",
        "sigaddset",
        "pthread_setcancelstate",
        "pthread_getname_np",
        "pthread_getaffinity_np",
        "posix_memalign",
        "getentropy",
        "pthread_create",
        "sem_getvalue",
        "frexp",
        "modf",
        "timespec_get",
        "qsort_r",
    ];
    let builds = functions.into_iter().flat_map(|name| Optimisation::ALL.map(|level| (name, level)));
    for (name, level) in tests::sample(builds, 5) {
        for (flag, code) in [("-DSHARED", 1), ("-DPRIVATE", 0)] {
            let build = Build::new("unseen/libraries/library_arguments.c", level).flag(flag);
            let outcome = explore_built(&build, &[], &[name]);
            assert_eq!(outcome.code, code, "{name} {flag} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn what_functions_of_the_libraries_read_is_what_threads_share() {
    let of_c = [
        "CPU_COUNT",
        "fopen",
        "statvfs",
        "pthread_attr_setsigmask_np",
        "pthread_attr_setaffinity_np",
        "%ls",
        "%Lf",
        "%1$s",
    ];
    let of_c = of_c.map(|name| ("unseen/libraries/library_reads.c", name));
    let of_cxx = ["hash", "runtime_error", "locale", "cast"];
    let of_cxx = of_cxx.map(|name| ("unseen/libraries/cxx_reads.cpp", name));
    for (source, name) in of_c.into_iter().chain(of_cxx) {
        for level in levels(name) {
            let build = Build::new(source, level);
            let outcome = explore_built(&build, &[], &[name]);
            assert_eq!(outcome.code, 1, "{name} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DPRIVATE"), &[], &[name]);
            assert_eq!(outcome.code, 0, "{name} {level:?}: {}", outcome.transcript());
        }
    }
}

/// `repne scasb` has no limit but the end of the text: what stands behind it is no part of the search.
#[test]
fn searches_by_one_instruction_end_where_the_text_does() {
    const SOURCE: &str = "processor/string_searches.c";
    for level in levels(SOURCE) {
        let beside = explore_with(SOURCE, level, &["--strategy", "icb"], &[]);
        assert_eq!(beside.code, 0, "{level:?}: {}", beside.transcript());
        for within in ["ends", "grows"] {
            let outcome = explore_with(SOURCE, level, &["--strategy", "icb"], &[within]);
            assert_eq!(outcome.code, 1, "{within} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn lists_that_calls_read_are_what_threads_share() {
    for (nth, what) in ["pieces", "command", "arguments"].into_iter().enumerate() {
        let outcome = explore_with("kernel/reads_lists.c", Optimisation::ALL[nth % 2], &[], &[what]);
        assert_eq!(outcome.code, 1, "{what}: {}", outcome.transcript());
        assert_ne!(outcome.finding()["kind"], "always-fails", "{what}");
    }
}

#[test]
fn what_the_kernel_writes_and_reads_is_what_threads_share() {
    let calls = [
        "poll",
        "epoll",
        "select",
        "pipe",
        "socketpair",
        "getsockname",
        "getsockopt",
        "ioctl",
        "statfs",
        "getrlimit",
        "getrusage",
        "sysinfo",
        "times",
        "uname",
        "clock_gettime",
        "clock_getres",
        "gettimeofday",
        "getrandom",
        "sched_getaffinity",
        "getresuid",
        "sigpending",
        "fcntl",
        "recvmmsg",
    ];
    for (nth, call) in calls.into_iter().enumerate() {
        let level = Optimisation::ALL[nth % 2];
        let outcome = explore_with("kernel/kernel_writes.c", level, &[], &[call]);
        assert_eq!(outcome.code, 1, "{call} {level:?}: {}", outcome.transcript());
    }
    for level in levels("kernel_reads_path") {
        let outcome = explore_with("kernel/kernel_reads_path.c", level, &[], &[]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
    }
}

/// Threads that read from one open file move its position, whatever descriptors they have for it.
#[test]
fn reads_of_one_open_file_come_one_after_the_other() {
    for (descriptors, expected) in [("-DSAME", 1), ("-DCOPY", 1), ("-DOWN", 0)] {
        for level in levels(descriptors) {
            let build = Build::new("memory/reads_in_turn.c", level).flag(descriptors);
            let program = build.program().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let options = ["--fresh-dir".as_ref(), "--cwd".as_ref(), folder.path().as_os_str()];
            let outcome = Tool::explore(options, &program).within_folder(folder.path()).run().unwrap();
            assert_eq!(outcome.code, expected, "{descriptors} {level:?}: {}", outcome.transcript());
        }
    }
}
