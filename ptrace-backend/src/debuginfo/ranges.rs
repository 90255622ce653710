//! Sets of addresses as lists of ranges.

use std::ops::Range;

use crate::attention;

/// Appends, joining with the last range where they touch.
pub(super) fn push(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// Sorts, and joins what overlaps or touches.
pub(super) fn merge(ranges: &mut Vec<Range<u64>>) {
    ranges.sort_unstable_by_key(|range| {
        attention::round();
        range.start
    });
    ranges.dedup_by(|later, earlier| {
        let touches = later.start <= earlier.end;
        if touches {
            earlier.end = earlier.end.max(later.end);
        }
        touches
    });
}

/// Whether one of the sorted, disjoint `ranges` shares an address with `range`.
pub(crate) fn overlaps(ranges: &[Range<u64>], range: &Range<u64>) -> bool {
    let after = ranges.partition_point(|other| other.end <= range.start);
    ranges.get(after).is_some_and(|other| other.start < range.end)
}

/// Whether an address is in one of the sorted, disjoint `ranges`.
pub(crate) fn contains(ranges: &[Range<u64>], address: u64) -> bool {
    let after = ranges.partition_point(|range| range.end <= address);
    ranges.get(after).is_some_and(|range| range.start <= address)
}

/// The ranges without the addresses of `hole`.
pub(super) fn subtract(ranges: Vec<Range<u64>>, hole: &Range<u64>) -> Vec<Range<u64>> {
    let parts = ranges.into_iter().flat_map(|range| {
        attention::round();
        let before = range.start..range.end.min(hole.start);
        let after = range.start.max(hole.end)..range.end;
        [before, after]
    });
    parts.filter(|range| range.start < range.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged_and_cut() {
        let mut ranges = vec![5..7, 0..3, 2..4, 7..9];
        merge(&mut ranges);
        assert_eq!(ranges, [0..4, 5..9]);
        assert_eq!(subtract(ranges.clone(), &(2..6)), [0..2, 6..9]);
        assert!(overlaps(&ranges, &(8..20)) && !overlaps(&ranges, &(4..5)));
        let within: Vec<u64> = (0..10).filter(|&address| contains(&ranges, address)).collect();
        assert_eq!(within, [0, 1, 2, 3, 5, 6, 7, 8]);
    }
}
