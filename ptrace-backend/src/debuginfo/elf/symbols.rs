//! The symbol tables: `.symtab` and `.dynsym` as one.

use std::ops::Range;

use object::read::elf::{Sym, VersionTable};
use object::{LittleEndian, Object, ObjectSymbol, SymbolIndex, elf};
use rustc_hash::FxHashMap;

use super::file::{ElfBytes, File};
use crate::attention;

/// The kind of thing that a symbol stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A function that chooses the implementation when the image is loaded: the address is that of the chooser.
    Chooser,
    /// A variable.
    Object,
    /// A bare address, as assembly defines them.
    Label,
}

/// The visibility of a symbol to the linker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Binding {
    Global,
    Weak,
    Local,
}

/// A defined symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol<'a> {
    /// The name as the linker knows it, without a version.
    pub name: &'a str,
    /// The static address.
    pub address: u64,
    /// Number of bytes that it covers by its own account; 0 where the compiler gave none.
    pub size: u64,
    /// The kind of thing that it stands for.
    pub kind: SymbolKind,
    /// The version that the symbol belongs to, such as `GLIBC_2.34`.
    pub version: Option<&'a str>,
    /// Whether new programs get this one when they ask for the name without a version.
    pub is_default: bool,
    pub(crate) binding: Binding,
}

impl Symbol<'_> {
    /// The addresses that it covers.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.size)
    }

    /// Whether other images cannot see it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.binding == Binding::Local
    }

    /// Whether another definition may take its place, as for templates that several files instantiate.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.binding == Binding::Weak
    }

    pub(crate) fn is_function(&self) -> bool {
        matches!(self.kind, SymbolKind::Function | SymbolKind::Chooser)
    }

    /// The key by which one of several symbols of one name or one address is preferred: the lowest.
    pub(crate) fn rank(&self) -> (bool, Binding, usize) {
        (!self.is_default, self.binding, self.name.bytes().take_while(|&byte| byte == b'_').count())
    }
}

/// Every defined symbol of an image, each (name, address, version) once.
pub(crate) struct Symbols {
    all: Vec<Symbol<'static>>,
    by_name: FxHashMap<&'static str, u32>,
    /// Variables by address.
    objects: Vec<u32>,
}

impl Symbols {
    /// Collects from the image, and from the file with its debug information where the image has no `.symtab`.
    pub(crate) fn new(main: &ElfBytes, companion: Option<&ElfBytes>) -> Self {
        let mut all = dynamic(main.file());
        let tables = std::iter::once(main).chain(companion);
        let table = tables.map(|elf| elf.file()).find(|file| !file.elf_symbol_table().is_empty());
        all.extend(
            table.into_iter().flat_map(|file| {
                file.symbols().filter_map(|symbol| defined(symbol.elf_symbol(), file, true))
            }),
        );
        all.sort_by(|a, b| {
            attention::round();
            let rest = || (a.rank(), a.name).cmp(&(b.rank(), b.name));
            a.address.cmp(&b.address).then_with(rest)
        });
        // A symbol that both tables have is kept as the dynamic one, which knows its version.
        all.dedup_by(|later, earlier| {
            later.address == earlier.address && later.name == earlier.name && later.version.is_none()
        });
        Self::indexed(all)
    }

    fn indexed(all: Vec<Symbol<'static>>) -> Self {
        let mut by_name: FxHashMap<&'static str, u32> = FxHashMap::default();
        let mut objects = Vec::new();
        for (index, symbol) in (0..).zip(&all) {
            attention::round();
            let best = by_name.entry(symbol.name).or_insert(index);
            if symbol.rank() < all[*best as usize].rank() {
                *best = index;
            }
            if symbol.kind == SymbolKind::Object {
                objects.push(index);
            }
        }
        Self { all, by_name, objects }
    }

    pub(crate) fn all(&self) -> &[Symbol<'static>] {
        &self.all
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Symbol<'static>> {
        self.by_name.get(name).map(|&index| &self.all[index as usize])
    }

    /// The variable that covers an address.
    pub(crate) fn object_at(&self, address: u64) -> Option<&Symbol<'static>> {
        let after = self.objects.partition_point(|&index| self.all[index as usize].address <= address);
        let start = self.all[*self.objects.get(after.checked_sub(1)?)? as usize].address;
        let candidates = self.objects[..after].iter().rev().map(|&index| &self.all[index as usize]);
        candidates
            .take_while(|symbol| symbol.address == start)
            .filter(|s| s.range().contains(&address))
            .min_by_key(|s| s.rank())
    }
}

fn dynamic(file: &File) -> Vec<Symbol<'static>> {
    let table = file.elf_dynamic_symbol_table();
    let versions =
        file.elf_section_table().versions(LittleEndian, file.data()).ok().flatten().unwrap_or_default();
    let symbols = file.dynamic_symbols().filter_map(|symbol| {
        let found = defined(symbol.elf_symbol(), file, false)?;
        let (version, is_default) = version_of(&versions, symbol.index());
        Some(Symbol { version, is_default, ..found })
    });
    if table.is_empty() { Vec::new() } else { symbols.collect() }
}

fn version_of(
    versions: &VersionTable<'static, elf::FileHeader64<LittleEndian>>,
    symbol: SymbolIndex,
) -> (Option<&'static str>, bool) {
    let index = versions.version_index(LittleEndian, symbol);
    let version = versions.version(index.index()).ok().flatten();
    (version.and_then(|version| std::str::from_utf8(version.name()).ok()), !index.is_hidden())
}

fn defined(raw: &'static elf::Sym64<LittleEndian>, file: &File, in_symtab: bool) -> Option<Symbol<'static>> {
    attention::round();
    let table = if in_symtab { file.elf_symbol_table() } else { file.elf_dynamic_symbol_table() };
    let kind = match raw.st_type() {
        elf::STT_FUNC => SymbolKind::Function,
        elf::STT_GNU_IFUNC => SymbolKind::Chooser,
        elf::STT_OBJECT => SymbolKind::Object,
        elf::STT_NOTYPE => SymbolKind::Label,
        _ => return None,
    };
    let binding = match raw.st_bind() {
        elf::STB_LOCAL => Binding::Local,
        elf::STB_WEAK => Binding::Weak,
        _ => Binding::Global,
    };
    let full = std::str::from_utf8(table.symbol_name(LittleEndian, raw).ok()?).ok()?;
    let name = full.split_once('@').map_or(full, |(name, _)| name);
    let address = raw.st_value(LittleEndian);
    let absent = raw.is_undefined(LittleEndian) || name.is_empty() || address == 0;
    let is_default = !full.contains('@') || full.contains("@@");
    (!absent).then(|| Symbol {
        name,
        address,
        size: raw.st_size(LittleEndian),
        kind,
        version: None,
        is_default,
        binding,
    })
}
