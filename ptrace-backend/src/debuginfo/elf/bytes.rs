//! A file's contents that parsed views borrow from within one structure.

/// Bytes on the heap whose address never changes while this value lives, wherever the value itself is moved.
pub(crate) struct PinnedBytes(Vec<u8>);

impl PinnedBytes {
    pub(crate) fn new(contents: Vec<u8>) -> Self {
        Self(contents)
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes, with a lifetime that the compiler does not check.
    ///
    /// # Safety
    /// The slice, and whatever was parsed from it, must not be used after `self` has been dropped. A structure that
    /// keeps both declares `self` after everything that borrows, and hands out nothing with the `'static` lifetime.
    pub(crate) unsafe fn detached(&self) -> &'static [u8] {
        // SAFETY: the vector is never changed, so its buffer stays where it is until the drop, after which the caller
        // promises not to look.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.0.len()) }
    }
}
