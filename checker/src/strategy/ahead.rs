//! Which of what waits is run ahead of its turn.

/// At most so many of what waits are looked through for something to run ahead.
pub(super) const LOOK: usize = 256;

/// Shares what waits out between the worker that runs the search and the others, from what comes next on. What comes next
/// is left to the search, and so is one in `others` + 1 of what comes then: it should find results when it gets there, and
/// not wait for others that have just begun.
pub(super) struct Shares {
    others: usize,
    /// So many in a row are for the others.
    in_row: usize,
}

impl Shares {
    pub(super) fn new(others: usize) -> Self {
        Self { others, in_row: others }
    }

    /// Passes something that has been handed out already.
    pub(super) fn pass(&mut self) {
        self.in_row += 1;
    }

    /// Whether something that nobody has yet is for the others.
    pub(super) fn is_for_others(&mut self) -> bool {
        let is = self.in_row < self.others;
        if !is {
            self.in_row = 0;
        }
        is
    }
}
