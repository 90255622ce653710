//! A portfolio that a user need not understand: searches that find most failures soon, and beside them one that covers a bound.
//!
//! It begins with three schedules without chance ([`super::opening`]). Then surw has the first executions, since it needs the
//! fewest to a failure on the programs that `docs/searches.md` lists, and soon most of them; icb (Musuvathi, Qadeer, PLDI 2007)
//! and schedules that show new reads ([`super::sampling::novel`]) have the rest, and where there are many threads, periods.
//! Later icb has every second one, and at last five of six; between them come surw, new reads, pos, reads-from pairs and
//! periods. All of them learn from what the others have run. icb does not go alone to one preemption first: with many threads
//! that takes thousands of schedules, where others need ten. The coverage is that of icb, and the search ends when icb does. No
//! bound is published for a portfolio.

use super::{
    Coverage, Frontier, Guide, Guided, InitialSchedule, InitialSchedules, Next, Notes, Novel, Periods, Pos,
    Preemptions, Racing, Sampler, SpeculationValidity, Strategy, Surw, WorkItem,
};
use crate::cache::Cache;
use crate::program::Epoch;
use crate::trace::Trace;

/// So many executions are given mostly to what finds failures soon.
const EARLY: u64 = 36;

const ICB: usize = 0;
const NOVEL: usize = 1;
const SURW: usize = 2;
const INITIAL: usize = 3;
/// From here on they share a turn.
const OTHERS: usize = 4;
const PERIODS: usize = 6;
const PARTS: usize = 7;

/// With more threads than these, the initial schedules leave most of the orders in which they can run one after the other. Periods
/// begin with such orders, and have so many executions then.
const FEW_THREADS: usize = 3;
const SERIAL: u64 = 4;

/// So many executions after the initial schedules are surw's, apart from these.
const FIRST: u64 = 12;

/// After so many most failures that chance finds have been found. Then icb has five of six, so that it comes to the end of its
/// bound within a budget that it could keep alone.
const LATE: u64 = 1_000;

/// Several searches that take turns.
pub struct Auto {
    /// icb is the first of them.
    parts: [Box<dyn Strategy>; PARTS],
    /// The number of executions after the openings.
    count: u64,
    /// Parts that have nothing left.
    done: [bool; PARTS],
    /// The most threads that were seen.
    threads: usize,
}

impl Auto {
    /// A portfolio with these bounds.
    #[must_use]
    pub fn new(max_preemptions: u32, max_periods: u32, seed: u64) -> Self {
        let parts: [Box<dyn Strategy>; PARTS] = [
            Box::new(Frontier::new(Preemptions { max: max_preemptions })),
            Box::new(Sampler::new(Novel::default(), seed)),
            Box::new(Sampler::new(Surw::default(), seed)),
            Box::new(InitialSchedules::default()),
            Box::new(Sampler::new(Pos::new(Racing::Conflicts), seed)),
            Box::new(Guided::new(seed)),
            Box::new(Periods::new(max_periods)),
        ];
        Self { parts, count: 0, done: [false; PARTS], threads: 0 }
    }

    /// The part whose turn it is.
    fn turn(&self) -> usize {
        if !self.done[INITIAL] {
            return INITIAL;
        }
        // A single thread has one schedule, which icb covers.
        if self.threads == 1 {
            return ICB;
        }
        if self.threads > FEW_THREADS && self.count < SERIAL && !self.done[PERIODS] {
            return PERIODS;
        }
        if self.count < FIRST {
            return SURW;
        }
        let (round, nth) = (self.count / 6, self.count % 6);
        if self.count >= LATE {
            return match (nth, round % 3) {
                (0, 0) => SURW,
                (0, 1) => NOVEL,
                (0, _) => self.another(round / 3),
                _ => ICB,
            };
        }
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
    // Unexplored items of other parts leave no gap in what icb covers.
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
                    self.count += u64::from(part != INITIAL);
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

    fn determinism_schedule(&self) -> Option<InitialSchedule> {
        Some(InitialSchedule::FIRST)
    }

    /// Of icb: the others are few, and learn from each schedule.
    fn speculate(&mut self, cache: &Cache, others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        let (item, guide) = self.parts[ICB].speculate(cache, others)?;
        Some((wrapped(ICB, item), guide))
    }

    fn validate_speculation(
        &mut self,
        item: &WorkItem,
        notes: &mut Notes,
        cache: &Cache,
    ) -> SpeculationValidity {
        let (part, own) = unwrapped(item);
        self.parts[part].validate_speculation(if part == ICB { item } else { &own }, notes, cache)
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, cache: &Cache) {
        let (part, own) = unwrapped(item);
        self.threads = self.threads.max(run.threads.len());
        self.parts[part].learn(&own, run, notes, cache);
        let others = self.parts.iter_mut().enumerate().filter(|&(other, _)| other != part);
        others.for_each(|(_, other)| other.observe(run));
    }

    fn observe(&mut self, run: &Trace) {
        self.parts.iter_mut().for_each(|part| part.observe(run));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of these executions that each part has, where there were so many threads.
    fn shares(threads: usize, range: std::ops::Range<u64>) -> [usize; PARTS] {
        let mut auto = Auto::new(2, 6, 0);
        auto.done[INITIAL] = true;
        auto.threads = threads;
        let mut shares = [0; PARTS];
        for count in range {
            auto.count = count;
            shares[auto.turn()] += 1;
        }
        shares
    }

    #[test]
    fn chance_comes_first_and_icb_has_most_in_the_end() {
        assert_eq!(shares(2, 0..FIRST), [0, 0, 12, 0, 0, 0, 0]);
        assert_eq!(shares(2, FIRST..EARLY), [4, 4, 16, 0, 0, 0, 0]);
        assert_eq!(shares(2, EARLY..EARLY + 36), [18, 3, 6, 0, 3, 3, 3]);
        assert_eq!(shares(2, 1_008..1_008 + 54), [45, 3, 3, 0, 1, 1, 1]);
    }

    #[test]
    fn a_single_thread_is_left_to_icb() {
        assert_eq!(shares(1, 0..FIRST), [12, 0, 0, 0, 0, 0, 0]);
    }
}
