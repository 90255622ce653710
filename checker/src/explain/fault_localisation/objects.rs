//! The objects that a set of executions accesses, and which of them share bytes.

use rustc_hash::FxHashMap;

use crate::event::names::{Obj, ObjName};
use crate::trace::Trace;

/// The word that a lock is taken by has at most so many bytes.
const LOCK: u32 = 4;

/// Every object accessed, numbered, but for the words of locks.
#[derive(Debug, Default)]
pub(super) struct AccessedObjects {
    all: Vec<Obj>,
    overlapping: FxHashMap<Obj, Vec<u32>>,
}

impl AccessedObjects {
    /// The objects of these executions, in which these are locks.
    pub(super) fn of<'t>(traces: impl Iterator<Item = &'t Trace>, locks: &[Obj]) -> Self {
        let mut objects = Self::default();
        let is_lock = |obj: Obj| {
            let begins = |lock: &Obj| (lock.name, lock.offset) == (obj.name, obj.offset);
            obj.len <= LOCK && locks.iter().any(begins)
        };
        for step in traces.flat_map(|trace| &trace.steps).filter(|step| step.event.op.kind.is_access()) {
            for access in step.event.did.accesses.iter().filter(|access| !is_lock(access.obj)) {
                objects.overlapping.entry(access.obj).or_default();
            }
        }
        objects.all.extend(objects.overlapping.keys());
        objects.all.sort_unstable();
        let mut blocks: FxHashMap<ObjName, Vec<(u32, Obj)>> = FxHashMap::default();
        for (number, &obj) in (0..).zip(&objects.all) {
            blocks.entry(obj.name).or_default().push((number, obj));
        }
        for (obj, numbers) in &mut objects.overlapping {
            let block = blocks.get(&obj.name).map(Vec::as_slice).unwrap_or_default();
            let end = u64::from(obj.offset) + u64::from(obj.len);
            // They are in order of their beginnings.
            let until = block.partition_point(|(_, other)| u64::from(other.offset) < end);
            numbers.extend(
                block[..until].iter().filter(|(_, other)| other.overlaps(obj)).map(|&(number, _)| number),
            );
        }
        objects
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, number: u32) -> Obj {
        self.all[number as usize]
    }

    /// The numbers of all that share a byte with one of them, itself included.
    pub(super) fn overlapping(&self, obj: Obj) -> &[u32] {
        self.overlapping.get(&obj).map(Vec::as_slice).unwrap_or_default()
    }
}
