//! The code of system libraries that the program's own code reaches by calls: what of it can be watched, instruction by
//! instruction as the program's own, and which functions are closed to that.
//!
//! A function is open if all that it calls is known before the program runs: direct calls, and calls through the slots that
//! the dynamic linker fills. Its code then is watched together with that of all that it calls. A function that calls through
//! a pointer of its own (a virtual function, a call-back), or that reaches too much code, is closed: what it does to memory
//! is not seen, and a call of it while there are several threads is told ([`super::effects`]).

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{Effects, effects};
use super::names::RECONFIGURE;
use crate::debuginfo::{Image, demangle};
use crate::instructions::{FunctionCode, FunctionShape, MemoryFunction, Target, scan};
use crate::layout::module::Module;
use crate::os::{Tid, memory};

/// So many functions at most are watched for the sake of one that the program calls.
const MOST_FUNCTIONS: usize = 48;

/// So many bytes of code at most.
const MOST_CODE: u64 = 24 << 10;

/// The function by which the C library finds the unwinder's functions, to call them through a pointer. Its callers are stubs of
/// these functions, whose names (`_Unwind_ForcedUnwind`) only a table of all symbols has; and distributions keep that apart.
const FINDS_UNWINDER: &str = "__libc_unwind_link_get";

/// The function that creates threads.
const CREATES_THREAD: &str = "pthread_create";

/// Symbols of virtual tables begin so.
const VIRTUAL_TABLE: &str = "_ZTV";

/// Those of the classes that describe types do: the C++ library alone calls their functions.
const TYPE_INFORMATION: &str = "_ZTVN10__cxxabiv1";

/// A function by its module's place and its static address.
type FunctionAddress = (usize, u64);

/// Code of system libraries that the program's own code reaches.
#[derive(Debug, Default)]
pub(crate) struct ReachableCode {
    /// Code to be watched, by module, at static addresses.
    pub(crate) open: FxHashMap<usize, Vec<Range<u64>>>,
    /// Functions that the program calls and that are closed, by their entries.
    pub(crate) closed: Vec<UnknownFunction>,
}

/// A function of a library of which not all is known.
#[derive(Debug)]
pub(crate) struct UnknownFunction {
    /// Its entry, or that of its stub in the program's code.
    pub(crate) at: FunctionAddress,
    pub(crate) name: String,
    /// The place of its library.
    pub(crate) library: usize,
}

/// A function of a library in the graph of calls.
#[derive(Debug, Clone, Default)]
struct CallGraphNode {
    range: Range<u64>,
    calls: Vec<CallTarget>,
    leaves_for_unknown: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CallTarget {
    /// A function of the same module.
    Here(u64),
    /// A function by its name.
    Named(String),
}

impl ReachableCode {
    /// The code of libraries that the own code among these modules reaches.
    pub(crate) fn of(modules: &[Module], process: Tid) -> Self {
        let mut search = Search { modules, nodes: FxHashMap::default(), named: FxHashMap::default() };
        let mut names: Vec<&str> =
            own(modules).flat_map(|(_, module)| module.image.import_slots()).map(|(_, name)| name).collect();
        names.sort_unstable();
        names.dedup();
        let mut reach = Self::default();
        let mut open: FxHashSet<FunctionAddress> = FxHashSet::default();
        let mut called: Vec<(FunctionAddress, String, usize)> = Vec::new();
        for name in names {
            if is_known(name) {
                continue;
            }
            let Some(place) = search.function(name) else { continue };
            let library = place.0;
            for at in search.implementations(name, place, process) {
                called.push((at, name.to_owned(), library));
            }
        }
        called.extend(search.virtual_functions(process));
        for (at, name, library) in called {
            match search.all_from(at).filter(|_| !RECONFIGURE.contains(&name.as_str())) {
                Some(all) => open.extend(all),
                None => reach.closed.push(UnknownFunction { at, name, library }),
            }
        }
        for place in open {
            let range = search.node(place).range;
            reach.open.entry(place.0).or_default().push(range);
        }
        for ranges in reach.open.values_mut() {
            ranges.sort_unstable_by_key(|range| range.start);
        }
        reach
    }
}

/// The modules that are the program's own, with their places.
fn own(modules: &[Module]) -> impl Iterator<Item = (usize, &Module)> {
    modules.iter().enumerate().filter(|(_, module)| !module.is_system)
}

/// The class of which a function that is called so makes or destroys an object, as its members' symbols have it.
fn made_class(function: &str) -> Option<&str> {
    const MAKERS: [&str; 4] = ["C1E", "C2E", "D1E", "D2E"];
    let name = function.strip_prefix("_ZN")?;
    MAKERS.iter().find_map(|maker| Some(&name[..name.rfind(maker)?]))
}

/// Words for a virtual function without a symbol, by its table.
fn name_of_unnamed(table: &str) -> String {
    let words = demangle(table);
    let class = words.trim_start_matches("{vtable(").trim_end_matches(")}");
    format!("{class} (virtual function)")
}

/// Whether a class has virtual functions, as far as symbols tell: what describes its type is exported.
fn is_polymorphic(image: &Image, class: &str) -> bool {
    [format!("_ZTIN{class}E"), format!("_ZTI{class}")].iter().any(|name| image.symbol(name).is_some())
}

/// Whether what a function does is known by its name: it is modelled, or it does nothing that concerns other threads.
fn is_known(name: &str) -> bool {
    MemoryFunction::named(name).is_some() || !matches!(effects(name), Effects::Unknown | Effects::Changes(_))
}

/// Whether a call leads to [`FINDS_UNWINDER`].
fn finds_unwinder(image: &Image, callee: &CallTarget) -> bool {
    let CallTarget::Here(at) = callee else { return false };
    image.function_at(*at).and_then(|function| function.symbol) == Some(FINDS_UNWINDER)
}

struct Search<'m> {
    modules: &'m [Module],
    nodes: FxHashMap<FunctionAddress, CallGraphNode>,
    named: FxHashMap<String, Option<FunctionAddress>>,
}

impl Search<'_> {
    /// The function of a system library that a name stands for: that of the first library that has it.
    fn function(&mut self, name: &str) -> Option<FunctionAddress> {
        if let Some(found) = self.named.get(name) {
            return *found;
        }
        let defines = |module: &Module| module.image.symbol(name).filter(|&at| module.image.is_code(at));
        let found = self.modules.iter().enumerate().find_map(|(i, module)| Some((i, defines(module)?)));
        let found = found.filter(|&(i, _)| self.modules[i].is_system);
        self.named.insert(name.to_owned(), found);
        found
    }

    /// Entries of a function that the program calls. The entry of one that is chosen when its library is loaded is
    /// known once a slot is filled; until then the program's own stubs stand for it, which lead to anywhere.
    fn implementations(&self, name: &str, place: FunctionAddress, process: Tid) -> Vec<FunctionAddress> {
        let library = &self.modules[place.0];
        if !library.image.is_chosen(name) {
            return vec![place];
        }
        // Functions of numbers; those that store their results are known by name.
        if library.mapped.path.file_name().is_some_and(|file| file.to_string_lossy().starts_with("libm.")) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (i, module) in own(self.modules) {
            let slots = module.image.import_slots().filter(|(_, known)| *known == name);
            let filled =
                slots.filter_map(|(slot, _)| memory::word(process, slot.wrapping_add(module.mapped.bias)));
            let chosen = filled.filter(|address| library.mapped.range.contains(address));
            found.extend(chosen.map(|address| (place.0, address.wrapping_sub(library.mapped.bias))));
            found.extend(module.image.import_stubs(name).map(|stub| (i, stub)));
        }
        found.sort_unstable();
        found.dedup();
        // The stubs lead to what is known.
        if found.iter().any(|at| at.0 == place.0) {
            found.retain(|at| at.0 == place.0);
        }
        found
    }

    /// The virtual functions that classes of system libraries have, as far as the program's own code makes such objects: its
    /// code calls them through the object alone. With their names and the places of their libraries. Of a class whose virtual
    /// table the library keeps to itself, any member may be one.
    fn virtual_functions(&self, process: Tid) -> Vec<(FunctionAddress, String, usize)> {
        const WORD: u64 = 8;
        let mut tables: FxHashSet<&str> = FxHashSet::default();
        let mut classes: FxHashSet<&str> = FxHashSet::default();
        for (_, module) in own(self.modules) {
            let copied = module.image.symbols_where(|name| name.starts_with(VIRTUAL_TABLE));
            tables.extend(copied.iter().map(|symbol| symbol.name));
            for (_, name) in module.image.import_slots() {
                classes.extend(made_class(name));
                tables.extend(name.starts_with(VIRTUAL_TABLE).then_some(name));
            }
        }
        let mut found = Vec::new();
        for library in self.modules.iter().filter(|module| module.is_system) {
            let image = &library.image;
            let bias = library.mapped.bias;
            let wanted = |name: &str| tables.contains(name) && !name.starts_with(TYPE_INFORMATION);
            for table in image.symbols_where(wanted) {
                let start = table.address.wrapping_add(bias);
                let words = (start..start.saturating_add(table.size)).step_by(WORD as usize);
                let entries = words.filter_map(|at| memory::word(process, at));
                found.extend(entries.filter_map(|address| self.unknown_function(address, table.name)));
            }
            for class in classes.iter().filter(|class| is_polymorphic(image, class)) {
                let of_class = |name: &str| {
                    let member = ["_ZN", "_ZNK"].iter().find_map(|start| name.strip_prefix(start));
                    member.is_some_and(|member| member.starts_with(class))
                };
                for member in image.symbols_where(of_class) {
                    found.extend(self.unknown_function(member.address.wrapping_add(bias), member.name));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The function of a system library that begins at a run-time address, unless it is known by its name; one that has none is
    /// called by its table.
    fn unknown_function(&self, address: u64, table: &str) -> Option<(FunctionAddress, String, usize)> {
        let holds = |module: &&Module| module.mapped.range.contains(&address);
        let (i, module) = self.modules.iter().enumerate().find(|(_, module)| holds(module))?;
        let at = address.wrapping_sub(module.mapped.bias);
        if !module.is_system || !module.image.is_code(at) {
            return None;
        }
        let function = module.image.function_at(at).filter(|function| function.range.start == at)?;
        let name = function.symbol.map_or_else(|| name_of_unnamed(table), str::to_owned);
        (!is_known(&name)).then_some(((i, at), name, i))
    }

    /// All functions that one reaches, itself included; `None` if it is closed.
    fn all_from(&mut self, first: FunctionAddress) -> Option<FxHashSet<FunctionAddress>> {
        let mut found = FxHashSet::from_iter([first]);
        let mut waiting = VecDeque::from([first]);
        let mut code = 0;
        while let Some(place) = waiting.pop_front() {
            let node = self.node(place);
            code += node.range.end - node.range.start;
            if node.leaves_for_unknown || code > MOST_CODE || found.len() > MOST_FUNCTIONS {
                return None;
            }
            for callee in node.calls {
                let next = match callee {
                    CallTarget::Here(at) => (place.0, at),
                    CallTarget::Named(name) if is_known(&name) => continue,
                    // A name that no module has is never called: a weak one.
                    CallTarget::Named(name) => match self.function(&name) {
                        Some(next) => next,
                        None => continue,
                    },
                };
                // The function may be one that is known by name, called within its library.
                let symbol =
                    self.modules[next.0].image.function_at(next.1).and_then(|function| function.symbol);
                if symbol.is_some_and(is_known) {
                    continue;
                }
                if found.insert(next) {
                    waiting.push_back(next);
                }
            }
        }
        Some(found)
    }

    fn node(&mut self, place: FunctionAddress) -> CallGraphNode {
        if let Some(node) = self.nodes.get(&place) {
            return node.clone();
        }
        let node = self
            .read(place)
            .unwrap_or(CallGraphNode { leaves_for_unknown: true, ..CallGraphNode::default() });
        self.nodes.insert(place, node.clone());
        node
    }

    fn read(&self, (index, at): FunctionAddress) -> Option<CallGraphNode> {
        let Module { image, mapped, .. } = &self.modules[index];
        let function = image.function_at(at)?;
        let text = image.text();
        let code = text.iter().find_map(|section| section.part(&function.range))?;
        let constants = image.constants();
        // At run-time addresses, which no small number could be.
        let in_file = |address: u64| address.wrapping_sub(mapped.bias);
        let is_constant = |address: u64| constants.iter().any(|range| range.contains(&in_file(address)));
        let start = function.range.start + mapped.bias;
        let FunctionCode { transfers, leaves_for_unknown, undecoded, addresses, .. } =
            scan(code, start, &FunctionShape::of(code, start), is_constant);
        let mut calls = Vec::new();
        for transfer in transfers {
            let callee = match transfer.target {
                Target::Address(address) => match image.plt_target(in_file(address)) {
                    Some(name) => CallTarget::Named(name.to_owned()),
                    None => CallTarget::Here(image.function_at(in_file(address))?.range.start),
                },
                Target::Slot(slot) => CallTarget::Named(image.plt_target(in_file(slot))?.to_owned()),
                Target::Register(_) => continue,
            };
            if finds_unwinder(image, &callee) {
                return Some(CallGraphNode { range: function.range.clone(), ..CallGraphNode::default() });
            }
            if !calls.contains(&callee) {
                calls.push(callee);
            }
        }
        // A thread that it creates runs a function of which it has the address.
        let creates =
            |callee: &CallTarget| matches!(callee, CallTarget::Named(name) if name == CREATES_THREAD);
        if calls.iter().any(creates) {
            let begins =
                |&address: &u64| image.function_at(address).is_some_and(|it| it.range.start == address);
            calls.extend(addresses.into_iter().map(in_file).filter(begins).map(CallTarget::Here));
        }
        let leaves_for_unknown = leaves_for_unknown || undecoded.is_some();
        Some(CallGraphNode { range: function.range.clone(), calls, leaves_for_unknown })
    }
}
