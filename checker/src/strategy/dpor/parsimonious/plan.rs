//! Which races of an execution are reversed, and how.

use std::sync::Arc;

use super::order::{Next, pass, waiting};
use super::path::{Mark, Path, Placed};
use crate::strategy::dpor::branch::Order;
use crate::strategy::dpor::later::Later;
use crate::strategy::dpor::locks::{Can, Need};
use crate::strategy::dpor::races::Races;
use crate::trace::{Trace, Unrun};

/// A race the other way round: an execution that leaves the one that it is of.
#[derive(Debug)]
pub(super) struct Plan {
    /// How many events of the execution come first.
    at: usize,
    /// The positions of those that come then.
    kept: Vec<u32>,
    /// What comes after these.
    last: Placed,
    /// It is for the case that these other plans are refused.
    pub(super) unless: Vec<usize>,
    /// It is reversed here and not in another execution.
    pub(super) is_allowed: bool,
}

impl Plan {
    /// The plans for the races of an execution whose later operation is at `fresh` or after, but before `to`.
    pub(super) fn all(run: &Trace, path: &Path, fresh: usize, to: usize) -> Vec<Self> {
        let races = Races::new(run);
        let mut all = Vec::new();
        let planner = Planner { races: &races, path };
        for later in races.later(fresh, to) {
            if later.is_at_hand(path) && !planner.was_seen(&later) {
                planner.of(&later, &mut all);
            }
        }
        if all.iter().all(|plan: &Self| !plan.is_allowed) {
            all.clear();
        }
        all
    }

    /// The events to run, and what to see to after them.
    pub(super) fn path(&self, of: &Path) -> (Path, Order) {
        let mut path: Path = of[..self.at].to_vec();
        let kept = self.kept.iter().map(|&at| of[at as usize].event.clone());
        path.extend(kept.map(|event| Arc::new(Placed { event, mark: Mark::Kept })));
        let last = Next::placed(path.len(), &self.last);
        let order = Order { from: self.at as u32, waiting: waiting(&path), before: last.before.cloned() };
        path.push(Arc::new(self.last.clone()));
        (path, order)
    }

    #[cfg(test)]
    pub(super) fn stored(&self) -> usize {
        self.kept.len() + 1
    }
}

struct Planner<'r, 't> {
    races: &'r Races<'t>,
    path: &'r Path,
}

impl Planner<'_, '_> {
    /// Whether a time-out that did not come was possible while its thread waited: then its races are those of the event
    /// that made it impossible.
    fn was_seen(&self, later: &Later<'_>) -> bool {
        let since = later.after.map_or(0, |after| after + 1);
        let made_impossible =
            |unrun: &&Unrun| unrun.closed && unrun.view.agent == later.agent && unrun.at >= since;
        !later.agent.is_thread()
            && later.instead_of.is_some()
            && self.races.run.unrun.iter().any(|unrun| made_impossible(&unrun))
    }

    /// Adds the plans for the races of one operation.
    fn of(&self, later: &Later<'_>, into: &mut Vec<Plan>) {
        if Need::of(later.key.kind) == Need::Order {
            return;
        }
        let rivals = self.races.rivals(later);
        let closer = later.closer.filter(|_| !self.races.waits_for_a_lock(later));
        // What was reversed, for sure or, as the plan of a number, perhaps.
        let mut reversed: Vec<(usize, Option<usize>)> = Vec::new();
        for &earlier in &rivals {
            let comes_first = |&&(done, _): &&(usize, Option<usize>)| {
                closer == Some(done) || self.races.is_after(done, earlier)
            };
            let first: Vec<Option<usize>> =
                reversed.iter().filter(comes_first).map(|&(_, plan)| plan).collect();
            if first.contains(&None) {
                continue;
            }
            let mut undone: Vec<usize> = closer.into_iter().filter(|&closer| closer != earlier).collect();
            undone.push(earlier);
            let can = self.races.can_run(later, &mut undone);
            if can == Can::No {
                continue;
            }
            reversed.push((earlier, (can == Can::Perhaps).then_some(into.len())));
            let unless = first.into_iter().flatten().collect();
            let plan = self.plan(later, &rivals, &undone, unless);
            if plan.is_allowed || can == Can::Perhaps {
                into.push(plan);
            }
        }
    }

    fn plan(&self, later: &Later<'_>, rivals: &[usize], undone: &[usize], unless: Vec<usize>) -> Plan {
        let at = undone.iter().copied().min().unwrap_or(0);
        let rest: Vec<usize> =
            rivals.iter().copied().filter(|&rival| !self.races.is_undone(rival, undone)).collect();
        let happens_before = |at: usize| {
            self.races.is_past(later, at)
                || rest.iter().any(|&rival| rival == at || self.races.is_after(rival, at))
        };
        let is_kept = |&at: &usize| !self.races.is_undone(at, undone) && happens_before(at);
        let kept: Vec<u32> = (at..later.before).filter(is_kept).map(|at| at as u32).collect();
        let event = later.as_move(true);
        let earlier = &self.path[at];
        let is_other = earlier.event.thread() != later.agent.thread();
        let before = is_other.then(|| (earlier.event.agent, earlier.event.effect.clone()));
        let last = Placed { event, mark: Mark::Scheduled { before, open: later.pick.is_none() } };
        let mut plan = Plan { at, kept, last, unless, is_allowed: true };
        let is_own_way = later.closer == Some(at) && earlier.is_open() && !is_other;
        plan.is_allowed = (earlier.is_default() || is_own_way)
            && self.is_parsimonious(&plan, later)
            && self.is_in_order(&plan, |at| happens_before(at) || self.may_come_before(later, at));
        plan
    }

    /// Whether an event may happen before an operation if that does elsewhere what it has not done here.
    fn may_come_before(&self, later: &Later<'_>, at: usize) -> bool {
        later.may != later.effect && self.races.run.steps[at].event.did.conflicts(later.may)
    }

    /// Whether all that was scheduled after the earlier event stays.
    fn is_parsimonious(&self, plan: &Plan, later: &Later<'_>) -> bool {
        let mut after = plan.at + 1..later.before.min(self.path.len());
        after.all(|at| self.path[at].is_default() || plan.kept.contains(&(at as u32)))
    }

    /// Whether nothing that the plan adds comes too late: see [`super::order`]. Where that depends on what the last operation
    /// will do, the execution is to show it.
    fn is_in_order(&self, plan: &Plan, happens_before: impl Fn(usize) -> bool) -> bool {
        let mut waiting = waiting(&self.path[..plan.at]);
        // Where an event of the new execution was in the present one.
        let old = |at: usize| at.checked_sub(plan.at).map_or(at, |nth| plan.kept[nth] as usize);
        let mut kept = plan.kept.iter().enumerate();
        let in_order = kept.all(|(nth, &at)| {
            let placed = Placed { event: self.path[at as usize].event.clone(), mark: Mark::Kept };
            let before = |earlier| self.races.is_after(at as usize, old(earlier));
            pass(&mut waiting, &Next::placed(plan.at + nth, &placed), before)
        });
        let last = Next::placed(plan.at + plan.kept.len(), &plan.last);
        in_order && pass(&mut waiting, &last, |earlier| happens_before(old(earlier)))
    }
}

impl Later<'_> {
    /// Whether the races of this operation are those of this execution: not what could have come instead of what was
    /// scheduled, unless any way was as good.
    fn is_at_hand(&self, path: &Path) -> bool {
        let Some(placed) = self.instead_of.and_then(|at| path.get(at)) else { return true };
        placed.is_default() || (placed.is_open() && self.closer.is_some())
    }
}
