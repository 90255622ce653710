//! The functions of the C library that do nothing but read and write the memory that their arguments name.

use super::arguments::{self, Pointee};
use super::formatted::Formatted;
use super::scanned::Scanned;
use super::{cxx_exceptions, cxx_files, cxx_streams};

/// A memory or string function: given its arguments, the bytes that a call of it touches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryFunction {
    pub(super) signature: Signature,
    /// Number of bytes of a character.
    pub(super) unit: u64,
}

/// The arguments of a function, and its effect on the memory that they name; `n` counts characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Signature {
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
    /// `qsort(base, n, size, compare)`, `qsort_r(base, n, size, compare, argument)`
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
const BYTES: &[(&str, Signature)] = &[
    ("memcpy", Signature::Copy),
    ("memmove", Signature::Copy),
    ("mempcpy", Signature::Copy),
    ("bcopy", Signature::CopyFrom),
    ("memccpy", Signature::CopyUpTo),
    ("memset", Signature::Fill),
    ("bzero", Signature::Clear),
    ("explicit_bzero", Signature::Clear),
    ("memcmp", Signature::Compare),
    ("bcmp", Signature::Compare),
    ("memcmpeq", Signature::Compare),
    ("memchr", Signature::Find),
    ("memrchr", Signature::FindLast),
    ("rawmemchr", Signature::FindForSure),
    ("strlen", Signature::ReadString),
    ("strnlen", Signature::ReadAtMost),
    ("strcpy", Signature::CopyString),
    ("stpcpy", Signature::CopyString),
    ("strncpy", Signature::CopyPadded),
    ("stpncpy", Signature::CopyPadded),
    ("strcat", Signature::Append),
    ("strncat", Signature::AppendAtMost),
    ("strcmp", Signature::CompareStrings),
    ("strncmp", Signature::CompareAtMost),
    ("strchr", Signature::FindInString),
    ("strchrnul", Signature::FindInString),
    ("index", Signature::FindInString),
    ("strrchr", Signature::ReadString),
    ("rindex", Signature::ReadString),
    ("strdup", Signature::ReadString),
    ("strndup", Signature::ReadAtMost),
    ("strstr", Signature::ReadBoth),
    ("strspn", Signature::ReadBoth),
    ("strcspn", Signature::ReadBoth),
    ("strpbrk", Signature::ReadBoth),
    ("strcasecmp", Signature::ReadBoth),
    ("strcasecmp_l", Signature::ReadBoth),
    ("strncasecmp", Signature::ReadBothAtMost),
    ("strncasecmp_l", Signature::ReadBothAtMost),
    ("sincos", Signature::WriteBoth(8)),
    ("sincosf", Signature::WriteBoth(4)),
    ("atomic_load_16", Signature::AtomicLoad),
    ("atomic_store_16", Signature::AtomicStore),
    ("atomic_exchange_16", Signature::AtomicUpdate),
    ("atomic_compare_exchange_16", Signature::AtomicExchange),
    ("atomic_test_and_set_16", Signature::AtomicUpdate),
    ("atomic_fetch_add_16", Signature::AtomicUpdate),
    ("atomic_fetch_sub_16", Signature::AtomicUpdate),
    ("atomic_fetch_and_16", Signature::AtomicUpdate),
    ("atomic_fetch_or_16", Signature::AtomicUpdate),
    ("atomic_fetch_xor_16", Signature::AtomicUpdate),
    ("atomic_fetch_nand_16", Signature::AtomicUpdate),
    ("atomic_add_fetch_16", Signature::AtomicUpdate),
    ("atomic_sub_fetch_16", Signature::AtomicUpdate),
    ("atomic_and_fetch_16", Signature::AtomicUpdate),
    ("atomic_or_fetch_16", Signature::AtomicUpdate),
    ("atomic_xor_fetch_16", Signature::AtomicUpdate),
    ("atomic_nand_fetch_16", Signature::AtomicUpdate),
    ("atoi", Signature::ReadString),
    ("atol", Signature::ReadString),
    ("atoll", Signature::ReadString),
    ("atof", Signature::ReadString),
    ("strtol", Signature::ReadNumber),
    ("strtoll", Signature::ReadNumber),
    ("strtoul", Signature::ReadNumber),
    ("strtoull", Signature::ReadNumber),
    ("strtod", Signature::ReadNumber),
    ("strtof", Signature::ReadNumber),
    ("puts", Signature::ReadString),
    ("fputs", Signature::ReadString),
    ("fwrite", Signature::Put),
    ("fread", Signature::Get),
    ("fgets", Signature::GetLine),
    ("getline", Signature::GetDelimited),
    ("getdelim", Signature::GetDelimited),
    ("qsort", Signature::Sort),
    ("qsort_r", Signature::Sort),
    ("_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l", Signature::Insert),
];

/// The same of wide characters.
const WIDE: &[(&str, Signature)] = &[
    ("wmemcpy", Signature::Copy),
    ("wmemmove", Signature::Copy),
    ("wmempcpy", Signature::Copy),
    ("wmemset", Signature::Fill),
    ("wmemcmp", Signature::Compare),
    ("wmemchr", Signature::Find),
    ("wcslen", Signature::ReadString),
    ("wcsnlen", Signature::ReadAtMost),
    ("wcscpy", Signature::CopyString),
    ("wcpcpy", Signature::CopyString),
    ("wcsncpy", Signature::CopyPadded),
    ("wcpncpy", Signature::CopyPadded),
    ("wcscat", Signature::Append),
    ("wcsncat", Signature::AppendAtMost),
    ("wcscmp", Signature::CompareStrings),
    ("wcsncmp", Signature::CompareAtMost),
    ("wcschr", Signature::FindInString),
    ("wcsrchr", Signature::ReadString),
    ("wcsdup", Signature::ReadString),
];

/// The size of the C library's wide character.
const WIDE_UNIT: u64 = 4;

impl MemoryFunction {
    /// The function that copies one slice of bytes to another in Rust's standard library.
    pub(crate) const COPY_SLICE: Self = Self { signature: Signature::CopySlice, unit: 1 };

    /// The function that is called by this name, `__memcpy_chk` and the like included.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if let Some(formatted) = Formatted::named(name) {
            return Some(Self { signature: Signature::Print(formatted), unit: 1 });
        }
        let scanned = Scanned::named(name).map(Signature::Scan);
        let of_cxx = || {
            cxx_streams::named(name)
                .or_else(|| cxx_files::named(name))
                .or_else(|| cxx_exceptions::named(name))
        };
        let pointees = || arguments::named(name).or_else(of_cxx).map(Signature::Pointees);
        if let Some(signature) = scanned.or_else(pointees) {
            return Some(Self { signature, unit: 1 });
        }
        let plain = name.strip_prefix("__").unwrap_or(name);
        let plain = plain.strip_suffix("_chk").unwrap_or(plain);
        let tables = [(BYTES, 1), (WIDE, WIDE_UNIT)];
        tables.into_iter().find_map(|(table, unit)| {
            let (_, signature) = table.iter().find(|(known, _)| *known == plain)?;
            Some(Self { signature: *signature, unit })
        })
    }

    /// Whether others find what it does in the first place that it touches done or not done, and never half done.
    pub(crate) const fn is_indivisible(self) -> bool {
        use Signature::{AtomicExchange, AtomicLoad, AtomicStore, AtomicUpdate};
        matches!(self.signature, AtomicLoad | AtomicStore | AtomicUpdate | AtomicExchange)
    }
}
