//! Names that are made of words: the same in every process and every version of the tool.

use checker::names::ObjName;

/// A stable 64-bit digest (FNV-1a): names must be the same in every process and every version of the tool.
pub(crate) fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The name of a block that is described by these words. The highest bit is left for its kind.
pub(crate) fn block_name(words: &str) -> ObjName {
    ObjName(digest(words) & !ObjName::ALLOCATED)
}
