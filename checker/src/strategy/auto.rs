//! A portfolio that a user need not understand: fewest preemptions first, and random and other searches beside it.
//!
//! It begins with icb (Musuvathi, Qadeer, PLDI 2007) to one preemption; where that alone takes long, and always after it,
//! icb has every second execution, and the others take turns with the rest: surw, pos, reads-from pairs, and periods.
//! What it covers is what icb covers, and it ends when icb does. No bound is published for a portfolio.

use std::sync::Arc;

use super::{
    Coverage, Frontier, Guide, Guided, Next, Notes, Periods, Pos, Preemptions, Racing, Sampler, Settled,
    Strategy, Surw, WorkItem,
};
use crate::cache::Cache;
use crate::seam::Epoch;
use crate::search::Options;
use crate::trace::Trace;

/// With more preemptions icb does not go alone.
const ALONE: u32 = 1;

/// With more executions neither.
const PATIENCE: u64 = 100;

/// icb is the first of them.
const PARTS: usize = 5;

/// Several searches that take turns.
pub struct Auto {
    parts: [Box<dyn Strategy>; PARTS],
    /// How many executions there were.
    count: u64,
    /// icb goes alone.
    alone: bool,
    /// Parts that have nothing left.
    done: [bool; PARTS],
}

impl Auto {
    /// A portfolio with these bounds.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        let Options { max_preemptions, max_periods, seed, .. } = *options;
        let parts: [Box<dyn Strategy>; PARTS] = [
            Box::new(Frontier::new(Preemptions { max: max_preemptions })),
            Box::new(Sampler::new(Surw::default(), seed)),
            Box::new(Sampler::new(Pos::new(Racing::Conflicts), seed)),
            Box::new(Guided::new(seed)),
            Box::new(Periods::new(max_periods)),
        ];
        Self { parts, count: 0, alone: true, done: [false; PARTS] }
    }

    /// Whose turn it is.
    fn turn(&self) -> usize {
        if self.alone || self.count.is_multiple_of(2) {
            return 0;
        }
        let nth = (self.count / 2) as usize % (PARTS - 1);
        let mut others = (0..PARTS - 1).map(|further| 1 + (nth + further) % (PARTS - 1));
        others.find(|&part| !self.done[part]).unwrap_or(0)
    }
}

/// An item of a part under a name that no other part uses.
fn wrapped(part: usize, item: WorkItem) -> WorkItem {
    // What is left unexplored in other parts leaves no gap in what icb covers.
    let cost = if part == 0 { item.cost } else { u32::MAX };
    WorkItem { id: item.id * PARTS as u64 + part as u64, cost, ..item }
}

/// The part, and the item as it was.
fn unwrapped(item: &WorkItem) -> (usize, WorkItem) {
    let part = (item.id % PARTS as u64) as usize;
    let cost = if part == 0 { item.cost } else { 0 };
    (part, WorkItem { id: item.id / PARTS as u64, cost, ..item.clone() })
}

impl Strategy for Auto {
    fn next(&mut self, cache: &Cache) -> Next {
        loop {
            let part = self.turn();
            match self.parts[part].next(cache) {
                Next::Work(item) => {
                    self.count += 1;
                    self.alone &= item.cost <= ALONE && self.count < PATIENCE;
                    return Next::Work(wrapped(part, item));
                }
                Next::Wait => return Next::Wait,
                Next::Done if part == 0 => return Next::Done,
                Next::Done => self.done[part] = true,
            }
        }
    }

    fn guide<'a>(&'a self, item: &WorkItem, cache: &'a Cache) -> Box<dyn Guide + 'a> {
        let (part, own) = unwrapped(item);
        // icb enters states into the cache under the name by which the search knows the item.
        self.parts[part].guide(if part == 0 { item } else { &own }, cache)
    }

    /// Of icb: the others are few, and learn from each schedule.
    fn ahead(&mut self, cache: &Arc<Cache>, others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        let (item, guide) = self.parts[0].ahead(cache, others)?;
        Some((wrapped(0, item), guide))
    }

    fn settle(&mut self, item: &WorkItem, notes: &mut Notes, cache: &Cache) -> Settled {
        let (part, own) = unwrapped(item);
        self.parts[part].settle(if part == 0 { item } else { &own }, notes, cache)
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, cache: &Cache) {
        let (part, own) = unwrapped(item);
        self.parts[part].learn(&own, run, notes, cache);
    }

    fn reset(&mut self, epoch: Epoch) {
        self.parts.iter_mut().for_each(|part| part.reset(epoch));
        (self.count, self.alone, self.done) = (0, true, [false; PARTS]);
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        self.parts[0].coverage(cut.filter(|&cut| cut < u32::MAX))
    }

    fn bound(&self) -> Option<u32> {
        self.parts[0].bound()
    }
}
