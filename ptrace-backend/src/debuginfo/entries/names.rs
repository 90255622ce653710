//! Parts of qualified names, and the hash that types are found by.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::FxHasher;

/// The part of a C++ or Rust path behind its last `::` that is not within brackets.
pub(crate) fn last_segment(path: &str) -> &str {
    let mut depth = 0_usize;
    let bytes = path.as_bytes();
    for at in (1..bytes.len()).rev() {
        match bytes[at] {
            b'>' | b')' | b'}' => depth += 1,
            b'<' | b'(' | b'{' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes[at - 1] == b':' => return &path[at + 1..],
            _ => {}
        }
    }
    path
}

/// The hash that types are found by: that of their name without arguments.
pub(crate) fn plain_hash(name: &[u8]) -> u64 {
    let plain = name.split(|&byte| byte == b'<').next().unwrap_or(name);
    BuildHasherDefault::<FxHasher>::default().hash_one(plain)
}
