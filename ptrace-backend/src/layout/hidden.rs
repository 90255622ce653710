//! Code of system libraries that touches memory and is not watched.

use crate::attention;
use crate::instructions::{Candidate, FunctionShape, scan};
use crate::layout::module::Module;
use crate::layout::{HiddenCode, Layout, Trap, TrapKind};

impl Layout {
    /// The code of system libraries, but for those of the C and the C++ library: what these do for threads is known by their
    /// functions.
    pub(crate) fn hidden_code(&self) -> &HiddenCode {
        self.hidden.get_or_init(|| {
            let code = self.modules.iter().filter(|module| module.is_hidden()).flat_map(accesses);
            // The first instruction of a function whose calls are looked at has a trap already, and is not watched all the same.
            let is_watched = |trap: &Trap| !matches!(trap.kind, TrapKind::Foreign(_));
            code.filter(|candidate| !self.traps.get(&candidate.addr).is_some_and(is_watched))
                .map(|candidate| (candidate.addr, candidate))
                .collect()
        })
    }
}

impl Module {
    /// Whether it is a system library of which it is not known by name what its functions do for threads.
    pub(crate) fn is_hidden(&self) -> bool {
        const KNOWN: [&str; 5] = ["ld-linux", "libstdc++.", "libc++", "libm.", "libgcc_s."];
        let file = self.mapped.path.file_name().unwrap_or_default().to_string_lossy();
        self.is_system && !self.is_libc && !KNOWN.iter().any(|name| file.starts_with(name))
    }
}

impl Module {
    /// Whether it is a library whose threads do what the program gives them to do, under locks and barriers of the library's: those of the
    /// C++ libraries, of OpenMP and of GLib.
    pub(crate) fn runs_threads_for_program(&self) -> bool {
        const KNOWN: [&str; 7] =
            ["libstdc++.", "libc++.", "libgomp.", "libomp.", "libiomp5.", "libglib-2.0.", "libgthread-2.0."];
        let file = self.mapped.path.file_name().unwrap_or_default().to_string_lossy();
        self.is_system && KNOWN.iter().any(|name| file.starts_with(name))
    }
}

fn accesses(module: &Module) -> Vec<Candidate> {
    let bias = module.mapped.bias;
    let text = module.image.text();
    let constants = module.image.constants();
    let is_constant = |addr: u64| constants.iter().any(|range| range.contains(&addr.wrapping_sub(bias)));
    let mut found = Vec::new();
    for function in module.image.functions() {
        attention::round();
        let Some(code) = text.iter().find_map(|section| section.part(&function.range)) else { continue };
        let start = function.range.start + bias;
        let scanned = scan(code, start, &FunctionShape::of(code, start), is_constant);
        let shared = |candidate: &Candidate| candidate.stack.is_none() && !candidate.thread_local;
        found.extend(scanned.candidates.into_iter().filter(shared));
    }
    found
}
