//! Open code: the pages of the program's own code that are decoded before executions begin ([`crate::layout::closed_code`]).

use std::collections::BTreeSet;
use std::ops::Range;

use crate::debuginfo::Function;
use crate::layout::closed_code::{ClosedCode, PAGE, pages};
use crate::layout::module::Module;

/// For so many open pages one more is opened to which their code leads: an execution that takes another way than those before comes to it.
const OPEN_FOR_ONE_MORE: usize = 2;

/// The open pages of those modules whose code is opened page by page.
#[derive(Debug)]
pub(crate) struct OpenCode {
    /// The code of each of these modules at run-time addresses, and the module's place.
    modules: Vec<(usize, Vec<Range<u64>>)>,
    /// The run-time addresses of the open pages.
    pages: BTreeSet<u64>,
}

impl OpenCode {
    /// These pages of the modules whose code can be closed. `None`: they have less than so many bytes of it.
    pub(crate) fn of(modules: &[Module], pages: BTreeSet<u64>, least: u64) -> Option<Self> {
        let own =
            modules.iter().enumerate().filter(|(_, module)| !module.is_system && is_all_functions(module));
        let modules: Vec<_> = own.map(|(place, module)| (place, code(module))).collect();
        let len: u64 = modules.iter().flat_map(|(_, code)| code).map(|range| range.end - range.start).sum();
        (len >= least).then_some(Self { modules, pages })
    }

    /// The open pages, where the code of this module is opened page by page.
    pub(crate) fn of_module(&mut self, module: usize) -> Option<&mut BTreeSet<u64>> {
        self.modules.iter().any(|(place, _)| *place == module).then_some(&mut self.pages)
    }

    pub(crate) fn into_pages(self) -> BTreeSet<u64> {
        self.pages
    }

    /// All other pages of their code.
    pub(crate) fn closed(&self) -> ClosedCode {
        ClosedCode::of(self.modules.iter().flat_map(|(_, code)| code), &self.pages)
    }
}

/// The code of a module at run-time addresses.
fn code(module: &Module) -> Vec<Range<u64>> {
    let at_run_time = |code: Range<u64>| code.start + module.mapped.bias..code.end + module.mapped.bias;
    module.image.text().into_iter().map(|section| at_run_time(section.range())).collect()
}

/// Whether most of its code is in functions. Where control tells what is an instruction, all of it has to be gone through at once.
pub(crate) fn is_all_functions(module: &Module) -> bool {
    let len_of_gaps: u64 = module.image.gaps().iter().map(|gap| gap.end - gap.start).sum();
    let len_of_functions: u64 =
        module.image.functions().map(|function| function.range.end - function.range.start).sum();
    len_of_gaps <= len_of_functions
}

/// The functions of a module, and which of them are in open pages.
pub(crate) struct FunctionsByPage<'m, 'p> {
    functions: Vec<Function<'m>>,
    /// The largest end among the functions up to each.
    ends: Vec<u64>,
    is_taken: Vec<bool>,
    bias: u64,
    open: &'p mut BTreeSet<u64>,
    /// Open pages whose functions have not been taken yet.
    waiting: Vec<u64>,
    /// The number of pages that may be opened beyond those that executions have come to.
    more: usize,
    code: Vec<Range<u64>>,
}

impl<'m, 'p> FunctionsByPage<'m, 'p> {
    pub(crate) fn new(module: &'m Module, open: &'p mut BTreeSet<u64>) -> Self {
        let functions: Vec<Function<'m>> = module.image.functions().collect();
        let mut end = 0;
        let ends = functions.iter().map(|function| {
            end = end.max(function.range.end);
            end
        });
        let ends = ends.collect();
        let (waiting, more) = (open.iter().copied().collect(), open.len() / OPEN_FOR_ONE_MORE);
        let (is_taken, bias, code) = (vec![false; functions.len()], module.mapped.bias, code(module));
        Self { functions, ends, is_taken, bias, open, waiting, more, code }
    }

    /// The functions of which something is in open pages and that have not been taken so far.
    pub(crate) fn take(&mut self) -> Vec<Function<'m>> {
        let mut taken = Vec::new();
        for page in std::mem::take(&mut self.waiting) {
            let page = page.wrapping_sub(self.bias)..page.wrapping_sub(self.bias) + PAGE;
            let after = self.functions.partition_point(|function| function.range.start < page.end);
            for at in (0..after).rev().take_while(|&at| self.ends[at] > page.start) {
                let function = &self.functions[at];
                if function.range.end > page.start && !std::mem::replace(&mut self.is_taken[at], true) {
                    taken.push(function.clone());
                }
            }
        }
        taken
    }

    /// Open code leads to these run-time addresses: their pages are opened, as far as there may be more.
    pub(crate) fn lead_to(&mut self, targets: impl Iterator<Item = u64>) {
        for target in targets {
            let is_code = || self.code.iter().any(|code| code.contains(&target));
            for page in pages(&(target..target + 1)) {
                if self.more > 0 && is_code() && self.open.insert(page) {
                    self.more -= 1;
                    self.waiting.push(page);
                }
            }
        }
    }

    /// Whether some of a range of static addresses is in an open page.
    pub(crate) fn is_open(&self, range: &Range<u64>) -> bool {
        pages(&(range.start + self.bias..range.end + self.bias)).any(|page| self.open.contains(&page))
    }
}
