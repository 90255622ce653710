//! The latest accesses of all bytes: the cells behind happens-before.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::event::names::ObjName;
use crate::event::operation::{Access, Effect, Mode};
use crate::event::position::Position;
use crate::event::ranges::interval_map;
use crate::event::ranges::interval_map::IntervalMap;

/// Positions of events in the trace, without repetition.
pub(crate) type Positions = SmallVec<[Position; 8]>;

pub(super) fn insert(into: &mut Positions, position: Position) {
    if !into.contains(&position) {
        into.push(position);
    }
}

/// The accesses of one object since its last write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct History {
    last_write: Option<Position>,
    /// Everything since that is no write: of each thread the latest of a mode.
    since: SmallVec<[CellAccess; 4]>,
}

/// The latest access of a cell by a thread in one mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CellAccess {
    mode: Mode,
    thread: u32,
    position: Position,
}

impl History {
    fn conflicts(&self, mode: Mode, into: &mut Positions) {
        self.last_write.iter().for_each(|&write| insert(into, write));
        for access in self.since.iter().filter(|access| access.mode.conflicts(mode)) {
            insert(into, access.position);
        }
    }

    fn record(&mut self, access: CellAccess) {
        if access.mode == Mode::Write {
            self.last_write = Some(access.position);
            self.since.clear();
            return;
        }
        self.since.retain(|old| old.thread != access.thread || !supersedes(access.mode, old.mode));
        self.since.push(access);
    }
}

/// Whether a later touch of one thread stands for its earlier one. A thread can arrive at the next round of a barrier
/// while others have yet to leave this one, so the round before is kept.
fn supersedes(later: Mode, earlier: Mode) -> bool {
    match (later, earlier) {
        (Mode::Arrive(new), Mode::Arrive(old)) => old == new || old.wrapping_add(1) < new,
        (Mode::Read, Mode::Read) | (Mode::Share, Mode::Share) | (Mode::Leave(_), Mode::Leave(_)) => true,
        _ => false,
    }
}

/// The histories of all bytes touched so far. Bytes that were always touched together share a cell; what is collected
/// for a range depends on the bytes alone, not on how they are cut into cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessHistories {
    /// Of each block, its cells in order, without overlap.
    blocks: FxHashMap<ObjName, IntervalMap<History>>,
}

impl AccessHistories {
    pub(super) fn clear(&mut self) {
        self.blocks.values_mut().for_each(IntervalMap::clear);
    }

    /// Adds the events so far that an effect directly conflicts with.
    pub(crate) fn conflicts(&self, effect: &Effect, into: &mut Positions) {
        for Access { obj, mode } in &effect.accesses {
            let Some(cells) = self.blocks.get(&obj.name) else { continue };
            cells.overlapping(interval_map::range(obj)).for_each(|history| history.conflicts(*mode, into));
        }
    }

    /// Records that the event at `position` had this effect.
    pub(crate) fn record(&mut self, effect: &Effect, thread: u32, position: Position) {
        for Access { obj, mode } in &effect.accesses {
            let cells = self.blocks.entry(obj.name).or_default();
            let access = CellAccess { mode: *mode, thread, position };
            cells.update(interval_map::range(obj), |_, history| history.record(access));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::names::Obj;

    fn obj(offset: u32, len: u32) -> Obj {
        Obj { name: ObjName(1), offset, len }
    }

    fn conflicts(objects: &AccessHistories, access: Access) -> Vec<usize> {
        let mut found = Positions::new();
        objects.conflicts(&Effect::on([access]), &mut found);
        found.sort_unstable();
        found.into_iter().map(Position::count).collect()
    }

    fn record(objects: &mut AccessHistories, access: Access, thread: u32, nth: usize) {
        objects.record(&Effect::on([access]), thread, Position::after(nth));
    }

    #[test]
    fn a_wide_read_sees_every_write_below_it_once() {
        let mut objects = AccessHistories::default();
        record(&mut objects, Access::write(obj(0, 8)), 0, 0);
        record(&mut objects, Access::write(obj(2, 2)), 1, 1);
        record(&mut objects, Access::write(obj(12, 4)), 1, 2);
        assert_eq!(conflicts(&objects, Access::read(obj(0, 16))), [0, 1, 2]);
        assert_eq!(conflicts(&objects, Access::read(obj(2, 2))), [1]);
        assert_eq!(conflicts(&objects, Access::read(obj(3, 2))), [0, 1]);
        assert_eq!(conflicts(&objects, Access::read(obj(8, 4))), [0; 0]);
    }

    #[test]
    fn how_bytes_were_cut_does_not_show() {
        let mut cut_by_a_read = AccessHistories::default();
        record(&mut cut_by_a_read, Access::read(obj(3, 1)), 1, 7);
        let mut whole = AccessHistories::default();
        for objects in [&mut cut_by_a_read, &mut whole] {
            record(objects, Access::write(obj(0, 8)), 0, 8);
            record(objects, Access::read(obj(0, 8)), 2, 9);
        }
        for access in [Access::write(obj(0, 8)), Access::write(obj(2, 4)), Access::read(obj(4, 9))] {
            assert_eq!(conflicts(&cut_by_a_read, access), conflicts(&whole, access));
        }
    }

    #[test]
    fn only_the_last_read_of_each_thread_counts_for_a_write() {
        let mut objects = AccessHistories::default();
        record(&mut objects, Access::read(obj(0, 4)), 0, 0);
        record(&mut objects, Access::read(obj(0, 4)), 0, 1);
        record(&mut objects, Access::read(obj(0, 4)), 1, 2);
        assert_eq!(conflicts(&objects, Access::write(obj(0, 4))), [1, 2]);
        assert_eq!(conflicts(&objects, Access::read(obj(0, 4))), [0; 0]);
    }

    #[test]
    fn a_departure_comes_after_the_arrivals_of_its_round_only() {
        let mut objects = AccessHistories::default();
        let touch = |mode| Access { obj: obj(0, 1), mode };
        record(&mut objects, touch(Mode::Arrive(0)), 0, 0);
        record(&mut objects, touch(Mode::Arrive(0)), 1, 1);
        record(&mut objects, touch(Mode::Leave(0)), 0, 2);
        record(&mut objects, touch(Mode::Arrive(1)), 0, 3);
        assert_eq!(conflicts(&objects, touch(Mode::Leave(0))), [0, 1]);
        assert_eq!(conflicts(&objects, touch(Mode::Leave(1))), [3]);
        assert_eq!(conflicts(&objects, touch(Mode::Arrive(1))), [0, 1]);
    }
}
