//! An execution with the races of it that are reversed.

use super::path::Path;
use super::plan::Plan;
use crate::strategy::dpor::branch::Order;

/// An execution, and what is to be done about its races.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) id: u64,
    path: Path,
    plans: Vec<(Plan, Fate)>,
}

/// What became of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// Nothing yet.
    Open,
    /// It was handed out.
    UnderWay,
    /// It ran.
    Ran,
    /// The operation could not run there.
    Refused,
}

impl Frame {
    pub(super) fn new(id: u64, path: Path, plans: Vec<Plan>) -> Self {
        Self { id, path, plans: plans.into_iter().map(|plan| (plan, Fate::Open)).collect() }
    }

    /// The next plan that can be handed out, with its number.
    pub(super) fn take_next(&mut self) -> Option<(usize, Path, Order)> {
        loop {
            // It is for the case that others are refused.
            let is_ready = |(plan, fate): &(Plan, Fate)| {
                *fate == Fate::Open && !self.depends(plan, Fate::UnderWay) && !self.depends(plan, Fate::Open)
            };
            let nth = self.plans.iter().position(is_ready)?;
            let plan = &self.plans[nth].0;
            if !plan.is_allowed || self.depends(plan, Fate::Ran) {
                self.plans[nth].1 = Fate::Ran;
                continue;
            }
            let (path, order) = plan.path(&self.path);
            self.plans[nth].1 = Fate::UnderWay;
            return Some((nth, path, order));
        }
    }

    fn depends(&self, plan: &Plan, fate: Fate) -> bool {
        plan.unless.iter().any(|&other| self.plans[other].1 == fate)
    }

    pub(super) fn settle(&mut self, nth: usize, fate: Fate) {
        self.plans[nth].1 = fate;
    }

    pub(super) fn is_done(&self) -> bool {
        self.plans.iter().all(|(_, fate)| matches!(fate, Fate::Ran | Fate::Refused))
    }

    #[cfg(test)]
    pub(super) fn stored(&self) -> usize {
        self.path.len() + self.plans.iter().map(|(plan, _)| plan.stored()).sum::<usize>()
    }
}
