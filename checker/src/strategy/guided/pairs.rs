//! The pairs of an execution: each read with the write that it sees.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::event::names::{Obj, ObjName, Site};
use crate::event::operation::{Mode, OpKind};
use crate::trace::Trace;

/// An access wherever and whenever it happens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Abstract {
    pub(super) kind: OpKind,
    pub(super) obj: Obj,
    pub(super) site: Site,
}

/// A read, and the write that it sees; none is what was there at first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ReadsFrom {
    pub(super) read: Abstract,
    pub(super) write: Option<Abstract>,
}

/// A constraint of a plan: an execution should have this pair, or should not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Constraint {
    pub(super) pair: ReadsFrom,
    pub(super) holds: bool,
}

/// A plan: the constraints of one execution.
pub(super) type AbstractSchedule = Vec<Constraint>;

/// Whether an access reads: everything does but a plain write.
pub(in crate::strategy) fn reads(kind: OpKind) -> bool {
    kind != OpKind::Write
}

/// The last write of each object, told by a `W`.
#[derive(Clone, Debug)]
pub(in crate::strategy) struct LastWrites<W> {
    blocks: FxHashMap<ObjName, Vec<(Obj, W)>>,
}

impl<W> Default for LastWrites<W> {
    fn default() -> Self {
        Self { blocks: FxHashMap::default() }
    }
}

impl<W: Copy> LastWrites<W> {
    /// The last write of a byte of this object.
    pub(in crate::strategy) fn of(&self, obj: &Obj) -> Option<W> {
        let writes = self.blocks.get(&obj.name)?;
        writes.iter().rev().find(|(written, _)| written.overlaps(obj)).map(|&(_, write)| write)
    }

    pub(in crate::strategy) fn record(&mut self, obj: Obj, write: W) {
        let writes = self.blocks.entry(obj.name).or_default();
        writes.retain(|&(old, _)| old != obj);
        writes.push((obj, write));
    }
}

/// The pairs of an execution, and all its writes.
pub(super) fn pairs(run: &Trace) -> (BTreeSet<ReadsFrom>, BTreeSet<Abstract>) {
    let mut writes = BTreeSet::new();
    let mut last = LastWrites::<Abstract>::default();
    let mut pairs = BTreeSet::new();
    for event in run.steps.iter().map(|step| &step.event) {
        let all = event.did.accesses.iter();
        let accesses =
            all.map(|access| (access, Abstract { kind: event.op.kind, obj: access.obj, site: event.site }));
        for (access, this) in accesses.clone() {
            if reads(this.kind) {
                pairs.insert(ReadsFrom { read: this, write: last.of(&access.obj) });
            }
        }
        for (_, this) in accesses.filter(|(access, _)| access.mode != Mode::Read) {
            last.record(this.obj, this);
            writes.insert(this);
        }
    }
    (pairs, writes)
}
