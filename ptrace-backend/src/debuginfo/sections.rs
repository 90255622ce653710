//! The sections of an image by what they are for.

use std::ops::Range;

use object::SectionKind;

use crate::debuginfo::Image;

impl Image {
    /// The addresses of contents that never change once the dynamic linker has run: code, read-only data, and the
    /// tables of imported addresses.
    #[must_use]
    pub fn constants(&self) -> Vec<Range<u64>> {
        const TABLES: [&str; 3] = [".got", ".got.plt", ".data.rel.ro"];
        const READ_ONLY: [SectionKind; 3] =
            [SectionKind::Text, SectionKind::ReadOnlyData, SectionKind::ReadOnlyString];
        self.elf().sections(|name, kind, is_writable| {
            TABLES.contains(&name) || READ_ONLY.contains(&kind) && !is_writable
        })
    }

    /// Its sections that hold data from the beginning, and are no code.
    pub(crate) fn data(&self) -> Vec<Range<u64>> {
        use SectionKind::{Text, Tls, UninitializedData, UninitializedTls};
        self.elf().sections(|_, kind, _| !matches!(kind, Text | Tls | UninitializedData | UninitializedTls))
    }

    /// Lists of the functions that are called before and after `main`.
    pub(crate) fn constructors(&self) -> Vec<Range<u64>> {
        const TABLES: [&str; 5] = [".preinit_array", ".init_array", ".fini_array", ".ctors", ".dtors"];
        self.elf().sections(|name, _, _| TABLES.contains(&name))
    }

    /// The addresses of pointers that are filled in at run time.
    pub(crate) fn pointers(&self) -> Vec<Range<u64>> {
        const TABLES: [&str; 3] = [".data", ".data.rel.ro", ".bss"];
        self.elf().sections(|name, _, _| TABLES.contains(&name))
    }
}
