//! The end of a block that is used, or freed, too late.

use super::cause::FreedBlock;
use crate::event::failure::{Doing, Failure};
use crate::event::names::Obj;
use crate::event::operation::OpKind;
use crate::event::recorded::TraceEvent;
use crate::explain::swap::{Second, Swap};
use crate::trace::{Trace, TraceStep};

/// The life of a block that was freed: its late use is the last event of the thread that failed, if that was it.
pub(super) fn life(failure: &Failure, trace: &Trace, swap: Option<Swap>) -> Option<FreedBlock> {
    let freed_by = failure.others.iter().find(|party| party.doing == Doing::Freed)?.thread;
    let late = trace.steps.rposition(|step| Some(step.event.id.thread) == failure.thread)?;
    let touched =
        |event: &TraceEvent| event.did.accesses.iter().map(|access| access.obj).collect::<Vec<Obj>>();
    let block = touched(&trace.steps[late].event).into_iter().find(|obj| obj.name.is_allocated())?;
    let frees = |step: &TraceStep| {
        step.event.op.kind == OpKind::Free && touched(&step.event).iter().any(|obj| obj.overlaps(&block))
    };
    let freed = trace.steps.rposition_before(late, frees);
    let is_swapped = |swap: Swap| Some(swap.first) == freed && swap.second == Second::Event(late);
    Some(FreedBlock { block, late, freed_by, unordered: swap.is_some_and(is_swapped) })
}
