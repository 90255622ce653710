//! Something about every byte of a block, where bytes that were always touched together share it.

use std::ops::Range;

use crate::event::names::Obj;

/// Cells in order, without overlap; what no cell covers has the default.
#[derive(Clone, Debug)]
pub(crate) struct IntervalMap<T>(Vec<Cell<T>>);

#[derive(Clone, Debug)]
struct Cell<T> {
    start: u64,
    end: u64,
    content: T,
}

impl<T> Default for IntervalMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone + Default> IntervalMap<T> {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The contents of the cells that share a byte with a range.
    pub(crate) fn overlapping(&self, range: Range<u64>) -> impl Iterator<Item = &T> {
        let first = self.0.partition_point(|cell| cell.end <= range.start);
        let cells = self.0[first..].iter().take_while(move |cell| cell.start < range.end);
        cells.map(|cell| &cell.content)
    }

    /// The cells that tile a range exactly, which they are made to, each with what it has.
    pub(crate) fn tiling(&mut self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, &mut T)> {
        let first = self.cut(range.start, range.end);
        let cells = self.0[first..].iter_mut().take_while(move |cell| cell.start < range.end);
        cells.map(|cell| (cell.start..cell.end, &mut cell.content))
    }

    /// Makes the cells tile `start..end` exactly; returns the index of the first of them.
    fn cut(&mut self, start: u64, end: u64) -> usize {
        let first = self.0.partition_point(|cell| cell.end <= start);
        if self.0.get(first).is_some_and(|cell| cell.start == start && cell.end == end) {
            return first;
        }
        let first = self.split(first, start);
        let mut at = first;
        let mut covered = start;
        while covered < end {
            match self.0.get(at) {
                Some(cell) if cell.start == covered => {
                    self.split(at, end);
                }
                next => {
                    let gap_end = next.map_or(end, |cell| cell.start.min(end));
                    self.0.insert(at, Cell { start: covered, end: gap_end, content: T::default() });
                }
            }
            covered = self.0[at].end;
            at += 1;
        }
        first
    }

    /// Splits the cell at `index` where it contains `at` in its inside; returns the index of the part from `at` on.
    fn split(&mut self, index: usize, at: u64) -> usize {
        match self.0.get_mut(index) {
            Some(cell) if cell.start < at && at < cell.end => {
                let rest = Cell { start: at, end: cell.end, content: cell.content.clone() };
                cell.end = at;
                self.0.insert(index + 1, rest);
                index + 1
            }
            _ => index,
        }
    }
}

/// The bytes of an object, as offsets in its block.
pub(crate) fn range(obj: &Obj) -> Range<u64> {
    let start = u64::from(obj.offset);
    start..start + u64::from(obj.len.max(1))
}
