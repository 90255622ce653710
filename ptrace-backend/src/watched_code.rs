//! The code of a module that is watched: where it is, and the instructions of it at which threads may have to stop.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::attention;
use crate::debuginfo::{self, contains, overlaps};
use crate::error::LaunchError;
use crate::instructions::{
    Candidate, FunctionCode, FunctionShape, Target, TrappedInstruction, TrappedInstructionKind, reached,
    reached_within, scan,
};
use crate::layout::functions::TrappedFunction;
use crate::layout::memory_calls::MemoryFunctions;
use crate::layout::module::Module;
use crate::layout::survey::{SearchedCode, Survey};
use crate::libraries::reach::ReachableCode;
use crate::open_code::{FunctionsByPage, is_all_functions};
use crate::os::memory;
use crate::target::startup::Startup;

/// The function of Rust's standard library that a symbol names.
pub(crate) type RustFunction<'f> = &'f dyn Fn(&str) -> Option<TrappedFunction>;

/// The code of a module that is watched.
pub(crate) struct Code<'s>(Cow<'s, SearchedCode>);

impl<'s> Code<'s> {
    pub(crate) fn of(index: usize, module: &Module, survey: &'s Survey, reach: &ReachableCode) -> Self {
        if module.is_system {
            let reached = reach.open.get(&index).cloned().unwrap_or_default();
            return Self(Cow::Owned(SearchedCode { accesses: reached.clone(), calls: reached }));
        }
        Self(Cow::Borrowed(&survey.own_code[index]))
    }

    /// The code in which memory accesses are looked for, at run-time addresses.
    pub(crate) fn at_run_time(&self, module: &Module) -> impl Iterator<Item = Range<u64>> {
        let bias = module.mapped.bias;
        self.0.accesses.iter().map(move |range| range.start + bias..range.end + bias)
    }
}

/// Fewer bytes of code than these have hardly more than one candidate.
const BYTES_EACH: u64 = 8;

/// Random bytes are hardly ever so many bytes of instructions that end with a jump or a return, with nothing odd among them: one in five is.
const SHORTEST: usize = 64;

/// The length in bytes from which on no more is looked at of what looks like code.
const ENOUGH: usize = 4096;

/// The instructions of a module's watched code that matter, and where they lead.
#[derive(Default)]
pub(crate) struct Watched {
    /// Accesses of memory and calls of memory functions.
    pub(crate) candidates: Vec<Candidate>,
    /// Fences, and switches of the stack.
    pub(crate) others: Vec<TrappedInstruction>,
    /// Slots that addresses of other modules are loaded from that may get anywhere, at run-time addresses.
    pub(crate) escaping_slots: FxHashSet<u64>,
    /// Targets of jumps and calls of its code.
    pub(crate) branch_targets: FxHashSet<u64>,
    /// An address that threads may come to and where no instruction is known.
    pub(crate) undecoded: Option<u64>,
}

impl Watched {
    /// The memory accesses of a module's watched code with its calls of memory functions, and instructions that are handled for another
    /// reason.
    pub(crate) fn of(
        startup: &Startup,
        module: &Module,
        code: &Code<'_>,
        (functions, rust_function): (&MemoryFunctions, RustFunction<'_>),
        open: Option<&mut BTreeSet<u64>>,
    ) -> Result<Self, LaunchError> {
        let units = &code.0.calls;
        if units.is_empty() {
            // Without section headers nothing says what is code.
            let is_unknown = !module.is_system && module.image.text().is_empty();
            return Ok(Self { undecoded: is_unknown.then(|| module.image.entry()), ..Self::default() });
        }
        // Room that is not used costs nothing; a list of millions that grows is copied again and again.
        let watched: u64 = units.iter().map(|range| range.end - range.start).sum();
        let room = if open.is_some() { 0 } else { watched / BYTES_EACH };
        let mut found = Self { candidates: Vec::with_capacity(room as usize), ..Self::default() };
        let decoding = Decoding::of(module);
        let bias = module.mapped.bias;
        let gaps = module.image.gaps();
        let mut entries: BTreeSet<u64> = decoding.labels_in(gaps);
        let mut pointers: BTreeSet<u64> = BTreeSet::new();
        let inside_code = |scanned: &FunctionCode| -> Vec<u64> {
            let addresses = scanned.addresses.iter().map(|address| address.wrapping_sub(bias));
            addresses.filter(|&address| decoding.is_inside(address)).collect()
        };
        // At its entry the program hands `main` to the C library.
        let entry = module.image.entry();
        entries.extend(Some(entry).filter(|&entry| contains(gaps, entry)));
        let start = module.image.function_at(entry);
        pointers.extend(start.and_then(|start| decoding.whole(&start.range)).iter().flat_map(inside_code));
        // Control tells what is an instruction there: it does not say where it ends, or holds data, or is in no function.
        let mut parts: Vec<Range<u64>> = Vec::new();
        let mut pages = open.map(|open| FunctionsByPage::new(module, open));
        loop {
            let taken = match &mut pages {
                Some(pages) => pages.take(),
                None => module.image.functions().collect(),
            };
            if taken.is_empty() {
                break;
            }
            for function in taken {
                startup.goes_on()?;
                // One operation as a whole, by the trap at its entry.
                if function.symbol.is_some_and(|name| rust_function(name).is_some()) {
                    continue;
                }
                let (range, is_open) = (function.range, function.is_open);
                if !overlaps(units, &range) {
                    continue;
                }
                let Some(scanned) = (!is_open).then(|| decoding.whole(&range)).flatten() else {
                    entries.insert(range.start);
                    parts.push(range);
                    continue;
                };
                pointers.extend(inside_code(&scanned));
                if let Some(pages) = &mut pages {
                    pages.lead_to(scanned.branch_targets.iter().copied());
                }
                found.add(startup, module, code, functions, scanned);
            }
            if pages.is_none() {
                break;
            }
        }
        let is_open = |gap: &&Range<u64>| pages.as_ref().is_none_or(|pages| pages.is_open(gap));
        parts.extend(gaps.iter().filter(is_open).filter(|gap| overlaps(units, gap)).cloned());
        parts.sort_unstable_by_key(|part| part.start);
        if !parts.is_empty() {
            entries.extend(pointers_into(startup, module, &module.image.constructors(), &parts));
            pointers.extend(pointers_into(startup, module, &module.image.data(), &parts));
            let follows_pointers = !is_all_functions(module);
            let targets = found.branch_targets.iter().map(|target| target.wrapping_sub(bias));
            entries.extend(targets.filter(|&target| contains(&parts, target)));
            let scanned = decoding.parts(startup, &parts, entries, pointers, follows_pointers)?;
            for scanned in scanned {
                found.add(startup, module, code, functions, scanned);
            }
        }
        if !module.is_system {
            found.undecoded = found.undecoded.or(decoding.code_in_variables(&found.branch_targets));
        }
        if !found.candidates.is_sorted_by_key(|candidate| candidate.addr) {
            found.candidates.sort_by_key(|candidate| candidate.addr);
        }
        found.candidates.dedup_by_key(|candidate| candidate.addr);
        Ok(found)
    }

    /// Adds what was found in one function.
    fn add(
        &mut self,
        startup: &Startup,
        module: &Module,
        Code(code): &Code<'_>,
        functions: &MemoryFunctions,
        scanned: FunctionCode,
    ) {
        let SearchedCode { accesses: user, calls: units } = &**code;
        let is_in = |addr: u64, code: &[Range<u64>]| contains(code, addr.wrapping_sub(module.mapped.bias));
        let is_trapped = |trapped: &&TrappedInstruction| {
            matches!(trapped.kind, TrappedInstructionKind::Fence | TrappedInstructionKind::StackSwitch)
                && is_in(trapped.addr, user)
        };
        self.others.extend(scanned.trapped_instructions.iter().filter(is_trapped));
        // Calls through registers of this code are watched, so that an address which it does no more with than to call it needs no trap.
        let mut calls =
            scanned.transfers.iter().filter(|transfer| matches!(transfer.target, Target::Register(_)));
        let calls_all = calls.all(|transfer| is_in(transfer.addr, units));
        let slots = if calls_all { &scanned.escaping_slots } else { &scanned.loaded_slots };
        self.escaping_slots.extend(slots.iter().copied());
        self.branch_targets.extend(scanned.branch_targets.iter().copied());
        let undecoded = scanned.undecoded.filter(|&address| is_in(address, user));
        self.undecoded = self.undecoded.or(undecoded);
        let calls = functions.calls(startup.tid, module, &scanned, |addr| is_in(addr, units));
        let accesses = scanned.candidates.into_iter().filter(|access| is_in(access.addr, user));
        let first = self.candidates.len();
        self.candidates.extend(accesses.chain(calls.into_iter().filter(|call| is_in(call.addr, units))));
        self.candidates[first..].sort_by_key(|candidate| candidate.addr);
    }
}

/// The code of a module, and what is needed to go through it.
struct Decoding<'m> {
    module: &'m Module,
    text: Vec<debuginfo::CodeSection<'m>>,
    constants: Vec<Range<u64>>,
}

impl<'m> Decoding<'m> {
    fn of(module: &'m Module) -> Self {
        Self { module, text: module.image.text(), constants: module.image.constants() }
    }

    fn is_constant(&self, address: u64) -> bool {
        self.constants.iter().any(|range| range.contains(&address.wrapping_sub(self.module.mapped.bias)))
    }

    fn code(&self, range: &Range<u64>) -> Option<&'m [u8]> {
        self.text.iter().find_map(|section| section.part(range))
    }

    /// The instructions of a function; `None` where not all of it is instructions one behind the other.
    fn whole(&self, range: &Range<u64>) -> Option<FunctionCode> {
        let code = self.code(range).unwrap_or_default();
        let start = range.start + self.module.mapped.bias;
        let scanned = scan(code, start, &FunctionShape::of(code, start), |address| self.is_constant(address));
        (scanned.undecoded.is_none() && !scanned.is_out_of_step).then_some(scanned)
    }

    /// Whether a static address is in code, and not where a function begins.
    fn is_inside(&self, address: u64) -> bool {
        self.text.iter().any(|section| section.range().contains(&address))
            && self.module.image.function_at(address).is_none_or(|function| function.range.start != address)
    }

    /// The beginning of a variable among the code that holds instructions: one of these jumps and calls leads there, or it is
    /// instructions from its first byte to its last one.
    fn code_in_variables(&self, targets: &FxHashSet<u64>) -> Option<u64> {
        let bias = self.module.mapped.bias;
        let variables =
            self.module.image.symbols().filter(|symbol| symbol.kind == debuginfo::SymbolKind::Object);
        let is_code = |range: &Range<u64>| {
            attention::round();
            let Some(bytes) = self.code(range).filter(|bytes| !bytes.is_empty()) else { return false };
            let found = reached(bytes, range.start, [range.start]);
            let is_whole = found.parts.first().is_some_and(|part| *part == (0..bytes.len()));
            let leads_there = || range.clone().any(|address| targets.contains(&address.wrapping_add(bias)));
            is_whole && !found.strays && found.undecoded.is_none() || leads_there()
        };
        variables.map(|symbol| symbol.range()).find(is_code).map(|range| range.start)
    }

    /// The beginnings of what other modules may call by a name that says no more than an address.
    fn labels_in(&self, gaps: &[Range<u64>]) -> BTreeSet<u64> {
        let is_label = |kind| kind == debuginfo::SymbolKind::Label;
        let labels = self.module.image.symbols().filter(|symbol| is_label(symbol.kind) && !symbol.is_local());
        labels.map(|label| label.address).filter(|&address| contains(gaps, address)).collect()
    }

    /// The instructions in these sorted parts that control reaches from these static addresses, whichever of the parts leads to another. Bytes
    /// to which only pointers lead may be data: they are taken for code where they look like that, and are many, or most code is in no function; they are told
    /// as undecoded where they are few, and may be one of the tables of assembly.
    fn parts(
        &self,
        startup: &Startup,
        parts: &[Range<u64>],
        mut entries: BTreeSet<u64>,
        mut pointers: BTreeSet<u64>,
        follows_pointers: bool,
    ) -> Result<Vec<FunctionCode>, LaunchError> {
        let bias = self.module.mapped.bias;
        let mut tables: BTreeSet<u64> = BTreeSet::new();
        loop {
            let known = (entries.len(), pointers.len());
            let mut all = Vec::with_capacity(parts.len());
            for range in parts {
                startup.goes_on()?;
                let Some(code) = self.code(range) else { continue };
                let start = range.start + bias;
                let inside = entries.range(range.clone()).map(|entry| entry + bias);
                let found = reached(code, start, inside);
                tables.extend(found.tables.iter().map(|table| table - bias));
                let shape = FunctionShape::of(code, start);
                let is_reached = |pointer: u64| {
                    let offset = (pointer - range.start) as usize;
                    found.parts.iter().any(|part| part.contains(&offset))
                };
                let beyond = pointers
                    .range(range.clone())
                    .filter(|pointer| !tables.contains(pointer))
                    .find(|&&pointer| !is_reached(pointer) && self.likely_code(parts, pointer).is_some());
                let each = found.parts.iter().map(|part| {
                    let start = start + part.start as u64;
                    scan(&code[part.clone()], start, &shape, |address| self.is_constant(address))
                });
                let mut scanned = FunctionCode::of_parts(each);
                let beyond = beyond.map(|pointer| pointer + bias);
                scanned.undecoded = scanned.undecoded.or(found.undecoded).or(beyond);
                let own =
                    |address: &u64| Some(address.wrapping_sub(bias)).filter(|&own| contains(parts, own));
                entries.extend(scanned.branch_targets.iter().filter_map(own));
                pointers.extend(scanned.addresses.iter().filter_map(own));
                all.push(scanned);
            }
            pointers.retain(|pointer| !tables.contains(pointer));
            let shortest = if follows_pointers { 0 } else { SHORTEST };
            let is_code =
                |&&pointer: &&u64| self.likely_code(parts, pointer).is_some_and(|len| len >= shortest);
            entries.extend(pointers.iter().filter(is_code));
            if (entries.len(), pointers.len()) == known {
                return Ok(all);
            }
        }
    }

    /// The length in bytes of the code that control would find at a static address in one of these parts; `None`: it is data.
    fn likely_code(&self, parts: &[Range<u64>], address: u64) -> Option<usize> {
        let after = parts.partition_point(|part| part.end <= address);
        let range = parts.get(after).filter(|part| part.contains(&address))?;
        let found = reached_within(self.code(range)?, range.start, [address], ENOUGH);
        let is_in_text = |target: &u64| self.text.iter().any(|section| section.range().contains(target));
        let is_likely = !found.strays && found.leaves_to.iter().all(is_in_text);
        is_likely.then(|| found.parts.iter().map(Range::len).sum())
    }
}

/// The static addresses in these ranges that words of these sections of the module point to.
fn pointers_into(
    startup: &Startup,
    module: &Module,
    sections: &[Range<u64>],
    ranges: &[Range<u64>],
) -> BTreeSet<u64> {
    const WORD: usize = 8;
    const CHUNK: u64 = 1 << 16;
    let bias = module.mapped.bias;
    let mut found = BTreeSet::new();
    if ranges.is_empty() {
        return found;
    }
    let mut bytes = Vec::new();
    for section in sections {
        let first = section.start.next_multiple_of(WORD as u64);
        for start in (first..section.end).step_by(CHUNK as usize) {
            attention::round();
            bytes.resize((section.end - start).min(CHUNK) as usize, 0);
            if !memory::read(startup.tid, start.wrapping_add(bias), &mut bytes) {
                continue;
            }
            let words =
                bytes.chunks_exact(WORD).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
            found.extend(words.map(|word| word.wrapping_sub(bias)).filter(|&word| contains(ranges, word)));
        }
    }
    found
}
