//! Something about every byte of a block, where bytes that were always touched together share it.

use std::ops::Range;

use rangemap::RangeMap;
use smallvec::SmallVec;

use crate::event::names::Obj;

/// Contents of ranges, or cells, without overlap; what no cell covers has the default. Neighbours with equal contents are one cell.
#[derive(Clone, Debug)]
pub(crate) struct IntervalMap<T>(RangeMap<u64, T>);

impl<T> Default for IntervalMap<T> {
    fn default() -> Self {
        Self(RangeMap::new())
    }
}

impl<T: Clone + Default + Eq> IntervalMap<T> {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The contents of the cells that share a byte with a range.
    pub(crate) fn overlapping(&self, range: Range<u64>) -> impl Iterator<Item = &T> {
        self.0.overlapping(range).map(|(_, content)| content)
    }

    /// Changes the content of a range, part by part: each part has one content before.
    pub(crate) fn update(&mut self, range: Range<u64>, mut change: impl FnMut(Range<u64>, &mut T)) {
        let within = |cell: &Range<u64>| cell.start.max(range.start)..cell.end.min(range.end);
        let cells = self.0.overlapping(range.clone()).map(|(cell, content)| (within(cell), content.clone()));
        let gaps = self.0.gaps(&range).map(|gap| (gap, T::default()));
        let mut parts: SmallVec<[(Range<u64>, T); 2]> = cells.chain(gaps).collect();
        parts.sort_unstable_by_key(|(part, _)| part.start);
        for (part, mut content) in parts {
            change(part.clone(), &mut content);
            self.0.insert(part, content);
        }
    }
}

/// The bytes of an object, as offsets in its block.
pub(crate) fn range(obj: &Obj) -> Range<u64> {
    let start = u64::from(obj.offset);
    start..start + u64::from(obj.len.max(1))
}
