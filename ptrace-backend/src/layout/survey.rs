//! The findings in the files of a program and its libraries, as they are mapped: read once, whatever number of times it is launched.

use std::ops::Range;

use crate::debuginfo;
use crate::layout::memory_calls::MemoryFunctions;
use crate::layout::module::Module;
use crate::layout::rust_locks::RustLocks;
use crate::os::Tid;

/// The code of a module in which something is looked for, as sorted, disjoint ranges of static addresses.
#[derive(Debug, Clone, Default)]
pub(crate) struct SearchedCode {
    /// The code in which memory accesses are looked for.
    pub(crate) accesses: Vec<Range<u64>>,
    /// The code in which calls of memory functions are looked for.
    pub(crate) calls: Vec<Range<u64>>,
}

/// The findings in the files of a program and its libraries.
pub(crate) struct Survey {
    pub(crate) memory_functions: MemoryFunctions,
    pub(crate) rust_locks: RustLocks,
    /// Code of the libraries' atomics, wherever it was inlined, by address.
    pub(crate) atomic_functions: Vec<Range<u64>>,
    /// Functions of test frameworks, by address.
    pub(crate) frameworks: Vec<Range<u64>>,
    /// For each module: the program's own code in it.
    pub(crate) own_code: Vec<SearchedCode>,
}

impl Survey {
    /// The findings in these modules, which have been relocated in a process, with the code of libraries' atomics, and of test frameworks.
    pub(crate) fn of(
        modules: &[Module],
        process: Tid,
        (atomic_functions, frameworks): (Vec<Range<u64>>, Vec<Range<u64>>),
    ) -> Self {
        Self {
            memory_functions: MemoryFunctions::new(modules, process),
            rust_locks: RustLocks::new(modules),
            atomic_functions,
            frameworks,
            own_code: modules.iter().map(own_code).collect(),
        }
    }
}

fn own_code(module: &Module) -> SearchedCode {
    if module.is_system {
        return SearchedCode::default();
    }
    let accesses = debuginfo::user_code(&module.image);
    // A library's copy or comparison is made for the code that instantiated it.
    let calls = debuginfo::unit_code(&module.image, &accesses);
    SearchedCode { accesses, calls }
}
