//! Which functions of the C library do nothing but read and write the memory that their arguments name.

use super::arguments::{self, Pointee};
use super::formatted::Formatted;
use super::scanned::Scanned;

/// A memory or string function: given its arguments, the bytes that a call of it touches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryFunction {
    pub(super) shape: Shape,
    /// How many bytes a character has.
    pub(super) unit: u64,
}

/// What a function does with its arguments; `n` counts characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shape {
    /// `memcpy(to, from, n)`
    Copy,
    /// Rust's `copy_from_slice(to, n, from, n)`
    CopySlice,
    /// `bcopy(from, to, n)`
    CopyFrom,
    /// `memccpy(to, from, c, n)`
    CopyUpTo,
    /// `memset(to, c, n)`
    Fill,
    /// `bzero(to, n)`
    Clear,
    /// `memcmp(a, b, n)`
    Compare,
    /// `memchr(from, c, n)`
    Find,
    /// `memrchr(from, c, n)`
    FindLast,
    /// `strchr(s, c)`
    FindInString,
    /// `rawmemchr(from, c)`
    FindForSure,
    /// `strlen(s)`, `strdup(s)`
    ReadString,
    /// `strnlen(s, n)`, `strndup(s, n)`
    ReadAtMost,
    /// `strcpy(to, s)`
    CopyString,
    /// `strncpy(to, s, n)`
    CopyPadded,
    /// `strcat(to, s)`
    Append,
    /// `strncat(to, s, n)`
    AppendAtMost,
    /// `strcmp(a, b)`
    CompareStrings,
    /// `strncmp(a, b, n)`
    CompareAtMost,
    /// `strstr(a, b)`
    ReadBoth,
    /// `strncasecmp(a, b, n)`
    ReadBothAtMost,
    /// `strtol(s, &end, base)`: the string, and where the end is put, unless that is null.
    ReadNumber,
    /// `fwrite(from, size, n, stream)`
    Put,
    /// `fread(to, size, n, stream)`
    Get,
    /// `fgets(to, n, stream)`
    GetLine,
    /// `getline(&to, &n, stream)`, `getdelim(&to, &n, c, stream)`: the block that is there is written, or replaced.
    GetDelimited,
    /// `std::__ostream_insert(stream, from, n)`
    Insert,
    /// `qsort(base, n, size, compare)`
    Sort,
    /// `sincos(x, &sine, &cosine)`, of numbers of so many bytes
    WriteBoth(u64),
    /// `__atomic_load_16(a)`
    AtomicLoad,
    /// `__atomic_store_16(a, …)`
    AtomicStore,
    /// `__atomic_fetch_add_16(a, …)`
    AtomicUpdate,
    /// `__atomic_compare_exchange_16(a, &expected, …)`
    AtomicExchange,
    /// `printf(format, …)` and its kin
    Print(Formatted),
    /// `sscanf(s, format, …)` and its kin
    Scan(Scanned),
    /// Each pointer names memory of its own: `gmtime_r(&time, &date)`
    Pointees(&'static [Pointee]),
}

/// Names without a leading `w`, `__` or trailing `_chk`, of characters of one byte.
const BYTES: &[(&str, Shape)] = &[
    ("memcpy", Shape::Copy),
    ("memmove", Shape::Copy),
    ("mempcpy", Shape::Copy),
    ("bcopy", Shape::CopyFrom),
    ("memccpy", Shape::CopyUpTo),
    ("memset", Shape::Fill),
    ("bzero", Shape::Clear),
    ("explicit_bzero", Shape::Clear),
    ("memcmp", Shape::Compare),
    ("bcmp", Shape::Compare),
    ("memcmpeq", Shape::Compare),
    ("memchr", Shape::Find),
    ("memrchr", Shape::FindLast),
    ("rawmemchr", Shape::FindForSure),
    ("strlen", Shape::ReadString),
    ("strnlen", Shape::ReadAtMost),
    ("strcpy", Shape::CopyString),
    ("stpcpy", Shape::CopyString),
    ("strncpy", Shape::CopyPadded),
    ("stpncpy", Shape::CopyPadded),
    ("strcat", Shape::Append),
    ("strncat", Shape::AppendAtMost),
    ("strcmp", Shape::CompareStrings),
    ("strncmp", Shape::CompareAtMost),
    ("strchr", Shape::FindInString),
    ("strchrnul", Shape::FindInString),
    ("index", Shape::FindInString),
    ("strrchr", Shape::ReadString),
    ("rindex", Shape::ReadString),
    ("strdup", Shape::ReadString),
    ("strndup", Shape::ReadAtMost),
    ("strstr", Shape::ReadBoth),
    ("strspn", Shape::ReadBoth),
    ("strcspn", Shape::ReadBoth),
    ("strpbrk", Shape::ReadBoth),
    ("strcasecmp", Shape::ReadBoth),
    ("strcasecmp_l", Shape::ReadBoth),
    ("strncasecmp", Shape::ReadBothAtMost),
    ("strncasecmp_l", Shape::ReadBothAtMost),
    ("sincos", Shape::WriteBoth(8)),
    ("sincosf", Shape::WriteBoth(4)),
    ("atomic_load_16", Shape::AtomicLoad),
    ("atomic_store_16", Shape::AtomicStore),
    ("atomic_exchange_16", Shape::AtomicUpdate),
    ("atomic_compare_exchange_16", Shape::AtomicExchange),
    ("atomic_test_and_set_16", Shape::AtomicUpdate),
    ("atomic_fetch_add_16", Shape::AtomicUpdate),
    ("atomic_fetch_sub_16", Shape::AtomicUpdate),
    ("atomic_fetch_and_16", Shape::AtomicUpdate),
    ("atomic_fetch_or_16", Shape::AtomicUpdate),
    ("atomic_fetch_xor_16", Shape::AtomicUpdate),
    ("atomic_fetch_nand_16", Shape::AtomicUpdate),
    ("atomic_add_fetch_16", Shape::AtomicUpdate),
    ("atomic_sub_fetch_16", Shape::AtomicUpdate),
    ("atomic_and_fetch_16", Shape::AtomicUpdate),
    ("atomic_or_fetch_16", Shape::AtomicUpdate),
    ("atomic_xor_fetch_16", Shape::AtomicUpdate),
    ("atomic_nand_fetch_16", Shape::AtomicUpdate),
    ("atoi", Shape::ReadString),
    ("atol", Shape::ReadString),
    ("atoll", Shape::ReadString),
    ("atof", Shape::ReadString),
    ("strtol", Shape::ReadNumber),
    ("strtoll", Shape::ReadNumber),
    ("strtoul", Shape::ReadNumber),
    ("strtoull", Shape::ReadNumber),
    ("strtod", Shape::ReadNumber),
    ("strtof", Shape::ReadNumber),
    ("puts", Shape::ReadString),
    ("fputs", Shape::ReadString),
    ("fwrite", Shape::Put),
    ("fread", Shape::Get),
    ("fgets", Shape::GetLine),
    ("getline", Shape::GetDelimited),
    ("getdelim", Shape::GetDelimited),
    ("qsort", Shape::Sort),
    ("_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l", Shape::Insert),
];

/// The same of wide characters.
const WIDE: &[(&str, Shape)] = &[
    ("wmemcpy", Shape::Copy),
    ("wmemmove", Shape::Copy),
    ("wmempcpy", Shape::Copy),
    ("wmemset", Shape::Fill),
    ("wmemcmp", Shape::Compare),
    ("wmemchr", Shape::Find),
    ("wcslen", Shape::ReadString),
    ("wcsnlen", Shape::ReadAtMost),
    ("wcscpy", Shape::CopyString),
    ("wcpcpy", Shape::CopyString),
    ("wcsncpy", Shape::CopyPadded),
    ("wcpncpy", Shape::CopyPadded),
    ("wcscat", Shape::Append),
    ("wcsncat", Shape::AppendAtMost),
    ("wcscmp", Shape::CompareStrings),
    ("wcsncmp", Shape::CompareAtMost),
    ("wcschr", Shape::FindInString),
    ("wcsrchr", Shape::ReadString),
    ("wcsdup", Shape::ReadString),
];

/// The size of the C library's wide character.
const WIDE_UNIT: u64 = 4;

impl MemoryFunction {
    /// What copies one slice of bytes to another in Rust's standard library.
    pub(crate) const COPY_SLICE: Self = Self { shape: Shape::CopySlice, unit: 1 };

    /// The function that is called by this name, `__memcpy_chk` and the like included.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if let Some(formatted) = Formatted::named(name) {
            return Some(Self { shape: Shape::Print(formatted), unit: 1 });
        }
        let scanned = Scanned::named(name).map(Shape::Scan);
        if let Some(shape) = scanned.or_else(|| arguments::named(name).map(Shape::Pointees)) {
            return Some(Self { shape, unit: 1 });
        }
        let plain = name.strip_prefix("__").unwrap_or(name);
        let plain = plain.strip_suffix("_chk").unwrap_or(plain);
        let tables = [(BYTES, 1), (WIDE, WIDE_UNIT)];
        tables.into_iter().find_map(|(table, unit)| {
            let (_, shape) = table.iter().find(|(known, _)| *known == plain)?;
            Some(Self { shape: *shape, unit })
        })
    }

    /// Whether others find what it does in the first place that it touches done or not done, and never half done.
    pub(crate) const fn is_indivisible(self) -> bool {
        use Shape::{AtomicExchange, AtomicLoad, AtomicStore, AtomicUpdate};
        matches!(self.shape, AtomicLoad | AtomicStore | AtomicUpdate | AtomicExchange)
    }
}
