//! Names of functions of the C and C++ libraries, by their effects ([`super::effects`]).

/// Functions that need no watching, for the reason above each group.
pub(super) const MODELLED: &[&str] = &[
    // The end of the process, and failures.
    "abort _exit _Exit __cxa_thread_atexit_impl \
     __assert_fail __assert_perror_fail __assert __stack_chk_fail __fortify_fail __chk_fail __gmon_start__ \
     __libc_start_main _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable err errx warn warnx",
    // The allocator beside what is trapped.
    "malloc_usable_size malloc_trim valloc pvalloc reallocarray cfree",
    // The calling thread alone.
    "__errno_location pthread_self pthread_equal pthread_exit \
     sigaltstack sched_yield pthread_yield \
     pthread_getattr_np \
     gettid thrd_current thrd_equal thrd_exit thrd_yield thrd_sleep __tls_get_addr __pthread_get_minstack \
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
    // The number of the file of a stream, which never changes.
    "fileno",
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
     __cxa_allocate_exception __cxa_free_exception __cxa_allocate_dependent_exception __cxa_free_dependent_exception \
     __cxa_init_primary_exception __cxa_throw __cxa_rethrow __cxa_begin_catch __cxa_end_catch __cxa_begin_cleanup \
     __cxa_end_cleanup __cxa_get_exception_ptr __cxa_get_globals __cxa_get_globals_fast __cxa_current_exception_type \
     __cxa_uncaught_exception __cxa_uncaught_exceptions __cxa_call_terminate __cxa_deleted_virtual \
     __cxa_throw_bad_array_length __cxa_throw_bad_array_new_length __cxa_thread_atexit __cxa_tm_cleanup __cxa_vec_new __cxa_vec_new2 __cxa_vec_new3 __cxa_vec_ctor __cxa_vec_cctor \
     __cxa_vec_dtor __cxa_vec_cleanup __cxa_vec_delete __cxa_vec_delete2 __cxa_vec_delete3 \
     __gxx_personality_v0 __dynamic_cast __cxa_pure_virtual __cxa_bad_cast __cxa_bad_typeid __cxa_call_unexpected \
     _ZSt17current_exceptionv \
     _ZSt18uncaught_exceptionv _ZSt19uncaught_exceptionsv _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE \
     _ZNSt6thread4joinEv _ZNSt6thread6detachEv _ZNSt6thread20hardware_concurrencyEv _ZNSt6thread6_StateD2Ev \
     _ZNSt6chrono3_V212system_clock3nowEv _ZNSt6chrono3_V212steady_clock3nowEv _ZNSt8ios_base4InitC1Ev _ZNSt8ios_base4InitD1Ev \
     _ZSt11_Hash_bytesPKvmm _ZSt16_Fnv_hash_bytesPKvmm _ZNSt18condition_variableC1Ev _ZNSt18condition_variableD1Ev \
     _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE _ZNSt18condition_variable10notify_oneEv \
     _ZNSt18condition_variable10notify_allEv _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE \
     _ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj",
];

/// Functions of a family: they begin so.
pub(super) const MODELLED_PREFIXES: &[&str] = &[
    "_Unwind_",
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
    "_ZSt4cerr",
];

/// Members and operators of the C++ library's streams, string streams among them.
pub(super) const CXX_STREAMS: &[&str] = &[
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
pub(super) const CXX_BUFFERS: &[&str] = &[
    "_ZNSt15basic_streambufIcSt11char_traitsIcEE",
    "_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE",
    "_ZNKSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE",
    "_ZNSt13basic_filebufIcSt11char_traitsIcEE",
    "_ZNKSt13basic_filebufIcSt11char_traitsIcEE",
];

/// Those that read or write what others give them.
pub(super) const CXX_TRANSFERS: &[&str] = &[
    "_ZNSt15basic_streambufIcSt11char_traitsIcEE6xsputn",
    "_ZNSt15basic_streambufIcSt11char_traitsIcEE6xsgetn",
    "_ZNSt13basic_filebufIcSt11char_traitsIcEE6xsputn",
    "_ZNSt13basic_filebufIcSt11char_traitsIcEE6xsgetn",
];

/// Functions that change what functions do from then on of which only the effect on memory is known.
pub(super) const RECONFIGURE: &[&str] = &[
    "register_printf_function",
    "register_printf_modifier",
    "register_printf_specifier",
    "register_printf_type",
    "mallopt",
    "pthread_setattr_default_np",
    "_ZSt13set_terminatePFvvE",
    "_ZSt14set_unexpectedPFvvE",
    "_ZSt15set_new_handlerPFvvE",
    "_ZSt25notify_all_at_thread_exitRSt18condition_variableSt11unique_lockISt5mutexE",
    // `std::promise::set_value_at_thread_exit` and its kin.
    "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv",
    "mcheck",
    "mcheck_pedantic",
    "mtrace",
    "muntrace",
    "textdomain",
    "bindtextdomain",
    "bind_textdomain_codeset",
    "__fsetlocking",
];
