//! Test harnesses: threads and code that run a test, and are no part of what is explored.
//!
//! The C++ frameworks run a test in the main thread; their own locks are no key points where they can be had at once.
//! libtest runs every test in a thread of its own, which its main thread waits for. While a test runs, the harness moves
//! only where nothing of the test can; what it does is no key point.

use std::ops::Range;

use crate::attention;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::ThreadRole;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::layout::module::Module;

/// The beginnings of the mangled names of the frameworks' functions: a namespace and classes of GoogleTest, and the namespaces of Catch2 and
/// doctest. `testing` as a whole is a namespace that programs have as well.
const FRAMEWORKS: [&str; 10] = [
    "_ZN7testing8internal",
    "_ZNK7testing8internal",
    "_ZN7testing8UnitTest",
    "_ZNK7testing8UnitTest",
    "_ZN7testing4Mock",
    "_ZNK7testing4Mock",
    "_ZN5Catch",
    "_ZNK5Catch",
    "_ZN7doctest",
    "_ZNK7doctest",
];

/// A part of the mangled names of libtest's function that runs a test.
const OF_LIBTEST: &str = "4test28__rust_begin_short_backtrace";

/// Whether tests of one of the frameworks, or of libtest, are among the program's own code.
pub(crate) fn has_tests(modules: &[Module]) -> bool {
    let is_of_tests = |symbol: &str| {
        symbol.contains(OF_LIBTEST) || FRAMEWORKS.iter().any(|prefix| symbol.starts_with(prefix))
    };
    let mut own = modules.iter().filter(|module| !module.is_system);
    own.any(|module| {
        module.image.symbols().inspect(|_| attention::round()).any(|symbol| is_of_tests(symbol.name))
    })
}

/// The functions of test frameworks, at run-time addresses, in order.
pub(crate) fn frameworks(modules: &[Module]) -> Vec<Range<u64>> {
    let is_of_framework = |symbol: &str| FRAMEWORKS.iter().any(|prefix| symbol.starts_with(prefix));
    let mut found: Vec<Range<u64>> = Vec::new();
    for module in modules {
        let bias = module.mapped.bias;
        let wanted = module
            .image
            .symbols()
            .inspect(|_| attention::round())
            .filter(|symbol| is_of_framework(symbol.name));
        found.extend(wanted.map(|symbol| symbol.address + bias..symbol.address + symbol.size + bias));
    }
    found.sort_unstable_by_key(|range| range.start);
    found
}

/// The harness stands where it calls a test.
pub(crate) fn begin_test(tracee: &mut Tracee, scheduling: &Scheduling, index: ThreadIndex) {
    if tracee.in_harness(index) {
        let task = &mut tracee.tasks[index];
        task.role = ThreadRole::Test { frame: task.regs.rsp };
        tracee.knowledge.test_began(scheduling.threads[index].name);
    }
}
