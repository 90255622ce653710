//! Calls of memory functions: which of them there are in a module, and what is really called.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::instructions::{Callee, Candidate, FunctionCode, MemoryFunction, Target, TransferKind};
use crate::layout::Module;
use crate::os::{Tid, memory};

/// The memory functions of the C library, by the names that modules import.
pub(crate) struct MemoryFunctions {
    /// Names that a module other than the C library defines: its own code is called in the library's stead.
    replaced: FxHashSet<String>,
    /// By where they begin; looked up when a thread is first about to call through a register.
    addresses: OnceLock<FxHashMap<u64, MemoryFunction>>,
}

impl MemoryFunctions {
    /// Those that these modules see.
    pub(crate) fn new(modules: &[Module]) -> Self {
        let others = modules.iter().filter(|module| !module.is_libc);
        let symbols = others.flat_map(|module| module.image.symbols().filter(|symbol| !symbol.is_local()));
        let names = symbols.map(|symbol| symbol.name).filter(|name| MemoryFunction::named(name).is_some());
        Self { replaced: names.map(str::to_owned).collect(), addresses: OnceLock::new() }
    }

    fn named(&self, name: &str) -> Option<MemoryFunction> {
        MemoryFunction::named(name).filter(|_| !self.replaced.contains(name))
    }

    /// The function behind a linkage stub or a slot, by its run-time address.
    fn imported(&self, module: &Module, address: u64) -> Option<MemoryFunction> {
        self.named(module.image.plt_target(address.wrapping_sub(module.mapped.bias))?)
    }

    /// The calls of memory functions in a function's code, tail calls included. Calls through registers may be some
    /// where the address of one is loaded.
    pub(crate) fn calls(&self, module: &Module, code: &FunctionCode) -> Vec<Candidate> {
        let loads_one = code.loaded_slots.iter().any(|&slot| self.imported(module, slot).is_some());
        let certain = code.transfers.iter().filter(|transfer| transfer.kind != TransferKind::ConditionalJump);
        let calls = certain.filter_map(|transfer| {
            let callee = match transfer.target {
                Target::Address(address) | Target::Slot(address) => {
                    Callee::Known(self.imported(module, address)?)
                }
                Target::Register(register) if loads_one => Callee::Register(register),
                Target::Register(_) => return None,
            };
            Some(Candidate::call(transfer, callee))
        });
        calls.collect()
    }

    /// The function that begins at a run-time address.
    pub(crate) fn at(&self, address: u64, modules: &[Module], tid: Tid) -> Option<MemoryFunction> {
        self.addresses.get_or_init(|| self.addresses(modules, tid)).get(&address).copied()
    }

    /// There are several versions of each function, of which the dynamic linker has put the one that suits the processor
    /// into the slots of the modules.
    fn addresses(&self, modules: &[Module], tid: Tid) -> FxHashMap<u64, MemoryFunction> {
        let mut found = FxHashMap::default();
        for module in modules {
            for (slot, name) in module.image.import_slots() {
                let Some(function) = self.named(name) else { continue };
                let address = memory::word(tid, slot.wrapping_add(module.mapped.bias)).unwrap_or(0);
                // A slot that is filled at the first call only leads back to its module until then.
                if modules.iter().any(|m| m.is_libc && m.mapped.range.contains(&address)) {
                    found.insert(address, function);
                }
            }
        }
        found
    }
}
