//! Calls of memory functions: which of them there are in a module, and what is really called.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::attention;
use crate::instructions::{Callee, Candidate, FunctionCode, MemoryFunction, Target, TransferKind};
use crate::layout::module::Module;
use crate::os::{Tid, memory};

/// The memory functions of the C library, by the names that modules import and by where they begin.
pub(crate) struct MemoryFunctions {
    /// Names that a module other than the C library defines: its own code is called in the library's stead.
    replaced: FxHashSet<String>,
    by_address: FxHashMap<u64, MemoryFunction>,
}

impl MemoryFunctions {
    /// Those that these modules see in a process whose modules have been relocated.
    pub(crate) fn new(modules: &[Module], process: Tid) -> Self {
        let others = modules.iter().filter(|module| !is_home(module));
        let symbols = others.flat_map(|module| module.image.symbols().filter(|symbol| !symbol.is_local()));
        let names = symbols
            .inspect(|_| attention::round())
            .map(|symbol| symbol.name)
            .filter(|name| MemoryFunction::named(name).is_some());
        let replaced = names.map(str::to_owned).collect();
        let mut functions = Self { replaced, by_address: FxHashMap::default() };
        functions.by_address = functions.addresses(modules, process);
        functions
    }

    /// There are several versions of each function, of which the dynamic linker has put the one that suits the processor
    /// into the slots of the modules.
    fn addresses(&self, modules: &[Module], process: Tid) -> FxHashMap<u64, MemoryFunction> {
        let mut found = FxHashMap::default();
        for module in modules {
            for (slot, name) in module.image.import_slots() {
                attention::round();
                let Some(function) = self.named(name) else { continue };
                let address = memory::word(process, slot.wrapping_add(module.mapped.bias)).unwrap_or(0);
                // A slot that is filled at the first call only leads back to its module until then.
                if modules.iter().any(|m| is_home(m) && m.mapped.range.contains(&address)) {
                    found.insert(address, function);
                }
            }
        }
        found
    }

    fn named(&self, name: &str) -> Option<MemoryFunction> {
        MemoryFunction::named(name).filter(|_| !self.replaced.contains(name))
    }

    /// The function that begins at a run-time address.
    pub(crate) fn at(&self, address: u64) -> Option<MemoryFunction> {
        self.by_address.get(&address).copied()
    }

    /// The function behind a linkage stub or a slot, by its run-time address.
    fn imported(&self, module: &Module, address: u64) -> Option<MemoryFunction> {
        self.named(module.image.plt_target(address.wrapping_sub(module.mapped.bias))?)
    }

    /// The function that begins at a run-time address of the C library, which calls it without a linkage stub.
    fn internal(&self, module: &Module, address: u64) -> Option<MemoryFunction> {
        let at = address.wrapping_sub(module.mapped.bias);
        let function =
            module.image.function_at(at).filter(|function| module.is_libc && function.range.start == at)?;
        self.named(function.symbol?)
    }

    /// The memory functions whose addresses are among the program's data or get anywhere: calls through pointers may
    /// be calls of them. `escaping`: the slots from which they do, at run-time addresses.
    pub(crate) fn pointed_to(
        &self,
        module: &Module,
        process: Tid,
        escaping: &FxHashSet<u64>,
    ) -> Vec<(u64, String)> {
        let bias = module.mapped.bias;
        let slots = module.image.import_slots().map(|(slot, name)| (slot.wrapping_add(bias), name));
        let is_pointer =
            |slot: u64| module.image.is_import_pointer(slot.wrapping_sub(bias)) || escaping.contains(&slot);
        let known = slots.filter(|&(slot, name)| is_pointer(slot) && self.named(name).is_some());
        known.filter_map(|(slot, name)| Some((memory::word(process, slot)?, name.to_owned()))).collect()
    }

    /// The calls of memory functions in a function's code, tail calls included. Calls through registers may be some
    /// where the address of one is loaded. `is_own` says of an address that its code is looked at anyway.
    pub(crate) fn calls(
        &self,
        process: Tid,
        module: &Module,
        code: &FunctionCode,
        is_own: impl Fn(u64) -> bool,
    ) -> Vec<Candidate> {
        let precompiled = |address: u64| {
            self.internal(module, address)
                .or_else(|| precompiled(module, address).filter(|_| !is_own(address)))
        };
        let loads_one = code.loaded_slots.iter().any(|&slot| self.imported(module, slot).is_some());
        let certain = code.transfers.iter().filter(|transfer| transfer.kind != TransferKind::ConditionalJump);
        let calls = certain.filter_map(|transfer| {
            let callee = match transfer.target {
                Target::Address(address) => {
                    Callee::Known(self.imported(module, address).or_else(|| precompiled(address))?)
                }
                Target::Slot(slot) => {
                    let inside = || precompiled(memory::word(process, slot)?);
                    Callee::Known(self.imported(module, slot).or_else(inside)?)
                }
                Target::Register(register) if loads_one => Callee::Register(register),
                Target::Register(_) => return None,
            };
            Some(Candidate::call(transfer, callee))
        });
        calls.collect()
    }
}

/// Whether a module defines memory functions that it is no replacement of.
fn is_home(module: &Module) -> bool {
    let file = module.mapped.path.file_name().unwrap_or_default().to_string_lossy();
    module.is_libc || ["libm.", "libatomic.", "libstdc++."].iter().any(|name| file.starts_with(name))
}

/// The copy of Rust's standard library that copies slices of bytes for all callers: slices of other elements are copied
/// by code that was instantiated for them.
fn precompiled(module: &Module, address: u64) -> Option<MemoryFunction> {
    let function = module.image.function_at(address.wrapping_sub(module.mapped.bias))?;
    // Names take long to read.
    function.symbol.filter(|symbol| symbol.contains("copy_from_slice_impl"))?;
    (function.name()? == "core::slice::copy_from_slice_impl::<u8>").then_some(MemoryFunction::COPY_SLICE)
}
