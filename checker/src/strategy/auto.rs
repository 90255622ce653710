//! A portfolio that a user need not understand: fewest preemptions first, and other searches beside it.
//!
//! surw has most of the first executions, since it needs the fewest to a failure on the programs that
//! `docs/searches.md` lists; icb (Musuvathi, Qadeer, PLDI 2007) and schedules that show new reads ([`super::novel`]) have
//! the rest. Later icb has every second one, and between them come surw, new reads, pos, reads-from pairs and periods. All
//! of them learn from what the others have run. icb does not go alone to one preemption first: with many threads that takes
//! thousands of schedules, where others need ten. What is covered is what icb covers, and the search ends when icb does. No
//! bound is published for a portfolio.

use super::{
    Coverage, Frontier, Guide, Guided, Next, Notes, Novel, Periods, Pos, Preemptions, Racing, Sampler,
    Settled, Strategy, Surw, WorkItem,
};
use crate::cache::Cache;
use crate::seam::Epoch;
use crate::search::Options;
use crate::trace::Trace;

/// So many executions are given mostly to what finds failures soon.
const EARLY: u64 = 36;

const ICB: usize = 0;
const NOVEL: usize = 1;
const SURW: usize = 2;
/// From here on they share a turn.
const OTHERS: usize = 3;
const PARTS: usize = 6;

/// Several searches that take turns.
pub struct Auto {
    /// icb is the first of them.
    parts: [Box<dyn Strategy>; PARTS],
    /// How many executions there were.
    count: u64,
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
            Box::new(Sampler::new(Novel::default(), seed)),
            Box::new(Sampler::new(Surw::default(), seed)),
            Box::new(Sampler::new(Pos::new(Racing::Conflicts), seed)),
            Box::new(Guided::new(seed)),
            Box::new(Periods::new(max_periods)),
        ];
        Self { parts, count: 0, done: [false; PARTS] }
    }

    /// Whose turn it is.
    fn turn(&self) -> usize {
        let (round, nth) = (self.count / 6, self.count % 6);
        match (self.count < EARLY, nth) {
            (_, 5) | (false, 1 | 3) => ICB,
            (true, 3) => NOVEL,
            (true, _) | (false, 0) => SURW,
            (false, 2) if round.is_multiple_of(2) => NOVEL,
            (false, _) => self.another(round),
        }
    }

    /// One of the others that has something left.
    fn another(&self, round: u64) -> usize {
        let others = PARTS - OTHERS;
        let mut turns = (0..others).map(|further| OTHERS + (round as usize + further) % others);
        turns.find(|&part| !self.done[part]).unwrap_or(ICB)
    }
}

/// An item of a part under a name that no other part uses.
fn wrapped(part: usize, item: WorkItem) -> WorkItem {
    // What is left unexplored in other parts leaves no gap in what icb covers.
    let cost = if part == ICB { item.cost } else { u32::MAX };
    WorkItem { id: item.id * PARTS as u64 + part as u64, cost, ..item }
}

/// The part, and the item as it was.
fn unwrapped(item: &WorkItem) -> (usize, WorkItem) {
    let part = (item.id % PARTS as u64) as usize;
    let cost = if part == ICB { item.cost } else { 0 };
    (part, WorkItem { id: item.id / PARTS as u64, cost, ..item.clone() })
}

impl Strategy for Auto {
    fn next(&mut self, cache: &Cache) -> Next {
        loop {
            let part = self.turn();
            match self.parts[part].next(cache) {
                Next::Work(item) => {
                    self.count += 1;
                    return Next::Work(wrapped(part, item));
                }
                Next::Wait => return Next::Wait,
                Next::Done if part == ICB => return Next::Done,
                Next::Done => self.done[part] = true,
            }
        }
    }

    fn guide<'a>(&'a self, item: &WorkItem, cache: &'a Cache) -> Box<dyn Guide + 'a> {
        let (part, own) = unwrapped(item);
        // icb enters states into the cache under the name by which the search knows the item.
        self.parts[part].guide(if part == ICB { item } else { &own }, cache)
    }

    /// Of icb: the others are few, and learn from each schedule.
    fn ahead(&mut self, cache: &Cache, others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        let (item, guide) = self.parts[ICB].ahead(cache, others)?;
        Some((wrapped(ICB, item), guide))
    }

    fn settle(&mut self, item: &WorkItem, notes: &mut Notes, cache: &Cache) -> Settled {
        let (part, own) = unwrapped(item);
        self.parts[part].settle(if part == ICB { item } else { &own }, notes, cache)
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, cache: &Cache) {
        let (part, own) = unwrapped(item);
        self.parts[part].learn(&own, run, notes, cache);
        let others = self.parts.iter_mut().enumerate().filter(|&(other, _)| other != part);
        others.for_each(|(_, other)| other.saw(run));
    }

    fn saw(&mut self, run: &Trace) {
        self.parts.iter_mut().for_each(|part| part.saw(run));
    }

    fn reset(&mut self, epoch: Epoch) {
        self.parts.iter_mut().for_each(|part| part.reset(epoch));
        (self.count, self.done) = (0, [false; PARTS]);
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        self.parts[ICB].coverage(cut.filter(|&cut| cut < u32::MAX))
    }

    fn bound(&self) -> Option<u32> {
        self.parts[ICB].bound()
    }
}
