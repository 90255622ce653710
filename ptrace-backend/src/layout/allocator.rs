//! The functions of the C library's allocator.

/// The operation of a trapped function of the allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocator {
    /// Returns a block of as many bytes as this argument says.
    Allocate { size: usize },
    /// Writes the address of a block of as many bytes as the third argument says to where the first points.
    AllocateInto,
    /// Returns a block of the product of the first two arguments.
    AllocateMany,
    /// Frees the first argument, and returns a block of as many bytes as the second says.
    Resize,
    /// Frees the first argument.
    Free,
}

impl Allocator {
    /// Whether a block is freed.
    pub(crate) fn ends_a_life(self) -> bool {
        matches!(self, Self::Free | Self::Resize)
    }
}

/// Functions of the C library that allocate. Functions built on them (`operator new`, Rust's allocator) are seen
/// through them.
pub(crate) const ALLOCATOR_FUNCTIONS: &[(&str, Allocator)] = &[
    ("malloc", Allocator::Allocate { size: 0 }),
    ("calloc", Allocator::AllocateMany),
    ("realloc", Allocator::Resize),
    ("memalign", Allocator::Allocate { size: 1 }),
    ("aligned_alloc", Allocator::Allocate { size: 1 }),
    ("posix_memalign", Allocator::AllocateInto),
    ("free", Allocator::Free),
];
