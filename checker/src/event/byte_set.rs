//! A set of bytes of named memory.

use std::collections::BTreeMap;
use std::ops::Range;

use smallvec::SmallVec;

use super::names::{Obj, ObjName};

/// Bytes, by the block that they are in, as stretches that neither overlap nor touch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ByteSet {
    /// From where a stretch begins to where it ends.
    ends: BTreeMap<(ObjName, u64), u64>,
}

impl ByteSet {
    /// Adds the bytes of an object. `true` if some of them are new.
    pub fn insert(&mut self, obj: Obj) -> bool {
        let (mut start, mut end) = range(obj);
        if self.last_before(obj.name, end).is_some_and(|(first, last)| first <= start && end <= last) {
            return false;
        }
        // Whatever ends at the new stretch or behind its start, and begins before its end or there.
        while let Some((first, last)) = self.last_before(obj.name, end + 1).filter(|(_, last)| *last >= start)
        {
            self.ends.remove(&(obj.name, first));
            (start, end) = (start.min(first), end.max(last));
        }
        self.ends.insert((obj.name, start), end);
        true
    }

    /// Whether any byte of an object is in the set.
    #[must_use]
    pub fn overlap(&self, obj: Obj) -> bool {
        let (start, end) = range(obj);
        self.last_before(obj.name, end).is_some_and(|(_, last)| last > start)
    }

    /// The bytes of an object that are not in the set, as offsets in its block.
    #[must_use]
    pub fn outside(&self, obj: Obj) -> SmallVec<[Range<u64>; 1]> {
        let (mut start, end) = range(obj);
        let mut outside = SmallVec::new();
        if let Some((_, last)) = self.last_before(obj.name, start + 1) {
            start = start.max(last);
        }
        for (&(_, first), &last) in self.ends.range((obj.name, start + 1)..(obj.name, end.max(start + 1))) {
            outside.push(start..first);
            start = last;
        }
        if start < end {
            outside.push(start..end);
        }
        outside
    }

    /// Makes it empty.
    pub fn clear(&mut self) {
        self.ends.clear();
    }

    /// The last stretch of a block that begins before an offset.
    fn last_before(&self, name: ObjName, offset: u64) -> Option<(u64, u64)> {
        let (&(_, first), &last) = self.ends.range((name, 0)..(name, offset)).next_back()?;
        Some((first, last))
    }
}

impl FromIterator<Obj> for ByteSet {
    fn from_iter<T: IntoIterator<Item = Obj>>(objects: T) -> Self {
        let mut all = Self::default();
        for obj in objects {
            all.insert(obj);
        }
        all
    }
}

fn range(obj: Obj) -> (u64, u64) {
    let start = u64::from(obj.offset);
    (start, start + u64::from(obj.len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obj(start: u32, end: u32) -> Obj {
        Obj { name: ObjName(1), offset: start, len: end - start }
    }

    #[test]
    fn bytes_are_added_once_however_they_are_cut() {
        let mut set = ByteSet::default();
        assert!(set.insert(obj(10, 20)));
        assert!(set.insert(obj(30, 40)));
        assert!(!set.insert(obj(12, 20)));
        assert!(set.insert(obj(20, 30)));
        assert_eq!(set.ends.len(), 1, "stretches that touch are one");
        assert!(!set.insert(obj(10, 40)));
        assert!(set.insert(obj(0, 50)));
        assert_eq!(set.ends.len(), 1);
        assert!(set.insert(Obj { name: ObjName(0), ..obj(10, 20) }), "another block's bytes are others");
    }

    #[test]
    fn what_is_outside_is_what_no_stretch_covers() {
        let set: ByteSet = [obj(10, 20), obj(30, 40)].into_iter().collect();
        let outside = |start, end| -> Vec<(u64, u64)> {
            set.outside(obj(start, end)).into_iter().map(|range| (range.start, range.end)).collect()
        };
        assert_eq!(outside(0, 10), [(0, 10)]);
        assert_eq!(outside(0, 50), [(0, 10), (20, 30), (40, 50)]);
        assert_eq!(outside(12, 35), [(20, 30)]);
        assert_eq!(outside(20, 30), [(20, 30)]);
        assert_eq!(outside(35, 45), [(40, 45)]);
        assert!(outside(10, 20).is_empty() && outside(39, 40).is_empty());
    }

    #[test]
    fn an_object_overlaps_what_it_shares_a_byte_with() {
        let set: ByteSet = [obj(10, 20), obj(30, 40)].into_iter().collect();
        for (start, end, expected) in
            [(0, 10, false), (0, 11, true), (19, 20, true), (20, 30, false), (20, 31, true), (0, 99, true)]
        {
            assert_eq!(set.overlap(obj(start, end)), expected, "{start}..{end}");
        }
        assert!(!set.overlap(Obj { name: ObjName(2), ..obj(10, 20) }));
    }
}
