//! A set of bytes of named memory.

use std::ops::Range;

use rangemap::RangeSet;
use smallvec::SmallVec;

use crate::event::names::{Obj, ObjName};

/// Bytes, by the block that they are in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ByteSet {
    stretches: RangeSet<(ObjName, u64)>,
}

impl ByteSet {
    /// Adds the bytes of an object. `true` if some of them are new.
    pub fn insert(&mut self, obj: Obj) -> bool {
        let bytes = range(obj);
        // An empty range is no set: what comes from outside may claim to have no bytes.
        let is_new = !bytes.is_empty() && self.stretches.gaps(&bytes).next().is_some();
        if is_new {
            self.stretches.insert(bytes);
        }
        is_new
    }

    /// Whether any byte of an object is in the set.
    #[must_use]
    pub fn overlap(&self, obj: Obj) -> bool {
        self.stretches.overlaps(&range(obj))
    }

    /// The bytes of an object that are not in the set, as offsets in its block.
    #[must_use]
    pub fn outside(&self, obj: Obj) -> SmallVec<[Range<u64>; 1]> {
        self.stretches.gaps(&range(obj)).map(|gap| gap.start.1..gap.end.1).collect()
    }

    /// The bytes of an object that are in the set.
    pub fn inside(&self, obj: Obj) -> impl Iterator<Item = Obj> {
        let all = range(obj);
        self.stretches.overlapping(range(obj)).map(move |stretch| {
            let (start, end) = (stretch.start.1.max(all.start.1), stretch.end.1.min(all.end.1));
            Obj { name: obj.name, offset: start as u32, len: (end - start) as u32 }
        })
    }

    /// Makes it empty.
    pub fn clear(&mut self) {
        self.stretches.clear();
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

fn range(obj: Obj) -> Range<(ObjName, u64)> {
    let start = u64::from(obj.offset);
    (obj.name, start)..(obj.name, start + u64::from(obj.len))
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
        assert_eq!(set.inside(obj(0, 15)).collect::<Vec<_>>(), [obj(10, 15)]);
        assert_eq!(set.inside(obj(40, 50)).count(), 0);
        assert_eq!(set.stretches.len(), 1, "stretches that touch are one");
        assert!(!set.insert(obj(10, 40)));
        assert!(set.insert(obj(0, 50)));
        assert_eq!(set.stretches.len(), 1);
        assert!(set.insert(Obj { name: ObjName(0), ..obj(10, 20) }), "another block's bytes are others");
        assert!(!set.insert(obj(60, 60)) && set.outside(obj(60, 60)).is_empty() && !set.overlap(obj(60, 60)));
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
