//! The thread functions of the C library: pthreads and C11, by the names that programs link against.

/// A function whose entry has a trap, by its effect. Variants with a time limit say which argument holds it (from 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TrappedFunction {
    MutexInit,
    MutexDestroy,
    MutexLock,
    MutexTryLock,
    MutexTimedLock {
        limit: usize,
    },
    MutexUnlock,
    SpinInit,
    SpinLock,
    SpinTryLock,
    SpinUnlock,
    CondInit,
    CondDestroy,
    CondWait,
    CondTimedWait {
        limit: usize,
    },
    Signal,
    Broadcast,
    RwInit,
    RwDestroy,
    ReadLock,
    ReadTryLock,
    ReadTimedLock {
        limit: usize,
    },
    WriteLock,
    WriteTryLock,
    WriteTimedLock {
        limit: usize,
    },
    RwUnlock,
    SemInit,
    SemDestroy,
    SemWait,
    SemTryWait,
    SemTimedWait {
        limit: usize,
    },
    SemPost,
    SemGetValue,
    BarrierInit,
    BarrierDestroy,
    BarrierWait,
    Once,
    /// `__cxa_guard_acquire`: the once of a C++ function's static variable.
    GuardAcquire,
    /// `__cxa_guard_release` and `__cxa_guard_abort`.
    GuardRelease,
    Create,
    Join,
    TryJoin,
    TimedJoin {
        limit: usize,
    },
    /// Sends a signal to a thread, if it has not ended.
    Kill,
    Cancel,
    TestCancel,
    /// The place at which the C library looks, at a cancellation point, whether the thread is cancelled.
    Look,
    /// `pthread_setcancelstate` and `pthread_setcanceltype`.
    CancelState,
    CancelType,
    /// The slow path of `Mutex::lock` of Rust's standard library: takes the mutex.
    RustLock,
    /// The slow paths of `RwLock::read` and `RwLock::write` of Rust's standard library.
    RustReadLock,
    RustWriteLock,
    /// `Condvar::wait` and `Condvar::wait_timeout` of Rust's standard library, as that calls them for itself.
    RustCondWait,
    RustCondTimedWait,
    /// The function that every Rust panic passes.
    Panic,
    /// The function through which the harness of Rust's tests calls every test.
    Test,
}

impl TrappedFunction {
    /// Whether it returns at once, having changed nothing if it could not have what it wanted.
    pub(crate) fn only_tries(self) -> bool {
        use TrappedFunction as F;
        matches!(
            self,
            F::MutexTryLock
                | F::SpinTryLock
                | F::ReadTryLock
                | F::WriteTryLock
                | F::SemTryWait
                | F::SemGetValue
        )
    }

    /// The memory of its result: which argument (from 0) points to it, unless that is null, and the size.
    pub(crate) fn result(self) -> Option<(usize, u64)> {
        use TrappedFunction as F;
        match self {
            F::Create => Some((0, 8)),
            F::Join | F::TryJoin | F::TimedJoin { .. } => Some((1, 8)),
            F::SemGetValue => Some((1, 4)),
            _ => None,
        }
    }

    /// Whether its first argument is a synchronisation object of the C library, whose memory no other code has a reason
    /// to touch.
    pub(crate) fn is_on_object(self) -> bool {
        use TrappedFunction as F;
        let is_on_thread = matches!(
            self,
            F::Create
                | F::Join
                | F::TryJoin
                | F::TimedJoin { .. }
                | F::Kill
                | F::Cancel
                | F::TestCancel
                | F::Look
        );
        let is_of_language = matches!(
            self,
            F::GuardAcquire
                | F::GuardRelease
                | F::RustLock
                | F::RustReadLock
                | F::RustWriteLock
                | F::Panic
                | F::Test
        );
        let has_none = matches!(self, F::Once | F::CancelState | F::CancelType) || self.is_wait_of_rust();
        !(is_on_thread || is_of_language || has_none)
    }

    /// Whether it is about a spin lock, which is one word.
    pub(crate) fn is_of_spin_lock(self) -> bool {
        use TrappedFunction as F;
        matches!(self, F::SpinInit | F::SpinLock | F::SpinTryLock | F::SpinUnlock)
    }

    /// Whether it takes or releases a read-write lock of the C library, or tries to.
    pub(crate) fn is_of_rwlock(self) -> bool {
        use TrappedFunction as F;
        matches!(
            self,
            F::ReadLock
                | F::ReadTimedLock { .. }
                | F::ReadTryLock
                | F::WriteLock
                | F::WriteTimedLock { .. }
                | F::WriteTryLock
                | F::RwUnlock
        )
    }

    /// Whether it gives a mutex back, waits for a signal, and takes the mutex again.
    pub(crate) fn waits_for_signal(self) -> bool {
        use TrappedFunction as F;
        matches!(self, F::CondWait | F::CondTimedWait { .. }) || self.is_wait_of_rust()
    }

    /// Whether it does that with a mutex and a condition variable of Rust's standard library.
    pub(crate) fn is_wait_of_rust(self) -> bool {
        matches!(self, TrappedFunction::RustCondWait | TrappedFunction::RustCondTimedWait)
    }

    /// Whether a thread that is cancelled while it waits in it, or before, acts upon that there.
    pub(crate) fn is_cancellation_point(self) -> bool {
        use TrappedFunction as F;
        matches!(
            self,
            F::CondWait
                | F::CondTimedWait { .. }
                | F::SemWait
                | F::SemTimedWait { .. }
                | F::Join
                | F::TimedJoin { .. }
                | F::TestCancel
        )
    }
}

use TrappedFunction as F;

/// Functions of the C library.
pub(crate) const THREAD_FUNCTIONS: &[(&str, TrappedFunction)] = &[
    ("pthread_mutex_init", F::MutexInit),
    ("mtx_init", F::MutexInit),
    ("pthread_mutex_destroy", F::MutexDestroy),
    ("mtx_destroy", F::MutexDestroy),
    ("pthread_mutex_lock", F::MutexLock),
    ("mtx_lock", F::MutexLock),
    ("pthread_mutex_trylock", F::MutexTryLock),
    ("mtx_trylock", F::MutexTryLock),
    ("pthread_mutex_timedlock", F::MutexTimedLock { limit: 1 }),
    ("pthread_mutex_clocklock", F::MutexTimedLock { limit: 2 }),
    ("mtx_timedlock", F::MutexTimedLock { limit: 1 }),
    ("pthread_mutex_unlock", F::MutexUnlock),
    ("mtx_unlock", F::MutexUnlock),
    ("pthread_spin_init", F::SpinInit),
    ("pthread_spin_lock", F::SpinLock),
    ("pthread_spin_trylock", F::SpinTryLock),
    ("pthread_spin_unlock", F::SpinUnlock),
    ("pthread_cond_init", F::CondInit),
    ("cnd_init", F::CondInit),
    ("pthread_cond_destroy", F::CondDestroy),
    ("cnd_destroy", F::CondDestroy),
    ("pthread_cond_wait", F::CondWait),
    ("cnd_wait", F::CondWait),
    ("pthread_cond_timedwait", F::CondTimedWait { limit: 2 }),
    ("pthread_cond_clockwait", F::CondTimedWait { limit: 3 }),
    ("cnd_timedwait", F::CondTimedWait { limit: 2 }),
    ("pthread_cond_signal", F::Signal),
    ("cnd_signal", F::Signal),
    ("pthread_cond_broadcast", F::Broadcast),
    ("cnd_broadcast", F::Broadcast),
    ("pthread_rwlock_init", F::RwInit),
    ("pthread_rwlock_destroy", F::RwDestroy),
    ("pthread_rwlock_rdlock", F::ReadLock),
    ("pthread_rwlock_tryrdlock", F::ReadTryLock),
    ("pthread_rwlock_timedrdlock", F::ReadTimedLock { limit: 1 }),
    ("pthread_rwlock_clockrdlock", F::ReadTimedLock { limit: 2 }),
    ("pthread_rwlock_wrlock", F::WriteLock),
    ("pthread_rwlock_trywrlock", F::WriteTryLock),
    ("pthread_rwlock_timedwrlock", F::WriteTimedLock { limit: 1 }),
    ("pthread_rwlock_clockwrlock", F::WriteTimedLock { limit: 2 }),
    ("pthread_rwlock_unlock", F::RwUnlock),
    ("sem_init", F::SemInit),
    ("sem_destroy", F::SemDestroy),
    ("sem_wait", F::SemWait),
    ("sem_trywait", F::SemTryWait),
    ("sem_timedwait", F::SemTimedWait { limit: 1 }),
    ("sem_clockwait", F::SemTimedWait { limit: 2 }),
    ("sem_post", F::SemPost),
    ("sem_getvalue", F::SemGetValue),
    ("pthread_barrier_init", F::BarrierInit),
    ("pthread_barrier_destroy", F::BarrierDestroy),
    ("pthread_barrier_wait", F::BarrierWait),
    ("pthread_once", F::Once),
    ("call_once", F::Once),
    ("pthread_create", F::Create),
    ("thrd_create", F::Create),
    ("pthread_join", F::Join),
    ("thrd_join", F::Join),
    ("pthread_tryjoin_np", F::TryJoin),
    ("pthread_timedjoin_np", F::TimedJoin { limit: 2 }),
    ("pthread_clockjoin_np", F::TimedJoin { limit: 3 }),
    ("pthread_kill", F::Kill),
    ("pthread_sigqueue", F::Kill),
    ("pthread_cancel", F::Cancel),
    ("pthread_testcancel", F::TestCancel),
    ("pthread_setcancelstate", F::CancelState),
    ("pthread_setcanceltype", F::CancelType),
];

/// Functions of the C++ run-time library.
pub(crate) const CXX_FUNCTIONS: &[(&str, TrappedFunction)] = &[
    ("__cxa_guard_acquire", F::GuardAcquire),
    ("__cxa_guard_release", F::GuardRelease),
    ("__cxa_guard_abort", F::GuardRelease),
];

/// The result of a function that ran out of time: `thrd_timedout` for C11 functions, else `ETIMEDOUT`.
pub(crate) fn timed_out_result(name: &str) -> u64 {
    if name.starts_with("mtx_") || name.starts_with("cnd_") { 4 } else { libc::ETIMEDOUT as u64 }
}

/// The result of a function that refuses its time limit, by its result when it runs out of time: `thrd_error` for C11
/// functions, else `EINVAL`.
pub(crate) fn invalid_argument(timed_out: u64) -> u64 {
    if timed_out == libc::ETIMEDOUT as u64 { libc::EINVAL as u64 } else { 2 }
}

/// Functions of Rust's standard library, by parts of their mangled names: all parts have to be there.
const RUST_FUNCTIONS: &[(&[&str], TrappedFunction)] = &[
    (&["5mutex5futex", "5Mutex14lock_contended"], F::RustLock),
    (&["6rwlock5futex", "6RwLock14read_contended"], F::RustReadLock),
    (&["6rwlock5futex", "6RwLock15write_contended"], F::RustWriteLock),
    (&["rust_panic"], F::Panic),
    (&["4test28__", "rust_begin_short_backtrace"], F::Test),
];

/// The condition variables of Rust's standard library, in the same way. Below its `Condvar` is one that has a mutex for an
/// argument in place of a guard.
const RUST_CONDVARS: &[(&[&str], TrappedFunction)] = &[
    (&["3std3sys4sync7condvar5futex", "7Condvar4wait"], F::RustCondWait),
    (&["3std3sys4sync7condvar5futex", "7Condvar12wait_timeout"], F::RustCondTimedWait),
    (&["3std4sync", "7condvar", "7Condvar10notify_one"], F::Signal),
    (&["3std4sync", "7condvar", "7Condvar10notify_all"], F::Broadcast),
];

/// Functions of Rust's standard library in which one indivisible instruction takes or releases a mutex, there or in a
/// function of `core` that they call.
pub(crate) const RUST_LOCK: &str = "std::sys::sync::mutex::futex::Mutex::lock";
pub(crate) const RUST_UNLOCK: &str = "std::sys::sync::mutex::futex::Mutex::unlock";

/// The beginning of the names of a condition variable's functions in Rust's standard library.
pub(crate) const RUST_CONDVAR: &str = "std::sys::sync::condvar::futex::Condvar::";

/// The function whose code has that of a condition variable to itself.
pub(crate) const RUST_BARRIER_WAIT: &str = "std::sync::barrier::Barrier::wait";

/// The Rust function that a symbol names, other than those of condition variables.
pub(crate) fn rust_function(symbol: &str) -> Option<TrappedFunction> {
    // With further parts behind it, `rust_panic` is another function.
    let is_panic = symbol == "rust_panic" || symbol.ends_with("___rustc10rust_panic");
    named(RUST_FUNCTIONS, symbol).filter(|function| *function != F::Panic || is_panic)
}

/// The function of a condition variable of Rust's standard library that a symbol names.
pub(crate) fn rust_condvar_function(symbol: &str) -> Option<TrappedFunction> {
    named(RUST_CONDVARS, symbol)
}

fn named(table: &[(&[&str], TrappedFunction)], symbol: &str) -> Option<TrappedFunction> {
    let is_it = |(parts, _): &&(&[&str], TrappedFunction)| parts.iter().all(|part| symbol.contains(part));
    table.iter().find(is_it).map(|(_, function)| *function)
}
