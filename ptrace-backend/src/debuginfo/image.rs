//! One executable or shared library.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use object::{Object, ObjectKind};

use super::demangle::{demangle, without_crate};
use super::dwarf::cfi::Cfi;
use super::dwarf::inlined::{self, Instance};
use super::dwarf::sections::Dwarf;
use super::dwarf::source_unit::{Language, SourceUnit};
use super::dwarf::variables::Variables;
use super::dwarf::{die, lines};
use super::elf::debug_files::DebugFiles;
use super::elf::error::ImageError;
use super::elf::file::{CodeSection, ElfBytes, ThreadLocalStorage};
use super::elf::functions::{Function, Functions};
use super::elf::gaps::gaps;
use super::elf::imports::Imports;
use super::elf::symbols::{Symbol, SymbolKind, Symbols};
use super::entries::allocation_type::{self, AllocationType};
use super::entries::index::Index;
use super::entries::info::Info;
use super::extent::extent;
use super::source::{self, SourceFrame};
use super::user::files::is_user_file;

/// An ELF file, read once. Everything derived from it is computed when it is first asked for, and kept.
///
/// Fields are dropped in the order of their declaration: what borrows from the file's bytes stands before them.
pub struct Image {
    build_id: String,
    is_pie: bool,
    code: Vec<Range<u64>>,
    symbols: OnceLock<Symbols>,
    functions: OnceLock<Functions>,
    gaps: OnceLock<Vec<Range<u64>>>,
    imports: OnceLock<Imports>,
    variables: OnceLock<Option<Variables>>,
    sources: OnceLock<Vec<SourceUnit>>,
    is_rust: OnceLock<bool>,
    has_atomic_types: OnceLock<bool>,
    has_debug_lines: OnceLock<bool>,
    inspection: Index,
    dwarf: OnceLock<Option<Dwarf>>,
    cfi: Cfi,
    files: DebugFiles,
}

impl Image {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// When it cannot be read, or is no complete x86-64 ELF file.
    pub fn open(path: &Path) -> Result<Arc<Self>, ImageError> {
        Self::read(path, true)
    }

    /// The same of a library of the system, of which symbols are enough: its debug information is large, and need not be installed.
    pub(crate) fn open_for_symbols(path: &Path) -> Result<Arc<Self>, ImageError> {
        Self::read(path, false)
    }

    fn read(path: &Path, has_dwarf: bool) -> Result<Arc<Self>, ImageError> {
        let files = DebugFiles::read(path)?;
        let elf = files.own();
        let build_id = elf.build_id().unwrap_or_else(|| format!("content-{:016x}", elf.content_digest()));
        let code = elf.code().iter().map(CodeSection::range).collect();
        Ok(Arc::new(Self {
            build_id,
            is_pie: elf.file().kind() == ObjectKind::Dynamic,
            code,
            symbols: OnceLock::new(),
            functions: OnceLock::new(),
            gaps: OnceLock::new(),
            imports: OnceLock::new(),
            variables: OnceLock::new(),
            sources: OnceLock::new(),
            is_rust: OnceLock::new(),
            has_atomic_types: OnceLock::new(),
            has_debug_lines: OnceLock::new(),
            inspection: Index::default(),
            dwarf: if has_dwarf { OnceLock::new() } else { OnceLock::from(None) },
            cfi: Cfi::new(elf),
            files,
        }))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.files.path()
    }

    /// Identifier that distinguishes this build from every other: the linker's build id, or a digest of the file
    /// (`content-…`).
    #[must_use]
    pub fn build_id(&self) -> &str {
        &self.build_id
    }

    /// Whether it can be loaded anywhere.
    #[must_use]
    pub fn is_position_independent(&self) -> bool {
        self.is_pie
    }

    /// The static address of its first instruction.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.elf().file().entry()
    }

    /// The static addresses that it occupies once loaded.
    #[must_use]
    pub fn extent(&self) -> Range<u64> {
        self.elf().extent()
    }

    /// The sections that hold instructions.
    #[must_use]
    pub fn text(&self) -> Vec<CodeSection<'_>> {
        self.elf().code()
    }

    /// Whether a static address is in a section of instructions.
    #[must_use]
    pub fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|range| range.contains(&address))
    }

    /// The static address of a symbol: of several versions the default one, of several symbols the most visible one.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<u64> {
        self.symbol_table().named(name).map(|symbol| symbol.address)
    }

    /// Every defined symbol, local ones and every version too, by address.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol<'_>> {
        self.symbol_table().all().iter().copied()
    }

    /// Every defined symbol whose name satisfies `wanted`: every version of `pthread_create`, for instance.
    pub fn symbols_where(&self, wanted: impl Fn(&str) -> bool) -> Vec<Symbol<'_>> {
        self.symbols().filter(|symbol| wanted(symbol.name)).collect()
    }

    /// The function that holds a static address.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<Function<'_>> {
        self.function_table().at(address).cloned()
    }

    /// All code of the function that holds a static address: compilers move what seldom runs away from the rest, which only
    /// debug information tells.
    #[must_use]
    pub fn function_parts(&self, address: u64) -> Vec<Range<u64>> {
        let parts = self.info().map(|info| info.function_parts(address)).unwrap_or_default();
        if parts.is_empty() {
            return self.function_at(address).map(|function| function.range).into_iter().collect();
        }
        parts
    }

    /// Every function, by address: those with a symbol, and those that only the unwinding table knows.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        self.function_table().all().iter().cloned()
    }

    /// Code that is in none of its functions, sorted and disjoint; data may lie in it.
    pub(crate) fn gaps(&self) -> &[Range<u64>] {
        let find = || gaps(self.function_table().all(), self.symbol_table().all(), &self.text());
        self.gaps.get_or_init(find)
    }

    /// The frames of source code at a static address, innermost inlined call first; never empty. For a caller, ask for
    /// the address before the one that it returns to.
    #[must_use]
    pub fn frames(&self, address: u64) -> Vec<SourceFrame> {
        let unnamed = |has_line| self.location(address, has_line);
        let found = self.dwarf().map(|dwarf| source::frames(dwarf, address, &unnamed)).unwrap_or_default();
        if found.is_empty() {
            return vec![SourceFrame { function: unnamed(false), file: None, line: None, column: None }];
        }
        found
    }

    /// The words for a static address in the image's data: `counter`, `queue.head`, `slots[3].next`.
    #[must_use]
    pub fn data_at(&self, address: u64) -> Option<String> {
        let known =
            self.dwarf().zip(self.variables()).and_then(|(dwarf, variables)| variables.at(dwarf, address));
        known.or_else(|| {
            let symbol = self.symbol_table().object_at(address)?;
            let full = demangle(symbol.name);
            let name = if self.is_rust() { without_crate(&full) } else { &full };
            let offset = address - symbol.address;
            Some(if offset == 0 { name.to_owned() } else { format!("{name}+{offset:#x}") })
        })
    }

    /// The range of static addresses of the variable that a static address is in; `None` if no symbol tells.
    #[must_use]
    pub fn variable(&self, address: u64) -> Option<Range<u64>> {
        self.symbol_table().object_at(address).map(Symbol::range)
    }

    /// The words for these bytes of the image's data.
    #[must_use]
    pub fn data_in(&self, bytes: &Range<u64>) -> Option<String> {
        extent(bytes, |address| self.data_at(address))
    }

    /// A static address where neither debug information nor a symbol tells more: `libfoo.so+0x1234`.
    pub(crate) fn in_file(&self, address: u64) -> String {
        let path = self.path();
        let file = path.file_name().unwrap_or(path.as_os_str());
        format!("{}+{address:#x}", file.to_string_lossy())
    }

    /// Type of the contents of a block that a library's function has allocated (`Arc::new`): the user's own code calls
    /// that function at this static address, or the address is in the function.
    #[must_use]
    pub fn allocation_type_at(&self, address: u64) -> Option<AllocationType> {
        allocation_type::allocation_type_at(self.info()?, address)
    }

    /// The words for what these bytes of such a block are.
    #[must_use]
    pub fn part_of(&self, allocation: &AllocationType, bytes: Range<u64>) -> Option<String> {
        let dwarf = self.dwarf()?;
        let whole = allocation.words(dwarf, bytes.clone())?;
        let words = |byte: u64| allocation.words(dwarf, byte..byte + 1);
        if words(bytes.start).as_ref() == Some(&whole) { extent(&bytes, words) } else { Some(whole) }
    }

    /// Whether the variable at a static address is of an atomic type; `None` if no variable is known there.
    #[must_use]
    pub fn is_atomic_data(&self, address: u64) -> Option<bool> {
        self.dwarf().zip(self.variables()).and_then(|(dwarf, variables)| variables.is_atomic(dwarf, address))
    }

    /// Whether its source has atomic types of C, whose accesses no function tells of.
    #[must_use]
    pub fn has_atomic_types(&self) -> bool {
        *self.has_atomic_types.get_or_init(|| {
            let mut found = false;
            for unit in self.dwarf().map(Dwarf::units).unwrap_or_default() {
                die::visit(unit, &[gimli::DW_TAG_atomic_type], &mut |_| found = true);
            }
            found
        })
    }

    /// The imported function (or variable) behind a linkage stub, or behind a slot that the dynamic linker fills.
    #[must_use]
    pub fn plt_target(&self, address: u64) -> Option<&str> {
        self.import_table().at(address)
    }

    /// Every slot that the dynamic linker fills with the address of a named symbol.
    pub fn import_slots(&self) -> impl Iterator<Item = (u64, &str)> {
        self.import_table().slots().map(|(slot, name): (u64, &str)| (slot, name))
    }

    /// Whether a slot is a pointer among the image's data, and none that linkage alone uses.
    pub(crate) fn is_import_pointer(&self, slot: u64) -> bool {
        self.import_table().is_pointer(slot)
    }

    /// The stubs through which a named symbol is called.
    pub(crate) fn import_stubs(&self, name: &str) -> impl Iterator<Item = u64> {
        self.import_table().stubs_of(name)
    }

    /// Whether the implementation of a function is chosen when the image is loaded.
    pub(crate) fn is_chosen(&self, name: &str) -> bool {
        self.symbol_table().named(name).is_some_and(|symbol| symbol.kind == SymbolKind::Chooser)
    }

    /// Every copy of the functions whose name (as a person wrote it) is wanted: inlined ones, and the functions
    /// themselves. One of `words` is in each such name.
    pub fn inlined(&self, words: &[&str], wanted: &dyn Fn(&str) -> bool) -> Vec<Instance> {
        let is_code = |address| self.is_code(address);
        let mut found =
            self.dwarf().map(|dwarf| inlined::instances(dwarf, &is_code, words, wanted)).unwrap_or_default();
        for function in self.functions() {
            let Some(name) = function.name().filter(|name| wanted(name)) else { continue };
            let known = found
                .iter()
                .any(|i| !i.is_inlined && i.ranges.iter().any(|r| r.start == function.range.start));
            if !known {
                found.push(Instance {
                    name: name.into(),
                    ranges: [function.range].into_iter().collect(),
                    is_inlined: false,
                });
            }
        }
        found
    }

    /// Every file that the line tables list, sorted.
    #[must_use]
    pub fn source_files(&self) -> Vec<PathBuf> {
        self.dwarf().map(lines::source_files).unwrap_or_default()
    }

    /// The compilation units that the debug information tells of.
    #[must_use]
    pub fn source_units(&self) -> &[SourceUnit] {
        self.sources.get_or_init(|| {
            let units =
                |dwarf: &Dwarf| dwarf.units().iter().map(|unit| SourceUnit::new(dwarf, unit)).collect();
            self.dwarf().map(units).unwrap_or_default()
        })
    }

    /// Whether lines are known for some of the user's own code.
    #[must_use]
    pub fn has_debug_lines(&self) -> bool {
        *self.has_debug_lines.get_or_init(|| self.source_units().iter().any(|unit| is_user_file(&unit.file)))
    }

    /// Whether Rust code is part of it.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        *self.is_rust.get_or_init(|| {
            self.source_units().iter().any(|unit| unit.language == Language::Rust)
                || self.symbols().any(|symbol| symbol.name.contains("rust_begin_unwind"))
        })
    }

    /// The dynamic linker that it asks for.
    pub(crate) fn interpreter(&self) -> Option<PathBuf> {
        self.elf().interpreter()
    }

    /// Whether its dynamic section marks it as a program, which a static one has too if it can be loaded anywhere.
    pub(crate) fn says_it_is_a_program(&self) -> bool {
        self.elf().is_marked_as_program()
    }

    /// Whether it expects another image to define a symbol.
    pub(crate) fn imports(&self, name: &str) -> bool {
        self.elf().imports(name)
    }

    /// `name+0x12` (or `name`, where a line tells the rest), or `libfoo.so+0x1234` where no function is known.
    fn location(&self, address: u64, has_line: bool) -> String {
        let function = self.function_at(address);
        if let Some((function, name)) =
            function.as_ref().and_then(|function| Some((function, function.name()?)))
        {
            let offset = address - function.range.start;
            return if offset == 0 || has_line { name } else { format!("{name}+{offset:#x}") };
        }
        match self.plt_target(address) {
            Some(import) => format!("{import}@plt"),
            None => self.in_file(address),
        }
    }

    /// The five bytes of code in front of a static address: as many as a call takes.
    pub(super) fn code_before(&self, address: u64) -> Option<[u8; 5]> {
        let text = self.text();
        let section = text.iter().find(|section| section.range().contains(&address.saturating_sub(1)))?;
        let end = usize::try_from(address - section.address).ok()?;
        section.bytes.get(end.checked_sub(5)?..end)?.try_into().ok()
    }

    pub(super) fn is_weak_or_local_symbol(&self, name: &str) -> bool {
        self.symbol_table().named(name).is_some_and(|symbol| symbol.is_weak() || symbol.is_local())
    }

    /// Its debug information, if it has any, with what was found out about that so far.
    pub(super) fn info(&self) -> Option<Info<'_>> {
        Some(Info { files: &self.files, dwarf: self.dwarf()?, index: &self.inspection })
    }

    pub(super) fn thread_local_storage(&self) -> Option<ThreadLocalStorage> {
        self.elf().thread_local_storage()
    }

    /// Whether it is a program and no library, even one that can be run as a program.
    pub(super) fn is_program(&self) -> bool {
        !self.is_pie || self.says_it_is_a_program()
    }

    pub(super) fn cfi(&self) -> &Cfi {
        &self.cfi
    }

    pub(super) fn elf(&self) -> &ElfBytes {
        self.files.own()
    }

    pub(super) fn dwarf(&self) -> Option<&Dwarf> {
        let find = || Dwarf::new(self.elf()).or_else(|| Dwarf::new(self.files.companion()?));
        self.dwarf.get_or_init(find).as_ref()
    }

    fn symbol_table(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::new(self.elf(), self.files.companion()))
    }

    fn function_table(&self) -> &Functions {
        self.functions
            .get_or_init(|| Functions::new(self.symbol_table(), &self.cfi.functions(), &self.elf().code()))
    }

    fn import_table(&self) -> &Imports {
        self.imports.get_or_init(|| Imports::new(self.elf(), self.symbol_table()))
    }

    fn variables(&self) -> Option<&Variables> {
        self.variables.get_or_init(|| self.dwarf().map(Variables::new)).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::Image;

    #[test]
    fn images_are_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Image>();
    }
}
