//! Closed code: pages of the program's own code that cannot be executed, since what is in them has not been decoded.
//!
//! A program of a hundred megabytes runs some hundred pages of its code. To decode all of it takes half a minute. A page that no
//! execution has come to is closed: it can be read, but an instruction in it faults before it does anything. So nothing in it can run
//! unseen, and a claim on all schedules does not rest on it. A thread that comes to a closed page opens it for its own copy of the
//! program; that execution counts for nothing, as one that finds a key point, and the program is launched again with the page decoded.

use std::collections::BTreeSet;
use std::ops::Range;

pub(crate) const PAGE: u64 = 4096;

/// Pages that cannot be executed, at run-time addresses.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClosedCode {
    /// Sorted and disjoint.
    runs: Vec<Range<u64>>,
}

/// The addresses of the pages that hold a range.
pub(crate) fn pages(range: &Range<u64>) -> impl Iterator<Item = u64> + use<> {
    (range.start & !(PAGE - 1)..range.end).step_by(PAGE as usize)
}

impl ClosedCode {
    /// The pages of this code but for the open ones.
    pub(crate) fn of<'c>(code: impl IntoIterator<Item = &'c Range<u64>>, open: &BTreeSet<u64>) -> Self {
        let all: BTreeSet<u64> = code.into_iter().flat_map(pages).collect();
        let mut runs: Vec<Range<u64>> = Vec::new();
        for page in all.into_iter().filter(|page| !open.contains(page)) {
            match runs.last_mut() {
                Some(run) if run.end == page => run.end += PAGE,
                _ => runs.push(page..page + PAGE),
            }
        }
        Self { runs }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The closed pages, as sorted and disjoint ranges.
    pub(crate) fn runs(&self) -> &[Range<u64>] {
        &self.runs
    }

    /// Whether an address is in a closed page.
    pub(crate) fn contains(&self, address: u64) -> bool {
        self.meets(&(address..address.saturating_add(1)))
    }

    /// Whether some byte of a range is in a closed page.
    pub(crate) fn meets(&self, range: &Range<u64>) -> bool {
        let after = self.runs.partition_point(|run| run.end <= range.start);
        self.runs.get(after).is_some_and(|run| run.start < range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_open_is_closed() {
        let code = [0x1800..0x4200, 0x4200..0x4300, 0x9000..0x9001];
        let closed = ClosedCode::of(&code, &BTreeSet::from([0x2000, 0x4000, 0x7000]));
        assert_eq!(closed.runs(), [0x1000..0x2000, 0x3000..0x4000, 0x9000..0xa000]);
        assert!(closed.contains(0x1000) && closed.contains(0x1fff) && closed.contains(0x9fff));
        assert!(!closed.contains(0x2000) && !closed.contains(0xfff) && !closed.contains(0xa000));
        assert!(closed.meets(&(0x2fff..0x3001)) && !closed.meets(&(0x2000..0x3000)));
        assert!(ClosedCode::of(&code, &BTreeSet::from([0x1000, 0x2000, 0x3000, 0x4000, 0x9000])).is_empty());
    }
}
