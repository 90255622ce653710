//! The locks of Rust's standard library, as far as the code of a program says where they are.

use std::ops::Range;

use crate::debuginfo::{Image, Instance, demangle};
use crate::layout::functions::{
    RUST_BARRIER_WAIT, RUST_CONDVAR, RUST_LOCK, RUST_UNLOCK, TrappedFunction, rust_condvar_function,
    rust_function,
};
use crate::layout::module::Module;

/// The operation of an indivisible instruction of Rust's standard library on a mutex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RustMutex {
    Lock,
    Unlock,
}

/// The locks of Rust's standard library in the code of a program.
#[derive(Default)]
pub(crate) struct RustLocks {
    /// The code that takes or releases a mutex, wherever it was inlined.
    pub(crate) mutexes: Vec<(Range<u64>, RustMutex)>,
    /// The modules whose condition variables are known by their functions, by place.
    condvars: Vec<usize>,
}

impl RustLocks {
    /// Looks for the locks of all modules.
    pub(crate) fn new(modules: &[Module]) -> Self {
        let mut locks = Self::default();
        // Elsewhere no access is a key point; and debug information of the system's libraries takes long to read.
        let own = modules.iter().enumerate().filter(|(_, module)| !module.is_system);
        for (place, module) in own.filter(|(_, module)| module.image.is_rust()) {
            let is_mutex = |name: &str| [RUST_LOCK, RUST_UNLOCK].contains(&name);
            let wanted = |name: &str| is_mutex(name) || is_of_condvar(name);
            let copies = module.image.inlined(&["mutex", "condvar"], &wanted);
            let (mutexes, condvars): (Vec<Instance>, Vec<Instance>) =
                copies.into_iter().partition(|copy| is_mutex(&copy.name));
            if !mutexes.is_empty() && condvars.iter().all(|copy| is_apart(&module.image, copy)) {
                locks.condvars.push(place);
            }
            let bias = module.mapped.bias;
            for copy in mutexes {
                let what = if *copy.name == *RUST_LOCK { RustMutex::Lock } else { RustMutex::Unlock };
                locks.mutexes.extend(copy.ranges.iter().map(|r| (r.start + bias..r.end + bias, what)));
            }
        }
        locks
    }

    /// The function of Rust's standard library that a symbol of a module names.
    pub(crate) fn function(&self, module: usize, symbol: &str) -> Option<TrappedFunction> {
        let condvar = || rust_condvar_function(symbol).filter(|_| self.condvars.contains(&module));
        rust_function(symbol).or_else(condvar)
    }
}

/// Whether a function is one with which threads wait, or wake waiting ones.
fn is_of_condvar(name: &str) -> bool {
    let own = name.strip_prefix(RUST_CONDVAR);
    own.is_some_and(|own| own.starts_with("wait") || own.starts_with("notify"))
}

/// Whether a copy of a condition variable's code is one of its functions, or part of one, or of code that waits by none
/// of them. If an optimiser has put copies into other code, some threads would wait by the functions and others by the
/// copies.
fn is_apart(image: &Image, copy: &Instance) -> bool {
    let Some(start) = copy.ranges.first().map(|range| range.start) else { return true };
    let Some(symbol) = image.function_at(start).and_then(|function| function.symbol) else { return false };
    let name = demangle(symbol);
    !copy.is_inlined
        || rust_condvar_function(symbol).is_some()
        || name == RUST_BARRIER_WAIT
        || is_of_condvar(&name)
}
